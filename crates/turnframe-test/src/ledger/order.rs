//! One order per partition, which a reader can follow while it grows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::task::JoinHandle;
use turnframe_core::id::AccountId;
use turnframe_ledger::{Append, Entry, MarkKind, PartitionId, Position, Subscription, Version};

use super::Backend;
use super::build::{Bench, account, conversation, key, neighbour_of, set};

const WRITERS: u64 = 8;
const APPENDS: u64 = 40;
const ENTRIES: u64 = 3;
const WRITTEN: u64 = WRITERS * APPENDS * ENTRIES;

/// Far longer than any of this takes: a reader that misses an entry fails here and does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Writers of a partition, every other of them for another account.
fn writers(bench: &Bench, accounts: [&AccountId; 2]) -> Vec<JoinHandle<()>> {
    let writer = |number: u64| {
        let bench = bench.clone();
        let account = accounts[usize::from(number.is_multiple_of(2))].clone();
        tokio::spawn(async move {
            let stream = conversation(&format!("writer-{number}"));
            for round in 0..APPENDS {
                let append = bench.append_of(&account, &stream, round * ENTRIES, ENTRIES);
                bench.must_commit(vec![append]).await;
            }
        })
    };
    (0..WRITERS).map(writer).collect()
}

/// A reader that pages by position sees 1, 2, 3, …, although later entries are committed all the time.
pub async fn l1_a_reader_misses_nothing_while_eight_writers_append(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (partition, neighbour) = (PartitionId::of(&bench.acme), neighbour_of(&bench.acme));
    let writers = writers(&bench, [&bench.acme, &neighbour]);
    let mut hints = bench.ledger.hints(partition);
    let mut cursor = Position::START;
    while cursor < Position(WRITTEN) {
        hints.mark_unchanged();
        let page = bench.ledger.read_partition(partition, cursor, 7, None).await.expect("read");
        if page.is_empty() {
            let changed = tokio::time::timeout(PATIENCE, hints.changed()).await;
            changed.expect("more is written").expect("the ledger is open");
        }
        for entry in page {
            assert_eq!(entry.position, cursor.plus(1), "a position was skipped or repeated");
            cursor = entry.position;
        }
    }
    for writer in join_all(writers).await {
        writer.expect("the writer ends");
    }
    assert_eq!(bench.ledger.head(partition).await.expect("read"), Position(WRITTEN));
    assert_eq!(bench.verified().await, WRITTEN);
}

/// With an account, it leaves out the others' entries and nothing else.
pub async fn a_subscription_yields_every_entry_of_its_account_once(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let (partition, neighbour) = (PartitionId::of(&bench.acme), neighbour_of(&bench.acme));
    bench.must_commit(vec![bench.append(&conversation("early"), 0, 2)]).await;
    let follow = |account: Option<AccountId>| {
        let ledger = Arc::clone(&bench.ledger);
        Subscription::new(ledger, partition, Position::START, account)
    };
    let (mut whole, mut own) = (follow(None), follow(Some(bench.acme.clone())));
    let writers = writers(&bench, [&bench.acme, &neighbour]);
    let whole = take(&mut whole, 2 + WRITTEN).await;
    let own = take(&mut own, 2 + WRITTEN / 2).await;
    for writer in join_all(writers).await {
        writer.expect("the writer ends");
    }
    assert!(whole.iter().map(|entry| entry.position.0).eq(1..=2 + WRITTEN));
    let expected = whole.iter().filter(|entry| entry.account == bench.acme);
    assert!(own.iter().map(|entry| entry.id).eq(expected.map(|entry| entry.id)));
}

async fn take(subscription: &mut Subscription, count: u64) -> Vec<Entry> {
    let mut entries = Vec::new();
    for _ in 0..count {
        let next = tokio::time::timeout(PATIENCE, subscription.next()).await;
        entries.push(next.expect("an entry comes").expect("read"));
    }
    entries
}

/// A batch over many accounts: each partition has its own order, all without gaps.
pub async fn every_partition_counts_from_one_without_gaps(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let mut written: BTreeMap<PartitionId, u64> = BTreeMap::new();
    for round in 0..3 {
        let append = |number: u64| {
            let account = account(&format!("account-{number}"));
            // Every fifth append has lost its race and must not cost a position.
            let expected = if number % 5 == 4 { 99 } else { round * 2 };
            bench.append_of(&account, &conversation("c"), expected, 2)
        };
        let batch: Vec<Append> = (0..100).map(append).collect();
        let partitions: Vec<_> =
            batch.iter().map(|append| PartitionId::of(&append.account)).collect();
        for (answer, partition) in bench.commit(batch).await.into_iter().zip(partitions) {
            let Ok(appended) = answer else { continue };
            let last = written.entry(partition).or_default();
            assert_eq!(appended.partition, partition);
            assert_eq!(appended.first_position, Position(*last + 1));
            *last += appended.entries.len() as u64;
        }
    }
    assert_eq!(written.values().sum::<u64>(), 3 * 80 * 2);
    for partition in PartitionId::all() {
        let head = bench.ledger.head(partition).await.expect("read");
        assert_eq!(head.0, written.get(&partition).copied().unwrap_or_default());
    }
    assert_eq!(bench.verified().await, 3 * 80 * 2);
}

/// The hint of a partition changes when something was committed to it, and to no other.
pub async fn hints_announce_what_is_committed(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let mut own = bench.ledger.hints(PartitionId::of(&bench.acme));
    let other = bench.ledger.hints(PartitionId::of(&account("demo")));
    bench.must_commit(vec![bench.append(&stream, 0, 2)]).await;
    assert!(own.has_changed().expect("open"));
    assert_eq!(*own.borrow_and_update(), Position(2));
    let refused = bench.commit_one(bench.append(&stream, 0, 1)).await;
    assert!(refused.is_err());
    assert!(!own.has_changed().expect("open"));
    assert!(!other.has_changed().expect("open"));
}

/// Chains, versions and positions of many streams, written in batches of every shape.
pub async fn everything_that_was_written_verifies(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let mut versions: BTreeMap<u64, u64> = BTreeMap::new();
    let mut written = 0;
    for round in 0..30_u64 {
        let mut batch = Vec::new();
        for place in 0..=round {
            let number = (round * 7 + place * 3) % 11;
            let count = 1 + (round + place) % 4;
            let version = versions.entry(number).or_default();
            let account = account(&format!("account-{}", number % 3));
            let stream = conversation(&format!("c-{number}"));
            let mut append = bench.append_of(&account, &stream, *version, count);
            append.marks.push(set(MarkKind::Turn, &format!("m-{number}"), &stream, 0));
            batch.push(append);
            *version += count;
            written += count;
        }
        bench.must_commit(batch).await;
    }
    assert_eq!(bench.verified().await, written);
}

/// A batch is one commit, and its statements do not grow with its rows one by one.
pub async fn what_was_done_is_counted(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let before = bench.ledger.statistics();
    let append = |number: u64| {
        let stream = conversation(&format!("c-{number}"));
        let mut append = bench.keyed(&stream, 0, &format!("k-{number}"), "content");
        append.entries.push(bench.append(&stream, 0, 1).entries.remove(0));
        append.marks.push(set(MarkKind::Turn, &format!("m-{number}"), &stream, 0));
        append
    };
    bench.must_commit((0..300).map(append).collect()).await;
    let refused = bench.commit_one(bench.append(&conversation("c-1"), 0, 1)).await;
    assert!(refused.is_err());
    let after = bench.ledger.statistics();
    assert_eq!(after.commits - before.commits, 1);
    assert_eq!(after.entries - before.entries, 600);
    assert!(after.statements - before.statements < 100, "{after:?}");
    let stream = bench.stream(&conversation("c-299")).await;
    assert_eq!(stream.last().map(|entry| entry.version), Some(Version(2)));
    let found = bench.ledger.find_key(&bench.acme, &key("k-299")).await.expect("read");
    assert_eq!(found.expect("claimed").entry, stream[0].reference());
}
