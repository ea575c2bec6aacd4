//! The wall clock and the operating system's entropy: the one place where the program reads either.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use turnframe_core::source::{Clock, Entropy, IdSource, Timestamp};

/// The wall clock of this machine.
struct SystemClock;

impl Clock for SystemClock {
    /// Now; the epoch on a machine whose clock stands before it.
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is what everything else is handed")]
        let now = SystemTime::now();
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// The operating system's entropy.
struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        // Without entropy there are no ids, salts or tokens: nothing can go on.
        getrandom::fill(buffer).expect("the operating system gives entropy");
    }
}

/// Ids from this machine's clock and entropy.
pub(crate) fn ids() -> IdSource {
    IdSource::new(Arc::new(SystemClock), Arc::new(OsEntropy))
}
