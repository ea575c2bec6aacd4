//! The real system under whatever befalls an effect: lost answers, look-ups, callbacks of the airline and of others, an
//! operator's decisions, and time. At every step the user has been told what somebody who may say so has said, the view
//! stands where the last receipt says, and nobody is told of an outcome before anybody knows of one (I15, I16).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Builder;
use turnframe_core::block::ResponseBlock;
use turnframe_core::canonical::Json;
use turnframe_core::id::{EffectId, EntryId};
use turnframe_core::receipt::{EffectConclusion, OperationalReceipt, ReceiptStatus};
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::effect::OperatorDecision;
use turnframe_runtime::port::{DestinationProfile, Incoming, Reconciled};
use turnframe_runtime::record::EffectConcluded;
use turnframe_test::script::{Behaviour, Lookup, ScriptedDestination};
use turnframe_tests::claims;
use turnframe_tests::desk::{self, OPEN, REBOOK, callback, confirmed, refused};
use turnframe_tests::world::{Backend, Process, World};
use turnframe_travel::airline::{AirlineCallbacks, Standing};

/// What happens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    TimePasses,
    AskAgain,
    /// Whether the airline agrees, and its count.
    CallBack(bool, u32),
    /// Somebody who is not the airline says that it agreed.
    Forge(u32),
    Accept,
    Reject,
    Retry,
    Park,
    Nudge,
}

/// What becomes of a send, and of a look-up.
#[derive(Debug, Clone)]
struct Script {
    sends: Vec<Behaviour>,
    lookups: Vec<Lookup>,
    steps: Vec<Step>,
}

fn scripts() -> impl Strategy<Value = Script> {
    let send = prop_oneof![
        2 => Just(Behaviour::LosesTheAnswer),
        2 => Just(Behaviour::LosesTheDelivery),
        1 => Just(Behaviour::NotSent),
        1 => Just(Behaviour::accepts()),
        1 => Just(Behaviour::Refuses("sold_out".to_owned())),
    ];
    let nobody_knows = || Reconciled::StillUnknown { reason: "nobody knows".to_owned() };
    let lookup = prop_oneof![
        2 => Just(Lookup::Answer(nobody_knows())),
        1 => Just(Lookup::Answer(Reconciled::NotFound)),
        1 => Just(Lookup::Book),
    ];
    let step = prop_oneof![
        4 => Just(Step::TimePasses),
        1 => Just(Step::AskAgain),
        2 => (any::<bool>(), 1_u32..5).prop_map(|(agrees, count)| Step::CallBack(agrees, count)),
        2 => (1_u32..5).prop_map(Step::Forge),
        1 => prop_oneof![Just(Step::Accept), Just(Step::Reject)],
        3 => prop_oneof![Just(Step::Retry), Just(Step::Park), Just(Step::Nudge)],
    ];
    (vec(send, 1..4), vec(lookup, 0..4), vec(step, 1..10))
        .prop_map(|(sends, lookups, steps)| Script { sends, lookups, steps })
}

/// An airline that meets sends and look-ups in the order of a script, and at last takes and finds everything.
fn airline(script: &Script) -> ScriptedDestination {
    let sends = Mutex::new(VecDeque::from(script.sends.clone()));
    let lookups = Mutex::new(VecDeque::from(script.lookups.clone()));
    let profile = DestinationProfile { lookups_max: 3, ..DestinationProfile::default() };
    ScriptedDestination::new("airline", move |_| {
        let next = sends.lock().expect("unpoisoned").pop_front();
        next.unwrap_or_else(Behaviour::accepts)
    })
    .looking_up(move |_, _| lookups.lock().expect("unpoisoned").pop_front().unwrap_or(Lookup::Book))
    .calling_back(AirlineCallbacks { secrets: desk::secrets() })
    .with_profile(profile)
}

#[test]
fn i15_whatever_befalls_an_effect_nobody_is_told_of_an_outcome_that_nobody_knows() {
    let mut runner = TestRunner::new(ProptestConfig { cases: 48, ..ProptestConfig::default() });
    let ran = runner.run(&scripts(), |script| {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(play(script))
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}

async fn play(script: Script) -> Result<(), TestCaseError> {
    let interpreter = Arc::new(desk::interpreter());
    let world = World::new(Backend::Memory, interpreter, Arc::new(airline(&script)));
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
    let effect = process.effects().await[0];
    is_true(&process).await?;
    for (number, step) in script.steps.iter().enumerate() {
        take(&world, &process, effect, (number, *step)).await;
        process.rest().await;
        is_true(&process).await?;
    }
    process.system.shutdown().await;
    Ok(())
}

/// Whatever is refused is refused: what was written is looked at afterwards.
async fn take(world: &World, process: &Process, effect: EffectId, (number, step): (usize, Step)) {
    let id = format!("w{number}");
    let decide = async |decision| drop(process.decide(effect, decision).await);
    match step {
        Step::TimePasses => world.clock.advance(Duration::from_secs(300)),
        Step::AskAgain => drop(process.say(&format!("again-{number}"), REBOOK).await),
        Step::CallBack(agrees, count) => {
            let standing = if agrees { confirmed() } else { refused() };
            drop(process.call_back(&id, (effect, standing, count)).await);
        }
        Step::Forge(count) => {
            let signed = callback(&id, world.ids.now(), (effect, confirmed(), count));
            let heard = process.hear(&forged(&signed, effect, count)).await;
            assert!(heard.is_err(), "it is not the airline's");
        }
        Step::Accept => {
            let details = Json::of(&serde_json::json!({"status": "confirmed"})).expect("JSON");
            let reference = "PNR-7".to_owned();
            decide(OperatorDecision::Accepted { reference, details }).await;
        }
        Step::Reject => decide(OperatorDecision::Rejected { code: "full".to_owned() }).await,
        Step::Retry => decide(OperatorDecision::Retry).await,
        Step::Park => decide(OperatorDecision::Park).await,
        Step::Nudge => decide(OperatorDecision::Nudge).await,
    }
}

/// What the airline signed, around words that it did not sign.
fn forged(signed: &Incoming, effect: EffectId, count: u32) -> Incoming {
    let standing = Standing::Confirmed { reference: "FORGED".to_owned() };
    let words = callback("x", turnframe_test::sources::START, (effect, standing, count));
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers = names.into_iter().filter_map(|name| Some((name, signed.header(name)?)));
    headers.fold(Incoming::new(words.body), |it, (name, value)| it.with(name, value))
}

/// What was told rests on what is known, and the view stands where the last news says.
async fn is_true(process: &Process) -> Result<(), TestCaseError> {
    claims::check(process).await;
    let entries = process.entries().await;
    let mut last = None;
    for (_, block) in claims::told(&entries) {
        let ResponseBlock::Receipt(receipt) = block else { continue };
        let said = receipt.draft.event_ids.iter().filter_map(|event| says(&entries, *event));
        let said: Vec<EffectConclusion> = said.collect();
        let status = &receipt.draft.status;
        if VERDICTS.contains(status) {
            prop_assert!(said.iter().any(|said| allows(said, &receipt)), "{receipt:#?}");
            prop_assert!(!receipt.draft.body.to_string().contains("FORGED"));
        }
        if *status == ReceiptStatus::Unknown {
            prop_assert_eq!(said, [EffectConclusion::Unknown]);
        }
        let is_set_aside = receipt.draft.title.to_string().contains("not applied");
        if STAGES.iter().any(|(stage, _)| stage == status) && !is_set_aside {
            last = Some(receipt);
        }
    }
    let cases = process.cases().await;
    let view = process.system.view(&process.actor, &process.conversation, &cases[0]).await;
    let view = view.expect("a view");
    let fact = view.projection.facts.iter().find(|fact| fact.name == "rebooking");
    let (fact, last) = (fact.expect("a rebooking").value.to_string(), last.expect("a receipt"));
    let stage = STAGES.iter().find(|(stage, _)| *stage == last.draft.status);
    let (_, words) = stage.expect("a stage");
    prop_assert!(fact.starts_with(words), "{fact}: {last:#?}");
    Ok(())
}

/// What only whoever may say so has said.
const VERDICTS: [ReceiptStatus; 3] =
    [ReceiptStatus::Submitted, ReceiptStatus::Accepted, ReceiptStatus::Rejected];

/// The stages of a rebooking, and how the view says where it stands.
const STAGES: [(ReceiptStatus, &str); 6] = [
    (ReceiptStatus::Prepared, "recorded"),
    (ReceiptStatus::Submitted, "submitted"),
    (ReceiptStatus::Accepted, "accepted"),
    (ReceiptStatus::Rejected, "refused"),
    (ReceiptStatus::Unknown, "unknown, it may or may not"),
    (ReceiptStatus::ReconciliationRequired, "unknown, somebody"),
];

/// What the effect's stream says in the entry that led to an event.
fn says(entries: &[Entry], event: EntryId) -> Option<EffectConclusion> {
    let place = entries.iter().position(|entry| entry.id == event)?;
    // An event stands behind its command, and the command names the entry that it carries.
    let commands = entries[..place].iter().rev();
    let command = commands.into_iter().find(|entry| entry.kind == EntryKind::CaseCommand)?;
    let cause = entries.iter().find(|entry| Some(entry.id) == command.causation)?;
    if cause.kind != EntryKind::EffectConcluded {
        return None;
    }
    Some(cause.body.open::<EffectConcluded>().ok()?.conclusion)
}

/// Whether a conclusion allows what a receipt says, under the very reference.
fn allows(said: &EffectConclusion, receipt: &OperationalReceipt) -> bool {
    let draft = &receipt.draft;
    match said {
        EffectConclusion::Accepted { reference, details } => {
            let is_confirmed =
                serde_json::to_string(details).is_ok_and(|it| it.contains("confirmed"));
            let status =
                if is_confirmed { ReceiptStatus::Accepted } else { ReceiptStatus::Submitted };
            draft.status == status && draft.external_reference.as_ref() == Some(reference)
        }
        EffectConclusion::Rejected { code, .. } => {
            draft.status == ReceiptStatus::Rejected && draft.body.to_string().contains(code)
        }
        EffectConclusion::Unknown | EffectConclusion::ReconciliationRequired => false,
    }
}
