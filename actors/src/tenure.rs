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

/// The partitions that this process takes work for. Later to begin than the ledger's word, never later to end.
#[derive(Debug)]
pub(crate) struct Served(watch::Sender<PartitionSet>);

impl Default for Served {
    fn default() -> Self {
        Self(watch::Sender::new(PartitionSet::NONE))
    }
}

impl Served {
    pub(crate) fn partitions(&self) -> PartitionSet {
        *self.0.borrow()
    }

    fn begin(&self, partitions: PartitionSet) {
        self.0.send_modify(|served| *served = served.union(partitions));
    }

    fn end(&self, partitions: PartitionSet) {
        self.0.send_modify(|served| *served = served.without(partitions));
    }
}

impl Shared {
    /// Begins with what is owned already.
    pub(crate) fn begin(&self) -> Held {
        let held = *self.ledger.ownership().held().borrow();
        self.served.begin(held.partitions());
        held
    }

    /// Whether this process takes work for an account.
    pub(crate) fn serves(&self, account: &AccountId) -> bool {
        let partition = PartitionId::of(account);
        self.served.partitions().contains(partition) && self.ledger.ownership().holds(partition)
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
            let (leaving, lost) = this.sort(ended);
            if !leaving.is_empty() {
                tokio::spawn(this.clone().leave(leaving));
            }
            this.evict(lost.union(begun)).await;
            // The lease may have ended meanwhile: then the next change says so.
            this.shared.served.begin(begun);
            if !begun.is_empty() {
                tokio::spawn(this.clone().take_up(begun));
            }
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
        // Taken again meanwhile, they are not ours to clear.
        let gone = partitions.without(self.shared.served.partitions());
        self.evict(gone).await;
        self.shared.ledger.ownership().vacate(gone);
    }

    async fn evict(&self, partitions: PartitionSet) {
        if partitions.is_empty() {
            return;
        }
        self.registries.conversations.evict(|key| is_in(&key.0, partitions), EVICTION).await;
        self.registries.cases.evict(|key| is_in(&key.0, partitions), EVICTION).await;
    }

    /// Takes up what the owner before left: unfinished turns, effects, facts.
    async fn take_up(self: Arc<Self>, partitions: PartitionSet) {
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
