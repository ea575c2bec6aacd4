//! What the outbox and the relay share: an actor that looks for due marks at start, on a nudge and on a timer.
//!
//! Nudges may be lost; the marks are the truth. Work on a mark runs in a task of its own, one per mark at a
//! time, and tells the actor when it is over, also by panic.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinHandle};
use turnframe_core::id::AccountId;
use turnframe_core::source::Timestamp;
use turnframe_ledger::mark::MARK_PAGE_MAX;
use turnframe_ledger::{Mark, MarkKind, MarkQuery};

use crate::shared::{Root, Shared};

/// The shortest pause between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(5);

/// The pause before a sweeper that ended by panic is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(200);

/// Work on due marks.
#[async_trait]
pub(crate) trait Duty: Send + Sync + 'static {
    /// Which marks it looks for.
    fn kind(&self) -> MarkKind;

    /// What their keys start with.
    fn prefix(&self) -> String;

    /// How many are worked on at once.
    fn concurrency(&self) -> usize;

    /// What tells it that something may be due.
    fn nudges(&self, shared: &Shared) -> watch::Receiver<()>;

    /// Works on a mark; `is_first_look` is set in the sweep at start, where nothing is on its way yet.
    async fn work(&self, shared: &Shared, mark: &Mark, is_first_look: bool);
}

/// What a sweeper is told.
pub(crate) enum SweepMessage {
    /// Look for due marks.
    Look,
    /// Work on a mark is over.
    Over((AccountId, String)),
}

struct Sweeper<D> {
    duty: Arc<D>,
    shared: Arc<Shared>,
    at_work: Arc<Semaphore>,
    /// Whether nothing can be under way yet: only in the first incarnation.
    is_first_look: bool,
}

struct SweepState {
    working: HashSet<(AccountId, String)>,
    is_first_look: bool,
    /// A look found more than there was room for.
    has_more: bool,
    timer: Option<AbortHandle>,
    nudged: AbortHandle,
}

impl Drop for SweepState {
    fn drop(&mut self) {
        self.nudged.abort();
        self.timer.iter().for_each(AbortHandle::abort);
    }
}

/// A running sweeper.
pub(crate) struct Sweeping {
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
    at_work: Arc<Semaphore>,
    concurrency: u32,
}

impl Sweeping {
    /// Takes up no more work, and waits for what is under way.
    pub(crate) async fn stop(self, patience: Duration) {
        self.stop.send_replace(true);
        drop(self.ended.await);
        let idle = self.at_work.acquire_many(self.concurrency);
        if tokio::time::timeout(patience, idle).await.is_err() {
            tracing::warn!("work was left unfinished; the next start takes it up");
        }
    }
}

/// Starts a sweeper, and starts it again should it end by panic.
pub(crate) fn start<D: Duty>(duty: D, shared: Arc<Shared>, root: &Root) -> Sweeping {
    let concurrency = u32::try_from(duty.concurrency()).unwrap_or(u32::MAX);
    let at_work = Arc::new(Semaphore::new(duty.concurrency()));
    let (stop, mut stopped) = watch::channel(false);
    let (duty, root, permits) = (Arc::new(duty), root.clone(), at_work.clone());
    let ended = tokio::spawn(async move {
        let mut is_first_look = true;
        loop {
            let sweeper = Sweeper {
                duty: duty.clone(),
                shared: shared.clone(),
                at_work: permits.clone(),
                is_first_look,
            };
            let spawned = Actor::spawn_linked(None, sweeper, (), root.get_cell()).await;
            let Ok((actor, mut ended)) = spawned else { return };
            is_first_look = false;
            tokio::select! {
                () = async { drop(stopped.wait_for(|stop| *stop).await) } => {
                    drop(actor.drain_and_wait(None).await);
                    return;
                }
                _ = &mut ended => tracing::error!(kind = duty.kind().as_str(), "a sweeper ended"),
            }
            tokio::time::sleep(RESTART_PAUSE).await;
        }
    });
    Sweeping { stop, ended, at_work, concurrency }
}

impl<D: Duty> Actor for Sweeper<D> {
    type Msg = SweepMessage;
    type State = SweepState;
    type Arguments = ();

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Self::State, ActorProcessingErr> {
        let mut nudges = self.duty.nudges(&self.shared);
        let to_nudge = myself.clone();
        let nudged = tokio::spawn(async move {
            while nudges.changed().await.is_ok() {
                if to_nudge.send_message(SweepMessage::Look).is_err() {
                    return;
                }
            }
        });
        myself.send_message(SweepMessage::Look)?;
        Ok(SweepState {
            working: HashSet::new(),
            is_first_look: self.is_first_look,
            has_more: false,
            timer: None,
            nudged: nudged.abort_handle(),
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            SweepMessage::Look => self.look(&myself, state).await,
            SweepMessage::Over(key) => {
                state.working.remove(&key);
                if state.has_more || state.working.is_empty() {
                    self.look(&myself, state).await;
                }
            }
        }
        Ok(())
    }
}

impl<D: Duty> Sweeper<D> {
    async fn look(&self, myself: &ActorRef<SweepMessage>, state: &mut SweepState) {
        let now = self.shared.ids().now();
        let is_first_look = state.is_first_look;
        let mut next_due: Option<Timestamp> = None;
        state.has_more = false;
        let mut query = MarkQuery::of(self.duty.kind());
        query.prefix = self.duty.prefix();
        loop {
            let page = match self.shared.ledger.marks(query.clone()).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, kind = self.duty.kind().as_str(), "marks could not be read");
                    return self.look_again(myself, state, self.shared.limits.sweep);
                }
            };
            let is_last = page.len() < MARK_PAGE_MAX;
            query.after = page.last().map(|last| (last.account.clone(), last.key.clone()));
            for mark in page {
                let key = (mark.account.clone(), mark.key.clone());
                if state.working.contains(&key) {
                    continue;
                }
                if mark.due > now && !is_first_look {
                    next_due = Some(next_due.map_or(mark.due, |due| due.min(mark.due)));
                } else if state.working.len() >= self.duty.concurrency() {
                    state.has_more = true;
                } else {
                    state.working.insert(key.clone());
                    self.begin(myself.clone(), key, mark, is_first_look);
                }
            }
            if is_last || state.has_more {
                break;
            }
        }
        state.is_first_look = state.is_first_look && state.has_more;
        let until = |due: Timestamp| {
            let micros = due.as_micros().saturating_sub(now.as_micros());
            Duration::from_micros(u64::try_from(micros).unwrap_or_default())
        };
        let sweep = self.shared.limits.sweep;
        let pause = next_due.map_or(sweep, |due| until(due).clamp(PAUSE_MIN, sweep));
        self.look_again(myself, state, pause);
    }

    fn begin(
        &self,
        myself: ActorRef<SweepMessage>,
        key: (AccountId, String),
        mark: Mark,
        is_first_look: bool,
    ) {
        let (duty, shared) = (self.duty.clone(), self.shared.clone());
        let over = OverWhenDropped(Some(key), myself);
        let at_work = self.at_work.clone();
        tokio::spawn(async move {
            let _over = over;
            // As many permits as marks that are worked on: there is one, unless the sweeper was restarted.
            let Ok(_at_work) = at_work.acquire().await else { return };
            duty.work(&shared, &mark, is_first_look).await;
        });
    }

    fn look_again(&self, myself: &ActorRef<SweepMessage>, state: &mut SweepState, pause: Duration) {
        state.timer.take().iter().for_each(AbortHandle::abort);
        let timer = myself.send_after(pause, || SweepMessage::Look);
        state.timer = Some(timer.abort_handle());
    }
}

/// Tells the sweeper that work is over, also when it panicked.
struct OverWhenDropped(Option<(AccountId, String)>, ActorRef<SweepMessage>);

impl Drop for OverWhenDropped {
    fn drop(&mut self) {
        if let Some(key) = self.0.take() {
            // The sweeper is gone when the process shuts down.
            drop(self.1.send_message(SweepMessage::Over(key)));
        }
    }
}
