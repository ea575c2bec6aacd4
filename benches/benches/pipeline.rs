//! The pure steps of a turn: reduce, project, compose, and the folds that a start runs.
//!
//! `cargo bench -p turnframe-bench --bench pipeline [FILTER]`.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;
use turnframe_actors::Limits;
use turnframe_bench::speaker::Speaker;
use turnframe_bench::tally::{Event, Names, Tally};
use turnframe_bench::{Backend, Ground};
use turnframe_core::block::ActReport;
use turnframe_core::canonical::Json;
use turnframe_core::context::ActorContext;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{
    CaseRef, CaseRevision, ConversationId, OperationRef, SlotName, SubjectId, TurnId,
};
use turnframe_core::plan::{ActOutcome, ExecutionPlan};
use turnframe_core::reduce::{CaseInTurn, ChoiceWords, TurnInput, reduce};
use turnframe_core::registry::{ErasedState, StoredEvent, WorkflowRegistry};
use turnframe_core::source::IdSource;
use turnframe_core::target::TargetTable;
use turnframe_core::understanding::{
    Argument, Intent, Mood, ProposedAct, ProposedTarget, Understanding,
};
use turnframe_core::view::WorkflowView;
use turnframe_core::words::{Message, WordRange};
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{Entry, EventLedger, StreamName, Version};
use turnframe_runtime::compose::{CaseAfter, ComposeInput, compose};
use turnframe_runtime::fold::case::CaseFold;
use turnframe_runtime::fold::conversation::ConversationFold;
use turnframe_test::literal;
use turnframe_test::sources::{START, ids};
use turnframe_travel::trip::{Extra, ExtraKind, TripEvent};

/// A conversation with one open tally, and somebody who speaks.
struct Scene {
    registry: WorkflowRegistry,
    actor: ActorContext,
    speaker: SubjectId,
    conversation: ConversationId,
    turn: TurnId,
    case: CaseRef,
    cases: BTreeMap<CaseRef, CaseInTurn>,
    targets: TargetTable,
    words: ChoiceWords,
    ids: IdSource,
}

impl Scene {
    fn new() -> Self {
        let registry = WorkflowRegistry::new().with(Tally(Names::new().expect("names")));
        let registry = registry.expect("one workflow");
        let actor = ActorContext {
            account: literal("acme"),
            actor: literal("ada"),
            locale: literal("en"),
            time_zone: "UTC".to_owned(),
        };
        let ids = ids(1);
        let case = CaseRef { workflow: literal("tally"), case: ids.case() };
        let mut targets = TargetTable::new(actor.account.clone());
        targets.admit(case.clone(), true, ["tally", "the tally"], &ids);
        let state = state_of(&registry, "tally", &[Event::Opened, Event::Added { amount: 5 }]);
        let workflow = registry.get(&case.workflow).expect("the tally");
        let projection = workflow.project(&state, &actor.locale).expect("a projection");
        let revision = CaseRevision(2);
        let in_turn = CaseInTurn { revision, state, projection, cards: Vec::new() };
        Self {
            cases: BTreeMap::from([(case.clone(), in_turn)]),
            speaker: actor.subject().expect("a subject"),
            conversation: literal("c"),
            turn: literal("t-1"),
            words: ChoiceWords { title: "Which one?".into(), none: "None".into() },
            registry,
            actor,
            case,
            targets,
            ids,
        }
    }

    /// A message of so many acts.
    fn acts(&self, count: u32) -> (Message, Understanding) {
        let message = Message::new("add 5 ".repeat(count as usize)).expect("a message");
        let act = |index: u32| {
            let value = WordRange { start: index * 2 + 1, end: index * 2 + 2 };
            let pointer = message.pointer(value).expect("the words are there");
            let operation = OperationRef { workflow: literal("tally"), operation: literal("add") };
            let target = ProposedTarget::Handle(self.targets.targets()[0].token.clone());
            let arguments = vec![Argument { slot: literal::<SlotName>("amount"), pointer }];
            let mood = Mood::Requested;
            let intent = Intent::Operate { operation, target, arguments, mood, corrects: None };
            ProposedAct { source: WordRange { start: index * 2, end: index * 2 + 2 }, intent }
        };
        let acts = (0..count).map(act).collect();
        (message.clone(), Understanding { acts, ..Understanding::default() })
    }

    fn plan(&self, understanding: &Understanding) -> ExecutionPlan {
        let input = TurnInput {
            conversation: &self.conversation,
            turn: &self.turn,
            actor: &self.actor,
            speaker: &self.speaker,
            now: START,
            registry: &self.registry,
            understanding,
            words_failed: false,
            targets: &self.targets,
            cases: &self.cases,
            choices: &[],
            click: None,
            words: &self.words,
            ids: &self.ids,
        };
        reduce(&input).expect("a plan")
    }

    /// The case after one event of the turn, and the report of the act that it belongs to.
    fn after(&self, plan: &ExecutionPlan) -> (Vec<ActReport>, BTreeMap<CaseRef, CaseAfter>) {
        let (case, revision, id) = (self.case.clone(), CaseRevision(3), self.ids.entry());
        let event = CommittedEvent {
            id,
            case: case.clone(),
            revision,
            recorded_at: START,
            event: stored(&Event::Added { amount: 5 }),
        };
        let projection = self.cases[&case].projection.clone();
        let view = WorkflowView { case: case.clone(), revision, projection };
        let outcome = || ActOutcome::Applied {
            case: case.clone(),
            revision,
            events: vec![id],
            effects: Vec::new(),
        };
        let report = |act: &turnframe_core::plan::PlannedAct| ActReport {
            id: act.id,
            source: act.source,
            operation: act.operation.clone(),
            outcome: outcome(),
        };
        let acts = plan.acts.iter().map(report).collect();
        let after = CaseAfter { view, events: vec![event], cards: Vec::new() };
        (acts, BTreeMap::from([(case.clone(), after)]))
    }
}

fn stored<E: serde::Serialize>(event: &E) -> StoredEvent {
    StoredEvent { schema: 1, json: Json::of(event).expect("JSON") }
}

fn state_of<E: serde::Serialize>(
    registry: &WorkflowRegistry,
    workflow: &str,
    events: &[E],
) -> ErasedState {
    let workflow = registry.get(&literal(workflow)).expect("the workflow");
    let evolve = |state, event| workflow.evolve(state, &stored(event)).expect("a state");
    events.iter().fold(workflow.initial(), evolve)
}

fn reducing(criterion: &mut Criterion) {
    let scene = Scene::new();
    for count in [1, 8] {
        let (_, understanding) = scene.acts(count);
        criterion.bench_function(&format!("reduce/{count} acts"), |bencher| {
            bencher.iter(|| scene.plan(black_box(&understanding)));
        });
    }
}

fn projecting(criterion: &mut Criterion) {
    let tally = Scene::new();
    let extra = |number| {
        let extra = Extra { number, kind: ExtraKind::Bag, quantity: 1, payer: None };
        TripEvent::ExtraAdded { extra }
    };
    let opened =
        TripEvent::TripOpened { name: None, destination: Some("Lisbon".to_owned()), date: None };
    let trips = turnframe_travel::registry();
    let trip = state_of(&trips, "trip", &[opened, extra(1), extra(2)]);
    let of_tally = (&tally.registry, "tally", &tally.cases[&tally.case].state);
    for (registry, name, state) in [of_tally, (&trips, "trip", &trip)] {
        let workflow = registry.get(&literal(name)).expect("the workflow");
        criterion.bench_function(&format!("project/{name}"), |bencher| {
            bencher.iter(|| workflow.project(black_box(state), &tally.actor.locale));
        });
    }
}

fn composing(criterion: &mut Criterion) {
    let scene = Scene::new();
    let (message, understanding) = scene.acts(1);
    let plan = scene.plan(&understanding);
    let (acts, cases) = scene.after(&plan);
    let input = ComposeInput {
        turn: &scene.turn,
        locale: &scene.actor.locale,
        speaker: &scene.speaker,
        registry: &scene.registry,
        message: Some(&message),
        not_understood: false,
        plan: &plan,
        acts: &acts,
        cases: &cases,
        choices: &[],
    };
    criterion.bench_function("compose/one receipt", |bencher| {
        bencher.iter(|| compose(black_box(&input)).expect("blocks"));
    });
}

/// The entries of a conversation of so many turns, and of its case.
async fn lived(turns: usize) -> (Vec<Entry>, Vec<Entry>) {
    let ground = Ground::open(&Backend::Memory, &ids(1)).await.expect("a ledger");
    let system = ground.start(Limits::default()).await.expect("a system");
    let speaker = Speaker::new(0, &system).expect("names");
    speaker.open().await.expect("open");
    for turn in 0..turns {
        speaker.add(turn).await.expect("committed");
    }
    let answer = speaker.say("add 5 please", "t-last").await.expect("answered");
    let case = answer.acts.iter().find_map(|act| {
        if let ActOutcome::Applied { case, .. } = &act.outcome { Some(case.clone()) } else { None }
    });
    let ledger = system.ledger();
    let conversation = StreamName::Conversation(literal("c-0"));
    let entries = read(ledger.as_ref(), &conversation).await;
    let of_case = read(ledger.as_ref(), &StreamName::Case(case.expect("a case"))).await;
    (entries, of_case)
}

async fn read(ledger: &dyn EventLedger, stream: &StreamName) -> Vec<Entry> {
    let (account, mut all) = (literal("account-0"), Vec::<Entry>::new());
    loop {
        let after = all.last().map_or(Version::NONE, |last| last.version);
        let page = ledger.read_stream(&account, stream, after, PAGE_MAX).await.expect("a page");
        let is_last = page.len() < PAGE_MAX;
        all.extend(page);
        if is_last {
            return all;
        }
    }
}

fn folding(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let registry = Scene::new().registry;
    let workflow = registry.get(&literal("tally")).expect("the tally").as_ref();
    for count in [10, 1_000] {
        let (entries, of_case) = runtime.block_on(lived(count));
        criterion.bench_function(&format!("fold/conversation of {count} turns"), |bencher| {
            let apply = |fold: ConversationFold, entry| fold.apply(entry).expect("folded");
            bencher.iter(|| entries.iter().fold(ConversationFold::default(), apply));
        });
        let of_case = &of_case[..count];
        criterion.bench_function(&format!("fold/case of {count} entries"), |bencher| {
            let apply = |fold: CaseFold, entry| fold.apply(workflow, entry).expect("folded");
            bencher.iter(|| of_case.iter().fold(CaseFold::new(workflow), apply));
        });
    }
}

fn short() -> Criterion {
    Criterion::default()
        .without_plots()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
}

criterion_group! { name = pipeline; config = short(); targets = reducing, projecting, composing, folding }
criterion_main!(pipeline);
