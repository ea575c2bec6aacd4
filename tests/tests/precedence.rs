//! Which of several things in one turn wins: prohibition, cancellation, click, correction, text.

use std::sync::Arc;

use turnframe_actors::TurnInput;
use turnframe_core::interaction::{InteractionStatus, InteractionView};
use turnframe_core::plan::{ActId, ActOutcome};
use turnframe_core::understanding::{CancelTarget, ProhibitionScope};
use turnframe_ledger::EntryKind;
use turnframe_runtime::port::InterpreterError;
use turnframe_test::script::{ScriptedInterpreter, fails, means, propose};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, REBOOK, RENAME, trip};
use turnframe_tests::reading::{count, events, is_applied, kinds, outcomes, receipts};
use turnframe_tests::world::{Backend, Process, World, clicked, notices};

fn world(backend: Backend, script: ScriptedInterpreter) -> World {
    World::new(backend, Arc::new(script), desk::airline())
}

/// A conversation in which a rebooking waits for a click.
async fn asked_for_a_rebooking(world: &World) -> (Process, InteractionView) {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    let card = process.card().await;
    (process, card)
}

fn click_and_say(card: &InteractionView, option: &str, text: &str) -> TurnInput {
    TurnInput { text: Some(text.to_owned()), ..clicked(card, option) }
}

#[test]
fn a_prohibition_beats_a_click() {
    const DO_NOT: &str = "do not submit anything";
    let scopes = [
        ProhibitionScope::Submissions,
        ProhibitionScope::Everything,
        ProhibitionScope::Operations(vec![trip("request_rebooking")]),
    ];
    everywhere(|backend| {
        let scopes = scopes.clone();
        async move {
            for scope in scopes {
                let script = desk::interpreter().on(
                    DO_NOT,
                    means(move |brief| propose(brief).forbid("do not submit", scope.clone())),
                );
                let world = world(backend, script);
                let (process, card) = asked_for_a_rebooking(&world).await;
                let input = click_and_say(&card, "confirm", DO_NOT);
                let answer = process.post("t3", input).await.expect("answered");
                process.rest().await;

                assert_eq!(outcomes(&answer), [&ActOutcome::Prohibited]);
                assert_eq!(notices(&answer.blocks), ["prohibited", "prohibition_heard"]);
                assert_eq!(process.card().await, card, "the card stays open");
                assert_eq!(kinds(&process.entries().await, EntryKind::EffectRequested), 0);
                // The prohibition held for its own turn.
                let answer = process.click("t4", &card, "confirm").await;
                assert!(outcomes(&answer).into_iter().all(is_applied), "{answer:#?}");
            }
        }
    });
}

#[test]
fn a_prohibition_does_not_stand_against_a_click_that_says_no() {
    const DO_NOT: &str = "do not submit anything";
    everywhere(|backend| async move {
        let script = desk::interpreter()
            .on(DO_NOT, means(|brief| propose(brief).forbid(DO_NOT, ProhibitionScope::Everything)));
        let world = world(backend, script);
        let (process, card) = asked_for_a_rebooking(&world).await;
        let input = click_and_say(&card, "decline", DO_NOT);
        let answer = process.post("t3", input).await.expect("answered");

        let status = InteractionStatus::Declined;
        assert_eq!(outcomes(&answer), [&ActOutcome::CardClosed { card: card.id, status }]);
        assert_eq!(process.cards().await, []);
    });
}

#[test]
fn a_cancellation_beats_a_click() {
    const NEVER_MIND: &str = "no wait, never mind";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            NEVER_MIND,
            means(|brief| propose(brief).cancel("never mind", CancelTarget::OpenCard)),
        );
        let world = world(backend, script);
        let (process, card) = asked_for_a_rebooking(&world).await;
        let input = click_and_say(&card, "confirm", NEVER_MIND);
        let answer = process.post("t3", input).await.expect("answered");
        process.rest().await;

        let status = InteractionStatus::Dismissed;
        let dismissed = ActOutcome::CardClosed { card: card.id, status };
        assert_eq!(outcomes(&answer), [&ActOutcome::Cancelled { by: ActId(1) }, &dismissed]);
        assert_eq!(process.cards().await, []);
        assert_eq!(kinds(&process.entries().await, EntryKind::EffectRequested), 0);
        let again = process.click("t4", &card, "confirm").await;
        let expected = ActOutcome::AlreadyResolved { card: card.id, status };
        assert_eq!(outcomes(&again), [&expected]);
        assert!(world.airline.book().is_empty());
    });
}

#[test]
fn a_click_beside_words_that_cannot_be_read_waits_for_them() {
    const MUMBLED: &str = "mhm hrm";
    everywhere(|backend| async move {
        let away = InterpreterError::Unavailable("down".to_owned());
        let world = world(backend, desk::interpreter().on(MUMBLED, fails(away)));
        let (process, card) = asked_for_a_rebooking(&world).await;
        let input = click_and_say(&card, "confirm", MUMBLED);
        let answer = process.post("t3", input).await.expect("answered");
        process.rest().await;

        assert_eq!(outcomes(&answer), [&ActOutcome::WordsUnread { card: card.id }]);
        assert_eq!(process.card().await, card);
        assert!(world.airline.book().is_empty());
    });
}

#[test]
fn a_click_and_the_words_beside_it_are_one_change_of_the_record() {
    everywhere(|backend| async move {
        let world = world(backend, desk::interpreter());
        let (process, card) = asked_for_a_rebooking(&world).await;
        let before = kinds(&process.entries().await, EntryKind::CaseCommand);
        let input = click_and_say(&card, "confirm", RENAME);
        let answer = process.post("t3", input).await.expect("answered");
        process.rest().await;

        assert_eq!(answer.acts.iter().map(|act| act.id.0).collect::<Vec<_>>(), [0, 1]);
        let revisions: Vec<_> = outcomes(&answer).iter().map(|it| it.revision()).collect();
        assert_eq!(revisions[0], revisions[1], "one commit");
        assert!(revisions[0].is_some(), "{answer:#?}");
        assert_eq!(receipts(&answer.blocks).len(), 2);
        let entries = process.entries().await;
        let (rebooked, renamed) =
            (count(&entries, "rebooking_requested"), count(&entries, "trip_renamed"));
        assert_eq!((rebooked, renamed), (1, 1));
        // The two, and what the airline answered.
        assert_eq!(kinds(&entries, EntryKind::CaseCommand), before + 3);
        assert_eq!(world.airline.book().len(), 1);
    });
}

#[test]
fn words_that_ask_for_what_a_click_confirms_give_way_to_it() {
    everywhere(|backend| async move {
        let world = world(backend, desk::interpreter());
        let (process, card) = asked_for_a_rebooking(&world).await;
        let input = click_and_say(&card, "confirm", REBOOK);
        let answer = process.post("t3", input).await.expect("answered");
        process.rest().await;

        assert!(is_applied(outcomes(&answer)[0]), "{answer:#?}");
        assert_eq!(outcomes(&answer)[1], &ActOutcome::Superseded { by: ActId::CLICK });
        assert_eq!(count(&process.entries().await, "rebooking_requested"), 1);
        assert_eq!(world.airline.book().len(), 1);
    });
}

#[test]
fn a_correction_takes_the_place_of_the_act_it_corrects() {
    const CORRECTED: &str = "call it Spring, add a seat paid by the company, no, call it Summer";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            CORRECTED,
            means(|brief| {
                propose(brief)
                    .act("call it Spring", "trip.rename")
                    .slot("name", "Spring")
                    .act("add a seat paid by the company", "trip.add_extra")
                    .slot("extra", "seat")
                    .slot("payer", "the company")
                    .act("call it Summer", "trip.rename")
                    .slot("name", "Summer")
                    .correcting(0)
            }),
        );
        let world = world(backend, script);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        let before = events(&process.entries().await).len();
        let answer = process.say("t2", CORRECTED).await;

        let [first, seat, second] = outcomes(&answer)[..] else { panic!("{answer:#?}") };
        assert_eq!(first, &ActOutcome::Superseded { by: ActId(3) });
        assert!(is_applied(seat) && is_applied(second), "{answer:#?}");
        let events = events(&process.entries().await).split_off(before);
        assert_eq!(events, ["trip_renamed", "extra_added"], "in the place of what it corrects");
        let state = process.state().await;
        assert!(state.contains("Summer"), "{state}");
        let bodies: Vec<_> =
            receipts(&answer.blocks).iter().map(|receipt| receipt.draft.body.to_string()).collect();
        assert!(!bodies.iter().any(|body| body.contains("Spring")), "{bodies:?}");
    });
}

#[test]
fn what_builds_on_a_refused_act_is_not_executed_and_the_rest_of_the_message_is() {
    // A place with a control character in it is no place: the domain refuses to open the trip.
    const REFUSED: &str =
        "open a trip to Ro\u{7}me, add a bag paid by the company, and call Lisbon Spring";
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            REFUSED,
            means(|brief| {
                propose(brief)
                    .act("open a trip", "trip.open")
                    .creating()
                    .slot("destination", "Ro\u{7}me")
                    .act("add a bag", "trip.add_extra")
                    .of_act(0)
                    .slot("extra", "bag")
                    .slot("payer", "the company")
                    .act("call Lisbon Spring", "trip.rename")
                    .on("Lisbon")
                    .slot("name", "Spring")
            }),
        );
        let world = world(backend, script);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        let answer = process.say("t2", REFUSED).await;

        let [opening, bag, rename] = outcomes(&answer)[..] else { panic!("{answer:#?}") };
        assert!(matches!(opening, ActOutcome::Rejected { .. }), "{opening:?}");
        assert_eq!(bag, &ActOutcome::NotExecuted { because: ActId(1) });
        assert!(is_applied(rename), "{rename:?}");
        assert_eq!(notices(&answer.blocks), ["rejected", "not_executed"]);
        assert_eq!(receipts(&answer.blocks).len(), 1);
        let entries = process.entries().await;
        assert_eq!(count(&entries, "trip_opened"), 1, "the one of the first turn");
        assert_eq!(count(&entries, "extra_added"), 1);
    });
}
