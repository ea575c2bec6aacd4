//! What somebody changes behind the ledger's back is noticed.

use super::Bench;
use crate::chain::ChainError;
use crate::ledger::ReadError;
use crate::stream::{Position, Version};
use crate::testing::{account, append};
use crate::verify::Fault;

/// The third of five entries of one account, beside five of another.
const THIRD: &str = "version = 3 AND account = (SELECT id FROM tf_account WHERE name = 'acme')";

async fn untouched() -> Bench {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 5)).await.expect("appended");
    let other = append(&bench.ids, &account("demo"), &bench.stream, 0, 5);
    bench.commit(other).await.expect("appended");
    bench.assert_intact(10).await;
    bench.execute("CREATE TABLE untouched AS SELECT * FROM tf_entry").await;
    bench
}

/// What is found after a change, made to what there was at first.
async fn faults_of(bench: &Bench, change: &str) -> Vec<Fault> {
    let restored = "DELETE FROM tf_entry; INSERT INTO tf_entry SELECT * FROM untouched";
    bench.execute(&format!("{restored}; {change}")).await;
    bench.verify().await.faults
}

async fn tampered(change: &str) -> (Bench, Vec<Fault>) {
    let bench = untouched().await;
    let faults = faults_of(&bench, change).await;
    (bench, faults)
}

#[tokio::test]
async fn a_changed_payload_is_noticed() {
    let (bench, faults) =
        tampered(&format!("UPDATE tf_entry SET facts = '{{}}' WHERE {THIRD}")).await;
    let third = bench.read().await[2].reference();
    let error = ChainError::Commitment(third);
    assert_eq!(faults, [Fault::Chain { account: bench.acme.clone(), error }]);
}

#[tokio::test]
async fn a_changed_header_is_noticed() {
    let bench = untouched().await;
    for change in [
        "recorded_at = recorded_at + 1",
        "kind = 'case.event'",
        "schema = 2",
        "turn = 'other'",
        "causation = id",
        "chain = decode(repeat('00', 32), 'hex')",
    ] {
        let change = format!("UPDATE tf_entry SET {change} WHERE {THIRD}");
        let faults = faults_of(&bench, &change).await;
        let error = ChainError::Chain(bench.read().await[2].reference());
        assert_eq!(faults, [Fault::Chain { account: bench.acme.clone(), error }], "{change}");
    }
}

#[tokio::test]
async fn a_removed_entry_is_noticed_in_its_partition_and_in_its_stream() {
    let (bench, faults) = tampered(&format!("DELETE FROM tf_entry WHERE {THIRD}")).await;
    let partition = bench.partition();
    let gap = Fault::Position { partition, after: Position(2), found: Position(4) };
    let error = ChainError::Gap { at: bench.read().await[2].reference(), expected: Version(3) };
    assert_eq!(faults, [gap, Fault::Chain { account: bench.acme.clone(), error }]);
}

#[tokio::test]
async fn entries_removed_from_the_end_are_noticed() {
    let change = format!("DELETE FROM tf_entry WHERE {}", THIRD.replace("= 3", "> 3"));
    let (bench, faults) = tampered(&change).await;
    let tail = Fault::Tail { partition: bench.partition(), head: Position(5), found: Position(3) };
    assert_eq!(faults, [tail]);
}

#[tokio::test]
async fn two_entries_that_changed_places_are_noticed() {
    let acme = "account = (SELECT id FROM tf_account WHERE name = 'acme')";
    let swap = format!(
        "UPDATE tf_entry SET place = -(place + 5 - 2 * version), version = -(5 - version) \
             WHERE version IN (2, 3) AND {acme}; \
         UPDATE tf_entry SET place = -place, version = -version WHERE version < 0"
    );
    let (bench, faults) = tampered(&swap).await;
    let error = ChainError::Chain(bench.read().await[1].reference());
    assert_eq!(faults, [Fault::Chain { account: bench.acme.clone(), error }]);
}

#[tokio::test]
async fn an_entry_that_cannot_be_decoded_is_corrupt_and_hides_no_other() {
    let bench = untouched().await;
    for change in [
        "kind = 'no.such'",
        "id = '\\x00'",
        "commitment = '\\x00'",
        "parts = '['",
        "schema = 65536",
    ] {
        let change = format!("UPDATE tf_entry SET {change} WHERE {THIRD}");
        let faults = faults_of(&bench, &change).await;
        let unreadable = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(ReadError::Corrupt { place, .. })
                if place == "partition 32, position 3")
        };
        assert!(faults.iter().any(unreadable), "{change}: {faults:?}");
        let read = bench.ledger.reader.read_stream(&bench.acme, &bench.stream, Version(1), 9).await;
        assert!(matches!(read, Err(ReadError::Corrupt { .. })), "{change}: {read:?}");
        let before =
            bench.ledger.reader.read_stream(&bench.acme, &bench.stream, Version::NONE, 2).await;
        assert_eq!(before.expect("read").len(), 2);
    }
}

#[tokio::test]
async fn an_entry_that_was_given_to_another_account_or_stream_is_noticed() {
    let bench = untouched().await;
    let demo = "account = (SELECT id FROM tf_account WHERE name = 'demo')";
    for change in [demo, "stream = (SELECT max(id) + 1 FROM tf_stream)"] {
        let change = format!("UPDATE tf_entry SET {change} WHERE {THIRD}");
        let faults = faults_of(&bench, &change).await;
        let unreadable = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(ReadError::Corrupt { place, .. })
                if place == "partition 32, position 3")
        };
        assert!(faults.iter().any(unreadable), "{change}: {faults:?}");
    }
}
