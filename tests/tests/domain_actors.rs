//! Domain actors: shown everything at least once, heard at most once, whatever dies, fails or is handed over.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use turnframe_actors::StartError;
use turnframe_core::id::TimerName;
use turnframe_core::policy::CommandOrigin;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::{
    Entry, EntryKind, EventLedger, MarkKind, MarkQuery, PartitionId, PartitionSet, Position,
};
use turnframe_runtime::port::{ErasedDomainActor, ReactError, Reaction};
use turnframe_runtime::record::{CaseCommand, CaseEvent};
use turnframe_test::fault::CrashPoint;
use turnframe_test::literal;
use turnframe_tests::claims;
use turnframe_tests::crash::{everywhere, on_every_backend};
use turnframe_tests::desk::{self, HELLO, OPEN, OPEN_SECOND, REBOOK, RENAME};
use turnframe_tests::domain::{Reacted, Scripted, Seen, protect, wake};
use turnframe_tests::matrix::{End, Step, play, same};
use turnframe_tests::owned::Owned;
use turnframe_tests::world::{Backend, Process, World, actor, said};
use turnframe_travel::AnswerDeadline;
use turnframe_travel::trip::{STATUS_OVERDUE, TripEvent};

const DEADLINE: Duration = Duration::from_secs(600);

fn overdue() -> ReceiptStatus {
    ReceiptStatus::Domain(STATUS_OVERDUE.to_owned())
}

/// The desk with its deadline.
fn with_deadline(backend: Backend) -> World {
    World::desk(backend).followed_by(vec![Arc::new(AnswerDeadline::after(DEADLINE))])
}

fn with(backend: Backend, actor: &Arc<Scripted>) -> World {
    World::desk(backend).followed_by(vec![actor.clone()])
}

/// A rebooking that the airline has and has not decided on.
async fn rebooked(process: &Process) {
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
}

async fn of_kind(process: &Process, kind: EntryKind) -> usize {
    process.entries().await.iter().filter(|entry| entry.kind == kind).count()
}

/// The commands that domain actors have run, with their origins.
async fn commands(process: &Process) -> Vec<CaseCommand> {
    ours(&process.entries().await)
}

fn ours(entries: &[Entry]) -> Vec<CaseCommand> {
    let commands = entries.iter().filter(|entry| entry.kind == EntryKind::CaseCommand);
    let read = |entry: &Entry| entry.body.open::<CaseCommand>().expect("a command");
    let is_ours = |it: &CaseCommand| matches!(it.origin, CommandOrigin::InternalPolicy { .. });
    commands.map(read).filter(is_ours).collect()
}

/// The legs that the only trip protects, as its user reads them.
async fn legs(process: &Process) -> Vec<String> {
    let state = process.state().await;
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    let facts = state["views"][0]["facts"].as_array().expect("facts").clone();
    let is_leg = |fact: &&serde_json::Value| fact["name"] == "protected leg";
    facts.iter().filter(is_leg).map(|fact| fact["value"].to_string()).collect()
}

const fn opens(event: &TripEvent) -> bool {
    matches!(event, TripEvent::TripOpened { .. })
}

/// How often an actor was shown that a trip was opened.
fn openings(follower: &Scripted) -> usize {
    follower.seen().iter().filter(|event| opens(event)).count()
}

async fn until(process: &Process, what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..5_000 {
        if holds().await {
            return;
        }
        process.clock.advance(Duration::from_millis(20));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(holds().await, "it never came about: {what}");
}

#[test]
fn a_decision_that_does_not_come_in_time_is_told_once_also_after_a_restart() {
    everywhere(|backend| async move {
        let world = with_deadline(backend);
        let process = world.start().await;
        rebooked(&process).await;
        process.assert_told(ReceiptStatus::Submitted).await;
        let process = world.restart(process).await;
        process.rest().await;
        world.clock.advance(DEADLINE);
        process.assert_told(overdue()).await;
        world.clock.advance(DEADLINE * 10);
        let process = world.restart(process).await;
        process.rest().await;
        process.assert_told(overdue()).await;
        assert_eq!(of_kind(&process, EntryKind::TimerFired).await, 1);
        let commands = commands(&process).await;
        assert_eq!(commands.len(), 1);
        let rule = "answer-deadline".to_owned();
        assert_eq!(commands[0].origin, CommandOrigin::InternalPolicy { rule });
        process.system.shutdown().await;
    });
}

#[test]
fn a_decision_in_time_takes_the_timer_back() {
    everywhere(|backend| async move {
        let world = with_deadline(backend);
        let process = world.start().await;
        rebooked(&process).await;
        let effect = process.effects().await[0];
        process.call_back("w1", (effect, desk::confirmed(), 2)).await.expect("heard");
        process.assert_told(ReceiptStatus::Accepted).await;
        assert_eq!(of_kind(&process, EntryKind::TimerCancelled).await, 1);
        world.clock.advance(DEADLINE * 2);
        process.assert_told(ReceiptStatus::Accepted).await;
        let marks = process.system.ledger().marks(MarkQuery::of(MarkKind::Timer)).await;
        assert!(marks.expect("marks").is_empty());
        assert!(commands(&process).await.is_empty());
        process.system.shutdown().await;
    });
}

#[test]
fn an_actor_that_is_installed_later_is_shown_what_happened_before() {
    everywhere(|backend| async move {
        let mut world = World::desk(backend);
        let process = world.start().await;
        rebooked(&process).await;
        world.clock.advance(DEADLINE);
        world.domain_actors = with_deadline(Backend::Memory).domain_actors;
        let process = world.restart(process).await;
        process.assert_told(overdue()).await;
        process.system.shutdown().await;
    });
}

#[test]
fn every_append_and_send_of_a_deadline_may_be_the_last_of_a_process() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Wait(DEADLINE),
        Step::CallBack(desk::confirmed, 3),
    ];
    let compare = |point: &CrashPoint, clean: &End, crashed: &End| {
        let told = |state: &str| state.matches(STATUS_OVERDUE).count();
        assert_eq!(told(&clean.state), told(&crashed.state), "after a crash {point}");
        if crashed.left_an_attempt {
            assert!(crashed.state.contains("\"status\": \"unknown\""), "after a crash {point}");
        } else {
            same(point, clean, crashed);
        }
    };
    on_every_backend(|backend| {
        assert_eq!(play(|| with_deadline(backend), &steps, compare), 1, "one send");
    });
}

#[test]
fn a_command_that_is_asked_for_again_is_run_once() {
    everywhere(|backend| async move {
        // Refused where it is run again: there would be a second record of it.
        let asks = |event: &Seen| {
            let asks = vec![protect(&event.case, "LIS-FRA")];
            Ok(if opens(&event.event) { asks } else { Vec::new() })
        };
        let follower = Arc::new(Scripted::new("again", asks));
        let world = with(backend, &follower);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        // Another name of the same actor's code, and so another cursor: everything is shown from the start.
        let other = Arc::new(Scripted::new("other", asks));
        process.rest().await;
        let world = world.followed_by(vec![follower.clone(), other.clone()]);
        let process = world.restart(process).await;
        process.rest().await;
        assert_eq!(openings(&follower), 1, "its cursor was kept");
        assert_eq!(openings(&other), 1);
        assert_eq!(commands(&process).await.len(), 2, "one of each");
        assert_eq!(legs(&process).await.len(), 1);
        process.system.shutdown().await;
    });
}

#[test]
fn a_cursor_that_was_never_kept_shows_all_again_and_changes_nothing() {
    everywhere(|backend| async move {
        let asks = |event: &Seen| {
            let at = event.recorded_at.plus(Duration::from_secs(60));
            let asks = vec![protect(&event.case, "LIS-FRA"), wake("later", at)];
            Ok(if opens(&event.event) { asks } else { Vec::new() })
        };
        let fires = |_: &_, event: &Seen| Ok(vec![protect(&event.case, "FRA-OPO")]);
        let follower = Arc::new(Scripted::new("again", asks).firing(fires));
        let mut world = with(backend, &follower);
        // A cursor is kept when there is none yet, and then not for an hour.
        world.limits.sweep = Duration::from_secs(3_600);
        let process = world.start().await;
        let no_wait = Process { followers: Vec::new(), ..process.clone() };
        no_wait.begin().await;
        let (ledger, partition) =
            (process.system.ledger(), PartitionId::of(&process.actor.account));
        let kept =
            async || ledger.cursor(&process.followers[0], partition).await.expect("a cursor");
        wait(async || kept().await > Position::START).await;
        no_wait.say("t1", OPEN).await;
        wait(async || of_kind(&process, EntryKind::TimerSet).await == 1).await;
        world.limits.sweep = Duration::from_millis(20);
        drop(no_wait);
        let process = world.restart(process).await;
        process.rest().await;
        assert_eq!(openings(&follower), 2);
        world.clock.advance(Duration::from_secs(60));
        process.rest().await;
        assert_eq!(legs(&process).await.len(), 2);
        assert_eq!(commands(&process).await.len(), 2);
        assert_eq!(of_kind(&process, EntryKind::TimerSet).await, 1);
        assert_eq!(of_kind(&process, EntryKind::TimerFired).await, 1);
        process.system.shutdown().await;
    });
}

async fn wait(holds: impl AsyncFn() -> bool) {
    let looks = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), looks).await.expect("in time");
}

/// Has a cursor stand where it is for good, so that everything from here on is shown again at the next start.
async fn stop_keeping(process: &Process) {
    let (ledger, partition) = (process.system.ledger(), PartitionId::of(&process.actor.account));
    let kept = async || ledger.cursor(&process.followers[0], partition).await.expect("a cursor");
    wait(async || kept().await > Position::START).await;
}

#[test]
fn events_of_one_command_that_are_shown_again_leave_each_others_timers_alone() {
    everywhere(|backend| async move {
        let asks = |event: &Seen| {
            let joins = matches!(event.event, TripEvent::TravellerAdded { .. });
            let at = event.recorded_at.plus(Duration::from_secs(60));
            Ok(match (opens(&event.event), joins) {
                (true, _) => vec![Reaction::Cancel { timer: literal("later") }],
                (_, true) => vec![wake("later", at)],
                (false, false) => Vec::new(),
            })
        };
        let fires = |_: &_, event: &Seen| Ok(vec![protect(&event.case, "LIS-FRA")]);
        let follower = Arc::new(Scripted::new("again", asks).firing(fires));
        let mut world = with(backend, &follower);
        world.limits.sweep = Duration::from_secs(3_600);
        let process = world.start().await;
        let no_wait = Process { followers: Vec::new(), ..process.clone() };
        no_wait.begin().await;
        stop_keeping(&process).await;
        no_wait.say("t1", OPEN).await;
        wait(async || of_kind(&process, EntryKind::TimerSet).await == 1).await;
        world.limits.sweep = Duration::from_millis(20);
        drop(no_wait);
        let process = world.restart(process).await;
        process.rest().await;
        assert_eq!(openings(&follower), 2, "it was shown again");
        world.clock.advance(Duration::from_secs(60));
        process.rest().await;
        assert_eq!(of_kind(&process, EntryKind::TimerCancelled).await, 0);
        assert_eq!(legs(&process).await.len(), 1);
        process.system.shutdown().await;
    });
}

#[test]
fn an_answer_that_is_another_one_the_second_time_is_carried_out_as_well() {
    everywhere(|backend| async move {
        let times = AtomicU32::new(0);
        let asks = move |event: &Seen| {
            if !opens(&event.event) {
                return Ok(Vec::new());
            }
            let other =
                if times.fetch_add(1, Ordering::SeqCst) == 0 { "FRA-OPO" } else { "OPO-MAD" };
            Ok(vec![protect(&event.case, other), protect(&event.case, "LIS-FRA")])
        };
        let follower = Arc::new(Scripted::new("fickle", asks));
        let mut world = with(backend, &follower);
        world.limits.sweep = Duration::from_secs(3_600);
        let process = world.start().await;
        let no_wait = Process { followers: Vec::new(), ..process.clone() };
        no_wait.begin().await;
        stop_keeping(&process).await;
        no_wait.say("t1", OPEN).await;
        wait(async || commands(&process).await.len() == 2).await;
        world.limits.sweep = Duration::from_millis(20);
        drop(no_wait);
        let process = world.restart(process).await;
        process.rest().await;
        assert_eq!(commands(&process).await.len(), 3, "what was asked for before is not run again");
        assert_eq!(legs(&process).await.len(), 3);
        process.system.shutdown().await;
    });
}

#[test]
fn what_becomes_of_a_command_on_another_case_is_told_where_that_case_is_talked_of() {
    everywhere(|backend| async move {
        let first = Mutex::new(None);
        let asks = move |event: &Seen| {
            let mut first = first.lock().expect("unpoisoned");
            let case = first.get_or_insert_with(|| event.case.clone()).clone();
            let renamed = matches!(event.event, TripEvent::TripRenamed { .. });
            let is_another = renamed && case != event.case;
            Ok(if is_another { vec![protect(&case, "LIS-FRA")] } else { Vec::new() })
        };
        let follower = Arc::new(Scripted::new("across", asks));
        let world = with(backend, &follower);
        let ada = world.start().await;
        ada.begin().await;
        ada.say("t1", OPEN).await;
        let bob = ada.talking(actor("acme", "bob"), "c2");
        bob.begin().await;
        bob.say("t1", OPEN).await;
        bob.say("t2", RENAME).await;
        let updates = async |process: &Process| {
            let items = process.transcript().await;
            items.iter().filter(|item| item["update"].is_object()).count()
        };
        assert_eq!(commands(&ada).await.len(), 1);
        assert_eq!((updates(&ada).await, updates(&bob).await), (1, 0));
        claims::check(&ada).await;
        ada.system.shutdown().await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_cannot_be_read_stops_no_other_stream() {
    let asks = |event: &Seen| {
        let asks = vec![protect(&event.case, "LIS-FRA")];
        Ok(if opens(&event.event) { asks } else { Vec::new() })
    };
    let mut world = with(Backend::Memory, &Arc::new(Scripted::new("patient", asks)));
    let truth = world.open().await.ledger;
    let mut owned = Owned::new(truth.clone());
    owned.damaged = Some(EntryKind::TurnAnswered);
    let owned = Arc::new(owned);
    owned.ownership().hold(PartitionSet::ALL);
    world.ledger = Some(owned);
    let process = world.start().await;
    let no_wait = Process { followers: Vec::new(), ..process.clone() };
    no_wait.begin().await;
    for (number, text) in [OPEN, RENAME, OPEN_SECOND].into_iter().enumerate() {
        no_wait.say(&format!("t{number}"), text).await;
    }
    let ledger = process.system.ledger();
    let partition = PartitionId::of(&process.actor.account);
    let head = async || ledger.head(partition).await.expect("a head");
    let kept = async || ledger.cursor(&process.followers[0], partition).await.expect("a cursor");
    wait(async || kept().await == head().await).await;
    let entries = truth.read_partition(partition, Position::START, 1_000, None).await;
    assert_eq!(ours(&entries.expect("entries")).len(), 2, "one for each trip");
}

#[test]
fn a_timer_that_fails_holds_up_no_other_of_its_case() {
    everywhere(|backend| async move {
        let asks = |event: &Seen| {
            let at = event.recorded_at.plus(Duration::from_secs(60));
            let asks = vec![wake("a-bad-one", at), wake("the-other", at)];
            Ok(if opens(&event.event) { asks } else { Vec::new() })
        };
        let fires = |timer: &TimerName, event: &Seen| {
            if timer.as_str() == "a-bad-one" {
                return Err(ReactError::failed("no answer"));
            }
            Ok(vec![protect(&event.case, "LIS-FRA")])
        };
        let follower = Arc::new(Scripted::new("two-timers", asks).firing(fires));
        let world = with(backend, &follower);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        world.clock.advance(Duration::from_secs(60));
        wait(async || of_kind(&process, EntryKind::TimerFired).await == 1).await;
        assert_eq!(commands(&process).await.len(), 1);
        process.system.shutdown().await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timer_that_is_taken_back_while_it_fires_sets_nothing_any_more() {
    let (firing, fired) = std::sync::mpsc::channel::<()>();
    let (release, released) = std::sync::mpsc::channel::<()>();
    let asks = |event: &Seen| {
        let renamed = matches!(event.event, TripEvent::TripRenamed { .. });
        Ok(match (opens(&event.event), renamed) {
            (true, _) => vec![wake("poll", event.recorded_at)],
            (_, true) => vec![Reaction::Cancel { timer: literal("poll") }],
            (false, false) => Vec::new(),
        })
    };
    let (firing, released) = (Mutex::new(firing), Mutex::new(released));
    let fires = move |_: &_, event: &Seen| {
        tokio::task::block_in_place(|| {
            firing.lock().expect("unpoisoned").send(()).expect("awaited");
            released.lock().expect("unpoisoned").recv().expect("released");
        });
        Ok(vec![wake("poll", event.recorded_at.plus(Duration::from_secs(60)))])
    };
    let world = with(Backend::Memory, &Arc::new(Scripted::new("poller", asks).firing(fires)));
    let process = world.start().await;
    let no_wait = Process { followers: Vec::new(), ..process.clone() };
    no_wait.begin().await;
    no_wait.post("t1", said(OPEN)).await.expect("answered");
    tokio::task::spawn_blocking(move || fired.recv()).await.expect("joined").expect("it fires");
    no_wait.post("t2", said(RENAME)).await.expect("answered");
    wait(async || of_kind(&process, EntryKind::TimerCancelled).await == 1).await;
    release.send(()).expect("it waits");
    process.rest().await;
    assert_eq!(of_kind(&process, EntryKind::TimerSet).await, 1);
    assert_eq!(of_kind(&process, EntryKind::TimerFired).await, 0);
    process.system.shutdown().await;
}

/// An actor that fails on a trip's opening in some way holds up nothing, and is shown it again later.
fn assert_set_aside(name: &'static str, make: impl Fn(Arc<AtomicBool>) -> Scripted + Sync) {
    everywhere(|backend| {
        let well = Arc::new(AtomicBool::new(false));
        let follower = Arc::new(make(well.clone()));
        async move {
            let mut world = with(backend, &follower);
            world.limits.reaction_backoff = Duration::from_millis(1);
            world.limits.reaction = Duration::from_millis(200);
            let process = world.start().await;
            process.begin().await;
            process.say("t1", OPEN).await;
            process.say("t2", RENAME).await;
            let seen = follower.seen();
            let renamed = |it: &TripEvent| matches!(it, TripEvent::TripRenamed { .. });
            assert!(seen.iter().any(renamed), "{name}: what is behind goes on");
            assert!(commands(&process).await.is_empty(), "{name}");
            well.store(true, Ordering::SeqCst);
            world.clock.advance(world.limits.reaction_pause);
            until(&process, name, async || !commands(&process).await.is_empty()).await;
            process.rest().await;
            assert_eq!(commands(&process).await.len(), 1, "{name}");
            assert_eq!(of_kind(&process, EntryKind::TimerFired).await, 1, "{name}");
            claims::check(&process).await;
            process.system.shutdown().await;
        }
    });
}

fn asks_once_well(event: &Seen, well: &AtomicBool, otherwise: impl Fn() -> Reacted) -> Reacted {
    if !opens(&event.event) {
        return Ok(Vec::new());
    }
    if well.load(Ordering::SeqCst) {
        return Ok(vec![protect(&event.case, "LIS-FRA")]);
    }
    otherwise()
}

#[test]
fn an_actor_that_fails_is_shown_the_event_again_later_and_holds_up_nothing() {
    assert_set_aside("failing", |well| {
        Scripted::new("failing", move |event| {
            asks_once_well(event, &well, || Err(ReactError::failed("no answer")))
        })
    });
}

#[test]
fn an_actor_that_panics_is_shown_the_event_again_later_and_holds_up_nothing() {
    assert_set_aside("panicking", |well| {
        Scripted::new("panicking", move |event| asks_once_well(event, &well, || panic!("a defect")))
    });
}

#[test]
fn an_actor_that_asks_for_too_much_is_shown_the_event_again_later_and_holds_up_nothing() {
    assert_set_aside("greedy", |well| {
        Scripted::new("greedy", move |event| {
            let greedy = || Ok(vec![protect(&event.case, "X"); 17]);
            asks_once_well(event, &well, greedy)
        })
    });
}

#[test]
fn an_actor_that_never_answers_is_shown_the_event_again_later_and_holds_up_nothing() {
    assert_set_aside("stalling", |well| {
        let stalls = well.clone();
        Scripted::new("stalling", move |event| asks_once_well(event, &well, || Ok(Vec::new())))
            .stalling(move |event| opens(event) && !stalls.load(Ordering::SeqCst))
    });
}

#[test]
fn a_timer_that_sets_itself_again_polls_until_it_has_what_it_waits_for() {
    everywhere(|backend| async move {
        let asks = |event: &Seen| {
            let at = event.recorded_at.plus(Duration::from_secs(60));
            Ok(if opens(&event.event) { vec![wake("poll", at)] } else { Vec::new() })
        };
        let polls = Arc::new(AtomicU32::new(0));
        let polled = polls.clone();
        let fires = move |_: &_, event: &Seen| {
            let poll = polled.fetch_add(1, Ordering::SeqCst) + 1;
            let next = event.recorded_at.plus(Duration::from_secs(60 * u64::from(poll + 1)));
            Ok(if poll < 5 { vec![wake("poll", next)] } else { vec![protect(&event.case, "X")] })
        };
        let follower = Arc::new(Scripted::new("poller", asks).firing(fires));
        let world = with(backend, &follower);
        let mut process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        for _ in 0..7 {
            world.clock.advance(Duration::from_secs(60));
            process.rest().await;
            process = world.restart(process).await;
        }
        process.rest().await;
        assert_eq!(polls.load(Ordering::SeqCst), 5);
        assert_eq!(legs(&process).await.len(), 1);
        assert_eq!(of_kind(&process, EntryKind::TimerSet).await, 5);
        assert_eq!(of_kind(&process, EntryKind::TimerFired).await, 5);
        process.system.shutdown().await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_takes_a_partition_over_follows_on_and_runs_nothing_twice() {
    let asks = |event: &Seen| {
        let renamed = matches!(event.event, TripEvent::TripRenamed { .. });
        let leg = event.revision.to_string();
        Ok(if renamed { vec![protect(&event.case, &leg)] } else { Vec::new() })
    };
    let follower = Arc::new(Scripted::new("legs", asks));
    let mut world = with(Backend::Memory, &follower);
    let shared = world.open().await.ledger;
    let mut processes = Vec::new();
    for _ in 0..2 {
        let owned = Arc::new(Owned::new(shared.clone()));
        world.ledger = Some(owned.clone());
        processes.push((world.start().await, owned));
    }
    for turn in 0..6 {
        let (process, owned) = &processes[turn % 2];
        processes[(turn + 1) % 2].1.ownership().hold(PartitionSet::NONE);
        owned.ownership().hold(PartitionSet::ALL);
        wait(async || process.system.partitions() == PartitionSet::ALL).await;
        process.begin().await;
        if turn == 0 {
            process.say("t0", OPEN).await;
        }
        let name = if turn % 2 == 0 { RENAME } else { HELLO };
        process.say(&format!("t{}", turn + 1), name).await;
    }
    let process = &processes[1].0;
    process.rest().await;
    let commands = commands(process).await;
    let event = |entry: &Entry| entry.body.open::<CaseEvent>().expect("an event");
    let entries = process.entries().await;
    let events = entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent).map(event);
    let renamed = events.filter(|it| it.event.as_str().contains("trip_renamed")).count();
    assert_eq!((commands.len(), renamed > 0), (renamed, true));
}

#[tokio::test]
async fn two_actors_of_one_name_and_a_name_that_is_too_long_are_refused() {
    let named =
        |name| -> Arc<dyn ErasedDomainActor> { Arc::new(Scripted::new(name, |_| Ok(Vec::new()))) };
    let started = async |domain_actors| {
        let world = World::desk(Backend::Memory).followed_by(domain_actors);
        world.try_start().await.err()
    };
    let twice = started(vec![named("one"), named("one")]).await;
    assert!(matches!(twice, Some(StartError::RepeatedDomainActor(_))));
    let long =
        "domain-actors-are-told-apart-from-people-by-a-prefix-and-this-name-leaves-no-room-for-it";
    let long = started(vec![named(long)]).await;
    assert!(matches!(long, Some(StartError::DomainActorName(_))));
}
