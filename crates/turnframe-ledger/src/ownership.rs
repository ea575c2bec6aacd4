//! Who may act for which partition.
//!
//! A partition has one owner at a time. On a backend that several processes share, an owner holds it by a
//! lease that the database's clock judges, and every append is fenced by an epoch, so that an owner that
//! lost its lease cannot write, whatever it still believes. What stands here is only that belief: it says when a
//! process should begin to act for a partition and when it must stop. It is early to stop and late to begin.
//!
//! A backend that one process has for itself owns everything for ever: [`Ownership::sole`].

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::stream::{PARTITIONS, PartitionId, PartitionSet};

/// Where the owner of a partition can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// What the owner advertises: a base URL, such as `http://10.0.0.7:8080`.
    pub address: String,
    /// Whether this process is the owner.
    pub is_here: bool,
}

/// The partitions that a process acts for, each with the number of its tenure: a partition that was lost and taken
/// again has another one, however quickly that went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Held([u32; PARTITIONS as usize]);

impl Held {
    /// No partition.
    pub const NONE: Self = Self([0; PARTITIONS as usize]);

    fn tenure(&self, partition: PartitionId) -> u32 {
        self.0[usize::from(partition.number())]
    }

    /// The partitions.
    #[must_use]
    pub fn partitions(&self) -> PartitionSet {
        PartitionId::all().filter(|partition| self.contains(*partition)).collect()
    }

    /// Whether a partition is among them.
    #[must_use]
    pub fn contains(&self, partition: PartitionId) -> bool {
        self.tenure(partition) != 0
    }

    /// Whether a partition is in both of them, in the same tenure.
    #[must_use]
    pub fn agrees(&self, other: &Self, partition: PartitionId) -> bool {
        self.contains(partition) && self.tenure(partition) == other.tenure(partition)
    }

    /// With these partitions as they are in another one.
    #[must_use]
    pub fn with(mut self, partitions: PartitionSet, other: &Self) -> Self {
        for partition in partitions.iter() {
            self.0[usize::from(partition.number())] = other.tenure(partition);
        }
        self
    }

    /// Without these partitions.
    #[must_use]
    pub fn without(self, partitions: PartitionSet) -> Self {
        self.with(partitions, &Self::NONE)
    }

    /// Those whose tenure does not go on later, also where another one followed it.
    #[must_use]
    pub fn ended(&self, later: &Self) -> PartitionSet {
        let ended = |id: &PartitionId| self.contains(*id) && self.tenure(*id) != later.tenure(*id);
        PartitionId::all().filter(ended).collect()
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.partitions().fmt(f)
    }
}

/// The partitions of this process, shared by its ledger, which says what is owned, and by those who act for it.
#[derive(Debug)]
pub struct Ownership {
    held: watch::Sender<Held>,
    tenures: AtomicU32,
    leaving: watch::Sender<PartitionSet>,
    since: Instant,
    /// Until when the lease lasts, in microseconds after `since`.
    until: AtomicU64,
}

impl Ownership {
    /// Owns every partition, for ever.
    #[must_use]
    pub fn sole() -> Self {
        let sole = Self { until: AtomicU64::new(u64::MAX), ..Self::none() };
        sole.hold(PartitionSet::ALL);
        sole
    }

    /// Owns nothing yet.
    #[must_use]
    pub fn none() -> Self {
        Self {
            held: watch::Sender::new(Held::NONE),
            tenures: AtomicU32::new(1),
            leaving: watch::Sender::new(PartitionSet::NONE),
            since: Instant::now(),
            until: AtomicU64::new(0),
        }
    }

    /// The partitions to act for. Whoever acts for one whose tenure ends stops: at once, or, where it is only handed
    /// over ([`Ownership::is_leaving`]), with what is under way, and then says so with [`Ownership::vacate`].
    #[must_use]
    pub fn held(&self) -> watch::Receiver<Held> {
        self.held.subscribe()
    }

    /// The number of a partition's tenure; 0 where it is not held. What was read in one may not be true in another.
    #[must_use]
    pub fn tenure(&self, partition: PartitionId) -> u32 {
        self.held.borrow().tenure(partition)
    }

    /// Whether this process may act for a partition at this moment: it is its own, and its lease has not run out.
    /// Ask immediately before anything that no epoch fences, such as a request to the outside world.
    #[must_use]
    pub fn holds(&self, partition: PartitionId) -> bool {
        let is_ours = self.held.borrow().contains(partition) || self.is_leaving(partition);
        is_ours && self.lasts()
    }

    /// Whether a partition is still ours and is about to be given to another process.
    #[must_use]
    pub fn is_leaving(&self, partition: PartitionId) -> bool {
        self.leaving.borrow().contains(partition)
    }

    /// Nobody here acts for these partitions any more; they may be given to another process.
    pub fn vacate(&self, partitions: PartitionSet) {
        self.leaving.send_modify(|leaving| *leaving = leaving.without(partitions));
    }

    pub(crate) fn lasts(&self) -> bool {
        let until = self.until.load(Ordering::Acquire);
        until == u64::MAX || self.since.elapsed() < Duration::from_micros(until)
    }

    /// The lease was renewed, by a request that was sent at a moment. For a ledger's backend, like all that follows.
    pub fn renewed(&self, sent: Instant, lease: Duration) {
        let until = sent.saturating_duration_since(self.since) + lease;
        let micros = u64::try_from(until.as_micros()).unwrap_or(u64::MAX - 1);
        self.until.fetch_max(micros, Ordering::AcqRel);
    }

    /// Acts for exactly these partitions from now on. The tenure of one that is held already goes on.
    pub fn hold(&self, partitions: PartitionSet) {
        self.held.send_if_modified(|held| {
            let before = *held;
            for partition in PartitionId::all() {
                let tenure = &mut held.0[usize::from(partition.number())];
                match (partitions.contains(partition), *tenure) {
                    (false, _) => *tenure = 0,
                    (true, 0) => *tenure = self.tenures.fetch_add(1, Ordering::Relaxed),
                    (true, _) => {}
                }
            }
            *held != before
        });
    }

    /// Stops acting for a partition that is somebody else's.
    pub fn lose(&self, partition: PartitionId) {
        self.vacate(PartitionSet::from_iter([partition]));
        self.held.send_if_modified(|held| {
            let tenure = &mut held.0[usize::from(partition.number())];
            std::mem::take(tenure) != 0
        });
    }

    /// Stops acting for partitions that are to be given to another process, and waits until nobody here does, or
    /// the patience is over: past it, the epoch fences whoever still acts. The caller gives them up then.
    pub async fn hand_over(&self, partitions: PartitionSet, patience: Duration) {
        let acting = self.held.borrow().partitions();
        self.leaving.send_modify(|leaving| *leaving = acting.intersection(partitions));
        let mut left = self.leaving.subscribe();
        self.hold(acting.without(partitions));
        let empty = left.wait_for(|leaving| leaving.is_empty());
        let _ = tokio::time::timeout(patience, empty).await;
        self.vacate(partitions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const LEASE: Duration = Duration::from_secs(10);

    fn partition(number: u16) -> PartitionId {
        PartitionId::new(number).expect("a partition")
    }

    fn set(numbers: &[u16]) -> PartitionSet {
        numbers.iter().map(|number| partition(*number)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_ends_by_itself_counted_from_when_it_was_asked_for() {
        let ownership = Ownership::none();
        let asked = Instant::now();
        tokio::time::advance(Duration::from_secs(3)).await;
        ownership.renewed(asked, LEASE);
        ownership.hold(set(&[5]));
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
    async fn a_partition_is_given_away_once_nobody_acts_for_it() {
        let ownership = Arc::new(Ownership::none());
        ownership.renewed(Instant::now(), LEASE);
        ownership.hold(PartitionSet::ALL);
        let mut held = ownership.held();
        let acting = ownership.clone();
        tokio::spawn(async move {
            held.changed().await.expect("a change");
            // It is still ours for what is under way, and for nothing new.
            assert!(acting.is_leaving(partition(1)) && acting.holds(partition(1)));
            assert!(!held.borrow().contains(partition(1)));
            tokio::time::sleep(Duration::from_secs(1)).await;
            acting.vacate(set(&[1]));
            tokio::time::sleep(Duration::from_secs(1)).await;
            acting.vacate(set(&[2]));
        });
        let start = Instant::now();
        ownership.hand_over(set(&[1, 2]), LEASE).await;
        assert_eq!(start.elapsed(), Duration::from_secs(2));
        assert!(!ownership.holds(partition(1)) && ownership.holds(partition(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_longer_than_the_patience() {
        let ownership = Ownership::none();
        ownership.hold(PartitionSet::ALL);
        let start = Instant::now();
        ownership.hand_over(set(&[1]), LEASE).await;
        assert_eq!(start.elapsed(), LEASE);
        assert!(!ownership.is_leaving(partition(1)));
    }

    #[tokio::test]
    async fn a_partition_that_is_lost_and_taken_again_has_another_tenure() {
        let ownership = Ownership::none();
        ownership.hold(set(&[1, 2, 3]));
        let before = *ownership.held().borrow();
        ownership.lose(partition(1));
        ownership.lose(partition(2));
        ownership.hold(set(&[1, 3, 4]));
        let after = *ownership.held().borrow();
        assert_eq!(before.ended(&after), set(&[1, 2]));
        assert_eq!(after.partitions(), set(&[1, 3, 4]));
        assert_eq!(after.ended(&after), PartitionSet::NONE);
    }

    #[tokio::test]
    async fn a_sole_owner_owns_everything_for_ever() {
        let ownership = Ownership::sole();
        assert!(PartitionId::all().all(|partition| ownership.holds(partition)));
    }
}
