//! What is said of an attempt whose answer never came: never more than is known (I15).

use std::sync::Arc;

use futures::future::{Either, select};
use turnframe_runtime::port::{Delivery, Destination, Dispatched};

use super::{Meeting, Receiver, effect, is_unknown};

/// Whether nothing was sent is provable or not depends on who speaks first; that nobody took it does not.
pub async fn a_connection_that_is_dropped_unread_is_no_answer_and_tried_once(
    receiver: &dyn Receiver,
) {
    let Some((delivery, dispatched)) = met(receiver, Meeting::DropUnread).await else { return };
    let is_honest = matches!(dispatched, Dispatched::NotSent { .. } | Dispatched::Unknown { .. });
    assert!(is_honest, "nobody answered: {dispatched:?}");
    let key = delivery.idempotency_key();
    let book = (receiver.requests(&key), receiver.records(&key));
    assert_eq!(book, (0, 0), "a second connection was made behind the outbox's back");
}

/// Whoever has read a request may act on it.
pub async fn i15_a_connection_that_is_dropped_after_the_request_was_read_leaves_an_unknown(
    receiver: &dyn Receiver,
) {
    let Some((delivery, dispatched)) = met(receiver, Meeting::DropAfterRead).await else { return };
    assert!(is_unknown(&dispatched), "it was read, and may have been acted on: {dispatched:?}");
    let key = delivery.idempotency_key();
    let book = (receiver.requests(&key), receiver.records(&key));
    assert_eq!(book, (1, 0), "one dispatch is one request");
}

/// The case that the key, the look-up and the operator are there for.
pub async fn i15_an_answer_that_is_lost_after_the_act_leaves_an_unknown(receiver: &dyn Receiver) {
    let Some((delivery, dispatched)) = met(receiver, Meeting::DropAfterCommit).await else {
        return;
    };
    assert!(is_unknown(&dispatched), "it was acted on, and nobody said so: {dispatched:?}");
    let key = delivery.idempotency_key();
    let book = (receiver.requests(&key), receiver.records(&key));
    assert_eq!(book, (1, 1), "one dispatch is one request");
}

/// Silence is no answer, by itself or when the outbox gives up.
pub async fn i15_a_receiver_that_stalls_leaves_an_unknown_by_the_timeout(receiver: &dyn Receiver) {
    if receiver.lacks().contains(&Meeting::Stall) {
        return;
    }
    receiver.meet_next(Meeting::Stall);
    let destination = receiver.destination();
    let delivery = receiver.delivery(effect(1), 1);
    // Whoever leaves the timeout to the outbox is cancelled by it, as here.
    let timeout = destination.profile().timeout;
    let dispatched = tokio::time::timeout(timeout, destination.dispatch(&delivery)).await;
    if let Ok(dispatched) = dispatched {
        assert!(is_unknown(&dispatched), "silence is no answer: {dispatched:?}");
    }
    goes_on(receiver, &destination, &delivery).await;
}

/// An attempt that is dropped under way leaves nothing behind that goes on.
pub async fn an_attempt_that_is_cancelled_ends_with_it(receiver: &dyn Receiver) {
    if receiver.lacks().contains(&Meeting::Stall) {
        return;
    }
    receiver.meet_next(Meeting::Stall);
    let destination = receiver.destination();
    let delivery = receiver.delivery(effect(1), 1);
    let key = delivery.idempotency_key();
    let until_read = select(destination.dispatch(&delivery), receiver.until_requested(&key));
    // A request under another key would be waited for without end.
    let timeout = destination.profile().timeout;
    match tokio::time::timeout(timeout, until_read).await {
        // The attempt is dropped here, under way.
        Ok(Either::Right(((), _))) => {}
        Ok(Either::Left((dispatched, _))) => {
            unreachable!("nobody answered, and it was not cancelled yet: {dispatched:?}")
        }
        Err(_) => unreachable!("no request came under {key}"),
    }
    goes_on(receiver, &destination, &delivery).await;
}

/// A redirect is a second request, perhaps to somebody else.
pub async fn a_receiver_that_points_elsewhere_is_not_followed(receiver: &dyn Receiver) {
    let Some((delivery, dispatched)) = met(receiver, Meeting::PointElsewhere).await else { return };
    let is_accepted = matches!(dispatched, Dispatched::Accepted { .. });
    assert!(!is_accepted, "nobody took it: {dispatched:?}");
    let key = delivery.idempotency_key();
    let book = (receiver.requests(&key), receiver.records(&key));
    assert_eq!(book, (1, 0), "it was sent a second time, elsewhere");
}

/// What one dispatch comes to that is met so, where the receiver can be made to.
async fn met(receiver: &dyn Receiver, meeting: Meeting) -> Option<(Delivery, Dispatched)> {
    if receiver.lacks().contains(&meeting) {
        return None;
    }
    receiver.meet_next(meeting);
    let delivery = receiver.delivery(effect(1), 1);
    let dispatched = receiver.destination().dispatch(&delivery).await;
    Some((delivery, dispatched))
}

/// After an attempt that was given up: it goes on nowhere, and the next effect is sent as ever.
async fn goes_on(receiver: &dyn Receiver, destination: &Arc<dyn Destination>, given_up: &Delivery) {
    let next = receiver.delivery(effect(2), 1);
    let dispatched = destination.dispatch(&next).await;
    assert!(matches!(dispatched, Dispatched::Accepted { .. }), "{dispatched:?}");
    let key = given_up.idempotency_key();
    let book = (receiver.requests(&key), receiver.records(&key));
    assert_eq!(book, (1, 0), "what was given up was sent again");
    assert_eq!(receiver.requests_total(), 2);
}
