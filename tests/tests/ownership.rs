//! Partitions that change hands under a running system.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use turnframe_actors::PostError;
use turnframe_core::block::AssistantTurn;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{EntryKind, EventLedger, PartitionSet};
use turnframe_tests::desk::{self, OPEN, REBOOK, RENAME};
use turnframe_tests::gate::{Gate, GatedInterpreter};
use turnframe_tests::owned::Owned;
use turnframe_tests::reading::{count, is_applied, outcome};
use turnframe_tests::world::{Backend, Process, World, said};

/// Longer than anything takes that waits here.
const PATIENCE: Duration = Duration::from_secs(20);

struct Two {
    world: World,
    ledger: Arc<dyn EventLedger>,
}

impl Two {
    fn new(world: World) -> Self {
        Self { world, ledger: Arc::new(MemoryLedger::new()) }
    }

    /// One more process on the ledger. It owns nothing.
    async fn start(&mut self, owned: Owned) -> (Process, Arc<Owned>) {
        let owned = Arc::new(owned);
        self.world.ledger = Some(owned.clone());
        (self.world.start().await, owned)
    }

    fn owned(&self) -> Owned {
        Owned::new(self.ledger.clone())
    }
}

/// Owns everything from now on, and acts for it.
async fn take(process: &Process, owned: &Owned) {
    owned.ownership().hold(PartitionSet::ALL);
    until(|| process.system.partitions() == PartitionSet::ALL).await;
}

async fn until(holds: impl Fn() -> bool) {
    let looks = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looks).await.expect("in time");
}

type Answer = Result<Arc<AssistantTurn>, PostError>;

/// Two processes, the first of which owns everything and runs a turn that waits at a gate.
struct Running {
    gate: Gate,
    first: (Process, Arc<Owned>),
    second: (Process, Arc<Owned>),
    turn: JoinHandle<Answer>,
}

impl Running {
    async fn begin() -> Self {
        let (interpreter, gate) = GatedInterpreter::holding(desk::interpreter(), RENAME);
        let mut two = Two::new(World::new(Backend::Memory, interpreter, desk::airline()));
        let first = two.start(two.owned()).await;
        let second = two.start(two.owned()).await;
        take(&first.0, &first.1).await;
        first.0.begin().await;
        first.0.say("t1", OPEN).await;
        let process = first.0.clone();
        let turn = tokio::spawn(async move { process.post("t2", said(RENAME)).await });
        gate.reached().await;
        Self { gate, first, second, turn }
    }
}

fn is_not_here<T: std::fmt::Debug>(answer: &Result<T, PostError>) -> bool {
    matches!(answer, Err(PostError::NotHere))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_owns_nothing_takes_nothing_and_says_so() {
    let mut two = Two::new(World::desk(Backend::Memory));
    let (process, owned) = two.start(two.owned()).await;
    let opened = process.system.open_conversation(&process.actor, &process.conversation).await;
    assert!(is_not_here(&opened));
    assert!(is_not_here(&process.post("t1", said(OPEN)).await));
    assert!(is_not_here(&process.system.cards(&process.actor, &process.conversation).await));
    assert_eq!(process.entries().await.len(), 0);
    take(&process, &owned).await;
    process.begin().await;
    assert!(is_applied(&process.say("t1", OPEN).await.acts[0].outcome));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_owner_remembers_does_not_outlive_its_tenure() {
    let mut two = Two::new(World::desk(Backend::Memory));
    let (first, first_owned) = two.start(two.owned()).await;
    let (second, second_owned) = two.start(two.owned()).await;
    take(&first, &first_owned).await;
    first.begin().await;
    first.say("t1", OPEN).await;
    // The other one owns it for a while, and changes the record.
    first_owned.ownership().hold(PartitionSet::NONE);
    until(|| first.system.live_actors() == (0, 0)).await;
    take(&second, &second_owned).await;
    let answer = second.say("t2", RENAME).await;
    assert!(is_applied(outcome(&answer)));
    let state = second.state().await;
    second_owned.ownership().hold(PartitionSet::NONE);
    assert!(is_not_here(&second.post("t3", said(OPEN)).await));
    // However quickly it comes back, it comes back to what is on the ledger.
    take(&first, &first_owned).await;
    assert_eq!(first.state().await, state);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_was_away_for_a_moment_only_starts_afresh_all_the_same() {
    let mut two = Two::new(World::desk(Backend::Memory));
    let (first, first_owned) = two.start(two.owned()).await;
    let (second, second_owned) = two.start(two.owned()).await;
    take(&first, &first_owned).await;
    first.begin().await;
    first.say("t1", OPEN).await;
    take(&second, &second_owned).await;
    second.say("t2", RENAME).await;
    let state = second.state().await;
    // Lost and taken again before anybody could look: another tenure is another tenure.
    first_owned.ownership().hold(PartitionSet::NONE);
    first_owned.ownership().hold(PartitionSet::ALL);
    until(|| first.system.live_actors() == (0, 0)).await;
    until(|| first.system.partitions() == PartitionSet::ALL).await;
    assert_eq!(first.state().await, state);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partition_that_is_handed_over_is_finished_with_first() {
    let Running { gate, first, second, turn: running } = Running::begin().await;
    let ((first, first_owned), (second, second_owned)) = (first, second);
    let handing_over = {
        let owned = first_owned.clone();
        tokio::spawn(async move {
            owned.ownership().hand_over(PartitionSet::ALL, PATIENCE).await;
        })
    };
    // Nothing new is begun, and what runs is waited for.
    until(|| first.system.partitions().is_empty()).await;
    assert!(is_not_here(&first.post("t3", said(REBOOK)).await));
    assert!(!handing_over.is_finished());
    gate.open();
    let answer = running.await.expect("a task").expect("answered where it was begun");
    assert!(is_applied(outcome(&answer)));
    handing_over.await.expect("handed over once it is finished");
    assert_eq!(first.system.live_actors(), (0, 0));
    take(&second, &second_owned).await;
    assert_eq!(second.post("t2", said(RENAME)).await.expect("the stored answer"), answer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_that_lost_its_partition_leaves_its_turn_to_the_next_one() {
    let Running { gate, first, second, turn: running } = Running::begin().await;
    let ((_first, first_owned), (second, second_owned)) = (first, second);
    first_owned.ownership().hold(PartitionSet::NONE);
    let answer = running.await.expect("a task");
    assert!(is_not_here(&answer), "{answer:?}");
    // Nobody writes to the conversation: its unfinished turn is found by its mark.
    second_owned.ownership().hold(PartitionSet::ALL);
    let resumed = tokio::time::timeout(PATIENCE, gate.reached_by(2)).await;
    assert!(resumed.is_ok(), "nobody took the turn up");
    gate.open();
    second.rest().await;
    let answer = second.post("t2", said(RENAME)).await.expect("answered");
    assert!(is_applied(outcome(&answer)));
    assert_eq!(count(&second.entries().await, "trip_renamed"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_whose_lease_ended_before_it_was_sent_is_not_sent() {
    let mut two = Two::new(World::desk(Backend::Memory));
    let mut ending = two.owned();
    ending.ends_with = Some(EntryKind::EffectDispatched);
    let (first, first_owned) = two.start(ending).await;
    let (second, second_owned) = two.start(two.owned()).await;
    take(&first, &first_owned).await;
    first.begin().await;
    first.say("t1", OPEN).await;
    first.say("t2", REBOOK).await;
    let card = first.card().await;
    // The click is answered; its attempt is recorded, and the lease ends with that.
    let _ = first.post("t3", turnframe_tests::world::clicked(&card, "confirm")).await;
    until(|| first.system.partitions().is_empty()).await;
    let dispatched = |entries: &[turnframe_ledger::Entry]| {
        entries.iter().filter(|it| it.kind == EntryKind::EffectDispatched).count()
    };
    let looked = async {
        while dispatched(&first.entries().await) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the attempt is recorded");
    until(|| first.system.live_actors() == (0, 0)).await;
    assert!(two.world.airline.book().is_empty(), "nothing was sent");
    // The next owner finds the attempt, does not know what became of it, and finds out under its key.
    take(&second, &second_owned).await;
    for _ in 0..4 {
        second.rest().await;
        two.world.clock.advance(Duration::from_secs(3_600));
    }
    second.rest().await;
    assert!(two.world.airline.repeated().is_empty());
    assert_eq!(two.world.airline.book().values().map(|it| it.performed).sum::<u32>(), 1);
}
