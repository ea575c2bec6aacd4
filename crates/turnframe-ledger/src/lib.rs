//! The EventLedger: the only source of state.
//!
//! Streams of entries, cut into partitions. One append writes to one or several streams of one account,
//! atomically, each at an expected version; a reader that pages a partition by position sees every
//! entry exactly once, in commit order. The contract of [`EventLedger`] is one, whatever the backend, and
//! `turnframe_test::ledger` proves it for a backend of one's own.
//!
//! **Absent on purpose:** knowledge of turns, cases and cards (entries are opaque here), HTTP, actors.
//! Nothing above this crate knows SQL.

pub mod append;
pub mod chain;
pub mod entry;
pub mod ledger;
pub mod mark;
pub mod stream;

pub use append::{Append, AppendError, Appended, Key, KeyName, KeyRecord, NewEntry};
pub use entry::{Entry, EntryKind, EntryRef};
pub use ledger::{EventLedger, ReadError};
pub use mark::{Mark, MarkChange, MarkKind, MarkQuery};
pub use stream::{PartitionId, Position, StreamName, Version};
