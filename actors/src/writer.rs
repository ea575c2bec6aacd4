//! The ledger writer: group commit for the whole process.
//!
//! It takes what is waiting, up to a bound in appends and bytes, and commits it in one batch; the next batch
//! gathers while this one commits, so it adds no delay of its own. The bound on what waits rides in each
//! request as a permit. Killed in mid-batch, the ledger has all of it or nothing; whoever asked and got no
//! answer re-reads. It decides nothing: admission is the ledger's.

use std::collections::VecDeque;
use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};
use turnframe_ledger::{Append, AppendError, Appended, EventLedger};

use crate::fresh::{self, Fresh};
use crate::limits::Limits;

type Answer = Result<Appended, AppendError>;

struct Waiting {
    append: Append,
    answer: oneshot::Sender<Answer>,
    _permit: OwnedSemaphorePermit,
}

/// What the writer is told.
pub(crate) enum WriterMessage {
    /// Commit this with what else is waiting.
    Append(Box<WaitingAppend>),
    /// The batch before is committed, or has failed.
    Idle,
}

pub(crate) struct WaitingAppend(Waiting);

/// The way to the writer.
#[derive(Clone)]
pub(crate) struct LedgerWriter {
    actor: ActorRef<WriterMessage>,
    permits: Arc<Semaphore>,
    permits_max: u32,
    fresh: Arc<Fresh>,
}

impl LedgerWriter {
    /// Starts the writer of a process.
    ///
    /// # Errors
    /// When the actor cannot be spawned.
    pub(crate) async fn start(
        ledger: Arc<dyn EventLedger>,
        limits: &Limits,
        commits: watch::Sender<()>,
    ) -> Result<Self, ractor::SpawnErr> {
        let shell = WriterActor {
            ledger,
            batch_max_appends: limits.batch_max_appends,
            batch_max_bytes: limits.batch_max_bytes,
            commits,
        };
        let (actor, _) = Actor::spawn(None, shell, ()).await?;
        let permits_max = u32::try_from(limits.appends_waiting_max).unwrap_or(u32::MAX);
        let permits = Arc::new(Semaphore::new(limits.appends_waiting_max));
        let fresh = Arc::new(Fresh::new(limits.fresh_max_bytes));
        Ok(Self { actor, permits, permits_max, fresh })
    }

    /// Commits an append together with whatever else is waiting. Waits for a place in the queue.
    ///
    /// # Errors
    /// [`AppendError`]; a writer that is gone without an answer is [`AppendError::OutcomeUnknown`].
    pub(crate) async fn append(&self, append: Append) -> Answer {
        append.check()?;
        let away = |_| AppendError::Unavailable { reason: "the writer has stopped".to_owned() };
        let permit = self.permits.clone().acquire_owned().await.map_err(away)?;
        let (answer, answered) = oneshot::channel();
        let (account, carried) = (append.account.clone(), fresh::carried(&append));
        let waiting = WaitingAppend(Waiting { append, answer, _permit: permit });
        let sent = self.actor.send_message(WriterMessage::Append(Box::new(waiting)));
        sent.map_err(|_| AppendError::Unavailable { reason: "the writer has stopped".to_owned() })?;
        let answer = answered.await.unwrap_or_else(|_| {
            Err(AppendError::OutcomeUnknown { reason: "the writer gave no answer".to_owned() })
        });
        match &answer {
            Ok(appended) => self.fresh.note(&account, carried, appended),
            // The ledger knows more of it than this process.
            Err(AppendError::Conflict { stream, .. }) => self.fresh.forget(&account, stream),
            Err(_) => {}
        }
        answer
    }

    /// What was committed last that is to be carried on.
    pub(crate) fn fresh(&self) -> &Fresh {
        &self.fresh
    }

    /// Commits what is waiting and stops.
    pub(crate) async fn stop(&self) {
        // Nobody can be admitted any more once all permits are held: what waited has been answered.
        let _held = self.permits.acquire_many(self.permits_max).await;
        if let Err(error) = self.actor.drain_and_wait(None).await {
            tracing::warn!(%error, "the writer did not stop cleanly");
        }
    }
}

struct WriterActor {
    ledger: Arc<dyn EventLedger>,
    batch_max_appends: usize,
    batch_max_bytes: usize,
    /// Told after every batch.
    commits: watch::Sender<()>,
}

struct WriterState {
    waiting: VecDeque<Waiting>,
    is_committing: bool,
}

impl Actor for WriterActor {
    type Msg = WriterMessage;
    type State = WriterState;
    type Arguments = ();

    async fn pre_start(
        &self,
        _myself: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(WriterState { waiting: VecDeque::new(), is_committing: false })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WriterMessage::Append(waiting) => state.waiting.push_back(waiting.0),
            WriterMessage::Idle => state.is_committing = false,
        }
        self.commit_next(&myself, state);
        Ok(())
    }
}

impl WriterActor {
    fn commit_next(&self, myself: &ActorRef<WriterMessage>, state: &mut WriterState) {
        if state.is_committing || state.waiting.is_empty() {
            return;
        }
        state.is_committing = true;
        let batch = self.take_batch(&mut state.waiting);
        let (ledger, commits) = (self.ledger.clone(), self.commits.clone());
        let idle = IdleWhenDropped(myself.clone());
        tokio::spawn(async move {
            let _idle = idle;
            let (appends, answers): (Vec<_>, Vec<_>) = batch
                .into_iter()
                .map(|waiting| (waiting.append, (waiting.answer, waiting._permit)))
                .unzip();
            let results = ledger.append(appends).await;
            commits.send_replace(());
            for ((answer, _permit), result) in answers.into_iter().zip(results) {
                // Whoever asked may be gone; the ledger holds what was committed.
                let _ = answer.send(result);
            }
        });
    }

    fn take_batch(&self, waiting: &mut VecDeque<Waiting>) -> Vec<Waiting> {
        let mut batch = Vec::with_capacity(waiting.len().min(self.batch_max_appends));
        let mut bytes = 0;
        while let Some(next) = waiting.front() {
            let size = next.append.bytes();
            let is_full =
                batch.len() >= self.batch_max_appends || bytes + size > self.batch_max_bytes;
            if is_full && !batch.is_empty() {
                break;
            }
            bytes += size;
            batch.extend(waiting.pop_front());
        }
        batch
    }
}

/// Tells the writer to go on, also when the ledger panicked under a batch: its askers get no answer and
/// re-read.
struct IdleWhenDropped(ActorRef<WriterMessage>);

impl Drop for IdleWhenDropped {
    fn drop(&mut self) {
        // The writer is gone when the process shuts down.
        let _ = self.0.send_message(WriterMessage::Idle);
    }
}
