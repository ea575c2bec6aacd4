//! What outlives a process: the ledger, the clock, the remote. And the process itself.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::OnceCell;
use turnframe_actors::{Limits, StartError, System, SystemParts, TurnInput};
use turnframe_core::block::ResponseBlock;
use turnframe_core::context::ActorContext;
use turnframe_core::id::InteractionId;
use turnframe_core::interaction::{InteractionResponse, InteractionView};
use turnframe_core::receipt::ReceiptStatus;
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::source::IdSource;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::open::{OpenError, Opened, open};
use turnframe_ledger::postgres::NodeOptions;
use turnframe_ledger::snapshot::{MemorySnapshots, SnapshotStore};
use turnframe_ledger::sqlite;
use turnframe_ledger::{Entry, EntryKind, EventLedger, MarkKind, MarkQuery};
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{Destination, ErasedDomainActor, Interpreter, Narrator};
use turnframe_test::fault::{
    CrashSwitch, DispatchFault, FaultDestination, FaultLedger, FaultPlan, LedgerFault,
};
use turnframe_test::postgres::{self, Database};
use turnframe_test::script::ScriptedDestination;
use turnframe_test::sources::{self, ManualClock, SeededEntropy};
use turnframe_test::{literal, place};
use uuid::Uuid;

use crate::desk;
pub use crate::process::Process;

/// Where the ledger of a world lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// In memory, beside the processes.
    Memory,
    /// In a file that every process opens anew.
    Sqlite,
    /// In a database of a real server, which every process opens anew.
    Postgres,
}

impl Backend {
    /// Every backend.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Sqlite, Self::Postgres];
}

enum Storage {
    Memory(Opened),
    Sqlite(TempDir),
    Postgres { database: OnceCell<Database>, opened: AtomicU64 },
}

/// Databases that worlds have left. The next world empties one: a matrix has many worlds.
static LEFT: Mutex<Vec<Database>> = Mutex::new(Vec::new());

/// Opens a file. A program that another test starts holds the lock of this one between its fork and its exec: that is
/// waited for, and nothing longer.
async fn open_file(path: &str) -> Opened {
    const BETWEEN_FORK_AND_EXEC: Duration = Duration::from_millis(500);
    let start = tokio::time::Instant::now();
    loop {
        match open(path, None).await {
            Err(OpenError::Sqlite(sqlite::OpenError::InUse { .. }))
                if start.elapsed() < BETWEEN_FORK_AND_EXEC =>
            {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            opened => return opened.expect("the ledger opens"),
        }
    }
}

async fn database() -> Database {
    let left = LEFT.lock().unwrap_or_else(PoisonError::into_inner).pop();
    match left {
        Some(database) => {
            database.empty().await;
            database
        }
        None => postgres::shared().database().await,
    }
}

/// What outlives a process.
pub struct World {
    storage: Storage,
    /// Stands in for the ledger of the storage, where a test has its own.
    pub ledger: Option<Arc<dyn EventLedger>>,
    /// Stands in for the snapshots of the storage, where a test has its own.
    pub snapshots: Option<Arc<dyn SnapshotStore>>,
    /// Moves only when a test moves it.
    pub clock: Arc<ManualClock>,
    /// Ids and salts.
    pub ids: IdSource,
    /// The workflows of every process.
    pub registry: WorkflowRegistry,
    /// The model of every process.
    pub interpreter: Arc<dyn Interpreter>,
    /// Words around replies, where a model writes some.
    pub narrator: Option<Arc<dyn Narrator>>,
    /// The remote, with its own book.
    pub airline: Arc<ScriptedDestination>,
    /// What follows the workflows in every process.
    pub domain_actors: Vec<Arc<dyn ErasedDomainActor>>,
    /// Stands in for the remote, where a test has its own.
    pub destination: Option<Arc<dyn Destination>>,
    /// Limits of every process.
    pub limits: Limits,
}

impl World {
    /// The travel desk with the scripted model and an airline that takes everything.
    #[must_use]
    pub fn desk(backend: Backend) -> Self {
        Self::new(backend, Arc::new(desk::interpreter()), desk::airline())
    }

    /// The travel desk with a model and an airline of the test's own.
    #[must_use]
    pub fn new(
        backend: Backend,
        interpreter: Arc<dyn Interpreter>,
        airline: Arc<ScriptedDestination>,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(sources::START));
        let storage = match backend {
            Backend::Memory => Storage::Memory(Opened {
                ledger: Arc::new(MemoryLedger::new()),
                snapshots: Arc::new(MemorySnapshots::default()),
            }),
            // Processes of a world die, and its machine does not.
            Backend::Sqlite => {
                let directory = TempDir::new_in(place::throwaway());
                Storage::Sqlite(directory.expect("a directory of its own"))
            }
            Backend::Postgres => {
                Storage::Postgres { database: OnceCell::new(), opened: AtomicU64::new(0) }
            }
        };
        Self {
            storage,
            ledger: None,
            snapshots: None,
            ids: IdSource::new(clock.clone(), Arc::new(SeededEntropy::new(7))),
            clock,
            registry: turnframe_travel::registry(),
            interpreter,
            narrator: None,
            airline,
            domain_actors: Vec::new(),
            destination: None,
            limits: Limits {
                snapshot_entries_min: 1,
                sweep: Duration::from_millis(20),
                follow_pause: Duration::from_millis(1),
                ..Limits::default()
            },
        }
    }

    /// The same world with these domain actors.
    #[must_use]
    pub fn followed_by(self, domain_actors: Vec<Arc<dyn ErasedDomainActor>>) -> Self {
        Self { domain_actors, ..self }
    }

    /// The same world with these workflows.
    #[must_use]
    pub fn with_registry(self, registry: WorkflowRegistry) -> Self {
        Self { registry, ..self }
    }

    /// The ledger and the snapshots, opened as a process does.
    pub async fn open(&self) -> Opened {
        let opened = match &self.storage {
            Storage::Memory(opened) => opened.clone(),
            Storage::Sqlite(_) => {
                let path = self.path().expect("a file");
                open_file(path.to_str().expect("UTF-8")).await
            }
            Storage::Postgres { database, opened } => {
                let url = database.get_or_init(self::database).await.url();
                // Every process is another one at the same address: it takes over from the one before at once.
                let run = Uuid::from_u64_pair(0, opened.fetch_add(1, Ordering::Relaxed));
                let node = NodeOptions::new(run, "http://127.0.0.1:9");
                open(&url, Some(node)).await.expect("the ledger opens")
            }
        };
        let snapshots = self.snapshots.clone().unwrap_or(opened.snapshots);
        Opened { snapshots, ..opened }
    }

    /// The same world on a database of the test's own.
    #[must_use]
    pub fn on(self, database: Database) -> Self {
        let storage =
            Storage::Postgres { database: OnceCell::from(database), opened: AtomicU64::new(0) };
        Self { storage, ..self }
    }

    /// Leaves the world, none of whose processes lives any more: its database is the next world's.
    pub fn leave(mut self) {
        if let Storage::Postgres { database, .. } = &mut self.storage {
            let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
            left.extend(database.take());
        }
    }

    /// The file of the ledger, where there is one.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        match &self.storage {
            Storage::Memory(_) | Storage::Postgres { .. } => None,
            Storage::Sqlite(directory) => Some(directory.path().join("world.db")),
        }
    }

    /// Shuts a process down and starts another one on what it left.
    pub async fn restart(&self, process: Process) -> Process {
        let (actor, conversation) = (process.actor.clone(), process.conversation.clone());
        process.system.shutdown().await;
        drop((process.faults, process.remote, process.snapshots));
        Process { actor, conversation, ..self.start().await }
    }

    /// Loses everything that may be lost: snapshots. What is left is the ledger.
    pub async fn drop_snapshots(&self) {
        self.open().await.snapshots.clear().await.expect("cleared");
    }

    /// Starts a process without faults.
    pub async fn start(&self) -> Process {
        self.start_with(FaultPlan::none(), FaultPlan::none(), CrashSwitch::new()).await
    }

    /// Starts a process that dies where the plans say.
    pub async fn start_with(
        &self,
        appends: FaultPlan<LedgerFault>,
        dispatches: FaultPlan<DispatchFault>,
        switch: CrashSwitch,
    ) -> Process {
        self.start_on(self.open().await, appends, dispatches, switch).await
    }

    /// The same on what was opened before.
    pub async fn start_on(
        &self,
        opened: Opened,
        appends: FaultPlan<LedgerFault>,
        dispatches: FaultPlan<DispatchFault>,
        switch: CrashSwitch,
    ) -> Process {
        let Opened { ledger, snapshots } = opened;
        let ledger = self.ledger.clone().unwrap_or(ledger);
        let faults = Arc::new(FaultLedger::new(ledger, appends, switch.clone()));
        let remote = self.destination.clone().unwrap_or_else(|| self.airline.clone());
        let remote = FaultDestination::new(remote, dispatches, switch);
        let remote = Arc::new(remote);
        let system = self.system(faults.clone(), snapshots.clone(), remote.clone()).await;
        let system = system.expect("the system starts");
        let (actor, conversation) = (actor("acme", "ada"), literal("c1"));
        let clock = self.clock.clone();
        let followers = self.domain_actors.iter().map(|actor| actor.key()).collect();
        Process { system, faults, remote, snapshots, clock, followers, actor, conversation }
    }

    /// Starts a system without faults.
    ///
    /// # Errors
    /// What the system refuses to start with.
    pub async fn try_start(&self) -> Result<System, StartError> {
        let Opened { ledger, snapshots } = self.open().await;
        self.system(ledger, snapshots, self.airline.clone()).await
    }

    async fn system(
        &self,
        ledger: Arc<dyn EventLedger>,
        snapshots: Arc<dyn SnapshotStore>,
        remote: Arc<dyn Destination>,
    ) -> Result<System, StartError> {
        System::start(SystemParts {
            ledger: ledger.clone(),
            snapshots,
            registry: self.registry.clone(),
            interpreter: self.interpreter.clone(),
            narrator: self.narrator.clone(),
            directory: Arc::new(LedgerDirectory::new(ledger)),
            destinations: vec![remote],
            domain_actors: self.domain_actors.clone(),
            ids: self.ids.clone(),
            limits: self.limits.clone(),
        })
        .await
    }
}

/// Whether an effect's last entry says that an attempt is about to be sent.
pub(crate) async fn has_attempt_on_its_way(ledger: &dyn EventLedger) -> bool {
    for mark in ledger.marks(MarkQuery::of(MarkKind::Effect)).await.expect("marks") {
        let last = ledger.read_stream_back(&mark.account, &mark.stream, None, 1).await;
        let is_on_its_way = |entry: &Entry| entry.kind == EntryKind::EffectDispatched;
        if last.expect("entries").iter().any(is_on_its_way) {
            return true;
        }
    }
    false
}

/// Somebody of an account who reads English.
#[must_use]
pub fn actor(account: &str, name: &str) -> ActorContext {
    ActorContext {
        account: literal(account),
        actor: literal(name),
        locale: literal("en"),
        time_zone: "Europe/Berlin".to_owned(),
    }
}

/// A turn of words.
#[must_use]
pub fn said(text: &str) -> TurnInput {
    TurnInput { text: Some(text.to_owned()), ..TurnInput::default() }
}

/// A turn of a click.
#[must_use]
pub fn clicked(card: &InteractionView, option: &str) -> TurnInput {
    let response = InteractionResponse {
        interaction: card.id,
        option: literal(option),
        expected_revision: card.expected_revision,
        value: None,
    };
    TurnInput { response: Some(response), ..TurnInput::default() }
}

/// The statuses of an answer's receipts.
#[must_use]
pub fn statuses(blocks: &[ResponseBlock]) -> Vec<ReceiptStatus> {
    let status = |block: &ResponseBlock| match block {
        ResponseBlock::Receipt(receipt) => Some(receipt.draft.status.clone()),
        ResponseBlock::Answer { .. }
        | ResponseBlock::Transition { .. }
        | ResponseBlock::Notice(_)
        | ResponseBlock::Interaction(_)
        | ResponseBlock::Artifact(_) => None,
    };
    blocks.iter().filter_map(status).collect()
}

/// The codes of an answer's notices.
#[must_use]
pub fn notices(blocks: &[ResponseBlock]) -> Vec<&str> {
    let mut codes = Vec::new();
    for block in blocks {
        if let ResponseBlock::Notice(notice) = block {
            codes.push(notice.code.as_str());
        }
    }
    codes
}

/// The cards an answer shows.
#[must_use]
pub fn shown(blocks: &[ResponseBlock]) -> Vec<InteractionId> {
    let card = |block: &ResponseBlock| {
        if let ResponseBlock::Interaction(card) = block { Some(card.id) } else { None }
    };
    blocks.iter().filter_map(card).collect()
}
