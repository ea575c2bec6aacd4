//! How often what goes wrong, and what becomes of one append.

use std::time::Duration;

use super::chance::Draw;

/// How often what goes wrong. Probabilities are from 0 to 1, for each call by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// The longest that a request, and its answer, are under way.
    pub latency_max: Duration,
    /// A transaction is refused before its commit.
    pub refused: f64,
    /// A transaction commits, and its acknowledgement gets lost.
    pub lost_ack: f64,
    /// The caller is told that the outcome is unknown while the commit is still to come.
    pub late: f64,
    /// Of those, how many never come.
    pub never: f64,
    /// How long after that the commit comes, at most.
    pub late_max: Duration,
    /// A batch is torn into two transactions.
    pub torn: f64,
    /// A commit takes long.
    pub slow: f64,
    /// How long, at most.
    pub slow_max: Duration,
    /// A read fails.
    pub unreadable: f64,
    /// A hint gets lost.
    pub hint_lost: f64,
    /// A request for leases fails.
    pub lease_unanswered: f64,
}

impl Faults {
    /// Nothing goes wrong, and nothing takes time.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            latency_max: Duration::ZERO,
            refused: 0.0,
            lost_ack: 0.0,
            late: 0.0,
            never: 0.0,
            late_max: Duration::ZERO,
            torn: 0.0,
            slow: 0.0,
            slow_max: Duration::ZERO,
            unreadable: 0.0,
            hint_lost: 0.0,
            lease_unanswered: 0.0,
        }
    }

    /// A database on a good day: calls take a few milliseconds, and one in some hundreds fails.
    #[must_use]
    pub const fn calm() -> Self {
        Self {
            latency_max: Duration::from_millis(3),
            refused: 0.003,
            lost_ack: 0.003,
            late: 0.001,
            never: 0.5,
            late_max: Duration::from_millis(200),
            torn: 0.1,
            slow: 0.01,
            slow_max: Duration::from_millis(200),
            unreadable: 0.003,
            hint_lost: 0.05,
            lease_unanswered: 0.01,
        }
    }

    /// A database that is about to be replaced: one call in ten goes wrong, each in its own way.
    #[must_use]
    pub const fn rough() -> Self {
        Self {
            latency_max: Duration::from_millis(20),
            refused: 0.05,
            lost_ack: 0.05,
            late: 0.04,
            never: 0.3,
            late_max: Duration::from_millis(300),
            torn: 0.8,
            slow: 0.1,
            slow_max: Duration::from_secs(1),
            unreadable: 0.04,
            hint_lost: 0.3,
            lease_unanswered: 0.1,
        }
    }

    /// What becomes of a transaction.
    pub(super) fn fate(&self, draw: &mut Draw) -> Fate {
        if draw.happens(self.refused) {
            return Fate::Refused;
        }
        if draw.happens(self.late) {
            let lands = !draw.happens(self.never);
            return Fate::Late { lands_after: lands.then(|| draw.within(self.late_max)) };
        }
        let is_slow = draw.happens(self.slow);
        let takes = if is_slow { draw.within(self.slow_max) } else { Duration::ZERO };
        Fate::Commits { takes, is_acknowledged: !draw.happens(self.lost_ack) }
    }

    /// Where a batch of so many appends is torn.
    pub(super) fn tear(&self, draw: &mut Draw, appends: usize) -> Option<usize> {
        (appends > 1 && draw.happens(self.torn)).then(|| 1 + draw.below(appends - 1))
    }
}

/// How often what went wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Struck {
    /// Transactions that were refused before their commit.
    pub refused: u64,
    /// Commits whose acknowledgement got lost.
    pub lost_acks: u64,
    /// Commits that came after their sender was told that nobody knows.
    pub landed_late: u64,
    /// Those of which nothing was written: somebody else was faster, or the epoch was another one.
    pub came_too_late: u64,
    /// Batches that were torn.
    pub torn: u64,
    /// Commits that took long.
    pub slow: u64,
    /// Reads that failed.
    pub unreadable: u64,
    /// Hints that got lost.
    pub hints_lost: u64,
    /// Requests for leases that were lost.
    pub leases_unanswered: u64,
    /// Appends that were fenced.
    pub fenced: u64,
}

/// What becomes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing of it is written.
    Refused,
    /// It commits.
    Commits {
        /// After this long.
        takes: Duration,
        /// Whether anybody is told.
        is_acknowledged: bool,
    },
    /// Its outcome is unknown before it has one.
    Late {
        /// It commits this long after, or never.
        lands_after: Option<Duration>,
    },
}
