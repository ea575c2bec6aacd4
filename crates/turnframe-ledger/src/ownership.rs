//! Who may act for which partition.
//!
//! A partition has one owner at a time. On a backend that several processes share, an owner holds it by a
//! lease that the database's clock judges, and every append is fenced by an epoch, so that an owner that
//! lost its lease cannot write, whatever it still believes. What stands here is only that belief: it says when a
//! process should begin to act for a partition and when it must stop. It is early to stop and late to begin.
//!
//! A backend that one process has for itself owns everything for ever: [`Ownership::sole`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::stream::{PartitionId, PartitionSet};

/// Where the owner of a partition can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// What the owner advertises: a base URL, such as `http://10.0.0.7:8080`.
    pub address: String,
    /// Whether this process is the owner.
    pub is_here: bool,
}

/// The partitions of this process, shared by its ledger, which says what is owned, and by those who act for it.
#[derive(Debug)]
pub struct Ownership {
    held: watch::Sender<PartitionSet>,
    vacated: watch::Sender<PartitionSet>,
    since: Instant,
    /// Until when the lease lasts, in microseconds after `since`.
    until: AtomicU64,
}

impl Ownership {
    /// Owns every partition, for ever.
    #[must_use]
    pub fn sole() -> Self {
        Self { until: AtomicU64::new(u64::MAX), ..Self::of(PartitionSet::ALL) }
    }

    /// Owns nothing yet.
    #[must_use]
    pub fn none() -> Self {
        Self::of(PartitionSet::NONE)
    }

    fn of(held: PartitionSet) -> Self {
        Self {
            held: watch::Sender::new(held),
            vacated: watch::Sender::new(PartitionSet::NONE),
            since: Instant::now(),
            until: AtomicU64::new(0),
        }
    }

    /// The partitions to act for. It shrinks before a partition is given away: whoever acts for one that is gone
    /// finishes, and then says so with [`Ownership::vacate`].
    #[must_use]
    pub fn held(&self) -> watch::Receiver<PartitionSet> {
        self.held.subscribe()
    }

    /// Whether this process may act for a partition at this moment: it holds it, and its lease has not run out.
    /// Ask immediately before anything that no epoch fences, such as a request to the outside world.
    #[must_use]
    pub fn holds(&self, partition: PartitionId) -> bool {
        self.lasts() && self.held.borrow().contains(partition)
    }

    /// Nobody here acts for these partitions any more; they may be given to another process.
    pub fn vacate(&self, partitions: PartitionSet) {
        self.vacated.send_modify(|vacated| *vacated = vacated.union(partitions));
    }

    pub(crate) fn lasts(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == u64::MAX || self.since.elapsed() < Duration::from_micros(until)
    }

    /// The lease was renewed, by a request that was sent at a moment.
    pub fn renewed(&self, sent: Instant, lease: Duration) {
        let until = sent.saturating_duration_since(self.since) + lease;
        let micros = u64::try_from(until.as_micros()).unwrap_or(u64::MAX - 1);
        self.until.fetch_max(micros, Ordering::AcqRel);
    }

    /// Acts for exactly these partitions from now on. For a ledger's backend.
    pub fn hold(&self, partitions: PartitionSet) {
        self.vacated.send_modify(|vacated| *vacated = vacated.without(partitions));
        self.held.send_if_modified(|held| std::mem::replace(held, partitions) != partitions);
    }

    /// Stops acting for a partition. For a ledger's backend.
    pub fn lose(&self, partition: PartitionId) {
        self.held.send_if_modified(|held| {
            let had = held.contains(partition);
            held.remove(partition);
            had
        });
    }

    /// Waits until nobody acts for these partitions any more, or the patience is over. For a ledger's backend.
    pub async fn vacancy(&self, partitions: PartitionSet, patience: Duration) {
        let mut vacated = self.vacated.subscribe();
        let all = vacated.wait_for(|vacated| partitions.without(*vacated).is_empty());
        // Past it, the epoch fences whoever still acts.
        let _ = tokio::time::timeout(patience, all).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(10);

    fn partition(number: u16) -> PartitionId {
        PartitionId::new(number).expect("a partition")
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_by_itself_counted_from_when_it_was_asked_for() {
        let ownership = Ownership::none();
        let asked = Instant::now();
        tokio::time::advance(Duration::from_secs(3)).await;
        ownership.renewed(asked, LEASE);
        ownership.hold([partition(5)].into_iter().collect());
        assert!(ownership.holds(partition(5)));
        assert!(!ownership.holds(partition(6)));
        tokio::time::advance(Duration::from_secs(7)).await;
        assert!(!ownership.holds(partition(5)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_renewal_never_shortens_a_lease() {
        let ownership = Ownership::none();
        let older = Instant::now();
        tokio::time::advance(Duration::from_secs(3)).await;
        ownership.hold(PartitionSet::ALL);
        ownership.renewed(Instant::now(), LEASE);
        ownership.renewed(older, LEASE);
        tokio::time::advance(Duration::from_secs(8)).await;
        assert!(ownership.holds(partition(0)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_partition_is_given_away_once_nobody_acts_for_it_or_patience_is_over() {
        let ownership = Ownership::none();
        ownership.hold(PartitionSet::ALL);
        let leaving: PartitionSet = [partition(1), partition(2)].into_iter().collect();
        ownership.hold(PartitionSet::ALL.without(leaving));
        let start = Instant::now();
        ownership.vacate([partition(1)].into_iter().collect());
        ownership.vacancy(leaving, LEASE).await;
        assert_eq!(start.elapsed(), LEASE);
        ownership.vacate([partition(2)].into_iter().collect());
        ownership.vacancy(leaving, LEASE).await;
        assert_eq!(start.elapsed(), LEASE);
        // Taken again, it is occupied again.
        ownership.hold(PartitionSet::ALL);
        ownership.vacancy(leaving, LEASE).await;
        assert_eq!(start.elapsed(), LEASE * 2);
    }

    #[tokio::test]
    async fn a_sole_owner_owns_everything_for_ever() {
        let ownership = Ownership::sole();
        assert!(PartitionId::all().all(|partition| ownership.holds(partition)));
    }
}
