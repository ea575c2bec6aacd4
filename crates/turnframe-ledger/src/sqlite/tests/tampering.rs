//! What somebody changes behind the ledger's back is noticed.

use super::Bench;
use crate::chain::ChainError;
use crate::ledger::{EventLedger, ReadError};
use crate::stream::{PartitionId, Position, Version};
use crate::testing::{account, append};
use crate::verify::Fault;

async fn tampered(change: &'static str) -> (Bench, Vec<Fault>) {
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
    let change = "UPDATE tf_entry SET facts = CAST('{}' AS BLOB) WHERE version = 3 AND account = 1";
    let (bench, faults) = tampered(change).await;
    let third = bench.read().await[2].reference();
    let error = ChainError::Commitment(third);
    assert_eq!(faults, [Fault::Chain { account: bench.acme, error }]);
}

#[tokio::test]
async fn a_changed_header_is_noticed() {
    for change in [
        "UPDATE tf_entry SET recorded_at = recorded_at + 1 WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET kind = 'case.event' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET schema = 2 WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET turn = 'other' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET causation = id WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET chain = zeroblob(32) WHERE version = 3 AND account = 1",
    ] {
        let (bench, faults) = tampered(change).await;
        let error = ChainError::Chain(bench.read().await[2].reference());
        assert_eq!(faults, [Fault::Chain { account: bench.acme, error }], "{change}");
    }
}

#[tokio::test]
async fn a_removed_entry_is_noticed_in_its_partition_and_in_its_stream() {
    let change = "DELETE FROM tf_entry WHERE version = 3 AND account = 1";
    let (bench, faults) = tampered(change).await;
    let partition = PartitionId::of(&bench.acme);
    let gap = Fault::Position { partition, after: Position(2), found: Position(4) };
    let error = ChainError::Gap { at: bench.read().await[2].reference(), expected: Version(3) };
    assert_eq!(faults, [gap, Fault::Chain { account: bench.acme, error }]);
}

#[tokio::test]
async fn entries_removed_from_the_end_are_noticed() {
    let change = "DELETE FROM tf_entry WHERE version > 3 AND account = 1";
    let (bench, faults) = tampered(change).await;
    let partition = PartitionId::of(&bench.acme);
    let tail = Fault::Tail { partition, head: Position(5), found: Position(3) };
    assert_eq!(faults, [tail]);
}

#[tokio::test]
async fn an_entry_that_cannot_be_decoded_is_corrupt_and_hides_no_other() {
    for change in [
        "UPDATE tf_entry SET kind = 'no.such' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET id = x'00' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET commitment = x'00' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET parts = x'5b' WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET schema = 65536 WHERE version = 3 AND account = 1",
    ] {
        let (bench, faults) = tampered(change).await;
        let unreadable = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(ReadError::Corrupt { place, .. })
                if place == "partition 32, position 3")
        };
        assert!(faults.iter().any(unreadable), "{change}: {faults:?}");
        let ledger = &bench.ledger;
        let read = ledger.read_stream(&bench.acme, &bench.stream, Version(1), 9).await;
        assert!(matches!(read, Err(ReadError::Corrupt { .. })), "{change}: {read:?}");
        let before = ledger.read_stream(&bench.acme, &bench.stream, Version::NONE, 2).await;
        assert_eq!(before.expect("read").len(), 2);
    }
}

#[tokio::test]
async fn an_entry_that_was_given_to_another_account_or_stream_is_noticed() {
    for change in [
        "UPDATE tf_entry SET account = 2 WHERE version = 3 AND account = 1",
        "UPDATE tf_entry SET stream = 3 WHERE version = 3 AND account = 1",
        "DELETE FROM tf_stream WHERE account = 1",
    ] {
        let (_bench, faults) = tampered(change).await;
        let unreadable = |fault: &Fault| {
            matches!(fault, Fault::Unreadable(ReadError::Corrupt { place, .. })
                if place == "partition 32, position 3")
        };
        assert!(faults.iter().any(unreadable), "{change}: {faults:?}");
    }
}
