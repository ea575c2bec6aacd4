//! Many conversations at once, each turn after turn, and what was seen of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde::Serialize;
use tokio::sync::Barrier;
use turnframe_actors::Limits;
use turnframe_ledger::EventLedger;
use turnframe_ledger::ledger::LedgerStatistics;

use crate::error::BenchError;
use crate::ground::Ground;
use crate::latency::{median, quantiles};
use crate::process::{cpu_time, resident_kib};
use crate::speaker::{CONVERSATIONS_PER_ACCOUNT, Speaker};

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
    pub ledger: &'static str,
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

/// Starts a system on the ground and drives the load.
///
/// # Errors
/// [`BenchError`] when the system cannot be started.
pub async fn run(ground: &Ground, load: &Load) -> Result<Report, BenchError> {
    let ledger = ground.opened.ledger.as_ref();
    let system = ground.start(Limits::default()).await?;
    // All conversations are open and have their tally before the clock starts.
    let barrier = Arc::new(Barrier::new(load.conversations + 1));
    let drivers = (0..load.conversations).map(|number| {
        let speaker = Speaker::new(number, &system)?;
        Ok(tokio::spawn(drive(speaker, load.turns, barrier.clone())))
    });
    let drivers = drivers.collect::<Result<Vec<_>, BenchError>>()?;
    barrier.wait().await;
    let before = Meter::read(ledger);
    let seen = join_all(drivers).await;
    let after = Meter::read(ledger);
    let seen: Vec<Seen> = seen.into_iter().flatten().collect();
    let report = report(load, ground.backend.name(), &seen, &before, &after);
    system.shutdown().await;
    Ok(report)
}

#[derive(Default)]
struct Seen {
    latencies: Vec<Duration>,
    failed: u64,
}

async fn drive(speaker: Speaker, turns: usize, barrier: Arc<Barrier>) -> Seen {
    let mut seen = Seen::default();
    let ready = speaker.open().await.is_ok();
    barrier.wait().await;
    if !ready {
        seen.failed = turns as u64;
        return seen;
    }
    for turn in 0..turns {
        match speaker.add(turn).await {
            Ok(taken) => seen.latencies.push(taken),
            Err(_) => seen.failed += 1,
        }
    }
    seen
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

fn report(
    load: &Load,
    ledger: &'static str,
    seen: &[Seen],
    before: &Meter,
    after: &Meter,
) -> Report {
    let committed = seen.iter().map(|seen| seen.latencies.len() as u64).sum::<u64>();
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    let turns = committed.max(1) as f64;
    let (p50_ms, p99_ms) = quantiles(seen.iter().flat_map(|seen| &seen.latencies));
    let early = seen.iter().flat_map(|seen| seen.latencies.iter().skip(10).take(50));
    let late = seen.iter().flat_map(|seen| seen.latencies.iter().rev().take(50));
    Report {
        turns_per_second: committed as f64 / seconds,
        p50_ms,
        p99_ms,
        cpu_us_per_turn: (after.cpu - before.cpu).as_micros() as f64 / turns,
        commits_per_turn: (after.ledger.commits - before.ledger.commits) as f64 / turns,
        statements_per_turn: (after.ledger.statements - before.ledger.statements) as f64 / turns,
        entries_per_turn: (after.ledger.entries - before.ledger.entries) as f64 / turns,
        rss_mib: resident_kib() / 1024.0,
        committed,
        failed: seen.iter().map(|seen| seen.failed).sum(),
        first_and_last_p50_ms: [median(early), median(late)],
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
