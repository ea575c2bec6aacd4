//! The per-stream hash chain: what makes a changed, removed or reordered entry visible.
//!
//! `chain = H(previous chain ‖ header without position ‖ payload commitment)`. The position is left out, so that
//! a stream can be exported and verified by itself. What the chain cannot show is a rewrite of a whole stream
//! from its start by somebody who can write the ledger.

use turnframe_core::canonical::{Digest, Hasher};
use turnframe_core::id::{AccountId, EntryId, TurnId};
use turnframe_core::source::Timestamp;

use crate::append::NewEntry;
use crate::entry::{Entry, EntryKind, EntryRef};
use crate::stream::{StreamName, Version};

/// The part of an entry that the chain covers beside the payload commitment.
#[derive(Debug, Clone, Copy)]
pub struct Header<'a> {
    account: &'a AccountId,
    stream: &'a StreamName,
    version: Version,
    id: EntryId,
    kind: EntryKind,
    schema: u16,
    recorded_at: Timestamp,
    turn: Option<&'a TurnId>,
    causation: Option<EntryId>,
}

impl<'a> Header<'a> {
    /// The header of an entry that is about to stand at a version.
    #[must_use]
    pub fn of_new(account: &'a AccountId, version: Version, entry: &'a NewEntry) -> Self {
        Self {
            account,
            stream: &entry.stream,
            version,
            id: entry.id,
            kind: entry.kind,
            schema: entry.schema,
            recorded_at: entry.recorded_at,
            turn: entry.turn.as_ref(),
            causation: entry.causation,
        }
    }

    /// The header of an entry that stands.
    #[must_use]
    pub fn of(entry: &'a Entry) -> Self {
        Self {
            account: &entry.account,
            stream: &entry.stream,
            version: entry.version,
            id: entry.id,
            kind: entry.kind,
            schema: entry.schema,
            recorded_at: entry.recorded_at,
            turn: entry.turn.as_ref(),
            causation: entry.causation,
        }
    }

    /// The chain hash of the entry after a previous hash.
    #[must_use]
    pub fn extend(&self, previous: Digest, commitment: Digest) -> Digest {
        let causation = self.causation.map(|id| id.as_uuid());
        let mut hasher = Hasher::new("tf.chain.1");
        hasher
            .part(previous.as_bytes())
            .part(self.account.as_str().as_bytes())
            .part(self.stream.to_string().as_bytes())
            .part(&self.version.0.to_be_bytes())
            .part(self.id.as_uuid().as_bytes())
            .part(self.kind.as_str().as_bytes())
            .part(&self.schema.to_be_bytes())
            .part(&self.recorded_at.as_micros().to_be_bytes())
            .part(self.turn.map_or("", TurnId::as_str).as_bytes())
            .part(causation.as_ref().map_or(&[], |id| &id.as_bytes()[..]))
            .part(commitment.as_bytes());
        hasher.finish()
    }
}

/// What verification found wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainError {
    /// Versions are not 1, 2, 3, …
    #[error("{at:?}: expected version {}", expected.0)]
    Gap {
        /// The entry that stands there.
        at: EntryRef,
        /// The version that should.
        expected: Version,
    },
    /// The body does not match its commitment.
    #[error("{0:?}: the payload does not match its commitment")]
    Commitment(EntryRef),
    /// The entry does not continue the chain.
    #[error("{0:?}: the entry does not continue its stream's chain")]
    Chain(EntryRef),
}

/// Walks one stream. Feed it the stream's entries in order; it holds no more than the last hash.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChainWalker {
    version: Version,
    chain: Option<Digest>,
}

impl ChainWalker {
    /// Checks the next entry of the stream.
    ///
    /// # Errors
    /// [`ChainError`] for the first thing that does not fit.
    pub fn next(&mut self, entry: &Entry) -> Result<(), ChainError> {
        let expected = self.version.plus(1);
        if entry.version != expected {
            return Err(ChainError::Gap { at: entry.reference(), expected });
        }
        let intact =
            entry.body.verify_parts().is_ok() && entry.body.commitment() == entry.commitment;
        if !intact {
            return Err(ChainError::Commitment(entry.reference()));
        }
        let previous = self.chain.unwrap_or(Digest::ZERO);
        if Header::of(entry).extend(previous, entry.commitment) != entry.chain {
            return Err(ChainError::Chain(entry.reference()));
        }
        *self = Self { version: expected, chain: Some(entry.chain) };
        Ok(())
    }
}
