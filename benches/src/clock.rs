//! A clock that can be set ahead of the one it is handed, so that what waits for an hour need not be waited for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use turnframe_core::source::{Clock, Entropy, IdSource, Timestamp};

/// Time and randomness of another source, with its clock set ahead.
#[derive(Debug, Clone)]
pub(crate) struct Ahead(Arc<Sources>);

#[derive(Debug)]
struct Sources {
    ids: IdSource,
    ahead_micros: AtomicU64,
}

impl Ahead {
    pub(crate) fn of(ids: &IdSource) -> Self {
        Self(Arc::new(Sources { ids: ids.clone(), ahead_micros: AtomicU64::new(0) }))
    }

    pub(crate) fn ids(&self) -> IdSource {
        IdSource::new(self.0.clone(), self.0.clone())
    }

    pub(crate) fn advance(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or_default();
        self.0.ahead_micros.fetch_add(micros, Ordering::Relaxed);
    }
}

impl Clock for Sources {
    fn now(&self) -> Timestamp {
        self.ids.now().plus(Duration::from_micros(self.ahead_micros.load(Ordering::Relaxed)))
    }
}

impl Entropy for Sources {
    fn fill(&self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(16) {
            part.copy_from_slice(&self.ids.bytes::<16>()[..part.len()]);
        }
    }
}
