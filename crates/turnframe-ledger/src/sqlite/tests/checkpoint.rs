//! How long the WAL becomes, and who copies it.

use std::time::Duration;

use super::Bench;
use crate::sqlite::SqliteOptions;
use crate::sqlite::checkpoint::{ASK_AFTER, Wal};

/// The pages at which the WAL is copied beside the writer.
const PAGES: u32 = 50;
/// Entries of an append: four of them, and the length of the WAL is asked for.
const ENTRIES: u64 = ASK_AFTER / 4;

impl Bench {
    async fn with_a_short_wal() -> Self {
        Self::with(SqliteOptions { checkpoint_pages: PAGES, ..Self::options() }).await
    }

    async fn grow(&self, batches: std::ops::Range<u64>) {
        for batch in batches {
            self.commit(self.append(batch * ENTRIES, ENTRIES)).await.expect("appended");
        }
    }

    async fn wal(&self) -> Wal {
        Wal::of(&mut self.foreign().await).await.expect("a length")
    }
}

#[tokio::test]
async fn a_long_wal_is_copied_beside_the_writer_and_begins_anew() {
    let bench = Bench::with_a_short_wal().await;
    bench.grow(0..3).await;
    let before = bench.wal().await;
    assert!(before.pages > PAGES.into() && before.copied == 0, "not asked yet: {before:?}");
    bench.grow(3..4).await;
    let copied = async {
        while bench.wal().await.copied < before.pages {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), copied).await.expect("copied");
    // Held until the copying is over.
    drop(bench.ledger.checkpoints.connection.lock().await);
    bench.grow(4..5).await;
    let after = bench.wal().await;
    assert!(after.pages < before.pages, "the WAL went on: {before:?}, {after:?}");
    bench.assert_intact(5 * ENTRIES).await;
}

#[tokio::test]
async fn where_nobody_copies_the_wal_beside_it_the_writer_does() {
    let bench = Bench::with_a_short_wal().await;
    let _nobody = bench.ledger.checkpoints.connection.lock().await;
    let mut longest = 0;
    for batch in 0..40 {
        bench.grow(batch..batch + 1).await;
        longest = longest.max(bench.wal().await.pages);
    }
    let overdue = i64::from(PAGES * super::super::OVERDUE);
    assert!((overdue..overdue * 2).contains(&longest), "{longest} pages at most");
    bench.assert_intact(40 * ENTRIES).await;
}
