//! What nobody here can find out is an operator's to decide: with a name and a reason, and told to the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Notify;
use turnframe_actors::{Resolution, ResolveError};
use turnframe_core::canonical::Json;
use turnframe_core::id::{DestinationKey, EffectId};
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::EntryKind;
use turnframe_runtime::effect::OperatorDecision;
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile, Dispatched, Reconciled};
use turnframe_runtime::record::{
    ConclusionSource, DeferReason, EffectConcluded, EffectNudged, EffectParked, EffectReleased,
};
use turnframe_test::fault::CrashPoint;
use turnframe_test::literal;
use turnframe_test::script::{Behaviour, Lookup, ScriptedDestination};
use turnframe_tests::crash::{everywhere, on_every_backend};
use turnframe_tests::desk::{self, OPEN, REBOOK};
use turnframe_tests::matrix::{End, Step, play, same};
use turnframe_tests::world::{Backend, Process, World};

/// An airline that took the rebooking, cannot say so, and never finds it again; unless it answers by now.
fn silent(answers: Arc<AtomicBool>) -> Arc<ScriptedDestination> {
    let airline = ScriptedDestination::new("airline", move |_| {
        let answers = answers.load(Ordering::SeqCst);
        if answers { Behaviour::accepts() } else { Behaviour::LosesTheDelivery }
    });
    let profile = DestinationProfile { lookups_max: 2, ..DestinationProfile::default() };
    let airline = airline.looking_up(|_, _| Lookup::Answer(nobody_knows()));
    Arc::new(airline.with_profile(profile))
}

fn world(backend: Backend) -> (World, Arc<AtomicBool>) {
    let answers = Arc::new(AtomicBool::new(false));
    let airline = silent(answers.clone());
    (World::new(backend, Arc::new(desk::interpreter()), airline), answers)
}

/// A rebooking that is left to an operator.
async fn parked(world: &World) -> (Process, EffectId) {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
    while !process.kinds().await.contains(&"effect.parked") {
        world.clock.advance(Duration::from_secs(60));
        process.rest().await;
    }
    process.rest().await;
    let effect = process.effects().await[0];
    (process, effect)
}

async fn waiting(process: &Process) -> usize {
    process.system.parked_effects(None, None, None).await.expect("marks").len()
}

fn confirmed() -> OperatorDecision {
    let details = Json::of(&serde_json::json!({"status": "confirmed"})).expect("JSON");
    OperatorDecision::Accepted { reference: "PNR-1".to_owned(), details }
}

fn refused() -> OperatorDecision {
    OperatorDecision::Rejected { code: "sold_out".to_owned() }
}

#[test]
fn an_operators_verdict_is_an_event_with_a_name_and_a_reason_and_is_told() {
    everywhere(|backend| async move {
        for (decision, status) in
            [(confirmed(), ReceiptStatus::Accepted), (refused(), ReceiptStatus::Rejected)]
        {
            let (world, _) = world(backend);
            let (process, effect) = parked(&world).await;
            process.assert_told(ReceiptStatus::ReconciliationRequired).await;
            let listed =
                process.system.parked_effects(None, Some(&process.actor.account), None).await;
            assert_eq!(listed.expect("marks")[0].stream.to_string(), format!("effect/{effect}"));
            assert_eq!(process.decide(effect, decision.clone()).await, Ok(()));
            process.assert_told(status).await;
            assert_eq!(waiting(&process).await, 0);
            let entries = process.entries().await;
            let concluded = entries.iter().rfind(|entry| entry.kind == EntryKind::EffectConcluded);
            let concluded: EffectConcluded =
                concluded.expect("concluded").body.open().expect("read");
            let ConclusionSource::Operator { operator, reason } = concluded.source else {
                unreachable!("{concluded:?}")
            };
            assert_eq!(operator, literal("grace"));
            assert_eq!(reason.value().map(String::as_str), Some("asked them on the phone"));
            let chain = process.chain().await;
            // The same again, because its answer was lost, stands; another one comes too late.
            assert_eq!(process.decide(effect, decision).await, Ok(()));
            let other = OperatorDecision::Rejected { code: "other".to_owned() };
            for late in [other, OperatorDecision::Retry] {
                assert_eq!(process.decide(effect, late).await, Err(ResolveError::Concluded));
            }
            assert_eq!(process.chain().await, chain, "nothing was written");
        }
    });
}

#[test]
fn what_an_operator_releases_is_sent_again_under_the_same_key() {
    everywhere(|backend| async move {
        let (world, answers) = world(backend);
        let (process, effect) = parked(&world).await;
        answers.store(true, Ordering::SeqCst);
        assert_eq!(process.decide(effect, OperatorDecision::Retry).await, Ok(()));
        process.assert_told(ReceiptStatus::Submitted).await;
        let book = world.airline.book();
        assert_eq!(book.keys().collect::<Vec<_>>(), [&effect.to_string()]);
        assert!(matches!(book[&effect.to_string()].says, Dispatched::Accepted { .. }));
        let entries = process.entries().await;
        let released = entries.iter().find(|entry| entry.kind == EntryKind::EffectReleased);
        let released: EffectReleased = released.expect("released").body.open().expect("read");
        assert_eq!(released.operator, literal("grace"));
        assert_eq!(waiting(&process).await, 0);
        let chain = process.chain().await;
        assert_eq!(process.decide(effect, OperatorDecision::Retry).await, Ok(()), "it stands");
        assert_eq!(process.decide(effect, refused()).await, Err(ResolveError::Concluded));
        let never = world.ids.effect();
        assert_eq!(process.decide(never, confirmed()).await, Err(ResolveError::NotFound));
        assert_eq!(process.chain().await, chain, "nothing was written");
    });
}

#[test]
fn a_decision_survives_a_crash_on_either_side_of_it() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Wait(Duration::from_secs(60)),
        Step::Wait(Duration::from_secs(600)),
        Step::Decide(confirmed),
    ];
    // A look-up that a crash takes away is made later: the decision then meets an effect that is not parked yet.
    let compare = |point: &CrashPoint, clean: &End, crashed: &End| {
        for end in [clean, crashed] {
            assert!(end.state.contains("\"status\": \"unknown\""), "after a crash {point}");
            assert!(end.state.contains("\"status\": \"accepted\""), "after a crash {point}");
        }
        assert_eq!(clean.performed, crashed.performed, "after a crash {point}");
    };
    on_every_backend(|backend| {
        let sends = play(|| world(backend).0, &steps, compare);
        assert_eq!(sends, 1, "one send");
    });
}

fn on(backend: Backend, airline: ScriptedDestination) -> World {
    World::new(backend, Arc::new(desk::interpreter()), Arc::new(airline))
}

/// So patient that nothing is done by itself within a test.
fn patient() -> DestinationProfile {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    DestinationProfile { backoff: HOUR, backoff_max: HOUR, ..DestinationProfile::default() }
}

fn nobody_knows() -> Reconciled {
    Reconciled::StillUnknown { reason: "nobody knows".to_owned() }
}

/// A rebooking that was confirmed, once everything has come to rest.
async fn confirmed_by_click(world: &World) -> (Process, EffectId) {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
    let effect = process.effects().await[0];
    (process, effect)
}

/// The same decision of another operator.
async fn decide_too(
    process: &Process,
    effect: EffectId,
    decision: OperatorDecision,
) -> Result<(), ResolveError> {
    decide_for(process, effect, decision, "so do I").await
}

async fn decide_for(
    process: &Process,
    effect: EffectId,
    decision: OperatorDecision,
    reason: &str,
) -> Result<(), ResolveError> {
    let (account, reason) = (process.actor.account.clone(), reason.to_owned());
    let operator = literal("hopper");
    let resolution = Resolution { account, effect, operator, reason, decision };
    process.system.resolve_effect(&resolution).await
}

#[test]
fn a_nudge_has_a_look_up_made_at_once_and_their_number_stands() {
    everywhere(|backend| async move {
        let profile = DestinationProfile { lookups_max: 2, ..patient() };
        let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer)
            .looking_up(|_, _| Lookup::Answer(nobody_knows()))
            .with_profile(profile);
        let world = on(backend, airline);
        let (process, effect) = confirmed_by_click(&world).await;
        let lookups = || world.airline.lookups(&effect.to_string());
        assert_eq!(lookups(), 0, "it is not time yet");
        for number in 1..=2 {
            assert_eq!(process.decide(effect, OperatorDecision::Nudge).await, Ok(()));
            process.rest().await;
            assert_eq!(lookups(), number);
        }
        // Nobody can find it out, and it is parked at its time.
        assert_eq!(process.decide(effect, OperatorDecision::Nudge).await, Ok(()));
        process.assert_told(ReceiptStatus::ReconciliationRequired).await;
        assert_eq!(lookups(), 2);
        assert_eq!(
            decide_too(&process, effect, OperatorDecision::Nudge).await,
            Err(ResolveError::Parked)
        );
        let entries = process.entries().await;
        let nudged = entries.iter().filter(|entry| entry.kind == EntryKind::EffectNudged);
        let nudged: Vec<EffectNudged> = nudged.map(|it| it.body.open().expect("read")).collect();
        assert_eq!(nudged.len(), 3);
        assert!(nudged.iter().all(|nudged| nudged.operator == literal("grace")));
        assert_eq!(world.airline.performed(&effect.to_string()), 1);
    });
}

#[test]
fn a_nudge_of_what_is_due_already_writes_nothing() {
    everywhere(|backend| async move {
        // The destination is left alone for an hour: what is due stays so.
        let profile = DestinationProfile {
            failures_max: 1,
            failures_pause: Duration::from_secs(60 * 60),
            ..patient()
        };
        let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer);
        let world = on(backend, airline.with_profile(profile));
        let (process, effect) = confirmed_by_click(&world).await;
        assert_eq!(process.decide(effect, OperatorDecision::Nudge).await, Ok(()));
        let chain = process.chain().await;
        assert_eq!(process.decide(effect, OperatorDecision::Nudge).await, Ok(()), "it stands");
        assert_eq!(decide_too(&process, effect, OperatorDecision::Nudge).await, Ok(()));
        let blank = decide_for(&process, effect, OperatorDecision::Nudge, " ").await;
        assert_eq!(blank, Err(ResolveError::Unreadable), "nobody decides for no reason");
        assert_eq!(process.chain().await, chain);
        // Found out once the pause is over, the nudge stands all the same.
        world.clock.advance(Duration::from_secs(60 * 60));
        process.assert_told(ReceiptStatus::Submitted).await;
        assert_eq!(process.decide(effect, OperatorDecision::Nudge).await, Ok(()));
        let late = decide_too(&process, effect, OperatorDecision::Nudge).await;
        assert_eq!(late, Err(ResolveError::Concluded));
    });
}

/// An airline that knows of everything, and whose answer to a look-up is held back until it is let go.
struct SlowToSay {
    airline: ScriptedDestination,
    asked: Notify,
    answers: Notify,
}

#[async_trait]
impl Destination for SlowToSay {
    fn key(&self) -> DestinationKey {
        self.airline.key()
    }

    fn profile(&self) -> DestinationProfile {
        self.airline.profile()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        self.airline.dispatch(delivery).await
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        let found = self.airline.reconcile(delivery).await;
        self.asked.notify_one();
        self.answers.notified().await;
        found
    }
}

#[test]
fn what_a_look_up_finds_while_an_operator_parks_or_nudges_the_effect_is_not_lost() {
    everywhere(|backend| async move {
        for decision in [OperatorDecision::Park, OperatorDecision::Nudge] {
            let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer);
            let airline = airline.with_profile(patient());
            let (asked, answers) = (Notify::new(), Notify::new());
            let slow = Arc::new(SlowToSay { airline, asked, answers });
            let mut world = on(backend, ScriptedDestination::accepting("nobody"));
            world.destination = Some(slow.clone());
            let (process, effect) = confirmed_by_click(&world).await;
            process.assert_told(ReceiptStatus::Unknown).await;
            world.clock.advance(Duration::from_secs(2 * 60 * 60));
            slow.asked.notified().await;
            assert_eq!(process.decide(effect, decision.clone()).await, Ok(()));
            slow.answers.notify_one();
            process.assert_told(ReceiptStatus::Submitted).await;
            assert_eq!(slow.airline.lookups(&effect.to_string()), 1, "{decision:?}");
            assert_eq!(waiting(&process).await, 0);
            assert_eq!(slow.airline.performed(&effect.to_string()), 1);
            process.system.shutdown().await;
        }
    });
}

#[test]
fn what_an_operator_parks_is_not_sent_until_an_operator_decides() {
    everywhere(|backend| async move {
        for decision in [OperatorDecision::Retry, confirmed()] {
            let answers = Arc::new(AtomicBool::new(false));
            let answer = answers.clone();
            let airline = ScriptedDestination::new("airline", move |_| {
                let answers = answer.load(Ordering::SeqCst);
                if answers { Behaviour::accepts() } else { Behaviour::NotSent }
            });
            let world = on(backend, airline.with_profile(patient()));
            let (process, effect) = confirmed_by_click(&world).await;
            let open = process.system.open_effects(Some(&literal("airline")), None, None).await;
            assert_eq!(open.expect("marks").len(), 1);
            assert_eq!(process.decide(effect, OperatorDecision::Park).await, Ok(()));
            process.assert_told(ReceiptStatus::ReconciliationRequired).await;
            assert_eq!(waiting(&process).await, 1);
            let open = process.system.open_effects(None, None, None).await;
            assert_eq!(open.expect("marks"), []);
            let parked = process.entries().await;
            let parked = parked.iter().find(|entry| entry.kind == EntryKind::EffectParked);
            let parked: EffectParked = parked.expect("parked").body.open().expect("read");
            let by = parked.by.expect("an operator");
            assert_eq!(by.operator, literal("grace"));
            assert_eq!(by.reason.value().map(String::as_str), Some("asked them on the phone"));
            assert_eq!(parked.reason, DeferReason::NotSent);
            let chain = process.chain().await;
            assert_eq!(process.decide(effect, OperatorDecision::Park).await, Ok(()), "it stands");
            for other in [OperatorDecision::Park, OperatorDecision::Nudge] {
                let late = decide_too(&process, effect, other).await;
                assert_eq!(late, Err(ResolveError::Parked));
            }
            // Its destination is back, and its time has come long ago.
            answers.store(true, Ordering::SeqCst);
            world.clock.advance(Duration::from_secs(24 * 60 * 60));
            process.rest().await;
            assert!(world.airline.book().is_empty(), "nothing was sent");
            assert_eq!(process.chain().await, chain, "nothing was written");
            let is_retry = decision == OperatorDecision::Retry;
            assert_eq!(process.decide(effect, decision).await, Ok(()));
            let told = if is_retry { ReceiptStatus::Submitted } else { ReceiptStatus::Accepted };
            process.assert_told(told).await;
            assert_eq!(world.airline.book().len(), usize::from(is_retry));
        }
    });
}

/// Unless an attempt was left on its way, a crash leaves no trace. Where one was, the end is one of those that say so.
fn same_unless_left(ends: &'static [&'static str]) -> impl Fn(&CrashPoint, &End, &End) {
    move |point, clean, crashed| {
        if !crashed.left_an_attempt {
            return same(point, clean, crashed);
        }
        let says = |status: &&str| crashed.state.contains(&format!("\"status\": \"{status}\""));
        assert!(says(&"unknown"), "after a crash {point}");
        assert!(ends.iter().any(says), "after a crash {point}: {}", crashed.state);
        assert!(crashed.performed <= 1, "after a crash {point}");
    }
}

#[test]
fn a_release_survives_a_crash_on_either_side_of_it() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Wait(Duration::from_secs(60)),
        Step::Wait(Duration::from_secs(600)),
        Step::Decide(|| OperatorDecision::Retry),
        Step::Wait(Duration::from_secs(60)),
        Step::Wait(Duration::from_secs(600)),
    ];
    // Only what an operator releases is sent again, and only that arrives.
    let airline = || {
        let airline = ScriptedDestination::new("airline", |delivery| {
            if delivery.attempt == 1 { Behaviour::LosesTheDelivery } else { Behaviour::accepts() }
        });
        let profile = DestinationProfile { lookups_max: 2, ..DestinationProfile::default() };
        airline.looking_up(|_, _| Lookup::Answer(nobody_knows())).with_profile(profile)
    };
    let compare = same_unless_left(&["submitted", "reconciliation_required"]);
    on_every_backend(|backend| {
        let sends = play(|| on(backend, airline()), &steps, &compare);
        assert_eq!(sends, 2, "one that was lost, and one that was released");
    });
}

#[test]
fn parking_survives_a_crash_on_either_side_of_it() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Decide(|| OperatorDecision::Park),
        Step::Wait(Duration::from_secs(24 * 60 * 60)),
    ];
    let airline = || {
        let airline = ScriptedDestination::new("airline", |_| Behaviour::NotSent);
        airline.with_profile(patient())
    };
    let compare = same_unless_left(&["reconciliation_required"]);
    on_every_backend(|backend| {
        let sends = play(|| on(backend, airline()), &steps, &compare);
        assert_eq!(sends, 1, "and none once it is parked");
    });
}

#[test]
fn a_nudge_survives_a_crash_on_either_side_of_it() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Decide(|| OperatorDecision::Nudge),
        // An attempt that never left is looked up at its time, sent then, and looked up in its turn.
        Step::Wait(Duration::from_secs(2 * 60 * 60)),
        Step::Wait(Duration::from_secs(2 * 60 * 60)),
    ];
    let airline = || {
        let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer);
        airline.with_profile(patient())
    };
    let compare = same_unless_left(&["submitted"]);
    on_every_backend(|backend| {
        let sends = play(|| on(backend, airline()), &steps, &compare);
        assert_eq!(sends, 1, "a nudge sends nothing twice");
    });
}
