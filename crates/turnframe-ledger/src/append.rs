//! What one append asks for, and every way in which it can end.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, EntryId, TurnId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::Timestamp;

use crate::admission::Link;
use crate::entry::{Entry, EntryKind, EntryRef};
use crate::mark::{MarkChange, is_mark_key};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// The most entries of one append.
pub const APPEND_MAX_ENTRIES: usize = 256;
/// The most idempotency keys of one append.
pub const APPEND_MAX_KEYS: usize = 256;
/// The most streams of one append.
pub const APPEND_MAX_STREAMS: usize = 256;
/// The most mark changes of one append.
pub const APPEND_MAX_MARKS: usize = 512;
/// The most bytes of one entry's facts and parts together.
pub const ENTRY_MAX_BYTES: usize = 1024 * 1024;
/// The longest idempotency key, in bytes.
pub const KEY_MAX_BYTES: usize = 320;

/// An entry before it has a place.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Its own id, from the injected source.
    pub id: EntryId,
    /// The stream it goes to.
    pub stream: StreamName,
    /// What it records.
    pub kind: EntryKind,
    /// The version of the payload's shape.
    pub schema: u16,
    /// When it was made, by the injected clock.
    pub recorded_at: Timestamp,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The entry that caused it.
    pub causation: Option<EntryId>,
    /// Facts and personal parts.
    pub body: Sealed,
}

impl NewEntry {
    /// How many bytes the entry takes, roughly.
    #[must_use]
    pub fn bytes(&self) -> usize {
        const ROW_BYTES: usize = 160;
        ROW_BYTES + body_bytes(&self.body)
    }
}

/// An idempotency key: unique within its account for as long as its entry exists (I14).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyName(Arc<str>);

/// Text that cannot be an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key has 1 to {KEY_MAX_BYTES} printable ASCII characters and no space")]
pub struct NotAKey;

impl KeyName {
    /// Checks a key and keeps it.
    ///
    /// # Errors
    /// [`NotAKey`] when the text is empty, too long, or has a space, a control character or anything
    /// outside ASCII.
    pub fn new(text: impl AsRef<str>) -> Result<Self, NotAKey> {
        let text = text.as_ref();
        let fits = (1..=KEY_MAX_BYTES).contains(&text.len());
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits && printable { Ok(Self(Arc::from(text))) } else { Err(NotAKey) }
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Self, NotAKey> {
        Self::new(text)
    }
}

impl TryFrom<String> for KeyName {
    type Error = NotAKey;

    fn try_from(text: String) -> Result<Self, NotAKey> {
        Self::new(text)
    }
}

impl From<KeyName> for String {
    fn from(key: KeyName) -> Self {
        key.0.as_ref().to_owned()
    }
}

/// An idempotency key as an append claims it.
#[derive(Debug, Clone)]
pub struct Key {
    /// The key.
    pub name: KeyName,
    /// Digest of the request's facts: the same key with another digest is another content.
    pub digest: Digest,
    /// Which entry of the append the key names, by index.
    pub entry: usize,
}

/// What an idempotency key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The entry that the key named when it was claimed.
    pub entry: EntryRef,
    /// The digest it was claimed with.
    pub digest: Digest,
}

/// An atomic write to streams of one account.
#[derive(Debug, Clone)]
pub struct Append {
    /// The tenant whose streams these are.
    pub account: AccountId,
    /// Each stream the append writes to or depends on, with the version it must have.
    pub expected: Vec<(StreamName, Version)>,
    /// The entries, in order. Each stream they name is in `expected`.
    pub entries: Vec<NewEntry>,
    /// Keys claimed by this append.
    pub keys: Vec<Key>,
    /// Index records set and cleared in the same transaction.
    pub marks: Vec<MarkChange>,
}

/// The append is committed: it survives power loss as far as the backend's durability promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The account's partition.
    pub partition: PartitionId,
    /// The position of the first entry; the others follow without a gap.
    pub first_position: Position,
    /// Where each entry stands, in the order of the append.
    pub entries: Vec<EntryRef>,
    /// What each entry has beside its content, in the same order.
    pub links: Vec<Link>,
}

impl Appended {
    /// An entry as it was committed, by its index in the append: what reading it back would find.
    #[must_use]
    pub fn entry(&self, index: usize, account: &AccountId, new: NewEntry) -> Option<Entry> {
        let Link { version, commitment, chain } = *self.links.get(index)?;
        Some(Entry {
            account: account.clone(),
            stream: new.stream,
            version,
            partition: self.partition,
            position: self.first_position.plus(index as u64),
            id: new.id,
            kind: new.kind,
            schema: new.schema,
            recorded_at: new.recorded_at,
            turn: new.turn,
            causation: new.causation,
            body: new.body,
            commitment,
            chain,
        })
    }
}

/// Why an append was not acknowledged. Only [`AppendError::OutcomeUnknown`] may have been written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// A stream is not at the expected version. Nothing was written.
    #[error("{stream} is at version {}, expected {}", actual.0, expected.0)]
    Conflict {
        /// The stream.
        stream: StreamName,
        /// What the caller expected.
        expected: Version,
        /// What the ledger has.
        actual: Version,
    },
    /// A key was claimed before. Nothing was written. Checked before the versions, so that a repeat is
    /// told apart from a race.
    #[error("the key {key} was claimed before")]
    DuplicateKey {
        /// The key.
        key: KeyName,
        /// What it stands for.
        original: KeyRecord,
        /// Whether the digest is the same; otherwise the same key came with other content.
        same_content: bool,
    },
    /// The partition is owned by somebody else by now. Nothing was written; stop acting for it.
    #[error("partition {} is owned by another process", partition.number())]
    Fenced {
        /// The partition.
        partition: PartitionId,
    },
    /// The append breaks a limit or its own shape. Nothing was written; trying again cannot help.
    #[error("the append was refused: {0}")]
    Refused(&'static str),
    /// The ledger cannot be written to right now. Nothing was written; back off and try again.
    #[error("the ledger is unavailable: {reason}")]
    Unavailable {
        /// What went wrong, for an operator.
        reason: String,
    },
    /// The commit was sent and its acknowledgement never came. Re-read before anything else.
    #[error("the commit's outcome is unknown: {reason}")]
    OutcomeUnknown {
        /// What went wrong, for an operator.
        reason: String,
    },
}

impl Append {
    /// Checks the limits and that entries, expectations and keys fit together.
    ///
    /// # Errors
    /// [`AppendError::Refused`] with what does not fit.
    pub fn check(&self) -> Result<(), AppendError> {
        let refuse = |reason| Err(AppendError::Refused(reason));
        if self.entries.is_empty() || self.entries.len() > APPEND_MAX_ENTRIES {
            return refuse("an append has 1 to 256 entries");
        }
        if self.keys.len() > APPEND_MAX_KEYS || self.marks.len() > APPEND_MAX_MARKS {
            return refuse("an append has at most 256 keys and 512 marks");
        }
        if self.expected.len() > APPEND_MAX_STREAMS {
            return refuse("an append has at most 256 streams");
        }
        if !self.marks.iter().all(|mark| is_mark_key(mark.key())) {
            return refuse("a mark's key has 1 to 320 characters of printable ASCII");
        }
        let expects = |stream: &StreamName| self.expected.iter().any(|(name, _)| name == stream);
        if !self.entries.iter().all(|entry| expects(&entry.stream)) {
            return refuse("an entry goes to a stream without an expected version");
        }
        let twice = |(index, (stream, _)): (usize, &(StreamName, Version))| {
            self.expected[..index].iter().any(|(name, _)| name == stream)
        };
        if self.expected.iter().enumerate().any(twice) {
            return refuse("a stream has two expected versions");
        }
        if self.keys.iter().any(|key| key.entry >= self.entries.len()) {
            return refuse("a key names no entry of the append");
        }
        let repeated = |(index, key): (usize, &Key)| {
            self.keys[..index].iter().any(|other| other.name == key.name)
        };
        if self.keys.iter().enumerate().any(repeated) {
            return refuse("the append claims a key twice");
        }
        if self.entries.iter().any(|entry| body_bytes(&entry.body) > ENTRY_MAX_BYTES) {
            return refuse("an entry has at most 1 MiB");
        }
        Ok(())
    }

    /// One append in place of two: of this one, and of the next, which was made for what stands after it. Both are of
    /// one account.
    #[must_use]
    pub fn then(mut self, next: Self) -> Self {
        let shift = self.entries.len();
        for (stream, version) in next.expected {
            if !self.expected.iter().any(|(name, _)| *name == stream) {
                self.expected.push((stream, version));
            }
        }
        self.entries.extend(next.entries);
        self.keys.extend(next.keys.into_iter().map(|key| Key { entry: key.entry + shift, ..key }));
        self.marks.extend(next.marks);
        self
    }

    /// Roughly how many bytes the append writes, for the bound of a batch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.entries.iter().map(NewEntry::bytes).sum()
    }
}

fn body_bytes(body: &Sealed) -> usize {
    let content = |part: &turnframe_core::personal::Part| {
        part.content.as_ref().map_or(0, |content| content.value.get().len())
    };
    body.facts.len() + body.parts.iter().map(content).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::EventLedger;
    use crate::memory::MemoryLedger;
    use crate::testing::{account, append, conversation, ids, keyed};

    #[tokio::test]
    async fn one_append_in_place_of_two_writes_what_both_would() {
        let (ids, acme) = (ids(1), account("acme"));
        let (stream, other) = (conversation("c"), conversation("d"));
        let first = keyed(append(&ids, &acme, &stream, 0, 2), "first", "a");
        let mut second = keyed(append(&ids, &acme, &stream, 2, 1), "second", "b");
        second.expected.push((other, Version::NONE));
        let id = second.entries[0].id;
        let both = first.then(second);
        assert_eq!(both.check(), Ok(()));
        assert_eq!(both.expected.len(), 2);
        let ledger = MemoryLedger::new();
        let appended = ledger.append(vec![both]).await.remove(0).expect("appended");
        assert_eq!(appended.entries.len(), 3);
        let key = crate::testing::key("second");
        let found = ledger.find_key(&acme, &key).await.expect("read").expect("claimed");
        assert_eq!((found.entry.id, found.entry.version), (id, Version(3)));
    }
}
