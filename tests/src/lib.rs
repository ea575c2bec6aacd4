//! A world to run the real system in: what outlives a process, and processes that can be thrown away.

#![expect(
    clippy::missing_panics_doc,
    reason = "this is a harness: whatever does not work fails the test that stands on it"
)]

pub mod canonical;
pub mod desk;
pub mod matrix;
pub mod world;
