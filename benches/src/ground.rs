//! Where a bench runs: a ledger of its own that is thrown away afterwards. A bench never touches a ledger that somebody
//! keeps.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use turnframe_actors::{Limits, System, SystemParts};
use turnframe_core::id::DestinationKey;
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::source::IdSource;
use turnframe_ledger::open::{OpenError, Opened, open, views_path};
use turnframe_ledger::postgres::{NodeOptions, Throwaway};
use turnframe_ledger::snapshot::SqliteSnapshots;
use turnframe_ledger::sqlite::{SqliteLedger, SqliteOptions};
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{Delivery, Destination, Dispatched};

use crate::error::BenchError;
use crate::tally::{Names, ScriptedTally, Tally};

/// The kind of ledger a bench runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    /// In memory.
    Memory,
    /// In a SQLite file of this folder, synchronous=FULL.
    Sqlite(PathBuf),
    /// In a database of this server, synchronous_commit=on.
    Postgres(String),
}

impl Backend {
    /// What reports call it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sqlite(_) => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

/// An address that nobody else uses, and what is to be thrown away with it.
pub(crate) struct Plot {
    pub(crate) address: String,
    file: Option<PathBuf>,
    database: Option<Throwaway>,
}

impl Plot {
    pub(crate) async fn mark_out(backend: &Backend, ids: &IdSource) -> Result<Self, BenchError> {
        let name = format!("turnframe_bench_{}", ids.uuid().simple());
        Ok(match backend {
            Backend::Memory => Self { address: "memory:".to_owned(), file: None, database: None },
            Backend::Sqlite(folder) => {
                let file = folder.join(format!("{name}.db"));
                let address = format!("sqlite:{}", file.display());
                Self { address, file: Some(file), database: None }
            }
            Backend::Postgres(server) => {
                let database = Throwaway::create(server, name.parse()?).await?;
                Self { address: database.url(), file: None, database: Some(database) }
            }
        })
    }

    pub(crate) async fn clear(self) -> Result<(), BenchError> {
        if let Some(file) = self.file {
            remove(&file);
            remove(&views_path(&file));
        }
        match self.database {
            Some(database) => Ok(database.remove().await?),
            None => Ok(()),
        }
    }
}

/// Removes a database's file and those beside it. What cannot be removed is left to whoever cleans the folder.
fn remove(file: &Path) {
    for suffix in ["", "-wal", "-shm", ".lock"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

/// An open ledger to bench on.
pub struct Ground {
    pub(crate) backend: Backend,
    pub(crate) opened: Opened,
    pub(crate) ids: IdSource,
    plot: Plot,
}

impl Ground {
    /// Makes a ledger and opens it.
    ///
    /// # Errors
    /// [`BenchError`] when it cannot be made.
    pub async fn open(backend: &Backend, ids: &IdSource) -> Result<Self, BenchError> {
        let plot = Plot::mark_out(backend, ids).await?;
        let opened = open_at(&plot.address, ids).await?;
        Ok(Self { backend: backend.clone(), opened, ids: ids.clone(), plot })
    }

    /// A ledger in a SQLite file that keeps hardly a page of it in memory.
    pub(crate) async fn frugal(folder: &Path, ids: &IdSource) -> Result<Self, BenchError> {
        let backend = Backend::Sqlite(folder.to_owned());
        let plot = Plot::mark_out(&backend, ids).await?;
        let file = plot.file.as_ref().ok_or(BenchError::Departed("SQLite has a file"))?;
        let options = SqliteOptions { writer_cache_kib: 1_024, readers: 1, ..Default::default() };
        let ledger = SqliteLedger::open(file, options).await.map_err(OpenError::from)?;
        let snapshots = SqliteSnapshots::open(views_path(file)).await.map_err(OpenError::from)?;
        let opened = Opened { ledger: Arc::new(ledger), snapshots: Arc::new(snapshots) };
        Ok(Self { backend, opened, ids: ids.clone(), plot })
    }

    /// Closes the ledger and opens it again: what was remembered of it is forgotten. One in memory stays as it is.
    pub(crate) async fn reopen(&mut self) -> Result<(), BenchError> {
        if self.backend != Backend::Memory {
            self.opened.ledger.close().await;
            // The file's lock goes with the last holder of the ledger.
            self.opened = open_at("memory:", &self.ids).await?;
            self.opened = open_at(&self.plot.address, &self.ids).await?;
        }
        Ok(())
    }

    /// Starts a system that counts tallies on this ledger.
    ///
    /// # Errors
    /// [`BenchError`] when it does not start.
    pub async fn start(&self, limits: Limits) -> Result<System, BenchError> {
        let nowhere: Arc<dyn Destination> = Arc::new(Nowhere(DestinationKey::new("nowhere")?));
        self.start_with(limits, nowhere).await
    }

    /// The same, with a destination.
    pub(crate) async fn start_with(
        &self,
        limits: Limits,
        destination: Arc<dyn Destination>,
    ) -> Result<System, BenchError> {
        let names = Names::new()?;
        let ledger = self.opened.ledger.clone();
        let parts = SystemParts {
            ledger: ledger.clone(),
            snapshots: self.opened.snapshots.clone(),
            registry: WorkflowRegistry::new().with(Tally(names.clone()))?,
            interpreter: Arc::new(ScriptedTally(names)),
            narrator: None,
            directory: Arc::new(LedgerDirectory::new(ledger)),
            destinations: vec![destination],
            domain_actors: Vec::new(),
            ids: self.ids.clone(),
            limits,
        };
        Ok(System::start(parts).await?)
    }

    /// Closes the ledger and throws it away.
    ///
    /// # Errors
    /// [`BenchError`] when some of it is still there.
    pub async fn clear(self) -> Result<(), BenchError> {
        self.opened.ledger.close().await;
        drop(self.opened);
        self.plot.clear().await
    }
}

async fn open_at(address: &str, ids: &IdSource) -> Result<Opened, BenchError> {
    Ok(open(address, Some(NodeOptions::new(ids.uuid(), "bench:"))).await?)
}

/// A destination that nothing is sent to: its outbox runs and looks for marks like any other.
struct Nowhere(DestinationKey);

#[async_trait]
impl Destination for Nowhere {
    fn key(&self) -> DestinationKey {
        self.0.clone()
    }

    async fn dispatch(&self, _delivery: &Delivery) -> Dispatched {
        Dispatched::NotSent { reason: "there is nobody there".to_owned() }
    }
}
