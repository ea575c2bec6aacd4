//! Folds: a stream's entries to the state that an actor holds. The same functions live and on replay.

pub mod case;
pub mod conversation;
pub mod effect;

use turnframe_core::personal::SealError;
use turnframe_core::registry::CorruptJson;
use turnframe_ledger::{EntryKind, EntryRef};

/// An entry that cannot be folded: its stream stops, and an operator is told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// The entry's shape is not the one its kind has.
    #[error("{at:?} cannot be read: {source}")]
    Shape {
        /// Which entry.
        at: EntryRef,
        /// What is wrong with it.
        source: SealError,
    },
    /// The workflow cannot read it.
    #[error("{at:?} cannot be read: {source}")]
    Workflow {
        /// Which entry.
        at: EntryRef,
        /// What is wrong with it.
        source: CorruptJson,
    },
    /// A kind that does not belong to this stream.
    #[error("{at:?}: {kind} does not belong here")]
    Kind {
        /// Which entry.
        at: EntryRef,
        /// Its kind.
        kind: EntryKind,
    },
    /// An entry does not follow the last one.
    #[error("{at:?} does not follow the entry before it")]
    Gap {
        /// Which entry.
        at: EntryRef,
    },
}

/// Reads the payload of an entry.
fn open<T: serde::de::DeserializeOwned>(entry: &turnframe_ledger::Entry) -> Result<T, FoldError> {
    entry.body.open().map_err(|source| FoldError::Shape { at: entry.reference(), source })
}

/// Checks that an entry follows a version and returns its own.
fn follow(
    version: turnframe_ledger::Version,
    entry: &turnframe_ledger::Entry,
) -> Result<turnframe_ledger::Version, FoldError> {
    if entry.version == version.plus(1) {
        Ok(entry.version)
    } else {
        Err(FoldError::Gap { at: entry.reference() })
    }
}
