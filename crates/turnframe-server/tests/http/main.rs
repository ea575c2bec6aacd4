//! The HTTP face over a real system, a real ledger and real connections on loopback.
//!
//! The workflow is the test kit's library desk; what messages mean is scripted, and everything behind that is
//! the system as it is deployed. Nothing here waits for time to pass: a test waits for an answer or an event.

mod callbacks;
mod elsewhere;
mod events;
mod host;
mod isolation;
mod live;
mod operator;
mod problems;
mod turns;
