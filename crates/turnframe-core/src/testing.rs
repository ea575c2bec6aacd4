//! Manual sources for this crate's own tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::source::{Clock, Entropy, IdSource, Timestamp};

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_700_000_000_000_000)
    }
}

struct Counter(AtomicU64);

impl Entropy for Counter {
    fn fill(&self, buffer: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        for (byte, source) in buffer.iter_mut().rev().zip(number.iter().rev().cycle()) {
            *byte = *source;
        }
    }
}

pub(crate) fn ids() -> IdSource {
    IdSource::new(Arc::new(Fixed), Arc::new(Counter(AtomicU64::new(1))))
}
