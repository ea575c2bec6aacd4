//! The ledger in PostgreSQL: for production, on one process or several.
//!
//! - What is acknowledged is committed with `synchronous_commit` on: it survives power loss as far as the
//!   server's own settings promise, and opening says so loudly where they do not.
//! - Several processes share a database. Each owns some of the partitions by a lease (see `keeper`), and every
//!   append is fenced by the epoch of its partition.
//! - One connection writes, another keeps the lease, and readers never share either: they have a bounded pool.
//! - An append runs as a task of its own: a caller that goes away does not cut it short.
//!
//! A crash leaves a batch wholly written or not at all. After an error nothing that the writer remembers is
//! trusted: the next batch starts on a fresh connection.

mod backlog;
mod keeper;
mod read;
mod schema;
mod session;
mod statements;
mod tenure;
#[cfg(test)]
mod tests;
mod throwaway;
mod writer;

use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{Mutex, Notify, oneshot, watch};
use tokio::task::JoinHandle;
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};
use uuid::Uuid;

use self::keeper::Keeper;
use self::read::Reader;
use self::tenure::Tenure;
pub use self::throwaway::Throwaway;
use self::writer::Writer;
use crate::append::{Append, AppendError, Appended, KeyName, KeyRecord};
use crate::entry::Entry;
use crate::hints::Hints;
use crate::ledger::{EventLedger, LedgerStatistics, PAGE_MAX, ReadError};
use crate::mark::{Backlog, Mark, MarkQuery};
use crate::ownership::{Owner, Ownership};
use crate::stored::Counters;
use crate::stored::recent::Recent;
use crate::stream::{PartitionId, PartitionSet, Position, StreamName, Version};

/// How long a read waits for a free connection.
const READER_WAIT: Duration = Duration::from_secs(10);

/// How a PostgreSQL ledger is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// How many connections readers share.
    pub readers: u32,
    /// How long a statement of the writer may run; past it the server gives it up, and nothing is written.
    pub statement_timeout: Duration,
    /// Who takes partitions and writes. Without one the ledger is only read.
    pub node: Option<NodeOptions>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { readers: 8, statement_timeout: Duration::from_secs(30), node: None }
    }
}

/// A process that owns partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeOptions {
    /// Tells this run of the process from every other: never used twice.
    pub id: Uuid,
    /// Where the other processes reach it: a base URL. A process that starts at the address of another one takes
    /// that one to be gone.
    pub address: String,
    /// How long a process that does not answer keeps its partitions.
    pub lease: Duration,
    /// How long a partition that is to be given to another process waits for those who act for it, and never longer
    /// than half the lease.
    pub handover: Duration,
}

impl NodeOptions {
    /// A process with the usual lease.
    #[must_use]
    pub fn new(id: Uuid, address: impl Into<String>) -> Self {
        let (lease, handover) = (Duration::from_secs(10), Duration::from_secs(5));
        Self { id, address: address.into(), lease, handover }
    }
}

/// Why a ledger could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address is no PostgreSQL URL.
    #[error("the address is no PostgreSQL URL: {0}")]
    Address(#[source] sqlx::Error),
    /// The database is a ledger of another format, or cannot be one.
    #[error("the ledger's {name} is {found:?}, and this program knows {expected:?}")]
    Foreign {
        /// What differs.
        name: &'static str,
        /// What the database has.
        found: String,
        /// What this program knows.
        expected: &'static str,
    },
    /// The layout could not be brought up to date.
    #[error("the ledger's layout could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The partitions could not be taken.
    #[error("the ledger's partitions could not be taken: {reason}")]
    Partitions {
        /// What went wrong, for an operator.
        reason: String,
    },
    /// The database refused, or is not there.
    #[error("the database refused")]
    Database(#[from] sqlx::Error),
}

/// A ledger in PostgreSQL.
#[derive(Debug)]
pub struct PostgresLedger {
    writer: Arc<Mutex<Writer>>,
    reader: Reader,
    shared: Arc<Shared>,
    node: Option<Uuid>,
    keeping: Lock<Option<Keeping>>,
    nudge: Arc<Notify>,
}

/// The keeper at work.
#[derive(Debug)]
struct Keeping {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Keeper>,
}

impl Keeping {
    fn start(keeper: Keeper) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop, task: tokio::spawn(keeper.run(stopped)) }
    }

    /// The keeper, when its round is over.
    async fn stop(self) -> Option<Keeper> {
        // It has gone already only where its runtime has.
        let _ = self.stop.send(());
        self.task.await.ok()
    }
}

/// What the writer's task and the keeper share with the ledger.
#[derive(Debug)]
struct Shared {
    hints: Hints,
    ownership: Ownership,
    tenure: Arc<Tenure>,
    statistics: Counters,
    recent: Recent,
}

impl Shared {
    /// Stops acting for partitions that were fenced, unless they were taken again since, and asks the keeper to look.
    fn stop_fenced(&self, answers: &[Result<Appended, AppendError>], nudge: &Notify) {
        for answer in answers {
            if let Err(AppendError::Fenced { partition }) = answer
                && !self.tenure.owned().contains(*partition)
                && self.ownership.held().borrow().contains(*partition)
            {
                self.ownership.lose(*partition);
                nudge.notify_one();
            }
        }
    }
}

impl PostgresLedger {
    /// Opens a ledger, or creates it: brings its layout up to date and, where there is a node, takes the
    /// partitions that are its share.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(url: &str, options: PostgresOptions) -> Result<Self, OpenError> {
        let connecting: PgConnectOptions = url.parse().map_err(OpenError::Address)?;
        let connecting =
            connecting.application_name("turnframe").disable_statement_logging().options([
                ("jit", "off"),
                ("synchronous_commit", "on"),
                // A statement that waited for a partition looks at what it is by then.
                ("default_transaction_isolation", "read committed"),
            ]);
        let mut connection = connecting.connect().await?;
        schema::check_server(&mut connection).await?;
        schema::migrate(&mut connection).await?;
        let tenure = Arc::new(Tenure::default());
        let shared = Arc::new(Shared {
            hints: Hints::default(),
            ownership: Ownership::none(),
            tenure: Arc::clone(&tenure),
            statistics: Counters::default(),
            recent: Recent::default(),
        });
        let nudge = Arc::new(Notify::new());
        let keeping = match &options.node {
            Some(node) => {
                keeper::succeed(&mut connection, &node.address).await?;
                let (shared, nudge) = (Arc::clone(&shared), Arc::clone(&nudge));
                let mut keeper = Keeper::new(node, connecting.clone(), connection, shared, nudge);
                let first = keeper.round().await;
                first.map_err(|trouble| OpenError::Partitions { reason: trouble.to_string() })?;
                Some(Keeping::start(keeper))
            }
            None => {
                connection.close().await?;
                None
            }
        };
        Ok(Self {
            writer: Arc::new(Mutex::new(Writer::new(
                writing(&connecting, &options),
                options.statement_timeout,
                tenure,
            ))),
            reader: Reader::new(readers(&connecting, &options), options.readers),
            node: options.node.map(|node| node.id),
            shared,
            keeping: Lock::new(keeping),
            nudge,
        })
    }

    fn keeping(&self) -> Option<Keeping> {
        self.keeping.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for PostgresLedger {
    fn drop(&mut self) {
        if let Some(keeping) = self.keeping() {
            keeping.task.abort();
        }
    }
}

/// Every row is found by an index and in its order, whatever the statistics of a young table say.
const BY_INDEX: [(&str, &str); 4] = [
    ("enable_seqscan", "off"),
    ("enable_bitmapscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
];

/// No batch waits for a new plan.
fn writing(connecting: &PgConnectOptions, options: &PostgresOptions) -> PgConnectOptions {
    let timeout = options.statement_timeout.as_millis().to_string();
    let alone =
        [("statement_timeout", timeout.as_str()), ("plan_cache_mode", "force_generic_plan")];
    connecting.clone().options(BY_INDEX).options(alone)
}

fn reading(connecting: &PgConnectOptions) -> PgConnectOptions {
    let alone = [("default_transaction_read_only", "on")];
    connecting.clone().options(BY_INDEX).options(alone)
}

fn readers(connecting: &PgConnectOptions, options: &PostgresOptions) -> PgPool {
    PgPoolOptions::new()
        .max_connections(options.readers.max(1))
        .acquire_timeout(READER_WAIT)
        .test_before_acquire(false)
        .connect_lazy_with(reading(connecting))
}

#[async_trait]
impl EventLedger for PostgresLedger {
    async fn append(&self, batch: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let writer = Arc::clone(&self.writer);
        let shared = Arc::clone(&self.shared);
        let nudge = Arc::clone(&self.nudge);
        let appends = batch.len();
        let task = tokio::spawn(async move {
            let mut writer = writer.lock_owned().await;
            let (answers, heads) = writer.append(&batch, &shared.statistics, &shared.recent).await;
            for (partition, head) in heads {
                shared.hints.announce(partition, head);
            }
            shared.stop_fenced(&answers, &nudge);
            answers
        });
        task.await.unwrap_or_else(|error| {
            // The task panicked or its runtime went away, perhaps after the commit.
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
        self.reader.keep_cursor(follower, partition, position).await
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

    async fn owner(&self, partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        let owner = self.reader.owner(partition).await?;
        Ok(owner.map(|(address, id)| {
            let is_here = self.node.is_some_and(|node| node.as_bytes()[..] == id[..]);
            Owner { address, is_here }
        }))
    }

    async fn close(&self) {
        // First the keeper, who would take them again; last the lease, when nothing is written any more.
        let keeper = match self.keeping() {
            Some(keeping) => keeping.stop().await,
            None => None,
        };
        self.shared.ownership.hold(PartitionSet::NONE);
        self.writer.lock().await.close().await;
        if let Some(keeper) = keeper
            && let Err(error) = keeper.resign().await
        {
            tracing::warn!(%error, "the partitions were not given back; they are free when the lease has run out");
        }
        self.reader.close().await;
    }

    fn statistics(&self) -> LedgerStatistics {
        self.shared.statistics.read()
    }
}
