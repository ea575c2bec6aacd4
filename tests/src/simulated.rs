//! Whole runs of the real system on a simulated ledger, under a paused clock: one seed is one run.
//!
//! A [`Simulation`] is what outlives the processes: the database, the remote, the clock. [`life`] lets one process
//! after another live and die on it, [`client`] are the people who talk to whichever process is up, [`remote`] is
//! the way to the airline with faults of its own, and [`check`] says what must stand at the end.
//!
//! A process is [`Simulation::start`] on a node of the database. Where several are up at once, they share the
//! partitions, and each serves the accounts of its own.

pub mod check;
pub mod client;
pub mod life;
pub mod remote;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use turnframe_actors::{Limits, StartError, System, SystemParts};
use turnframe_core::id::AccountId;
use turnframe_core::source::IdSource;
use turnframe_ledger::EventLedger;
use turnframe_ledger::snapshot::MemorySnapshots;
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{Destination, DestinationProfile, Interpreter, Resending};
use turnframe_test::fault::CrashSwitch;
use turnframe_test::script::ScriptedDestination;
use turnframe_test::simulated::{
    Chance, Faults, Signal, SimulatedClock, SimulatedDatabase, SimulatedLedger,
};
use turnframe_test::sources::SeededEntropy;
use turnframe_travel::AnswerDeadline;

use self::remote::{Remote, RemoteFaults};
use crate::desk;

/// How long the airline may take to decide: some have heard by then.
const DEADLINE: Duration = Duration::from_secs(20);

/// The environment variable that names the one seed to run.
pub const SEED_VARIABLE: &str = "TURNFRAME_SEED";

/// What a run is like.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// What goes wrong on the way to the ledger.
    pub faults: Faults,
    /// What goes wrong on the way to the airline.
    pub remote_faults: RemoteFaults,
    /// Whether the airline honours idempotency keys.
    pub resending: Resending,
    /// How many processes are up beside each other.
    pub processes: usize,
    /// How many of them die and are followed by another, at most, for each of them.
    pub deaths_max: usize,
}

impl Scenario {
    /// What a seed makes of it.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut draw = Chance::new(seed).of("scenario", &[]);
        let faults = if draw.happens(0.2) { Faults::calm() } else { Faults::rough() };
        Self {
            faults,
            remote_faults: RemoteFaults::rough(),
            resending: [Resending::IdempotentByKey, Resending::Never][draw.below(2)],
            processes: 1 + draw.below(2),
            deaths_max: 3,
        }
    }
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
    /// The processes that are up.
    up: Signal<Vec<Running>>,
}

/// A process that is up.
#[derive(Clone)]
pub struct Running {
    /// Tells it from every other process of the run.
    pub number: usize,
    /// Its ledger.
    pub node: Arc<SimulatedLedger>,
    /// Its system.
    pub system: System,
}

impl Simulation {
    /// A run under a seed. Made inside its runtime.
    #[must_use]
    pub fn new(seed: u64) -> Arc<Self> {
        let scenario = Scenario::of(seed);
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
            up: Signal::default(),
        })
    }

    /// A node for a new process. One that starts where an earlier one ran owns what that one did at once; elsewhere
    /// it waits until the leases of that one have run out.
    #[must_use]
    pub fn node(&self, address: &str, switch: CrashSwitch) -> Arc<SimulatedLedger> {
        Arc::new(self.database.node(address, switch))
    }

    /// Starts a system on a node.
    ///
    /// # Errors
    /// [`StartError`] when the ledger cannot be read.
    pub async fn start(
        &self,
        number: usize,
        node: Arc<SimulatedLedger>,
    ) -> Result<Running, StartError> {
        let ledger: Arc<dyn EventLedger> = node.clone();
        let entropy = SeededEntropy::new(self.seed.wrapping_mul(1_000).wrapping_add(number as u64));
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
            domain_actors: vec![Arc::new(AnswerDeadline::after(DEADLINE))],
            ids: IdSource::new(self.clock.clone(), Arc::new(entropy)),
            limits: Limits {
                snapshot_entries_min: 4,
                sweep: Duration::from_millis(500),
                idle: Duration::from_secs(2),
                ..Limits::default()
            },
        });
        Ok(Running { number, node, system: system.await? })
    }

    /// The processes that are up, as soon as there is one.
    pub async fn running(&self) -> Vec<Running> {
        self.up.until(|up| (!up.is_empty()).then(|| up.clone())).await
    }

    /// The process that serves an account, as soon as there is one.
    ///
    /// # Panics
    /// When nobody does for long.
    pub async fn serving(&self, account: &AccountId) -> Running {
        const LOOKS_MAX: usize = 1_000;
        for _ in 0..LOOKS_MAX {
            let mut running = self.running().await.into_iter();
            if let Some(serving) = running.find(|it| it.system.serves(account)) {
                return serving;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("nobody serves {account}")
    }

    fn begins(&self, running: Running) {
        let mut up = self.up.get();
        up.push(running);
        self.up.set(up);
    }

    fn ends(&self, number: usize) {
        let mut up = self.up.get();
        up.retain(|running| running.number != number);
        self.up.set(up);
    }

    /// What work with a process comes to; nothing, where the process ends first.
    pub async fn while_up<T>(&self, number: usize, work: impl Future<Output = T>) -> Option<T> {
        let is_gone = |up: &Vec<Running>| up.iter().all(|it| it.number != number).then_some(());
        tokio::select! {
            biased;
            () = self.up.until(is_gone) => None,
            outcome = work => Some(outcome),
        }
    }
}

/// Runs one share of the seeds, or of it the one that the environment names, each in a runtime of its own.
///
/// # Panics
/// When a run fails, with the command that runs it again.
pub fn under_seeds<F: Future<Output = ()>>(
    share: Share,
    test: &str,
    run: impl Fn(Arc<Simulation>) -> F,
) {
    for seed in share.seeds() {
        let run = || alone(async { run(Simulation::new(seed)).await });
        if std::panic::catch_unwind(AssertUnwindSafe(run)).is_err() {
            panic!(
                "seed {seed} failed; to run it again: \
                 {SEED_VARIABLE}={seed} cargo test -p turnframe-tests --test simulated {test}"
            );
        }
    }
}

/// A share of the seeds, so that several tests run beside each other.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// How many seeds there are in all.
    pub seeds: u64,
    /// How many shares there are.
    pub of: u64,
    /// Which share, from 0: every seed that leaves this remainder.
    pub number: u64,
}

impl Share {
    fn seeds(self) -> Vec<u64> {
        let named = std::env::var(SEED_VARIABLE).ok();
        let named = named.map(|seed| seed.parse::<u64>().expect("a seed is a number"));
        let seeds = named.map_or(0..self.seeds, |seed| seed..seed + 1);
        seeds.filter(|seed| seed % self.of == self.number).collect()
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
