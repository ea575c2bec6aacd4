//! What becomes of an effect that is sent twice, where the profile lets it be.

use turnframe_runtime::port::{Dispatched, Resending};

use super::{Meeting, Receiver, effect};

/// `IdempotentByKey` has the outbox send again what may have been acted on.
pub async fn a_receiver_that_honours_the_key_keeps_one_record_of_two_attempts(
    receiver: &dyn Receiver,
) {
    let destination = receiver.destination();
    match destination.profile().resending {
        Resending::IdempotentByKey => {}
        // Nothing is promised, and nothing is sent twice.
        Resending::Never => return,
    }
    if !receiver.lacks().contains(&Meeting::DropAfterCommit) {
        receiver.meet_next(Meeting::DropAfterCommit);
    }
    destination.dispatch(&receiver.delivery(effect(1), 1)).await;
    let again = destination.dispatch(&receiver.delivery(effect(1), 2)).await;
    assert!(matches!(again, Dispatched::Accepted { .. }), "{again:?}");
    let key = receiver.delivery(effect(1), 1).idempotency_key();
    assert_eq!(receiver.requests(&key), 2, "both attempts carry the key");
    let records = receiver.records(&key);
    assert_eq!(records, 1, "IdempotentByKey is declared of a receiver that acts twice");
}
