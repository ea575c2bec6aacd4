//! One loan of the library desk on a ledger in memory: jobs are decided, committed, read back and folded.

use std::collections::BTreeMap;

use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, CaseRef, EffectId, InteractionId, SubjectId};
use turnframe_core::interaction::Interaction;
use turnframe_core::plan::{ActOutcome, Action};
use turnframe_core::registry::{ErasedWorkflow, WorkflowRegistry};
use turnframe_core::source::IdSource;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{Entry, EventLedger, KeyName, StreamName, Version};
use turnframe_runtime::execute::{self, CaseDecision, CaseJob, JobStep, Known, Original, original};
use turnframe_runtime::fold::case::CaseFold;
use turnframe_runtime::key;
use turnframe_runtime::turn::{find_closed, find_entry};
use turnframe_test::literal;
use turnframe_test::sample::{DESK, DeskWorkflow};
use turnframe_test::sources::ids;

use crate::spec::JobSpec;

/// The most entries of a case that a test reads.
const ENTRIES_MAX: usize = 1_000;

/// The case, as the actor that owns it has it, and as the ledger has it.
pub(crate) struct Desk {
    pub(crate) ledger: MemoryLedger,
    pub(crate) registry: WorkflowRegistry,
    pub(crate) ids: IdSource,
    pub(crate) actor: ActorContext,
    pub(crate) speaker: SubjectId,
    pub(crate) case: CaseRef,
    /// What the decisions left behind.
    pub(crate) fold: CaseFold,
    /// What the entries fold to.
    pub(crate) replayed: CaseFold,
    /// Every card there was.
    pub(crate) cards: Vec<Interaction>,
    pub(crate) effects: Vec<EffectId>,
    /// What each job appended to the case.
    pub(crate) commits: Vec<Vec<Entry>>,
}

/// A job that was decided and committed.
pub(crate) struct Ran {
    pub(crate) job: CaseJob,
    pub(crate) outcomes: Vec<ActOutcome>,
    pub(crate) recorded: Vec<Option<Version>>,
    /// The case before it.
    pub(crate) before: CaseFold,
    known: Known,
}

impl Ran {
    /// The steps that ran for the first time, with what they came to.
    pub(crate) fn fresh(&self) -> impl Iterator<Item = (&JobStep, &ActOutcome)> {
        let steps = self.job.steps.iter().zip(&self.outcomes).enumerate();
        let is_fresh = |(index, _): &(usize, _)| !self.known.originals.contains_key(index);
        steps.filter(is_fresh).map(|(_, step)| step)
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        let registry = WorkflowRegistry::new().with(DeskWorkflow).expect("one workflow");
        let ids = ids(7);
        let actor = ActorContext {
            account: literal("acme"),
            actor: literal("ada"),
            locale: literal("en"),
            time_zone: "UTC".to_owned(),
        };
        let fold = CaseFold::new(registry.get(&literal(DESK)).expect("registered").as_ref());
        Self {
            ledger: MemoryLedger::new(),
            case: CaseRef { workflow: literal(DESK), case: ids.case() },
            speaker: actor.subject().expect("subject"),
            actor,
            replayed: fold.clone(),
            fold,
            registry,
            ids,
            cards: Vec::new(),
            effects: Vec::new(),
            commits: Vec::new(),
        }
    }

    pub(crate) fn workflow(&self) -> &dyn ErasedWorkflow {
        self.registry.get(&self.case.workflow).expect("registered").as_ref()
    }

    pub(crate) fn account(&self) -> &AccountId {
        &self.actor.account
    }

    /// Builds a job, decides it as the case's actor does, commits it and reads it back. None where there is nothing
    /// to ask for.
    pub(crate) async fn run(&mut self, spec: &JobSpec) -> Option<Ran> {
        let job = self.job(spec)?;
        let mut known = self.know(&job).await;
        let before = self.fold.clone();
        let mut decision = self.decide(&job, &known);
        if self.repeats(&decision).await {
            known.originals = self.originals(&job).await;
            decision = self.decide(&job, &known);
        }
        let CaseDecision { append, outcomes, recorded, after } = decision;
        if let Some(append) = append {
            self.ledger.append(vec![append]).await.remove(0).expect("a commit");
            self.fold = after;
        }
        let stream = StreamName::Case(self.case.clone());
        let after = self.replayed.version;
        let read = self.ledger.read_stream(self.account(), &stream, after, ENTRIES_MAX).await;
        let entries = read.expect("readable");
        for entry in &entries {
            let applied = self.replayed.clone().apply(self.workflow(), entry);
            self.replayed = applied.expect("an entry of the case");
        }
        self.commits.push(entries);
        let fresh = self.fold.cards.values().filter(|it| !before.cards.contains_key(&it.id));
        self.cards.extend(fresh.cloned().collect::<Vec<_>>());
        self.effects.extend(outcomes.iter().flat_map(ActOutcome::effects));
        Some(Ran { job, outcomes, recorded, before, known })
    }

    /// Whether the ledger would refuse what was decided because a key of it is taken.
    async fn repeats(&self, decision: &CaseDecision) -> bool {
        for key in decision.append.iter().flat_map(|append| &append.keys) {
            let found = self.ledger.find_key(self.account(), &key.name).await.expect("readable");
            if found.is_some() {
                return true;
            }
        }
        false
    }

    /// Decides a job once more, with everything known that its first run recorded.
    pub(crate) async fn again(&self, job: &CaseJob) -> CaseDecision {
        let mut known = self.know(job).await;
        known.originals.extend(self.originals(job).await);
        self.decide(job, &known)
    }

    /// Decides a job once more as the actor would that was never told of its first run.
    pub(crate) async fn unaware(&self, job: &CaseJob) -> CaseDecision {
        let known = self.know(job).await;
        self.decide(job, &known)
    }

    fn decide(&self, job: &CaseJob, known: &Known) -> CaseDecision {
        execute::decide(self.workflow(), &self.fold, job, known, &self.ids)
            .expect("no job leaves the case broken")
    }

    /// What the case's actor asks the ledger before it decides.
    async fn know(&self, job: &CaseJob) -> Known {
        let mut known = Known::default();
        if job.expected.is_some_and(|expected| expected != self.fold.revision) {
            known.originals = self.originals(job).await;
        }
        for (index, step) in job.steps.iter().enumerate() {
            let Some(card) = card_of(&step.step.action) else { continue };
            if self.fold.cards.contains_key(&card) {
                continue;
            }
            let closed = find_closed(&self.ledger, self.account(), card).await.expect("readable");
            known.closed.extend(closed.map(|closed| (card, closed)));
            let mut original = self.original(&step.key).await;
            if let (Action::Renew { option, .. }, None) = (&step.step.action, &original) {
                original = self.original(&key::click(card, option).expect("a key")).await;
            }
            known.originals.extend(original.map(|original| (index, original)));
        }
        known
    }

    async fn originals(&self, job: &CaseJob) -> BTreeMap<usize, Original> {
        let mut originals = BTreeMap::new();
        for (index, step) in job.steps.iter().enumerate() {
            let mut found = self.original(&step.key).await;
            if let (None, Some(key)) = (&found, &step.act_key) {
                found = self.original(key).await;
            }
            originals.extend(found.map(|original| (index, original)));
        }
        originals
    }

    async fn original(&self, key: &KeyName) -> Option<Original> {
        let entry = find_entry(&self.ledger, self.account(), key).await.expect("readable");
        entry.map(|entry| original(&entry).expect("an entry that a step's key can name"))
    }
}

/// The card a step is about.
fn card_of(action: &Action) -> Option<InteractionId> {
    match action {
        Action::Run { resolves, .. } => *resolves,
        Action::Close { card, .. } => Some(*card),
        Action::Renew { card, .. } => Some(card.id),
        Action::Confirm { .. } => None,
    }
}
