//! Lost answers and lost servers: what was acknowledged is there, once, and nothing lands unasked.

use std::sync::Arc;
use std::time::Duration;

use turnframe_test::postgres::{self, Server, Wire};

use super::{Bench, LIMIT, execute, is_unavailable, is_unknown, options, until};
use crate::append::AppendError;
use crate::ledger::EventLedger;
use crate::postgres::PostgresLedger;
use crate::stream::{PartitionId, PartitionSet, Position, Version};
use crate::testing::{account, append, ids};

/// What only the statement that writes contains.
const APPEND: &[u8] = b"turn.accepted";

/// What only the statement that raises the epochs of all 64 partitions contains: an array of as many numbers of type 21,
/// which is `smallint`.
const RAISE: &[u8] = &[0, 0, 0, 21, 0, 0, 0, 64, 0, 0, 0, 1];

/// The epoch of acme's partition.
const EPOCH: &str = "SELECT epoch FROM tf_partition WHERE id = 32";

/// A ledger that reaches its database over a wire, with one entry in it.
async fn wired() -> (Bench, Wire) {
    let server = postgres::shared();
    let database = server.database().await;
    let wire = Wire::to(server).await;
    let url = wire.url(&database);
    let bench = Bench::at(database, &url, options(1)).await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    (bench, wire)
}

#[tokio::test]
async fn a_connection_that_was_cut_before_the_statement_is_unavailable_once() {
    let (bench, wire) = wired().await;
    wire.cut();
    let answers = bench.ledger.append(vec![bench.append(1, 1), bench.append(1, 1)]).await;
    assert!(answers.iter().all(is_unavailable), "{answers:?}");
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_database_that_is_away_is_unavailable_for_as_long() {
    let (bench, wire) = wired().await;
    bench.ledger.writer.lock().await.session = None;
    wire.refuse().await;
    for _ in 0..2 {
        let answer = bench.commit(bench.append(1, 1)).await;
        assert!(is_unavailable(&answer), "{answer:?}");
    }
    wire.admit().await;
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_lost_acknowledgement_is_found_out_and_answered_as_it_was_committed() {
    let (bench, wire) = wired().await;
    // Partition 10 is fenced, before and after.
    bench.execute("UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 10").await;
    let fenced = account("a");
    let batch = vec![
        bench.append(1, 2),
        bench.elsewhere("demo", 0),
        bench.append(9, 1),
        bench.elsewhere("a", 0),
    ];
    wire.hold_after(APPEND);
    let lost = async {
        wire.held().await;
        wire.cut();
    };
    let (answers, ()) = tokio::join!(bench.ledger.append(batch), lost);
    let first = answers[0].as_ref().expect("it was committed");
    assert_eq!(first.first_position, Position(2));
    let read: Vec<_> = bench.read().await.iter().map(|entry| entry.reference()).collect();
    assert_eq!(read[1..], first.entries);
    assert_eq!(answers[1].as_ref().expect("it was committed").first_position, Position(1));
    let conflict = AppendError::Conflict {
        stream: bench.stream.clone(),
        expected: Version(9),
        actual: Version(3),
    };
    assert_eq!(answers[2], Err(conflict));
    assert_eq!(answers[3], Err(AppendError::Fenced { partition: PartitionId::of(&fenced) }));
    assert_eq!(*bench.ledger.hints(bench.partition()).borrow(), Position(3));
    bench.commit(bench.append(3, 1)).await.expect("it goes on");
    bench.assert_intact(5).await;
}

#[tokio::test]
async fn a_lost_acknowledgement_that_nobody_can_look_behind_is_an_unknown_outcome() {
    let (bench, wire) = wired().await;
    let before = bench.number(EPOCH).await;
    wire.hold_after(APPEND);
    let lost = async {
        wire.held().await;
        wire.refuse().await;
        wire.cut();
    };
    let batch = vec![bench.append(1, 1), bench.append(1, 1)];
    let (answers, ()) = tokio::join!(bench.ledger.append(batch), lost);
    assert!(is_unknown(&answers[0]), "{answers:?}");
    assert!(is_unavailable(&answers[1]), "a refusal wrote nothing: {answers:?}");
    let meanwhile = bench.commit(bench.append(1, 1)).await;
    assert!(is_unavailable(&meanwhile), "{meanwhile:?}");
    wire.admit().await;
    let conflict = AppendError::Conflict {
        stream: bench.stream.clone(),
        expected: Version(1),
        actual: Version(2),
    };
    assert_eq!(bench.commit(bench.append(1, 1)).await, Err(conflict), "it had been committed");
    assert_eq!(bench.number(EPOCH).await, before + 1, "raised before anything else");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_statement_that_still_runs_is_waited_for_before_its_outcome_is_told() {
    let (bench, wire) = wired().await;
    let mut foreign = bench.foreign().await;
    execute(&mut foreign, "BEGIN; SELECT FROM tf_partition WHERE id = 32 FOR UPDATE").await;
    let lost = async {
        bench.until_waiting(1).await;
        wire.cut();
        // Whoever looks for it waits behind it.
        bench.until_waiting(2).await;
        execute(&mut foreign, "COMMIT").await;
    };
    let (answer, ()) = tokio::join!(bench.commit(bench.append(1, 1)), lost);
    // Which of the two the lock goes to is the server's to say: then it is in, or never will be.
    let entries = bench.read().await.len();
    match answer {
        Ok(appended) => assert_eq!((appended.first_position, entries), (Position(2), 2)),
        Err(AppendError::Unavailable { .. }) => assert_eq!(entries, 1),
        Err(error) => panic!("{error}"),
    }
    let expected = entries as u64;
    bench.commit(bench.append(expected, 1)).await.expect("appended");
    bench.assert_intact(expected + 1).await;
}

#[tokio::test]
async fn a_raising_of_epochs_whose_answer_is_lost_too_is_recovered_from() {
    let (bench, wire) = wired().await;
    let before = bench.number(EPOCH).await;
    wire.hold_after(APPEND);
    let lost = async {
        wire.held().await;
        wire.hold_after(RAISE);
        wire.cut();
        wire.held().await;
        wire.refuse().await;
        wire.cut();
    };
    let (answer, ()) = tokio::join!(bench.commit(bench.append(1, 1)), lost);
    assert!(is_unknown(&answer), "{answer:?}");
    assert_eq!(bench.number(EPOCH).await, before + 1, "raised, and the writer does not know");
    wire.admit().await;
    // The epoch that it writes under is not the one that there is: that is found out, and another one taken.
    let goes_on = async || bench.commit(bench.append(2, 1)).await.is_ok();
    until("writing again", goes_on).await;
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn an_answer_that_never_comes_is_not_waited_for() {
    let (bench, wire) = wired().await;
    {
        let mut writer = bench.ledger.writer.lock().await;
        writer.session = None;
        writer.patience = Duration::from_millis(200);
    }
    bench.commit(bench.append(1, 1)).await.expect("appended");
    wire.hold();
    let answer = bench.commit(bench.append(2, 1)).await;
    assert!(is_unknown(&answer), "{answer:?}");
    let answer = bench.commit(bench.append(2, 1)).await;
    assert!(is_unavailable(&answer), "{answer:?}");
    wire.pass();
    bench.ledger.writer.lock().await.patience = LIMIT;
    let answer = bench.commit(bench.append(2, 1)).await;
    assert!(matches!(answer, Err(AppendError::Conflict { .. })), "it was committed: {answer:?}");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn nothing_is_written_by_a_ledger_that_was_closed() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.ledger.close().await;
    assert!(is_unavailable(&bench.commit(bench.append(1, 1)).await));
    assert!(bench.ledger.head(bench.partition()).await.is_err());
    assert_eq!(bench.ledger.ownership().held().borrow().partitions(), PartitionSet::NONE);
    assert_eq!(bench.number("SELECT count(*) FROM tf_node").await, 0);
    assert_eq!(bench.number("SELECT count(*) FROM tf_entry").await, 1);
}

/// Appends one entry after another to a stream of its own until it has so many, whatever befalls the server.
async fn append_on(ledger: Arc<PostgresLedger>, writer: u64, count: u64) {
    let (ids, stream) = (ids(100 + writer), crate::testing::conversation("c"));
    let account = account(&format!("writer-{writer}"));
    let mut version = 0;
    while version < count {
        let answer =
            ledger.append(vec![append(&ids, &account, &stream, version, 1)]).await.remove(0);
        match answer {
            Ok(appended) => {
                version += 1;
                assert_eq!(appended.entries[0].version, Version(version));
            }
            Err(AppendError::OutcomeUnknown { .. }) => {
                let deadline = std::time::Instant::now() + LIMIT;
                version = loop {
                    let read = ledger.read_stream(&account, &stream, Version(version), 1).await;
                    match read {
                        Ok(entries) => break version + entries.len() as u64,
                        Err(error) => assert!(std::time::Instant::now() < deadline, "{error}"),
                    }
                };
            }
            Err(AppendError::Unavailable { .. }) => {
                // It backs off, and knows where it is.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(error) => panic!("writer {writer} at {version}: {error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_under_eight_writers_loses_nothing_and_doubles_nothing() {
    const WRITERS: u64 = 8;
    const ENTRIES: u64 = 16;
    let server = Server::private(&[]).await;
    let database = server.database().await;
    let url = database.url();
    let bench = Bench::at(database, &url, options(1)).await;
    let Bench { ledger, database, .. } = bench;
    let ledger = Arc::new(ledger);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(append_on(Arc::clone(&ledger), writer, ENTRIES)))
        .collect();
    for entries in [20, 70] {
        let enough = async || ledger.statistics().entries >= entries;
        until("writing", enough).await;
        server.stop_immediate().await;
        server.start().await;
    }
    for writer in writers {
        writer.await.expect("a writer");
    }
    let report = crate::verify::verify(&*ledger, PartitionId::all(), |_| {}).await;
    assert!(report.is_intact(), "{:?}", report.faults);
    assert_eq!((report.entries, report.streams), (WRITERS * ENTRIES, WRITERS));
    drop(database);
}
