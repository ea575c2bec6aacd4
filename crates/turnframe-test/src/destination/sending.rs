//! What is sent, and what is said of it when all goes well or nothing goes at all.

use std::collections::BTreeSet;

use turnframe_runtime::port::{Delivery, Dispatched};

use super::{Meeting, Receiver, effect, is_name};

/// How many attempts run at once in [`many_at_once_do_not_get_in_one_anothers_way`].
const AT_ONCE: u64 = 8;

/// One dispatch is one request, and what was taken has a name.
pub async fn what_is_taken_is_accepted_under_a_reference_and_recorded_once(
    receiver: &dyn Receiver,
) {
    let delivery = receiver.delivery(effect(1), 1);
    let taken = receiver.destination().dispatch(&delivery).await;
    let Dispatched::Accepted { reference, .. } = &taken else {
        unreachable!("the receiver took it: {taken:?}");
    };
    assert!(is_name(reference), "the ledger keeps no such reference: {reference:?}");
    let key = delivery.idempotency_key();
    assert_eq!((receiver.requests(&key), receiver.records(&key)), (1, 1));
    assert_eq!(receiver.requests_total(), 1, "one dispatch is one request");
}

/// The key is the effect's, whatever the attempt.
pub async fn every_attempt_carries_the_same_key(receiver: &dyn Receiver) {
    let destination = receiver.destination();
    for attempt in 1..=3 {
        destination.dispatch(&receiver.delivery(effect(1), attempt)).await;
    }
    let key = receiver.delivery(effect(1), 1).idempotency_key();
    assert_eq!(receiver.requests(&key), 3, "the receiver reads the effect's key each time");
    assert_eq!(receiver.requests_total(), 3);
    destination.dispatch(&receiver.delivery(effect(2), 1)).await;
    assert_eq!(receiver.requests(&key), 3, "another effect has another key");
    let other = receiver.delivery(effect(2), 1).idempotency_key();
    assert_eq!(receiver.requests(&other), 1);
}

/// A case decides by the code.
pub async fn a_refusal_has_a_code_that_stays_the_same(receiver: &dyn Receiver) {
    let destination = receiver.destination();
    let mut codes = BTreeSet::new();
    for number in 1..=2 {
        receiver.meet_next(Meeting::Refuse);
        let delivery = receiver.delivery(effect(number), 1);
        let refused = destination.dispatch(&delivery).await;
        let Dispatched::Rejected { code, .. } = refused else {
            unreachable!("the receiver refused it: {refused:?}");
        };
        assert!(is_name(&code), "the ledger keeps no such code: {code:?}");
        codes.insert(code);
        let key = delivery.idempotency_key();
        assert!(receiver.requests(&key) <= 1, "a refusal is not tried again");
        assert_eq!(receiver.records(&key), 0);
    }
    assert_eq!(codes.len(), 1, "one reason has one code: {codes:?}");
}

/// What cannot be asked is not asked.
pub async fn an_operation_that_it_does_not_have_is_not_sent(receiver: &dyn Receiver) {
    let operation = "no-such-operation".to_owned();
    let delivery = Delivery { operation, ..receiver.delivery(effect(1), 1) };
    let dispatched = receiver.destination().dispatch(&delivery).await;
    assert!(matches!(dispatched, Dispatched::NotSent { .. }), "{dispatched:?}");
    assert_eq!(receiver.requests_total(), 0);
}

/// A refused connection is the plainest proof that nothing was sent.
pub async fn where_nothing_listens_nothing_was_sent(receiver: &dyn Receiver) {
    receiver.go_away().await;
    let dispatched = receiver.destination().dispatch(&receiver.delivery(effect(1), 1)).await;
    let is_not_sent = matches!(dispatched, Dispatched::NotSent { .. });
    assert!(is_not_sent, "a refused connection proves that nothing was sent: {dispatched:?}");
}

/// A destination is shared by all attempts that run at once.
pub async fn many_at_once_do_not_get_in_one_anothers_way(receiver: &dyn Receiver) {
    let destination = receiver.destination();
    let deliveries: Vec<_> =
        (1..=AT_ONCE).map(|number| receiver.delivery(effect(number), 1)).collect();
    let sent = deliveries.iter().map(|delivery| destination.dispatch(delivery));
    for (delivery, dispatched) in deliveries.iter().zip(futures::future::join_all(sent).await) {
        assert!(matches!(dispatched, Dispatched::Accepted { .. }), "{dispatched:?}");
        let key = delivery.idempotency_key();
        assert_eq!((receiver.requests(&key), receiver.records(&key)), (1, 1));
    }
}
