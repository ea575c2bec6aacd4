//! A world to run the real system in: what outlives a process, and processes that can be thrown away.

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "this is a harness: whatever does not work fails the test that stands on it"
)]

pub mod altered;
pub mod canonical;
pub mod claims;
pub mod crash;
pub mod desk;
pub mod domain;
pub mod gate;
pub mod heard;
pub mod matrix;
pub mod order;
pub mod owned;
pub mod paused;
pub mod process;
pub mod reading;
pub mod simulated;
pub mod world;
