//! The commands, one module each.

pub(crate) mod demo;
pub(crate) mod serve;
