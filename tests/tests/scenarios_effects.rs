//! The seed's integration scenarios 13, 15, 18 and 20: failing models, silent remotes, reload, and success phrases.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::plan::ActOutcome;
use turnframe_core::receipt::{ReceiptSeverity, ReceiptStatus};
use turnframe_runtime::port::{DestinationProfile, InterpreterError, NarratorError, Resending};
use turnframe_test::fault::{Crash, FaultPlan};
use turnframe_test::script::{
    Behaviour, Lookup, ScriptedDestination, ScriptedInterpreter, ScriptedNarrator, fails, means,
    propose,
};
use turnframe_tests::claims;
use turnframe_tests::crash::{everywhere, in_a_process, on_every_backend, until_the_crash};
use turnframe_tests::desk::{self, ADD_SEAT, HELLO, OPEN, OPEN_SECOND, REBOOK, RENAME, WHICH};
use turnframe_tests::reading::{count, is_applied, outcome, receipts};
use turnframe_tests::world::{Backend, Process, World, clicked, said, statuses};

const UNDERSTOOD_ONCE: &str = "rebook Lisbon and call it Spring";

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

/// A conversation in which a rebooking was confirmed.
async fn rebooked(world: &World) -> (Process, Arc<AssistantTurn>) {
    let process = begun(world).await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    let answer = process.post("t3", clicked(&process.card().await, "confirm")).await;
    (process, answer.expect("answered"))
}

#[test]
fn scenario_13_words_that_fail_after_the_commit_change_no_receipt_and_repeat_no_command() {
    on_every_backend(|backend| {
        let asked = Arc::new(AtomicUsize::new(0));
        let mut world = World::desk(backend);
        world.narrator = Some(Arc::new(ScriptedNarrator::new(move |_| {
            // The first process dies over its first failure; the second one finds words.
            match asked.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => Err(NarratorError("500".to_owned())),
                _ => Ok(Some("Here is where it stands.".to_owned())),
            }
        })));
        let before_the_answer =
            FaultPlan::none().with(("conversation: turn.answered", 2), Crash::Before);
        until_the_crash(&world, before_the_answer, FaultPlan::none(), async |process: Process| {
            process.begin().await;
            process.say("t1", OPEN).await;
            process.say("t2", RENAME).await;
        });
        in_a_process(&world, async |process: Process| {
            let committed = process.faults.enumerated();
            let answer = process.say("t2", RENAME).await;
            let entries = process.entries().await;
            assert_eq!(count(&entries, "trip_renamed"), 1, "no command was repeated");
            let ActOutcome::Applied { events, .. } = outcome(&answer) else {
                panic!("{answer:#?}")
            };
            let [receipt] = receipts(&answer.blocks)[..] else { panic!("{answer:#?}") };
            assert_eq!(&receipt.draft.event_ids, events);
            assert!(matches!(answer.blocks[0], ResponseBlock::Transition { .. }), "{answer:#?}");
            assert!(!committed.iter().any(|it| it.name.contains("case.event")), "{committed:?}");
            claims::check(&process).await;
        });
    });
}

#[test]
fn scenario_13_a_model_that_went_away_after_the_plan_was_persisted_is_not_missed() {
    on_every_backend(|backend| {
        let plan = |script: ScriptedInterpreter| {
            script.on(
                UNDERSTOOD_ONCE,
                means(|brief| {
                    propose(brief)
                        .act("rebook Lisbon", "trip.request_rebooking")
                        .on("Lisbon")
                        .act("call it Spring", "trip.rename")
                        .on("Lisbon")
                        .slot("name", "Spring")
                }),
            )
        };
        let mut world = World::desk(backend);
        world.interpreter = Arc::new(plan(desk::interpreter()));
        let after_the_plan =
            FaultPlan::none().with(("conversation: turn.reduced", 2), Crash::After);
        until_the_crash(&world, after_the_plan, FaultPlan::none(), async |process: Process| {
            process.begin().await;
            process.say("t1", OPEN).await;
            process.say("t2", UNDERSTOOD_ONCE).await;
        });
        let gone = InterpreterError::Unavailable("down".to_owned());
        let script = Arc::new(desk::interpreter().on(UNDERSTOOD_ONCE, fails(gone)));
        world.interpreter = script.clone();
        in_a_process(&world, async |process: Process| {
            let answer = process.say("t2", UNDERSTOOD_ONCE).await;
            assert_eq!(script.calls(), 0, "no model is asked after the plan");
            assert_eq!(answer.acts.len(), 2);
            assert!(is_applied(&answer.acts[1].outcome), "{answer:#?}");
            let card = process.card().await;
            assert_eq!(answer.acts[0].outcome, ActOutcome::AwaitingConfirmation { card: card.id });
        });
    });
}

#[tokio::test(start_paused = true)]
async fn scenario_13_a_narrator_that_never_answers_costs_its_words_only() {
    let mut world = World::desk(Backend::Memory);
    world.narrator = Some(Arc::new(ScriptedNarrator::hanging()));
    let (process, answer) = rebooked(&world).await;
    process.rest().await;
    assert!(is_applied(outcome(&answer)), "{answer:#?}");
    assert_eq!(statuses(&answer.blocks), [ReceiptStatus::Prepared]);
    assert_eq!(world.airline.book().len(), 1);
}

/// An airline that says nothing for a while, each in its own way, and whether it has acted.
fn silent_airlines() -> [(Behaviour, bool); 4] {
    [
        (Behaviour::Hangs, true),
        (Behaviour::HangsUnheard, false),
        (Behaviour::LosesTheAnswer, true),
        (Behaviour::LosesTheDelivery, false),
    ]
}

fn silent_at_first(behaviour: Behaviour, resending: Resending) -> ScriptedDestination {
    let sent = AtomicUsize::new(0);
    let airline =
        ScriptedDestination::new("airline", move |_| match sent.fetch_add(1, Ordering::SeqCst) {
            0 => behaviour.clone(),
            _ => Behaviour::accepts(),
        });
    let timeout = Duration::from_millis(20);
    airline.with_profile(DestinationProfile { timeout, resending, ..DestinationProfile::default() })
}

#[test]
fn scenario_15_a_remote_that_does_not_answer_is_unknown_and_neither_sent_again_nor_called_a_failure()
 {
    everywhere(|backend| async move {
        for (behaviour, has_acted) in silent_airlines() {
            let airline = Arc::new(silent_at_first(behaviour.clone(), Resending::Never));
            let world = World::new(backend, Arc::new(desk::interpreter()), airline.clone());
            let (process, answer) = rebooked(&world).await;
            process.rest().await;
            assert_eq!(statuses(&answer.blocks), [ReceiptStatus::Prepared], "{behaviour:?}");
            assert_eq!(told(&process).await, [ReceiptStatus::Prepared, ReceiptStatus::Unknown]);

            // "Try again" is refused: nothing is sent beside what nobody knows.
            let again = process.say("t4", REBOOK).await;
            assert!(matches!(outcome(&again), ActOutcome::Rejected { .. }), "{again:#?}");
            let arrived = airline.book().len();
            assert_eq!(arrived, usize::from(has_acted), "{behaviour:?}");

            // The look-up finds out: what was lost on the way goes out once more, under the same key.
            for _ in 0..4 {
                world.clock.advance(Duration::from_secs(600));
                process.rest().await;
            }
            let told = told(&process).await;
            assert_eq!(told.last(), Some(&ReceiptStatus::Submitted), "{behaviour:?}: {told:?}");
            assert!(!told.contains(&ReceiptStatus::Rejected), "{behaviour:?}: {told:?}");
            let book = airline.book();
            let performed: Vec<_> = book.values().map(|entry| entry.performed).collect();
            assert_eq!(performed, [1], "{behaviour:?}");
            claims::check(&process).await;
        }
    });
}

/// The statuses of what was said about the airline, in order.
async fn told(process: &Process) -> Vec<ReceiptStatus> {
    let entries = process.entries().await;
    let mut told = Vec::new();
    for (_, block) in claims::told(&entries) {
        if let ResponseBlock::Receipt(receipt) = block
            && receipt.draft.status != ReceiptStatus::Recorded
        {
            assert_ne!(
                (receipt.draft.status == ReceiptStatus::Unknown, receipt.draft.severity),
                (true, ReceiptSeverity::Failure),
                "what is unknown is no failure"
            );
            told.push(receipt.draft.status);
        }
    }
    told
}

#[test]
fn scenario_15_what_no_look_up_can_find_out_is_left_to_a_person_and_called_neither() {
    everywhere(|backend| async move {
        let airline = silent_at_first(Behaviour::LosesTheAnswer, Resending::Never);
        let airline = Arc::new(airline.looking_up(|_, _| Lookup::Hangs));
        let world = World::new(backend, Arc::new(desk::interpreter()), airline.clone());
        let (process, _) = rebooked(&world).await;
        process.rest().await;
        for _ in 0..12 {
            world.clock.advance(Duration::from_secs(600));
            process.rest().await;
        }
        let expected = [
            ReceiptStatus::Prepared,
            ReceiptStatus::Unknown,
            ReceiptStatus::ReconciliationRequired,
        ];
        assert_eq!(told(&process).await, expected);
        assert!(airline.repeated().is_empty());
        claims::check(&process).await;
    });
}

/// A long conversation with everything in it: several acts, cards of each kind, clicks, refusals, an airline.
async fn long_run(world: &World) -> (Process, Vec<Arc<AssistantTurn>>) {
    let process = begun(world).await;
    let mut answers = Vec::new();
    for (number, text) in [OPEN, HELLO, RENAME, RENAME, ADD_SEAT].into_iter().enumerate() {
        answers.push(process.say(&format!("a{number}"), text).await);
    }
    answers.push(process.click("b1", &process.card().await, "traveller").await);
    answers.push(process.say("b2", REBOOK).await);
    let declined = process.card().await;
    answers.push(process.click("b3", &declined, "decline").await);
    answers.push(process.click("b4", &declined, "confirm").await);
    answers.push(process.say("b5", REBOOK).await);
    let confirmed = process.card().await;
    answers.push(process.click("b6", &confirmed, "confirm").await);
    answers.push(process.click("b7", &confirmed, "confirm").await);
    answers.push(process.say("b8", REBOOK).await);
    answers.push(process.say("c1", OPEN_SECOND).await);
    answers.push(process.say("c2", WHICH).await);
    answers.push(process.click("c3", &process.card().await, "2").await);
    answers.push(process.say("c4", "no line of the script knows this").await);
    (process, answers)
}

#[test]
fn scenario_18_a_reload_returns_the_very_blocks_in_their_order_also_after_a_restart() {
    everywhere(|backend| async move {
        let mut world = World::desk(backend);
        world.narrator = Some(Arc::new(ScriptedNarrator::saying("Here is where it stands.")));
        let (process, answers) = long_run(&world).await;
        let live: Vec<_> =
            answers.iter().map(|answer| serde_json::json!({ "answer": answer })).collect();
        let transcript = process.transcript().await;
        let stored: Vec<_> =
            transcript.iter().filter(|item| item.get("answer").is_some()).cloned().collect();
        assert_eq!(stored, live);

        let process = world.restart(process).await;
        assert_eq!(process.transcript().await, transcript);
        process.system.clone().shutdown().await;
        drop(process);
        world.drop_snapshots().await;
        let process = world.start().await;
        assert_eq!(process.transcript().await, transcript);
        for answer in &answers {
            let input = match said_in(&transcript, &answer.turn.to_string()) {
                Some(text) => said(&text),
                None => continue,
            };
            let again = process.post(answer.turn.as_str(), input).await.expect("answered");
            assert_eq!(&again, answer, "the same turn again is the stored answer");
        }
    });
}

fn said_in(transcript: &[serde_json::Value], turn: &str) -> Option<String> {
    let item = transcript.iter().find(|item| item["turn"] == turn)?;
    let personal = &item["text"]["$personal"]["value"];
    personal.as_str().map(str::to_owned)
}

#[test]
fn scenario_20_no_success_phrase_stands_without_its_receipt_in_a_long_run() {
    everywhere(|backend| async move {
        let phrases =
            ["All done!", "Successfully rebooked.", "I looked at your trip.", "Erledigt."];
        let asked = AtomicUsize::new(0);
        let mut world = World::desk(backend);
        world.narrator = Some(Arc::new(ScriptedNarrator::new(move |_| {
            let next = asked.fetch_add(1, Ordering::SeqCst);
            Ok(Some(phrases[next % phrases.len()].to_owned()))
        })));
        let (process, answers) = long_run(&world).await;
        claims::check(&process).await;
        let told = claims::told(&process.entries().await);
        let words = |wanted: &str| {
            told.iter().any(|(_, block)| {
                let words = turnframe_tests::reading::words_of(block).unwrap_or_default();
                words.contains(wanted)
            })
        };
        assert!(words("I looked at your trip."), "harmless words are heard");
        for claim in ["All done", "Successfully rebooked", "Erledigt"] {
            assert!(!words(claim), "{claim}");
        }
        let successes = answers.iter().flat_map(|answer| receipts(&answer.blocks)).count();
        assert!(successes >= 6, "the run had something to tell: {successes}");
    });
}
