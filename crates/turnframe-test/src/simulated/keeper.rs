//! The task that keeps a node's leases.
//!
//! Each round it says that the node is alive, learns what the node still owns, gives up what is more than its share,
//! and takes what is free where it has less. Where a request is lost, the round is: the next one comes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use turnframe_ledger::PartitionSet;

use super::database::pass;
use super::lease::{Epochs, Leases, Renewed};
use super::node::Node;

/// Keeps a node's leases for as long as the node lives.
pub(super) async fn keep(node: Arc<Node>) {
    let mut keeper = Keeper { node, leaving: PartitionSet::NONE };
    loop {
        // A round that came to nothing is as good as none.
        let _ = keeper.round().await;
        tokio::time::sleep(keeper.node.database.terms.renewal).await;
    }
}

struct Keeper {
    node: Arc<Node>,
    /// Partitions that were held, and that somebody here may still act for.
    leaving: PartitionSet,
}

/// A request to the database was lost.
struct Unanswered;

impl Keeper {
    async fn round(&mut self) -> Result<(), Unanswered> {
        let (id, terms) = (self.node.id, self.node.database.terms);
        let sent = Instant::now();
        let renewed = self.ask("renew", move |leases, now| leases.renew(id, now)).await?;
        let Renewed { mut owned, share } = renewed;
        self.hold(&owned);
        // Partitions that are taken later are held longer than this says: the first to lapse counts.
        self.node.ownership.renewed(sent, terms.lease);
        if owned.len() > share {
            return self.give_up(owned, share).await;
        }
        let room = share - owned.len();
        if room > 0 {
            self.vacate(self.leaving, terms.patience).await;
            owned.extend(self.ask("take", move |leases, now| leases.take(id, room, now)).await?);
            self.hold(&owned);
        }
        Ok(())
    }

    /// Gives up the last ones: those who act for them are heard out first.
    async fn give_up(&mut self, owned: Epochs, share: usize) -> Result<(), Unanswered> {
        let id = self.node.id;
        let surplus: PartitionSet = owned.keys().copied().skip(share).collect();
        let held: PartitionSet = owned.keys().copied().take(share).collect();
        self.leaving = self.leaving.union(surplus);
        // The epochs are still known: who acts for what is given up may finish.
        self.node.ownership.hold(held);
        self.vacate(surplus, self.node.database.terms.patience).await;
        self.ask("release", move |leases, _| leases.release(id, surplus)).await
    }

    async fn vacate(&mut self, partitions: PartitionSet, patience: Duration) {
        if !partitions.is_empty() {
            self.node.ownership.vacancy(partitions, patience).await;
            self.leaving = self.leaving.without(partitions);
        }
    }

    /// Writes under these epochs, and acts for these partitions.
    fn hold(&mut self, owned: &Epochs) {
        let before = *self.node.ownership.held().borrow();
        let held: PartitionSet = owned.keys().copied().collect();
        self.leaving = self.leaving.union(before.without(held));
        self.node.know(owned.clone());
        self.node.ownership.hold(held);
    }

    /// A request on its way there and back.
    async fn ask<T>(
        &self,
        call: &str,
        request: impl FnOnce(&mut Leases, Instant) -> T,
    ) -> Result<T, Unanswered> {
        let database = &self.node.database;
        let asked = async {
            let faults = database.faults();
            let mut draw = database.draw(self.node.id, call, &[]);
            pass(draw.within(faults.latency_max)).await;
            if draw.happens(faults.lease_unanswered / 2.0) {
                return Err(Unanswered);
            }
            let answer = request(&mut database.leases(), Instant::now());
            pass(draw.within(faults.latency_max)).await;
            if draw.happens(faults.lease_unanswered / 2.0) { Err(Unanswered) } else { Ok(answer) }
        };
        self.node.pulse.through(asked).await
    }
}
