//! Many conversations at once: every turn is committed, in its order, and nothing is shared that should not be.

use std::sync::Arc;

use futures::future::join_all;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{EntryKind, PartitionId};
use turnframe_test::script::{means, propose};
use turnframe_tests::claims;
use turnframe_tests::desk::{self, OPEN, RENAME};
use turnframe_tests::reading::{count, is_applied, kinds, outcome};
use turnframe_tests::world::{Backend, Process, World, actor, said};

const CONVERSATIONS: usize = 64;
const TURNS: usize = 50;
const RENAME_AGAIN: &str = "call it Summer";

/// Opens a trip and renames it again and again, as somebody with records of their own.
async fn talk(process: Process) {
    process.begin().await;
    process.post("t0", said(OPEN)).await.expect("answered");
    for turn in 1..TURNS {
        let message = [RENAME, RENAME_AGAIN][turn % 2];
        let answer = process.post(&format!("t{turn}"), said(message)).await.expect("answered");
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
    }
}

async fn all_are_committed(backend: Backend) {
    let script = desk::interpreter().on(
        RENAME_AGAIN,
        means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Summer")),
    );
    let world = World::new(backend, Arc::new(script), desk::airline());
    let process = world.start().await;
    let talking = (0..CONVERSATIONS).map(|number| {
        let somebody = actor("acme", &format!("somebody-{number}"));
        tokio::spawn(talk(process.talking(somebody, &format!("c{number}"))))
    });
    for ended in join_all(talking).await {
        ended.expect("every turn of it was answered");
    }
    process.rest().await;

    let entries = process.entries().await;
    for kind in [EntryKind::TurnAccepted, EntryKind::TurnReduced, EntryKind::TurnAnswered] {
        assert_eq!(kinds(&entries, kind), CONVERSATIONS * TURNS, "{kind}");
    }
    assert_eq!(count(&entries, "trip_opened"), CONVERSATIONS);
    assert_eq!(count(&entries, "trip_renamed"), CONVERSATIONS * (TURNS - 1));
    let report = verify(process.system.ledger().as_ref(), PartitionId::all(), |_| {}).await;
    assert!(report.is_intact(), "{:?}", report.faults);
    claims::check(&process).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_conversations_of_fifty_turns_are_all_committed_in_memory() {
    all_are_committed(Backend::Memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_conversations_of_fifty_turns_are_all_committed_on_sqlite() {
    all_are_committed(Backend::Sqlite).await;
}
