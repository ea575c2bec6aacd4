//! How the simulated airline meets requests.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::AirlineRequest;

/// How a request to rebook is met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// It is processed and answered.
    Accept,
    /// It is refused for good, and the book says so.
    Refuse {
        /// The airline's code.
        code: String,
    },
    /// It is processed and answered after a while, also where its sender has gone.
    Delay(Duration),
    /// It is processed, and the connection drops before the answer.
    DropAfterCommit,
    /// The connection drops before it is processed. The sender cannot tell this from
    /// [`Behaviour::DropAfterCommit`].
    DropBeforeCommit,
    /// It is processed, and the answer is an internal error.
    ErrorAfterCommit,
    /// The answer is an internal error, and it is not processed.
    ServerError,
    /// It is turned away unprocessed.
    Busy {
        /// Whether the answer proves it; without, it only says when to try again.
        proof: bool,
    },
    /// It is processed, and the answer cannot be read.
    Garbled,
    /// It is neither processed nor answered.
    Hang,
}

type Rule = Box<dyn Fn(&str, &AirlineRequest) -> Option<Behaviour> + Send + Sync>;

/// What comes next, and the rule for the rest.
#[derive(Default)]
pub(super) struct Script {
    next: VecDeque<Behaviour>,
    rule: Option<Rule>,
    failing_lookups: u32,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Script {
    pub(super) fn next(&mut self, behaviour: Behaviour) {
        self.next.push_back(behaviour);
    }

    pub(super) fn rule(&mut self, rule: Rule) {
        self.rule = Some(rule);
    }

    pub(super) const fn fail_lookups(&mut self, count: u32) {
        self.failing_lookups = count;
    }

    pub(super) fn behaviour(&mut self, key: &str, request: &AirlineRequest) -> Behaviour {
        let ruled = || self.rule.as_ref().and_then(|rule| rule(key, request));
        self.next.pop_front().or_else(ruled).unwrap_or(Behaviour::Accept)
    }

    pub(super) const fn fails_lookup(&mut self) -> bool {
        let fails = self.failing_lookups > 0;
        self.failing_lookups = self.failing_lookups.saturating_sub(1);
        fails
    }
}
