//! The outbox of a destination: what an outage and a poisoned effect do to the others, and how fast it sends.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Builder;
use turnframe_actors::ResolveError;
use turnframe_core::id::EffectId;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_core::workflow::Decision;
use turnframe_ledger::{EntryKind, StreamName, Version};
use turnframe_runtime::effect::{OperatorDecision, append_of_decision};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::port::DestinationProfile;
use turnframe_runtime::record::{DeferReason, EffectDeferred};
use turnframe_test::literal;
use turnframe_test::script::{Behaviour, ScriptedDestination};
use turnframe_tests::altered::AlteredTrip;
use turnframe_tests::claims;
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, REBOOK};
use turnframe_tests::world::{Backend, Process, World, actor, clicked};
use turnframe_travel::trip::TripEvent;

/// How many people rebook at once.
const CROWD: usize = 6;

/// As many people as a crowd has, each of whom has confirmed a rebooking.
async fn crowd(process: &Process) -> Vec<Process> {
    let mut crowd = Vec::new();
    for number in 0..CROWD {
        let one = process.talking(actor("acme", &format!("p{number}")), &format!("c{number}"));
        one.begin().await;
        one.say("t1", OPEN).await;
        one.say("t2", REBOOK).await;
        crowd.push(one);
    }
    for one in &crowd {
        let card = one.card().await;
        one.post("t3", clicked(&card, "confirm")).await.expect("answered");
    }
    crowd
}

/// The status of the last receipt that somebody was told.
async fn told(process: &Process) -> Option<String> {
    let transcript = process.transcript().await;
    let blocks =
        transcript.iter().filter_map(|item| item["update"]["blocks"][0]["status"].as_str());
    blocks.collect::<Vec<_>>().pop().map(str::to_owned)
}

fn status(status: &ReceiptStatus) -> String {
    let status = serde_json::to_value(status).expect("JSON");
    status.as_str().expect("a name").to_owned()
}

/// Waits while time passes in steps, until a question is answered with yes.
async fn until(world: &World, step: Duration, what: &str, is_so: impl AsyncFn() -> bool) {
    for _ in 0..2_000 {
        if is_so().await {
            return;
        }
        world.clock.advance(step);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(is_so().await, "it never came about: {what}");
}

#[test]
fn an_outage_parks_nothing_and_what_waited_is_sent_when_it_is_over() {
    everywhere(|backend| async move {
        let (airline, is_down, _) = noting(DestinationProfile::default());
        let world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
        let process = world.start().await;
        let crowd = crowd(&process).await;
        // Longer than all of them together have attempts.
        let enough = DestinationProfile::default().attempts_max as usize * (CROWD + 1);
        until(&world, Duration::from_secs(1), "an outage", async || {
            process.remote.enumerated().len() > enough
        })
        .await;
        let entries = process.entries().await;
        assert!(entries.iter().all(|entry| entry.kind != EntryKind::EffectParked));
        let deferred = entries.iter().filter(|entry| entry.kind == EntryKind::EffectDeferred);
        let reasons =
            deferred.map(|entry| entry.body.open::<EffectDeferred>().expect("read").reason);
        assert!(reasons.into_iter().any(|reason| reason == DeferReason::Unavailable));
        is_down.store(false, Ordering::SeqCst);
        until(&world, Duration::from_secs(1), "all are sent", async || {
            world.airline.book().len() == CROWD
        })
        .await;
        process.rest().await;
        for one in crowd {
            assert_eq!(told(&one).await, Some(status(&ReceiptStatus::Submitted)));
            claims::check(&one).await;
        }
        assert!(world.airline.repeated().is_empty());
    });
}

#[test]
fn what_one_look_found_is_sent_without_another() {
    const PAUSE: Duration = Duration::from_secs(60 * 60);
    everywhere(|backend| async move {
        let profile = DestinationProfile {
            concurrency: 1,
            failures_max: 1,
            failures_pause: PAUSE,
            ..DestinationProfile::default()
        };
        let (airline, is_down, _) = noting(profile);
        let world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
        let process = world.start().await;
        crowd(&process).await;
        until(&world, Duration::ZERO, "one was not sent", async || {
            process.kinds().await.contains(&"effect.deferred")
        })
        .await;
        is_down.store(false, Ordering::SeqCst);
        let before = process.faults.looks();
        until(&world, PAUSE, "all are sent", async || world.airline.book().len() == CROWD).await;
        let looks = process.faults.looks() - before;
        assert!(looks < CROWD - 1, "{looks} looks");
    });
}

#[test]
fn l10_one_effect_that_always_fails_holds_up_no_other_and_is_parked() {
    everywhere(|backend| async move {
        let first = Arc::new(std::sync::Mutex::new(None));
        let airline = ScriptedDestination::new("airline", move |delivery| {
            let mut first = first.lock().expect("unpoisoned");
            let poisoned = *first.get_or_insert(delivery.effect);
            let is_poisoned = poisoned == delivery.effect;
            if is_poisoned { Behaviour::NotSent } else { Behaviour::accepts() }
        });
        let world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
        let process = world.start().await;
        let crowd = crowd(&process).await;
        until(&world, Duration::from_millis(50), "the others are sent", async || {
            world.airline.book().len() == CROWD - 1
        })
        .await;
        // Nothing else is sent from here on: what fails now fails alone, and is taken for an outage until patience ends.
        until(&world, Duration::from_secs(3_600), "it is parked", async || {
            process.kinds().await.contains(&"effect.parked")
        })
        .await;
        process.rest().await;
        let mut statuses = Vec::new();
        for one in &crowd {
            statuses.extend(told(one).await);
            claims::check(one).await;
        }
        statuses.sort();
        let mut expected = vec![status(&ReceiptStatus::Submitted); CROWD - 1];
        expected.push(status(&ReceiptStatus::ReconciliationRequired));
        expected.sort();
        assert_eq!(statuses, expected);
    });
}

/// A desk whose rebookings ask the airline twice, to be told apart by their order alone.
fn asking_twice(backend: Backend, airline: ScriptedDestination) -> World {
    let twice = |mut decision: Decision<TripEvent>| {
        decision.effects.extend(decision.effects.clone());
        decision
    };
    let mut world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
    world.registry = AlteredTrip::default().altering(twice).registry();
    world
}

/// A conversation in which the airline was asked twice.
async fn asked_twice(world: &World) -> (Process, Vec<EffectId>) {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    let card = process.card().await;
    process.post("t3", clicked(&card, "confirm")).await.expect("answered");
    let effects = process.effects().await;
    (process, effects)
}

/// An airline that keeps the order in which it was sent to, and is down until it is told otherwise.
fn noting(profile: DestinationProfile) -> (ScriptedDestination, Arc<AtomicBool>, Arc<Sent>) {
    let (is_down, sent) = (Arc::new(AtomicBool::new(true)), Arc::new(Sent::default()));
    let (down, noted) = (is_down.clone(), sent.clone());
    let airline = ScriptedDestination::new("airline", move |delivery| {
        noted.lock().expect("unpoisoned").push(delivery.effect);
        let is_down = down.load(Ordering::SeqCst);
        if is_down { Behaviour::NotSent } else { Behaviour::accepts() }
    });
    (airline.with_profile(profile), is_down, sent)
}

type Sent = std::sync::Mutex<Vec<EffectId>>;

#[test]
fn effects_of_one_case_are_sent_in_their_order_where_that_is_asked() {
    everywhere(|backend| async move {
        let profile =
            DestinationProfile { in_order: true, failures_max: 0, ..DestinationProfile::default() };
        let (airline, is_down, sent) = noting(profile);
        let world = asking_twice(backend, airline);
        let (process, effects) = asked_twice(&world).await;
        until(&world, Duration::from_millis(50), "the first fails twice", async || {
            sent.lock().expect("unpoisoned").len() == 2
        })
        .await;
        let early = process.decide(effects[1], OperatorDecision::Nudge).await;
        assert_eq!(early, Err(ResolveError::NotItsTurn), "a nudge does not change the order");
        is_down.store(false, Ordering::SeqCst);
        until(&world, Duration::from_millis(50), "both are sent", async || {
            world.airline.book().len() == 2
        })
        .await;
        process.rest().await;
        let sent = sent.lock().expect("unpoisoned").clone();
        let first_again = sent.len() - 1;
        assert!(sent[..first_again].iter().all(|effect| *effect == effects[0]), "{sent:?}");
        assert_eq!(sent[first_again], effects[1], "{sent:?}");
    });
}

#[test]
fn l09_two_parked_effects_of_one_case_that_are_released_are_sent_in_their_order() {
    const PAUSE: Duration = Duration::from_secs(60 * 60);
    everywhere(|backend| async move {
        let profile = DestinationProfile {
            in_order: true,
            attempts_max: 2,
            failures_max: 1,
            failures_pause: PAUSE,
            outage_max: Duration::ZERO,
            ..DestinationProfile::default()
        };
        let (airline, is_down, sent) = noting(profile);
        let world = asking_twice(backend, airline);
        let (process, effects) = asked_twice(&world).await;
        until(&world, Duration::from_secs(60), "both are parked", async || {
            process.kinds().await.iter().filter(|kind| **kind == "effect.parked").count() == 2
        })
        .await;
        let sent = || sent.lock().expect("unpoisoned").clone();
        let [first, second] = effects[..] else { panic!("{effects:?}") };
        assert_eq!(sent(), [first, first, second, second]);
        // The later one is released first, and fails: the airline is left alone for a while. Then the earlier one is.
        assert_eq!(process.decide(second, OperatorDecision::Retry).await, Ok(()));
        process.rest().await;
        assert_eq!(process.decide(first, OperatorDecision::Retry).await, Ok(()));
        assert_eq!(sent().split_off(4), [second]);
        is_down.store(false, Ordering::SeqCst);
        world.clock.advance(PAUSE);
        until(&world, Duration::from_secs(1), "both are sent", async || {
            world.airline.book().len() == 2
        })
        .await;
        process.rest().await;
        assert_eq!(sent().split_off(5), [first, second], "in their order");
        claims::check(&process).await;
    });
}

#[test]
fn a_destination_with_a_pace_is_sent_to_at_that_pace() {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let profile = DestinationProfile {
            concurrency: 1,
            rate: NonZeroU32::new(2),
            ..DestinationProfile::default()
        };
        let airline = ScriptedDestination::accepting("airline").with_profile(profile);
        let interpreter = Arc::new(desk::interpreter());
        let world = World::new(Backend::Memory, interpreter, Arc::new(airline));
        let process = world.start().await;
        let started = tokio::time::Instant::now();
        crowd(&process).await;
        while world.airline.book().len() < CROWD {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let longest = Duration::from_millis(500) * u32::try_from(CROWD - 1).expect("a few");
        assert!(started.elapsed() >= longest, "{:?}", started.elapsed());
    });
}

#[test]
fn what_was_written_to_an_effect_behind_a_process_is_found_before_it_is_sent_again() {
    everywhere(|backend| async move {
        let (airline, is_down, _) = noting(DestinationProfile::default());
        let world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        process.post("t3", clicked(&process.card().await, "confirm")).await.expect("answered");
        until(&world, Duration::from_millis(50), "it was not sent", async || {
            process.kinds().await.contains(&"effect.deferred")
        })
        .await;
        // As another owner of the partition would: the process is not told.
        let effect = process.effects().await.remove(0);
        let (ledger, account) = (process.system.ledger(), &process.actor.account);
        let stream = StreamName::Effect(effect);
        let nudged = loop {
            let entries = ledger.read_stream(account, &stream, Version::NONE, 100).await;
            let fold =
                EffectFold::of(&entries.expect("entries")).expect("read").expect("an effect");
            let (operator, profile) = (literal("grace"), DestinationProfile::default());
            let decision = (&operator, "now", &OperatorDecision::Nudge);
            let ids = process.system.ids();
            // An attempt of the process may be on its way, or come in between.
            if let Ok(append) = append_of_decision(account, effect, &fold, &profile, decision, ids)
                && let [Ok(nudged)] = ledger.append(vec![append]).await.as_slice()
            {
                break nudged.entries[0].clone();
            }
        };
        is_down.store(false, Ordering::SeqCst);
        until(&world, Duration::from_millis(50), "it is sent", async || {
            world.airline.book().len() == 1
        })
        .await;
        process.assert_told(ReceiptStatus::Submitted).await;
        let entries = process.entries().await;
        let mut of_effect = entries.iter().filter(|entry| entry.stream == stream);
        let after = of_effect.find(|entry| entry.version > nudged.version);
        assert_eq!(after.expect("an entry").kind, EntryKind::EffectDispatched);
    });
}
