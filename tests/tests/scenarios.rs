//! The seed's integration scenarios 10, 11 and 14: what fails is never claimed, and nothing speaks of a card that is
//! not there.

use std::sync::Arc;
use std::time::Duration;

use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::plan::ActOutcome;
use turnframe_ledger::AppendError;
use turnframe_test::fault::{CrashSwitch, FaultPlan, LedgerFault};
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::claims;
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, ADD_SEAT, HELLO, OPEN, OPEN_SECOND, REBOOK, RENAME, WHICH};
use turnframe_tests::gate::GatedInterpreter;
use turnframe_tests::reading::{count, events, is_applied, outcome, outcomes, prose, receipts};
use turnframe_tests::world::{Backend, Process, World, notices, said, shown};

const TWO_CHANGES: &str = "call it Spring and add a seat paid by the company";
const TWO_RECORDS: &str = "call Lisbon Spring and call Porto Summer";
const RENAME_AGAIN: &str = "call it Summer";

fn script() -> ScriptedInterpreter {
    desk::interpreter()
        .on(
            RENAME_AGAIN,
            means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Summer")),
        )
        .on(
            TWO_CHANGES,
            means(|brief| {
                propose(brief)
                    .act("call it Spring", "trip.rename")
                    .slot("name", "Spring")
                    .act("add a seat paid by the company", "trip.add_extra")
                    .slot("extra", "seat")
                    .slot("payer", "the company")
            }),
        )
        .on(
            TWO_RECORDS,
            means(|brief| {
                propose(brief)
                    .act("call Lisbon Spring", "trip.rename")
                    .on("Lisbon")
                    .slot("name", "Spring")
                    .act("call Porto Summer", "trip.rename")
                    .on("Porto")
                    .slot("name", "Summer")
            }),
        )
}

fn world(backend: Backend) -> World {
    let mut world = World::new(backend, Arc::new(script()), desk::airline());
    world.limits.turn_backoff = Duration::from_millis(1);
    world.limits.turn_backoff_max = Duration::from_millis(2);
    world.limits.append_backoff = Duration::from_millis(1);
    world
}

async fn with_appends(world: &World, plan: FaultPlan<LedgerFault>) -> Process {
    let process = world.start_with(plan, FaultPlan::none(), CrashSwitch::new()).await;
    process.begin().await;
    process
}

/// A boundary strikes this often, from the first time on.
fn often(name: &str, times: usize, fault: &LedgerFault) -> FaultPlan<LedgerFault> {
    let with = |plan: FaultPlan<_>, nth| plan.with((name, nth), fault.clone());
    (1..=times).fold(FaultPlan::none(), with)
}

fn refused() -> LedgerFault {
    LedgerFault::Answer(AppendError::Refused("by the plan of a test"))
}

fn away() -> LedgerFault {
    LedgerFault::Answer(AppendError::Unavailable { reason: "by the plan of a test".to_owned() })
}

/// As often as a turn is tried, and far more.
const FOR_GOOD: usize = 100;
/// What a change of the record alone is appended as.
const CHANGE: &str = "case: case.command, case.event";

fn claims_nothing(answer: &AssistantTurn) {
    assert!(receipts(&answer.blocks).is_empty(), "{answer:#?}");
    assert!(!outcomes(answer).into_iter().any(is_applied), "{answer:#?}");
}

fn speaks_of_no_card(answer: &AssistantTurn) {
    assert!(shown(&answer.blocks).is_empty(), "{answer:#?}");
    for block in &answer.blocks {
        if let ResponseBlock::Notice(notice) = block {
            assert_eq!(notice.interaction, None);
        }
    }
    let words = prose(answer).to_lowercase();
    for word in ["confirm", "card", "choose", "below"] {
        assert!(!words.contains(word), "{words}");
    }
}

#[test]
fn scenario_10_a_rejected_command_has_no_receipt() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = with_appends(&world, FaultPlan::none()).await;
        process.say("t1", OPEN).await;
        process.say("t2", RENAME).await;
        let view = process.state().await.contains("Spring");
        let answer = process.say("t3", RENAME).await;

        assert!(view);
        assert!(matches!(outcome(&answer), ActOutcome::Rejected { .. }), "{answer:#?}");
        assert_eq!(notices(&answer.blocks), ["rejected"]);
        claims_nothing(&answer);
        claims::check(&process).await;
    });
}

#[test]
fn scenario_10_a_command_on_a_record_that_moved_has_no_receipt() {
    everywhere(|backend| async move {
        let (interpreter, gate) = GatedInterpreter::holding(script(), RENAME);
        let world = World::new(backend, interpreter, desk::airline());
        let process = world.start().await;
        process.begin().await;
        let elsewhere = process.talking(process.actor.clone(), "c2");
        elsewhere.begin().await;
        process.say("t1", OPEN).await;
        let slow = {
            let process = process.clone();
            tokio::spawn(async move { process.post("t2", said(RENAME)).await })
        };
        gate.reached().await;
        elsewhere.post("t1", said(RENAME_AGAIN)).await.expect("answered");
        gate.open();
        let answer = slow.await.expect("joined").expect("answered");

        assert!(matches!(outcome(&answer), ActOutcome::RevisionConflict { .. }), "{answer:#?}");
        claims_nothing(&answer);
        claims::check(&process).await;
    });
}

#[test]
fn scenario_10_a_command_whose_commit_is_refused_has_no_receipt_and_the_conversation_goes_on() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = with_appends(&world, often(CHANGE, FOR_GOOD, &refused())).await;
        process.say("t1", OPEN).await;
        let before = events(&process.entries().await);
        let answer = process.say("t2", RENAME).await;

        claims_nothing(&answer);
        assert_eq!(notices(&answer.blocks), ["turn_given_up"]);
        assert_eq!(events(&process.entries().await), before);
        let next = process.say("t3", HELLO).await;
        assert_eq!(notices(&next.blocks), ["nothing_asked"]);
        claims::check(&process).await;
    });
}

#[test]
fn scenario_10_a_ledger_that_is_away_at_the_commit_is_waited_for_and_then_it_happens_once() {
    everywhere(|backend| async move {
        let faults = [
            away(),
            LedgerFault::Conflict,
            LedgerFault::LostAck,
            LedgerFault::Answer(AppendError::OutcomeUnknown { reason: "lost".to_owned() }),
        ];
        for fault in faults {
            let world = world(backend);
            let process = with_appends(&world, often(CHANGE, 12, &fault)).await;
            process.say("t1", OPEN).await;
            let answer = process.say("t2", RENAME).await;

            assert!(is_applied(outcome(&answer)), "{fault:?}: {answer:#?}");
            assert_eq!(count(&process.entries().await, "trip_renamed"), 1, "{fault:?}");
            assert_eq!(receipts(&answer.blocks).len(), 1);
            assert!(process.faults.unhit().len() < 12, "{fault:?} struck");
            claims::check(&process).await;
        }
    });
}

#[test]
fn scenario_11_a_confirmation_that_was_not_persisted_is_not_spoken_of() {
    everywhere(|backend| async move {
        let world = world(backend);
        let plan = often("case: card.opened", FOR_GOOD, &refused());
        let process = with_appends(&world, plan).await;
        process.say("t1", OPEN).await;
        let answer = process.say("t2", REBOOK).await;

        speaks_of_no_card(&answer);
        claims_nothing(&answer);
        assert_eq!(process.cards().await, []);
        claims::check(&process).await;
    });
}

#[test]
fn scenario_11_a_question_of_the_record_that_was_not_persisted_is_not_spoken_of() {
    everywhere(|backend| async move {
        let world = world(backend);
        let change = "case: case.command, case.event, card.opened";
        let process = with_appends(&world, often(change, FOR_GOOD, &refused())).await;
        process.say("t1", OPEN).await;
        let before = events(&process.entries().await);
        let answer = process.say("t2", ADD_SEAT).await;

        speaks_of_no_card(&answer);
        claims_nothing(&answer);
        assert_eq!(process.cards().await, []);
        assert_eq!(events(&process.entries().await), before);
    });
}

#[test]
fn scenario_11_a_choice_between_records_that_was_not_persisted_is_not_spoken_of() {
    everywhere(|backend| async move {
        let world = world(backend);
        let plan = often("conversation: turn.reduced, card.opened", FOR_GOOD, &refused());
        let process = with_appends(&world, plan).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        let answer = process.say("t3", WHICH).await;

        speaks_of_no_card(&answer);
        assert_eq!(notices(&answer.blocks), ["turn_given_up"]);
        assert_eq!(process.cards().await, []);
        let next = process.say("t4", HELLO).await;
        assert_eq!(notices(&next.blocks), ["nothing_asked"], "the conversation goes on");
    });
}

#[test]
fn scenario_11_a_card_that_was_persisted_late_is_shown_once_it_is_there() {
    let cards = [
        (REBOOK, "case: card.opened"),
        (ADD_SEAT, "case: case.command, case.event, card.opened"),
        (WHICH, "conversation: turn.reduced, card.opened"),
    ];
    everywhere(|backend| async move {
        for (request, append) in cards {
            for fault in [away(), LedgerFault::LostAck, LedgerFault::Conflict] {
                let world = world(backend);
                let process = with_appends(&world, often(append, 3, &fault)).await;
                process.say("t1", OPEN).await;
                if request == WHICH {
                    process.say("t2", OPEN_SECOND).await;
                }
                let answer = process.say("t3", request).await;
                let card = process.card().await;
                assert_eq!(shown(&answer.blocks), [card.id], "{append} {fault:?}");
                assert!(process.faults.unhit().len() < 3, "{append} {fault:?} struck");
                claims::check(&process).await;
            }
        }
    });
}

#[test]
fn scenario_14_of_a_batch_that_failed_nothing_is_claimed() {
    let both = "case: case.command, case.event, case.command, case.event";
    everywhere(|backend| async move {
        let world = world(backend);
        let process = with_appends(&world, often(both, FOR_GOOD, &refused())).await;
        process.say("t1", OPEN).await;
        let before = (events(&process.entries().await), process.cases().await);
        let view = view(&process).await;
        let answer = process.say("t2", TWO_CHANGES).await;

        assert_eq!(answer.acts.len(), 2);
        claims_nothing(&answer);
        assert_eq!((events(&process.entries().await), process.cases().await), before);
        assert_eq!(self::view(&process).await, view);
        claims::check(&process).await;
    });
}

/// The only record as its owner sees it.
async fn view(process: &Process) -> turnframe_core::view::WorkflowView {
    let case = process.cases().await.remove(0);
    process.system.view(&process.actor, &process.conversation, &case).await.expect("a view")
}

#[test]
fn scenario_14_where_one_of_two_records_fails_its_change_is_not_claimed() {
    everywhere(|backend| async move {
        let world = world(backend);
        // The second of two appends of this shape, at every try.
        let plan =
            (2..FOR_GOOD).fold(FaultPlan::none(), |plan, nth| plan.with((CHANGE, nth), refused()));
        let process = with_appends(&world, plan).await;
        process.say("t1", OPEN).await;
        process.say("t2", OPEN_SECOND).await;
        let answer = process.say("t3", TWO_RECORDS).await;

        let renamed = count(&process.entries().await, "trip_renamed");
        assert_eq!(renamed, 1, "one of them was committed");
        let applied = outcomes(&answer).into_iter().filter(|outcome| is_applied(outcome)).count();
        assert_eq!(receipts(&answer.blocks).len(), applied);
        assert!(applied <= renamed, "{answer:#?}");
        assert_eq!(notices(&answer.blocks), ["turn_given_up"]);
        claims::check(&process).await;
    });
}
