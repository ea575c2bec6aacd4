//! From an address to a ledger: the one place that knows which backends there are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ledger::EventLedger;
use crate::memory::MemoryLedger;
use crate::postgres::{self, NodeOptions, PostgresLedger, PostgresOptions};
use crate::snapshot::{
    MemorySnapshots, PostgresSnapshots, SnapshotStore, SnapshotsUnavailable, SqliteSnapshots,
};
use crate::sqlite::{self, SqliteLedger, SqliteOptions};

/// A ledger and the snapshots that belong to it.
#[derive(Clone)]
pub struct Opened {
    /// The only source of state.
    pub ledger: Arc<dyn EventLedger>,
    /// What may be lost.
    pub snapshots: Arc<dyn SnapshotStore>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened")
    }
}

/// Why an address does not lead to a ledger.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names a backend that is not built in.
    #[error(
        "no ledger is known for {scheme:?}: use a path, `sqlite:PATH`, `postgres://…` or `memory:`"
    )]
    UnknownScheme {
        /// The part before the colon.
        scheme: String,
    },
    /// The SQLite ledger could not be opened.
    #[error("the ledger could not be opened")]
    Sqlite(#[from] sqlite::OpenError),
    /// The PostgreSQL ledger could not be opened.
    #[error("the ledger could not be opened")]
    Postgres(#[from] postgres::OpenError),
    /// The snapshots could not be opened.
    #[error(transparent)]
    Snapshots(#[from] SnapshotsUnavailable),
}

/// Opens a ledger by its address: `memory:`, `postgres://…`, `sqlite:PATH` or just a path.
///
/// The snapshots of a SQLite ledger lie beside it: `turnframe.views.db` for `turnframe.db`. On PostgreSQL the node says
/// who takes partitions; without one the ledger is only read. The other backends have one process for
/// themselves and need none.
///
/// # Errors
/// [`OpenError`] when the address is unknown or what it leads to cannot be opened.
pub async fn open(address: &str, node: Option<NodeOptions>) -> Result<Opened, OpenError> {
    match scheme(address) {
        Some(("memory", _)) => Ok(Opened {
            ledger: Arc::new(MemoryLedger::new()),
            snapshots: Arc::new(MemorySnapshots::default()),
        }),
        Some(("postgres" | "postgresql", _)) => open_postgres(address, node).await,
        Some(("sqlite", path)) => open_sqlite(Path::new(path)).await,
        Some((scheme, _)) => Err(OpenError::UnknownScheme { scheme: scheme.to_owned() }),
        None => open_sqlite(Path::new(address)).await,
    }
}

async fn open_sqlite(path: &Path) -> Result<Opened, OpenError> {
    let ledger = SqliteLedger::open(path, SqliteOptions::default()).await?;
    let snapshots = SqliteSnapshots::open(views_path(path)).await?;
    Ok(Opened { ledger: Arc::new(ledger), snapshots: Arc::new(snapshots) })
}

async fn open_postgres(url: &str, node: Option<NodeOptions>) -> Result<Opened, OpenError> {
    let options = PostgresOptions { node, ..PostgresOptions::default() };
    let ledger = PostgresLedger::open(url, options).await?;
    let snapshots = PostgresSnapshots::open(url).await?;
    Ok(Opened { ledger: Arc::new(ledger), snapshots: Arc::new(snapshots) })
}

/// The file beside a ledger for what can be rebuilt from it.
#[must_use]
pub fn views_path(ledger: &Path) -> PathBuf {
    let mut name = ledger.file_stem().unwrap_or_default().to_owned();
    name.push(".views.db");
    ledger.with_file_name(name)
}

/// Splits an address at its scheme. One letter before a colon is a drive of a path.
fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let named = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    named.then_some((scheme, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::OpenError as SqliteError;

    #[tokio::test]
    async fn an_address_leads_to_its_backend() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("t.db");
        let path = path.to_str().expect("UTF-8");
        open("memory:", None).await.expect("memory");
        let database = turnframe_test::postgres::shared().database().await;
        open(&database.url(), None).await.expect("postgres");
        let opened = open(&format!("sqlite:{path}"), None).await.expect("sqlite");
        assert!(views_path(Path::new(path)).ends_with("t.views.db"));
        assert!(views_path(Path::new(path)).exists());
        let second = open(path, None).await;
        assert!(matches!(second, Err(OpenError::Sqlite(SqliteError::InUse { .. }))), "{second:?}");
        drop(opened);
        let unknown = open("redis:somewhere", None).await;
        assert!(matches!(unknown, Err(OpenError::UnknownScheme { .. })));
    }
}
