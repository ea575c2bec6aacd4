//! The EventLedger: the only source of state.
//!
//! Streams of entries, cut into partitions. One append writes to one or several streams of one account,
//! atomically, each at an expected version; a reader that pages a partition by position sees every
//! entry exactly once, in commit order. The contract of [`EventLedger`] is one, whatever the backend, and
//! `turnframe_test::ledger` proves it for a backend of one's own.
//!
//! **Absent on purpose:** knowledge of turns, cases and cards (entries are opaque here), HTTP, actors.
//! Nothing above this crate knows SQL.

pub mod admission;
pub mod append;
pub mod chain;
pub mod entry;
mod hints;
pub mod ledger;
pub mod mark;
pub mod memory;
pub mod open;
pub mod ownership;
pub mod postgres;
pub mod snapshot;
pub mod sqlite;
mod stored;
pub mod stream;
pub mod subscription;
#[cfg(test)]
mod testing;
pub mod verify;
pub mod yardstick;

pub use append::{Append, AppendError, Appended, Key, KeyName, KeyRecord, NewEntry};
pub use entry::{Entry, EntryKind, EntryRef};
pub use ledger::{EventLedger, ReadError};
pub use mark::{Backlog, Mark, MarkChange, MarkKind, MarkQuery};
pub use ownership::{Owner, Ownership};
pub use stream::{PartitionId, PartitionSet, Position, StreamName, Version};
pub use subscription::Subscription;
