//! When a destination is left alone: a circuit breaker for attempts, and the pace of sends. Look-ups are asked as usual
//! once a pause is over. Both are pure over the injected time;
//! neither outlives its process, which begins as if all were well.

use std::time::Duration;

use turnframe_core::source::Timestamp;

/// Leaves a destination alone that fails again and again, so that what waits for it neither uses up its attempts nor
/// keeps it from recovering. A failure is an attempt that was not sent or whose outcome nobody knows.
#[derive(Debug, Clone)]
pub struct Breaker {
    /// How many failures in a row open it.
    failures_max: u32,
    /// How long it stays open before it is tried again.
    pause: Duration,
    failures: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything is sent.
    Closed,
    /// Nothing is sent until then; then one attempt is.
    Open(Timestamp),
    /// One attempt is on its way, until then at the latest.
    Trying(Timestamp),
}

impl Breaker {
    /// A breaker that opens after this many failures in a row, and never where that is none.
    #[must_use]
    pub const fn new(failures_max: u32, pause: Duration) -> Self {
        Self { failures_max, pause, failures: 0, state: State::Closed }
    }

    /// Until when nothing is to be sent; `None` where an attempt may be begun. Changes nothing.
    #[must_use]
    pub fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        match self.state {
            State::Open(until) | State::Trying(until) if now < until => Some(until),
            State::Closed | State::Open(_) | State::Trying(_) => None,
        }
    }

    /// Begins an attempt that takes no longer than this, or says until when none may be begun. After the pause it is
    /// one attempt that shows how things are.
    ///
    /// # Errors
    /// Until when nothing is to be sent.
    pub fn begin(&mut self, now: Timestamp, longest: Duration) -> Result<(), Timestamp> {
        if let Some(until) = self.closed_until(now) {
            return Err(until);
        }
        if self.state != State::Closed {
            self.state = State::Trying(now.plus(longest));
        }
        Ok(())
    }

    /// An attempt that was begun was never made: it shows nothing, and another one may be.
    pub fn abandon(&mut self, now: Timestamp) {
        if let State::Trying(_) = self.state {
            self.state = State::Open(now);
        }
    }

    /// Notes how an attempt ended. Says whether the breaker opened by it.
    pub fn end(&mut self, now: Timestamp, failed: bool) -> bool {
        if !failed {
            (self.failures, self.state) = (0, State::Closed);
            return false;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures_max == 0 || self.failures < self.failures_max {
            return false;
        }
        self.state = State::Open(now.plus(self.pause));
        true
    }
}

/// Spaces sends evenly: no more than so many a second, after a first burst of as many as run at once.
#[derive(Debug, Clone)]
pub struct Pace {
    interval: Duration,
    burst: u32,
    /// When the sends that were let go so far would have been over, had each taken its interval (GCRA's theoretical
    /// arrival time).
    spent: Timestamp,
}

impl Pace {
    /// At most this many a second, not counting a burst.
    #[must_use]
    pub fn new(per_second: std::num::NonZeroU32, burst: u32) -> Self {
        let interval = Duration::from_secs(1) / per_second.get();
        Self { interval, burst, spent: Timestamp::from_micros(i64::MIN) }
    }

    /// How long the next send has to wait. It is counted.
    pub fn next(&mut self, now: Timestamp) -> Duration {
        let spent = self.spent.max(now);
        self.spent = spent.plus(self.interval);
        let ahead = spent.since(now);
        ahead.saturating_sub(self.interval * self.burst.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    const PAUSE: Duration = Duration::from_secs(10);
    const LONGEST: Duration = Duration::from_secs(3);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(0).plus(Duration::from_secs(seconds))
    }

    /// A breaker that three failures opened at a second.
    fn opened(second: u64) -> Breaker {
        let mut breaker = Breaker::new(3, PAUSE);
        for failure in 1..=3 {
            assert_eq!(breaker.begin(at(second), LONGEST), Ok(()));
            assert_eq!(breaker.end(at(second), true), failure == 3);
        }
        breaker
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_not_before() {
        let mut breaker = Breaker::new(3, PAUSE);
        for failed in [true, true, false, true, true] {
            assert_eq!(breaker.begin(at(0), LONGEST), Ok(()));
            assert!(!breaker.end(at(0), failed));
        }
        assert_eq!(breaker.closed_until(at(0)), None);
        assert!(breaker.end(at(0), true));
        assert_eq!(breaker.begin(at(9), LONGEST), Err(at(10)));
    }

    #[test]
    fn after_the_pause_one_attempt_shows_how_things_are() {
        let mut breaker = opened(0);
        assert_eq!(breaker.begin(at(10), LONGEST), Ok(()));
        assert_eq!(breaker.begin(at(10), LONGEST), Err(at(13)), "one at a time");
        assert!(!breaker.end(at(11), false));
        assert_eq!(breaker.begin(at(11), LONGEST), Ok(()));
        assert_eq!(breaker.begin(at(11), LONGEST), Ok(()), "closed again");

        let mut breaker = opened(0);
        assert_eq!(breaker.begin(at(10), LONGEST), Ok(()));
        assert!(breaker.end(at(12), true));
        assert_eq!(breaker.begin(at(21), LONGEST), Err(at(22)));
    }

    #[test]
    fn an_attempt_that_never_ends_is_followed_by_another() {
        let mut breaker = opened(0);
        assert_eq!(breaker.begin(at(10), LONGEST), Ok(()));
        assert_eq!(breaker.begin(at(12), LONGEST), Err(at(13)));
        assert_eq!(breaker.begin(at(13), LONGEST), Ok(()));
    }

    #[test]
    fn an_attempt_that_was_never_made_is_followed_by_another_at_once() {
        let mut breaker = opened(0);
        assert_eq!(breaker.begin(at(10), LONGEST), Ok(()));
        breaker.abandon(at(11));
        assert_eq!(breaker.begin(at(11), LONGEST), Ok(()));
        assert_eq!(breaker.begin(at(11), LONGEST), Err(at(14)), "one at a time");
    }

    #[test]
    fn one_that_may_fail_without_end_never_opens() {
        let mut breaker = Breaker::new(0, PAUSE);
        for _ in 0..100 {
            assert_eq!(breaker.begin(at(0), LONGEST), Ok(()));
            assert!(!breaker.end(at(0), true));
        }
    }

    #[test]
    fn sends_are_spaced_evenly_after_a_burst() {
        let mut pace = Pace::new(NonZeroU32::new(10).expect("a rate"), 3);
        let waits = |pace: &mut Pace, now, count| {
            (0..count).map(|_| pace.next(now).as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(waits(&mut pace, at(5), 6), [0, 0, 0, 100, 200, 300]);
        // Those six are over after 0.6 seconds; what was not used is not saved up beyond a burst.
        assert_eq!(waits(&mut pace, at(60), 5), [0, 0, 0, 100, 200]);
    }
}
