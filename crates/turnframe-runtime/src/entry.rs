//! Builds the entries of an append: ids, times and sealing in one place.

use serde::Serialize;
use turnframe_core::id::{EntryId, TurnId};
use turnframe_core::personal::{SealError, Sealed};
use turnframe_core::source::IdSource;
use turnframe_ledger::{EntryKind, NewEntry, StreamName};

use crate::record::SCHEMA;

/// What every entry of an append shares.
#[derive(Debug, Clone)]
pub struct EntryBuilder<'a> {
    /// Where ids, times and salts come from.
    pub ids: &'a IdSource,
    /// The turn the entries belong to.
    pub turn: Option<&'a TurnId>,
    /// The entry that caused them.
    pub causation: Option<EntryId>,
}

impl EntryBuilder<'_> {
    /// An entry with a payload of this version's shapes.
    ///
    /// # Errors
    /// [`SealError`] when the payload cannot be stored.
    pub fn build<T: Serialize>(
        &self,
        stream: &StreamName,
        kind: EntryKind,
        payload: &T,
    ) -> Result<NewEntry, SealError> {
        self.build_versioned(stream, kind, SCHEMA, payload)
    }

    /// An entry whose payload has a version of its own.
    ///
    /// # Errors
    /// [`SealError`] when the payload cannot be stored.
    pub fn build_versioned<T: Serialize>(
        &self,
        stream: &StreamName,
        kind: EntryKind,
        schema: u16,
        payload: &T,
    ) -> Result<NewEntry, SealError> {
        Ok(NewEntry {
            id: self.ids.entry(),
            stream: stream.clone(),
            kind,
            schema,
            recorded_at: self.ids.now(),
            turn: self.turn.cloned(),
            causation: self.causation,
            body: Sealed::seal(payload, self.ids)?,
        })
    }
}
