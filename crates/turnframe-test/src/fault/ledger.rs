//! The ledger double that enumerates append boundaries and strikes at them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::sync::{Mutex, watch};
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};
use turnframe_ledger::ledger::LedgerStatistics;
use turnframe_ledger::{
    Append, AppendError, Appended, Backlog, Entry, EventLedger, KeyName, KeyRecord, Mark, MarkKind,
    MarkQuery, Owner, Ownership, PartitionId, Position, ReadError, StreamName, Version,
};

use super::boundary::{Boundary, Crash, CrashPoint};
use super::plan::{Boundaries, FaultPlan, Place};
use super::switch::CrashSwitch;

/// What can befall an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerFault {
    /// The process dies before the commit, or after it and before its acknowledgement.
    Crash(Crash),
    /// Nothing is written, and this is answered.
    Answer(AppendError),
    /// Nothing is written, and the answer is that somebody else was faster at the append's first stream. Whoever
    /// reads again finds the stream as it was.
    Conflict,
    /// The append is judged and committed as ever; the answer is that its outcome is unknown.
    LostAck,
}

impl From<Crash> for LedgerFault {
    fn from(crash: Crash) -> Self {
        Self::Crash(crash)
    }
}

type Answer = Result<Appended, AppendError>;

/// A process's handle of a ledger that outlives it.
///
/// Every append is a [`Boundary`], also each one of a batch. When one of a batch is struck by a crash, those before
/// it are committed and those after it are not. Batches are passed on one at a time, in the order in which they were
/// numbered. Once the switch is thrown, nothing here returns: a fresh handle over the same inner ledger is what the
/// next start sees.
pub struct FaultLedger {
    inner: Arc<dyn EventLedger>,
    boundaries: Boundaries<LedgerFault>,
    switch: CrashSwitch,
    /// Keeps the order of the numbers and the order of the commits one and the same.
    order: Mutex<()>,
    /// How often effects that are due were looked for, over all accounts.
    looks: AtomicUsize,
}

impl fmt::Debug for FaultLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultLedger").field(&self.boundaries).finish()
    }
}

impl FaultLedger {
    /// A handle that follows a plan and dies with a switch.
    #[must_use]
    pub fn new(
        inner: Arc<dyn EventLedger>,
        plan: FaultPlan<LedgerFault>,
        switch: CrashSwitch,
    ) -> Self {
        let (boundaries, looks) = (Boundaries::new(plan), AtomicUsize::new(0));
        Self { inner, boundaries, switch, order: Mutex::new(()), looks }
    }

    /// The boundaries that the run has come by, in order.
    #[must_use]
    pub fn enumerated(&self) -> Vec<Boundary> {
        self.boundaries.enumerated()
    }

    /// How often effects that are due were looked for.
    #[must_use]
    pub fn looks(&self) -> usize {
        self.looks.load(Ordering::Relaxed)
    }

    /// The places of the plan that the run has not come by.
    #[must_use]
    pub fn unhit(&self) -> Vec<Place> {
        self.boundaries.unhit()
    }

    /// Where the run died, if it died here.
    #[must_use]
    pub fn crashed_at(&self) -> Option<CrashPoint> {
        self.boundaries.crashed_at()
    }

    async fn pass(&self, batch: Vec<Append>) -> Vec<Answer> {
        let _order = self.order.lock().await;
        let mut passed = Vec::with_capacity(batch.len());
        let mut instead = Vec::with_capacity(batch.len());
        for append in batch {
            let (boundary, fault) = self.boundaries.pass(name_of(&append));
            match fault {
                None => {
                    passed.push(append);
                    instead.push(Instead::Nothing);
                }
                Some(LedgerFault::LostAck) => {
                    passed.push(append);
                    instead.push(Instead::OfTheAnswer(unknown()));
                }
                Some(LedgerFault::Answer(error)) => instead.push(Instead::OfTheAppend(error)),
                Some(LedgerFault::Conflict) => {
                    instead.push(Instead::OfTheAppend(conflict(&append)));
                }
                Some(LedgerFault::Crash(crash)) => {
                    passed.extend((crash == Crash::After).then_some(append));
                    return self.die(passed, CrashPoint { boundary, crash }).await;
                }
            }
        }
        answers(self.commit(passed).await, instead)
    }

    async fn commit(&self, batch: Vec<Append>) -> Vec<Answer> {
        if batch.is_empty() { Vec::new() } else { self.inner.append(batch).await }
    }

    /// Commits what came before the crash, and never returns.
    async fn die<T>(&self, before: Vec<Append>, point: CrashPoint) -> T {
        self.commit(before).await;
        self.boundaries.note_crash(point);
        self.switch.crash();
        std::future::pending().await
    }
}

/// What stands in for what.
enum Instead {
    Nothing,
    OfTheAppend(AppendError),
    OfTheAnswer(AppendError),
}

/// Brings the answers of the inner ledger and those of the plan into the order of the batch.
fn answers(inner: Vec<Answer>, instead: Vec<Instead>) -> Vec<Answer> {
    let mut inner = inner.into_iter();
    let answer = |instead| match instead {
        Instead::Nothing => inner.next(),
        Instead::OfTheAppend(error) => Some(Err(error)),
        Instead::OfTheAnswer(error) => inner.next().map(|_| Err(error)),
    };
    instead.into_iter().filter_map(answer).collect()
}

fn unknown() -> AppendError {
    AppendError::OutcomeUnknown { reason: "the acknowledgement was lost".to_owned() }
}

fn conflict(append: &Append) -> AppendError {
    match append.expected.first() {
        Some((stream, expected)) => AppendError::Conflict {
            stream: stream.clone(),
            expected: *expected,
            actual: expected.plus(1),
        },
        None => AppendError::Refused("an append without a stream cannot be in conflict"),
    }
}

/// Names an append by what it writes, such as `case: case.command, case.event; effect: effect.requested`.
fn name_of(append: &Append) -> String {
    let mut name = String::new();
    let mut current = None;
    for entry in &append.entries {
        let goes_on = current.replace(&entry.stream) == Some(&entry.stream);
        match (goes_on, name.is_empty()) {
            (true, _) => name.push_str(", "),
            (false, true) => {}
            (false, false) => name.push_str("; "),
        }
        if !goes_on {
            name.push_str(kind_of(&entry.stream));
            name.push_str(": ");
        }
        name.push_str(entry.kind.as_str());
    }
    name
}

const fn kind_of(stream: &StreamName) -> &'static str {
    match stream {
        StreamName::Conversation(_) => "conversation",
        StreamName::Case(_) => "case",
        StreamName::Effect(_) => "effect",
        StreamName::Domain(..) => "domain",
    }
}

#[async_trait]
impl EventLedger for FaultLedger {
    async fn append(&self, batch: Vec<Append>) -> Vec<Answer> {
        self.switch.alive(self.pass(batch)).await
    }

    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        self.switch.alive(self.inner.read_stream(account, stream, after, limit)).await
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        self.switch.alive(self.inner.read_stream_back(account, stream, before, limit)).await
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        self.switch.alive(self.inner.read_partition(partition, after, limit, account)).await
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        self.switch.alive(self.inner.head(partition)).await
    }

    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        self.switch.alive(self.inner.find_key(account, key)).await
    }

    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError> {
        self.switch.alive(self.inner.account_of_effect(effect)).await
    }

    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError> {
        let is_look = query.kind == MarkKind::Effect && query.account.is_none();
        self.looks.fetch_add(usize::from(is_look), Ordering::Relaxed);
        self.switch.alive(self.inner.marks(query)).await
    }

    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        self.switch.alive(self.inner.cursor(follower, partition)).await
    }

    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        self.switch.alive(self.inner.keep_cursor(follower, partition, position)).await
    }

    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        self.switch.alive(self.inner.backlog()).await
    }

    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.inner.hints(partition)
    }

    fn ownership(&self) -> &Ownership {
        self.inner.ownership()
    }

    async fn owner(&self, partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        self.switch.alive(self.inner.owner(partition)).await
    }

    async fn close(&self) {
        self.switch.alive(self.inner.close()).await;
    }

    fn statistics(&self) -> LedgerStatistics {
        self.inner.statistics()
    }
}

#[cfg(test)]
mod tests;
