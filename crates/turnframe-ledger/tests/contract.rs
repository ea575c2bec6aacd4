//! The ledger contract on the backends of this crate.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use tempfile::TempDir;
use turnframe_ledger::EventLedger;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::sqlite::{SqliteLedger, SqliteOptions};
use turnframe_test::ledger::Backend;

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

turnframe_test::ledger_contract!(mod memory, Memory);
turnframe_test::ledger_contract!(mod sqlite, durable Sqlite::new());
