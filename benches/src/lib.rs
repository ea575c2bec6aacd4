//! The load generator: whole turns against a running system, measured.
//!
//! A bench turn is the whole pipeline (accept, gather, scripted understanding, resolve, reduce, police, execute
//! with a domain event, compose with its receipt, answer) with outbox and relay running. HTTP is left out.
//! The understanding is scripted, so that the figures are the system's own and not a model's.

pub mod load;
pub mod tally;
