//! Acting for partitions: what this process begins when it gets one, and ends when it loses one.
//!
//! The ledger says what is owned. A partition that is handed over is finished with first: its running turns and
//! the work under way, no new ones. One that is lost is left at once; whatever still runs for it is fenced by its
//! epoch. No actor outlives the tenure it was started in: what it knows may not be true any more.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use turnframe_core::id::AccountId;
use turnframe_ledger::ownership::Held;
use turnframe_ledger::{PartitionId, PartitionSet};

use crate::shared::{Registries, Shared};
use crate::sweeper::Sweeping;

/// How long actors of a partition that is somebody else's may take to end by themselves.
const EVICTION: Duration = Duration::from_millis(200);

/// The partitions that this process takes work for, each in the tenure that it was begun in. Later to begin than the
/// ledger's word, never later to end.
#[derive(Debug)]
pub(crate) struct Served(watch::Sender<Held>);

impl Default for Served {
    fn default() -> Self {
        Self(watch::Sender::new(Held::NONE))
    }
}

impl Served {
    pub(crate) fn partitions(&self) -> PartitionSet {
        self.0.borrow().partitions()
    }

    fn begin(&self, partitions: PartitionSet, held: &Held) {
        self.0.send_modify(|served| *served = served.with(partitions, held));
    }

    fn end(&self, partitions: PartitionSet) {
        self.0.send_modify(|served| *served = served.without(partitions));
    }
}

impl Shared {
    /// Begins with what is owned already.
    pub(crate) fn begin(&self) -> Held {
        let held = *self.ledger.ownership().held().borrow();
        self.served.begin(held.partitions(), &held);
        held
    }

    /// Whether this process takes work for an account: in the tenure that the ledger speaks of, under a lease that
    /// lasts.
    pub(crate) fn serves(&self, account: &AccountId) -> bool {
        let (partition, ownership) = (PartitionId::of(account), self.ledger.ownership());
        let held = *ownership.held().borrow();
        self.served.0.borrow().agrees(&held, partition) && ownership.holds(partition)
    }
}

/// Follows the ledger's word.
pub(crate) struct Tenure {
    pub(crate) shared: Arc<Shared>,
    pub(crate) registries: Registries,
    pub(crate) sweeping: Arc<[Sweeping]>,
}

impl Tenure {
    /// Runs as long as the system. The watch keeps the last word only; numbered tenures tell what was missed.
    pub(crate) async fn follow(self, mut before: Held) {
        let mut changes = self.shared.ledger.ownership().held();
        // What was said since the beginning is news too.
        changes.mark_changed();
        let this = Arc::new(self);
        while changes.changed().await.is_ok() {
            let now = *changes.borrow_and_update();
            let (ended, begun) = (before.ended(&now), now.ended(&before));
            before = now;
            this.shared.served.end(ended);
            this.sweeping.iter().for_each(|sweeping| sweeping.end(ended));
            let (leaving, lost) = this.sort(ended);
            if !leaving.is_empty() {
                tokio::spawn(this.clone().leave(leaving));
            }
            if !lost.union(begun).is_empty() {
                tokio::spawn(this.clone().turn_over(lost, begun, now));
            }
        }
    }

    /// Leaves what was lost and begins what was taken. One that takes long holds up no other change.
    async fn turn_over(self: Arc<Self>, lost: PartitionSet, begun: PartitionSet, now: Held) {
        self.evict(lost.union(begun)).await;
        // What has ended meanwhile is begun in a tenure that is over: nothing is served in it.
        let held = *self.shared.ledger.ownership().held().borrow();
        let begun: PartitionSet = begun.iter().filter(|id| now.agrees(&held, *id)).collect();
        self.shared.served.begin(begun, &now);
        if !begun.is_empty() {
            self.take_up(begun).await;
        }
    }

    fn sort(&self, ended: PartitionSet) -> (PartitionSet, PartitionSet) {
        let ownership = self.shared.ledger.ownership();
        let leaving: PartitionSet = ended.iter().filter(|id| ownership.is_leaving(*id)).collect();
        (leaving, ended.without(leaving))
    }

    /// Finishes what is under way, then lets the partitions go.
    async fn leave(self: Arc<Self>, partitions: PartitionSet) {
        let finished = async {
            self.registries.conversations.finish(|key| is_in(&key.0, partitions)).await;
            for sweeping in self.sweeping.iter() {
                sweeping.finish(partitions).await;
            }
        };
        let patience = self.shared.limits.shutdown;
        if tokio::time::timeout(patience, finished).await.is_err() {
            tracing::warn!("work was left unfinished; the next owner takes it up");
        }
        self.evict(partitions).await;
        // Taken again meanwhile, they are not ours to clear.
        let gone = partitions.without(self.shared.served.partitions());
        self.shared.ledger.ownership().vacate(gone);
    }

    /// Ends the actors of these partitions, as long as they are not served again.
    async fn evict(&self, partitions: PartitionSet) {
        if partitions.is_empty() {
            return;
        }
        let is_left = |account: &AccountId| {
            let partition = PartitionId::of(account);
            partitions.contains(partition) && !self.shared.served.0.borrow().contains(partition)
        };
        self.registries.conversations.evict(|key| is_left(&key.0), EVICTION).await;
        self.registries.cases.evict(|key| is_left(&key.0), EVICTION).await;
    }

    /// Takes up what the owner before left: unfinished turns, effects, facts.
    async fn take_up(&self, partitions: PartitionSet) {
        for sweeping in self.sweeping.iter() {
            sweeping.take_up(partitions);
        }
        let (shared, registries) = (&self.shared, &self.registries);
        while let Err(error) =
            crate::system::resume_unfinished(shared, registries, partitions, None).await
        {
            tracing::warn!(%error, "unfinished turns could not be looked for yet");
            tokio::time::sleep(shared.limits.sweep).await;
        }
    }
}

fn is_in(account: &AccountId, partitions: PartitionSet) -> bool {
    partitions.contains(PartitionId::of(account))
}
