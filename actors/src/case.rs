//! The case actor: serialises a case's revisions, and alone appends to its stream.
//!
//! Its state is the fold of the stream. A job is decided by `turnframe_runtime::execute` and appended at the
//! version it was decided at; the answer comes from what was committed. Killed before the commit, nothing
//! happened; killed after it, the next job with the same keys is told the recorded outcomes. It never
//! decides anything itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::oneshot;
use turnframe_core::id::{AccountId, CaseRevision, InteractionId};
use turnframe_core::plan::{ActOutcome, Action};
use turnframe_core::registry::ErasedWorkflow;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{AppendError, EntryKind, StreamName, Version};
use turnframe_runtime::execute::{self, CaseDecision, CaseJob, Known, Original};
use turnframe_runtime::fold::case::CaseFold;
use turnframe_runtime::key;
use turnframe_runtime::record::CaseEvent;
use turnframe_runtime::turn::{
    CaseError, CaseReport, OpenCase, TurnError, find_closed, find_entry,
};

use crate::registry::{Registry, Spawned};
use crate::shared::{CaseKey, Root, Shared};
use crate::slot::{Generation, StartFailure};

/// How many states are kept for news that is not told yet. What is told later than that reads the stream.
const STATES_KEPT_MAX: usize = 64;

/// What a case actor is told.
pub(crate) enum CaseMessage {
    /// Say how the case stands.
    Open(oneshot::Sender<Result<OpenCase, CaseError>>),
    /// Say how the case stood at a revision; its cards are those of now.
    OpenAt(CaseRevision, oneshot::Sender<Result<OpenCase, CaseError>>),
    /// Run a job.
    Execute(Box<CaseJob>, oneshot::Sender<Result<CaseReport, CaseError>>),
    /// Be passivated if idle.
    RestIfIdle,
}

/// Starts the actor of a case.
pub(crate) async fn spawn(
    key: CaseKey,
    generation: Generation,
    shared: Arc<Shared>,
    registry: Registry<CaseKey, CaseMessage>,
    root: Root,
) -> Result<Spawned<CaseMessage>, StartFailure> {
    let unknown = || StartFailure {
        reason: format!("no workflow {} is registered", key.1.workflow),
        is_transient: false,
    };
    let workflow = shared.engine.registry().get(&key.1.workflow).cloned().ok_or_else(unknown)?;
    let (fold, saved_at) = shared.load_case(&key.0, &key.1, workflow.as_ref()).await?;
    let state = CaseState { fold, before: VecDeque::new(), saved_at, is_in_doubt: false };
    let shell = CaseActor { key, generation, shared, registry, workflow };
    let (actor, ended) = Actor::spawn_linked(None, shell, state, root.get_cell()).await?;
    Ok(Spawned { actor, ended, unfinished: Arc::new(AtomicBool::new(false)) })
}

struct CaseActor {
    key: CaseKey,
    generation: Generation,
    shared: Arc<Shared>,
    registry: Registry<CaseKey, CaseMessage>,
    workflow: Arc<dyn ErasedWorkflow>,
}

struct CaseState {
    fold: CaseFold,
    /// How it stood after commits that are news to a conversation, which is told of them in order while the case moves on.
    /// Without its cards.
    before: VecDeque<OpenCase>,
    saved_at: Version,
    /// Nobody knows what became of an append, which may land yet. Until another one goes in behind the same version,
    /// the ledger is asked before anything is said of the case.
    is_in_doubt: bool,
}

impl Actor for CaseActor {
    type Msg = CaseMessage;
    type State = CaseState;
    type Arguments = CaseState;

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        state: CaseState,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        // Boxed: an actor at rest holds a pointer, and not the room for all that a message can lead to.
        Box::pin(self.receive(myself, message, state)).await;
        Ok(())
    }
}

impl CaseState {
    /// Keeps how the case stands now.
    fn keep(&mut self) {
        if self.before.len() == STATES_KEPT_MAX {
            self.before.pop_front();
        }
        let CaseFold { version, revision, ref state, .. } = self.fold;
        let (state, cards) = (state.clone(), Vec::new());
        self.before.push_back(OpenCase { version, revision, state, cards });
    }
}

impl CaseActor {
    async fn receive(
        &self,
        myself: ActorRef<CaseMessage>,
        message: CaseMessage,
        state: &mut CaseState,
    ) {
        match message {
            // Whoever asked may be gone.
            CaseMessage::Open(reply) => drop(reply.send(self.open(state).await)),
            CaseMessage::OpenAt(revision, reply) => {
                drop(reply.send(self.open_then(revision, state).await));
            }
            CaseMessage::Execute(job, reply) => {
                drop(reply.send(self.execute(*job, state).await));
                self.save(state, self.shared.limits.snapshot_entries_max).await;
            }
            CaseMessage::RestIfIdle => self.rest(&myself, state).await,
        }
    }

    fn account(&self) -> &AccountId {
        &self.key.0
    }

    fn stream(&self) -> StreamName {
        StreamName::Case(self.key.1.clone())
    }

    async fn execute(&self, job: CaseJob, state: &mut CaseState) -> Result<CaseReport, CaseError> {
        self.make_sure(state).await?;
        let mut known = self.know(&job, &state.fold).await?;
        for attempt in 0..self.shared.limits.append_attempts_max {
            let ids = self.shared.ids();
            let CaseDecision { append, outcomes, recorded, after } =
                execute::decide(self.workflow.as_ref(), &state.fold, &job, &known, ids)
                    .map_err(|error| self.failed(error))?;
            let Some(append) = append else {
                return self.report(outcomes, recorded, state).await;
            };
            match self.shared.writer.append(append).await {
                Ok(_) => {
                    (state.fold, state.is_in_doubt) = (after, false);
                    if job.turn.is_none() {
                        state.keep();
                    }
                    self.nudge(&outcomes, &job);
                    return self.report(outcomes, recorded, state).await;
                }
                // The job ran before, here or elsewhere: its recorded outcomes stand.
                Err(
                    ref error @ (AppendError::DuplicateKey { .. }
                    | AppendError::OutcomeUnknown { .. }),
                ) => {
                    state.is_in_doubt |= matches!(error, AppendError::OutcomeUnknown { .. });
                    // Before the fold: what lands between the two is then in the fold, and never known by its
                    // key alone.
                    let originals = self.originals(&job).await?;
                    self.reload(state).await?;
                    known = self.know(&job, &state.fold).await?;
                    known.originals.extend(originals);
                }
                Err(AppendError::Conflict { .. }) => {
                    self.reload(state).await?;
                    known = self.know(&job, &state.fold).await?;
                }
                Err(AppendError::Unavailable { reason }) => {
                    tracing::warn!(case = %job.case, %reason, attempt, "the ledger is away");
                    tokio::time::sleep(self.shared.limits.append_backoff * (attempt + 1)).await;
                }
                // The next owner of the partition finishes the turn.
                Err(error @ AppendError::Fenced { .. }) => {
                    return Err(CaseError { is_transient: true, ..self.failed(error) });
                }
                Err(error) => return Err(self.failed(error)),
            }
        }
        Err(CaseError { is_transient: true, ..self.failed("the append did not go through") })
    }

    /// What has to be known beside the fold. On the way of an ordinary turn that is nothing: only a case that
    /// moved, or a card that is not open any more, makes the ledger be asked.
    async fn know(&self, job: &CaseJob, fold: &CaseFold) -> Result<Known, CaseError> {
        let mut known = Known::default();
        if job.expected.is_some_and(|expected| expected != fold.revision) {
            known.originals = self.originals(job).await?;
        }
        for (index, step) in job.steps.iter().enumerate() {
            let Some(card) = card_of(&step.step.action) else { continue };
            if fold.cards.contains_key(&card) {
                continue;
            }
            let ledger = self.shared.ledger.as_ref();
            let closed = find_closed(ledger, self.account(), card).await;
            known.closed.extend(closed.map_err(|error| self.unread(error))?.map(|it| (card, it)));
            let by_key = self.original_by_key(&step.key).await?;
            let original = match (&step.step.action, by_key) {
                (Action::Renew { option, .. }, None) => {
                    let click = key::click(card, option).map_err(|error| self.failed(error))?;
                    self.original_by_key(&click).await?
                }
                (_, original) => original,
            };
            known.originals.extend(original.map(|original| (index, original)));
        }
        Ok(known)
    }

    /// The steps of a job that ran before.
    async fn originals(&self, job: &CaseJob) -> Result<BTreeMap<usize, Original>, CaseError> {
        let mut originals = BTreeMap::new();
        for (index, step) in job.steps.iter().enumerate() {
            let mut original = self.original_by_key(&step.key).await?;
            if let (None, Some(key)) =
                (&original, step.act_key.as_ref().filter(|key| **key != step.key))
            {
                original = self.original_by_key(key).await?;
            }
            originals.extend(original.map(|original| (index, original)));
        }
        Ok(originals)
    }

    async fn original_by_key(
        &self,
        key: &turnframe_ledger::KeyName,
    ) -> Result<Option<Original>, CaseError> {
        let found = find_entry(self.shared.ledger.as_ref(), self.account(), key).await;
        match found.map_err(|error| self.unread(error))? {
            Some(entry) if entry.stream == self.stream() => {
                execute::original(&entry).map(Some).map_err(|error| self.failed(error))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Reports a job: the case at the revision the job committed, with its cards as they are now.
    async fn report(
        &self,
        outcomes: Vec<ActOutcome>,
        recorded: Vec<Option<Version>>,
        state: &CaseState,
    ) -> Result<CaseReport, CaseError> {
        let committed = outcomes.iter().filter_map(ActOutcome::revision);
        // Where it ran before and the case has moved on since, this shows what it came to then.
        let case = self.open_at(committed.max().unwrap_or(state.fold.revision), state).await?;
        Ok(CaseReport { outcomes, recorded, case })
    }

    async fn open_at(
        &self,
        revision: CaseRevision,
        state: &CaseState,
    ) -> Result<OpenCase, CaseError> {
        let now = &state.fold;
        if revision >= now.revision {
            return Ok(open(now));
        }
        let cards = open(now).cards;
        if let Some(before) = state.before.iter().find(|before| before.revision == revision) {
            return Ok(OpenCase { cards, ..before.clone() });
        }
        let mut fold = CaseFold::new(self.workflow.as_ref());
        'pages: loop {
            let (ledger, stream) = (&self.shared.ledger, self.stream());
            let page = ledger.read_stream(self.account(), &stream, fold.version, PAGE_MAX).await;
            let page = page.map_err(|error| self.unread(error.into()))?;
            for entry in &page {
                if entry.kind == EntryKind::CaseEvent {
                    let event = entry.body.open::<CaseEvent>().map_err(|e| self.failed(e))?;
                    if event.revision > revision {
                        break 'pages;
                    }
                }
                let applied = fold.apply(self.workflow.as_ref(), entry);
                fold = applied.map_err(|error| self.failed(error))?;
            }
            if page.len() < PAGE_MAX {
                break;
            }
        }
        Ok(OpenCase { cards, ..open(&fold) })
    }

    async fn reload(&self, state: &mut CaseState) -> Result<(), CaseError> {
        let loaded = self.shared.load_case(self.account(), &self.key.1, self.workflow.as_ref());
        let (fold, saved_at) = loaded.await.map_err(|error| self.away_or_failed(error))?;
        (state.fold, state.saved_at) = (fold, saved_at);
        Ok(())
    }

    async fn make_sure(&self, state: &mut CaseState) -> Result<(), CaseError> {
        if state.is_in_doubt { self.reload(state).await } else { Ok(()) }
    }

    async fn open(&self, state: &mut CaseState) -> Result<OpenCase, CaseError> {
        self.make_sure(state).await?;
        Ok(open(&state.fold))
    }

    async fn open_then(
        &self,
        revision: CaseRevision,
        state: &mut CaseState,
    ) -> Result<OpenCase, CaseError> {
        self.make_sure(state).await?;
        while state.before.front().is_some_and(|before| before.revision < revision) {
            state.before.pop_front();
        }
        self.open_at(revision, state).await
    }

    fn nudge(&self, outcomes: &[ActOutcome], job: &CaseJob) {
        let requests = |outcome: &ActOutcome| matches!(outcome, ActOutcome::Applied { effects, .. } if !effects.is_empty());
        if outcomes.iter().any(requests) {
            self.shared.nudges.effects.send_replace(());
        }
        if job.turn.is_none() {
            self.shared.nudges.facts.send_replace(());
        }
    }

    async fn rest(&self, myself: &ActorRef<CaseMessage>, state: &mut CaseState) {
        if !self.registry.retire(&self.key, self.generation) {
            return;
        }
        self.save(state, self.shared.limits.snapshot_entries_min).await;
        // What was accepted meanwhile is still handled; later messages go back to their senders.
        drop(myself.drain());
    }

    /// Keeps a snapshot where enough was folded since the last one.
    async fn save(&self, state: &mut CaseState, entries_min: u64) {
        let entries = state.fold.version.0.saturating_sub(state.saved_at.0);
        if entries >= entries_min
            && let Some(saved) = state.fold.save(self.workflow.as_ref())
        {
            let (version, workflow) = (state.fold.version, self.workflow.version());
            self.shared.save(self.account(), &self.stream(), version, workflow, &saved).await;
            state.saved_at = version;
        }
    }

    fn failed(&self, reason: impl std::fmt::Display) -> CaseError {
        CaseError { case: self.key.1.clone(), reason: reason.to_string(), is_transient: false }
    }

    fn away_or_failed(&self, error: impl Into<StartFailure>) -> CaseError {
        let StartFailure { reason, is_transient } = error.into();
        CaseError { case: self.key.1.clone(), reason, is_transient }
    }

    fn unread(&self, error: TurnError) -> CaseError {
        CaseError { is_transient: error.is_transient(), ..self.failed(error) }
    }
}

fn open(fold: &CaseFold) -> OpenCase {
    OpenCase {
        version: fold.version,
        revision: fold.revision,
        state: fold.state.clone(),
        cards: fold.cards.values().cloned().collect(),
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
