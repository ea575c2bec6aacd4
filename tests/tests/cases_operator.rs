//! What nobody here can find out is an operator's to decide: with a name and a reason, and told to the user.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use turnframe_actors::ResolveError;
use turnframe_core::canonical::Json;
use turnframe_core::id::EffectId;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::EntryKind;
use turnframe_runtime::effect::OperatorDecision;
use turnframe_runtime::port::{DestinationProfile, Dispatched, Reconciled};
use turnframe_runtime::record::{ConclusionSource, EffectConcluded, EffectReleased};
use turnframe_test::fault::CrashPoint;
use turnframe_test::literal;
use turnframe_test::script::{Behaviour, Lookup, ScriptedDestination};
use turnframe_tests::crash::everywhere;
use turnframe_tests::desk::{self, OPEN, REBOOK};
use turnframe_tests::matrix::{End, Step, play};
use turnframe_tests::world::{Backend, Process, World};

/// An airline that took the rebooking, cannot say so, and never finds it again; unless it answers by now.
fn silent(answers: Arc<AtomicBool>) -> Arc<ScriptedDestination> {
    let airline = ScriptedDestination::new("airline", move |_| {
        let answers = answers.load(Ordering::SeqCst);
        if answers { Behaviour::accepts() } else { Behaviour::LosesTheDelivery }
    });
    let nobody_knows = || Reconciled::StillUnknown { reason: "nobody knows".to_owned() };
    let profile = DestinationProfile { lookups_max: 2, ..DestinationProfile::default() };
    let airline = airline.looking_up(move |_, _| Lookup::Answer(nobody_knows()));
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
    process.system.parked_effects(None, None).await.expect("marks").len()
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
            let listed = process.system.parked_effects(Some(&process.actor.account), None).await;
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
    for backend in Backend::ALL {
        let sends = play(|| world(backend).0, &steps, compare);
        assert_eq!(sends, 1, "one send");
    }
}
