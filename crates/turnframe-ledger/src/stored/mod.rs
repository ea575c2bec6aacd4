//! What the backends that keep entries in a database share: how rows are read, how names are interned, and what a
//! writer and its readers remember.

pub(crate) mod known;
pub(crate) mod names;
pub(crate) mod recent;
pub(crate) mod rows;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinError;

use self::recent::Recent;
use crate::admission::{Answers, NewHeads, Plan};
use crate::entry::Entry;
use crate::ledger::{LedgerStatistics, ReadError};

/// The batch is committed: it may be read from memory too.
pub(crate) fn finish(plan: Plan<'_>, recent: &Recent) -> (Answers, NewHeads) {
    recent.keep(&plan);
    let mut heads = BTreeMap::new();
    for placed in plan.placed() {
        heads.insert(placed.partition, placed.last());
    }
    (plan.answers(), heads.into_iter().collect())
}

/// Reads beside whoever waits for it, who may have the page before to work on: a walk along a whole ledger decodes one
/// page while it checks another.
pub(crate) async fn beside(
    read: impl Future<Output = Result<Vec<Entry>, ReadError>> + Send + 'static,
) -> Result<Vec<Entry>, ReadError> {
    let unavailable = |error: JoinError| ReadError::Unavailable { reason: error.to_string() };
    tokio::spawn(read).await.map_err(unavailable)?
}

/// What a ledger counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    statements: AtomicU64,
    entries: AtomicU64,
}

impl Counters {
    pub(crate) fn read(&self) -> LedgerStatistics {
        LedgerStatistics {
            commits: self.commits.load(Ordering::Relaxed),
            statements: self.statements.load(Ordering::Relaxed),
            entries: self.entries.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn sent(&self, statements: u64) {
        self.statements.fetch_add(statements, Ordering::Relaxed);
    }

    pub(crate) fn committed(&self, entries: u64) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.entries.fetch_add(entries, Ordering::Relaxed);
    }
}
