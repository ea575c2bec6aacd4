//! Committed events: the only thing from which a claim may be made (I16).

use crate::id::{CaseRef, CaseRevision, EntryId};
use crate::source::Timestamp;

/// A domain event that is on the ledger. Made by reading the ledger, never from a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedEvent<E> {
    /// The entry's id, which a receipt cites.
    pub id: EntryId,
    /// The case it happened to.
    pub case: CaseRef,
    /// The revision its commit made.
    pub revision: CaseRevision,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// What happened.
    pub event: E,
}
