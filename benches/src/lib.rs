//! The load generator and what is measured with it: whole turns against a running system, the ledger alone beside a
//! client that only inserts, memory, growth, order.
//!
//! A bench turn is the whole pipeline (accept, gather, scripted understanding, resolve, reduce, police, execute
//! with a domain event, compose with its receipt, answer) with outbox and relay running. HTTP is left out.
//! The understanding is scripted, so that the figures are the system's own and not a model's.
//!
//! [`report`] takes every figure in one run and sets each beside what was aimed at. It reports; it never judges with
//! an exit code.

pub mod append;
mod clock;
pub mod effects;
mod error;
mod ground;
mod growth;
mod latency;
pub mod load;
mod office;
mod order;
mod process;
pub mod report;
mod resident;
mod single;
pub mod speaker;
pub mod tally;

pub use error::BenchError;
pub use ground::{Backend, Ground};
