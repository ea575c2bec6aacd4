//! Following a partition: catch up by pages, then live.
//!
//! A subscription yields every entry after its cursor exactly once, in commit order. That follows from the
//! ledger's gapless positions alone; wake-ups are hints, and a lost one costs no more than [`POLL_INTERVAL`].
//! The cursor is the caller's to keep: whoever stores [`Subscription::cursor`] with the work an entry led to
//! resumes there after a crash.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream;
use tokio::sync::watch;
use turnframe_core::id::AccountId;

use crate::entry::Entry;
use crate::ledger::{EventLedger, ReadError};
use crate::stream::{PartitionId, Position};

/// How many entries a subscription reads at a time, and holds at most.
pub const SUBSCRIPTION_PAGE: usize = 256;

/// How long a subscription waits for a hint before it looks by itself.
pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The entries of a partition from a cursor on, of one account or of all.
pub struct Subscription {
    ledger: Arc<dyn EventLedger>,
    partition: PartitionId,
    account: Option<AccountId>,
    hints: watch::Receiver<Position>,
    /// Read and not yet given out, in order.
    buffer: VecDeque<Entry>,
    /// Everything up to here was read: its entries are in the buffer, were given out, or are of others.
    read: Position,
    /// Everything up to here was given out, or is of others.
    cursor: Position,
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("partition", &self.partition)
            .field("account", &self.account)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

impl Subscription {
    /// Follows a partition after a position.
    #[must_use]
    pub fn new(
        ledger: Arc<dyn EventLedger>,
        partition: PartitionId,
        after: Position,
        account: Option<AccountId>,
    ) -> Self {
        let hints = ledger.hints(partition);
        let (read, cursor) = (after, after);
        Self { ledger, partition, account, hints, buffer: VecDeque::new(), read, cursor }
    }

    /// Where to resume: everything up to here was given out, or is not of the subscription's account.
    #[must_use]
    pub fn cursor(&self) -> Position {
        self.cursor
    }

    /// The next entry, as soon as there is one. Dropping the future loses nothing.
    ///
    /// # Errors
    /// [`ReadError`] of the ledger. The subscription stays where it is and may be asked again.
    pub async fn next(&mut self) -> Result<Entry, ReadError> {
        loop {
            if let Some(entry) = self.try_next().await? {
                return Ok(entry);
            }
            // An error means that the ledger's sender is gone. Then only the interval paces the loop.
            let hint = tokio::time::timeout(POLL_INTERVAL, self.hints.changed());
            if let Ok(Err(_)) = hint.await {
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }

    /// The next entry, where one is committed already.
    ///
    /// # Errors
    /// [`ReadError`] of the ledger. The subscription stays where it is and may be asked again.
    pub async fn try_next(&mut self) -> Result<Option<Entry>, ReadError> {
        if self.buffer.is_empty() {
            // Seen before reading: a commit after this line changes the hint again.
            self.hints.mark_unchanged();
            self.fill().await?;
        }
        let entry = self.buffer.pop_front();
        match &entry {
            Some(entry) => self.cursor = entry.position,
            None => self.cursor = self.read,
        }
        Ok(entry)
    }

    async fn fill(&mut self) -> Result<(), ReadError> {
        // Read before the page: a short page then proves that nothing up to here is left.
        let head = self.ledger.head(self.partition).await?;
        if head <= self.read {
            return Ok(());
        }
        let account = self.account.as_ref();
        let page = self
            .ledger
            .read_partition(self.partition, self.read, SUBSCRIPTION_PAGE, account)
            .await?;
        let last = page.last().map_or(self.read, |entry| entry.position);
        // A full page may end before the head. A short one skips what is of other accounts for good.
        self.read = if page.len() < SUBSCRIPTION_PAGE { last.max(head) } else { last };
        self.buffer.extend(page);
        Ok(())
    }

    /// The entries as a stream that never ends by itself. It may be polled again after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Entry, ReadError>> + Send {
        stream::unfold(self, |mut subscription| async move {
            let item = subscription.next().await;
            Some((item, subscription))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryLedger;
    use crate::testing::{Interposed, account, append, conversation, ids};
    use futures::FutureExt;

    fn following(ledger: &Arc<MemoryLedger>, account: Option<&str>) -> Subscription {
        let ledger: Arc<dyn EventLedger> = Arc::<MemoryLedger>::clone(ledger);
        let partition = PartitionId::of(&crate::testing::account("acme"));
        let account = account.map(crate::testing::account);
        Subscription::new(ledger, partition, Position::START, account)
    }

    async fn write(ledger: &MemoryLedger, name: &str, stream: &str, expected: u64, count: u64) {
        let ids = ids(expected);
        let append = append(&ids, &account(name), &conversation(stream), expected, count);
        assert!(ledger.append(vec![append]).await[0].is_ok());
    }

    /// Another account in the partition of `acme`.
    fn neighbour() -> String {
        let home = PartitionId::of(&account("acme"));
        let names = (0..).map(|number| format!("n{number}"));
        let mut neighbours = names.filter(|name| PartitionId::of(&account(name)) == home);
        neighbours.next().expect("one in 64 names")
    }

    #[tokio::test]
    async fn it_catches_up_over_pages_and_then_follows_live() {
        let ledger = Arc::new(MemoryLedger::new());
        for written in 0..3 {
            write(&ledger, "acme", "c", written * 200, 200).await;
        }
        let mut subscription = following(&ledger, None);
        for position in 1..=600 {
            let entry = subscription.next().await.expect("entry");
            assert_eq!(entry.position, Position(position));
        }
        assert!(subscription.try_next().await.expect("read").is_none());
        let waiting = tokio::spawn(async move { subscription.next().await });
        write(&ledger, "acme", "c", 600, 1).await;
        let entry = waiting.await.expect("task").expect("entry");
        assert_eq!(entry.position, Position(601));
    }

    #[tokio::test]
    async fn the_cursor_moves_past_entries_of_other_accounts() {
        let ledger = Arc::new(MemoryLedger::new());
        let neighbour = neighbour();
        write(&ledger, "acme", "c", 0, 1).await;
        write(&ledger, &neighbour, "c", 0, 5).await;
        let mut subscription = following(&ledger, Some("acme"));
        assert_eq!(subscription.next().await.expect("entry").position, Position(1));
        assert_eq!(subscription.cursor(), Position(1));
        assert!(subscription.try_next().await.expect("read").is_none());
        assert_eq!(subscription.cursor(), Position(6));
        write(&ledger, "acme", "c", 1, 1).await;
        assert_eq!(subscription.next().await.expect("entry").position, Position(7));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_hint_costs_an_interval_and_no_entry() {
        let ledger = Arc::new(MemoryLedger::new());
        let mut subscription = following(&ledger, None);
        let (_silent, receiver) = watch::channel(Position::START);
        subscription.hints = receiver;
        let waiting = tokio::spawn(async move { subscription.next().await });
        tokio::task::yield_now().await;
        write(&ledger, "acme", "c", 0, 1).await;
        assert_eq!(waiting.await.expect("task").expect("entry").position, Position(1));
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_committed_while_it_looks_is_not_waited_for() {
        let racing = |ledger: &MemoryLedger| {
            // Whoever read the head before this commit finds nothing, and must be woken by its hint.
            let append = append(&ids(1), &account("acme"), &conversation("c"), 0, 1);
            let _ = ledger.append(vec![append]).now_or_never();
        };
        let ledger =
            Interposed { on_head: Box::new(racing), ..Interposed::before(MemoryLedger::new()) };
        let partition = PartitionId::of(&account("acme"));
        let mut subscription =
            Subscription::new(Arc::new(ledger), partition, Position::START, None);
        let start = tokio::time::Instant::now();
        assert_eq!(subscription.next().await.expect("entry").position, Position(1));
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_cancelled_wait_loses_nothing() {
        let ledger = Arc::new(MemoryLedger::new());
        let mut subscription = following(&ledger, None);
        let cancelled = tokio::time::timeout(Duration::from_millis(1), subscription.next()).await;
        assert!(cancelled.is_err());
        write(&ledger, "acme", "c", 0, 2).await;
        for position in 1..=2 {
            assert_eq!(subscription.next().await.expect("entry").position, Position(position));
        }
    }
}
