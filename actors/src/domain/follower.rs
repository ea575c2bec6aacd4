//! Follows the partitions that are served, and shows a domain actor what commands of its workflow came to.
//!
//! **Guarantees:** each partition is read from the cursor that was kept last, so that everything is shown at least once,
//! also what was committed while nobody followed. A cursor is kept once everything up to it is carried out or set
//! aside. The events of a case are shown in their order; those of different cases beside each other. What fails a few
//! times is set aside with a timer, and an entry that cannot be read is passed over with an alarm, so that neither holds
//! anything up. Partitions are read in turns, a page each. **Never:** a decision, or a cursor ahead of its work.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, TryStreamExt};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use turnframe_core::id::{AccountId, CaseRef};
use turnframe_ledger::{Entry, PartitionId, PartitionSet, Position, ReadError};
use turnframe_runtime::applied::{Applied, AppliedError, CommandRef};

use super::{Domain, Done, Failure};
use crate::shared::{Root, Shared};
use crate::sweeper::{self, AtWork, Busy, Looking, Ready, Sweeping, pass_on};

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
    /// A partition was read: how far, and whether that failed.
    Over(PartitionId, Option<Progress>, bool),
}

struct FollowState {
    progress: HashMap<PartitionId, Progress>,
    working: PartitionSet,
    /// Those that could not be read to their end, until everything is looked at.
    resting: PartitionSet,
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
        let Shared { limits, nudges, .. } = self.domain.shared.as_ref();
        let commits = nudges.commits.subscribe();
        let nudged = pass_on(commits, limits.follow_pause, myself.clone(), || FollowMessage::Look);
        myself.send_message(FollowMessage::LookAtAll)?;
        Ok(FollowState {
            progress: HashMap::new(),
            working: PartitionSet::NONE,
            resting: PartitionSet::NONE,
            timer: None,
            nudged,
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
            FollowMessage::Over(partition, progress, failed) => {
                state.working.remove(partition);
                state.progress.extend(progress.map(|progress| (partition, progress)));
                if failed {
                    state.resting.insert(partition);
                } else if self.is_behind(partition, state) {
                    // It was told of what came meanwhile while it could not look.
                    let pause = self.domain.shared.limits.follow_pause;
                    drop(myself.send_after(pause, || FollowMessage::Look));
                }
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
        state.resting = PartitionSet::NONE;
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
        let idle = self.served().without(state.working).without(state.resting);
        for partition in idle.iter() {
            if self.is_behind(partition, state) {
                self.begin(myself, state, partition);
            }
        }
    }

    /// Whether a partition has more than was seen to, as far as hints tell.
    fn is_behind(&self, partition: PartitionId, state: &FollowState) -> bool {
        let hint = *self.domain.shared.ledger.hints(partition).borrow();
        state.progress.get(&partition).is_none_or(|known| hint > known.read)
    }

    fn begin(
        &self,
        myself: &ActorRef<FollowMessage>,
        state: &mut FollowState,
        partition: PartitionId,
    ) {
        state.working.insert(partition);
        let known = state.progress.get(&partition).copied();
        let over = OverWhenDropped { partition, known, failed: true, myself: myself.clone() };
        let this = self.clone();
        tokio::spawn(async move {
            let mut over = over;
            match this.follow(partition, &mut over.known).await {
                Ok(()) => over.failed = false,
                Err(error) => {
                    let (actor, partition) = (&this.domain.key, partition.number());
                    tracing::warn!(%actor, partition, %error, "a domain actor has to wait");
                }
            }
        });
    }

    /// Reads a partition to its end, page by page and in turns with the others, and keeps the cursor.
    async fn follow(&self, partition: PartitionId, known: &mut Option<Progress>) -> Done {
        let shared = &self.domain.shared;
        let mut limit = PAGE;
        loop {
            let Ok(_reading) = self.reading.acquire().await else { return Ok(()) };
            let _busy = AtWork::begin(&self.busy, partition);
            if !self.served().contains(partition) {
                return Ok(());
            }
            let mut progress = match *known {
                Some(known) => known,
                None => {
                    let kept = shared.ledger.cursor(&self.domain.key, partition).await?;
                    Progress { read: kept, kept, kept_at: None }
                }
            };
            let read = shared.ledger.read_partition(partition, progress.read, limit, None).await;
            let page = match read {
                Ok(page) => page,
                // Entry by entry up to the one that cannot be read, and past it: it stops its own stream and no other.
                Err(ReadError::Corrupt { .. }) if limit > 1 => {
                    limit = 1;
                    continue;
                }
                Err(error @ ReadError::Corrupt { .. }) => {
                    self.pass_over(partition, &mut progress, &error);
                    (*known, limit) = (Some(progress), PAGE);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            self.see_to(partition, &page).await?;
            progress.read = page.last().map_or(progress.read, |last| last.position);
            let is_last = page.len() < limit;
            limit = PAGE;
            *known = Some(progress);
            self.keep(partition, &mut progress, is_last).await?;
            *known = Some(progress);
            if is_last {
                return Ok(());
            }
        }
    }

    fn pass_over(&self, partition: PartitionId, progress: &mut Progress, error: &ReadError) {
        progress.read = progress.read.plus(1);
        tracing::error!(
            counter.turnframe.domain.failed = 1,
            actor = %self.domain.key,
            partition = partition.number(),
            position = progress.read.0,
            %error,
            "an entry cannot be read, and is not shown to a domain actor"
        );
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

    /// Sees to what the commands of a page came to, as long as the partition is served.
    async fn see_to(&self, partition: PartitionId, page: &[Entry]) -> Done {
        let workflow = self.domain.actor.follows();
        let mut of_cases: BTreeMap<(AccountId, CaseRef), Vec<(usize, CommandRef)>> =
            BTreeMap::new();
        for (index, entry) in page.iter().enumerate() {
            let command = CommandRef::of(entry).filter(|it| it.case.workflow == workflow);
            let Some(command) = command else { continue };
            let case = (command.account.clone(), command.case.clone());
            of_cases.entry(case).or_default().push((index, command));
        }
        let in_order = |commands: Vec<(usize, CommandRef)>| async move {
            for (index, command) in commands {
                if !self.served().contains(partition) {
                    return Err("the partition is not served any more".into());
                }
                self.show(&command, &page[index], &page[index + 1..]).await?;
            }
            Ok(())
        };
        let cases = stream::iter(of_cases.into_values().map(Ok));
        cases.try_for_each_concurrent(CASES_AT_ONCE_MAX, in_order).await
    }

    /// Shows the actor a command a few times, and then sets it aside.
    async fn show(&self, command: &CommandRef, entry: &Entry, following: &[Entry]) -> Done {
        let (domain, limits) = (&self.domain, &self.domain.shared.limits);
        for attempt in 1..=limits.reaction_attempts_max {
            let began = Instant::now();
            let shown = async {
                match self.read(command, entry, following).await? {
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
            // What took so long once is not waited for again by those behind it.
            if began.elapsed() >= limits.reaction {
                break;
            }
            tokio::time::sleep(limits.reaction_backoff * attempt).await;
        }
        domain.set_aside(command).await
    }

    /// What a command came to, where it was applied. The last of its events may be on the next page.
    async fn read(
        &self,
        command: &CommandRef,
        entry: &Entry,
        following: &[Entry],
    ) -> Result<Option<Applied>, Failure> {
        let is_its =
            |other: &&Entry| other.stream == entry.stream && other.account == entry.account;
        let of_case = following.iter().filter(is_its);
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
    known: Option<Progress>,
    failed: bool,
    myself: ActorRef<FollowMessage>,
}

impl Drop for OverWhenDropped {
    fn drop(&mut self) {
        // The follower is gone when the process shuts down.
        let over = FollowMessage::Over(self.partition, self.known, self.failed);
        drop(self.myself.send_message(over));
    }
}
