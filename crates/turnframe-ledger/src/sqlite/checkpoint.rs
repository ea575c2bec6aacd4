//! Copying the WAL into the database beside the writer.
//!
//! By itself SQLite copies within the commit that crosses a limit, and every append that comes meanwhile waits for
//! that. Here a connection of its own copies while batches go on being committed. It holds the writer up only for what
//! came in meanwhile: the WAL begins anew only once all of it is copied. Killed in between, the WAL still has it all.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use tokio::sync::Mutex;

use super::writer::Writer;

/// After how many entries the length of the WAL is asked for.
pub(super) const ASK_AFTER: u64 = 1_024;
/// How many pages the writer is held up for.
const FEW: i64 = 512;
/// How often what came in meanwhile is copied before the writer is held up, few or not.
const PASSES_MAX: usize = 4;
/// Copies what no reader still needs where it is, without waiting for anybody.
const COPY: &str = "PRAGMA wal_checkpoint(PASSIVE)";

/// Copies the WAL, one time after another.
#[derive(Debug)]
pub(super) struct Checkpoints {
    options: SqliteConnectOptions,
    pages: i64,
    pub(super) connection: Mutex<Option<SqliteConnection>>,
}

/// How many pages the WAL has, and how many of them are copied.
#[derive(Debug)]
pub(super) struct Wal {
    pub(super) pages: i64,
    pub(super) copied: i64,
}

impl Checkpoints {
    /// Begins to copy once the WAL has so many pages.
    pub(super) fn new(options: SqliteConnectOptions, pages: u32) -> Self {
        Self { options, pages: pages.into(), connection: Mutex::new(None) }
    }

    /// Copies the WAL where it is long, unless that is under way.
    pub(super) async fn run(&self, writer: &Mutex<Writer>) {
        let Ok(mut kept) = self.connection.try_lock() else { return };
        let opened = match kept.take() {
            Some(connection) => Ok(connection),
            None => self.options.connect().await,
        };
        let copied = match opened {
            Ok(mut connection) => {
                self.copy(&mut connection, writer).await.map(|()| *kept = Some(connection))
            }
            Err(error) => Err(error),
        };
        if let Err(error) = copied {
            tracing::warn!(%error, "the WAL could not be copied beside the writer; it will be within a commit");
        }
    }

    pub(super) async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the connection that copies the WAL did not close by itself");
        }
    }

    async fn copy(
        &self,
        connection: &mut SqliteConnection,
        writer: &Mutex<Writer>,
    ) -> Result<(), sqlx::Error> {
        if Wal::of(connection).await?.pages < self.pages {
            return Ok(());
        }
        for _ in 0..PASSES_MAX {
            sqlx::query(COPY).execute(&mut *connection).await?;
            let wal = Wal::of(connection).await?;
            if wal.pages - wal.copied <= FEW {
                break;
            }
        }
        let _held_up = writer.lock().await;
        sqlx::query(COPY).execute(connection).await?;
        Ok(())
    }
}

impl Wal {
    pub(super) async fn of(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let row = sqlx::query("PRAGMA wal_checkpoint(NOOP)").fetch_one(connection).await?;
        Ok(Self { pages: row.try_get(1)?, copied: row.try_get(2)? })
    }
}
