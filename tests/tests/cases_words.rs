//! Reported failures around what was said, and what a model made of it, by their numbers.

use std::collections::BTreeSet;
use std::sync::Arc;

use turnframe_core::plan::ActOutcome;
use turnframe_core::understanding::{CancelTarget, Understanding};
use turnframe_core::value::ValueError;
use turnframe_ledger::EntryKind;
use turnframe_test::literal;
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, OPEN_SECOND, REBOOK, WHICH};
use turnframe_tests::reading::{commands, count, events, is_applied, kinds, outcome, receipts};
use turnframe_tests::world::{Backend, Process, World, notices, shown};

fn world(backend: Backend, script: ScriptedInterpreter) -> World {
    World::new(backend, Arc::new(script), desk::airline())
}

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

#[test]
fn case_10_acts_are_numbered_by_the_server_and_one_approval_is_for_one_of_them() {
    const BOTH: &str = "rebook and withdraw it";
    everywhere(|backend| async move {
        // Both acts were read from the very same words.
        let script = desk::interpreter().on(
            BOTH,
            means(|brief| {
                propose(brief).act(BOTH, "trip.request_rebooking").act(BOTH, "trip.withdraw")
            }),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let answer = process.say("t2", BOTH).await;
        let card = process.card().await;
        let ids: Vec<_> = answer.acts.iter().map(|act| act.id.0).collect();
        assert_eq!(ids, [1, 2]);
        let [first, second] = answer.acts.as_slice() else { panic!("two acts: {answer:#?}") };
        assert_eq!(first.outcome, ActOutcome::AwaitingConfirmation { card: card.id });
        assert_eq!(second.outcome, ActOutcome::Waiting { card: card.id });

        process.click("t3", &card, "confirm").await;
        let entries = process.entries().await;
        assert_eq!(count(&entries, "rebooking_requested"), 1);
        assert_eq!(count(&entries, "trip_withdrawn"), 0);
        assert_eq!(world.airline.book().len(), 1);
    });
}

#[test]
fn case_10_a_proposal_that_brings_ids_of_its_own_is_refused_whole() {
    let plain = serde_json::json!({
        "source": {"start": 0, "end": 1},
        "intent": {"cancel": "open_card"},
    });
    let mut named = plain.clone();
    named["id"] = "call_1".into();
    let answer = |act| serde_json::json!({ "acts": [act] }).to_string();
    assert!(serde_json::from_str::<Understanding>(&answer(plain)).is_ok());
    assert!(serde_json::from_str::<Understanding>(&answer(named)).is_err());
}

/// Two trips of one message, each with its open card.
const REBOOK_BOTH: &str = "rebook Lisbon and rebook Porto";
const REBOOK_LISBON: &str = "rebook Lisbon";

fn two_cards(script: ScriptedInterpreter) -> ScriptedInterpreter {
    script.on(
        REBOOK_BOTH,
        means(|brief| {
            propose(brief)
                .act("rebook Lisbon", "trip.request_rebooking")
                .on("Lisbon")
                .act("rebook Porto", "trip.request_rebooking")
                .on("Porto")
        }),
    )
}

#[test]
fn case_18_a_bare_yes_binds_to_no_card_and_asks_which() {
    everywhere(|backend| async move {
        let script = two_cards(desk::interpreter())
            .on("yes", means(|brief| propose(brief).answer("yes", None, "confirm")));
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        process.say("t3", REBOOK_BOTH).await;
        let cards = process.cards().await;
        let ran = commands(&process.entries().await).len();
        let answer = process.say("t4", "yes").await;

        let both: Vec<_> = cards.iter().map(|card| card.id).collect();
        assert_eq!(both.len(), 2);
        assert_eq!(outcome(&answer), &ActOutcome::AmbiguousCard { cards: both.clone() });
        assert_eq!(notices(&answer.blocks), ["ambiguous_card"]);
        assert_eq!(shown(&answer.blocks), both);
        assert_eq!(process.cards().await, cards);
        assert_eq!(commands(&process.entries().await).len(), ran);
    });
}

#[test]
fn case_18_words_never_confirm_what_leaves_the_house_whatever_a_model_makes_of_them() {
    const QUESTION: &str = "ok, what does it do?";
    everywhere(|backend| async move {
        // The model takes the "ok" for the newest card's.
        let script = two_cards(desk::interpreter()).on(
            QUESTION,
            means(|brief| {
                let newest = brief.cards.iter().map(|card| card.id).max();
                propose(brief)
                    .answer("ok", newest, "confirm")
                    .question("what does it do", "trip.status")
            }),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        let answer = process.say("t3", QUESTION).await;

        assert_eq!(outcome(&answer), &ActOutcome::NeedsClick { card: card.id });
        assert_eq!(shown(&answer.blocks), [card.id]);
        assert!(receipts(&answer.blocks).is_empty());
        assert_eq!(process.card().await, card);
        assert!(world.airline.book().is_empty());
    });
}

#[test]
fn case_18_a_bare_yes_between_a_confirmation_and_a_choice_asks_which_and_shows_both() {
    everywhere(|backend| async move {
        let script = desk::interpreter().on(
            "no",
            // Both cards have an option that says no; the words name neither.
            means(|brief| propose(brief).cancel("no", CancelTarget::OpenCard)),
        );
        let script = script.on(
            REBOOK_LISBON,
            means(|brief| {
                propose(brief).act("rebook Lisbon", "trip.request_rebooking").on("Lisbon")
            }),
        );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        process.say("t3", REBOOK_LISBON).await;
        process.say("t4", WHICH).await;
        let cards = process.cards().await;
        let both: BTreeSet<_> = cards.iter().map(|card| card.id).collect();
        let answer = process.say("t5", "no").await;

        assert_eq!(both.len(), 2);
        assert_eq!(notices(&answer.blocks), ["ambiguous_card"]);
        assert_eq!(shown(&answer.blocks).into_iter().collect::<BTreeSet<_>>(), both);
        assert_eq!(process.cards().await, cards);
    });
}

#[test]
fn case_39_a_time_that_does_not_exist_or_exists_twice_is_asked_about_and_never_guessed() {
    const GAP: &str = "depart on 2026-03-29 at 02:30";
    const OVERLAP: &str = "depart on 2026-10-25 at 02:30";
    const EXACT: &str = "depart on 2026-10-25T02:30+02:00";
    let departs = |when: &'static str| {
        means(move |brief| {
            propose(brief).act("depart on", "trip.set_departure").slot("departure", when)
        })
    };
    everywhere(|backend| async move {
        let script = desk::interpreter()
            .on(GAP, departs("2026-03-29 at 02:30"))
            .on(OVERLAP, departs("2026-10-25 at 02:30"))
            .on(EXACT, departs("2026-10-25T02:30+02:00"));
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let before = events(&process.entries().await);
        let impossible = [
            ("t2", GAP, ValueError::Gap, "time_gap"),
            ("t3", OVERLAP, ValueError::Overlap, "time_overlap"),
        ];
        for (turn, message, why, notice) in impossible {
            let answer = process.say(turn, message).await;
            let slot = literal("departure");
            assert_eq!(outcome(&answer), &ActOutcome::Incomplete { slot, why });
            assert_eq!(notices(&answer.blocks), [notice]);
            assert!(receipts(&answer.blocks).is_empty());
        }
        assert_eq!(events(&process.entries().await), before);

        let answer = process.say("t4", EXACT).await;
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        let state = process.state().await;
        assert!(state.contains("02:30"), "{state}");
    });
}

#[test]
fn case_40_every_act_of_a_message_has_its_result_where_one_of_them_is_ambiguous() {
    const THREE: &str =
        "withdraw Lisbon, add a bag to the Ferri trip paid by the company, and send Rome to Milan";
    const OPEN_ROME: &str = "open a trip to Rome for Cleo Marsh";
    everywhere(|backend| async move {
        let script = desk::interpreter()
            .on(
                OPEN_ROME,
                means(|brief| {
                    propose(brief)
                        .act("open a trip", "trip.open")
                        .creating()
                        .slot("destination", "Rome")
                        .slot("traveller", "Cleo Marsh")
                }),
            )
            .on(
                THREE,
                means(|brief| {
                    propose(brief)
                        .act("withdraw Lisbon", "trip.withdraw")
                        .mention("Lisbon")
                        .act("add a bag to the Ferri trip paid by the company", "trip.add_extra")
                        .mention("Ferri trip")
                        .slot("extra", "bag")
                        .slot("payer", "the company")
                        .act("send Rome to Milan", "trip.set_destination")
                        .mention("Rome")
                        .slot("destination", "Milan")
                }),
            );
        let world = world(backend, script);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        process.say("t3", OPEN_ROME).await;
        let before = process.entries().await;
        let answer = process.say("t4", THREE).await;

        let [withdrawal, bag, destination] = answer.acts.as_slice() else {
            panic!("three acts: {answer:#?}")
        };
        let ActOutcome::AwaitingConfirmation { card: confirm } = withdrawal.outcome else {
            panic!("{withdrawal:#?}")
        };
        let ActOutcome::AmbiguousTarget { card: which } = bag.outcome else { panic!("{bag:#?}") };
        assert!(is_applied(&destination.outcome), "{destination:#?}");
        assert_eq!(receipts(&answer.blocks).len(), 1);
        assert_eq!(notices(&answer.blocks), ["awaiting_confirmation", "ambiguous_target"]);
        let open: BTreeSet<_> = process.cards().await.iter().map(|card| card.id).collect();
        assert_eq!(open, BTreeSet::from([confirm, which]));
        let entries = process.entries().await;
        assert_eq!(count(&entries, "extra_added"), count(&before, "extra_added"));
        assert_eq!(kinds(&entries, EntryKind::CardOpened), 2);

        // The record once named, the act goes on with the very values that were said.
        let cards = process.cards().await;
        let choice = cards.iter().find(|card| card.id == which).expect("the choice");
        let answer = process.click("t5", choice, "1").await;
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        assert_eq!(count(&process.entries().await, "extra_added"), 2);
    });
}
