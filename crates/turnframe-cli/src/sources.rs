//! The wall clock and the operating system's entropy: the one place where the program reads either.

use std::cell::RefCell;
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

/// How much entropy a thread takes from the operating system at a time.
const TAKEN_BYTES: usize = 4096;

/// What a thread has taken and not yet given out.
struct Taken {
    bytes: [u8; TAKEN_BYTES],
    given: usize,
}

thread_local! {
    static TAKEN: RefCell<Taken> =
        const { RefCell::new(Taken { bytes: [0; TAKEN_BYTES], given: TAKEN_BYTES }) };
}

/// The operating system's entropy, taken in larger parts: a turn needs a few bytes a dozen times.
struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) {
        // Without entropy there are no ids, salts or tokens: nothing can go on.
        let take = |bytes: &mut [u8]| {
            getrandom::fill(bytes).expect("the operating system gives entropy");
        };
        if buffer.len() > TAKEN_BYTES {
            return take(buffer);
        }
        TAKEN.with_borrow_mut(|taken| {
            if taken.given + buffer.len() > TAKEN_BYTES {
                take(&mut taken.bytes);
                taken.given = 0;
            }
            let next = taken.given + buffer.len();
            let given = &mut taken.bytes[taken.given..next];
            buffer.copy_from_slice(given);
            // What was given out is not kept.
            given.fill(0);
            taken.given = next;
        });
    }
}

/// Ids from this machine's clock and entropy.
pub(crate) fn ids() -> IdSource {
    IdSource::new(Arc::new(SystemClock), Arc::new(OsEntropy))
}
