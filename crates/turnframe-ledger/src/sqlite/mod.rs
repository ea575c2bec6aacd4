//! The ledger in a SQLite file: the embedded default.
//!
//! - WAL with `synchronous=FULL`: what is acknowledged survives power loss.
//! - One process per file. A lock file beside the database says so clearly, and the epochs of the partitions, which
//!   every open raises, fence whoever got around it.
//! - One connection writes, and readers never share it. Readers have a small read-only pool and see only
//!   what is committed.
//! - An append runs on a thread of its own: a caller that goes away does not cut it short.
//!
//! A crash leaves a batch wholly written or not at all. After an error nothing that the writer remembers is
//! trusted: the next batch starts on a fresh connection.

mod backlog;
mod batch;
mod checkpoint;
mod files;
mod insert;
mod read;
mod schema;
mod statements;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};

use self::checkpoint::Checkpoints;
use self::files::Lock;
use self::read::Reader;
use self::writer::Writer;
use crate::admission::Intake;
use crate::append::{Append, AppendError, Appended, KeyName, KeyRecord};
use crate::entry::Entry;
use crate::hints::Hints;
use crate::ledger::{EventLedger, LedgerStatistics, PAGE_MAX, ReadError};
use crate::mark::{Backlog, Mark, MarkQuery};
use crate::ownership::{Owner, Ownership};
use crate::stored::Counters;
use crate::stored::recent::Recent;
use crate::stream::{PartitionId, Position, StreamName, Version};

/// How long a read waits for a free connection.
const READER_WAIT: Duration = Duration::from_secs(10);
/// At how many times the pages that are copied beside the writer it copies within a commit after all.
const OVERDUE: u32 = 4;

/// How a SQLite ledger is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// How many connections readers share.
    pub readers: u32,
    /// How many KiB of pages the writer keeps in memory.
    pub writer_cache_kib: u32,
    /// After how many pages in the WAL they are copied into the database. A page that changes often is then
    /// copied once for many changes: 16,000 pages write half as fast again as SQLite's 1,000. Where that does not
    /// come about beside the writer, the commit that crosses four times as many does it.
    pub checkpoint_pages: u32,
    /// How long a statement waits for a lock on the database. Only a foreign program can hold one.
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            readers: 4,
            writer_cache_kib: 64 * 1024,
            checkpoint_pages: 16_000,
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// Why a ledger could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A path cannot be used.
    #[error("{path}: {source}", path = path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another process, or another part of this one, has the ledger open.
    #[error("{path} is open in another process; a SQLite ledger belongs to one at a time", path = path.display())]
    InUse {
        /// The database.
        path: PathBuf,
    },
    /// The SQLite library is older than this program relies on.
    #[error("SQLite {found} is too old: at least 3.51.3 is needed")]
    TooOld {
        /// The version found.
        found: String,
    },
    /// The file is a ledger of another format.
    #[error("the ledger's {name} is {found:?}, and this program knows {expected:?}")]
    Foreign {
        /// What differs.
        name: &'static str,
        /// What the file has.
        found: String,
        /// What this program knows.
        expected: &'static str,
    },
    /// The layout could not be brought up to date.
    #[error("the ledger's layout could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The database refused.
    #[error("the database refused")]
    Database(#[from] sqlx::Error),
}

/// A ledger in a SQLite file.
#[derive(Debug)]
pub struct SqliteLedger {
    writer: Arc<Mutex<Writer>>,
    reader: Reader,
    checkpoints: Arc<Checkpoints>,
    shared: Arc<Shared>,
}

/// What the writer's task shares with the ledger.
#[derive(Debug)]
struct Shared {
    hints: Hints,
    ownership: Ownership,
    statistics: Counters,
    recent: Recent,
    _lock: Lock,
}

impl SqliteLedger {
    /// Opens a ledger, or creates it: locks it, brings its layout up to date and takes its partitions over.
    ///
    /// # Errors
    /// [`OpenError`], of which [`OpenError::InUse`] is the one to expect.
    pub async fn open(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, OpenError> {
        let path = files::resolve(path.as_ref())?;
        let lock = Lock::acquire(&path)?;
        let writing = writing(&path, &options);
        let mut connection = writing.connect().await?;
        schema::check_version(&mut connection).await?;
        schema::migrate(&mut connection).await?;
        let claims = schema::claim(&mut connection).await?;
        let hints = Hints::default();
        for claim in &claims {
            hints.announce(claim.partition, claim.head);
        }
        connection.close().await?;
        let shared = Shared {
            hints,
            ownership: Ownership::sole(),
            statistics: Counters::default(),
            recent: Recent::default(),
            _lock: lock,
        };
        let checkpoints = Checkpoints::new(writing.clone(), options.checkpoint_pages);
        Ok(Self {
            checkpoints: Arc::new(checkpoints),
            writer: Arc::new(Mutex::new(Writer::new(writing, &claims))),
            reader: Reader::new(readers(&path, &options)),
            shared: Arc::new(shared),
        })
    }
}

fn connecting(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .busy_timeout(options.busy_timeout)
        .disable_statement_logging()
}

fn writing(path: &Path, options: &SqliteOptions) -> SqliteConnectOptions {
    connecting(path, options)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", format!("-{}", options.writer_cache_kib))
        .pragma("wal_autocheckpoint", options.checkpoint_pages.saturating_mul(OVERDUE).to_string())
        .pragma("temp_store", "MEMORY")
}

fn readers(path: &Path, options: &SqliteOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(options.readers.max(1))
        .acquire_timeout(READER_WAIT)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        // A page crosses from SQLite's thread in one go, and not fifty rows at a time.
        .connect_lazy_with(connecting(path, options).read_only(true).row_buffer_size(PAGE_MAX))
}

#[async_trait]
impl EventLedger for SqliteLedger {
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let (writer, shared) = (Arc::clone(&self.writer), Arc::clone(&self.shared));
        let checkpoints = Arc::clone(&self.checkpoints);
        let (appends, runtime) = (batch.len(), Handle::current());
        // A batch goes to and fro between two threads. As a task it would wait at each step for its turn among all
        // else that the runtime runs, and every batch after it too.
        let task = tokio::task::spawn_blocking(move || {
            let mut at_work = Arc::clone(&writer).blocking_lock_owned();
            let appended = at_work.append(Intake::new(&batch), &shared.statistics, &shared.recent);
            let (answers, heads) = runtime.block_on(appended);
            for (partition, head) in heads {
                shared.hints.announce(partition, head);
            }
            if at_work.wal_may_be_long() {
                runtime.spawn(async move {
                    checkpoints.run(&writer).await;
                    // Nobody else opens the file meanwhile.
                    drop(shared);
                });
            }
            answers
        });
        task.await.unwrap_or_else(|error| {
            // It panicked or the runtime went away, perhaps after the commit.
            let unknown = AppendError::OutcomeUnknown { reason: error.to_string() };
            vec![Err(unknown); appends]
        })
    }

    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let limit = limit.min(PAGE_MAX);
        match self.shared.recent.read(account, stream, after, limit) {
            Some(page) => Ok(page),
            None => self.reader.read_stream(account, stream, after, limit).await,
        }
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        self.reader.read_stream_back(account, stream, before, limit).await
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        self.reader.read_partition(partition, after, limit, account).await
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        self.reader.head(partition).await
    }

    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        match self.shared.recent.find_key(account, key) {
            Some(record) => Ok(Some(record)),
            None => self.reader.find_key(account, key).await,
        }
    }

    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError> {
        self.reader.account_of_effect(effect).await
    }

    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError> {
        self.reader.marks(&query).await
    }

    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        self.reader.cursor(follower, partition).await
    }

    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        self.writer.lock().await.keep_cursor(follower, partition, position).await
    }

    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        self.reader.backlog().await
    }

    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.shared.hints.subscribe(partition)
    }

    fn ownership(&self) -> &Ownership {
        &self.shared.ownership
    }

    async fn owner(&self, _partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        Ok(Some(Owner { address: "sqlite:".to_owned(), is_here: true }))
    }

    async fn close(&self) {
        self.checkpoints.close().await;
        self.writer.lock().await.close().await;
        self.reader.close().await;
    }

    fn statistics(&self) -> LedgerStatistics {
        self.shared.statistics.read()
    }
}
