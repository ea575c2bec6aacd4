//! What a unique index objects to is judged again, and never written over.

use super::{Bench, is_unavailable};
use crate::append::AppendError;
use crate::ledger::EventLedger;
use crate::stream::{Position, Version};

/// Another entry at the end of every stream, by somebody who does not ask.
const FOREIGN_ENTRY: &str = "INSERT INTO tf_entry (place, account, stream, version, recorded_at, schema, id, kind, \
        commitment, chain, facts) \
    SELECT place + 100, account, stream, version + 1, recorded_at, schema, id, kind, commitment, chain, facts \
    FROM tf_entry";

#[tokio::test]
async fn a_head_that_a_foreign_writer_moved_is_read_again_and_never_written_over() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.execute(FOREIGN_ENTRY).await;
    let answers = bench
        .ledger
        .append(vec![bench.elsewhere("demo", 0), bench.append(1, 1), bench.append(2, 1)])
        .await;
    let conflict = AppendError::Conflict {
        stream: bench.stream.clone(),
        expected: Version(1),
        actual: Version(2),
    };
    assert!(answers[0].is_ok(), "{answers:?}");
    assert_eq!(answers[1], Err(conflict));
    let third = answers[2].as_ref().expect("it continues what is there");
    assert_eq!((third.first_position, third.entries[0].version), (Position(2), Version(3)));
}

#[tokio::test]
async fn a_key_that_was_claimed_before_is_told_and_its_neighbours_go_in() {
    let bench = Bench::new().await;
    let first = bench.commit(bench.keyed(0, "k")).await.expect("appended");
    // The versions fit: only the index knows.
    let batch = vec![bench.elsewhere("demo", 0), bench.keyed(1, "k"), bench.append(1, 1)];
    let answers = bench.ledger.append(batch).await;
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    let Err(AppendError::DuplicateKey { original, same_content, .. }) = &answers[1] else {
        panic!("a duplicate key: {answers:?}")
    };
    assert_eq!((&original.entry, *same_content), (&first.entries[0], true));
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn duplicates_in_a_row_are_each_told() {
    let bench = Bench::new().await;
    bench.commit(bench.keyed(0, "k")).await.expect("appended");
    bench.commit(bench.keyed(1, "l")).await.expect("appended");
    for _ in 0..2 {
        let batch = vec![bench.keyed(2, "k"), bench.keyed(2, "l")];
        for answer in bench.ledger.append(batch).await {
            assert!(matches!(answer, Err(AppendError::DuplicateKey { .. })), "{answer:?}");
        }
    }
    bench.commit(bench.keyed(2, "m")).await.expect("appended");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn what_stays_objected_to_is_unavailable_for_as_long() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.execute("CREATE UNIQUE INDEX foreign_index ON tf_entry (kind)").await;
    let answers = bench.ledger.append(vec![bench.append(1, 1), bench.elsewhere("demo", 0)]).await;
    assert!(answers.iter().all(is_unavailable), "{answers:?}");
    bench.execute("DROP INDEX foreign_index").await;
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}
