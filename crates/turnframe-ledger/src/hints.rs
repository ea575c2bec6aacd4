//! One watch per partition: wakes who waits for entries, and promises nothing.

use tokio::sync::watch;

use crate::stream::{PARTITIONS, PartitionId, Position};

/// The newest known position of each partition.
#[derive(Debug)]
pub(crate) struct Hints(Vec<watch::Sender<Position>>);

impl Default for Hints {
    fn default() -> Self {
        Self((0..PARTITIONS).map(|_| watch::Sender::new(Position::START)).collect())
    }
}

impl Hints {
    /// Announces a position; an older one than announced before is ignored.
    pub(crate) fn announce(&self, partition: PartitionId, head: Position) {
        let newer = |known: &mut Position| {
            let newer = *known < head;
            *known = head.max(*known);
            newer
        };
        self.of(partition).send_if_modified(newer);
    }

    pub(crate) fn subscribe(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.of(partition).subscribe()
    }

    fn of(&self, partition: PartitionId) -> &watch::Sender<Position> {
        &self.0[usize::from(partition.number())]
    }
}
