//! Verification: walks every entry and says what does not fit, without stopping at the first fault.
//!
//! Checked are the positions of each partition (no gap, none missing at the end), and per stream the versions,
//! the commitments and the hash chain. An entry appended while it walks is not looked at, so verifying a busy
//! ledger ends. It reads and changes nothing else.
//!
//! Memory: the last version and hash of every stream of [`WALKS_AT_ONCE`] partitions at a time, about 150 bytes each. What it
//! cannot show is a rewrite of a whole stream from its start; see [`crate::chain`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use futures::stream::{self, StreamExt};

use turnframe_core::id::AccountId;

use crate::chain::{ChainError, ChainWalker};
use crate::entry::Entry;
use crate::ledger::{EventLedger, PAGE_MAX, ReadError};
use crate::stream::{PartitionId, Position, StreamName};

/// How many partitions are walked at once.
pub const WALKS_AT_ONCE: usize = 8;

/// The most faults that a report lists.
pub const FAULTS_MAX: usize = 1_000;

/// How far verification has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The partition that is walked.
    pub partition: PartitionId,
    /// Up to where.
    pub position: Position,
    /// Where it ends.
    pub head: Position,
}

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// An entry is missing before this one, or this one stands twice.
    #[error("partition {}: position {} follows {}", partition.number(), found.0, after.0)]
    Position {
        /// The partition.
        partition: PartitionId,
        /// The position before.
        after: Position,
        /// The position that came next.
        found: Position,
    },
    /// The partition handed out positions that no entry has.
    #[error("partition {}: ends at {} and not at {}", partition.number(), found.0, head.0)]
    Tail {
        /// The partition.
        partition: PartitionId,
        /// The last position handed out.
        head: Position,
        /// The last position with an entry.
        found: Position,
    },
    /// The entry is in a partition that is not its account's.
    #[error("partition {}: position {} belongs to another partition", partition.number(), position.0)]
    Partition {
        /// Where it is.
        partition: PartitionId,
        /// At which position.
        position: Position,
    },
    /// The stream is broken here; what follows in it was not checked.
    #[error("account {account}: {error}")]
    Chain {
        /// The tenant.
        account: AccountId,
        /// What is wrong.
        error: ChainError,
    },
    /// An entry or a partition could not be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
}

/// What verification found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// How many entries were walked.
    pub entries: u64,
    /// How many streams they belong to.
    pub streams: u64,
    /// What does not fit, at most [`FAULTS_MAX`].
    pub faults: Vec<Fault>,
    /// How many more faults there are.
    pub more_faults: u64,
}

impl VerifyReport {
    /// Whether everything fits.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.faults.is_empty()
    }

    fn with(mut self, part: Self) -> Self {
        self.entries += part.entries;
        self.streams += part.streams;
        self.more_faults += part.more_faults;
        part.faults.into_iter().for_each(|fault| self.add(fault));
        self
    }

    fn add(&mut self, fault: Fault) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        } else {
            self.more_faults += 1;
        }
    }
}

/// Walks these partitions, [`WALKS_AT_ONCE`] at a time, and tells of progress after every page. The faults stand in the
/// order of the partitions.
pub async fn verify(
    ledger: &dyn EventLedger,
    partitions: impl IntoIterator<Item = PartitionId>,
    progress: impl FnMut(Progress),
) -> VerifyReport {
    let progress = Mutex::new(progress);
    let walks = partitions.into_iter().map(|partition| {
        let progress = &progress;
        async move {
            let mut report = VerifyReport::default();
            let tell = |step| progress.lock().unwrap_or_else(PoisonError::into_inner)(step);
            if let Err(error) = walk(ledger, partition, &mut report, tell).await {
                report.add(Fault::Unreadable(error));
            }
            (partition, report)
        }
    });
    // One partition is read while another one is checked, and none waits for a longer one before it.
    let mut reports: Vec<_> = stream::iter(walks).buffer_unordered(WALKS_AT_ONCE).collect().await;
    reports.sort_by_key(|(partition, _)| *partition);
    let reports = reports.into_iter().map(|(_, report)| report);
    reports.fold(VerifyReport::default(), VerifyReport::with)
}

async fn walk(
    ledger: &dyn EventLedger,
    partition: PartitionId,
    report: &mut VerifyReport,
    progress: impl Fn(Progress),
) -> Result<(), ReadError> {
    let head = ledger.head(partition).await?;
    let mut walk = Walk { partition, last: Position::START, streams: HashMap::new() };
    let mut limit = PAGE_MAX;
    while walk.last < head {
        match ledger.read_partition(partition, walk.last, limit, None).await {
            Ok(entries) if entries.is_empty() => break,
            Ok(entries) => {
                for entry in entries.iter().filter(|entry| entry.position <= head) {
                    walk.check(entry, report);
                }
                // Beyond the head only where positions are missing up to it.
                walk.last = walk.last.max(entries.last().map_or(head, |entry| entry.position));
                limit = PAGE_MAX.min(limit * 2);
            }
            // One bad entry spoils its page: smaller and smaller pages close in on it.
            Err(ReadError::Corrupt { .. }) if limit > 1 => limit /= 2,
            Err(error @ ReadError::Corrupt { .. }) => {
                walk.last = walk.last.plus(1);
                report.add(Fault::Unreadable(error));
            }
            Err(error @ ReadError::Unavailable { .. }) => return Err(error),
        }
        progress(Progress { partition, position: walk.last.min(head), head });
    }
    if walk.last < head {
        report.add(Fault::Tail { partition, head, found: walk.last });
    }
    report.streams += walk.streams.len() as u64;
    Ok(())
}

/// A walk along one partition.
struct Walk {
    partition: PartitionId,
    /// The last position that was walked.
    last: Position,
    /// Where each stream is; `None` once it is broken.
    streams: HashMap<(AccountId, StreamName), Option<ChainWalker>>,
}

impl Walk {
    fn check(&mut self, entry: &Entry, report: &mut VerifyReport) {
        let (partition, position) = (self.partition, entry.position);
        report.entries += 1;
        if position != self.last.plus(1) {
            report.add(Fault::Position { partition, after: self.last, found: position });
        }
        self.last = position;
        let stream = (entry.account.clone(), entry.stream.clone());
        let walker = self.streams.entry(stream).or_insert_with(|| {
            // Told once for each stream: all of them are where their account is.
            if PartitionId::of(&entry.account) != partition || entry.partition != partition {
                report.add(Fault::Partition { partition, position });
            }
            Some(ChainWalker::default())
        });
        if let Some(Err(error)) = walker.as_mut().map(|walker| walker.next(entry)) {
            *walker = None;
            report.add(Fault::Chain { account: entry.account.clone(), error });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLedger;
    use crate::testing::{Interposed, account, append, conversation, ids};

    /// A ledger that lost an entry and cannot read another.
    fn damaged(ledger: MemoryLedger, lost: Position, unreadable: Position) -> Interposed {
        let on_page = move |page: Vec<Entry>| {
            if page.iter().any(|entry| entry.position == unreadable) {
                let place = format!("position {}", unreadable.0);
                return Err(ReadError::Corrupt { place, reason: "damaged".to_owned() });
            }
            Ok(page.into_iter().filter(|entry| entry.position != lost).collect())
        };
        Interposed { on_page: Box::new(on_page), ..Interposed::before(ledger) }
    }

    async fn verify_with(lost: u64, unreadable: u64) -> VerifyReport {
        let (ids, acme) = (ids(1), account("acme"));
        let ledger = MemoryLedger::new();
        for number in 0..40 {
            let stream = conversation(&format!("c{number}"));
            let answers = ledger.append(vec![append(&ids, &acme, &stream, 0, 1)]).await;
            assert!(answers[0].is_ok());
        }
        let damaged = damaged(ledger, Position(lost), Position(unreadable));
        verify(&damaged, [PartitionId::of(&acme)], |_| {}).await
    }

    #[tokio::test]
    async fn a_ledger_without_fault_is_intact_and_counted() {
        let report = verify_with(0, 0).await;
        let expected = VerifyReport { entries: 40, streams: 40, ..VerifyReport::default() };
        assert_eq!(report, expected);
    }

    #[tokio::test]
    async fn a_missing_position_is_reported_where_it_is_missing() {
        let partition = PartitionId::of(&account("acme"));
        let report = verify_with(17, 0).await;
        let gap = Fault::Position { partition, after: Position(16), found: Position(18) };
        assert_eq!((report.entries, report.faults), (39, vec![gap]));
        let report = verify_with(40, 0).await;
        let tail = Fault::Tail { partition, head: Position(40), found: Position(39) };
        assert_eq!(report.faults, vec![tail]);
    }

    #[tokio::test]
    async fn an_unreadable_entry_does_not_hide_the_others() {
        let report = verify_with(0, 23).await;
        assert_eq!(report.entries, 39);
        assert!(matches!(report.faults[..], [Fault::Unreadable(ReadError::Corrupt { .. })]));
    }
}
