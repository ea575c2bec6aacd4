//! The epochs under which this process writes, shared by the writer, who writes under them, and the keeper of
//! the lease, who takes and loses partitions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stream::{PARTITIONS, PartitionId, PartitionSet};

/// The epoch of a partition that is not owned: no partition is at it.
const NONE: i64 = -1;

/// An epoch for each partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Epochs([i64; PARTITIONS as usize]);

impl Default for Epochs {
    fn default() -> Self {
        Self([NONE; PARTITIONS as usize])
    }
}

impl Epochs {
    pub(super) fn of(&self, partition: PartitionId) -> i64 {
        self.0[usize::from(partition.number())]
    }

    fn set(&mut self, partition: PartitionId, epoch: i64) {
        self.0[usize::from(partition.number())] = epoch;
    }

    pub(super) fn owned(&self) -> PartitionSet {
        PartitionId::all().filter(|partition| self.of(*partition) != NONE).collect()
    }
}

#[derive(Debug, Default)]
struct Held {
    epochs: Epochs,
    /// Taken since the writer looked last: what it remembers of them may be of an older tenure.
    fresh: PartitionSet,
}

/// What this process owns.
#[derive(Debug, Default)]
pub(super) struct Tenure(Mutex<Held>);

impl Tenure {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A partition was taken, or its epoch was raised by this process itself. Epochs only rise: an answer that comes
    /// late changes nothing.
    pub(super) fn take(&self, partition: PartitionId, epoch: i64) {
        let mut held = self.held();
        if epoch > held.epochs.of(partition) {
            held.epochs.set(partition, epoch);
            held.fresh.insert(partition);
        }
    }

    /// A partition is somebody else's, or nobody's.
    pub(super) fn lose(&self, partition: PartitionId) {
        self.held().epochs.set(partition, NONE);
    }

    /// What was written under an epoch was fenced: the partition is lost, unless it was taken again since.
    pub(super) fn fenced(&self, partition: PartitionId, epoch: i64) {
        let mut held = self.held();
        if held.epochs.of(partition) == epoch {
            held.epochs.set(partition, NONE);
        }
    }

    pub(super) fn owned(&self) -> PartitionSet {
        self.held().epochs.owned()
    }

    /// The epochs to write under, and the partitions of which everything remembered must be forgotten first.
    pub(super) fn look(&self) -> (Epochs, PartitionSet) {
        let mut held = self.held();
        (held.epochs.clone(), std::mem::take(&mut held.fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_late_changes_nothing() {
        let tenure = Tenure::default();
        let partition = PartitionId::new(7).expect("a partition");
        tenure.take(partition, 5);
        tenure.take(partition, 4);
        assert_eq!(tenure.look().0.of(partition), 5);
        // What was sent under an older epoch says nothing about this one.
        tenure.fenced(partition, 4);
        assert!(tenure.owned().contains(partition));
        tenure.fenced(partition, 5);
        assert!(tenure.owned().is_empty());
    }
}
