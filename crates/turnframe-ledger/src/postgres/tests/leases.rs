//! Several processes on one database: who owns what, and what becomes of those who own it no longer.

use std::sync::Arc;
use std::time::Duration;

use turnframe_core::id::AccountId;
use turnframe_core::source::IdSource;
use turnframe_test::postgres::{self, Database, Wire};

use super::{connect, execute, number, options, until};
use crate::append::{Append, AppendError, Appended};
use crate::ledger::EventLedger;
use crate::ownership::Held;
use crate::postgres::{Keeping, PostgresLedger};
use crate::stream::{PartitionId, PartitionSet, StreamName, Version};
use crate::testing::{account, append, conversation, ids, key, keyed};
use crate::verify::verify;

/// A lease that a test can see the end of.
const SHORT: Duration = Duration::from_millis(400);

/// A lease that outlasts every test.
const LONG: Duration = Duration::from_secs(600);

/// A database that several processes share.
struct Shared {
    database: Database,
    ids: IdSource,
    acme: AccountId,
    stream: StreamName,
}

impl Shared {
    async fn new() -> Self {
        let database = postgres::shared().database().await;
        Self { database, ids: ids(1), acme: account("acme"), stream: conversation("c") }
    }

    async fn open(&self, node: u64, lease: Duration) -> PostgresLedger {
        self.open_at(&self.database.url(), node, lease).await
    }

    async fn open_at(&self, url: &str, node: u64, lease: Duration) -> PostgresLedger {
        let mut options = options(node);
        if let Some(node) = &mut options.node {
            node.lease = lease;
        }
        let opening = tokio::time::timeout(super::LIMIT, PostgresLedger::open(url, options));
        opening.await.expect("opening waits for nobody").expect("open")
    }

    fn append(&self, expected: u64) -> Append {
        append(&self.ids, &self.acme, &self.stream, expected, 1)
    }

    async fn execute(&self, statements: &str) {
        execute(&mut connect(&self.database.url()).await, statements).await;
    }
}

fn held(ledger: &PostgresLedger) -> Held {
    *ledger.ownership().held().borrow()
}

fn partitions(ledger: &PostgresLedger) -> PartitionSet {
    held(ledger).partitions()
}

async fn commit(ledger: &PostgresLedger, append: Append) -> Result<Appended, AppendError> {
    ledger.append(vec![append]).await.remove(0)
}

/// An account whose partition is this one.
fn account_of(partition: PartitionId) -> AccountId {
    let mut accounts = (0..).map(|number| account(&format!("account-{number}")));
    accounts.find(|account| PartitionId::of(account) == partition).expect("an account")
}

fn last() -> PartitionId {
    PartitionId::new(63).expect("a partition")
}

#[tokio::test]
async fn who_comes_first_takes_all_and_gives_the_second_its_share() {
    let shared = Shared::new().await;
    let first = shared.open(1, SHORT).await;
    assert_eq!(partitions(&first), PartitionSet::ALL);
    let second = shared.open(2, SHORT).await;
    // Nobody says that he has stopped: the patience ends.
    until("shares", async || partitions(&first).len() == 32 && partitions(&second).len() == 32)
        .await;
    assert_eq!(partitions(&first).union(partitions(&second)), PartitionSet::ALL);
    let owner = second.owner(last()).await.expect("read").expect("an owner");
    assert!(owner.is_here, "{owner:?}");
    let owner = first.owner(last()).await.expect("read").expect("an owner");
    assert!(!owner.is_here && owner.address.ends_with(":2"), "{owner:?}");
}

#[tokio::test]
async fn a_partition_is_handed_over_once_nobody_acts_for_it() {
    let shared = Shared::new().await;
    let first = shared.open(1, Duration::from_secs(8)).await;
    let second = shared.open(2, SHORT).await;
    let stream = conversation("under-way");
    let under_way = |expected| append(&shared.ids, &account_of(last()), &stream, expected, 1);
    let leaving = async || first.ownership().is_leaving(last());
    until("a handover", leaving).await;
    // It is told to stop, and may finish.
    assert!(!held(&first).contains(last()) && first.ownership().holds(last()));
    commit(&first, under_way(0)).await.expect("it is still its own");
    assert!(partitions(&second).is_empty());
    first.ownership().vacate(PartitionSet::ALL);
    until("its arrival", async || second.ownership().holds(last())).await;
    let fenced = Err(AppendError::Fenced { partition: last() });
    assert_eq!(commit(&first, under_way(1)).await, fenced);
    commit(&second, under_way(1)).await.expect("it continues what was finished");
}

#[tokio::test]
async fn a_process_that_died_loses_its_partitions_with_its_lease_by_the_databases_clock() {
    let shared = Shared::new().await;
    let first = shared.open(1, Duration::from_secs(1)).await;
    commit(&first, shared.append(0)).await.expect("appended");
    drop(first);
    let second = shared.open(2, SHORT).await;
    let mut foreign = connect(&shared.database.url()).await;
    let alive =
        "SELECT count(*) FROM tf_node WHERE address LIKE '%:1' AND lease_until > clock_timestamp()";
    until("taking over", async || !partitions(&second).is_empty()).await;
    assert_eq!(number(&mut foreign, alive).await, 0, "its lease had run out");
    until("taking all", async || partitions(&second) == PartitionSet::ALL).await;
    commit(&second, shared.append(1)).await.expect("it continues");
}

#[tokio::test]
async fn l14_an_old_owners_late_write_is_fenced_and_what_it_remembered_is_forgotten() {
    let shared = Shared::new().await;
    let first = shared.open(1, SHORT).await;
    commit(&first, shared.append(0)).await.expect("appended");
    // It stands still long enough, and never learns of it.
    let keeper = first.keeping().expect("a keeper").stop().await.expect("a keeper");
    let second = shared.open(2, SHORT).await;
    until("taking over", async || partitions(&second) == PartitionSet::ALL).await;
    commit(&second, shared.append(1)).await.expect("appended");
    let partition = PartitionId::of(&shared.acme);
    assert_eq!(commit(&first, shared.append(1)).await, Err(AppendError::Fenced { partition }));
    second.close().await;
    *first.keeping.lock().expect("a lock") = Some(Keeping::start(keeper));
    until("taking it back", async || first.ownership().holds(partition)).await;
    commit(&first, shared.append(2)).await.expect("it looked at what the other one wrote");
    let read = first.read_stream(&shared.acme, &shared.stream, Version(1), 1).await;
    assert_eq!(read.expect("read")[0].version, Version(2), "also what it keeps for readers");
    let report = verify(&first, PartitionId::all(), |_| {}).await;
    assert!(report.is_intact() && report.entries == 3, "{report:?}");
}

#[tokio::test]
async fn l11_l12_l13_two_processes_that_do_the_same_leave_one_outcome() {
    let shared = Shared::new().await;
    let first = shared.open(1, SHORT).await;
    let second = shared.open(2, SHORT).await;
    let settled = async || partitions(&first).len() == 32 && partitions(&second).len() == 32;
    until("shares", settled).await;
    let recovered = || keyed(shared.append(0), "turn", "content");
    for _ in 0..2 {
        let (one, other) = tokio::join!(commit(&first, recovered()), commit(&second, recovered()));
        let stopped = |answer: &Result<_, _>| matches!(answer, Err(AppendError::Fenced { .. }));
        assert!(stopped(&one) != stopped(&other), "one acts, the other stops: {one:?} {other:?}");
    }
    let turn = key("turn");
    let found = first.find_key(&shared.acme, &turn).await.expect("read").expect("an outcome");
    assert_eq!(second.find_key(&shared.acme, &turn).await.expect("read"), Some(found));
    let report = verify(&first, PartitionId::all(), |_| {}).await;
    assert!(report.is_intact() && report.entries == 1, "{report:?}");
}

#[tokio::test]
async fn a_restart_at_the_same_address_does_not_wait_for_the_lease() {
    let shared = Shared::new().await;
    let first = shared.open(1, LONG).await;
    drop(first);
    let mut again = options(1);
    if let Some(node) = &mut again.node {
        node.id = uuid::Uuid::from_u64_pair(0, 99);
    }
    let again = PostgresLedger::open(&shared.database.url(), again).await.expect("open");
    assert_eq!(partitions(&again), PartitionSet::ALL);
    commit(&again, shared.append(0)).await.expect("appended");
}

#[tokio::test]
async fn whoever_closes_frees_its_partitions_at_once() {
    let shared = Shared::new().await;
    let first = shared.open(1, LONG).await;
    let second = shared.open(2, SHORT).await;
    assert!(partitions(&second).is_empty());
    first.close().await;
    until("taking all", async || partitions(&second) == PartitionSet::ALL).await;
}

#[tokio::test]
async fn a_process_whose_database_is_silent_stops_before_another_one_begins() {
    let shared = Shared::new().await;
    let wire = Wire::to(postgres::shared()).await;
    let first = shared.open_at(&wire.url(&shared.database), 1, SHORT).await;
    let second = shared.open(2, SHORT).await;
    until("shares", async || partitions(&second).len() == 32).await;
    wire.hold();
    let mut taken = second.ownership().held();
    let all = async {
        loop {
            taken.changed().await.expect("a ledger");
            let theirs = taken.borrow_and_update().partitions();
            let both = acts_for(&first).intersection(theirs);
            assert!(both.is_empty(), "{both:?}");
            if theirs == PartitionSet::ALL {
                return;
            }
        }
    };
    tokio::time::timeout(super::LIMIT, all).await.expect("taking over");
    until("its own stop", async || partitions(&first).is_empty()).await;
    wire.pass();
    let back = async || partitions(&first).len() == 32 && partitions(&second).len() == 32;
    until("its share again", back).await;
    commit(&first, append(&shared.ids, &account_of(first_of(&first)), &shared.stream, 0, 1))
        .await
        .expect("it writes again");
}

#[tokio::test]
async fn a_lease_that_is_being_renewed_is_not_over() {
    let shared = Shared::new().await;
    let mut dying = connect(&shared.database.url()).await;
    drop(shared.open(1, Duration::from_secs(2)).await);
    // Its last statement takes long to commit.
    let renew = "BEGIN; UPDATE tf_node SET lease_until = lease_until + interval '1 hour'";
    execute(&mut dying, renew).await;
    let second = shared.open(2, SHORT).await;
    let mut foreign = connect(&shared.database.url()).await;
    let over =
        "SELECT count(*) FROM tf_node WHERE address LIKE '%:1' AND lease_until < clock_timestamp()";
    until("its end", async || number(&mut foreign, over).await == 1).await;
    rounds(&mut foreign, 3).await;
    assert!(partitions(&second).is_empty());
    execute(&mut dying, "COMMIT").await;
    rounds(&mut foreign, 3).await;
    assert!(partitions(&second).is_empty());
    shared
        .execute("UPDATE tf_node SET lease_until = clock_timestamp() WHERE address LIKE '%:1'")
        .await;
    until("taking all", async || partitions(&second) == PartitionSet::ALL).await;
}

/// Waits until the second process has renewed its lease so many times.
async fn rounds(foreign: &mut sqlx::PgConnection, count: usize) {
    let renewed = "SELECT (extract(epoch FROM lease_until) * 1000000)::bigint FROM tf_node WHERE address LIKE '%:2'";
    for _ in 0..count {
        let before = number(foreign, renewed).await;
        until("a round", async || number(foreign, renewed).await > before).await;
    }
}

#[tokio::test]
async fn a_lease_that_had_ended_is_begun_anew_and_everything_is_taken_again() {
    let shared = Shared::new().await;
    let first = shared.open(1, SHORT).await;
    let keeper = first.keeping().expect("a keeper").stop().await.expect("a keeper");
    let mut foreign = connect(&shared.database.url()).await;
    let over = "SELECT count(*) FROM tf_node WHERE lease_until < clock_timestamp()";
    until("its end", async || number(&mut foreign, over).await == 1).await;
    let raised = "SELECT min(epoch) FROM tf_partition";
    let before = number(&mut foreign, raised).await;
    *first.keeping.lock().expect("a lock") = Some(Keeping::start(keeper));
    until("taking all again", async || acts_for(&first) == PartitionSet::ALL).await;
    assert!(number(&mut foreign, raised).await > before);
    commit(&first, shared.append(0)).await.expect("appended");
}

/// What a process may act for at this moment.
fn acts_for(ledger: &PostgresLedger) -> PartitionSet {
    PartitionId::all().filter(|id| ledger.ownership().holds(*id)).collect()
}

fn first_of(ledger: &PostgresLedger) -> PartitionId {
    partitions(ledger).iter().next().expect("a partition")
}

/// No partition is held twice, and whoever holds one all the while is its owner in the database.
async fn assert_disjoint(database: &Database, ledgers: &[Arc<PostgresLedger>]) {
    let before: Vec<_> = ledgers.iter().map(|ledger| held(ledger)).collect();
    let mut all = PartitionSet::NONE;
    for theirs in ledgers.iter().map(|ledger| acts_for(ledger)) {
        assert!(all.intersection(theirs).is_empty(), "{before:?}");
        all = all.union(theirs);
    }
    let mut foreign = connect(&database.url()).await;
    let owners = sqlx::query_as::<_, (i16, Option<Vec<u8>>)>("SELECT id, owner FROM tf_partition");
    let owners = owners.fetch_all(&mut foreign).await.expect("read");
    let lasting = ledgers.iter().zip(before).filter(|(ledger, _)| ledger.ownership().lasts());
    for (ledger, before) in lasting {
        let kept = before.partitions().without(before.ended(&held(ledger)));
        let id = ledger.node.map(|node| node.as_bytes().to_vec());
        for (number, owner) in &owners {
            let partition = PartitionId::new(number.cast_unsigned()).expect("a partition");
            assert!(!kept.contains(partition) || *owner == id, "{partition:?}: {owner:?} {id:?}");
        }
    }
}

#[tokio::test]
async fn no_partition_is_ever_held_twice_while_processes_come_and_go() {
    let shared = Shared::new().await;
    let database = &shared.database;
    let shares = async |ledgers: &[Arc<PostgresLedger>], expected: &[usize]| {
        let fair = async || {
            assert_disjoint(database, ledgers).await;
            let mut sizes: Vec<_> = ledgers.iter().map(|ledger| partitions(ledger).len()).collect();
            sizes.sort_unstable();
            sizes == expected
        };
        until("fair shares", fair).await;
    };
    let open = |node| shared.open(node, SHORT);
    let (one, two) = tokio::join!(open(1), open(2));
    let mut ledgers = vec![Arc::new(one), Arc::new(two)];
    shares(&ledgers, &[32, 32]).await;
    ledgers.push(Arc::new(open(3).await));
    shares(&ledgers, &[21, 21, 22]).await;
    ledgers.remove(0).close().await;
    shares(&ledgers, &[32, 32]).await;
    drop(ledgers.remove(0));
    shares(&ledgers, &[64]).await;
}

#[tokio::test]
async fn a_partition_that_somebody_locked_is_taken_in_a_later_round() {
    let shared = Shared::new().await;
    shared.open(1, SHORT).await.close().await;
    let mut foreign = connect(&shared.database.url()).await;
    execute(&mut foreign, "BEGIN; SELECT FROM tf_partition WHERE id = 63 FOR UPDATE").await;
    let ledger = shared.open(2, SHORT).await;
    let without: PartitionSet = PartitionSet::ALL.iter().filter(|id| *id != last()).collect();
    assert_eq!(partitions(&ledger), without);
    execute(&mut foreign, "COMMIT").await;
    until("taking it", async || partitions(&ledger) == PartitionSet::ALL).await;
}

#[tokio::test]
async fn a_partition_that_a_slow_append_locks_holds_up_no_lease() {
    let shared = Shared::new().await;
    let first = shared.open(1, Duration::from_secs(2)).await;
    let mut foreign = connect(&shared.database.url()).await;
    execute(&mut foreign, "BEGIN; SELECT FROM tf_partition WHERE id = 63 FOR UPDATE").await;
    let second = shared.open(2, SHORT).await;
    // All but that one are given up and taken, and nobody's lease ends.
    until("their shares", async || {
        partitions(&first).len() == 32 && partitions(&second).len() == 31
    })
    .await;
    let before = held(&first);
    execute(&mut foreign, "COMMIT").await;
    until("its arrival", async || partitions(&second).len() == 32).await;
    assert_eq!(before.ended(&held(&first)), PartitionSet::NONE);
}

#[tokio::test]
async fn a_partition_whose_taking_was_not_answered_is_not_left_lying() {
    let shared = Shared::new().await;
    let first = shared.open(1, SHORT).await;
    let second = shared.open(2, SHORT).await;
    let shares = async || partitions(&first).len() == 32 && partitions(&second).len() == 32;
    until("shares", shares).await;
    // The first took it, by its own statement, and never heard of that; it has its share without it.
    let before = held(&second);
    let taken = "UPDATE tf_partition SET epoch = epoch + 1, owner = \
        (SELECT id FROM tf_node WHERE address LIKE '%:1') WHERE id = 63";
    shared.execute(taken).await;
    let again = async || before.ended(&held(&second)).contains(last()) && shares().await;
    until("its way back", again).await;
    assert!(second.ownership().holds(last()));
}
