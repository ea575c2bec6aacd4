//! One conversation alone: how often a turn waits for a commit, and how long it takes beside as many bare commits of
//! rows of the same size, each turn followed by its commits, so that both meet the same weather.

use std::time::{Duration, Instant};

use turnframe_actors::Limits;
use turnframe_ledger::ledger::{LedgerStatistics, PAGE_MAX};
use turnframe_ledger::yardstick::Yardstick;
use turnframe_ledger::{EventLedger, PartitionId, Position};

use crate::error::BenchError;
use crate::ground::{Backend, Ground, Plot};
use crate::latency::median;
use crate::speaker::{Act, Speaker};

/// How many turns are looked at before the bare commits are cut to their shape.
const SHAPE_TURNS: usize = 50;
/// What a row has beside its payload, roughly.
const ROW_BYTES: usize = 160;

/// What was seen of one conversation.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Single {
    pub(crate) p50_ms: f64,
    pub(crate) bare_p50_ms: f64,
    pub(crate) commits_per_turn: f64,
    pub(crate) entries_per_turn: f64,
    pub(crate) row_bytes: usize,
}

/// Drives one conversation on PostgreSQL.
pub(crate) async fn measure(
    backend: &Backend,
    ids: &turnframe_core::source::IdSource,
    turns: usize,
    act: Act,
) -> Result<Single, BenchError> {
    let plot = Plot::mark_out(backend, ids).await?;
    let mut yardstick = Yardstick::open(&plot.address).await?;
    let ground = Ground::open(backend, ids).await?;
    let system = ground.start(Limits::default()).await?;
    let mut alone = Alone {
        speaker: Speaker::new(0, &system)?,
        ledger: ground.opened.ledger.as_ref(),
        spent: LedgerStatistics::default(),
        turns: 0,
    };
    let single = alone.beside(&mut yardstick, turns, act).await;
    system.shutdown().await;
    ground.clear().await?;
    yardstick.close().await?;
    plot.clear().await?;
    single
}

struct Alone<'g> {
    speaker: Speaker,
    ledger: &'g dyn EventLedger,
    /// What the ledger has done in the turns that are measured.
    spent: LedgerStatistics,
    turns: usize,
}

impl Alone<'_> {
    async fn beside(
        &mut self,
        yardstick: &mut Yardstick,
        turns: usize,
        act: Act,
    ) -> Result<Single, BenchError> {
        self.speaker.open().await?;
        for _ in 0..SHAPE_TURNS {
            self.turn(act).await?;
        }
        let (commits, entries) = self.per_turn();
        let row_bytes = self.mean_row().await?;
        let (mut taken, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..turns {
            taken.push(self.turn(act).await?);
            let started = Instant::now();
            for rows in shares(entries.round() as usize, commits.round() as usize) {
                yardstick.commit_bare(rows, row_bytes).await?;
            }
            bare.push(started.elapsed());
        }
        let (commits_per_turn, entries_per_turn) = self.per_turn();
        let (p50_ms, bare_p50_ms) = (median(&taken), median(&bare));
        Ok(Single { p50_ms, bare_p50_ms, commits_per_turn, entries_per_turn, row_bytes })
    }

    async fn turn(&mut self, act: Act) -> Result<Duration, BenchError> {
        let number = self.turns;
        self.turns += 1;
        let card = match act {
            Act::Speak => None,
            Act::Click => Some(self.speaker.ask_for_card(number).await?),
        };
        let before = self.ledger.statistics();
        let taken = match card {
            None => self.speaker.add(number).await?,
            Some(card) => self.speaker.click(card, number).await?,
        };
        let after = self.ledger.statistics();
        self.spent.commits += after.commits - before.commits;
        self.spent.entries += after.entries - before.entries;
        Ok(taken)
    }

    fn per_turn(&self) -> (f64, f64) {
        let turns = self.turns.max(1) as f64;
        (self.spent.commits as f64 / turns, self.spent.entries as f64 / turns)
    }

    /// How many bytes a row of the conversation has.
    async fn mean_row(&self) -> Result<usize, BenchError> {
        let partition = PartitionId::of(&self.speaker.actor.account);
        let head = self.ledger.head(partition).await?;
        let after = Position(head.0.saturating_sub(SHAPE_TURNS as u64));
        let entries = self.ledger.read_partition(partition, after, PAGE_MAX, None).await?;
        let parts = |entry: &turnframe_ledger::Entry| {
            let contents = entry.body.parts.iter().filter_map(|part| part.content.as_ref());
            contents.map(|content| content.value.get().len()).sum::<usize>()
        };
        let bytes: usize = entries.iter().map(|it| it.body.facts.len() + parts(it)).sum();
        Ok(ROW_BYTES + bytes / entries.len().max(1))
    }
}

/// So many rows in so many commits, as evenly as it goes.
fn shares(rows: usize, commits: usize) -> impl Iterator<Item = usize> {
    let commits = commits.max(1);
    (0..commits).map(move |commit| (commit + 1) * rows / commits - commit * rows / commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_shared_out_completely() {
        assert_eq!(shares(5, 4).collect::<Vec<_>>(), [1, 1, 1, 2]);
        assert_eq!(shares(6, 3).sum::<usize>(), 6);
        assert_eq!(shares(2, 0).collect::<Vec<_>>(), [2]);
    }
}
