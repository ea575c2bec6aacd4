//! Snapshots in a SQLite file of their own, which may be deleted at any time.
//!
//! A file that is damaged or no database is deleted at open and made anew; a table of another shape is
//! dropped. Nothing here is durable on purpose: a crash may lose the newest snapshots.

use std::path::Path;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use turnframe_core::id::AccountId;

use super::{Snapshot, SnapshotStore, SnapshotsUnavailable};
use crate::stream::StreamName;

/// How many loads and saves run at once.
const CONNECTIONS: u32 = 2;

const CREATE: &str = "CREATE TABLE IF NOT EXISTS tf_snapshot (\
    account TEXT NOT NULL, stream TEXT NOT NULL, codec TEXT NOT NULL, \
    workflow_version INTEGER NOT NULL, fold BLOB NOT NULL, version INTEGER NOT NULL, \
    chain BLOB NOT NULL, digest BLOB NOT NULL, bytes BLOB NOT NULL, \
    PRIMARY KEY (account, stream)) STRICT";

const LOAD: &str = "SELECT codec, workflow_version, fold, version, chain, digest, bytes \
    FROM tf_snapshot WHERE account = ?1 AND stream = ?2";

const SAVE: &str = "INSERT OR REPLACE INTO tf_snapshot \
    (codec, workflow_version, fold, version, chain, digest, bytes, account, stream) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// Keeps snapshots in a file.
#[derive(Debug)]
pub struct SqliteSnapshots(SqlitePool);

impl SqliteSnapshots {
    /// Opens the file, or makes it anew where it cannot be used.
    ///
    /// # Errors
    /// [`SnapshotsUnavailable`] when there is no way to have such a file at this path.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, SnapshotsUnavailable> {
        let path = path.as_ref();
        match Self::connect(path).await {
            Ok(store) => Ok(store),
            Err(error) if is_damaged(&error) => {
                tracing::warn!(%error, "the file of the snapshots is damaged and is made anew");
                delete(path)?;
                Ok(Self::connect(path).await?)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn connect(path: &Path) -> Result<Self, sqlx::Error> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Off)
            .disable_statement_logging();
        let pool = SqlitePoolOptions::new().max_connections(CONNECTIONS).connect_with(options);
        let store = Self(pool.await?);
        sqlx::query(CREATE).execute(&store.0).await?;
        if let Err(error) = store.read("", "").await {
            if is_damaged(&error) {
                return Err(error);
            }
            sqlx::query("DROP TABLE tf_snapshot").execute(&store.0).await?;
            sqlx::query(CREATE).execute(&store.0).await?;
        }
        Ok(store)
    }

    /// Closes the file.
    pub async fn close(&self) {
        self.0.close().await;
    }

    async fn read(&self, account: &str, stream: &str) -> Result<Option<Snapshot>, sqlx::Error> {
        let query = sqlx::query(LOAD).bind(account).bind(stream);
        let row = query.fetch_optional(&self.0).await?;
        Ok(row.as_ref().and_then(super::stored))
    }

    async fn write(
        &self,
        account: &str,
        stream: &str,
        snapshot: Snapshot,
    ) -> Result<(), sqlx::Error> {
        let Snapshot { codec, header, bytes, digest } = snapshot;
        sqlx::query(SAVE)
            .bind(codec)
            .bind(i64::from(header.workflow_version))
            .bind(header.fold.as_bytes().to_vec())
            .bind(header.version.0.cast_signed())
            .bind(header.chain.as_bytes().to_vec())
            .bind(digest.as_bytes().to_vec())
            .bind(bytes)
            .bind(account)
            .bind(stream)
            .execute(&self.0)
            .await?;
        Ok(())
    }
}

/// Whether the file itself is at fault: `SQLITE_CORRUPT`, `SQLITE_NOTADB`, or `SQLITE_IOERR_SHORT_READ` where it, or the
/// log beside it, ends before what is to be read.
fn is_damaged(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| code == "11" || code == "26" || code == "522")
}

fn delete(path: &Path) -> Result<(), SnapshotsUnavailable> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(SnapshotsUnavailable { reason: error.to_string() }),
        }
    }
    Ok(())
}

#[async_trait]
impl SnapshotStore for SqliteSnapshots {
    async fn load(&self, account: &AccountId, stream: &StreamName) -> Option<Snapshot> {
        match self.read(account.as_str(), &stream.to_string()).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::warn!(%error, "a snapshot could not be loaded");
                None
            }
        }
    }

    async fn save(&self, account: &AccountId, stream: &StreamName, snapshot: Snapshot) {
        if let Err(error) = self.write(account.as_str(), &stream.to_string(), snapshot).await {
            tracing::warn!(%error, "a snapshot could not be saved");
        }
    }

    async fn clear(&self) -> Result<(), SnapshotsUnavailable> {
        sqlx::query("DELETE FROM tf_snapshot").execute(&self.0).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::SnapshotHeader;
    use crate::stream::Version;
    use crate::testing::{account, conversation};
    use turnframe_core::canonical::Digest;

    fn saved() -> Snapshot {
        let header = SnapshotHeader {
            workflow_version: 1,
            fold: Digest::ZERO,
            version: Version(1),
            chain: Digest::ZERO,
        };
        Snapshot::encode(header, &7_u32).expect("encoded")
    }

    async fn works(path: &Path) {
        let store = SqliteSnapshots::open(path).await.expect("open");
        let (acme, stream) = (account("acme"), conversation("c"));
        assert_eq!(store.load(&acme, &stream).await, None);
        store.save(&acme, &stream, saved()).await;
        assert_eq!(store.load(&acme, &stream).await, Some(saved()));
        store.close().await;
    }

    #[tokio::test]
    async fn l17_a_file_that_is_no_database_is_made_anew() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("views.db");
        std::fs::write(&path, "not a database, and long enough to be read as one".repeat(100))
            .expect("written");
        works(&path).await;
    }

    #[tokio::test]
    async fn l17_a_log_that_ends_too_early_is_made_anew_with_its_file() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("views.db");
        // Whoever has it open keeps the index by which the log is read.
        let open = SqliteSnapshots::open(&path).await.expect("open");
        open.save(&account("acme"), &conversation("c"), saved()).await;
        std::fs::write(directory.path().join("views.db-wal"), "cut off").expect("written");
        works(&path).await;
        open.close().await;
    }

    #[tokio::test]
    async fn l17_a_table_of_another_shape_is_dropped() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("views.db");
        let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let mut connection = options.connect().await.expect("connection");
        sqlx::query("CREATE TABLE tf_snapshot (account TEXT, stream TEXT, old BLOB)")
            .execute(&mut connection)
            .await
            .expect("created");
        works(&path).await;
    }

    #[tokio::test]
    async fn the_file_may_be_deleted_between_two_runs() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("views.db");
        works(&path).await;
        delete(&path).expect("deleted");
        works(&path).await;
    }
}
