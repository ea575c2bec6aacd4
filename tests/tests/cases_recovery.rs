//! Reported failures around recovery and owners that do not know of each other, by their numbers.

use std::sync::Arc;
use std::time::Duration;

use turnframe_actors::{PostError, TurnInput};
use turnframe_core::block::AssistantTurn;
use turnframe_core::id::CaseRevision;
use turnframe_core::plan::ActOutcome;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{Entry, EntryKind, PartitionId, StreamName};
use turnframe_test::fault::{Crash, FaultPlan, LedgerFault};
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::claims;
use turnframe_tests::crash::{in_a_process, on_every_backend, until_the_crash};
use turnframe_tests::desk::{self, HELLO, OPEN, REBOOK, RENAME};
use turnframe_tests::reading::{count, is_applied, kinds, outcome, receipts};
use turnframe_tests::world::{Backend, Process, World, clicked, notices, said};

const RENAME_AGAIN: &str = "call it Summer";
const CHANGE: &str = "case: case.command, case.event";
const REBOOKING: &str =
    "case: case.command, case.event; effect: effect.requested; case: card.closed";

fn script() -> ScriptedInterpreter {
    desk::interpreter().on(
        RENAME_AGAIN,
        means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Summer")),
    )
}

fn world(backend: Backend) -> World {
    let mut world = World::new(backend, Arc::new(script()), desk::airline());
    world.limits.turn_backoff = Duration::from_millis(1);
    world
}

/// A ledger on which nobody knows of two processes that both take themselves for its owner.
async fn two_owners(world: &World) -> (Process, Process) {
    let (here, there) = tokio::join!(world.start(), world.start());
    let there = there.talking(here.actor.clone(), "c2");
    (here, there)
}

/// A client that asks again until it is answered.
async fn until_answered(process: &Process, turn: &str, input: &TurnInput) -> Arc<AssistantTurn> {
    const TRIES_MAX: usize = 1_000;
    for _ in 0..TRIES_MAX {
        match process.post(turn, input.clone()).await {
            Ok(answer) => return answer,
            Err(PostError::Unavailable { .. }) => {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Err(refused) => unreachable!("{turn} was refused: {refused}"),
        }
    }
    unreachable!("{turn} is never answered")
}

/// No stream has a gap, and the entries of one append stand together.
async fn is_intact(process: &Process) {
    let report = verify(process.system.ledger().as_ref(), PartitionId::all(), |_| {}).await;
    assert!(report.is_intact(), "{:?}", report.faults);
    for pair in process.entries().await.windows(2) {
        if pair[1].kind == EntryKind::CaseEvent {
            assert!(
                matches!(pair[0].kind, EntryKind::CaseCommand | EntryKind::CaseEvent),
                "{:?} stands between a command and its event",
                pair[0]
            );
        }
    }
}

#[tokio::test]
async fn case_24_a_stale_writer_is_told_that_the_record_moved_and_writes_nothing_between() {
    let world = world(Backend::Memory);
    let (here, stale) = two_owners(&world).await;
    here.begin().await;
    stale.begin().await;
    here.say("t1", OPEN).await;
    // The stale owner reads the record now, and does not learn of what comes next.
    stale.post("t1", said(HELLO)).await.expect("answered");
    let renamed = here.say("t2", RENAME).await;
    assert!(is_applied(outcome(&renamed)), "{renamed:#?}");
    let told = stale.post("t2", said(RENAME_AGAIN)).await.expect("answered");

    let ActOutcome::RevisionConflict { expected, actual, .. } = outcome(&told) else {
        panic!("{told:#?}")
    };
    assert_eq!((*expected, *actual), (CaseRevision(1), CaseRevision(2)));
    assert_eq!(notices(&told.blocks), ["revision_conflict"]);
    assert!(receipts(&told.blocks).is_empty());
    assert_eq!(count(&here.entries().await, "trip_renamed"), 1);
    is_intact(&here).await;
    // Said again, it goes through: the owner is not stale any more.
    let again = stale.post("t3", said(RENAME_AGAIN)).await.expect("answered");
    assert!(is_applied(outcome(&again)), "{again:#?}");
    claims::check(&here).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l11_of_two_activations_of_a_case_the_append_takes_one_and_nothing_is_lost_or_doubled() {
    const ROUNDS: usize = 20;
    let world = world(Backend::Memory);
    let (here, there) = two_owners(&world).await;
    here.begin().await;
    there.begin().await;
    here.say("t0", OPEN).await;
    there.post("t0", said(HELLO)).await.expect("answered");
    let mut applied = 0;
    for round in 1..=ROUNDS {
        let turn = format!("t{round}");
        let messages = if round % 2 == 0 { [RENAME, RENAME_AGAIN] } else { [RENAME_AGAIN, RENAME] };
        let (one, other) = tokio::join!(
            here.post(&turn, said(messages[0])),
            there.post(&turn, said(messages[1])),
        );
        let outcomes = [one.expect("answered"), other.expect("answered")];
        for answer in &outcomes {
            let outcome = outcome(answer);
            // The other was faster, or the name was that already.
            let is_told_why = matches!(outcome, ActOutcome::RevisionConflict { .. })
                || matches!(outcome, ActOutcome::Rejected { rejection, .. } if rejection.code == "unchanged");
            assert!(is_applied(outcome) || is_told_why, "round {round}: {outcome:?}");
            applied += usize::from(is_applied(outcome));
        }
    }
    let entries = here.entries().await;
    assert!(applied >= ROUNDS / 2, "work went on: {applied}");
    assert_eq!(count(&entries, "trip_renamed"), applied, "each applied act is one event");
    let revisions = revisions(&entries);
    assert_eq!(revisions, (1..=revisions.len() as u64).collect::<Vec<_>>(), "none twice, no gap");
    is_intact(&here).await;
    claims::check(&here).await;
}

/// The revisions that were committed, in order.
fn revisions(entries: &[Entry]) -> Vec<u64> {
    let events = entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent);
    let mut revisions: Vec<u64> = events
        .map(|entry| {
            entry.body.open::<turnframe_runtime::record::CaseEvent>().expect("an event").revision.0
        })
        .collect();
    revisions.dedup();
    revisions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l11_of_two_activations_of_a_conversation_every_turn_is_answered_once() {
    const ROUNDS: usize = 12;
    let world = world(Backend::Memory);
    let (here, there) = two_owners(&world).await;
    let there = there.talking(here.actor.clone(), "c1");
    here.begin().await;
    there.begin().await;
    here.say("t0", OPEN).await;
    let talk = |process: Process, name: &'static str| async move {
        let mut answers = Vec::new();
        for round in 0..ROUNDS {
            let message = [RENAME, RENAME_AGAIN][round % 2];
            let turn = format!("{name}{round}");
            answers.push(until_answered(&process, &turn, &said(message)).await);
        }
        answers
    };
    let (one, other) = tokio::join!(talk(here.clone(), "a"), talk(there.clone(), "b"));

    let entries = here.entries().await;
    for kind in [EntryKind::TurnAccepted, EntryKind::TurnReduced, EntryKind::TurnAnswered] {
        let mut turns: Vec<_> = entries
            .iter()
            .filter(|entry| entry.kind == kind)
            .filter_map(|entry| entry.turn.as_ref().map(ToString::to_string))
            .collect();
        let written = turns.len();
        turns.sort();
        turns.dedup();
        assert_eq!((written, turns.len()), (1 + 2 * ROUNDS, 1 + 2 * ROUNDS), "{kind}");
    }
    let applied = |answers: &[Arc<AssistantTurn>]| {
        answers.iter().filter(|answer| is_applied(outcome(answer))).count()
    };
    assert_eq!(count(&entries, "trip_renamed"), applied(&one) + applied(&other));
    is_intact(&here).await;
}

/// Where a turn that renames may be when its process dies: accepted, planned, carried out, worded.
fn places() -> [(&'static str, usize, Crash); 4] {
    [
        ("conversation: turn.accepted", 2, Crash::After),
        ("conversation: turn.reduced", 2, Crash::After),
        (CHANGE, 1, Crash::After),
        ("conversation: turn.answered", 2, Crash::Before),
    ]
}

fn dies_in_a_rename(world: &World, (name, nth, crash): (&str, usize, Crash)) {
    let plan = FaultPlan::none().with((name, nth), LedgerFault::Crash(crash));
    until_the_crash(world, plan, FaultPlan::none(), async |process: Process| {
        process.begin().await;
        process.say("t1", OPEN).await;
        process.say("t2", RENAME).await;
    });
}

#[test]
fn l05_recovery_and_a_client_that_asks_again_come_to_one_outcome() {
    on_every_backend(|backend| {
        for place in places() {
            let world = world(backend);
            dies_in_a_rename(&world, place);
            in_a_process(&world, async |process: Process| {
                // The client does not wait for recovery, and asks several times at once.
                let (one, other, third) = tokio::join!(
                    process.post("t2", said(RENAME)),
                    process.post("t2", said(RENAME)),
                    process.post("t2", said(RENAME)),
                );
                let answer = one.expect("answered");
                assert!(is_applied(outcome(&answer)), "{place:?}: {answer:#?}");
                assert_eq!(other, Ok(answer.clone()), "{place:?}");
                assert_eq!(third, Ok(answer), "{place:?}");
                process.rest().await;
                let entries = process.entries().await;
                assert_eq!(count(&entries, "trip_renamed"), 1, "{place:?}");
                assert_eq!(kinds(&entries, EntryKind::TurnAnswered), 2, "{place:?}");
                claims::check(&process).await;
            });
        }
    });
}

#[test]
fn l05_recovery_and_a_second_click_come_to_one_effect() {
    on_every_backend(|backend| {
        let world = world(backend);
        let card = std::sync::Mutex::new(None);
        let committed = FaultPlan::none().with(REBOOKING, LedgerFault::Crash(Crash::After));
        until_the_crash(&world, committed, FaultPlan::none(), async |process: Process| {
            process.begin().await;
            process.say("t1", OPEN).await;
            process.say("t2", REBOOK).await;
            let drawn = process.card().await;
            *card.lock().expect("unpoisoned") = Some(drawn.clone());
            process.click("t3", &drawn, "confirm").await;
        });
        let card = card.lock().expect("unpoisoned").clone().expect("drawn");
        in_a_process(&world, async |process: Process| {
            let (first, second) = tokio::join!(
                process.post("t3", clicked(&card, "confirm")),
                process.post("t4", clicked(&card, "confirm")),
            );
            let (first, second) = (first.expect("answered"), second.expect("answered"));
            assert!(is_applied(outcome(&first)), "{first:#?}");
            assert_eq!(outcome(&second), outcome(&first), "the click is the same click");
            assert_eq!(receipts(&second.blocks), receipts(&first.blocks));
            process.rest().await;
            assert_eq!(kinds(&process.entries().await, EntryKind::EffectRequested), 1);
            let book = world.airline.book();
            assert_eq!(book.values().map(|it| it.performed).collect::<Vec<_>>(), [1]);
        });
    });
}

#[test]
fn l07_what_was_committed_and_not_sent_is_sent_after_the_restart_and_nobody_has_to_ask() {
    let before_the_send = [(REBOOKING, Crash::After), ("effect: effect.dispatched", Crash::Before)];
    on_every_backend(|backend| {
        for (name, crash) in before_the_send {
            let world = world(backend);
            let plan = FaultPlan::none().with(name, LedgerFault::Crash(crash));
            until_the_crash(&world, plan, FaultPlan::none(), rebooks);
            assert!(world.airline.book().is_empty(), "nothing was sent yet");
            in_a_process(&world, async |process: Process| {
                process.rest().await;
                let book = world.airline.book();
                let performed: Vec<_> = book.values().map(|it| it.performed).collect();
                assert_eq!(performed, [1], "{name}");
                let state = process.state().await;
                assert!(state.contains("\"submitted\""), "{name}: {state}");
                claims::check(&process).await;
            });
        }
    });
}

#[test]
fn l07_an_attempt_that_never_left_goes_out_once_more_under_its_key_when_that_is_certain() {
    on_every_backend(|backend| {
        let world = world(backend);
        let at_the_send = FaultPlan::none().with(1, Crash::Before);
        until_the_crash(&world, FaultPlan::none(), at_the_send, rebooks);
        in_a_process(&world, async |process: Process| {
            process.rest().await;
            assert!(world.airline.book().is_empty(), "unknown is not sent again by itself");
            assert!(process.state().await.contains("\"unknown\""));
            for _ in 0..2 {
                world.clock.advance(Duration::from_secs(600));
                process.rest().await;
            }
            let book = world.airline.book();
            assert_eq!(book.values().map(|it| it.performed).collect::<Vec<_>>(), [1]);
            claims::check(&process).await;
        });
    });
}

async fn rebooks(process: Process) {
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
}

#[test]
fn l13_two_recoverers_record_one_outcome_and_both_return_it() {
    for place in places() {
        let world = world(Backend::Memory);
        dies_in_a_rename(&world, place);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (here, there) = two_owners(&world).await;
            let there = there.talking(here.actor.clone(), "c1");
            let input = said(RENAME);
            let both = async {
                tokio::join!(
                    until_answered(&here, "t2", &input),
                    until_answered(&there, "t2", &input),
                )
            };
            let answered = tokio::time::timeout(Duration::from_secs(20), both).await;
            let (one, other) = answered.expect("both are answered");
            assert_eq!(one, other, "{place:?}");
            assert!(is_applied(outcome(&one)), "{place:?}: {one:#?}");
            let entries = here.entries().await;
            assert_eq!(count(&entries, "trip_renamed"), 1, "{place:?}");
            let answers = |entry: &&Entry| {
                entry.kind == EntryKind::TurnAnswered
                    && entry.turn.as_ref().is_some_and(|turn| turn.as_str() == "t2")
                    && matches!(entry.stream, StreamName::Conversation(_))
            };
            assert_eq!(entries.iter().filter(answers).count(), 1, "{place:?}");
            is_intact(&here).await;
        });
        runtime.shutdown_background();
    }
}
