//! Effects beside turns: how many a second reach a destination on loopback, and what that costs whoever talks meanwhile.
//!
//! Three measures on ledgers of their own: how many turns the machine serves at most; effects that have waited, sent with
//! nothing beside them; and turns that arrive at half of that most, first alone and then with some of them requesting an
//! effect each. Turns arrive at moments that are set beforehand, and are timed from there: what waits is seen.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde::Serialize;
use turnframe_actors::{Limits, System};
use turnframe_core::source::IdSource;
use turnframe_ledger::{EventLedger, MarkKind, MarkQuery};

use crate::error::BenchError;
use crate::ground::{Backend, Ground};
use crate::latency::quantiles;
use crate::load::{self, Load};
use crate::office::{IN_FLIGHT, Office};
use crate::speaker::{Speaker, committed};

/// How soon something that is waited for is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// How long effects may take to come to rest once nobody talks any more.
const PATIENCE: Duration = Duration::from_secs(120);

/// What to drive.
#[derive(Debug, Clone)]
pub struct Effects {
    /// Conversations at once.
    pub conversations: usize,
    /// For how long turns arrive, twice.
    pub seconds: u64,
    /// How many of the turns request an effect, a second.
    pub effects_per_second: f64,
    /// How many effects wait before they are sent with nothing beside them.
    pub waiting: usize,
}

impl Default for Effects {
    fn default() -> Self {
        Self { conversations: 256, seconds: 20, effects_per_second: 1_050.0, waiting: 4_000 }
    }
}

/// What was seen.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The most turns a second, with as many conversations.
    pub saturated_turns_per_second: f64,
    /// Turns that arrived a second: half of that.
    pub turns_per_second: f64,
    /// Effects sent a second with nothing beside them, until the last was told to its conversation.
    pub effects_alone_per_second: f64,
    /// Turns with no effect among them.
    pub alone: Turns,
    /// Turns with effects among them.
    pub beside: Turns,
    /// Effects a second that the destination took beside turns, while turns arrived.
    pub effects_per_second: f64,
    /// How much longer the slowest percent of turns took beside effects.
    pub p99_ratio: f64,
    /// Deliveries in flight at once, at most.
    pub in_flight: usize,
    /// The backend.
    pub ledger: &'static str,
}

/// How turns that arrived at set moments were answered.
#[derive(Debug, Clone, Serialize)]
pub struct Turns {
    /// Half the turns were answered within this.
    pub p50_ms: f64,
    /// All but one in a hundred were.
    pub p99_ms: f64,
    /// Turns that were committed.
    pub committed: usize,
    /// Turns that were told that their case had moved: what became of an effect was recorded while they ran.
    pub conflicting: usize,
    /// Turns that were not answered.
    pub failed: usize,
}

impl Turns {
    fn of(seen: &[Seen]) -> Self {
        let count = |of: fn(&Seen) -> usize| seen.iter().map(of).sum();
        let (p50_ms, p99_ms) = quantiles(seen.iter().flat_map(|seen| &seen.latencies));
        Self {
            p50_ms,
            p99_ms,
            committed: count(|seen| seen.committed),
            conflicting: count(|seen| seen.latencies.len() - seen.committed),
            failed: count(|seen| seen.failed),
        }
    }
}

/// Takes all three measures.
///
/// # Errors
/// [`BenchError`] when one of them cannot be taken.
pub async fn run(backend: &Backend, ids: &IdSource, plan: &Effects) -> Result<Report, BenchError> {
    let saturated = saturated(backend, ids, plan).await?;
    let effects_alone_per_second = alone(backend, ids, plan).await?;
    let turns_per_second = saturated / 2.0;
    let (alone, _) = arriving(backend, ids, plan, turns_per_second, 0.0).await?;
    let rate = plan.effects_per_second;
    let (beside, effects_per_second) = arriving(backend, ids, plan, turns_per_second, rate).await?;
    Ok(Report {
        saturated_turns_per_second: saturated,
        turns_per_second,
        effects_alone_per_second,
        p99_ratio: beside.p99_ms / alone.p99_ms,
        alone,
        beside,
        effects_per_second,
        in_flight: IN_FLIGHT,
        ledger: backend.name(),
    })
}

async fn saturated(backend: &Backend, ids: &IdSource, plan: &Effects) -> Result<f64, BenchError> {
    // About as many turns as arrive later.
    let turns = usize::try_from(plan.seconds).unwrap_or(1) * 8;
    let ground = Ground::open(backend, ids).await?;
    let load = Load { conversations: plan.conversations, turns };
    let report = load::run(&ground, &load).await;
    ground.clear().await?;
    Ok(report?.turns_per_second)
}

/// A system with an office, and everybody who talks.
struct Talking {
    ground: Ground,
    office: Office,
    system: System,
    speakers: Vec<Speaker>,
}

impl Talking {
    async fn begin(backend: &Backend, ids: &IdSource, plan: &Effects) -> Result<Self, BenchError> {
        let (ground, office) = (Ground::open(backend, ids).await?, Office::begin().await?);
        let system = ground.start_with(Limits::default(), office.destination()?).await?;
        let speakers = (0..plan.conversations).map(|number| Speaker::new(number, &system));
        let speakers = speakers.collect::<Result<Vec<_>, _>>()?;
        let opened = join_all(speakers.iter().map(Speaker::open)).await;
        opened.into_iter().collect::<Result<(), _>>()?;
        Ok(Self { ground, office, system, speakers })
    }

    /// Waits until every effect is concluded and told.
    async fn rest(&self) -> Result<(), BenchError> {
        let ledger = self.ground.opened.ledger.as_ref();
        let resting = async {
            while has(ledger, MarkKind::Effect).await? || has(ledger, MarkKind::Relay).await? {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            Ok(())
        };
        let late = |_| Err(BenchError::Departed("effects did not come to rest"));
        tokio::time::timeout(PATIENCE, resting).await.unwrap_or_else(late)
    }

    fn is_balanced(&self, requested: usize) -> Result<(), BenchError> {
        let taken = self.office.taken();
        if taken == requested { Ok(()) } else { Err(BenchError::Unbalanced { requested, taken }) }
    }

    async fn end(self) -> Result<(), BenchError> {
        self.system.shutdown().await;
        self.ground.clear().await
    }
}

async fn has(ledger: &dyn EventLedger, kind: MarkKind) -> Result<bool, BenchError> {
    let query = MarkQuery { limit: 1, ..MarkQuery::of(kind) };
    Ok(!ledger.marks(query).await?.is_empty())
}

/// Lets effects wait before a closed office, and opens it.
async fn alone(backend: &Backend, ids: &IdSource, plan: &Effects) -> Result<f64, BenchError> {
    let talking = Talking::begin(backend, ids, plan).await?;
    let each = plan.waiting.div_ceil(plan.conversations);
    let sending = talking.speakers.iter().map(|speaker| async move {
        for turn in 0..each {
            speaker.send(turn).await?;
        }
        Ok::<(), BenchError>(())
    });
    join_all(sending).await.into_iter().collect::<Result<(), _>>()?;
    let start = Instant::now();
    talking.office.open();
    talking.rest().await?;
    let rate = talking.office.taken() as f64 / start.elapsed().as_secs_f64();
    talking.is_balanced(each * plan.conversations)?;
    talking.end().await?;
    Ok(rate)
}

/// Turns that arrive at set moments, so many a second, of which so many a second request an effect.
async fn arriving(
    backend: &Backend,
    ids: &IdSource,
    plan: &Effects,
    turns_per_second: f64,
    effects_per_second: f64,
) -> Result<(Turns, f64), BenchError> {
    let talking = Talking::begin(backend, ids, plan).await?;
    talking.office.open();
    let share = (effects_per_second / turns_per_second).min(1.0);
    let interval = Duration::from_secs_f64(plan.conversations as f64 / turns_per_second);
    let start = Instant::now();
    let end = start + Duration::from_secs(plan.seconds);
    let drivers = talking.speakers.iter().enumerate().map(|(number, speaker)| {
        let first = start + interval.mul_f64(number as f64 / plan.conversations as f64);
        tokio::spawn(arrive(speaker.clone(), (first, interval, end), share))
    });
    let drivers: Vec<_> = drivers.collect();
    let seen = join_all(drivers).await;
    let (taken, seconds) = (talking.office.taken(), start.elapsed().as_secs_f64());
    talking.rest().await?;
    let seen: Vec<Seen> = seen.into_iter().flatten().collect();
    talking.is_balanced(seen.iter().map(|seen| seen.sent).sum())?;
    talking.end().await?;
    Ok((Turns::of(&seen), taken as f64 / seconds))
}

/// What was seen of one conversation.
#[derive(Default)]
struct Seen {
    /// How long each turn took from the moment at which it arrived.
    latencies: Vec<Duration>,
    committed: usize,
    /// Turns that requested an effect.
    sent: usize,
    failed: usize,
}

/// Turns of one conversation, of which a share request an effect.
async fn arrive(
    speaker: Speaker,
    (first, interval, end): (Instant, Duration, Instant),
    share: f64,
) -> Seen {
    let (mut seen, mut owed, mut arrival) = (Seen::default(), 0.0, first);
    for turn in 0.. {
        if arrival >= end {
            break;
        }
        tokio::time::sleep_until(arrival.into()).await;
        owed += share;
        let sends = owed >= 1.0;
        let text = if sends { "send it please" } else { "add 5 please" };
        match speaker.say(text, &format!("t-{turn}")).await {
            Ok(answer) => {
                let is_committed = committed(&answer).is_ok();
                seen.latencies.push(arrival.elapsed());
                seen.committed += usize::from(is_committed);
                if is_committed && sends {
                    seen.sent += 1;
                    owed -= 1.0;
                }
            }
            Err(_) => seen.failed += 1,
        }
        arrival += interval;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use turnframe_test::sources::{ManualClock, START, SeededEntropy};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_effect_is_taken_once_alone_and_beside_turns() {
        let clock = Arc::new(ManualClock::new(START));
        let ids = IdSource::new(clock.clone(), Arc::new(SeededEntropy::new(1)));
        let plan = Effects { conversations: 4, seconds: 1, effects_per_second: 20.0, waiting: 12 };
        // What waits for its turn is looked at again by the clock.
        let ticking = tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK_AGAIN).await;
                clock.advance(LOOK_AGAIN);
            }
        });
        let seen = run(&Backend::Memory, &ids, &plan).await.expect("measured");
        ticking.abort();
        assert_eq!((seen.alone.failed, seen.beside.failed), (0, 0));
        assert!(seen.effects_alone_per_second > 0.0 && seen.effects_per_second > 0.0);
    }
}
