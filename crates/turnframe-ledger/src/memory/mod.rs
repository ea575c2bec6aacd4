//! The ledger in memory, for tests and benches: the whole contract but durability.
//!
//! One mutex guards everything and is never held across an await, so an append is atomic because nothing else
//! runs. Records are kept under their account: a read names its account first and cannot reach another's.
//! What it holds is gone with it; it never answers `OutcomeUnknown`, and nobody can fence it.

mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};

use self::state::State;
use crate::append::{Append, AppendError, Appended, KeyName, KeyRecord};
use crate::entry::Entry;
use crate::hints::Hints;
use crate::ledger::{EventLedger, LedgerStatistics, PAGE_MAX, ReadError};
use crate::mark::{Backlog, Mark, MarkQuery};
use crate::ownership::{Owner, Ownership};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// A ledger that lives as long as its process.
#[derive(Debug)]
pub struct MemoryLedger {
    state: Mutex<State>,
    hints: Hints,
    ownership: Ownership,
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self { state: Mutex::default(), hints: Hints::default(), ownership: Ownership::sole() }
    }
}

impl MemoryLedger {
    /// An empty ledger.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held would be a bug in `state`; its writes are not half done, since
        // each batch is judged completely before the first of them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl EventLedger for MemoryLedger {
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let (answers, heads) = self.state().append(&batch);
        for (partition, head) in heads {
            self.hints.announce(partition, head);
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
        Ok(self.state().read_stream(account, stream, after, limit.min(PAGE_MAX)))
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        Ok(self.state().read_stream_back(account, stream, before, limit.min(PAGE_MAX)))
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        Ok(self.state().read_partition(partition, after, limit.min(PAGE_MAX), account))
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        Ok(self.state().head(partition))
    }

    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        Ok(self.state().find_key(account, key))
    }

    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError> {
        Ok(self.state().account_of_effect(effect))
    }

    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError> {
        Ok(self.state().marks(&query))
    }

    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        Ok(self.state().cursor(follower, partition))
    }

    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        self.state().keep_cursor(follower, partition, position);
        Ok(())
    }

    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        Ok(self.state().backlog())
    }

    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.hints.subscribe(partition)
    }

    fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    async fn owner(&self, _partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        Ok(Some(Owner { address: "memory:".to_owned(), is_here: true }))
    }

    async fn close(&self) {}

    fn statistics(&self) -> LedgerStatistics {
        self.state().statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{account, append, conversation, ids};
    use crate::verify::verify;

    #[tokio::test]
    async fn verification_notices_a_tampered_entry() {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let ledger = MemoryLedger::new();
        let answers = ledger.append(vec![append(&ids, &acme, &stream, 0, 3)]).await;
        assert!(answers.iter().all(Result::is_ok));
        let report = verify(&ledger, PartitionId::all(), |_| {}).await;
        assert!(report.is_intact());
        let partition = PartitionId::of(&acme);
        ledger.state().tamper(partition, Position(2), |entry| entry.body.facts = b"{}".to_vec());
        let report = verify(&ledger, PartitionId::all(), |_| {}).await;
        assert_eq!(report.faults.len(), 1, "{:?}", report.faults);
    }
}
