//! Drives conversations at once and reports what it saw.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::join_all;
use hdrhistogram::Histogram;
use serde::Serialize;
use tokio::sync::Barrier;
use turnframe_actors::{Limits, StartError, System, SystemParts, TurnInput};
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    AccountId, ActorId, ConversationId, DestinationKey, IdError, Locale, TurnId,
};
use turnframe_core::plan::ActOutcome;
use turnframe_core::registry::{RepeatedWorkflow, WorkflowRegistry};
use turnframe_core::source::IdSource;
use turnframe_ledger::EventLedger;
use turnframe_ledger::ledger::LedgerStatistics;
use turnframe_ledger::snapshot::SnapshotStore;
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{Delivery, Destination, Dispatched};

use crate::tally::{Names, ScriptedTally, Tally};

/// How many conversations share an account.
const CONVERSATIONS_PER_ACCOUNT: usize = 8;

/// What to drive.
#[derive(Debug, Clone)]
pub struct Load {
    /// Conversations at once.
    pub conversations: usize,
    /// Turns of each, one after another.
    pub turns: usize,
}

/// What was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Committed turns a second.
    pub turns_per_second: f64,
    /// Half the turns were answered within this.
    pub p50_ms: f64,
    /// All but one in a hundred were.
    pub p99_ms: f64,
    /// CPU time of the whole process per turn, load generator included.
    pub cpu_us_per_turn: f64,
    /// Transactions per turn.
    pub commits_per_turn: f64,
    /// Statements per turn.
    pub statements_per_turn: f64,
    /// Entries per turn.
    pub entries_per_turn: f64,
    /// Resident memory at the end.
    pub rss_mib: f64,
    /// Turns whose act was applied.
    pub committed: u64,
    /// Turns that were not.
    pub failed: u64,
    /// Median latency of a conversation's turns 10 to 59, and of its last 50.
    pub first_and_last_p50_ms: [f64; 2],
    /// What the figures were taken under.
    pub conditions: Conditions,
}

/// What figures were taken under.
#[derive(Debug, Clone, Serialize)]
pub struct Conditions {
    /// The backend.
    pub ledger: String,
    /// Conversations at once.
    pub conversations: usize,
    /// Turns of each.
    pub turns: usize,
    /// How many conversations share an account.
    pub conversations_per_account: usize,
    /// Cores the process may use.
    pub cores: usize,
    /// What is left out.
    pub left_out: &'static str,
    /// How meaning was made.
    pub understanding: &'static str,
}

/// The load could not be driven.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A name was none.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The system did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The workflow was registered twice.
    #[error(transparent)]
    Workflow(#[from] RepeatedWorkflow),
}

/// Where the load runs.
pub struct Ground {
    /// The ledger, and what to call it.
    pub ledger: (Arc<dyn EventLedger>, String),
    /// Its snapshots.
    pub snapshots: Arc<dyn SnapshotStore>,
    /// Time, randomness and ids.
    pub ids: IdSource,
}

/// Starts a system on the ground and drives the load.
///
/// # Errors
/// [`LoadError`] when the system cannot be started.
pub async fn run(ground: Ground, load: &Load) -> Result<Report, LoadError> {
    let names = Names::new()?;
    let (ledger, ledger_name) = ground.ledger;
    let system = System::start(SystemParts {
        ledger: ledger.clone(),
        snapshots: ground.snapshots,
        registry: WorkflowRegistry::new().with(Tally(names.clone()))?,
        interpreter: Arc::new(ScriptedTally(names)),
        narrator: None,
        directory: Arc::new(LedgerDirectory::new(ledger.clone())),
        destinations: vec![Arc::new(Nowhere(DestinationKey::new("nowhere")?))],
        ids: ground.ids,
        limits: Limits::default(),
    })
    .await?;
    // All conversations are open and have their tally before the clock starts.
    let barrier = Arc::new(Barrier::new(load.conversations + 1));
    let drivers = (0..load.conversations).map(|index| {
        let driver = Driver::new(index, load.turns, system.clone(), barrier.clone());
        Ok(tokio::spawn(driver?.drive()))
    });
    let drivers = drivers.collect::<Result<Vec<_>, LoadError>>()?;
    barrier.wait().await;
    let before = Meter::read(ledger.as_ref());
    let seen = join_all(drivers).await;
    let after = Meter::read(ledger.as_ref());
    let seen: Vec<Seen> = seen.into_iter().flatten().collect();
    let report = report(load, ledger_name, &seen, &before, &after);
    system.shutdown().await;
    Ok(report)
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

struct Driver {
    conversation: ConversationId,
    actor: ActorContext,
    turns: usize,
    system: System,
    barrier: Arc<Barrier>,
}

#[derive(Default)]
struct Seen {
    latencies: Vec<Duration>,
    committed: u64,
    failed: u64,
}

impl Driver {
    fn new(
        index: usize,
        turns: usize,
        system: System,
        barrier: Arc<Barrier>,
    ) -> Result<Self, IdError> {
        Ok(Self {
            conversation: ConversationId::new(format!("c-{index}"))?,
            actor: ActorContext {
                account: AccountId::new(format!("account-{}", index / CONVERSATIONS_PER_ACCOUNT))?,
                actor: ActorId::new(format!("actor-{index}"))?,
                locale: Locale::new("en")?,
                time_zone: "UTC".to_owned(),
            },
            turns,
            system,
            barrier,
        })
    }

    async fn drive(self) -> Seen {
        let mut seen = Seen::default();
        let opened = self.system.open_conversation(&self.actor, &self.conversation).await.is_ok();
        let ready = opened && self.turn("open tally", "t-open").await;
        self.barrier.wait().await;
        if !ready {
            seen.failed = self.turns as u64;
            return seen;
        }
        for turn in 0..self.turns {
            let started = Instant::now();
            let committed = self.turn("add 5 please", &format!("t-{turn}")).await;
            seen.latencies.push(started.elapsed());
            seen.committed += u64::from(committed);
            seen.failed += u64::from(!committed);
        }
        seen
    }

    async fn turn(&self, text: &str, turn: &str) -> bool {
        let Ok(turn) = TurnId::new(turn) else { return false };
        let input = TurnInput { text: Some(text.to_owned()), ..TurnInput::default() };
        let answer = self.system.post(&self.actor, &self.conversation, &turn, input).await;
        answer.is_ok_and(|answer| {
            answer.acts.iter().any(|act| matches!(act.outcome, ActOutcome::Applied { .. }))
        })
    }
}

/// What the process has used so far.
struct Meter {
    at: Instant,
    cpu: Duration,
    ledger: LedgerStatistics,
}

impl Meter {
    fn read(ledger: &dyn EventLedger) -> Self {
        Self { at: Instant::now(), cpu: cpu_time(), ledger: ledger.statistics() }
    }
}

/// User and system time of the process, from the kernel's own book (proc(5), fields 14 and 15, in ticks of
/// a hundredth of a second). Zero where there is none.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Resident memory in MiB. Zero where the kernel does not say.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn report(load: &Load, ledger: String, seen: &[Seen], before: &Meter, after: &Meter) -> Report {
    let committed: u64 = seen.iter().map(|seen| seen.committed).sum();
    let failed = seen.iter().map(|seen| seen.failed).sum();
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    let turns = committed.max(1) as f64;
    let all = quantiles(seen.iter().flat_map(|seen| &seen.latencies));
    let early = seen.iter().flat_map(|seen| seen.latencies.iter().skip(10).take(50));
    let late = seen.iter().flat_map(|seen| seen.latencies.iter().rev().take(50));
    Report {
        turns_per_second: committed as f64 / seconds,
        p50_ms: all.0,
        p99_ms: all.1,
        cpu_us_per_turn: (after.cpu - before.cpu).as_micros() as f64 / turns,
        commits_per_turn: (after.ledger.commits - before.ledger.commits) as f64 / turns,
        statements_per_turn: (after.ledger.statements - before.ledger.statements) as f64 / turns,
        entries_per_turn: (after.ledger.entries - before.ledger.entries) as f64 / turns,
        rss_mib: resident_mib(),
        committed,
        failed,
        first_and_last_p50_ms: [quantiles(early).0, quantiles(late).0],
        conditions: Conditions {
            ledger,
            conversations: load.conversations,
            turns: load.turns,
            conversations_per_account: CONVERSATIONS_PER_ACCOUNT,
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            left_out: "HTTP",
            understanding: "scripted, answered at once",
        },
    }
}

/// The median and the 99th percentile, in milliseconds.
fn quantiles<'a>(latencies: impl Iterator<Item = &'a Duration>) -> (f64, f64) {
    const LONGEST_MICROS: u64 = 600_000_000;
    let bounded = Histogram::<u64>::new_with_max(LONGEST_MICROS, 3);
    let Ok(mut histogram) = bounded else { return (0.0, 0.0) };
    for latency in latencies {
        histogram.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
    }
    let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1_000.0;
    (at(0.5), at(0.99))
}
