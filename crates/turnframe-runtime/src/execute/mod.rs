//! Execution on one case: from the steps of a turn to one atomic append (design rule of step 8).
//!
//! A pure decision over the case's fold. Command outcomes under their keys, domain events, card resolutions,
//! invalidated cards, newly required cards and requested effects go into the same append, or nothing does.
//! A step that is refused drops out with its own result; the rest commits together. The append is
//! checked on its projected post-state before it leaves here (I3, I5, I6).
//!
//! Killed between this decision and its commit, the next start decides again from the same plan; killed after
//! the commit, it finds the keys taken and returns the recorded outcomes.

mod cards;
mod original;
mod run;

use std::collections::BTreeMap;

use turnframe_core::canonical::CanonicalError;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    AccountId, CaseRef, CaseRevision, ConversationId, EntryId, IdError, InteractionId,
    OperationRef, SubjectId, TurnId,
};
use turnframe_core::interaction::{Interaction, InteractionStatus};
use turnframe_core::personal::SealError;
use turnframe_core::plan::{ActId, ActOutcome, Action, ExecutionPlan, Step};
use turnframe_core::registry::{CorruptJson, ErasedState, ErasedWorkflow};
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{
    Append, EntryKind, Key, KeyName, MarkChange, NewEntry, StreamName, Version,
};

use crate::entry::EntryBuilder;
use crate::fold::case::CaseFold;
use crate::key;
use crate::record::{CardClosed, FactKey};

pub use original::{Original, original};

/// A step with its key.
#[derive(Debug, Clone)]
pub struct JobStep {
    /// The act it runs for; none for what comes from outside.
    pub act: Option<ActId>,
    /// The operation, where it is one.
    pub operation: Option<OperationRef>,
    /// Its idempotency key (I14).
    pub key: KeyName,
    /// The key of its act, where a click's key is its first: a conflict is of the turn and not of the click.
    pub act_key: Option<KeyName>,
    /// What the key's digest covers.
    pub facts: Vec<String>,
    /// What is done.
    pub step: Step,
}

/// What a case is asked to do in one append.
#[derive(Debug, Clone)]
pub struct CaseJob {
    /// The case.
    pub case: CaseRef,
    /// The conversation it concerns.
    pub conversation: ConversationId,
    /// The turn; none for what comes from outside.
    pub turn: Option<TurnId>,
    /// The entry that causes it.
    pub causation: Option<EntryId>,
    /// Who asked.
    pub actor: ActorContext,
    /// Whose words they are.
    pub speaker: SubjectId,
    /// The revision the plan was made for; none where the current one is taken (receipts, callbacks, timers).
    pub expected: Option<CaseRevision>,
    /// The moment every decision is made at.
    pub now: Timestamp,
    /// The steps in order.
    pub steps: Vec<JobStep>,
    /// The fact this job carries on, whose mark the append clears.
    pub carries: Option<FactKey>,
}

impl CaseJob {
    /// The job of a turn on one of its cases. `None` where the plan has no step there.
    ///
    /// # Errors
    /// [`NotAKey`] never for ids that exist.
    pub fn of_plan(
        plan: &ExecutionPlan,
        case: &CaseRef,
        expected: CaseRevision,
        turn: &TurnFrame<'_>,
    ) -> Result<Option<Self>, NotAKey> {
        let mut steps = Vec::new();
        for (act, step) in plan.steps(case) {
            steps.push(JobStep {
                act: Some(act.id),
                operation: act.operation.clone(),
                key: key::step(turn.conversation, turn.turn, act.id, &step.action)?,
                act_key: Some(key::act(turn.conversation, turn.turn, act.id)?),
                facts: key::facts_of(act, case).to_vec(),
                step: step.clone(),
            });
        }
        Ok((!steps.is_empty()).then(|| Self {
            case: case.clone(),
            conversation: turn.conversation.clone(),
            turn: Some(turn.turn.clone()),
            causation: Some(turn.causation),
            actor: turn.actor.clone(),
            speaker: turn.speaker.clone(),
            expected: Some(expected),
            now: plan.now,
            steps,
            carries: None,
        }))
    }

    /// The account whose case it is.
    #[must_use]
    pub fn account(&self) -> &AccountId {
        &self.actor.account
    }
}

/// What every case of a turn is told of it.
#[derive(Debug, Clone, Copy)]
pub struct TurnFrame<'a> {
    /// The conversation.
    pub conversation: &'a ConversationId,
    /// The turn.
    pub turn: &'a TurnId,
    /// The entry that accepted it.
    pub causation: EntryId,
    /// Who speaks.
    pub actor: &'a ActorContext,
    /// Whose words they are.
    pub speaker: &'a SubjectId,
}

/// Why a job could not be decided: a defect or a corrupt record, never the user's doing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// A stored command or state cannot be read.
    #[error(transparent)]
    Corrupt(#[from] CorruptJson),
    /// A payload cannot be stored.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// A card has no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
    /// An id cannot be made.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The append would break an invariant of the case.
    #[error("the append would leave {case} broken: {reason}")]
    PostState {
        /// The case.
        case: CaseRef,
        /// Which invariant.
        reason: String,
    },
}

/// What is known of a job before it is decided.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// Steps that ran before, by index, with what they came to.
    pub originals: BTreeMap<usize, Original>,
    /// Cards the steps name that are not open any more.
    pub closed: BTreeMap<InteractionId, CardClosed>,
}

/// What a job comes to.
#[derive(Debug, Clone)]
pub struct CaseDecision {
    /// What to append; none where nothing has to be recorded.
    pub append: Option<Append>,
    /// The outcome of each step, in order.
    pub outcomes: Vec<ActOutcome>,
    /// The entry that records each step, where one does.
    pub recorded: Vec<Option<Version>>,
    /// The fold once the append is committed.
    pub after: CaseFold,
}

/// Decides a job.
///
/// # Errors
/// [`ExecuteError`] when a record is corrupt or the post-state would break an invariant.
pub fn decide(
    workflow: &dyn ErasedWorkflow,
    fold: &CaseFold,
    job: &CaseJob,
    known: &Known,
    ids: &IdSource,
) -> Result<CaseDecision, ExecuteError> {
    let mut execution = Execution::new(workflow, fold, job, known, ids);
    for index in 0..job.steps.len() {
        execution.step(index)?;
    }
    execution.draw_cards()?;
    execution.finish()
}

/// A card that a step asks for, drawn once the state after all events is known.
struct Wanted {
    step: usize,
    operation: OperationRef,
    command: turnframe_core::canonical::Json,
    renews: Option<InteractionId>,
}

struct Execution<'a> {
    workflow: &'a dyn ErasedWorkflow,
    fold: &'a CaseFold,
    job: &'a CaseJob,
    known: &'a Known,
    ids: &'a IdSource,
    builder: EntryBuilder<'a>,
    stream: StreamName,
    state: ErasedState,
    cards: BTreeMap<InteractionId, Interaction>,
    has_events: bool,
    outcomes: Vec<Option<ActOutcome>>,
    recorded: Vec<Option<Version>>,
    /// Cards that this append closes.
    closed_here: BTreeMap<InteractionId, InteractionStatus>,
    wanted: Vec<Wanted>,
    expected: Vec<(StreamName, Version)>,
    entries: Vec<NewEntry>,
    own_entries: u64,
    keys: Vec<Key>,
    marks: Vec<MarkChange>,
}

impl<'a> Execution<'a> {
    fn new(
        workflow: &'a dyn ErasedWorkflow,
        fold: &'a CaseFold,
        job: &'a CaseJob,
        known: &'a Known,
        ids: &'a IdSource,
    ) -> Self {
        let stream = StreamName::Case(job.case.clone());
        Self {
            workflow,
            fold,
            job,
            known,
            ids,
            builder: EntryBuilder { ids, turn: job.turn.as_ref(), causation: job.causation },
            expected: vec![(stream.clone(), fold.version)],
            stream,
            state: fold.state.clone(),
            cards: fold.cards.clone(),
            has_events: false,
            outcomes: vec![None; job.steps.len()],
            recorded: vec![None; job.steps.len()],
            closed_here: BTreeMap::new(),
            wanted: Vec::new(),
            entries: Vec::new(),
            own_entries: 0,
            keys: Vec::new(),
            marks: Vec::new(),
        }
    }

    fn step(&mut self, index: usize) -> Result<(), ExecuteError> {
        if let Some(original) = self.known.originals.get(&index) {
            self.outcomes[index] = Some(original.outcome.clone());
            self.recorded[index] = Some(original.version);
            return Ok(());
        }
        let JobStep { step, operation, .. } = &self.job.steps[index];
        if let Some(because) = step.depends_on.filter(|act| !self.applied(*act)) {
            self.outcomes[index] = Some(ActOutcome::NotExecuted { because });
            return Ok(());
        }
        match &step.action {
            Action::Run { command, origin, resolves } => {
                self.run(index, command, origin, *resolves)
            }
            Action::Confirm { command, operation, .. } => self.confirm(index, command, operation),
            Action::Close { card, status, option } => {
                self.close(index, *card, *status, option.as_ref())
            }
            Action::Renew { card, option, status } => {
                self.renew(index, card, option, *status, operation.as_ref())
            }
        }
    }

    fn applied(&self, act: ActId) -> bool {
        let is_it = |(step, outcome): (&JobStep, &Option<ActOutcome>)| {
            step.act == Some(act) && matches!(outcome, Some(ActOutcome::Applied { .. }))
        };
        self.job.steps.iter().zip(&self.outcomes).any(is_it)
    }

    /// The revision of the events of this append.
    fn revision_after(&self) -> CaseRevision {
        if self.has_events { self.fold.revision.next() } else { self.fold.revision }
    }

    fn push<T: serde::Serialize>(
        &mut self,
        kind: EntryKind,
        schema: u16,
        payload: &T,
    ) -> Result<EntryId, ExecuteError> {
        let entry = self.builder.build_versioned(&self.stream, kind, schema, payload)?;
        let id = entry.id;
        self.entries.push(entry);
        self.own_entries += 1;
        Ok(id)
    }

    /// The version of the case's entry that was pushed last.
    fn last_version(&self) -> Version {
        self.fold.version.plus(self.own_entries)
    }

    fn claim(&mut self, index: usize, entry: usize) {
        self.claim_as(index, entry, self.job.steps[index].key.clone());
    }

    fn claim_as(&mut self, index: usize, entry: usize, name: KeyName) {
        let facts: Vec<&str> = self.job.steps[index].facts.iter().map(String::as_str).collect();
        self.keys.push(key::claim(name, &facts, entry));
    }

    fn finish(mut self) -> Result<CaseDecision, ExecuteError> {
        self.check_post_state()?;
        if let Some(fact) = self.job.carries {
            let kind = turnframe_ledger::MarkKind::Relay;
            self.marks.push(MarkChange::Clear { kind, key: fact.to_string() });
        }
        let failed = || ActOutcome::Failed { code: "not_executed".to_owned() };
        let after = CaseFold {
            version: self.fold.version.plus(self.own_entries),
            chain: None,
            revision: self.revision_after(),
            state: self.state,
            cards: self.cards,
        };
        let append = (!self.entries.is_empty()).then(|| Append {
            account: self.job.account().clone(),
            expected: self.expected,
            entries: self.entries,
            keys: self.keys,
            marks: self.marks,
        });
        Ok(CaseDecision {
            append,
            outcomes: self.outcomes.into_iter().map(|it| it.unwrap_or_else(failed)).collect(),
            recorded: self.recorded,
            after,
        })
    }
}
