//! What this crate's own tests are made of.

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::watch;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, ConversationId, DomainActorKey, EffectId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::IdSource;

use crate::append::{Append, AppendError, Appended, Key, KeyName, KeyRecord, NewEntry};
use crate::entry::{Entry, EntryKind};
use crate::ledger::{EventLedger, LedgerStatistics, ReadError};
use crate::mark::{Backlog, Mark, MarkQuery};
use crate::memory::MemoryLedger;
use crate::ownership::{Owner, Ownership};
use crate::stream::{PartitionId, Position, StreamName, Version};

pub(crate) use turnframe_test::sources::ids;

pub(crate) fn account(name: &str) -> AccountId {
    AccountId::new(name).expect("account")
}

pub(crate) fn conversation(name: &str) -> StreamName {
    StreamName::Conversation(ConversationId::new(name).expect("conversation"))
}

pub(crate) fn key(name: &str) -> KeyName {
    KeyName::new(name).expect("key")
}

pub(crate) fn entry(ids: &IdSource, stream: &StreamName, payload: &Value) -> NewEntry {
    NewEntry {
        id: ids.entry(),
        stream: stream.clone(),
        kind: EntryKind::TurnAccepted,
        schema: 1,
        recorded_at: ids.now(),
        turn: None,
        causation: None,
        body: Sealed::seal(payload, ids).expect("sealed"),
    }
}

/// An append of `count` entries to one stream.
pub(crate) fn append(
    ids: &IdSource,
    account: &AccountId,
    stream: &StreamName,
    expected: u64,
    count: u64,
) -> Append {
    let payload = |number| json!({ "number": expected + number });
    Append {
        account: account.clone(),
        expected: vec![(stream.clone(), Version(expected))],
        entries: (1..=count).map(|number| entry(ids, stream, &payload(number))).collect(),
        keys: Vec::new(),
        marks: Vec::new(),
    }
}

/// The append with a key that names its first entry, and a digest of the given content.
pub(crate) fn keyed(mut append: Append, name: &str, content: &str) -> Append {
    let digest = Digest::of("test", &[content.as_bytes()]);
    append.keys.push(Key { name: key(name), digest, entry: 0 });
    append
}

type OnPage = Box<dyn Fn(Vec<Entry>) -> Result<Vec<Entry>, ReadError> + Send + Sync>;
type OnHead = Box<dyn Fn(&MemoryLedger) + Send + Sync>;

/// A ledger in memory whose reads a test can meddle with.
pub(crate) struct Interposed {
    pub(crate) ledger: MemoryLedger,
    /// Makes what is read out of what is there.
    pub(crate) on_page: OnPage,
    /// Runs after a head was read and before it is answered.
    pub(crate) on_head: OnHead,
}

impl Interposed {
    pub(crate) fn before(ledger: MemoryLedger) -> Self {
        Self { ledger, on_page: Box::new(Ok), on_head: Box::new(|_| {}) }
    }
}

#[async_trait]
impl EventLedger for Interposed {
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        self.ledger.append(batch).await
    }

    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        (self.on_page)(self.ledger.read_stream(account, stream, after, limit).await?)
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        (self.on_page)(self.ledger.read_stream_back(account, stream, before, limit).await?)
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        (self.on_page)(self.ledger.read_partition(partition, after, limit, account).await?)
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        let head = self.ledger.head(partition).await;
        (self.on_head)(&self.ledger);
        head
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
        self.ledger.ownership()
    }

    async fn owner(&self, partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        self.ledger.owner(partition).await
    }

    async fn close(&self) {
        self.ledger.close().await;
    }

    fn statistics(&self) -> LedgerStatistics {
        self.ledger.statistics()
    }
}
