//! What the outbox and the relay share: an actor that looks for due marks on a nudge and on a timer.
//!
//! Nudges may be lost; the marks are the truth. Work on a stream runs in a task of its own, one at a time and in the
//! order of its marks, and tells the actor when it is over, also by panic. Work that leaves its mark standing rests
//! for a while that doubles, so that one mark that cannot be worked on neither spins nor keeps the others waiting.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, StreamExt};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::{Mutex, Semaphore, mpsc, watch};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::Instant;
use turnframe_core::id::AccountId;
use turnframe_core::source::Timestamp;
use turnframe_ledger::mark::MARK_PAGE_MAX;
use turnframe_ledger::stream::PARTITIONS;
use turnframe_ledger::{
    Mark, MarkKind, MarkQuery, PartitionId, PartitionSet, ReadError, StreamName,
};

use crate::shared::{Root, Shared};

/// The shortest pause between two looks.
const PAUSE_MIN: Duration = Duration::from_millis(5);
/// How long a stream rests after work that left its mark standing; it doubles up to the sweep.
const REST: Duration = Duration::from_millis(20);
/// How many times as long as it took to look the ledger is left alone then, unless there is more than was begun. A look
/// costs what is due: where much is, the looks would else take the time that working on it needs.
const QUIET: u32 = 9;
/// The pause before a sweeper that ended by panic is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(200);

/// How often one who waits for work under way looks whether it is over.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

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

    /// What of a stream's marks is worked on one at a time and in order, and rests together: all of them, where every
    /// mark has the same unit.
    fn unit(&self, mark: &Mark) -> String {
        let _ = mark;
        String::new()
    }

    /// How long work that leaves its mark standing rests at most.
    fn rest_max(&self, shared: &Shared) -> Duration {
        shared.limits.sweep
    }

    /// Until when nothing is to be begun, however much is due.
    fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        let _ = now;
        None
    }

    /// Sees to what the process before left behind, due or not. Nothing is on its way yet.
    async fn take_over(&self, shared: &Shared, mark: &Mark);

    /// Works on a due mark. Says when the mark it leaves is due, where it moved it.
    async fn work(&self, shared: &Shared, mark: &Mark) -> Option<Timestamp>;
}

/// What is worked on one at a time: a stream, or a unit of it.
type StreamKey = (AccountId, StreamName, String);

/// What a sweeper is told.
pub(crate) enum SweepMessage {
    /// Look for due marks.
    Look,
    /// Work on a stream's mark of this key is over, and when it is due again, where that is known.
    Over(Box<StreamKey>, String, Option<Timestamp>),
}

/// How much is worked on in each partition.
#[derive(Debug)]
pub(crate) struct Busy([AtomicUsize; PARTITIONS as usize]);

impl Default for Busy {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicUsize::new(0)))
    }
}

impl Busy {
    fn is_any(&self, partitions: PartitionSet) -> bool {
        partitions.iter().any(|id| self.0[usize::from(id.number())].load(Ordering::Acquire) > 0)
    }
}

/// Work in a partition, until it is dropped.
pub(crate) struct AtWork(Arc<Busy>, PartitionId);

impl AtWork {
    pub(crate) fn begin(busy: &Arc<Busy>, partition: PartitionId) -> Self {
        busy.0[usize::from(partition.number())].fetch_add(1, Ordering::AcqRel);
        Self(busy.clone(), partition)
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.0[usize::from(self.1.number())].fetch_sub(1, Ordering::AcqRel);
    }
}

struct Sweeper<D> {
    duty: Arc<D>,
    shared: Arc<Shared>,
    at_work: Arc<Semaphore>,
    busy: Arc<Busy>,
    ready: Arc<Ready>,
}

/// The partitions in which what the owner before left behind was seen to: elsewhere nothing is begun yet.
#[derive(Debug)]
pub(crate) struct Ready(watch::Sender<PartitionSet>);

impl Ready {
    fn none() -> Self {
        Self(watch::Sender::new(PartitionSet::NONE))
    }

    pub(crate) fn partitions(&self) -> PartitionSet {
        *self.0.borrow()
    }

    fn add(&self, partitions: PartitionSet) {
        self.0.send_modify(|ready| *ready = ready.union(partitions));
    }

    fn remove(&self, partitions: PartitionSet) {
        self.0.send_modify(|ready| *ready = ready.without(partitions));
    }
}

impl<D> Clone for Sweeper<D> {
    fn clone(&self) -> Self {
        Self {
            duty: self.duty.clone(),
            shared: self.shared.clone(),
            at_work: self.at_work.clone(),
            busy: self.busy.clone(),
            ready: self.ready.clone(),
        }
    }
}

/// A stream whose work may have left its mark due. Where another one is due by now it has not, and nothing rests.
#[derive(Clone)]
struct Resting {
    key: String,
    times: u32,
    until: Timestamp,
}

struct SweepState {
    working: HashSet<StreamKey>,
    resting: HashMap<StreamKey, Resting>,
    dues: BinaryHeap<Reverse<Timestamp>>,
    /// A look found more than there was room for.
    has_more: bool,
    /// What the last look found beyond that, in order: it is begun as room comes, without another look.
    waiting: VecDeque<(StreamKey, Mark)>,
    /// Until when the ledger is not looked at again.
    quiet_until: Instant,
    timer: Option<AbortHandle>,
    nudged: AbortHandle,
}

impl SweepState {
    /// What a stream rests from, where it is the mark of this key.
    fn resting_from(&self, stream: &StreamKey, key: &str) -> Option<&Resting> {
        self.resting.get(stream).filter(|resting| resting.key == key)
    }
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
    taken: mpsc::UnboundedSender<PartitionSet>,
    ended: Mutex<JoinHandle<()>>,
    busy: Arc<Busy>,
    ready: Arc<Ready>,
}

impl Sweeping {
    /// Takes up no more work, and waits for what is under way.
    pub(crate) async fn stop(&self, patience: Duration) {
        self.stop.send_replace(true);
        self.ready.remove(PartitionSet::ALL);
        let idle = async {
            drop((&mut *self.ended.lock().await).await);
            self.finish(PartitionSet::ALL).await;
        };
        if tokio::time::timeout(patience, idle).await.is_err() {
            tracing::warn!("work was left unfinished; the next start takes it up");
        }
    }

    /// Waits for what is under way in these partitions. Where they are not served any more, nothing is begun.
    pub(crate) async fn finish(&self, partitions: PartitionSet) {
        while self.busy.is_any(partitions) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// These partitions are not this process's any more: should they come back, what was left behind comes first.
    pub(crate) fn end(&self, partitions: PartitionSet) {
        self.ready.remove(partitions);
    }

    /// Sees to what the owner before left behind in these partitions, and begins no work in them before. At most one
    /// of these waits for each change of ownership.
    pub(crate) fn take_up(&self, partitions: PartitionSet) {
        // A sweeper that has stopped takes nothing up.
        let _ = self.taken.send(partitions);
    }
}

/// An actor that looks for work in the partitions that are served.
#[async_trait]
pub(crate) trait Looking: Actor<State: Send, Arguments = ()> + Clone {
    /// What tells it to look.
    fn look() -> Self::Msg;

    /// What it looks for, for an operator.
    fn about(&self) -> String;

    /// Sees to what the owner before left behind in these partitions.
    async fn take_over(&self, partitions: PartitionSet);
}

/// Sees to what the process before left behind, then starts a sweeper.
pub(crate) fn start<D: Duty>(duty: D, shared: Arc<Shared>, root: &Root) -> Sweeping {
    let at_work = Arc::new(Semaphore::new(duty.concurrency()));
    let duty = Arc::new(duty);
    keep(root, shared.clone(), |busy, ready| Sweeper { duty, shared, at_work, busy, ready })
}

/// Keeps an actor going that looks for work, again should it end by panic. It begins nothing in a partition before what
/// was left behind there is seen to.
pub(crate) fn keep<L: Looking>(
    root: &Root,
    shared: Arc<Shared>,
    looking: impl FnOnce(Arc<Busy>, Arc<Ready>) -> L,
) -> Sweeping {
    let (stop, stopped) = watch::channel(false);
    let (taken, takings) = mpsc::unbounded_channel();
    let (busy, ready) = (Arc::new(Busy::default()), Arc::new(Ready::none()));
    let looking = looking(busy.clone(), ready.clone());
    let going = keep_going(looking, shared, ready.clone(), stopped, takings, root.clone());
    let ended = Mutex::new(tokio::spawn(going));
    Sweeping { stop, taken, ended, busy, ready }
}

async fn keep_going<L: Looking>(
    looking: L,
    shared: Arc<Shared>,
    ready: Arc<Ready>,
    mut stopped: watch::Receiver<bool>,
    mut takings: mpsc::UnboundedReceiver<PartitionSet>,
    root: Root,
) {
    see_to_what_was_left(&looking, &shared, &ready, shared.served.partitions()).await;
    loop {
        let spawned = Actor::spawn_linked(None, looking.clone(), (), root.get_cell()).await;
        let Ok((actor, mut ended)) = spawned else { return };
        loop {
            tokio::select! {
                () = async { drop(stopped.wait_for(|stop| *stop).await) } => {
                    drop(actor.drain_and_wait(None).await);
                    return;
                }
                Some(partitions) = takings.recv() => {
                    let (looking, ready, actor) = (looking.clone(), ready.clone(), actor.clone());
                    let shared = shared.clone();
                    tokio::spawn(async move {
                        see_to_what_was_left(&looking, &shared, &ready, partitions).await;
                        // It ends only with the system.
                        drop(actor.send_message(L::look()));
                    });
                }
                _ = &mut ended => {
                    tracing::error!(about = looking.about(), "what looks for work ended");
                    break;
                }
            }
        }
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Passes nudges on to an actor: the first at once, and those that come within a pause of it as one.
pub(crate) fn pass_on<M: ractor::Message>(
    mut nudges: watch::Receiver<()>,
    pause: Duration,
    to: ActorRef<M>,
    look: fn() -> M,
) -> AbortHandle {
    let passing = tokio::spawn(async move {
        while nudges.changed().await.is_ok() && to.send_message(look()).is_ok() {
            tokio::time::sleep(pause).await;
        }
    });
    passing.abort_handle()
}

/// Nothing is begun afterwards in a partition that was lost meanwhile: should it be back already, what was left behind
/// there is seen to anew first.
async fn see_to_what_was_left<L: Looking>(
    looking: &L,
    shared: &Shared,
    ready: &Ready,
    partitions: PartitionSet,
) {
    let ownership = shared.ledger.ownership();
    let before = *ownership.held().borrow();
    looking.take_over(partitions).await;
    let now = *ownership.held().borrow();
    ready.add(partitions.iter().filter(|id| now.agrees(&before, *id)).collect());
}

#[async_trait]
impl<D: Duty> Looking for Sweeper<D> {
    fn look() -> SweepMessage {
        SweepMessage::Look
    }

    fn about(&self) -> String {
        format!("{} {}", self.duty.kind().as_str(), self.duty.prefix())
    }

    async fn take_over(&self, partitions: PartitionSet) {
        take_over(self.duty.as_ref(), &self.shared, partitions).await;
    }
}

async fn take_over<D: Duty>(duty: &D, shared: &Shared, partitions: PartitionSet) {
    let mut query = query(duty, partitions, None);
    loop {
        match page(shared, &mut query).await {
            Ok((marks, is_last)) => {
                let take = |mark: Mark| async move { duty.take_over(shared, &mark).await };
                stream::iter(marks).for_each_concurrent(duty.concurrency(), take).await;
                if is_last {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, kind = duty.kind().as_str(), "marks could not be read");
                tokio::time::sleep(shared.limits.sweep).await;
            }
        }
    }
}

fn query<D: Duty>(duty: &D, partitions: PartitionSet, due_by: Option<Timestamp>) -> MarkQuery {
    MarkQuery { prefix: duty.prefix(), partitions, due_by, ..MarkQuery::of(duty.kind()) }
}

/// The next page of a query, and whether it is the last.
async fn page(shared: &Shared, query: &mut MarkQuery) -> Result<(Vec<Mark>, bool), ReadError> {
    let marks = shared.ledger.marks(query.clone()).await?;
    query.after = marks.last().map(|last| (last.account.clone(), last.key.clone()));
    let is_last = marks.len() < MARK_PAGE_MAX;
    Ok((marks, is_last))
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
        let nudges = self.duty.nudges(&self.shared);
        let nudged = pass_on(nudges, PAUSE_MIN, myself.clone(), || SweepMessage::Look);
        myself.send_message(SweepMessage::Look)?;
        Ok(SweepState {
            working: HashSet::new(),
            resting: HashMap::new(),
            dues: BinaryHeap::new(),
            has_more: false,
            waiting: VecDeque::new(),
            quiet_until: Instant::now(),
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
            SweepMessage::Look => self.look(&myself, state).await,
            SweepMessage::Over(stream, key, due) => {
                self.over(*stream, key, due, state);
                if state.has_more || state.working.is_empty() {
                    self.look(&myself, state).await;
                }
            }
        }
        Ok(())
    }
}

impl<D: Duty> Sweeper<D> {
    fn over(&self, stream: StreamKey, key: String, due: Option<Timestamp>, state: &mut SweepState) {
        let now = self.shared.ids().now();
        let times = state.resting_from(&stream, &key).map_or(0, |resting| resting.times);
        let rest = REST.saturating_mul(1 << times.min(16)).min(self.duty.rest_max(&self.shared));
        state
            .resting
            .insert(stream.clone(), Resting { key, times: times + 1, until: now.plus(rest) });
        state.dues.extend(due.map(Reverse));
        state.working.remove(&stream);
    }

    async fn look(&self, myself: &ActorRef<SweepMessage>, state: &mut SweepState) {
        let now = self.shared.ids().now();
        if let Some(until) = self.duty.closed_until(now) {
            state.has_more = false;
            state.waiting.clear();
            state.dues.push(Reverse(until));
            let pause = self.pause(now, state);
            return self.look_again(myself, state, pause);
        }
        let served = self.shared.served.partitions().intersection(self.ready.partitions());
        self.begin_waiting(myself, state, served, now);
        if state.working.len() >= self.duty.concurrency() {
            // Whatever is over first looks again.
            state.has_more = true;
            return;
        }
        let quiet = state.quiet_until.saturating_duration_since(Instant::now());
        if !quiet.is_zero() {
            return self.look_again(myself, state, quiet);
        }
        let started = Instant::now();
        let mut query = query(self.duty.as_ref(), served, Some(now));
        let mut rested: HashMap<StreamKey, Resting> = HashMap::new();
        // A stream's marks are worked on in their order: one that has to wait holds up those behind it.
        let mut held: HashSet<StreamKey> = HashSet::new();
        state.has_more = false;
        loop {
            let (marks, is_last) = match page(&self.shared, &mut query).await {
                Ok(page) => page,
                Err(error) => {
                    tracing::warn!(%error, kind = self.duty.kind().as_str(), "marks could not be read");
                    return self.look_again(myself, state, self.shared.limits.sweep);
                }
            };
            for mark in marks {
                let unit = self.duty.unit(&mark);
                let stream = (mark.account.clone(), mark.stream.clone(), unit);
                let resting = state.resting_from(&stream, &mark.key).cloned();
                let rests = resting.as_ref().is_some_and(|resting| resting.until > now);
                rested.extend(resting.map(|resting| (stream.clone(), resting)));
                if rests || state.working.contains(&stream) || held.contains(&stream) {
                    held.insert(stream);
                } else if state.working.len() >= self.duty.concurrency() {
                    state.has_more = true;
                    held.insert(stream.clone());
                    state.waiting.push_back((stream, mark));
                } else {
                    state.working.insert(stream.clone());
                    held.insert(stream.clone());
                    self.begin(myself.clone(), stream, mark);
                }
            }
            if is_last || state.has_more {
                break;
            }
        }
        if !state.has_more {
            let quiet = started.elapsed().saturating_mul(QUIET).min(self.shared.limits.sweep);
            state.quiet_until = Instant::now() + quiet;
            // Streams without a due mark have nothing to rest from; those at work are not over yet.
            state.resting.retain(|key, _| rested.contains_key(key) || state.working.contains(key));
        } else {
            // Not all were looked at: those that have rested for a sweep longer than they had to are forgotten.
            let (working, sweep) = (&state.working, self.shared.limits.sweep);
            state.resting.retain(|key, it| it.until.plus(sweep) > now || working.contains(key));
        }
        let pause = self.pause(now, state);
        self.look_again(myself, state, pause);
    }

    /// Begins what a look before found and had no room for. What has changed since is left to the next look.
    fn begin_waiting(
        &self,
        myself: &ActorRef<SweepMessage>,
        state: &mut SweepState,
        served: PartitionSet,
        now: Timestamp,
    ) {
        while state.working.len() < self.duty.concurrency()
            && let Some((stream, mark)) = state.waiting.pop_front()
        {
            let rests = state.resting_from(&stream, &mark.key).is_some_and(|it| it.until > now);
            let is_served = served.contains(PartitionId::of(&mark.account));
            if is_served && !rests && state.working.insert(stream.clone()) {
                self.begin(myself.clone(), stream, mark);
            }
        }
    }

    /// Until the next mark that is known to come due, or a rest ends; at most the sweep.
    fn pause(&self, now: Timestamp, state: &mut SweepState) -> Duration {
        while state.dues.peek().is_some_and(|due| due.0 <= now) {
            state.dues.pop();
        }
        let rests = state.resting.values().map(|it| it.until).filter(|until| *until > now);
        let next = state.dues.peek().map(|due| due.0).into_iter().chain(rests).min();
        let sweep = self.shared.limits.sweep;
        next.map_or(sweep, |due| due.since(now).max(PAUSE_MIN).min(sweep))
    }

    fn begin(&self, myself: ActorRef<SweepMessage>, stream: StreamKey, mark: Mark) {
        let (duty, shared) = (self.duty.clone(), self.shared.clone());
        let key = mark.key.clone();
        let over = OverWhenDropped { stream: Some(Box::new(stream)), key, due: None, myself };
        let at_work = self.at_work.clone();
        let busy = AtWork::begin(&self.busy, PartitionId::of(&mark.account));
        // Asked again after the partition counts as busy: what is handed over waits for it, or it is not begun.
        let is_served = self.shared.serves(&mark.account);
        tokio::spawn(async move {
            let (mut over, _busy) = (over, busy);
            if !is_served {
                return;
            }
            // As many permits as streams that are worked on: there is one, unless the sweeper was restarted.
            let Ok(_at_work) = at_work.acquire().await else { return };
            over.due = duty.work(&shared, &mark).await;
        });
    }

    fn look_again(&self, myself: &ActorRef<SweepMessage>, state: &mut SweepState, pause: Duration) {
        state.timer.take().iter().for_each(AbortHandle::abort);
        let timer = myself.send_after(pause, || SweepMessage::Look);
        state.timer = Some(timer.abort_handle());
    }
}

/// Tells the sweeper that work is over, also when it panicked.
struct OverWhenDropped {
    stream: Option<Box<StreamKey>>,
    key: String,
    due: Option<Timestamp>,
    myself: ActorRef<SweepMessage>,
}

impl Drop for OverWhenDropped {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            // The sweeper is gone when the process shuts down.
            let key = std::mem::take(&mut self.key);
            drop(self.myself.send_message(SweepMessage::Over(stream, key, self.due)));
        }
    }
}
