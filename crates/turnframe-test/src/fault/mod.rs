//! Crashes and lost answers, wherever the process touches what outlives it.
//!
//! A process can be killed at any line, but only two kinds of lines tell: an append to the ledger and a send to
//! a destination. Each of them is a [`Boundary`]. [`FaultLedger`] and [`FaultDestination`] number the boundaries
//! of a run, and strike at those that a [`FaultPlan`] names. A crash matrix is made of that:
//!
//! 1. run the scenario once with [`FaultPlan::none`] and take [`FaultLedger::enumerated`];
//! 2. for each [`CrashPoint`] of a [`Coverage`] over them, run it again with [`CrashPoint::plan`] in
//!    [`CrashSwitch::until_crash`], throw the process state away by dropping it, and start anew with fresh doubles
//!    over the same inner ledger and the same remote;
//! 3. compare the end with the end of the clean run, and demand that [`Coverage::unhit`] is empty.
//!
//! **Guarantees:** the boundaries are numbered in the very order in which the inner ledger is given the appends.
//! After a crash nothing on the handle returns any more, so that no code of the dead process can go on.
//!
//! **Never here:** a real process. `kill -9` runs belong beside the backends.

mod boundary;
mod destination;
mod ledger;
mod plan;
mod switch;

pub use boundary::{Boundary, Coverage, Crash, CrashPoint};
pub use destination::{DispatchFault, FaultDestination};
pub use ledger::{FaultLedger, LedgerFault};
pub use plan::{FaultPlan, Place};
pub use switch::CrashSwitch;
