//! The simulated ledger: that it keeps the contract, that its faults are those which the contract allows, and that
//! the whole system comes through them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use tokio::time::{Instant, timeout};
use turnframe_core::canonical::Digest;
use turnframe_ledger::{
    AppendError, EntryKind, EventLedger, Owner, PartitionId, PartitionSet, Position, ReadError,
    StreamName, Version,
};
use turnframe_test::fault::CrashSwitch;
use turnframe_test::ledger::Backend;
use turnframe_test::ledger::build::{Bench, conversation};
use turnframe_test::literal;
use turnframe_test::simulated::{Faults, LeaseTerms, SimulatedDatabase, SimulatedLedger, Struck};
use turnframe_tests::simulated::client::{Client, Door};
use turnframe_tests::simulated::{Share, Simulation, alone, under_seeds};
use turnframe_tests::world::actor;

struct Simulated;

#[async_trait]
impl Backend for Simulated {
    async fn create(&self) -> Arc<dyn EventLedger> {
        Arc::new(node_of(&SimulatedDatabase::new(1, Faults::none())).await)
    }

    async fn reopen(&self, ledger: Arc<dyn EventLedger>) -> Arc<dyn EventLedger> {
        ledger
    }
}

turnframe_test::ledger_contract!(mod contract, Simulated);

/// A node that owns everything.
async fn node_of(database: &SimulatedDatabase) -> SimulatedLedger {
    node_at(database, "http://one").await
}

async fn node_at(database: &SimulatedDatabase, address: &str) -> SimulatedLedger {
    let node = database.node(address, CrashSwitch::new());
    node.holding(PartitionSet::ALL).await;
    node
}

/// A database on which one thing goes wrong, and a node that owns everything.
async fn failing(faults: Faults) -> (SimulatedDatabase, Arc<SimulatedLedger>, Bench) {
    let database = SimulatedDatabase::new(1, Faults::none());
    let node = Arc::new(node_of(&database).await);
    database.set_faults(faults);
    (database, node.clone(), Bench::on(node))
}

async fn written(database: &SimulatedDatabase, bench: &Bench, stream: &StreamName) -> usize {
    let read = database.truth().read_stream(&bench.acme, stream, Version::NONE, 100).await;
    read.expect("the truth can be read").len()
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_written() {
    let (database, _, bench) = failing(Faults { refused: 1.0, ..Faults::none() }).await;
    let stream = conversation("c");
    let answers =
        bench.commit(vec![bench.append(&stream, 0, 1), bench.append(&stream, 7, 1)]).await;
    for answer in answers {
        assert!(matches!(answer, Err(AppendError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!(written(&database, &bench, &stream).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_lost_acknowledgement_leaves_the_commit_and_takes_back_what_was_refused_beside_it() {
    let (database, _, bench) = failing(Faults { lost_ack: 1.0, ..Faults::none() }).await;
    let stream = conversation("c");
    let malformed = turnframe_ledger::Append { entries: vec![], ..bench.append(&stream, 0, 1) };
    let batch = vec![bench.append(&stream, 0, 2), bench.append(&stream, 0, 1), malformed];
    let answers = bench.commit(batch).await;
    assert!(matches!(answers[0], Err(AppendError::OutcomeUnknown { .. })), "{answers:?}");
    assert!(matches!(answers[1], Err(AppendError::Unavailable { .. })), "{answers:?}");
    assert!(matches!(answers[2], Err(AppendError::Refused(_))), "{answers:?}");
    assert_eq!(written(&database, &bench, &stream).await, 2);
}

const LATE: Faults = Faults { late: 1.0, late_max: Duration::from_secs(2), ..Faults::none() };

#[tokio::test(start_paused = true)]
async fn a_late_commit_lands_after_its_sender_was_told_that_nobody_knows() {
    let (database, _, bench) = failing(LATE).await;
    let stream = conversation("c");
    let answer = bench.commit_one(bench.append(&stream, 0, 1)).await;
    assert!(matches!(answer, Err(AppendError::OutcomeUnknown { .. })), "{answer:?}");
    assert_eq!(written(&database, &bench, &stream).await, 0);
    tokio::time::sleep(LATE.late_max).await;
    assert_eq!(written(&database, &bench, &stream).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_commit_is_judged_when_it_lands() {
    let (database, _, bench) = failing(LATE).await;
    let stream = conversation("c");
    let late = bench.keyed(&stream, 0, "k", "content");
    assert!(bench.commit_one(late.clone()).await.is_err());
    database.set_faults(Faults::none());
    bench.commit_one(late).await.expect("the same again, faster");
    tokio::time::sleep(LATE.late_max).await;
    assert_eq!(written(&database, &bench, &stream).await, 1);
    assert_eq!(bench.verified().await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_commit_whose_epoch_was_raised_meanwhile_never_lands() {
    let terms = LeaseTerms { lease: Duration::from_secs(1), ..LeaseTerms::default() };
    let database = SimulatedDatabase::with_terms(1, Faults::none(), terms);
    let node = Arc::new(node_of(&database).await);
    let bench = Bench::on(node.clone());
    database.set_faults(Faults { late_max: Duration::from_secs(1_000), ..LATE });
    let stream = conversation("c");
    assert!(bench.commit_one(bench.append(&stream, 0, 1)).await.is_err());
    node.crash();
    database.set_faults(Faults::none());
    let successor = Bench::on(Arc::new(node_at(&database, "http://two").await));
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(written(&database, &bench, &stream).await, 0);
    successor.commit_one(successor.append(&stream, 0, 1)).await.expect("the stream is empty");
}

#[tokio::test(start_paused = true)]
async fn of_a_torn_batch_either_half_may_be_missing_and_each_append_is_whole() {
    let faults = Faults { torn: 1.0, refused: 0.5, ..Faults::none() };
    let (database, _, bench) = failing(faults).await;
    let mut seen = [false; 4];
    for number in 0..64 {
        let (one, two) = (conversation(&format!("a{number}")), conversation(&format!("b{number}")));
        let batch = vec![bench.append(&one, 0, 2), bench.append(&two, 0, 3)];
        let answers = bench.commit(batch).await;
        let landed =
            [written(&database, &bench, &one).await, written(&database, &bench, &two).await];
        for (answer, (landed, whole)) in answers.iter().zip([(landed[0], 2), (landed[1], 3)]) {
            assert_eq!(landed, if answer.is_ok() { whole } else { 0 });
        }
        seen[usize::from(answers[0].is_ok()) * 2 + usize::from(answers[1].is_ok())] = true;
    }
    assert_eq!(seen, [true; 4], "neither, either and both");
}

#[tokio::test(start_paused = true)]
async fn nothing_of_a_slow_commit_is_seen_before_it_happens_and_faster_ones_come_before_it() {
    let slow = Faults { slow: 1.0, slow_max: Duration::from_secs(3), ..Faults::none() };
    let (database, _, bench) = failing(slow).await;
    let (slow, fast) = (conversation("slow"), conversation("fast"));
    let start = Instant::now();
    let slowly = {
        let (bench, append) = (bench.clone(), bench.append(&slow, 0, 2));
        tokio::spawn(async move { bench.commit_one(append).await })
    };
    tokio::task::yield_now().await;
    database.set_faults(Faults::none());
    bench.commit_one(bench.append(&fast, 0, 1)).await.expect("fast");
    let page =
        bench.ledger.read_partition(PartitionId::of(&bench.acme), Default::default(), 9, None);
    assert_eq!(page.await.expect("read").len(), 1, "the gapless prefix");
    let appended = slowly.await.expect("joined").expect("slow");
    assert!(start.elapsed() > Duration::ZERO, "the seed makes it slow");
    assert_eq!(appended.first_position.0, 2);
    assert_eq!(bench.verified().await, 3);
}

#[tokio::test(start_paused = true)]
async fn reads_fail_and_hints_get_lost() {
    let faults = Faults { unreadable: 1.0, hint_lost: 1.0, ..Faults::none() };
    let (_, node, bench) = failing(faults).await;
    let partition = PartitionId::of(&bench.acme);
    let hints = node.hints(partition);
    bench.commit_one(bench.append(&conversation("c"), 0, 1)).await.expect("written");
    assert!(!hints.has_changed().expect("the node lives"));
    assert!(matches!(node.head(partition).await, Err(ReadError::Unavailable { .. })));
}

#[tokio::test(start_paused = true)]
async fn two_nodes_come_to_share_the_partitions_and_each_is_fenced_from_the_others() {
    let database = SimulatedDatabase::new(1, Faults::none());
    let one = Arc::new(node_of(&database).await);
    let two = Arc::new(database.node("http://two", CrashSwitch::new()));
    let terms = LeaseTerms::default();
    tokio::time::sleep(terms.renewal * 2 + terms.patience * 2).await;
    let held = |node: &SimulatedLedger| node.ownership().held().borrow().partitions();
    let (of_one, of_two) = (held(&one), held(&two));
    assert_eq!((of_one.len(), of_two.len()), (32, 32));
    assert_eq!(of_one.union(of_two), PartitionSet::ALL);

    let (bench, other) = (Bench::on(one.clone()), Bench::on(two.clone()));
    let partition = PartitionId::of(&bench.acme);
    let (inside, outside) =
        if of_one.contains(partition) { (&bench, &other) } else { (&other, &bench) };
    let stream = conversation("c");
    inside.commit_one(inside.append(&stream, 0, 1)).await.expect("its own");
    let fenced = outside.commit_one(outside.append(&stream, 1, 1)).await;
    assert_eq!(fenced, Err(AppendError::Fenced { partition }));
    assert_eq!(outside.stream(&stream).await.len(), 1, "reading is open to all");
    let address = if of_one.contains(partition) { "http://one" } else { "http://two" };
    let owner = Owner { address: address.to_owned(), is_here: true };
    assert_eq!(inside.ledger.owner(partition).await, Ok(Some(owner.clone())));
    let elsewhere = Owner { is_here: false, ..owner };
    assert_eq!(outside.ledger.owner(partition).await, Ok(Some(elsewhere)));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_past_its_lease_is_fenced_and_stops_when_it_goes_on() {
    let database = SimulatedDatabase::new(1, Faults::none());
    let stopped = Arc::new(node_of(&database).await);
    let bench = Bench::on(stopped.clone());
    stopped.pause();
    let waiting = {
        let (bench, append) = (bench.clone(), bench.append(&conversation("c"), 0, 1));
        tokio::spawn(async move { bench.commit_one(append).await })
    };
    let successor = node_at(&database, "http://two").await;
    assert!(successor.ownership().holds(PartitionId::of(&bench.acme)));
    assert!(!stopped.ownership().holds(PartitionId::of(&bench.acme)), "its lease ran out");
    assert!(!waiting.is_finished(), "it stands still");
    let partition = PartitionId::of(&bench.acme);
    stopped.resume();
    assert_eq!(waiting.await.expect("joined"), Err(AppendError::Fenced { partition }));
    assert!(!stopped.ownership().held().borrow().contains(partition));
}

#[tokio::test(start_paused = true)]
async fn a_successor_at_the_same_address_does_not_wait_and_fences_what_is_still_under_way() {
    let (database, _, bench) = failing(LATE).await;
    let stream = conversation("c");
    assert!(bench.commit_one(bench.append(&stream, 0, 1)).await.is_err());
    database.set_faults(Faults::none());
    let start = Instant::now();
    let _successor = node_of(&database).await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    tokio::time::sleep(LATE.late_max).await;
    assert_eq!(written(&database, &bench, &stream).await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_closed_gives_its_partitions_back_once_its_appends_are_over() {
    let (database, node, bench) =
        failing(Faults { slow: 1.0, slow_max: Duration::from_secs(3), ..Faults::none() }).await;
    let stream = conversation("c");
    let under_way = {
        let (bench, append) = (bench.clone(), bench.append(&stream, 0, 1));
        tokio::spawn(async move { bench.commit_one(append).await })
    };
    tokio::task::yield_now().await;
    node.close().await;
    assert!(under_way.is_finished());
    under_way.await.expect("joined").expect("it was under way");
    let start = Instant::now();
    let _elsewhere = node_at(&database, "http://two").await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    let answer = bench.commit_one(bench.append(&stream, 1, 1)).await;
    assert!(matches!(answer, Err(AppendError::Unavailable { .. })), "{answer:?}");
    assert!(node.head(PartitionId::of(&bench.acme)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn the_dead_are_told_nothing_and_what_they_had_sent_may_land() {
    let (database, node, bench) =
        failing(Faults { slow: 1.0, slow_max: Duration::from_secs(3), ..Faults::none() }).await;
    let stream = conversation("c");
    let asked = {
        let (bench, append) = (bench.clone(), bench.append(&stream, 0, 1));
        tokio::spawn(async move { bench.commit_one(append).await })
    };
    tokio::task::yield_now().await;
    node.crash();
    let long = Duration::from_secs(100);
    assert!(timeout(long, asked).await.is_err(), "nobody is told");
    assert!(timeout(long, node.head(PartitionId::of(&bench.acme))).await.is_err());
    assert_eq!(written(&database, &bench, &stream).await, 1);
}

/// Conversations of two accounts, with several clients each; processes that die; then quiet, and what must stand.
async fn whole_system(simulation: Arc<Simulation>) {
    with_clients(simulation, 2).await;
}

async fn with_clients(simulation: Arc<Simulation>, clients_max: usize) {
    const TURNS_MAX: usize = 4;
    let mut draw = simulation.chance.of("cast", &[]);
    let living = tokio::spawn(simulation.clone().live());
    let mut conversations = Vec::new();
    for (account, conversation) in [("acme", "c1"), ("demo", "c2")] {
        let (mut talking, door) = (Vec::new(), Arc::default());
        for number in 0..1 + draw.below(clients_max) {
            let client = client(&simulation, account, conversation, number, &door);
            talking.push(tokio::spawn(client.talk(1 + draw.below(TURNS_MAX), number == 0)));
        }
        conversations.push((client(&simulation, account, conversation, 0, &door), talking));
    }
    let mut told = Vec::new();
    for (client, talking) in conversations {
        let answers = join_all(talking).await.into_iter().map(|it| it.expect("all are answered"));
        told.push((client, answers.collect::<Vec<_>>()));
    }
    simulation.database.set_faults(Faults::none());
    living.await.expect("the last process is up");
    simulation.quiet().await;
    simulation.check_record().await;
    for (client, answers) in &told {
        simulation.check_turns(client, answers).await;
    }
    let clients: Vec<&Client> = told.iter().map(|(client, _)| client).collect();
    simulation.check_replay(&clients).await;
}

fn client(
    simulation: &Arc<Simulation>,
    account: &str,
    conversation: &str,
    number: usize,
    door: &Arc<Door>,
) -> Client {
    Client {
        simulation: simulation.clone(),
        actor: actor(account, "ada"),
        conversation: literal(conversation),
        name: format!("client-{number}"),
        door: door.clone(),
    }
}

const SEEDS: u64 = 2_000;
const SHARES: u64 = 4;

fn share(number: u64, test: &str) {
    under_seeds(Share { seeds: SEEDS, of: SHARES, number }, test, whole_system);
}

#[test]
fn the_whole_system_comes_through_every_fourth_seed_from_0() {
    share(0, "every_fourth_seed_from_0");
}

#[test]
fn the_whole_system_comes_through_every_fourth_seed_from_1() {
    share(1, "every_fourth_seed_from_1");
}

#[test]
fn the_whole_system_comes_through_every_fourth_seed_from_2() {
    share(2, "every_fourth_seed_from_2");
}

#[test]
fn the_whole_system_comes_through_every_fourth_seed_from_3() {
    share(3, "every_fourth_seed_from_3");
}

#[test]
fn in_forty_seeds_everything_goes_wrong_that_can() {
    let (mut struck, mut entries, mut repeated, mut shared) = (Vec::new(), Vec::new(), 0, 0);
    for seed in 0..40 {
        let simulation = alone(async {
            let simulation = Simulation::new(seed);
            whole_system(simulation.clone()).await;
            entries.extend(simulation.entries().await);
            simulation
        });
        struck.push(simulation.database.struck());
        let deliveries = simulation.airline.book().into_values().map(|it| it.deliveries.len());
        repeated += deliveries.filter(|count| *count > 1).count();
        shared += usize::from(simulation.scenario.processes > 1);
    }
    let sum = |count: fn(&Struck) -> u64| struck.iter().map(count).sum::<u64>();
    let counts = [
        sum(|it| it.refused),
        sum(|it| it.lost_acks),
        sum(|it| it.landed_late),
        sum(|it| it.came_too_late),
        sum(|it| it.torn),
        sum(|it| it.slow),
        sum(|it| it.unreadable),
        sum(|it| it.hints_lost),
        sum(|it| it.leases_unanswered),
        sum(|it| it.fenced),
    ];
    assert!(counts.iter().all(|count| *count > 0), "{struck:#?}");
    assert!(repeated > 0 && shared > 0, "{repeated} {shared}");
    let kinds: BTreeSet<EntryKind> = entries.iter().map(|entry| entry.kind).collect();
    let unseen: Vec<_> = EntryKind::ALL.iter().filter(|kind| !kinds.contains(kind)).collect();
    assert_eq!(
        unseen,
        [
            &EntryKind::EffectParked,
            &EntryKind::EffectReleased,
            &EntryKind::TimerCancelled,
            &EntryKind::EffectNudged,
        ],
        "what a run of the system records"
    );
}

/// Runs a seed, and says what stands on the ledger at the end.
fn chain_of(seed: u64) -> Vec<(PartitionId, Position, Digest)> {
    alone(async move {
        let simulation = Simulation::new(seed);
        // Two clients that wait for one actor to start are woken in an order that tokio draws: their turns may then
        // arrive in another order. With one client in each conversation, nothing is left to chance.
        with_clients(simulation.clone(), 1).await;
        simulation.chain().await
    })
}

#[test]
fn one_seed_is_one_run_to_the_byte_and_another_seed_is_another() {
    for seed in 0..8 {
        let chain = chain_of(seed);
        assert!(chain == chain_of(seed), "seed {seed} came to two ends");
        assert!(chain != chain_of(seed + 1));
    }
}
