//! Follows the partitions that are served, and shows a domain actor what commands of its workflow came to.
//!
//! **Guarantees:** each partition is read from the cursor that was kept last, so that everything is shown at least once,
//! also what was committed while nobody followed. A cursor is kept once everything up to it is carried out or set
//! aside. The events of a case are shown in their order; those of different cases beside each other. What fails a few
//! times is set aside with a timer, so that it holds nothing up. **Never:** a decision, or a cursor ahead of its work.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, TryStreamExt};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use turnframe_core::id::CaseRef;
use turnframe_ledger::{Entry, EntryKind, PartitionId, PartitionSet, Position, StreamName};
use turnframe_runtime::applied::{Applied, AppliedError, CommandRef};

use super::{Domain, Done, Failure};
use crate::shared::Root;
use crate::sweeper::{self, AtWork, Busy, Looking, Ready, Sweeping};

/// How many entries are read at once.
const PAGE: usize = 256;
/// How many partitions are read at once.
const PARTITIONS_AT_ONCE_MAX: usize = 8;
/// How many cases of a page are seen to at once.
const CASES_AT_ONCE_MAX: usize = 64;
/// How far a cursor may lag, in entries. In time, it is the interval at which everything is looked at.
const LAG_MAX: u64 = 1_024;

pub(super) fn start(domain: Arc<Domain>, root: &Root) -> Sweeping {
    let reading = Arc::new(Semaphore::new(PARTITIONS_AT_ONCE_MAX));
    let shared = domain.shared.clone();
    sweeper::keep(root, shared, |busy, ready| Follower { domain, reading, busy, ready })
}

#[derive(Clone)]
struct Follower {
    domain: Arc<Domain>,
    reading: Arc<Semaphore>,
    busy: Arc<Busy>,
    ready: Arc<Ready>,
}

/// How far a partition is.
#[derive(Clone, Copy)]
struct Progress {
    /// Everything up to here is seen to.
    read: Position,
    /// The cursor that was kept last.
    kept: Position,
    kept_at: Option<Instant>,
}

/// What a follower is told.
enum FollowMessage {
    /// Look at every partition.
    LookAtAll,
    /// Something was committed: look at the partitions whose hints say where.
    Look,
    /// A partition was read; how far, unless that failed.
    Over(PartitionId, Option<Progress>),
}

struct FollowState {
    progress: HashMap<PartitionId, Progress>,
    working: PartitionSet,
    timer: Option<AbortHandle>,
    nudged: AbortHandle,
}

impl Drop for FollowState {
    fn drop(&mut self) {
        self.nudged.abort();
        self.timer.iter().for_each(AbortHandle::abort);
    }
}

#[async_trait]
impl Looking for Follower {
    fn look() -> FollowMessage {
        FollowMessage::LookAtAll
    }

    fn about(&self) -> String {
        format!("domain actor {}", self.domain.key)
    }

    /// The cursor says where the owner before was.
    async fn take_over(&self, _partitions: PartitionSet) {}
}

impl Actor for Follower {
    type Msg = FollowMessage;
    type State = FollowState;
    type Arguments = ();

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        (): (),
    ) -> Result<Self::State, ActorProcessingErr> {
        let pause = self.domain.shared.limits.follow_pause;
        let mut commits = self.domain.shared.nudges.commits.subscribe();
        let to_nudge = myself.clone();
        let nudged = tokio::spawn(async move {
            while commits.changed().await.is_ok() {
                if to_nudge.send_message(FollowMessage::Look).is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
        myself.send_message(FollowMessage::LookAtAll)?;
        Ok(FollowState {
            progress: HashMap::new(),
            working: PartitionSet::NONE,
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
            FollowMessage::LookAtAll => self.look_at_all(&myself, state),
            FollowMessage::Look => self.look(&myself, state),
            FollowMessage::Over(partition, progress) => {
                state.working.remove(partition);
                state.progress.extend(progress.map(|progress| (partition, progress)));
            }
        }
        Ok(())
    }
}

impl Follower {
    fn served(&self) -> PartitionSet {
        self.domain.shared.served.partitions().intersection(self.ready.partitions())
    }

    /// Hints may be lost; the ledger is the truth.
    fn look_at_all(&self, myself: &ActorRef<FollowMessage>, state: &mut FollowState) {
        let served = self.served();
        // Whoever had it meanwhile is further on.
        state.progress.retain(|partition, _| served.contains(*partition));
        for partition in served.without(state.working).iter() {
            self.begin(myself, state, partition);
        }
        state.timer.take().iter().for_each(AbortHandle::abort);
        let sweep = self.domain.shared.limits.sweep;
        let timer = myself.send_after(sweep, || FollowMessage::LookAtAll);
        state.timer = Some(timer.abort_handle());
    }

    fn look(&self, myself: &ActorRef<FollowMessage>, state: &mut FollowState) {
        for partition in self.served().without(state.working).iter() {
            let hint = *self.domain.shared.ledger.hints(partition).borrow();
            if state.progress.get(&partition).is_none_or(|known| hint > known.read) {
                self.begin(myself, state, partition);
            }
        }
    }

    fn begin(
        &self,
        myself: &ActorRef<FollowMessage>,
        state: &mut FollowState,
        partition: PartitionId,
    ) {
        state.working.insert(partition);
        let known = state.progress.get(&partition).copied();
        let over = OverWhenDropped { partition, progress: None, myself: myself.clone() };
        let (this, busy) = (self.clone(), AtWork::begin(&self.busy, partition));
        tokio::spawn(async move {
            let (mut over, _busy) = (over, busy);
            let Ok(_reading) = this.reading.acquire().await else { return };
            match this.follow(partition, known).await {
                Ok(progress) => over.progress = Some(progress),
                Err(error) => {
                    let (actor, partition) = (&this.domain.key, partition.number());
                    tracing::warn!(%actor, partition, %error, "a domain actor has to wait");
                }
            }
        });
    }

    /// Reads a partition to its end, and keeps the cursor.
    async fn follow(
        &self,
        partition: PartitionId,
        known: Option<Progress>,
    ) -> Result<Progress, Failure> {
        let shared = &self.domain.shared;
        let mut progress = match known {
            Some(known) => known,
            None => {
                let kept = shared.ledger.cursor(&self.domain.key, partition).await?;
                Progress { read: kept, kept, kept_at: None }
            }
        };
        while self.served().contains(partition) {
            let page = shared.ledger.read_partition(partition, progress.read, PAGE, None).await?;
            self.see_to(&page).await?;
            progress.read = page.last().map_or(progress.read, |last| last.position);
            let is_last = page.len() < PAGE;
            self.keep(partition, &mut progress, is_last).await?;
            if is_last {
                break;
            }
        }
        Ok(progress)
    }

    /// Keeps the cursor where it lags too far; at the end of what there is, where it has lagged for too long.
    async fn keep(
        &self,
        partition: PartitionId,
        progress: &mut Progress,
        is_last: bool,
    ) -> Result<(), Failure> {
        let (shared, lag) = (&self.domain.shared, progress.read.0 - progress.kept.0);
        let is_old = |kept_at: Instant| kept_at.elapsed() >= shared.limits.sweep;
        let is_late = is_last && progress.kept_at.is_none_or(is_old);
        if lag >= LAG_MAX || (lag > 0 && is_late) {
            shared.ledger.keep_cursor(&self.domain.key, partition, progress.read).await?;
            (progress.kept, progress.kept_at) = (progress.read, Some(Instant::now()));
        }
        Ok(())
    }

    /// Sees to what the commands of a page came to.
    async fn see_to(&self, page: &[Entry]) -> Done {
        let workflow = self.domain.actor.follows();
        let mut of_cases: HashMap<&CaseRef, Vec<usize>> = HashMap::new();
        for (index, entry) in page.iter().enumerate() {
            if let StreamName::Case(case) = &entry.stream
                && case.workflow == workflow
                && entry.kind == EntryKind::CaseCommand
            {
                of_cases.entry(case).or_default().push(index);
            }
        }
        let in_order = |commands: Vec<usize>| async move {
            for index in commands {
                self.show(&page[index], &page[index + 1..]).await?;
            }
            Ok(())
        };
        let cases = stream::iter(of_cases.into_values().map(Ok));
        cases.try_for_each_concurrent(CASES_AT_ONCE_MAX, in_order).await
    }

    /// Shows the actor a command a few times, and then sets it aside.
    async fn show(&self, entry: &Entry, following: &[Entry]) -> Done {
        let (domain, limits) = (&self.domain, &self.domain.shared.limits);
        let Some(command) = CommandRef::of(entry) else { return Ok(()) };
        for attempt in 1..=limits.reaction_attempts_max {
            let shown = async {
                match self.read(&command, entry, following).await? {
                    Some(applied) => domain.react(&applied).await,
                    None => Ok(()),
                }
            };
            let Err(error) = shown.await else { return Ok(()) };
            tracing::error!(
                counter.turnframe.domain.failed = 1,
                actor = %domain.key,
                case = %command.case,
                command = %command.id,
                attempt,
                %error,
                "a domain actor failed on a command"
            );
            tokio::time::sleep(limits.reaction_backoff * attempt).await;
        }
        domain.set_aside(&command).await
    }

    /// What a command came to, where it was applied. The last of its events may be on the next page.
    async fn read(
        &self,
        command: &CommandRef,
        entry: &Entry,
        following: &[Entry],
    ) -> Result<Option<Applied>, Failure> {
        let of_case = following.iter().filter(|other| other.stream == entry.stream);
        match Applied::read(entry, of_case) {
            Err(AppliedError::CutOff) => {
                let CommandRef { account, case, version, .. } = command;
                self.domain.applied(account, case, *version).await.map(Some)
            }
            read => Ok(read?),
        }
    }
}

/// Tells the follower that a partition was read, also when that panicked.
struct OverWhenDropped {
    partition: PartitionId,
    progress: Option<Progress>,
    myself: ActorRef<FollowMessage>,
}

impl Drop for OverWhenDropped {
    fn drop(&mut self) {
        // The follower is gone when the process shuts down.
        drop(self.myself.send_message(FollowMessage::Over(self.partition, self.progress)));
    }
}
