//! What the airline calls back to say: heard once, judged by the case, told to the user; and what is not the airline's
//! writes nothing.

use std::sync::Arc;
use std::time::Duration;

use turnframe_actors::{CallbackError, Called};
use turnframe_core::id::EffectId;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::port::{CallbackRefusal, DestinationProfile, Incoming};
use turnframe_runtime::record::{ConclusionSource, EffectConcluded};
use turnframe_test::script::{Behaviour, ScriptedDestination};
use turnframe_tests::claims;
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, REBOOK, callback, confirmed, refused};
use turnframe_tests::world::{Backend, Process, World, clicked};
use turnframe_travel::airline::AirlineCallbacks;

/// How long an airline that never answers is waited for.
const HANGS: Duration = Duration::from_millis(100);

/// A rebooking that the airline has taken.
async fn submitted(world: &World) -> (Process, EffectId) {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
    let effects = process.effects().await;
    (process, effects[0])
}

fn count(entries: &[Entry], event: &str) -> usize {
    let events = entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent);
    events.filter(|entry| String::from_utf8_lossy(&entry.body.facts).contains(event)).count()
}

#[test]
fn a_late_outcome_is_told_to_a_conversation_that_nobody_watched() {
    everywhere(|backend| async move {
        let mut world = World::desk(backend);
        world.limits.idle = Duration::from_secs(1);
        let (process, effect) = submitted(&world).await;
        process.assert_told(ReceiptStatus::Submitted).await;
        process.passivate().await;
        world.clock.advance(Duration::from_secs(3_600));
        let called = process.call_back("w1", (effect, confirmed(), 2)).await;
        assert_eq!(called, Ok(Called::Recorded));
        process.assert_told(ReceiptStatus::Accepted).await;
        let process = world.restart(process).await;
        process.assert_told(ReceiptStatus::Accepted).await;
    });
}

#[test]
fn case_30_a_callback_that_is_delivered_again_is_recorded_once_and_a_new_one_is_not_dropped() {
    everywhere(|backend| async move {
        let world = World::desk(backend);
        let (process, effect) = submitted(&world).await;
        let says = |sequence| (effect, confirmed(), sequence);
        let called = tokio::join!(
            process.call_back("w1", says(2)),
            process.call_back("w1", says(2)),
            process.call_back("w1", says(2)),
        );
        let mut called = [called.0, called.1, called.2].map(|it| it.expect("heard"));
        called.sort_by_key(|it| *it == Called::Repeated);
        assert_eq!(called, [Called::Recorded, Called::Repeated, Called::Repeated]);
        process.rest().await;
        let entries = process.entries().await;
        assert_eq!(count(&entries, "rebooking_outcome_recorded"), 2, "submitted, then confirmed");
        // Signed anew, as senders do when they deliver again, and by another process.
        world.clock.advance(Duration::from_secs(600));
        let process = world.restart(process).await;
        assert_eq!(process.call_back("w1", says(2)).await, Ok(Called::Repeated));
        // The same statement under another id is the same statement.
        assert_eq!(process.call_back("w2", says(2)).await, Ok(Called::Repeated));
        let chain = process.chain().await;
        assert_eq!(process.call_back("w1", says(3)).await, Err(CallbackError::Reused));
        assert_eq!(process.chain().await, chain, "nothing was written");
        // One that was never seen is recorded, however much it looks like a repetition.
        assert_eq!(process.call_back("w3", says(3)).await, Ok(Called::Recorded));
        process.rest().await;
    });
}

#[test]
fn case_32_a_late_older_refusal_changes_nothing_and_is_recorded_as_an_anomaly() {
    everywhere(|backend| async move {
        let world = World::desk(backend);
        let (process, effect) = submitted(&world).await;
        for (id, standing, sequence) in [("w3", confirmed(), 3), ("w2", refused(), 2)] {
            let called = process.call_back(id, (effect, standing, sequence)).await;
            assert_eq!(called, Ok(Called::Recorded));
            process.rest().await;
        }
        let entries = process.entries().await;
        assert_eq!(count(&entries, "outcome_anomaly_recorded"), 1);
        let state = process.state().await;
        assert!(!state.contains("\"status\": \"rejected\""), "{state}");
        claims::check(&process).await;
        // A refusal that is newer than a submission is news.
        let world = World::desk(backend);
        let (process, effect) = submitted(&world).await;
        let called = process.call_back("w2", (effect, refused(), 2)).await;
        assert_eq!(called, Ok(Called::Recorded));
        process.assert_told(ReceiptStatus::Rejected).await;
    });
}

#[test]
fn an_effect_of_unknown_fate_is_concluded_by_a_callback_and_not_looked_up_any_more() {
    everywhere(|backend| async move {
        let interpreter = Arc::new(desk::interpreter());
        let world = World::new(backend, interpreter, desk::forgetful_airline());
        let (process, effect) = submitted(&world).await;
        process.assert_told(ReceiptStatus::Unknown).await;
        let key = effect.to_string();
        let lookups = world.airline.lookups(&key);
        let called = process.call_back("w1", (effect, confirmed(), 1)).await;
        assert_eq!(called, Ok(Called::Recorded));
        process.assert_told(ReceiptStatus::Accepted).await;
        world.clock.advance(Duration::from_secs(3_600));
        process.rest().await;
        assert_eq!(world.airline.lookups(&key), lookups);
        let entries = process.entries().await;
        let concluded: Vec<_> =
            entries.iter().filter(|entry| entry.kind == EntryKind::EffectConcluded).collect();
        let last: EffectConcluded = concluded.last().expect("concluded").body.open().expect("read");
        assert_eq!(last.source, ConclusionSource::Callback { id: "w1".to_owned() });
        assert_eq!(world.airline.performed(&key), 1);
    });
}

#[test]
fn a_callback_that_comes_before_the_answer_stands() {
    everywhere(|backend| async move {
        let airline = ScriptedDestination::new("airline", |_| Behaviour::Hangs);
        let airline = airline
            .calling_back(AirlineCallbacks { secrets: desk::secrets() })
            .with_profile(DestinationProfile { timeout: HANGS, ..DestinationProfile::default() });
        let world = World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline));
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        process.say("t2", REBOOK).await;
        let card = process.card().await;
        process.post("t3", clicked(&card, "confirm")).await.expect("answered");
        while !process.kinds().await.contains(&"effect.dispatched") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let effect = process.effects().await[0];
        let called = process.call_back("w1", (effect, confirmed(), 2)).await;
        assert_eq!(called, Ok(Called::Recorded));
        // The attempt is given up meanwhile, and what that comes to is no news.
        tokio::time::sleep(HANGS * 2).await;
        process.assert_told(ReceiptStatus::Accepted).await;
        let kinds = process.kinds().await;
        assert_eq!(kinds.iter().filter(|kind| **kind == "effect.concluded").count(), 1);
    });
}

#[test]
fn what_is_not_the_airlines_or_not_of_now_writes_nothing() {
    everywhere(|backend| async move {
        let world = World::desk(backend);
        let (process, effect) = submitted(&world).await;
        let chain = process.chain().await;
        let now = process.system.ids().now();
        let good = callback("w1", now, (effect, confirmed(), 2));
        let changed = |change: fn(&mut Vec<u8>)| {
            let mut incoming = good.clone();
            change(&mut incoming.body);
            incoming
        };
        let old = callback("w1", desk_time(&world, -301), (effect, confirmed(), 2));
        let early = callback("w1", desk_time(&world, 301), (effect, confirmed(), 2));
        let other = World::desk(Backend::Memory).ids.effect();
        let refused = |refusal| Err(CallbackError::Refused(refusal));
        for (incoming, expected) in [
            (Incoming::new(good.body.clone()), refused(CallbackRefusal::Unsigned)),
            (good.clone().with("webhook-id", "w1"), refused(CallbackRefusal::Unsigned)),
            (changed(|body| body.truncate(body.len() - 1)), refused(CallbackRefusal::Signature)),
            (changed(|body| body.push(b' ')), refused(CallbackRefusal::Signature)),
            (changed(|body| body[0] ^= 1), refused(CallbackRefusal::Signature)),
            (old, refused(CallbackRefusal::Time)),
            (early, refused(CallbackRefusal::Time)),
            (signed("w1", now, b"{}"), refused(CallbackRefusal::Unreadable)),
            (signed("w1", now, b""), refused(CallbackRefusal::Unreadable)),
            (callback("w1", now, (other, confirmed(), 2)), Err(CallbackError::NotFound)),
            (signed(&"w".repeat(257), now, &good.body), refused(CallbackRefusal::Unsigned)),
        ] {
            assert_eq!(process.hear(&incoming).await, expected, "{incoming:?}");
        }
        assert_eq!(process.chain().await, chain, "nothing was written");
        assert_eq!(process.hear(&good).await, Ok(Called::Recorded));
        process.rest().await;
    });
}

fn desk_time(world: &World, seconds: i64) -> turnframe_core::source::Timestamp {
    let now = world.ids.now().as_micros();
    turnframe_core::source::Timestamp::from_micros(now + seconds * 1_000_000)
}

fn signed(id: &str, at: turnframe_core::source::Timestamp, body: &[u8]) -> Incoming {
    let signed = desk::secrets().sign(id, at, body);
    signed.into_iter().fold(Incoming::new(body), |it, (name, value)| it.with(name, value))
}
