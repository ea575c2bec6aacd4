//! What waits of effects, and for how long: what operators are shown and alarmed by. Pure, from the ledger's marks.
//!
//! An effect is **open** from its request until it is concluded or parked, and always has a time at which its next step
//! is due: to be sent, sent again, looked up, or called unknown. It is **overdue** once that time is past, and its age
//! is counted from there: a step that is still to come is on its schedule, and every schedule ends in a conclusion or in
//! parking. So an overdue effect is one that nobody sees to, whatever the reason: its partition is nobody's, its
//! destination is not known anywhere or is left alone, or more is asked for than is sent. A **parked** one waits for an
//! operator, and its age is counted from its parking. Neither can grow old unseen.

use std::collections::BTreeMap;
use std::time::Duration;

use turnframe_core::id::{AccountId, DestinationKey, EffectId};
use turnframe_core::source::Timestamp;
use turnframe_ledger::mark::BACKLOG_COUNT_MAX;
use turnframe_ledger::{Backlog, MarkKind, StreamName};

/// What waits for one destination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DestinationBacklog {
    /// The open effects, where there are any.
    pub open: Option<Waiting>,
    /// Those that are parked.
    pub parked: Option<Waiting>,
}

/// Effects that wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// How many, counted up to a bound.
    pub count: usize,
    /// Whether there are so many that they were not counted to the end.
    pub is_cut: bool,
    /// Since when the first of them is due, or parked; still to come where none is overdue.
    pub since: Timestamp,
    /// Whose the first of them is.
    pub account: AccountId,
    /// Which that is.
    pub effect: EffectId,
}

/// How long something may wait before operators are alarmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BacklogLimits {
    /// For how long an effect may be overdue.
    pub overdue_max: Duration,
    /// For how long an effect may be parked.
    pub parked_max: Duration,
}

impl DestinationBacklog {
    /// For how long the oldest open effect is overdue; nothing where none is.
    #[must_use]
    pub fn overdue(&self, now: Timestamp) -> Duration {
        age(self.open.as_ref(), now)
    }

    /// For how long the oldest parked effect is parked; nothing where none is.
    #[must_use]
    pub fn parked(&self, now: Timestamp) -> Duration {
        age(self.parked.as_ref(), now)
    }

    /// Whether what is open has been overdue for too long.
    #[must_use]
    pub fn is_stalled(&self, now: Timestamp, limits: &BacklogLimits) -> bool {
        self.overdue(now) > limits.overdue_max
    }

    /// Whether what is parked has waited for an operator for too long.
    #[must_use]
    pub fn is_undecided(&self, now: Timestamp, limits: &BacklogLimits) -> bool {
        self.parked(now) > limits.parked_max
    }
}

fn age(waiting: Option<&Waiting>, now: Timestamp) -> Duration {
    waiting.map(|waiting| now.since(waiting.since)).unwrap_or_default()
}

/// What waits, by destination: of each that is known, and of each that anything waits for.
#[must_use]
pub fn by_destination<'a>(
    backlog: Vec<Backlog>,
    known: impl IntoIterator<Item = &'a DestinationKey>,
) -> BTreeMap<String, DestinationBacklog> {
    let empty = |key: &DestinationKey| (key.to_string(), DestinationBacklog::default());
    let mut destinations: BTreeMap<_, _> = known.into_iter().map(empty).collect();
    for Backlog { first, count } in backlog {
        // A mark of these kinds leads to an effect.
        let StreamName::Effect(effect) = first.stream else { continue };
        let destination = destinations.entry(first.group().to_owned()).or_default();
        let is_cut = count >= BACKLOG_COUNT_MAX;
        let waiting = Waiting { count, is_cut, since: first.due, account: first.account, effect };
        if first.kind == MarkKind::Effect {
            destination.open = Some(waiting);
        } else if first.kind == MarkKind::Parked {
            destination.parked = Some(waiting);
        }
    }
    destinations
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_ledger::Mark;

    const LIMITS: BacklogLimits =
        BacklogLimits { overdue_max: Duration::from_secs(10), parked_max: Duration::from_secs(20) };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(0).plus(Duration::from_secs(seconds))
    }

    fn waits(kind: MarkKind, group: &str, since: u64, count: usize) -> Backlog {
        let effect = "01890000-0000-7000-8000-000000000007".parse::<EffectId>().expect("an effect");
        let first = Mark {
            account: AccountId::new("acme").expect("an account"),
            kind,
            key: format!("{group}/{effect}"),
            stream: StreamName::Effect(effect),
            due: at(since),
        };
        Backlog { first, count }
    }

    fn keys(names: [&str; 2]) -> [DestinationKey; 2] {
        names.map(|name| DestinationKey::new(name).expect("a destination"))
    }

    #[test]
    fn l8_age_is_counted_from_when_something_should_have_been_done() {
        let backlog =
            vec![waits(MarkKind::Effect, "post", 100, 3), waits(MarkKind::Parked, "post", 90, 1)];
        let told = &by_destination(backlog, &keys(["post", "wire"]))["post"];
        assert_eq!(told.overdue(at(99)), Duration::ZERO, "its time is still to come");
        assert_eq!(told.overdue(at(107)), Duration::from_secs(7));
        for (second, is_stalled, is_undecided) in
            [(110, false, false), (111, true, true), (99, false, false)]
        {
            let now = at(second);
            assert_eq!(told.is_stalled(now, &LIMITS), is_stalled, "{second}");
            assert_eq!(told.is_undecided(now, &LIMITS), is_undecided, "{second}");
        }
    }

    #[test]
    fn one_that_is_known_is_told_without_a_backlog_and_one_with_a_backlog_without_being_known() {
        let backlog = vec![waits(MarkKind::Effect, "gone", 1, BACKLOG_COUNT_MAX)];
        let told = by_destination(backlog, &keys(["post", "wire"]));
        assert_eq!(told.keys().collect::<Vec<_>>(), ["gone", "post", "wire"]);
        assert_eq!(told["post"], DestinationBacklog::default());
        assert_eq!(told["post"].overdue(at(1_000)), Duration::ZERO);
        assert!(told["gone"].open.as_ref().is_some_and(|waiting| waiting.is_cut));
    }
}
