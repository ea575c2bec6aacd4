//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod outbox;
pub(crate) mod serve;
