//! What the cases are made of: short ways to say which append is meant.

use std::sync::Arc;

use serde_json::{Value, json};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, ConversationId, EffectId, TurnId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::verify::verify;
use turnframe_ledger::{
    Append, AppendError, Entry, EntryKind, EventLedger, Key, KeyName, MarkChange, MarkKind,
    NewEntry, PartitionId, StreamName, Version,
};

use super::Backend;
use crate::sources;

/// The answer to one append.
pub type Answer = Result<turnframe_ledger::append::Appended, AppendError>;

/// An account by name.
#[must_use]
pub fn account(name: &str) -> AccountId {
    AccountId::new(name).expect("an account's name")
}

/// Another account in the same partition.
#[must_use]
pub fn neighbour_of(account: &AccountId) -> AccountId {
    let partition = PartitionId::of(account);
    let candidates = (0..).map(|number| self::account(&format!("neighbour-{number}")));
    let mut neighbours = candidates.filter(|name| PartitionId::of(name) == partition);
    neighbours.next().expect("one name in 64 is in the partition")
}

/// A conversation's stream by name.
#[must_use]
pub fn conversation(name: &str) -> StreamName {
    StreamName::Conversation(ConversationId::new(name).expect("a conversation's name"))
}

/// A key by name.
#[must_use]
pub fn key(name: &str) -> KeyName {
    KeyName::new(name).expect("a key")
}

/// Sets a mark.
#[must_use]
pub fn set(kind: MarkKind, key: &str, stream: &StreamName, due: i64) -> MarkChange {
    let due = Timestamp::from_micros(due);
    MarkChange::Set { kind, key: key.to_owned(), stream: stream.clone(), due }
}

/// Clears a mark.
#[must_use]
pub fn clear(kind: MarkKind, key: &str) -> MarkChange {
    MarkChange::Clear { kind, key: key.to_owned() }
}

/// A ledger under test, the ids of its entries, and the account most cases use.
#[derive(Clone)]
pub struct Bench {
    /// The ledger.
    pub ledger: Arc<dyn EventLedger>,
    /// Where ids come from.
    pub ids: IdSource,
    /// `acme`.
    pub acme: AccountId,
}

impl Bench {
    /// A new ledger of a backend.
    pub async fn new(backend: &dyn Backend) -> Self {
        Self::on(backend.create().await)
    }

    /// A ledger that exists.
    #[must_use]
    pub fn on(ledger: Arc<dyn EventLedger>) -> Self {
        Self { ledger, ids: sources::ids(1), acme: account("acme") }
    }

    /// An entry with a payload.
    #[must_use]
    pub fn entry(&self, stream: &StreamName, payload: &Value) -> NewEntry {
        NewEntry {
            id: self.ids.entry(),
            stream: stream.clone(),
            kind: EntryKind::TurnAccepted,
            schema: 1,
            recorded_at: self.ids.now(),
            turn: Some(TurnId::new("t-1").expect("a turn's name")),
            causation: None,
            body: Sealed::seal(payload, &self.ids).expect("a payload that can be sealed"),
        }
    }

    /// An append of `count` entries to a stream of an account.
    #[must_use]
    pub fn append_of(
        &self,
        account: &AccountId,
        stream: &StreamName,
        expected: u64,
        count: u64,
    ) -> Append {
        let entry = |number| self.entry(stream, &json!({ "number": expected + number }));
        Append {
            account: account.clone(),
            expected: vec![(stream.clone(), Version(expected))],
            entries: (1..=count).map(entry).collect(),
            keys: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// An append of `count` entries to a stream of `acme`.
    #[must_use]
    pub fn append(&self, stream: &StreamName, expected: u64, count: u64) -> Append {
        self.append_of(&self.acme, stream, expected, count)
    }

    /// An append of one entry that claims a key, with a digest of the content.
    #[must_use]
    pub fn keyed(&self, stream: &StreamName, expected: u64, name: &str, content: &str) -> Append {
        let digest = Digest::of("contract", &[content.as_bytes()]);
        let key = Key { name: key(name), digest, entry: 0 };
        Append { keys: vec![key], ..self.append(stream, expected, 1) }
    }

    /// An append of one entry that changes marks.
    #[must_use]
    pub fn marking(&self, stream: &StreamName, expected: u64, marks: Vec<MarkChange>) -> Append {
        Append { marks, ..self.append(stream, expected, 1) }
    }

    /// The name of an effect's stream that no entry has.
    #[must_use]
    pub fn effect(&self) -> StreamName {
        StreamName::Effect(EffectId::from_uuid(self.ids.uuid()))
    }

    /// Commits a batch and answers for each append.
    pub async fn commit(&self, batch: Vec<Append>) -> Vec<Answer> {
        let appends = batch.len();
        let answers = self.ledger.append(batch).await;
        assert_eq!(answers.len(), appends, "one answer for each append");
        answers
    }

    /// Commits one append.
    pub async fn commit_one(&self, append: Append) -> Answer {
        self.commit(vec![append]).await.remove(0)
    }

    /// Commits appends, each of which must go in.
    pub async fn must_commit(&self, batch: Vec<Append>) {
        for answer in self.commit(batch).await {
            answer.expect("the append goes in");
        }
    }

    /// A stream of `acme` from its start.
    pub async fn stream(&self, stream: &StreamName) -> Vec<Entry> {
        let read = self.ledger.read_stream(&self.acme, stream, Version::NONE, usize::MAX);
        read.await.expect("the stream can be read")
    }

    /// Checks everything the ledger holds, and says how many entries that is.
    pub async fn verified(&self) -> u64 {
        let report = verify(&*self.ledger, PartitionId::all(), |_| {}).await;
        assert!(report.is_intact(), "{:?}", report.faults);
        report.entries
    }
}
