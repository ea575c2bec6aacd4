//! One of several processes on a shared ledger, whose ownership a test gives and takes by hand.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};
use turnframe_ledger::ledger::LedgerStatistics;
use turnframe_ledger::{
    Append, AppendError, Appended, Backlog, Entry, EntryKind, EventLedger, KeyName, KeyRecord,
    Mark, MarkQuery, Owner, Ownership, PartitionId, PartitionSet, Position, ReadError, StreamName,
    Version,
};

/// A process's own way to a ledger that others use too.
pub struct Owned {
    ledger: Arc<dyn EventLedger>,
    ownership: Ownership,
    /// The ownership ends when an entry of this kind is on the ledger.
    pub ends_with: Option<EntryKind>,
    /// An entry of this kind is damaged, for whoever reads by position.
    pub damaged: Option<EntryKind>,
}

impl Owned {
    /// A process that owns nothing yet.
    #[must_use]
    pub fn new(ledger: Arc<dyn EventLedger>) -> Self {
        let ownership = Ownership::sole();
        ownership.hold(PartitionSet::NONE);
        Self { ledger, ownership, ends_with: None, damaged: None }
    }

    fn fenced(&self, append: &Append) -> Option<AppendError> {
        let partition = PartitionId::of(&append.account);
        (!self.ownership.holds(partition)).then_some(AppendError::Fenced { partition })
    }
}

#[async_trait]
impl EventLedger for Owned {
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let mut answers = Vec::new();
        for append in batch {
            let ends = |kind| append.entries.iter().any(|entry| entry.kind == kind);
            let is_last = self.ends_with.is_some_and(ends);
            answers.push(match self.fenced(&append) {
                Some(fenced) => Err(fenced),
                None => self.ledger.append(vec![append]).await.remove(0),
            });
            if is_last {
                self.ownership.hold(PartitionSet::NONE);
            }
        }
        answers
    }

    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        self.ledger.read_stream(account, stream, after, limit).await
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        self.ledger.read_stream_back(account, stream, before, limit).await
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        let page = self.ledger.read_partition(partition, after, limit, account).await?;
        match page.iter().find(|entry| Some(entry.kind) == self.damaged) {
            None => Ok(page),
            Some(entry) => {
                let place = format!("position {}", entry.position.0);
                Err(ReadError::Corrupt { place, reason: "damaged".to_owned() })
            }
        }
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        self.ledger.head(partition).await
    }

    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        self.ledger.find_key(account, key).await
    }

    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError> {
        self.ledger.account_of_effect(effect).await
    }

    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError> {
        self.ledger.marks(query).await
    }

    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        self.ledger.cursor(follower, partition).await
    }

    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        self.ledger.keep_cursor(follower, partition, position).await
    }

    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        self.ledger.backlog().await
    }

    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.ledger.hints(partition)
    }

    fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    async fn owner(&self, _partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        Ok(None)
    }

    async fn close(&self) {}

    fn statistics(&self) -> LedgerStatistics {
        self.ledger.statistics()
    }
}
