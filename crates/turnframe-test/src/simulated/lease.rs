//! The table of leases, as the database has it: plain transitions at a moment that the database's clock says.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use turnframe_ledger::stream::PARTITIONS;
use turnframe_ledger::{PartitionId, PartitionSet};

/// How long leases last and how they are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerms {
    /// How long a lease lasts after it was renewed.
    pub lease: Duration,
    /// How often a node renews its leases.
    pub renewal: Duration,
    /// How long a node waits for those who act for a partition before it gives the partition up. Shorter than the
    /// lease by more than a renewal, so that the other partitions are not lost meanwhile.
    pub patience: Duration,
}

impl Default for LeaseTerms {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            renewal: Duration::from_secs(2),
            patience: Duration::from_secs(3),
        }
    }
}

/// One process's life on the database: a process that starts again under the same address is another one.
pub(super) type NodeId = u64;

/// The epochs under which a node owns its partitions.
pub(super) type Epochs = BTreeMap<PartitionId, u64>;

/// What a node learns when it renews its leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renewed {
    /// What it still owns.
    pub(super) owned: Epochs,
    /// How many partitions each of the nodes that live may have.
    pub(super) share: usize,
}

#[derive(Debug, Clone, Copy)]
struct Lease {
    owner: Option<NodeId>,
    epoch: u64,
    until: Instant,
}

/// Who owns what, and who was heard of until when.
#[derive(Debug)]
pub(super) struct Leases {
    terms: LeaseTerms,
    partitions: BTreeMap<PartitionId, Lease>,
    nodes: BTreeMap<NodeId, Instant>,
}

impl Leases {
    pub(super) fn new(terms: LeaseTerms, now: Instant) -> Self {
        let free = |partition| (partition, Lease { owner: None, epoch: 0, until: now });
        let partitions = PartitionId::all().map(free).collect();
        Self { terms, partitions, nodes: BTreeMap::new() }
    }

    /// A node is alive, and keeps what nobody has taken from it.
    pub(super) fn renew(&mut self, node: NodeId, now: Instant) -> Renewed {
        let until = now + self.terms.lease;
        self.nodes.insert(node, until);
        self.nodes.retain(|_, heard_until| *heard_until > now);
        let mut owned = Epochs::new();
        for (partition, lease) in &mut self.partitions {
            if lease.owner == Some(node) {
                lease.until = until;
                owned.insert(*partition, lease.epoch);
            }
        }
        Renewed { owned, share: usize::from(PARTITIONS).div_ceil(self.nodes.len().max(1)) }
    }

    /// Nodes are gone for good: what they own is free. Their epochs stay good until somebody takes it.
    pub(super) fn end(&mut self, gone: impl IntoIterator<Item = NodeId>, now: Instant) {
        for node in gone {
            self.nodes.remove(&node);
            let owned = self.partitions.values_mut().filter(|lease| lease.owner == Some(node));
            owned.for_each(|lease| lease.until = lease.until.min(now));
        }
    }

    /// A node gives up partitions that are its own. Their epoch stays: who comes next raises it.
    pub(super) fn release(&mut self, node: NodeId, partitions: PartitionSet) {
        for partition in partitions.iter() {
            if let Some(lease) = self.partitions.get_mut(&partition)
                && lease.owner == Some(node)
            {
                lease.owner = None;
            }
        }
    }

    /// A node takes partitions that are free or whose lease has run out, and raises their epochs.
    pub(super) fn take(&mut self, node: NodeId, most: usize, now: Instant) -> Epochs {
        let until = now + self.terms.lease;
        let is_free = |lease: &Lease| lease.owner.is_none() || lease.until <= now;
        let others = |lease: &Lease| lease.owner != Some(node);
        let free = self.partitions.iter_mut().filter(|(_, it)| is_free(it) && others(it));
        let take = |(partition, lease): (&PartitionId, &mut Lease)| {
            *lease = Lease { owner: Some(node), epoch: lease.epoch + 1, until };
            (*partition, lease.epoch)
        };
        free.take(most).map(take).collect()
    }

    /// Whether a node may write to a partition under the epoch that it knows. Like a database's condition on a row,
    /// this looks at the epoch alone: a lease that ran out and that nobody took stands in nobody's way.
    pub(super) fn admits(&self, node: NodeId, epochs: &Epochs, partition: PartitionId) -> bool {
        let lease = self.partitions.get(&partition);
        lease.is_some_and(|lease| {
            lease.owner == Some(node) && epochs.get(&partition) == Some(&lease.epoch)
        })
    }

    /// Who owns a partition at a moment.
    pub(super) fn owner(&self, partition: PartitionId, now: Instant) -> Option<NodeId> {
        self.partitions.get(&partition).filter(|lease| lease.until > now)?.owner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: NodeId = 1;
    const TWO: NodeId = 2;

    fn leases() -> (Leases, Instant) {
        let now = Instant::now();
        (Leases::new(LeaseTerms::default(), now), now)
    }

    fn partition(number: u16) -> PartitionId {
        PartitionId::new(number).expect("a partition")
    }

    #[test]
    fn what_was_taken_is_kept_by_renewal_and_lost_when_somebody_else_takes_it() {
        let (mut leases, start) = leases();
        let lease = LeaseTerms::default().lease;
        assert_eq!(leases.renew(ONE, start).share, 64);
        let of_one = leases.take(ONE, 64, start);
        assert_eq!(of_one.len(), 64);
        assert_eq!(leases.renew(TWO, start + lease / 2).share, 32);
        assert!(leases.take(TWO, 32, start + lease / 2).is_empty(), "nothing is free");
        assert!(leases.admits(ONE, &of_one, partition(7)));

        let late = start + lease;
        assert_eq!(leases.owner(partition(7), late), None, "the lease ran out");
        assert!(leases.admits(ONE, &of_one, partition(7)), "and nobody took it");
        let of_two = leases.take(TWO, 32, late);
        assert_eq!(of_two.len(), 32);
        let taken = *of_two.keys().next().expect("a partition");
        assert_eq!(leases.owner(taken, late), Some(TWO));
        assert!(!leases.admits(ONE, &of_one, taken));
        assert!(leases.admits(TWO, &of_two, taken));
        let renewed = leases.renew(ONE, late);
        assert_eq!(renewed.owned.len(), 32);
        assert!(!renewed.owned.contains_key(&taken));
    }

    #[test]
    fn what_is_given_up_is_free_at_once_and_its_old_epoch_is_stale() {
        let (mut leases, now) = leases();
        let of_one = leases.take(ONE, 64, now);
        leases.release(TWO, PartitionSet::ALL);
        assert!(leases.admits(ONE, &of_one, partition(0)), "nobody gives up for another");
        leases.release(ONE, [partition(3)].into_iter().collect());
        assert!(!leases.admits(ONE, &of_one, partition(3)));
        assert_eq!(leases.take(TWO, 64, now), Epochs::from([(partition(3), 2)]));
        leases.release(TWO, PartitionSet::ALL);
        let again = leases.take(ONE, 64, now);
        assert_eq!(again, Epochs::from([(partition(3), 3)]));
        assert!(!leases.admits(ONE, &of_one, partition(3)), "the epoch is another one by now");
    }

    #[test]
    fn what_a_node_owned_that_is_gone_for_good_is_free_at_once_and_fenced_when_it_is_taken() {
        let (mut leases, now) = leases();
        leases.renew(ONE, now);
        let of_one = leases.take(ONE, 64, now);
        leases.end([ONE], now);
        assert!(leases.admits(ONE, &of_one, partition(0)), "what it had sent may land");
        assert_eq!(leases.renew(TWO, now).share, 64);
        assert_eq!(leases.take(TWO, 64, now).len(), 64);
        assert!(!leases.admits(ONE, &of_one, partition(0)));
    }

    #[test]
    fn the_dead_have_a_share_until_they_were_not_heard_of_for_a_lease() {
        let (mut leases, now) = leases();
        leases.renew(ONE, now);
        assert_eq!(leases.renew(TWO, now).share, 32);
        let later = now + LeaseTerms::default().lease;
        assert_eq!(leases.renew(TWO, later).share, 64);
    }
}
