//! Snapshots in a schema of their own beside a PostgreSQL ledger, which may be dropped at any time.
//!
//! The table is unlogged: saving costs no write-ahead log, and a crash of the server empties it. A table of another
//! shape is dropped and made anew.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use turnframe_core::id::AccountId;

use super::{Snapshot, SnapshotStore, SnapshotsUnavailable};
use crate::stream::StreamName;

/// How many loads and saves run at once.
const CONNECTIONS: u32 = 2;
/// How long a load or a save waits for its turn, and then for its answer; past it there is no snapshot.
const WAIT: Duration = Duration::from_secs(5);

/// Names of this schema are not shared with the ledger's: dropping it loses time and never state.
const CREATE: &str = "CREATE SCHEMA IF NOT EXISTS tf_views; \
    CREATE UNLOGGED TABLE IF NOT EXISTS tf_views.tf_snapshot (\
    account text COLLATE \"C\" NOT NULL, stream text COLLATE \"C\" NOT NULL, codec text NOT NULL, \
    workflow_version bigint NOT NULL, fold bytea NOT NULL, version bigint NOT NULL, \
    chain bytea NOT NULL, digest bytea NOT NULL, bytes bytea NOT NULL, \
    PRIMARY KEY (account, stream)) WITH (fillfactor = 70)";

/// Held while the schema is made: two processes may start at once.
const LOCK: &str = "SELECT pg_advisory_lock(7236834623894)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(7236834623894)";

const LOAD: &str = "SELECT codec, workflow_version, fold, version, chain, digest, bytes \
    FROM tf_views.tf_snapshot WHERE account = $1 AND stream = $2";

const SAVE: &str = "INSERT INTO tf_views.tf_snapshot \
    (codec, workflow_version, fold, version, chain, digest, bytes, account, stream) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (account, stream) DO UPDATE SET \
    codec = excluded.codec, workflow_version = excluded.workflow_version, fold = excluded.fold, \
    version = excluded.version, chain = excluded.chain, digest = excluded.digest, \
    bytes = excluded.bytes";

/// Keeps snapshots in a PostgreSQL database.
#[derive(Debug)]
pub struct PostgresSnapshots(PgPool);

impl PostgresSnapshots {
    /// Opens the snapshots beside the ledger at this URL, or makes them anew where they have another shape.
    ///
    /// # Errors
    /// [`SnapshotsUnavailable`] when there is no way to have them in this database.
    pub async fn open(url: &str) -> Result<Self, SnapshotsUnavailable> {
        let options: PgConnectOptions = url.parse::<PgConnectOptions>()?;
        let options = options.application_name("turnframe snapshots").disable_statement_logging();
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(WAIT);
        let store = Self(pool.connect_with(options).await?);
        let mut connection = store.0.acquire().await?;
        sqlx::query(LOCK).execute(&mut *connection).await?;
        let made = store.make().await;
        sqlx::query(UNLOCK).execute(&mut *connection).await?;
        made?;
        Ok(store)
    }

    async fn make(&self) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(CREATE).execute(&self.0).await?;
        if self.read("", "").await.is_err() {
            sqlx::raw_sql("DROP TABLE tf_views.tf_snapshot").execute(&self.0).await?;
            sqlx::raw_sql(CREATE).execute(&self.0).await?;
        }
        Ok(())
    }

    /// Gives the table another shape, as a newer version of the program may have left it.
    #[cfg(test)]
    pub(super) async fn reshape(&self) {
        let reshape = "ALTER TABLE tf_views.tf_snapshot RENAME COLUMN bytes TO old";
        sqlx::raw_sql(reshape).execute(&self.0).await.expect("reshaped");
    }

    /// Closes the connections.
    pub async fn close(&self) {
        self.0.close().await;
    }

    async fn read(&self, account: &str, stream: &str) -> Result<Option<Snapshot>, sqlx::Error> {
        let query = sqlx::query(LOAD).bind(account).bind(stream);
        let row = in_time(query.fetch_optional(&self.0)).await?;
        Ok(row.as_ref().and_then(super::stored))
    }

    async fn write(
        &self,
        account: &str,
        stream: &str,
        snapshot: Snapshot,
    ) -> Result<(), sqlx::Error> {
        let Snapshot { codec, header, bytes, digest } = snapshot;
        let save = sqlx::query(SAVE)
            .bind(codec)
            .bind(i64::from(header.workflow_version))
            .bind(header.fold.as_bytes().to_vec())
            .bind(header.version.0.cast_signed())
            .bind(header.chain.as_bytes().to_vec())
            .bind(digest.as_bytes().to_vec())
            .bind(bytes)
            .bind(account)
            .bind(stream)
            .execute(&self.0);
        in_time(save).await.map(drop)
    }
}

async fn in_time<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| Err(sqlx::Error::PoolTimedOut);
    tokio::time::timeout(WAIT * 2, answer).await.unwrap_or_else(late)
}

#[async_trait]
impl SnapshotStore for PostgresSnapshots {
    async fn load(&self, account: &AccountId, stream: &StreamName) -> Option<Snapshot> {
        self.read(account.as_str(), &stream.to_string()).await.unwrap_or_else(|error| {
            tracing::warn!(%error, %stream, "a snapshot could not be loaded; the stream is folded");
            None
        })
    }

    async fn save(&self, account: &AccountId, stream: &StreamName, snapshot: Snapshot) {
        let saved = self.write(account.as_str(), &stream.to_string(), snapshot).await;
        if let Err(error) = saved {
            tracing::warn!(%error, %stream, "a snapshot could not be saved");
        }
    }

    async fn clear(&self) -> Result<(), SnapshotsUnavailable> {
        sqlx::query("TRUNCATE tf_views.tf_snapshot").execute(&self.0).await?;
        Ok(())
    }
}
