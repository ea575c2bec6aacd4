//! Timestamps that move with the clock of the runtime.

use tokio::time::Instant;
use turnframe_core::source::{Clock, Timestamp};

use crate::sources::START;

/// A clock that shows [`START`] when it is made, and goes on as the runtime's clock does: under a paused one, time
/// passes when there is nothing else to do.
#[derive(Debug)]
pub struct SimulatedClock(Instant);

impl Default for SimulatedClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        START.plus(self.0.elapsed())
    }
}
