//! A seeded ledger that fails in every way its contract allows, under a clock that a test may pause.
//!
//! [`SimulatedDatabase`] is the shared truth: the ledger in memory, whose appends are atomic and judged by the planner
//! that all backends share, and a table of leases. [`SimulatedDatabase::node`] is one process's ledger on it, with
//! its own belief about which partitions are its own. Between a node and the database lies what [`Faults`] describes.
//! What befalls a call is drawn from the seed and from what the call is about, so that one seed is one run.
//!
//! **What strikes, and which sentence of the contract permits it:**
//!
//! | Fault | Contract |
//! |---|---|
//! | every call takes its time | [`EventLedger`] is asynchronous and promises no time |
//! | nothing is written | [`AppendError::Unavailable`]: "Nothing was written; back off and try again" |
//! | committed, never acknowledged | [`AppendError::OutcomeUnknown`]: "The commit was sent and its acknowledgement never came" |
//! | committed after the caller was told | the same: it is "the one answer that leaves open whether something was written", and says nothing of when |
//! | such a commit never lands, because its epoch was raised | [`AppendError::Fenced`] is judged when the commit happens, and nobody listens any more |
//! | refused beside a batch whose outcome is not known | [`Plan::withdraw`]: "A refusal is taken back too" |
//! | a batch in two transactions, of which either may fail | "an append is atomic over its streams, its keys and its marks", and `append` "answers for each append by itself"; no guarantee spans two appends |
//! | a commit takes long, and nothing of it is seen meanwhile | "positions have no gaps and follow commit order within a partition": it has none until it happens |
//! | a read fails | [`ReadError::Unavailable`]: "back off and try again" |
//! | a hint is lost | [`EventLedger::hints`]: "Hints may be lost or merged" |
//! | a partition is somebody else's | [`EventLedger::ownership`]: "An append to another one is [`AppendError::Fenced`]" |
//! | a caller that goes away, or dies | "an append whose caller stops waiting is carried out or not, as a whole" |
//!
//! **Never here:** an answer that the contract does not allow. What is acknowledged stays, a read that follows an
//! acknowledgement sees it, keys come before versions, and two owners never write under one epoch.
//!
//! [`EventLedger`]: turnframe_ledger::EventLedger
//! [`EventLedger::hints`]: turnframe_ledger::EventLedger::hints
//! [`EventLedger::ownership`]: turnframe_ledger::EventLedger::ownership
//! [`AppendError::Unavailable`]: turnframe_ledger::AppendError::Unavailable
//! [`AppendError::OutcomeUnknown`]: turnframe_ledger::AppendError::OutcomeUnknown
//! [`AppendError::Fenced`]: turnframe_ledger::AppendError::Fenced
//! [`ReadError::Unavailable`]: turnframe_ledger::ReadError::Unavailable
//! [`Plan::withdraw`]: turnframe_ledger::admission::Plan::withdraw

mod chance;
mod clock;
mod database;
mod faults;
mod keeper;
mod lease;
mod node;
mod pulse;
mod signal;

pub use chance::{Chance, Draw};
pub use clock::SimulatedClock;
pub use database::SimulatedDatabase;
pub use faults::{Faults, Struck};
pub use lease::LeaseTerms;
pub use node::SimulatedLedger;
pub use signal::Signal;
