//! Types and pure functions of Turnframe.
//!
//! Models propose meaning, deterministic reducers decide effects, committed events decide claims. This
//! crate holds what those three sentences are made of.
//!
//! **Absent on purpose:** async, I/O, a clock, randomness, SQL, HTTP, and every word of a sample domain.

pub mod canonical;
pub mod id;
pub mod personal;
pub mod source;

#[cfg(test)]
mod testing;
