//! How much memory a conversation with its case holds while it is active, and once it is passivated.
//!
//! On SQLite with hardly a page in memory, so that the ledger's entries lie elsewhere; what the ledger keeps of the
//! last entries is filled by a first crowd. Resident memory is what the kernel says, so this must come first in a
//! process: pages that others have given back would be taken without being counted. And the allocator keeps pages
//! that it may need again: what passivated conversations hold on to is told by a second crowd, which makes the process
//! grow by just that.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt, TryStreamExt};
use turnframe_actors::System;
use turnframe_core::source::IdSource;

use crate::clock::Ahead;
use crate::error::BenchError;
use crate::ground::Ground;
use crate::growth::{passivate, passivating};
use crate::process::resident_kib;
use crate::speaker::Speaker;

/// How many conversations are opened at once.
const AT_ONCE: usize = 256;
/// How many fill what the ledger keeps of the last entries, and the other bounded caches.
const FIRST_CROWD: usize = 2_000;

/// How many conversations are active at once where very many lie on the ledger.
pub(crate) const CROWD: usize = 20_000;

/// Memory per conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resident {
    /// Active and idle.
    pub(crate) active_kib: f64,
    /// By how much the process grew when as many others were active after these were passivated.
    pub(crate) passivated_kib: f64,
    /// What the kernel got back at passivation.
    pub(crate) returned_kib: f64,
}

/// Opens so many conversations, has them passivated, and opens as many others.
pub(crate) async fn measure(
    folder: &Path,
    ids: &IdSource,
    conversations: usize,
) -> Result<Resident, BenchError> {
    let clock = Ahead::of(ids);
    let ground = Ground::frugal(folder, &clock.ids()).await?;
    let system = ground.start(passivating()).await?;
    let resident = count(&system, &clock, conversations).await;
    system.shutdown().await;
    ground.clear().await?;
    resident
}

/// The resident set while ever more conversations lie on the ledger.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Crowds {
    /// After the first crowd was passivated.
    pub(crate) first_mib: f64,
    /// After the last one was.
    pub(crate) last_mib: f64,
    /// Conversations that were opened a second.
    pub(crate) opened_per_second: f64,
}

/// Opens conversations crowd by crowd, each of which is passivated before the next one comes.
pub(crate) async fn crowds(
    folder: &Path,
    ids: &IdSource,
    crowds: usize,
) -> Result<Crowds, BenchError> {
    let clock = Ahead::of(ids);
    let ground = Ground::frugal(folder, &clock.ids()).await?;
    let system = ground.start(passivating()).await?;
    let (mut first_mib, mut spent) = (0.0, Duration::ZERO);
    for crowd in 0..crowds {
        let start = Instant::now();
        let numbers = crowd * CROWD..(crowd + 1) * CROWD;
        let system = &system;
        let one = |number| async move { Speaker::new(number, system)?.greet().await };
        let opened: Result<(), _> =
            stream::iter(numbers.map(one)).buffer_unordered(AT_ONCE).try_collect().await;
        opened?;
        spent += start.elapsed();
        passivate(system, &clock).await?;
        if crowd == 0 {
            first_mib = settled().await / 1024.0;
        }
    }
    let last_mib = settled().await / 1024.0;
    system.shutdown().await;
    ground.clear().await?;
    let opened_per_second = (crowds * CROWD) as f64 / spent.as_secs_f64();
    Ok(Crowds { first_mib, last_mib, opened_per_second })
}

async fn count(
    system: &System,
    clock: &Ahead,
    conversations: usize,
) -> Result<Resident, BenchError> {
    let second = FIRST_CROWD + conversations;
    open(system, 0..FIRST_CROWD).await?;
    let before = settled().await;
    open(system, FIRST_CROWD..second).await?;
    let active = settled().await;
    passivate(system, clock).await?;
    let passivated = settled().await;
    // As many as before, so that as much is active as then.
    open(system, second..second + FIRST_CROWD + conversations).await?;
    let again = settled().await;
    let count = conversations as f64;
    Ok(Resident {
        active_kib: (active - before) / count,
        passivated_kib: (again - active) / (FIRST_CROWD as f64 + count),
        returned_kib: (active - passivated) / (FIRST_CROWD as f64 + count),
    })
}

/// Opens these conversations, all of which must then be active.
async fn open(system: &System, numbers: Range<usize>) -> Result<(), BenchError> {
    let expected = system.live_actors().0 + numbers.len();
    let one = |number| async move { Speaker::new(number, system)?.open().await };
    let opened: Result<(), _> =
        stream::iter(numbers).map(one).buffer_unordered(AT_ONCE).try_collect().await;
    opened?;
    if system.live_actors() == (expected, expected) {
        Ok(())
    } else {
        Err(BenchError::Departed("not all conversations stayed active"))
    }
}

/// Resident memory once the allocator has given back what it does not need: it does so on its own clock, when it
/// is next asked for something.
async fn settled() -> f64 {
    const LOOKS: usize = 60;
    for _ in 0..LOOKS {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let touch = || tokio::spawn(async { std::hint::black_box(vec![0_u8; 1 << 16]).len() });
        futures::future::join_all((0..16).map(|_| touch())).await;
    }
    resident_kib()
}
