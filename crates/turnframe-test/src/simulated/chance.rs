//! Where every chance of a run comes from.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use turnframe_core::canonical::Digest;

/// The chances of a run: a function of the seed, of what is drawn for, and of how often that was drawn for before.
///
/// It does not depend on who came first. Two tasks that trade places at one moment meet the same faults, and a call
/// that is added to the code moves no fault of another call.
#[derive(Debug)]
pub struct Chance {
    seed: u64,
    times: Mutex<HashMap<Digest, u64>>,
}

impl Chance {
    /// The chances that belong to a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, times: Mutex::default() }
    }

    /// Draws for something.
    #[must_use]
    pub fn of(&self, what: &str, about: &[&[u8]]) -> Draw {
        let named = Digest::of(what, about);
        let time = {
            // Nobody panics while holding it.
            let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
            let time = times.entry(named).or_default();
            *time += 1;
            *time
        };
        let parts: [&[u8]; 3] = [&self.seed.to_be_bytes(), named.as_bytes(), &time.to_be_bytes()];
        Draw(StdRng::from_seed(*Digest::of("turnframe.test.chance", &parts).as_bytes()))
    }
}

/// What is drawn for one thing.
#[derive(Debug)]
pub struct Draw(StdRng);

impl Draw {
    /// Whether something of this probability, from 0 to 1, happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.0.random_bool(probability.clamp(0.0, 1.0))
    }

    /// A time of whole milliseconds, none up to the longest.
    pub fn within(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(self.0.random_range(0..=longest))
    }

    /// A number below a bound; 0 where the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.random_range(0..bound.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(chance: &Chance, what: &str) -> Vec<usize> {
        (0..8).map(|_| chance.of(what, &[b"x"]).below(1_000_000)).collect()
    }

    #[test]
    fn what_is_drawn_for_one_thing_does_not_depend_on_what_was_drawn_for_another() {
        let (alone, beside) = (Chance::new(7), Chance::new(7));
        let expected = numbers(&alone, "read");
        numbers(&beside, "append");
        assert_eq!(numbers(&beside, "read"), expected);
        assert_ne!(numbers(&Chance::new(8), "read"), expected);
        assert_ne!(numbers(&alone, "read"), expected, "the next time is another time");
    }

    #[test]
    fn what_cannot_happen_does_not_and_what_must_does() {
        let mut draw = Chance::new(1).of("x", &[]);
        assert!((0..100).all(|_| !draw.happens(0.0) && draw.happens(1.0)));
        assert_eq!((draw.within(Duration::ZERO), draw.below(0)), (Duration::ZERO, 0));
    }
}
