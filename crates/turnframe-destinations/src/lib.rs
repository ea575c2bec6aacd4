//! What destinations are made of, whatever they are.
//!
//! **Never here:** a word of a domain, a decision, the ledger.

pub mod webhooks;
