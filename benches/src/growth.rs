//! What the length of a conversation costs: a late turn beside an early one of a young conversation, taken in turns,
//! and the first turn after a restart, with snapshots and without.

use std::time::{Duration, Instant};

use turnframe_actors::{Limits, System};
use turnframe_core::source::IdSource;

use crate::clock::Ahead;
use crate::error::BenchError;
use crate::ground::{Backend, Ground};
use crate::latency::median;
use crate::speaker::{CONVERSATIONS_PER_ACCOUNT, Speaker, committed};

/// How many turns are compared.
const WINDOW: usize = 200;
/// The first turn that counts as an early one.
const EARLY: usize = 10;
/// How often a restart is tried.
const RESTARTS: usize = 3;
/// How long an actor may be idle; the clock is set ahead by more to have all of them passivated.
const IDLE: Duration = Duration::from_secs(3_600);

/// What was seen of a long conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// Median of the early turns of a young conversation, while the old one was old.
    pub(crate) young_ms: f64,
    /// Median of the late turns of the old one.
    pub(crate) old_ms: f64,
    /// Median of the same early turns of the old one, when it was young and the ledger empty.
    pub(crate) first_ms: f64,
    /// The first turn after a restart, with the snapshots of the passivation before it.
    pub(crate) cold_with_ms: f64,
    /// The same without snapshots.
    pub(crate) cold_without_ms: f64,
}

/// Limits under which a clock that is set ahead passivates everybody soon.
pub(crate) fn passivating() -> Limits {
    Limits { idle: IDLE, sweep: Duration::from_millis(100), ..Limits::default() }
}

/// Has everybody passivated.
pub(crate) async fn passivate(system: &System, clock: &Ahead) -> Result<(), BenchError> {
    const LOOKS: usize = 1_200;
    clock.advance(IDLE * 2);
    for _ in 0..LOOKS {
        if system.live_actors() == (0, 0) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(BenchError::Departed("an idle actor was not passivated"))
}

/// Drives one conversation for so many turns.
pub(crate) async fn measure(
    backend: &Backend,
    ids: &IdSource,
    turns: usize,
) -> Result<Growth, BenchError> {
    let clock = Ahead::of(ids);
    let mut ground = Ground::open(backend, &clock.ids()).await?;
    let growth = grow(&mut ground, &clock, turns).await;
    ground.clear().await?;
    growth
}

async fn grow(ground: &mut Ground, clock: &Ahead, turns: usize) -> Result<Growth, BenchError> {
    let system = ground.start(passivating()).await?;
    let old = Speaker::new(0, &system)?;
    let young = Speaker::new(CONVERSATIONS_PER_ACCOUNT, &system)?;
    old.open().await?;
    let mut all = Vec::with_capacity(turns);
    for turn in 0..turns.saturating_sub(WINDOW) {
        all.push(old.add(turn).await?);
    }
    young.open().await?;
    for turn in 0..EARLY {
        young.add(turn).await?;
    }
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for turn in 0..WINDOW {
        late.push(old.add(all.len() + turn).await?);
        early.push(young.add(EARLY + turn).await?);
    }
    passivate(&system, clock).await?;
    // Whoever holds the system holds the ledger.
    drop((old, young));
    system.shutdown().await;
    let cold_with_ms = restart(ground, "with", false).await?;
    let cold_without_ms = restart(ground, "without", true).await?;
    Ok(Growth {
        young_ms: median(&early),
        old_ms: median(&late),
        first_ms: median(all.iter().skip(EARLY).take(WINDOW)),
        cold_with_ms,
        cold_without_ms,
    })
}

/// The median of the first turns after restarts.
async fn restart(ground: &mut Ground, name: &str, clear: bool) -> Result<f64, BenchError> {
    let mut taken = Vec::with_capacity(RESTARTS);
    for attempt in 0..RESTARTS {
        ground.reopen().await?;
        if clear {
            let cleared = ground.opened.snapshots.clear().await;
            cleared.map_err(|_| BenchError::Departed("the snapshots could not be cleared"))?;
        }
        let system = ground.start(passivating()).await?;
        let speaker = Speaker::new(0, &system)?;
        let started = Instant::now();
        let answer = speaker.say("add 5 please", &format!("{name}-{attempt}")).await?;
        taken.push(started.elapsed());
        committed(&answer)?;
        drop(speaker);
        system.shutdown().await;
    }
    Ok(median(&taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_test::sources::ids;

    #[tokio::test]
    async fn a_restart_reads_what_a_file_kept_with_snapshots_and_without() {
        let folder = tempfile::tempdir().expect("a folder");
        let backend = Backend::Sqlite(folder.path().to_owned());
        let growth = measure(&backend, &ids(1), WINDOW + 20).await.expect("measured");
        assert!(growth.old_ms > 0.0 && growth.cold_without_ms > 0.0, "{growth:?}");
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "what a bench made is gone");
    }
}
