//! The ledger's append beside a client that only inserts the same rows, batch for batch.
//!
//! A turn is two appends of 2 and 3 entries of about 400 bytes, with 2 keys; the first sets a mark and the second,
//! which comes in the next batch, clears it. Over 2,000 streams of 200 accounts, with keys in the order of time.

use std::time::{Duration, Instant};

use serde_json::json;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, ConversationId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::IdSource;
use turnframe_ledger::append::{Append, Key, KeyName, NewEntry};
use turnframe_ledger::verify::verify;
use turnframe_ledger::yardstick::{Preparer, Yardstick};
use turnframe_ledger::{
    EntryKind, EventLedger, MarkChange, MarkKind, PartitionId, StreamName, Version,
};

use crate::error::BenchError;
use crate::ground::{Backend, Ground, Plot};

const STREAMS: usize = 2_000;
const ACCOUNTS: usize = 200;
/// A prime, so that the streams are visited in no order of theirs.
const STRIDE: usize = 787;

struct Stream {
    account: AccountId,
    name: StreamName,
    version: u64,
}

/// Makes batches that a ledger accepts, one after another.
pub struct Batches {
    ids: IdSource,
    streams: Vec<Stream>,
    turns: usize,
    /// Turns whose second append is to come: their stream and number.
    begun: Vec<(usize, usize)>,
}

impl Batches {
    /// Batches whose entries take their ids and times from here.
    ///
    /// # Errors
    /// [`BenchError`] never: the names are of the alphabet.
    pub fn new(ids: IdSource) -> Result<Self, BenchError> {
        let stream = |number: usize| {
            let account = AccountId::new(format!("account-{}", number % ACCOUNTS))?;
            let name = StreamName::Conversation(ConversationId::new(format!("c-{number}"))?);
            Ok(Stream { account, name, version: 0 })
        };
        let streams = (0..STREAMS).map(stream).collect::<Result<_, BenchError>>()?;
        Ok(Self { ids, streams, turns: 0, begun: Vec::new() })
    }

    /// The next batch: it finishes the turns of the one before and begins so many.
    ///
    /// # Errors
    /// [`BenchError`] never: what it makes is well formed.
    pub fn next(&mut self, turns: usize) -> Result<Vec<Append>, BenchError> {
        let mut batch = Vec::with_capacity(turns * 2);
        for (stream, turn) in std::mem::take(&mut self.begun) {
            batch.push(self.append(stream, turn, 3)?);
        }
        for _ in 0..turns {
            let (stream, turn) = (self.turns * STRIDE % STREAMS, self.turns);
            self.turns += 1;
            batch.push(self.append(stream, turn, 2)?);
            self.begun.push((stream, turn));
        }
        Ok(batch)
    }

    /// So many appends that finish what they begin.
    ///
    /// # Errors
    /// [`BenchError`] never.
    pub fn alone(&mut self, appends: usize) -> Result<Vec<Append>, BenchError> {
        let one = |_| {
            self.turns += 1;
            self.append(self.turns * STRIDE % STREAMS, self.turns, 3)
        };
        (0..appends).map(one).collect()
    }

    fn append(&mut self, stream: usize, turn: usize, entries: u64) -> Result<Append, BenchError> {
        let stream = &mut self.streams[stream];
        let expected = vec![(stream.name.clone(), Version(stream.version))];
        stream.version += entries;
        let (kind, turn) = (MarkKind::Turn, format!("turn-{turn:08}"));
        let mark = if entries == 2 {
            let due = self.ids.now();
            MarkChange::Set { kind, key: turn.clone(), stream: stream.name.clone(), due }
        } else {
            MarkChange::Clear { kind, key: turn.clone() }
        };
        let malformed = || BenchError::Departed("an append could not be made");
        let key = Key {
            name: KeyName::new(format!("{turn}:{entries}")).map_err(|_| malformed())?,
            digest: Digest::of("rate", &[turn.as_bytes()]),
            entry: 0,
        };
        let entry = |_| {
            let payload = json!({ "text": "x".repeat(360), "turn": turn });
            Ok(NewEntry {
                id: self.ids.entry(),
                stream: stream.name.clone(),
                kind: EntryKind::TurnAccepted,
                schema: 1,
                recorded_at: self.ids.now(),
                turn: Some(turn.parse()?),
                causation: None,
                body: Sealed::seal(&payload, &self.ids).map_err(|_| malformed())?,
            })
        };
        let entries = (0..entries).map(entry).collect::<Result<_, BenchError>>()?;
        let account = stream.account.clone();
        Ok(Append { account, expected, entries, keys: vec![key], marks: vec![mark] })
    }
}

/// Appends a batch, all of which must be accepted.
///
/// # Errors
/// [`BenchError::Append`] with the first refusal.
pub async fn append_all(ledger: &dyn EventLedger, batch: Vec<Append>) -> Result<(), BenchError> {
    for answer in ledger.append(batch).await {
        answer?;
    }
    Ok(())
}

/// Entries a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) ledger: f64,
    pub(crate) plain: f64,
    /// Verification of what the ledger holds then.
    pub(crate) verified: f64,
}

/// Writes the same batches to the ledger and through the plain client, in turns, and verifies the ledger at the end.
pub(crate) async fn compare(
    backend: &Backend,
    ids: &IdSource,
    batches: usize,
    turns: usize,
) -> Result<Rates, BenchError> {
    let plot = Plot::mark_out(backend, ids).await?;
    let mut plain = Yardstick::open(&plot.address).await?;
    let ground = Ground::open(backend, ids).await?;
    let rates = write_both(&ground, &mut plain, batches, turns).await;
    ground.clear().await?;
    plain.close().await?;
    plot.clear().await?;
    rates
}

async fn write_both(
    ground: &Ground,
    plain: &mut Yardstick,
    batches: usize,
    turns: usize,
) -> Result<Rates, BenchError> {
    // Both have met every stream and grown their caches before the clock counts.
    let warm_up = STREAMS.div_ceil(turns) + batches / 10;
    let mut load = Batches::new(ground.ids.clone())?;
    let (mut preparer, mut entries) = (Preparer::default(), 0);
    let (mut by_ledger, mut by_plain) = (Duration::ZERO, Duration::ZERO);
    for number in 0..warm_up + batches {
        let batch = load.next(turns)?;
        let rows = preparer.rows(&batch)?;
        let started = Instant::now();
        append_all(ground.opened.ledger.as_ref(), batch).await?;
        let ledger = started.elapsed();
        let started = Instant::now();
        plain.insert(&rows).await?;
        if number >= warm_up {
            by_plain += started.elapsed();
            by_ledger += ledger;
            entries += rows.entries();
        }
    }
    let rate = |spent: Duration| entries as f64 / spent.as_secs_f64();
    // The first to read a row after its commit notes on its page that it is committed (PostgreSQL): not what a walk costs.
    walk(ground.opened.ledger.as_ref()).await?;
    let verified = walk(ground.opened.ledger.as_ref()).await?;
    Ok(Rates { ledger: rate(by_ledger), plain: rate(by_plain), verified })
}

/// Verifies a ledger in memory with so many turns.
pub(crate) async fn walk_memory(ids: &IdSource, turns: usize) -> Result<f64, BenchError> {
    const AT_ONCE: usize = 500;
    let ground = Ground::open(&Backend::Memory, ids).await?;
    let mut load = Batches::new(ids.clone())?;
    for _ in 0..turns.div_ceil(AT_ONCE) {
        append_all(ground.opened.ledger.as_ref(), load.next(AT_ONCE)?).await?;
    }
    walk(ground.opened.ledger.as_ref()).await
}

/// How many entries a second are verified.
async fn walk(ledger: &dyn EventLedger) -> Result<f64, BenchError> {
    let started = Instant::now();
    let report = verify(ledger, PartitionId::all(), |_| {}).await;
    let spent = started.elapsed();
    if !report.is_intact() {
        return Err(BenchError::Departed("a ledger did not verify"));
    }
    Ok(report.entries as f64 / spent.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_test::sources::ids;

    #[tokio::test]
    async fn the_ledger_and_the_plain_client_write_the_same_batches() {
        let folder = tempfile::tempdir().expect("a folder");
        let backend = Backend::Sqlite(folder.path().to_owned());
        let rates = compare(&backend, &ids(1), 3, 500).await.expect("measured");
        assert!(rates.ledger > 0.0 && rates.plain > 0.0 && rates.verified > 0.0, "{rates:?}");
    }
}
