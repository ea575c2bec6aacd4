//! Boundaries, crash points, and which of them a matrix has been through.

use std::collections::BTreeSet;
use std::fmt;

use super::plan::FaultPlan;

/// A place in a run where the process touches what outlives it.
///
/// The number says how far the run had come. Name and occurrence say the same in words that hold in another run of
/// the scenario too, where actors beside each other may come in another order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Boundary {
    /// Its number in the run, from 1.
    pub number: usize,
    /// What happens there, such as `conversation: turn.accepted`.
    pub name: String,
    /// Counts the boundaries of this name, from 1.
    pub occurrence: usize,
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (occurrence {})", self.number, self.name, self.occurrence)
    }
}

/// On which side of a boundary the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Crash {
    /// Nothing of it happened: before the commit, before the send.
    Before,
    /// It happened, and the process never learns: after the commit or the send, before the answer.
    After,
}

impl Crash {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Before, Self::After];
}

/// A boundary and a side of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CrashPoint {
    /// The boundary.
    pub boundary: Boundary,
    /// The side.
    pub crash: Crash,
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.crash {
            Crash::Before => "before",
            Crash::After => "after",
        };
        write!(f, "{side} {}", self.boundary)
    }
}

impl CrashPoint {
    /// The plan of a run that dies here. The boundary is found by name and occurrence.
    #[must_use]
    pub fn plan<F: From<Crash>>(&self) -> FaultPlan<F> {
        FaultPlan::none().with(&self.boundary, F::from(self.crash))
    }
}

/// Every crash point of a scenario, and which of them a run has died at.
#[derive(Debug, Clone)]
pub struct Coverage {
    points: Vec<CrashPoint>,
    struck: BTreeSet<(String, usize, Crash)>,
}

impl Coverage {
    /// Both sides of each boundary; none is struck yet.
    #[must_use]
    pub fn of(boundaries: &[Boundary]) -> Self {
        let both = |boundary: &Boundary| {
            Crash::ALL.map(|crash| CrashPoint { boundary: boundary.clone(), crash })
        };
        Self { points: boundaries.iter().flat_map(both).collect(), struck: BTreeSet::new() }
    }

    /// The points, in the order in which the clean run came by them.
    #[must_use]
    pub fn points(&self) -> &[CrashPoint] {
        &self.points
    }

    /// Notes where a run died, if it did.
    pub fn note(&mut self, crashed_at: Option<CrashPoint>) {
        self.struck.extend(crashed_at.as_ref().map(key));
    }

    /// The points at which no run has died. A matrix fails unless there are none.
    #[must_use]
    pub fn unhit(&self) -> Vec<&CrashPoint> {
        self.points.iter().filter(|point| !self.struck.contains(&key(point))).collect()
    }
}

/// What a point is in every run of its scenario; its number may differ.
fn key(point: &CrashPoint) -> (String, usize, Crash) {
    (point.boundary.name.clone(), point.boundary.occurrence, point.crash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary(number: usize, name: &str, occurrence: usize) -> Boundary {
        Boundary { number, name: name.to_owned(), occurrence }
    }

    #[test]
    fn a_point_that_no_run_died_at_is_told() {
        let mut coverage = Coverage::of(&[boundary(1, "a", 1), boundary(2, "a", 2)]);
        assert_eq!(coverage.points().len(), 4);
        coverage.note(None);
        // Another run came by in another order: number 7 is the second "a" all the same.
        for (boundary, crash) in [
            (boundary(1, "a", 1), Crash::Before),
            (boundary(1, "a", 1), Crash::After),
            (boundary(7, "a", 2), Crash::Before),
        ] {
            coverage.note(Some(CrashPoint { boundary, crash }));
        }
        let unhit: Vec<_> = coverage.unhit().iter().map(ToString::to_string).collect();
        assert_eq!(unhit, ["after 2 a (occurrence 2)"]);
    }
}
