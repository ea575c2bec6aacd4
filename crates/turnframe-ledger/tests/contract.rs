//! The ledger contract on the backends of this crate.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tempfile::TempDir;
use turnframe_ledger::EventLedger;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::postgres::{NodeOptions, PostgresLedger, PostgresOptions};
use turnframe_ledger::sqlite::{SqliteLedger, SqliteOptions};
use turnframe_test::ledger::Backend;
use turnframe_test::postgres::{self, Database};
use uuid::Uuid;

struct Memory;

#[async_trait]
impl Backend for Memory {
    async fn create(&self) -> Arc<dyn EventLedger> {
        Arc::new(MemoryLedger::new())
    }
}

/// A SQLite file in a directory that goes away with the case.
struct Sqlite(TempDir);

impl Sqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("ledger.db")
    }
}

#[async_trait]
impl Backend for Sqlite {
    async fn create(&self) -> Arc<dyn EventLedger> {
        let ledger = SqliteLedger::open(self.path(), SqliteOptions::default()).await;
        Arc::new(ledger.expect("the ledger opens"))
    }

    async fn reopen(&self, ledger: Arc<dyn EventLedger>) -> Arc<dyn EventLedger> {
        // The lock goes with the last owner: opening twice would be refused.
        assert_eq!(Arc::strong_count(&ledger), 1);
        drop(ledger);
        self.create().await
    }
}

/// A database of its own on the throwaway server.
struct Postgres {
    database: Database,
    opened: AtomicU64,
}

impl Postgres {
    async fn new() -> Self {
        Self { database: postgres::shared().database().await, opened: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Backend for Postgres {
    async fn create(&self) -> Arc<dyn EventLedger> {
        let run = self.opened.fetch_add(1, Ordering::Relaxed);
        let node = NodeOptions::new(Uuid::from_u64_pair(0, run), "http://127.0.0.1:1");
        let options = PostgresOptions { node: Some(node), ..PostgresOptions::default() };
        let ledger = PostgresLedger::open(&self.database.url(), options).await;
        Arc::new(ledger.expect("the ledger opens"))
    }

    async fn reopen(&self, ledger: Arc<dyn EventLedger>) -> Arc<dyn EventLedger> {
        drop(ledger);
        self.create().await
    }
}

turnframe_test::ledger_contract!(mod memory, Memory);
turnframe_test::ledger_contract!(mod postgresql, durable Postgres::new().await);
turnframe_test::ledger_contract!(mod sqlite, durable Sqlite::new());
