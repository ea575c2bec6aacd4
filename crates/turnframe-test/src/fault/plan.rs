//! Which fault strikes where, and the record of a run's boundaries.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::boundary::{Boundary, CrashPoint};

/// How a plan names a boundary.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// By its number in the run.
    Number(usize),
    /// By its name, and which one of that name it is.
    Named {
        /// The name.
        name: String,
        /// From 1.
        occurrence: usize,
    },
}

impl Place {
    fn is(&self, boundary: &Boundary) -> bool {
        match self {
            Self::Number(number) => *number == boundary.number,
            Self::Named { name, occurrence } => {
                *name == boundary.name && *occurrence == boundary.occurrence
            }
        }
    }
}

impl From<usize> for Place {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Place {
    /// The first boundary of this name.
    fn from(name: &str) -> Self {
        Self::from((name, 1))
    }
}

impl From<(&str, usize)> for Place {
    fn from((name, occurrence): (&str, usize)) -> Self {
        Self::Named { name: name.to_owned(), occurrence }
    }
}

impl From<&Boundary> for Place {
    fn from(boundary: &Boundary) -> Self {
        Self::Named { name: boundary.name.clone(), occurrence: boundary.occurrence }
    }
}

/// Which faults strike where. Each strikes once.
#[derive(Debug, Clone)]
pub struct FaultPlan<F>(Vec<(Place, F)>);

impl<F> FaultPlan<F> {
    /// A run without faults, which enumerates its boundaries.
    #[must_use]
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// This plan and one more fault. Where two name one boundary, the first strikes.
    #[must_use]
    pub fn with(mut self, place: impl Into<Place>, fault: impl Into<F>) -> Self {
        self.0.push((place.into(), fault.into()));
        self
    }
}

/// The boundaries of a run as it comes by them, with the faults that are still to strike.
#[derive(Debug)]
pub(super) struct Boundaries<F>(Mutex<Run<F>>);

#[derive(Debug)]
struct Run<F> {
    pending: Vec<(Place, F)>,
    seen: Vec<Boundary>,
    crashed_at: Option<CrashPoint>,
}

impl<F> Boundaries<F> {
    pub(super) fn new(plan: FaultPlan<F>) -> Self {
        Self(Mutex::new(Run { pending: plan.0, seen: Vec::new(), crashed_at: None }))
    }

    /// Numbers a boundary and says which fault strikes there.
    pub(super) fn pass(&self, name: String) -> (Boundary, Option<F>) {
        let mut run = self.run();
        let occurrence = 1 + run.seen.iter().filter(|seen| seen.name == name).count();
        let boundary = Boundary { number: run.seen.len() + 1, name, occurrence };
        run.seen.push(boundary.clone());
        let struck = run.pending.iter().position(|(place, _)| place.is(&boundary));
        let fault = struck.map(|index| run.pending.remove(index).1);
        (boundary, fault)
    }

    pub(super) fn note_crash(&self, point: CrashPoint) {
        self.run().crashed_at = Some(point);
    }

    pub(super) fn crashed_at(&self) -> Option<CrashPoint> {
        self.run().crashed_at.clone()
    }

    pub(super) fn enumerated(&self) -> Vec<Boundary> {
        self.run().seen.clone()
    }

    pub(super) fn unhit(&self) -> Vec<Place> {
        self.run().pending.iter().map(|(place, _)| place.clone()).collect()
    }

    fn run(&self) -> MutexGuard<'_, Run<F>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_found_by_number_by_name_and_by_itself() {
        let third = Boundary { number: 3, name: "a".to_owned(), occurrence: 2 };
        let plan = FaultPlan::<&str>::none().with(1, "one").with(("b", 1), "b").with(&third, "aa");
        let boundaries = Boundaries::new(plan.with("never", "never"));
        let names = ["a", "b", "a", "a"];
        let faults: Vec<_> =
            names.iter().map(|name| boundaries.pass((*name).to_owned()).1).collect();
        assert_eq!(faults, [Some("one"), Some("b"), Some("aa"), None]);
        assert_eq!(boundaries.unhit(), [Place::from("never")]);
        assert_eq!(boundaries.enumerated()[2], third);
    }
}
