//! Whole runs of the real system on a simulated ledger, under a paused clock: one seed is one run.
//!
//! A [`Simulation`] is what outlives the processes: the database, the remote, the clock. [`life`] lets one process
//! after another live and die on it, [`client`] are the people who talk to whichever process is up, [`remote`] is
//! the way to the airline with faults of its own, and [`check`] says what must stand at the end.
//!
//! A process is [`Simulation::start`] on a node of the database. Several at once are several nodes.

pub mod check;
pub mod client;
pub mod life;
pub mod remote;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::watch;
use turnframe_actors::{Limits, StartError, System, SystemParts};
use turnframe_core::source::IdSource;
use turnframe_ledger::snapshot::MemorySnapshots;
use turnframe_ledger::{EventLedger, PartitionSet};
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{Destination, DestinationProfile, Interpreter, Resending};
use turnframe_test::fault::CrashSwitch;
use turnframe_test::script::ScriptedDestination;
use turnframe_test::simulated::{
    Chance, Faults, SimulatedClock, SimulatedDatabase, SimulatedLedger,
};
use turnframe_test::sources::SeededEntropy;

use self::remote::{Remote, RemoteFaults};
use crate::desk;

/// The environment variable that names the one seed to run.
pub const SEED_VARIABLE: &str = "TURNFRAME_SEED";

/// What a run is like.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// The name of the test, for whoever replays a seed.
    pub name: &'static str,
    /// What goes wrong on the way to the ledger.
    pub faults: Faults,
    /// What goes wrong on the way to the airline.
    pub remote_faults: RemoteFaults,
    /// Whether the airline honours idempotency keys.
    pub resending: Resending,
    /// How many processes die, at most.
    pub deaths_max: usize,
}

/// What outlives the processes of a run.
pub struct Simulation {
    /// What the run is like.
    pub scenario: Scenario,
    /// Where its chances come from.
    pub chance: Arc<Chance>,
    /// The shared truth.
    pub database: SimulatedDatabase,
    /// May be lost at any time.
    pub snapshots: Arc<MemorySnapshots>,
    /// The remote, with its own book.
    pub airline: Arc<ScriptedDestination>,
    seed: u64,
    clock: Arc<SimulatedClock>,
    interpreter: Arc<dyn Interpreter>,
    /// The process that is up.
    up: watch::Sender<Option<Running>>,
}

/// A process that is up.
#[derive(Clone)]
pub struct Running {
    /// Its ledger.
    pub node: Arc<SimulatedLedger>,
    /// Its system.
    pub system: System,
}

impl Simulation {
    /// A run under a seed. Made inside its runtime.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64) -> Arc<Self> {
        let profile =
            DestinationProfile { resending: scenario.resending, ..DestinationProfile::default() };
        let airline = ScriptedDestination::accepting("airline").with_profile(profile);
        Arc::new(Self {
            scenario,
            chance: Arc::new(Chance::new(seed)),
            database: SimulatedDatabase::new(seed, scenario.faults),
            snapshots: Arc::default(),
            airline: Arc::new(airline),
            seed,
            clock: Arc::default(),
            interpreter: Arc::new(desk::interpreter()),
            up: watch::Sender::new(None),
        })
    }

    /// A node that owns everything. A process that starts again where the one before ran owns it at once; elsewhere
    /// it waits until the leases of that one have run out.
    pub async fn node(&self, switch: CrashSwitch) -> Arc<SimulatedLedger> {
        let address = ["http://here", "http://there"][self.chance.of("address", &[]).below(2)];
        let node = self.database.node(address, switch);
        node.holding(PartitionSet::ALL).await;
        Arc::new(node)
    }

    /// Starts a system on a node.
    ///
    /// # Errors
    /// [`StartError`] when the ledger cannot be read.
    pub async fn start(
        &self,
        life: usize,
        node: Arc<SimulatedLedger>,
    ) -> Result<Running, StartError> {
        let ledger: Arc<dyn EventLedger> = node.clone();
        let entropy = SeededEntropy::new(self.seed.wrapping_mul(1_000).wrapping_add(life as u64));
        let way = Remote::new(
            self.airline.clone(),
            node.clone(),
            self.chance.clone(),
            self.scenario.remote_faults,
        );
        let system = System::start(SystemParts {
            ledger: ledger.clone(),
            snapshots: self.snapshots.clone(),
            registry: turnframe_travel::registry(),
            interpreter: self.interpreter.clone(),
            narrator: None,
            directory: Arc::new(LedgerDirectory::new(ledger)),
            destinations: vec![Arc::new(way) as Arc<dyn Destination>],
            ids: IdSource::new(self.clock.clone(), Arc::new(entropy)),
            limits: Limits {
                snapshot_entries_min: 4,
                sweep: Duration::from_millis(500),
                idle: Duration::from_secs(2),
                ..Limits::default()
            },
        });
        Ok(Running { node, system: system.await? })
    }

    /// The process that is up, as soon as there is one.
    ///
    /// # Panics
    /// Never: the sender lives in `self`.
    pub async fn running(&self) -> Running {
        let mut up = self.up.subscribe();
        let running = up.wait_for(Option::is_some).await.expect("the sender lives");
        running.clone().expect("it was waited for")
    }
}

/// Runs a scenario under each seed, or under the one that the environment names, each in a runtime of its own whose
/// clock is paused.
///
/// # Panics
/// When a run fails, with the command that runs it again.
pub fn under_seeds<F: Future<Output = ()>>(
    scenario: Scenario,
    seeds: impl IntoIterator<Item = u64>,
    run: impl Fn(Arc<Simulation>) -> F,
) {
    let named = std::env::var(SEED_VARIABLE).ok();
    let named = named.map(|seed| seed.parse::<u64>().expect("a seed is a number"));
    let seeds: Vec<u64> = named.map_or_else(|| seeds.into_iter().collect(), |seed| vec![seed]);
    for seed in seeds {
        let run = || alone(async { run(Simulation::new(scenario, seed)).await });
        if std::panic::catch_unwind(AssertUnwindSafe(run)).is_err() {
            let name = scenario.name;
            panic!(
                "seed {seed} failed; again: \
                 {SEED_VARIABLE}={seed} cargo test -p turnframe-tests --test simulated {name}"
            );
        }
    }
}

/// Runs work in a runtime of its own, on one thread and a paused clock.
///
/// # Panics
/// When there is no runtime to be had.
pub fn alone<T>(work: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(work)
}
