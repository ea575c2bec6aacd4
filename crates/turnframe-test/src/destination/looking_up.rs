//! What a look-up by key answers. A destination without one says that nobody knows.

use turnframe_runtime::port::{Dispatched, Reconciled};

use super::{Meeting, Receiver, effect};

/// Found, not found, or no look-up at all.
pub async fn what_was_recorded_is_found_and_what_was_not_is_not(receiver: &dyn Receiver) {
    let destination = receiver.destination();
    let (known, unknown) = (receiver.delivery(effect(1), 1), receiver.delivery(effect(2), 1));
    let dispatched = destination.dispatch(&known).await;
    let Dispatched::Accepted { reference, .. } = dispatched else {
        unreachable!("the receiver took it: {dispatched:?}");
    };
    let found = destination.reconcile(&known).await;
    let not_found = destination.reconcile(&unknown).await;
    if receiver.has_look_up() {
        let Reconciled::Found(Dispatched::Accepted { reference: looked_up, .. }) = found else {
            unreachable!("it is in the book: {found:?}");
        };
        assert_eq!(looked_up, reference, "the answer and the look-up name the same");
        assert_eq!(not_found, Reconciled::NotFound);
    } else {
        for answer in [found, not_found] {
            assert!(
                matches!(answer, Reconciled::StillUnknown { .. }),
                "nobody can know: {answer:?}"
            );
        }
    }
    let requests = receiver.requests_total();
    assert_eq!(requests, 1, "a look-up asks for nothing to be done");
}

/// What a look-up is for.
pub async fn what_was_lost_after_the_act_is_found(receiver: &dyn Receiver) {
    if !receiver.has_look_up() || receiver.lacks().contains(&Meeting::DropAfterCommit) {
        return;
    }
    receiver.meet_next(Meeting::DropAfterCommit);
    let (destination, delivery) = (receiver.destination(), receiver.delivery(effect(1), 1));
    destination.dispatch(&delivery).await;
    let found = destination.reconcile(&delivery).await;
    let is_found = matches!(found, Reconciled::Found(Dispatched::Accepted { .. }));
    assert!(is_found, "it is in the book: {found:?}");
    assert_eq!(receiver.records(&delivery.idempotency_key()), 1);
}

/// "Not found" would have it sent again.
pub async fn a_receiver_that_is_away_leaves_it_unknown(receiver: &dyn Receiver) {
    let (destination, delivery) = (receiver.destination(), receiver.delivery(effect(1), 1));
    destination.dispatch(&delivery).await;
    receiver.go_away().await;
    let answer = destination.reconcile(&delivery).await;
    let is_unknown = matches!(answer, Reconciled::StillUnknown { .. });
    assert!(is_unknown, "whoever is away says neither yes nor no: {answer:?}");
}
