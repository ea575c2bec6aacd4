//! Snapshots in memory, for tests and for ledgers that live there too.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use turnframe_core::id::AccountId;

use super::{Snapshot, SnapshotStore, SnapshotsUnavailable};
use crate::stream::StreamName;

type Snapshots = HashMap<(AccountId, StreamName), Snapshot>;

/// Keeps snapshots as long as its process lives.
#[derive(Debug, Default)]
pub struct MemorySnapshots(Mutex<Snapshots>);

impl MemorySnapshots {
    fn snapshots(&self) -> MutexGuard<'_, Snapshots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SnapshotStore for MemorySnapshots {
    async fn load(&self, account: &AccountId, stream: &StreamName) -> Option<Snapshot> {
        self.snapshots().get(&(account.clone(), stream.clone())).cloned()
    }

    async fn save(&self, account: &AccountId, stream: &StreamName, snapshot: Snapshot) {
        self.snapshots().insert((account.clone(), stream.clone()), snapshot);
    }

    async fn clear(&self) -> Result<(), SnapshotsUnavailable> {
        self.snapshots().clear();
        Ok(())
    }
}
