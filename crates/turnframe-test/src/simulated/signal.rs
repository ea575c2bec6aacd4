//! A value that tasks wait for, one behind the other.

use std::fmt;
use std::sync::Mutex;

use tokio::sync::Notify;

use super::database::locked;

/// A value that changes, and that tasks wait for.
///
/// A `watch` of tokio wakes those who wait in an order of its own, drawn anew in every run. This one wakes them in the
/// order in which they came, so that one seed is one run.
#[derive(Default)]
pub struct Signal<T> {
    value: Mutex<T>,
    changed: Notify,
}

impl<T: fmt::Debug> fmt::Debug for Signal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signal").field(&*locked(&self.value)).finish()
    }
}

impl<T: Clone> Signal<T> {
    /// A value to begin with.
    pub fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Notify::new() }
    }

    /// The value at this moment.
    pub fn get(&self) -> T {
        locked(&self.value).clone()
    }

    /// Changes the value, and wakes those who wait.
    pub fn set(&self, value: T) {
        *locked(&self.value) = value;
        self.changed.notify_waiters();
    }

    /// Waits until something can be made of the value, and says what.
    pub async fn until<U>(&self, make: impl Fn(&T) -> Option<U>) -> U {
        loop {
            // Before the look, so that no change comes between the look and the wait.
            let changed = self.changed.notified();
            let made = make(&locked(&self.value));
            match made {
                Some(made) => return made,
                None => changed.await,
            }
        }
    }
}
