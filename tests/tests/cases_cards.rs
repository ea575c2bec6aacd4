//! Reported failures around cards and clicks, by their numbers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnframe_actors::{PostError, TurnInput};
use turnframe_core::id::CaseRef;
use turnframe_core::interaction::{InteractionStatus, InteractionView, OptionMeaning};
use turnframe_core::plan::ActOutcome;
use turnframe_core::policy::CommandOrigin;
use turnframe_core::understanding::CancelTarget;
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::record::EffectRequested;
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, OPEN_SECOND, REBOOK, RENAME};
use turnframe_tests::reading::{
    commands, count, fresh_of, is_applied, kinds, outcome, outcomes, persisted, receipts,
};
use turnframe_tests::world::{Backend, Process, World, actor, clicked, notices, said};

const RENAME_AGAIN: &str = "call it Summer";
const REGISTER: &str = "register somebody";
const TWO_REBOOKINGS: &str = "rebook Lisbon and rebook Porto";
const NEVER_MIND: &str = "never mind";
const WITHDRAW: &str = "withdraw it";

fn script() -> ScriptedInterpreter {
    desk::interpreter()
        .on(
            RENAME_AGAIN,
            means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Summer")),
        )
        .on(
            REGISTER,
            means(|brief| propose(brief).act("register somebody", "traveller.register").creating()),
        )
        .on(
            TWO_REBOOKINGS,
            means(|brief| {
                propose(brief)
                    .act("rebook Lisbon", "trip.request_rebooking")
                    .on("Lisbon")
                    .act("rebook Porto", "trip.request_rebooking")
                    .on("Porto")
            }),
        )
        .on(NEVER_MIND, means(|brief| propose(brief).cancel("never mind", CancelTarget::OpenCard)))
        .on(WITHDRAW, means(|brief| propose(brief).act("withdraw it", "trip.withdraw")))
}

fn world(backend: Backend) -> World {
    World::new(backend, Arc::new(script()), desk::airline())
}

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

#[test]
fn case_01_what_was_revised_and_approved_happens_once_and_a_replay_sends_nothing() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        for (turn, change) in [("t3", RENAME), ("t4", RENAME_AGAIN)] {
            let old = match process.cards().await.pop() {
                Some(card) => card,
                None => unreachable!("a card is open"),
            };
            process.say(turn, change).await;
            let answer = process.click(&format!("{turn}-revised"), &old, "confirm").await;
            assert_eq!(fresh_of(outcome(&answer)), Some(process.card().await.id));
        }
        let approved = process.click("t5", &process.card().await, "confirm").await;
        assert!(is_applied(outcome(&approved)), "{approved:#?}");

        let entries = process.entries().await;
        assert_eq!(count(&entries, "rebooking_requested"), 1);
        assert_eq!(kinds(&entries, EntryKind::EffectRequested), 1);
        let (state, chain) = (process.state().await, process.chain().await);
        process.system.clone().shutdown().await;
        drop(process);
        world.drop_snapshots().await;
        let replayed = world.start().await;
        replayed.rest().await;
        assert_eq!(replayed.state().await, state);
        assert_eq!(replayed.remote.enumerated(), [], "a replay sends nothing");
        assert_eq!(replayed.chain().await, chain);
        let book = world.airline.book();
        assert_eq!(book.values().map(|it| it.deliveries.len()).collect::<Vec<_>>(), [1]);
    });
}

#[test]
fn case_02_an_approval_after_a_decline_is_told_that_it_was_declined() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        process.click("t3", &card, "decline").await;
        let before = process.entries().await;
        let answer = process.click("t4", &card, "confirm").await;

        let declined = InteractionStatus::Declined;
        let expected = ActOutcome::AlreadyResolved { card: card.id, status: declined };
        assert_eq!(outcome(&answer), &expected);
        assert_eq!(notices(&answer.blocks), ["already_declined"]);
        assert_eq!(process.cards().await, []);
        let entries = process.entries().await;
        assert_eq!(commands(&entries).len(), commands(&before).len());
        assert_eq!(kinds(&entries, EntryKind::EffectRequested), 0);
        assert!(world.airline.book().is_empty());
    });
}

#[test]
fn case_07_what_runs_is_what_the_card_said_and_a_click_asks_no_model() {
    const BAGS: &str = "add 4 or 5 bags paid by the company";
    everywhere(|backend| async move {
        let asked = Arc::new(AtomicUsize::new(0));
        let script = script().on(
            BAGS,
            means(move |brief| {
                let again = asked.fetch_add(1, Ordering::SeqCst) > 0;
                propose(brief)
                    .act("add 4 or 5 bags", "trip.add_extra")
                    .slot("extra", "bags")
                    .slot("quantity", if again { "5" } else { "4" })
                    .slot("payer", "the company")
            }),
        );
        let script = Arc::new(script);
        let world = World::new(backend, script.clone(), desk::airline());
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", BAGS).await;
        let calls = script.calls();
        let answer = process.click("t3", &process.card().await, "confirm").await;

        assert_eq!(script.calls(), calls, "a click needs no model");
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        let body = receipts(&answer.blocks)[0].draft.body.to_string();
        assert!(body.contains("4 bags"), "{body}");
    });
}

#[test]
fn case_08_a_stale_approval_does_not_reach_the_newer_card() {
    everywhere(|backend| async move {
        for second_request in [REBOOK, WITHDRAW] {
            let world = world(backend);
            let process = begun(&world).await;
            process.say("t1", OPEN).await;
            process.say("t2", REBOOK).await;
            let first = process.card().await;
            process.say("t3", RENAME).await;
            process.say("t4", second_request).await;
            let second = process.card().await;
            assert_ne!(first.id, second.id);
            let answer = process.click("t5", &first, "confirm").await;

            let expected = match second_request {
                REBOOK => Some(second.id),
                _ => None,
            };
            assert_eq!(fresh_of(outcome(&answer)), expected, "{second_request}");
            assert_eq!(notices(&answer.blocks), ["stale_card"]);
            assert_eq!(process.card().await, second, "the newer card stays open");
            assert_eq!(kinds(&process.entries().await, EntryKind::EffectRequested), 0);
        }
    });
}

#[test]
fn case_09_two_clicks_at_once_run_once_each_and_on_their_own_records() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        process.say("t3", TWO_REBOOKINGS).await;
        let cards = process.cards().await;
        let [lisbon, porto] = cards.as_slice() else { panic!("two cards: {cards:#?}") };
        let (second, first) = tokio::join!(
            process.post("t4", clicked(porto, "confirm")),
            process.post("t5", clicked(lisbon, "confirm")),
        );
        process.rest().await;

        let entries = process.entries().await;
        let sent = rebookings(&entries);
        assert_eq!(sent.len(), 2);
        let clicks = [(first, lisbon, "Lisbon"), (second, porto, "Porto")];
        for (answer, card, destination) in clicks {
            let answer = answer.expect("answered");
            let case = persisted(&entries, card.id).case.expect("a record");
            let ActOutcome::Applied { case: changed, .. } = outcome(&answer) else {
                panic!("{answer:#?}")
            };
            assert_eq!(changed, &case, "the card's own record");
            let of_it: Vec<_> = sent.iter().filter(|(sent, _)| *sent == case).collect();
            assert_eq!(of_it.len(), 1);
            assert!(of_it[0].1.contains(destination), "{of_it:?}");
        }
        assert_eq!(world.airline.book().len(), 2);
        assert!(world.airline.repeated().is_empty());
    });
}

/// What was asked of the airline, by case.
fn rebookings(entries: &[Entry]) -> Vec<(CaseRef, String)> {
    let requested = entries.iter().filter(|entry| entry.kind == EntryKind::EffectRequested);
    let requested = requested.map(|entry| entry.body.open::<EffectRequested>().expect("a request"));
    requested.map(|it| (it.case, it.payload.as_str().to_owned())).collect()
}

#[test]
fn case_11_the_card_shows_what_policy_made_of_the_request_and_that_is_what_runs() {
    const FIFTY: &str = "add 50 bags paid by the company";
    everywhere(|backend| async move {
        let script = script().on(
            FIFTY,
            means(|brief| {
                propose(brief)
                    .act("add 50 bags", "trip.add_extra")
                    .slot("extra", "bags")
                    .slot("quantity", "50")
                    .slot("payer", "the company")
            }),
        );
        let world = World::new(backend, Arc::new(script), desk::airline());
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", FIFTY).await;
        let card = process.card().await;
        let lines: Vec<_> = card.lines.iter().map(ToString::to_string).collect();
        assert!(lines.iter().any(|line| line.contains('5')), "{lines:?}");
        assert!(!lines.iter().any(|line| line.contains("50")), "{lines:?}");
        process.click("t3", &card, "confirm").await;

        let entries = process.entries().await;
        let stored = persisted(&entries, card.id);
        let option = stored.payload.option(&"confirm".parse().expect("an option"));
        let Some(OptionMeaning::Execute(shown)) = option.map(|it| &it.meaning) else {
            panic!("the option runs a command")
        };
        let ran = commands(&entries).pop().expect("a command");
        assert_eq!(ran.command, *shown, "the command on the card is the one that ran");
        let CommandOrigin::ConfirmedInteraction { interaction, payload_hash, .. } = ran.origin
        else {
            panic!("a click authorised it")
        };
        assert_eq!((interaction, payload_hash), (card.id, stored.payload_hash));
        assert!(ran.command.as_str().contains("\"quantity\":5"), "{}", ran.command.as_str());
    });
}

#[test]
fn case_12_a_forged_click_is_refused_and_nothing_is_written() {
    everywhere(|backend| async move {
        let world = world(backend);
        let ada = begun(&world).await;
        ada.say("t1", OPEN).await;
        ada.say("t2", REBOOK).await;
        let card = ada.card().await;
        let elsewhere = ada.talking(ada.actor.clone(), "c2");
        let colleague = ada.talking(actor("acme", "eve"), "c1");
        let foreign = ada.talking(actor("globex", "mallory"), "c1");
        elsewhere.begin().await;
        foreign.begin().await;
        let before = (ada.chain().await, foreign.chain().await);

        let never = InteractionView { id: world.ids.interaction(), ..card.clone() };
        let moved =
            InteractionView { expected_revision: card.expected_revision.next(), ..card.clone() };
        let forged = [
            (&ada, clicked(&card, "approve-everything"), PostError::NoSuchOption),
            (&ada, with_value(&card, "confirm", "1000"), PostError::WrongValue),
            (&ada, with_value(&card, "decline", "{}"), PostError::WrongValue),
            (&ada, clicked(&moved, "confirm"), PostError::WrongRevision),
            (&ada, clicked(&never, "confirm"), PostError::NotFound),
            (&elsewhere, clicked(&card, "confirm"), PostError::NotFound),
            (&colleague, clicked(&card, "confirm"), PostError::NotFound),
            (&foreign, clicked(&card, "confirm"), PostError::NotFound),
        ];
        for (number, (who, input, expected)) in forged.into_iter().enumerate() {
            let refused = who.post(&format!("forged-{number}"), input).await;
            assert_eq!(refused, Err(expected), "forgery {number}");
        }
        assert_eq!((ada.chain().await, foreign.chain().await), before);
        assert_eq!(ada.card().await, card);
    });
}

fn with_value(card: &InteractionView, option: &str, value: &str) -> TurnInput {
    let mut input = clicked(card, option);
    if let Some(response) = &mut input.response {
        response.value = Some(value.to_owned());
    }
    input
}

#[test]
fn case_28_a_card_survives_restart_and_reload_where_it_was_asked_and_is_nowhere_else() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        let process = world.restart(process).await;
        let elsewhere = process.talking(process.actor.clone(), "c2");
        elsewhere.begin().await;
        elsewhere.post("t1", said(desk::HELLO)).await.expect("answered");

        assert_eq!(process.card().await, card);
        assert_eq!(elsewhere.cards().await, []);
        let refused = elsewhere.post("t2", clicked(&card, "confirm")).await;
        assert_eq!(refused, Err(PostError::NotFound));
        let answer = process.click("t3", &card, "confirm").await;
        assert!(outcomes(&answer).into_iter().all(is_applied), "{answer:#?}");
        assert_eq!(world.airline.book().len(), 1);
    });
}
