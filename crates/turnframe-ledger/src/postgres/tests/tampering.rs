//! What somebody changes behind the ledger's back is noticed.

use super::Bench;
use crate::chain::ChainError;
use crate::ledger::{EventLedger, ReadError};
use crate::stream::{Position, Version};
use crate::testing::{account, append};
use crate::verify::Fault;

/// The third of five entries of one account, beside five of another.
const THIRD: &str = "version = 3 AND account = (SELECT id FROM tf_account WHERE name = 'acme')";

async fn tampered(change: &str) -> (Bench, Vec<Fault>) {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 5)).await.expect("appended");
    let other = append(&bench.ids, &account("demo"), &bench.stream, 0, 5);
    bench.commit(other).await.expect("appended");
    bench.assert_intact(10).await;
    bench.execute(change).await;
    let faults = bench.verify().await.faults;
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
    for change in [
        "recorded_at = recorded_at + 1",
        "kind = 'case.event'",
        "schema = 2",
        "turn = 'other'",
        "causation = id",
        "chain = decode(repeat('00', 32), 'hex')",
    ] {
        let (bench, faults) =
            tampered(&format!("UPDATE tf_entry SET {change} WHERE {THIRD}")).await;
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
    for change in [
        "kind = 'no.such'",
        "id = '\\x00'",
        "commitment = '\\x00'",
        "parts = '['",
        "schema = 65536",
    ] {
        let (bench, faults) =
            tampered(&format!("UPDATE tf_entry SET {change} WHERE {THIRD}")).await;
        let unreadable = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(ReadError::Corrupt { place, .. })
                if place == "partition 32, position 3")
        };
        assert!(faults.iter().any(unreadable), "{change}: {faults:?}");
        let read = bench.ledger.reader.read_stream(&bench.acme, &bench.stream, Version(1), 9).await;
        assert!(matches!(read, Err(ReadError::Corrupt { .. })), "{change}: {read:?}");
        let before = bench.ledger.read_stream(&bench.acme, &bench.stream, Version::NONE, 2).await;
        assert_eq!(before.expect("read").len(), 2);
    }
}
