//! What the port cannot show: failing commits, foreign writers, tampering, and how rows are found.

mod checkpoint;
mod failures;
mod plans;
mod tampering;

use std::path::PathBuf;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, SqliteConnection};
use tempfile::TempDir;
use turnframe_core::id::AccountId;
use turnframe_core::source::IdSource;

use super::{SqliteLedger, SqliteOptions};
use crate::append::{Append, AppendError, Appended};
use crate::entry::Entry;
use crate::ledger::EventLedger;
use crate::stream::{PartitionId, StreamName, Version};
use crate::testing::{account, append, conversation, ids};
use crate::verify::{VerifyReport, verify};

/// A ledger in a throwaway directory, with one stream of one account to write to.
struct Bench {
    directory: TempDir,
    ledger: SqliteLedger,
    ids: IdSource,
    acme: AccountId,
    stream: StreamName,
}

impl Bench {
    async fn new() -> Self {
        Self::with(Self::options()).await
    }

    async fn with(options: SqliteOptions) -> Self {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("ledger.db");
        let ledger = SqliteLedger::open(path, options).await.expect("open");
        let (acme, stream) = (account("acme"), conversation("c"));
        Self { directory, ledger, ids: ids(1), acme, stream }
    }

    fn options() -> SqliteOptions {
        SqliteOptions { busy_timeout: Duration::from_millis(50), ..SqliteOptions::default() }
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("ledger.db")
    }

    /// A connection that knows nothing of the ledger's rules.
    async fn foreign(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.path()).foreign_keys(false);
        options.connect().await.expect("connection")
    }

    async fn execute(&self, statement: &'static str) {
        let mut foreign = self.foreign().await;
        sqlx::query(statement).execute(&mut foreign).await.expect("executed");
    }

    fn append(&self, expected: u64, count: u64) -> Append {
        append(&self.ids, &self.acme, &self.stream, expected, count)
    }

    async fn commit(&self, append: Append) -> Result<Appended, AppendError> {
        self.ledger.append(vec![append]).await.remove(0)
    }

    async fn read(&self) -> Vec<Entry> {
        let read = self.ledger.read_stream(&self.acme, &self.stream, Version::NONE, 99);
        read.await.expect("read")
    }

    async fn verify(&self) -> VerifyReport {
        verify(&self.ledger, PartitionId::all(), |_| {}).await
    }

    async fn assert_intact(&self, entries: u64) {
        let report = self.verify().await;
        assert!(report.is_intact(), "{:?}", report.faults);
        assert_eq!(report.entries, entries);
    }
}
