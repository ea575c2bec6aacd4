//! Conversations beside each other and turns behind each other: arrival, repetition, conflict, isolation, panic.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use turnframe_actors::PostError;
use turnframe_core::id::CaseRevision;
use turnframe_core::plan::ActOutcome;
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::port::Interpreter;
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::altered::AlteredTrip;
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, HELLO, OPEN, REBOOK, RENAME};
use turnframe_tests::gate::GatedInterpreter;
use turnframe_tests::reading::{count, is_applied, kinds, outcome, prose, receipts};
use turnframe_tests::world::{Backend, Process, World, actor, clicked, notices, said};
use turnframe_travel::trip::TripCommand;

const RENAME_AGAIN: &str = "call it Summer";

fn script() -> ScriptedInterpreter {
    let renames = |name: &'static str| {
        means(move |brief| propose(brief).act("call it", "trip.rename").slot("name", name))
    };
    let mut script = desk::interpreter().on(RENAME_AGAIN, renames("Summer"));
    for (message, name) in NUMBERED {
        script = script.on(message, renames(name));
    }
    script
}

const NUMBERED: [(&str, &str); 8] = [
    ("call it One", "One"),
    ("call it Two", "Two"),
    ("call it Three", "Three"),
    ("call it Four", "Four"),
    ("call it Five", "Five"),
    ("call it Six", "Six"),
    ("call it Seven", "Seven"),
    ("call it Eight", "Eight"),
];

fn world(backend: Backend, interpreter: Arc<dyn Interpreter>) -> World {
    World::new(backend, interpreter, desk::airline())
}

async fn begun(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process
}

fn turns(entries: &[Entry], kind: EntryKind) -> Vec<String> {
    let of_kind = entries.iter().filter(|entry| entry.kind == kind);
    of_kind.filter_map(|entry| Some(entry.turn.as_ref()?.to_string())).collect()
}

#[test]
fn case_22_a_client_that_goes_away_loses_the_waiting_and_not_the_turn() {
    everywhere(|backend| async move {
        let (interpreter, gate) = GatedInterpreter::holding(script(), RENAME);
        let world = world(backend, interpreter);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let waiting = {
            let process = process.clone();
            tokio::spawn(async move { process.post("t2", said(RENAME)).await })
        };
        gate.reached().await;
        waiting.abort();
        assert!(waiting.await.is_err(), "nobody waits any more");
        gate.open();
        process.rest().await;

        let entries = process.entries().await;
        assert_eq!(turns(&entries, EntryKind::TurnAnswered), ["t1", "t2"]);
        assert_eq!(count(&entries, "trip_renamed"), 1);
        let chain = process.chain().await;
        let answer = process.post("t2", said(RENAME)).await.expect("answered");
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        assert_eq!(process.chain().await, chain, "asked again, nothing happens again");
        let stored = process.transcript().await.pop().expect("an answer");
        assert_eq!(stored, serde_json::json!({ "answer": answer }));
    });
}

#[test]
fn case_26_messages_in_quick_succession_are_recorded_and_answered_in_their_order() {
    everywhere(|backend| async move {
        let world = world(backend, Arc::new(script()));
        let process = begun(&world).await;
        process.say("t0", OPEN).await;
        let (first, second) =
            tokio::join!(process.post("t1", said(RENAME)), process.post("t2", said(RENAME_AGAIN)),);
        for answer in [first, second] {
            assert!(is_applied(outcome(&answer.expect("answered"))));
        }
        let entries = process.entries().await;
        assert_eq!(turns(&entries, EntryKind::TurnAccepted), ["t0", "t1", "t2"]);
        assert_eq!(turns(&entries, EntryKind::TurnAnswered), ["t0", "t1", "t2"]);
    });
}

#[test]
fn eight_turns_at_once_get_eight_answers_in_order_of_arrival_and_no_conflict() {
    everywhere(|backend| async move {
        let world = world(backend, Arc::new(script()));
        let process = begun(&world).await;
        process.say("t0", OPEN).await;
        let posts = NUMBERED.iter().map(|(message, name)| process.post(name, said(message)));
        for answer in join_all(posts).await {
            let answer = answer.expect("answered");
            assert!(is_applied(outcome(&answer)), "{answer:#?}");
        }
        let entries = process.entries().await;
        let accepted = turns(&entries, EntryKind::TurnAccepted);
        assert_eq!(accepted.len(), 9);
        assert_eq!(turns(&entries, EntryKind::TurnReduced), accepted);
        assert_eq!(turns(&entries, EntryKind::TurnAnswered), accepted);
        assert_eq!(count(&entries, "trip_renamed"), 8);
    });
}

#[test]
fn case_29_two_accounts_with_one_conversation_id_share_nothing() {
    everywhere(|backend| async move {
        let script = Arc::new(script());
        let world = world(backend, script.clone());
        let ada = begun(&world).await;
        let mallory = ada.talking(actor("globex", "mallory"), "c1");
        mallory.begin().await;
        ada.say("t1", OPEN).await;
        ada.say("t2", REBOOK).await;
        let card = ada.card().await;
        let of_ada = ada.chain().await;
        mallory.post("t1", said(HELLO)).await.expect("answered");
        let answer = mallory.post("t2", said(RENAME)).await.expect("answered");

        assert_eq!(outcome(&answer), &ActOutcome::TargetMissing);
        assert_eq!(mallory.post("t3", clicked(&card, "confirm")).await, Err(PostError::NotFound));
        assert_eq!(mallory.cards().await, []);
        for asked in script.asked().split_off(2) {
            assert!(asked.brief.handles.is_empty() && asked.brief.cards.is_empty());
            let shown = format!("{:?}", asked.brief.message);
            assert!(!shown.contains("Ada") && !shown.contains("Lisbon"), "{shown}");
        }
        let transcript = serde_json::to_string(&mallory.transcript().await).expect("JSON");
        assert!(!transcript.contains("Lisbon") && !transcript.contains("Ferri"), "{transcript}");
        let case = ada.cases().await.remove(0);
        let view = mallory.system.view(&mallory.actor, &mallory.conversation, &case).await;
        assert_eq!(view, Err(PostError::NotFound));
        assert_eq!(ada.chain().await, of_ada, "nothing of another account's touched it");
    });
}

#[test]
fn a_turn_beyond_the_waiting_room_is_overloaded_and_nothing_is_written_for_it() {
    const WAITING_MAX: usize = 16;
    everywhere(|backend| async move {
        let (interpreter, gate) = GatedInterpreter::holding(script(), HELLO);
        let world = world(backend, interpreter);
        assert_eq!(world.limits.turns_waiting_max, WAITING_MAX);
        let process = begun(&world).await;
        let mut waiting = Vec::new();
        for number in 0..WAITING_MAX {
            let process = process.clone();
            let turn = format!("t{number}");
            waiting.push(tokio::spawn(async move { process.post(&turn, said(HELLO)).await }));
        }
        gate.reached().await;
        while kinds(&process.entries().await, EntryKind::TurnAccepted) < WAITING_MAX {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let before = process.chain().await;
        assert_eq!(process.post("one-more", said(HELLO)).await, Err(PostError::Overloaded));
        assert_eq!(process.chain().await, before);
        // Another conversation has a waiting room of its own.
        let elsewhere = process.talking(process.actor.clone(), "c2");
        elsewhere.begin().await;
        elsewhere.post("t1", said(OPEN)).await.expect("answered");

        gate.open();
        for answer in join_all(waiting).await {
            answer.expect("joined").expect("answered");
        }
        process.post("one-more", said(HELLO)).await.expect("there is room again");
    });
}

#[test]
fn a_turn_posted_again_after_it_was_delivered_returns_the_stored_answer_and_its_record_stays() {
    everywhere(|backend| async move {
        let world = world(backend, Arc::new(script()));
        let process = begun(&world).await;
        let first = process.say("t1", OPEN).await;
        process.say("t2", RENAME).await;
        let before = process.chain().await;
        assert_eq!(process.post("t1", said(OPEN)).await, Ok(first.clone()));
        assert_eq!(process.chain().await, before);
        let process = world.restart(process).await;
        assert_eq!(process.post("t1", said(OPEN)).await, Ok(first));
        assert_eq!(process.chain().await, before);
    });
}

#[test]
fn a_turn_id_with_another_content_is_refused_and_nothing_is_written() {
    everywhere(|backend| async move {
        let world = world(backend, Arc::new(script()));
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        process.say("t3", RENAME).await;
        let before = process.chain().await;
        let colleague = process.talking(actor("acme", "eve"), "c1");
        for (who, turn, input) in [
            (&process, "t3", said(RENAME_AGAIN)),
            (&process, "t1", clicked(&card, "decline")),
            (&colleague, "t3", said(RENAME)),
        ] {
            assert_eq!(who.post(turn, input).await, Err(PostError::TurnReused), "{turn}");
        }
        assert_eq!(process.chain().await, before);
    });
}

#[test]
fn a_record_that_changed_meanwhile_is_told_with_how_it_stands_and_changes_nothing() {
    everywhere(|backend| async move {
        let (interpreter, gate) = GatedInterpreter::holding(script(), RENAME);
        let world = world(backend, interpreter);
        let here = begun(&world).await;
        let elsewhere = here.talking(here.actor.clone(), "c2");
        elsewhere.begin().await;
        here.say("t1", OPEN).await;
        let slow = {
            let here = here.clone();
            tokio::spawn(async move { here.post("t2", said(RENAME)).await })
        };
        gate.reached().await;
        let quick = elsewhere.post("t1", said(RENAME_AGAIN)).await.expect("answered");
        assert!(is_applied(outcome(&quick)), "{quick:#?}");
        gate.open();
        let told = slow.await.expect("joined").expect("answered");

        let ActOutcome::RevisionConflict { expected, actual, .. } = outcome(&told) else {
            panic!("{told:#?}")
        };
        assert_eq!((*expected, *actual), (CaseRevision(1), CaseRevision(2)));
        assert_eq!(notices(&told.blocks), ["revision_conflict"]);
        assert!(receipts(&told.blocks).is_empty());
        let words = prose(&told);
        assert!(words.contains("Summer") && words.contains("Lisbon"), "the fresh view: {words}");
        let entries = here.entries().await;
        assert_eq!(count(&entries, "trip_renamed"), 1);
        // Said again, it is carried out on the record as it is.
        let again = here.say("t3", RENAME).await;
        assert!(is_applied(outcome(&again)), "{again:#?}");
    });
}

#[test]
fn a_record_with_an_open_question_elsewhere_says_so_and_shows_no_card_here() {
    everywhere(|backend| async move {
        let world = world(backend, Arc::new(script()));
        let here = begun(&world).await;
        let elsewhere = here.talking(here.actor.clone(), "c2");
        elsewhere.begin().await;
        here.say("t1", OPEN).await;
        here.say("t2", REBOOK).await;
        let card = here.card().await;
        let answer = elsewhere.post("t1", said(REBOOK)).await.expect("answered");

        assert_eq!(outcome(&answer), &ActOutcome::WaitingElsewhere);
        assert_eq!(notices(&answer.blocks), ["waiting_elsewhere"]);
        assert_eq!(elsewhere.cards().await, []);
        assert_eq!(here.card().await, card);
        assert_eq!(kinds(&here.entries().await, EntryKind::CardOpened), 1);
    });
}

/// A defect of the domain that a certain name brings out.
fn panics_on_summer(command: &TripCommand) {
    if let TripCommand::Rename { name } = command {
        assert!(name.value().is_none_or(|name| name != "Summer"), "a defect of the domain");
    }
}

/// Another that a submission brings out; it is decided by the record's own actor first.
fn panics_on_rebooking(command: &TripCommand) {
    assert!(!matches!(command, TripCommand::RequestRebooking), "a defect of the domain");
}

#[test]
fn a_panic_in_a_decision_ends_its_own_turn_truthfully_and_touches_nobody_else() {
    let defects =
        [(panics_on_summer as fn(&TripCommand), RENAME_AGAIN), (panics_on_rebooking, REBOOK)];
    everywhere(|backend| async move {
        for (defect, message) in defects {
            let mut world = world(backend, Arc::new(script()));
            world.registry = AlteredTrip::default().deciding(defect).registry();
            world.limits.turn_backoff = Duration::from_millis(1);
            let here = begun(&world).await;
            let neighbour = here.talking(here.actor.clone(), "c2");
            let stranger = here.talking(actor("globex", "mallory"), "c1");
            neighbour.begin().await;
            stranger.begin().await;
            here.say("t1", OPEN).await;
            let (ended, beside, far) = tokio::join!(
                here.post("t2", said(message)),
                neighbour.post("t1", said(HELLO)),
                stranger.post("t1", said(OPEN)),
            );

            let ended = ended.expect("answered");
            assert_eq!(notices(&ended.blocks), ["turn_given_up"]);
            assert!(receipts(&ended.blocks).is_empty());
            assert_eq!(notices(&beside.expect("answered").blocks), ["nothing_asked"]);
            assert_eq!(far.expect("answered").acts.len(), 2);
            let beside = neighbour.say("t2", RENAME).await;
            assert!(is_applied(outcome(&beside)), "the record goes on: {beside:#?}");
            let after = here.say("t3", NUMBERED[0].0).await;
            assert!(is_applied(outcome(&after)), "the conversation goes on: {after:#?}");
            assert_eq!(here.post("t2", said(message)).await, Ok(ended), "it stays answered");
        }
    });
}

#[test]
fn a_panic_over_an_old_event_stops_that_record_alone_and_says_so() {
    fn panics_on_rename(event: &turnframe_travel::trip::TripEvent) {
        let is_rename = matches!(event, turnframe_travel::trip::TripEvent::TripRenamed { .. });
        assert!(!is_rename, "a defect of the domain");
    }
    everywhere(|backend| async move {
        let mut world = world(backend, Arc::new(script()));
        world.limits.turn_backoff = Duration::from_millis(1);
        world.limits.snapshot_entries_min = u64::MAX;
        let before = begun(&world).await;
        before.say("t1", OPEN).await;
        before.say("t2", RENAME).await;
        before.system.clone().shutdown().await;
        drop(before);
        // Another release cannot take in what is on the ledger.
        world.registry = AlteredTrip::default().evolving(panics_on_rename).registry();
        let process = begun(&world).await;
        let asked = process.post("t3", said(REBOOK));
        let asked = tokio::time::timeout(Duration::from_secs(20), asked).await;
        let answer = asked.expect("nobody is kept waiting").expect("answered");
        assert!(receipts(&answer.blocks).is_empty(), "{answer:#?}");
        let stranger = process.talking(actor("globex", "mallory"), "c1");
        stranger.begin().await;
        assert!(is_applied(&stranger.say("t1", OPEN).await.acts[0].outcome), "others go on");
        let stopped = process.system.clone().shutdown();
        assert!(tokio::time::timeout(Duration::from_secs(10), stopped).await.is_ok());
    });
}

#[test]
fn a_panic_in_a_receipt_never_says_that_what_was_committed_did_not_happen() {
    fn panics_on_rename(event: &turnframe_travel::trip::TripEvent) {
        let is_rename = matches!(event, turnframe_travel::trip::TripEvent::TripRenamed { .. });
        assert!(!is_rename, "a defect of a renderer");
    }
    everywhere(|backend| async move {
        let mut world = world(backend, Arc::new(script()));
        world.registry = AlteredTrip::default().rendering(panics_on_rename).registry();
        world.limits.turn_backoff = Duration::from_millis(1);
        let process = begun(&world).await;
        process.say("t1", OPEN).await;
        let answer = process.say("t2", RENAME).await;

        assert_eq!(count(&process.entries().await, "trip_renamed"), 1, "once, however often tried");
        assert_eq!(outcome(&answer), &ActOutcome::Unreported);
        assert_eq!(notices(&answer.blocks), ["turn_given_up"]);
        let view = process.state().await;
        assert!(view.contains("Spring"), "{view}");
    });
}

/// The commits that a turn waits for, one after another.
async fn commits<F: Future>(process: &Process, turn: F) -> u64 {
    let before = process.system.ledger().statistics().commits;
    turn.await;
    process.system.ledger().statistics().commits - before
}

#[test]
fn a_turn_without_a_model_waits_for_three_commits_and_one_with_a_model_for_four() {
    everywhere(|backend| async move {
        let world = World::desk(backend);
        let process = begun(&world).await;
        process.say("t0", OPEN).await;
        process.rest().await;
        assert_eq!(commits(&process, process.say("t1", RENAME)).await, 4);
        process.say("t2", REBOOK).await;
        process.rest().await;
        let card = process.card().await;
        assert_eq!(commits(&process, process.click("t3", &card, "decline")).await, 3);
    });
}

#[test]
fn a_click_and_words_at_once_arrive_one_after_the_other_and_are_answered_in_that_order() {
    everywhere(|backend| async move {
        for round in 0..8 {
            let world = World::desk(backend);
            let process = begun(&world).await;
            process.say("t0", OPEN).await;
            process.say("t1", REBOOK).await;
            process.rest().await;
            let card = process.card().await;
            let later = async {
                for _ in 0..round {
                    tokio::task::yield_now().await;
                }
                process.say("words", RENAME).await
            };
            tokio::join!(process.click("click", &card, "decline"), later);
            let entries = process.entries().await;
            let arrived = turns(&entries, EntryKind::TurnAccepted);
            assert_eq!(arrived.len(), 4, "{arrived:?}");
            assert_eq!(arrived, turns(&entries, EntryKind::TurnReduced));
            assert_eq!(arrived, turns(&entries, EntryKind::TurnAnswered));
        }
    });
}

#[test]
fn a_click_that_is_posted_again_after_its_answer_is_answered_the_same_and_with_other_content_refused()
 {
    everywhere(|backend| async move {
        let world = World::desk(backend);
        let process = begun(&world).await;
        process.say("t0", OPEN).await;
        process.say("t1", REBOOK).await;
        process.rest().await;
        let card = process.card().await;
        let first = process.click("t2", &card, "decline").await;
        assert_eq!(process.click("t2", &card, "decline").await, first);
        let other = process.post("t2", clicked(&card, "confirm")).await;
        assert!(matches!(other, Err(PostError::TurnReused)), "{other:?}");
        let entries = process.entries().await;
        assert_eq!(turns(&entries, EntryKind::TurnAnswered).len(), 3);
    });
}
