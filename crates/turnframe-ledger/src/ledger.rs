//! The port that every backend implements.

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};

use crate::append::{Append, AppendError, Appended, KeyName, KeyRecord};
use crate::entry::Entry;
use crate::mark::{Backlog, Mark, MarkQuery};
use crate::ownership::{Owner, Ownership};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// The most entries of one page.
pub const PAGE_MAX: usize = 1_000;

/// Why the ledger could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The ledger cannot be read right now; back off and try again.
    #[error("the ledger is unavailable: {reason}")]
    Unavailable {
        /// What went wrong, for an operator.
        reason: String,
    },
    /// An entry cannot be decoded. Stop that stream and tell an operator; never skip the entry.
    #[error("{place} is corrupt: {reason}")]
    Corrupt {
        /// The stream or the partition and position.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What a ledger has done since it was opened, for benches and operators.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerStatistics {
    /// Transactions committed by appends.
    pub commits: u64,
    /// Statements sent by appends, transaction control included.
    pub statements: u64,
    /// Entries committed.
    pub entries: u64,
}

/// The only source of state.
///
/// **Guarantees**, on every backend:
/// - an append is atomic over its streams, its keys and its marks;
/// - `append` takes a batch and answers for each append by itself: a refused one changes nothing for its
///   neighbours, and is judged against the heads, the keys and the appends admitted before it;
/// - keys are checked first, then versions;
/// - versions have no gaps, positions have no gaps and follow commit order within a partition, so a reader by
///   position never misses an entry, also while others write;
/// - what is acknowledged is durable; [`AppendError::OutcomeUnknown`] is the one answer that leaves open
///   whether something was written;
/// - an append whose caller stops waiting is carried out or not, as a whole, like any other;
/// - every read but one is scoped to an account or to a partition that the caller names; a record of another account
///   is read exactly like one that does not exist.
#[async_trait]
pub trait EventLedger: Send + Sync + 'static {
    /// Commits a batch, as a rule in one transaction. The answers stand in the order of the appends, and each of them
    /// stands for its append alone.
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>>;

    /// Entries of a stream after a version, in order, at most `limit` and never more than [`PAGE_MAX`].
    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError>;

    /// The newest entries of a stream before a version (all, where none is given), in ascending order.
    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError>;

    /// Entries of a partition after a position, in order, of one account where one is named.
    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError>;

    /// The last position of a partition, [`Position::START`] where it is empty.
    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError>;

    /// What a key of an account stands for.
    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError>;

    /// Whose an effect is, where it was requested: what an effect's receiver says of it names the effect alone. The one
    /// read that is not scoped: ask only for somebody who has proved to be that receiver.
    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError>;

    /// A page of marks.
    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError>;

    /// How far a follower has read a partition, by what it kept last: [`Position::START`] where it kept nothing.
    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError>;

    /// Keeps how far a follower has read a partition, durably and beside the entries: a ledger that is restored to an
    /// earlier moment is read again from there. A cursor never goes back; no epoch fences it, as one that lags is
    /// read from again and one that is ahead was read up to.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`]: the cursor stands where it stood, or where it was to be.
    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError>;

    /// What waits under the marks of [`BACKLOG_KINDS`](crate::mark::BACKLOG_KINDS) in all partitions, by kind and
    /// group and in that order. It costs a few steps along an index for each group and counting to a bound, however
    /// much waits and however long the ledger is.
    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError>;

    /// A hint that changes after a commit to the partition: its newest position known here. Hints may be
    /// lost or merged; the ledger is the truth.
    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position>;

    /// The partitions that this process may act for. An append to another one is [`AppendError::Fenced`];
    /// reading is open to all.
    fn ownership(&self) -> &Ownership;

    /// Who owns a partition at this moment; nobody, where its last owner is gone and no other came yet.
    async fn owner(&self, partition: PartitionId) -> Result<Option<Owner>, ReadError>;

    /// Waits for what is running, gives all partitions back and closes what is open. Nothing can be written or read
    /// afterwards. A ledger that is only dropped closes too, without waiting; on a shared backend its partitions
    /// are then free when its lease has run out.
    async fn close(&self);

    /// What the ledger has done since it was opened.
    fn statistics(&self) -> LedgerStatistics;
}
