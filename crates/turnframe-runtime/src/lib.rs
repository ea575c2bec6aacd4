//! The stages of a turn as functions over ports.
//!
//! **Absent on purpose:** SQL, HTTP, actors, and every word of a sample domain.

pub mod port;
