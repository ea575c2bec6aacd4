//! Manual sources: a clock that stands still until it is told to move, and entropy that a seed repeats.
//!
//! With both injected, every id, timestamp and salt of a test run is exact, and a failure found under a
//! seed is found again.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use turnframe_core::source::{Clock, Entropy, IdSource, Timestamp};

/// Where [`ids`] sets its clock: 2026-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

/// A clock that only a test moves.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that shows this moment.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_micros()))
    }

    /// Shows this moment from now on, an earlier one too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Moves forward, saturating at the end of time.
    pub fn advance(&self, duration: Duration) {
        let advanced = |now| Some(Timestamp::from_micros(now).plus(duration).as_micros());
        // The closure never answers `None`, so the update cannot be refused.
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, advanced);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Entropy that repeats itself under the same seed.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<StdRng>);

impl SeededEntropy {
    /// The bytes that belong to a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        // Whoever panicked while holding the lock left a valid generator behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(buffer);
    }
}

/// Ids under a seed, at [`START`], on a clock of their own that never moves.
#[must_use]
pub fn ids(seed: u64) -> IdSource {
    ids_on(Arc::new(ManualClock::new(START)), seed)
}

/// Ids under a seed, on a clock that the test keeps.
#[must_use]
pub fn ids_on(clock: Arc<ManualClock>, seed: u64) -> IdSource {
    IdSource::new(clock, Arc::new(SeededEntropy::new(seed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_every_id_and_another_seed_none() {
        let (one, again, other) = (ids(7), ids(7), ids(8));
        for _ in 0..3 {
            let id = one.uuid();
            assert_eq!(id, again.uuid());
            assert_ne!(id, other.uuid());
        }
    }

    #[test]
    fn the_clock_moves_only_when_it_is_moved() {
        let clock = Arc::new(ManualClock::new(START));
        let ids = ids_on(Arc::clone(&clock), 1);
        assert_eq!(ids.now(), START);
        clock.advance(Duration::from_micros(3));
        assert_eq!(ids.now().as_micros(), START.as_micros() + 3);
        clock.set(Timestamp::from_micros(-1));
        assert_eq!(ids.now().as_micros(), -1);
    }
}
