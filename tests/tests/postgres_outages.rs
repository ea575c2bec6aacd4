//! The whole system on a PostgreSQL that goes away and comes back: what was acknowledged stays, nothing happens twice,
//! and nobody has to help.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use turnframe_actors::{PostError, TurnInput};
use turnframe_core::block::AssistantTurn;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{EntryKind, PartitionId};
use turnframe_test::postgres::{Database, PrivateServer, Server};
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::desk::{self, OPEN};
use turnframe_tests::reading::{count, is_applied, outcome};
use turnframe_tests::world::{Backend, Process, World, actor, said};

const CONVERSATIONS: usize = 6;
/// Turns of each conversation before, during and after the outages.
const BEFORE: Range<usize> = 0..4;
const DURING: Range<usize> = 4..24;
const AFTER: Range<usize> = 24..28;
/// How long a client keeps on posting a turn.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(20);

fn text(number: usize) -> String {
    format!("call it Spring {number}")
}

fn interpreter() -> ScriptedInterpreter {
    (BEFORE.start..AFTER.end).fold(desk::interpreter(), |script, number| {
        let name = format!("Spring {number}");
        let renames = means(move |brief| {
            propose(brief).act("call it", "trip.rename").slot("name", name.as_str())
        });
        script.on(&text(number), renames)
    })
}

/// Posts a turn as a client does: again under the same id, until it is answered.
async fn answered(process: &Process, turn: &str, input: TurnInput) -> Arc<AssistantTurn> {
    let posting = async {
        loop {
            match process.post(turn, input.clone()).await {
                Err(PostError::Unavailable { .. } | PostError::NotHere | PostError::Overloaded) => {
                    tokio::time::sleep(AGAIN).await;
                }
                answer => return answer.expect("a turn that is not refused"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, posting).await.expect("it comes back by itself")
}

async fn go_on(process: &Process, turns: Range<usize>) {
    for number in turns {
        let answer = answered(process, &format!("t-{number}"), said(&text(number))).await;
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
    }
}

/// Talks on a server while something happens to it, and checks what stands at the end.
async fn through<F: Future<Output = ()>>(
    outage: impl FnOnce(Arc<PrivateServer>, Arc<Process>) -> F,
) {
    let server = Arc::new(Server::private(&[]).await);
    let database: Database = server.database().await;
    let world =
        World::new(Backend::Postgres, Arc::new(interpreter()), desk::airline()).on(database);
    let process = Arc::new(world.start().await);
    let talks: Vec<_> = (0..CONVERSATIONS)
        .map(|number| {
            process.talking(actor("acme", &format!("actor-{number}")), &format!("c{number}"))
        })
        .collect();
    for talk in &talks {
        talk.begin().await;
        answered(talk, "t-open", said(OPEN)).await;
        go_on(talk, BEFORE).await;
    }
    let talking = join_all(talks.iter().map(|talk| go_on(talk, DURING)));
    tokio::join!(talking, outage(server.clone(), process.clone()));
    join_all(talks.iter().map(|talk| go_on(talk, AFTER))).await;

    let expected: Vec<String> = std::iter::once("t-open".to_owned())
        .chain((BEFORE.start..AFTER.end).map(|number| format!("t-{number}")))
        .collect();
    let entries = process.entries().await;
    for talk in &talks {
        let stream = turnframe_ledger::StreamName::Conversation(talk.conversation.clone());
        for kind in [EntryKind::TurnAccepted, EntryKind::TurnReduced, EntryKind::TurnAnswered] {
            let here = entries.iter().filter(|it| it.stream == stream && it.kind == kind);
            let turns: Vec<_> =
                here.filter_map(|entry| Some(entry.turn.as_ref()?.to_string())).collect();
            assert_eq!(turns, expected, "{kind} of {}", talk.conversation);
        }
    }
    let renames = count(&entries, "trip_renamed");
    assert_eq!(renames, CONVERSATIONS * AFTER.end, "each turn renamed its trip once");
    let report = verify(process.system.ledger().as_ref(), PartitionId::all(), |_| {}).await;
    assert!(report.is_intact(), "{:?}", report.faults);
    process.system.clone().shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_and_started_again_in_mid_batch_is_gone_on_with() {
    through(|server, process| async move {
        for _ in 0..2 {
            committed(&process, 20).await;
            server.stop_immediate().await;
            server.start().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_an_operator_ends_are_made_again() {
    through(|server, process| async move {
        for _ in 0..4 {
            committed(&process, 15).await;
            server.terminate_clients().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_for_a_while_is_waited_for() {
    through(|server, process| async move {
        for _ in 0..2 {
            committed(&process, 20).await;
            server.pause().await;
            tokio::time::sleep(Duration::from_millis(700)).await;
            server.resume().await;
        }
    })
    .await;
}

/// Waits until so many more entries are committed: the outage strikes in the middle of work.
async fn committed(process: &Process, more: u64) {
    let entries = || process.system.ledger().statistics().entries;
    let wanted = entries() + more;
    let waiting = async {
        while entries() < wanted {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    // Where the talk is over already, the outage strikes a system at rest.
    let _ = tokio::time::timeout(Duration::from_secs(5), waiting).await;
}
