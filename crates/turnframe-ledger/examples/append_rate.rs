//! How many entries a second a ledger commits, through `append` alone.
//!
//! `cargo run --release -p turnframe-ledger --example append_rate [ADDRESS] [SECONDS] [BATCH]`, by default a
//! throwaway SQLite file for 5 seconds in batches of 250 turns. A turn is two appends, of 2 and 3 entries of about
//! 400 bytes, with 2 keys and 2 mark changes between them, over 2,000 streams of 200 accounts: the shape
//! that the layout was chosen by.
#![expect(clippy::print_stdout, reason = "an example prints what it measured")]

use std::error::Error;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, ConversationId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::IdSource;
use turnframe_ledger::append::{Append, Key, KeyName, NewEntry};
use turnframe_ledger::open::open;
use turnframe_ledger::postgres::NodeOptions;
use turnframe_ledger::{EntryKind, EventLedger, MarkChange, MarkKind, StreamName, Version};
use turnframe_test::sources::ids;

const STREAMS: usize = 2_000;
const ACCOUNTS: usize = 200;

struct Stream {
    account: AccountId,
    name: StreamName,
    version: u64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = tempfile::tempdir()?;
    let throwaway = directory.path().join("rate.db").display().to_string();
    let address = arguments.next().unwrap_or(throwaway);
    let seconds = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let turns = arguments.next().map_or(Ok(250), |text| text.parse())?;
    let node = NodeOptions::new(ids(2).uuid(), "http://127.0.0.1:1");
    let ledger = open(&address, Some(node)).await?.ledger;
    let mut load = Load::new()?;
    run(&*ledger, &mut load, turns, Duration::from_secs(1)).await?;
    let before = ledger.statistics();
    let elapsed = run(&*ledger, &mut load, turns, Duration::from_secs(seconds)).await?;
    let after = ledger.statistics();
    let (entries, commits) = (after.entries - before.entries, after.commits - before.commits);
    let statements = after.statements - before.statements;
    println!(
        "{:.0} entries/s ({:.0} turns/s): {entries} entries, {commits} commits, {:.1} ms and {:.1} statements each",
        entries as f64 / elapsed.as_secs_f64(),
        entries as f64 / elapsed.as_secs_f64() / 5.0,
        elapsed.as_secs_f64() * 1_000.0 / commits as f64,
        statements as f64 / commits as f64,
    );
    Ok(())
}

/// Appends for this long; the time that making the batches takes is not counted.
async fn run(
    ledger: &dyn EventLedger,
    load: &mut Load,
    turns: usize,
    duration: Duration,
) -> Result<Duration, Box<dyn Error>> {
    let mut spent = Duration::ZERO;
    while spent < duration {
        let batch = load.batch(turns)?;
        let start = Instant::now();
        let answers = ledger.append(batch).await;
        spent += start.elapsed();
        for answer in answers {
            answer?;
        }
    }
    Ok(spent)
}

struct Load {
    ids: IdSource,
    random: StdRng,
    streams: Vec<Stream>,
    turns: u64,
}

impl Load {
    fn new() -> Result<Self, Box<dyn Error>> {
        let stream = |number: usize| {
            let account = AccountId::new(format!("account-{}", number % ACCOUNTS))?;
            let conversation = ConversationId::new(format!("conversation-{number}"))?;
            let name = StreamName::Conversation(conversation);
            Ok::<_, Box<dyn Error>>(Stream { account, name, version: 0 })
        };
        let streams = (0..STREAMS).map(stream).collect::<Result<_, _>>()?;
        Ok(Self { ids: ids(1), random: StdRng::seed_from_u64(1), streams, turns: 0 })
    }

    fn batch(&mut self, turns: usize) -> Result<Vec<Append>, Box<dyn Error>> {
        let mut batch = Vec::with_capacity(turns * 2);
        for _ in 0..turns {
            let stream = self.random.random_range(0..STREAMS);
            self.turns += 1;
            batch.push(self.append(stream, 2, true)?);
            batch.push(self.append(stream, 3, false)?);
        }
        Ok(batch)
    }

    fn append(
        &mut self,
        stream: usize,
        entries: u64,
        opens: bool,
    ) -> Result<Append, Box<dyn Error>> {
        let stream = &mut self.streams[stream];
        let expected = vec![(stream.name.clone(), Version(stream.version))];
        stream.version += entries;
        let stream = &*stream;
        let kind = MarkKind::Turn;
        let turn = format!("turn-{:08}", self.turns);
        let mark = if opens {
            let due = self.ids.now();
            MarkChange::Set { kind, key: turn.clone(), stream: stream.name.clone(), due }
        } else {
            MarkChange::Clear { kind, key: turn.clone() }
        };
        let key = Key {
            name: KeyName::new(format!("{turn}:{entries}"))?,
            digest: Digest::of("rate", &[turn.as_bytes()]),
            entry: 0,
        };
        let entry = |_| {
            let payload = json!({ "text": "x".repeat(360), "turn": turn });
            Ok::<_, Box<dyn Error>>(NewEntry {
                id: self.ids.entry(),
                stream: stream.name.clone(),
                kind: EntryKind::TurnAccepted,
                schema: 1,
                recorded_at: self.ids.now(),
                turn: Some(turn.parse()?),
                causation: None,
                body: Sealed::seal(&payload, &self.ids)?,
            })
        };
        let entries = (0..entries).map(entry).collect::<Result<_, _>>()?;
        let account = stream.account.clone();
        Ok(Append { account, expected, entries, keys: vec![key], marks: vec![mark] })
    }
}
