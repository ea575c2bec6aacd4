//! The destination against the simulator, over real sockets.

use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, any};
use jiff::civil::date;
use tokio::net::TcpListener;
use turnframe_core::canonical::Json;
use turnframe_core::personal::Personal;
use turnframe_runtime::port::{
    Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};

use super::*;
use crate::testing::{effect, subject};

fn order(place: &str) -> RebookingOrder {
    RebookingOrder {
        destination: place.to_owned(),
        date: Some(date(2026, 5, 3)),
        departure: Some(date(2026, 5, 3).at(9, 0, 0, 0)),
        travellers: vec![Personal::known(subject("traveller:1"), "Ada Ferri".to_owned())],
        protected_legs: vec!["LIS-FRA".to_owned()],
    }
}

fn delivery(number: u128) -> Delivery {
    let request = order("Lisbon").request();
    let (operation, payload) = (request.operation, request.payload);
    Delivery { effect: effect(number), attempt: 1, operation, payload }
}

fn key(number: u128) -> String {
    delivery(number).idempotency_key()
}

async fn airline() -> (AirlineSimulator, AirlineDestination) {
    let simulator = AirlineSimulator::start().await.expect("a free port");
    let destination = AirlineDestination::new(&simulator.url()).expect("an address");
    (simulator, destination)
}

fn impatient(destination: AirlineDestination) -> AirlineDestination {
    let timeout = Duration::from_millis(300);
    destination.with_profile(DestinationProfile { timeout, ..DestinationProfile::default() })
}

fn details(status: &str, sequence: u32) -> Json {
    Json::of(&serde_json::json!({"status": status, "sequence": sequence})).expect("JSON")
}

fn received(reference: &str) -> Dispatched {
    Dispatched::Accepted { reference: reference.to_owned(), details: details("received", 1) }
}

fn is_unknown(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::Unknown { .. })
}

/// Unknown because the connection went, and not because the sender lost patience.
fn is_dropped(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::Unknown { reason } if !reason.contains("timed out"))
}

fn is_not_sent(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::NotSent { .. })
}

#[tokio::test]
async fn an_order_is_taken_under_a_reference_and_arrives_with_plain_names() {
    let (simulator, destination) = airline().await;
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    let book = simulator.book();
    let request = &book.performed(&key(1)).expect("performed").request;
    assert_eq!(request.travellers, ["Ada Ferri"]);
    assert_eq!(request.destination, "Lisbon");
    assert_eq!(request.protected_legs, ["LIS-FRA"]);
    simulator.stop().await.expect("it stops");
}

#[tokio::test]
async fn a_refusal_carries_the_airlines_code_and_stands() {
    let (simulator, destination) = airline().await;
    simulator.next(Behaviour::Refuse { code: "fully_booked".to_owned() });
    let refused = Dispatched::rejected("fully_booked");
    // What is looked up comes with the airline's count.
    let details = Json::of(&serde_json::json!({"status": "refused", "sequence": 1}));
    let (code, details) = ("fully_booked".to_owned(), details.expect("JSON"));
    let counted = Dispatched::Rejected { code, details };
    assert_eq!(destination.dispatch(&delivery(1)).await, refused);
    assert_eq!(destination.dispatch(&delivery(1)).await, refused, "the first record stands");
    assert_eq!(destination.reconcile(&delivery(1)).await, Reconciled::Found(counted));
    assert_eq!(simulator.book().rebookings(), 0);
}

#[tokio::test]
async fn case_4_a_connection_that_drops_after_the_effect_leaves_an_unknown_and_one_entry() {
    let (simulator, destination) = airline().await;
    simulator.next(Behaviour::DropAfterCommit);
    let dispatched = destination.dispatch(&delivery(1)).await;
    assert!(is_dropped(&dispatched), "{dispatched:?}");
    let book = simulator.book();
    assert_eq!(book.received(&key(1)).len(), 1, "nothing below sends a second time");
    assert_eq!(book.rebookings(), 1);

    let found = destination.reconcile(&delivery(1)).await;
    assert_eq!(found, Reconciled::Found(received("R-0001")));
    assert_eq!(simulator.book().rebookings(), 1);
}

#[tokio::test]
async fn a_connection_that_drops_before_the_effect_looks_the_same_and_left_nothing() {
    let (simulator, destination) = airline().await;
    simulator.next(Behaviour::DropBeforeCommit);
    let dispatched = destination.dispatch(&delivery(1)).await;
    assert!(is_dropped(&dispatched), "{dispatched:?}");
    assert_eq!(simulator.book().received(&key(1)).len(), 1);
    assert_eq!(simulator.book().rebookings(), 0);
    assert_eq!(destination.reconcile(&delivery(1)).await, Reconciled::NotFound);
}

#[tokio::test]
async fn a_key_has_at_most_one_effect_however_often_it_arrives() {
    let (simulator, destination) = airline().await;
    simulator.next(Behaviour::DropAfterCommit);
    simulator.next(Behaviour::ErrorAfterCommit);
    for _ in 0..2 {
        assert!(is_unknown(&destination.dispatch(&delivery(1)).await));
    }
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    assert_eq!(destination.dispatch(&delivery(2)).await, received("R-0002"));
    let book = simulator.book();
    assert_eq!((book.received(&key(1)).len(), book.rebookings()), (3, 2));
    assert_eq!((book.received_total(), book.all_performed().count()), (4, 2));
}

#[tokio::test]
async fn a_key_that_stands_for_another_order_is_refused() {
    let (simulator, destination) = airline().await;
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    let other = Delivery { payload: order("Rome").request().payload, ..delivery(1) };
    let refused = Dispatched::rejected("key_reused");
    assert_eq!(destination.dispatch(&other).await, refused);
    let book = simulator.book();
    assert_eq!(book.performed(&key(1)).expect("performed").request.destination, "Lisbon");
}

#[tokio::test]
async fn an_airline_that_does_not_listen_was_sent_nothing() {
    let (simulator, destination) = airline().await;
    let address = simulator.address();
    simulator.stop().await.expect("it stops");
    let dispatched = destination.dispatch(&delivery(1)).await;
    assert!(is_not_sent(&dispatched), "{dispatched:?}");
    let looked_up = destination.reconcile(&delivery(1)).await;
    assert!(matches!(looked_up, Reconciled::StillUnknown { .. }), "{looked_up:?}");

    let back = AirlineSimulator::start_at(address).await.expect("the port is free again");
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    assert_eq!(back.book().received_total(), 1);
}

#[tokio::test]
async fn only_a_proof_makes_a_busy_airline_one_that_was_sent_nothing() {
    let (simulator, destination) = airline().await;
    simulator.next(Behaviour::Busy { proof: true });
    simulator.next(Behaviour::Busy { proof: false });
    assert!(is_not_sent(&destination.dispatch(&delivery(1)).await));
    assert!(is_unknown(&destination.dispatch(&delivery(1)).await), "Retry-After proves nothing");
    assert_eq!(simulator.book().rebookings(), 0);
}

#[tokio::test]
async fn errors_and_answers_that_cannot_be_read_are_unknown() {
    let (simulator, destination) = airline().await;
    for behaviour in [Behaviour::ServerError, Behaviour::ErrorAfterCommit, Behaviour::Garbled] {
        simulator.next(behaviour.clone());
        let dispatched = destination.dispatch(&delivery(1)).await;
        assert!(is_unknown(&dispatched), "{behaviour:?}: {dispatched:?}");
    }
}

#[tokio::test]
async fn silence_is_unknown_and_the_airline_may_act_on_it_later() {
    let (simulator, destination) = airline().await;
    let destination = impatient(destination);
    simulator.next(Behaviour::Hang);
    assert!(is_unknown(&destination.dispatch(&delivery(1)).await));
    assert_eq!(destination.reconcile(&delivery(1)).await, Reconciled::NotFound);

    simulator.next(Behaviour::Delay(Duration::from_millis(400)));
    assert!(is_unknown(&destination.dispatch(&delivery(2)).await));
    simulator.until(|book| book.performed(&key(2)).is_some()).await;
    let found = destination.reconcile(&delivery(2)).await;
    assert_eq!(found, Reconciled::Found(received("R-0001")));
    simulator.stop().await.expect("what hangs does not keep it from stopping");
}

#[tokio::test]
async fn a_look_up_that_gives_no_answer_is_still_unknown() {
    let (simulator, destination) = airline().await;
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    simulator.fail_lookups(1);
    let looked_up = destination.reconcile(&delivery(1)).await;
    assert!(matches!(looked_up, Reconciled::StillUnknown { .. }));
    let found = destination.reconcile(&delivery(1)).await;
    assert_eq!(found, Reconciled::Found(received("R-0001")));
}

#[tokio::test]
async fn a_decision_of_the_airline_counts_its_statements() {
    let (simulator, destination) = airline().await;
    assert!(simulator.confirm(&key(1)).is_none(), "there is nothing to decide");
    assert_eq!(destination.dispatch(&delivery(1)).await, received("R-0001"));
    let callback = simulator.confirm(&key(1)).expect("a callback");
    assert_eq!((callback.key, callback.statement.sequence), (effect(1), 2));
    let reference = "R-0001".to_owned();
    let confirmed = Dispatched::Accepted { reference, details: details("confirmed", 2) };
    assert_eq!(destination.reconcile(&delivery(1)).await, Reconciled::Found(confirmed));
    let callback = simulator.refuse(&key(1), "withdrawn_by_carrier").expect("a callback");
    assert_eq!(callback.statement.sequence, 3);
    assert!(simulator.confirm(&key(1)).is_none(), "a refusal has no reference to confirm");
}

#[tokio::test]
async fn a_rule_meets_what_nothing_else_was_set_for() {
    let (simulator, destination) = airline().await;
    let first = key(1);
    simulator.rule(move |key, request| {
        let refuses = key == first && request.destination == "Lisbon";
        refuses.then(|| Behaviour::Refuse { code: "no".to_owned() })
    });
    let refused = Dispatched::rejected("no");
    assert_eq!(destination.dispatch(&delivery(1)).await, refused);
    assert_eq!(destination.dispatch(&delivery(2)).await, received("R-0001"));
    simulator.next(Behaviour::ServerError);
    assert!(is_unknown(&destination.dispatch(&delivery(3)).await), "what was set comes first");
}

#[tokio::test]
async fn what_cannot_be_an_order_is_not_sent() {
    let (simulator, destination) = airline().await;
    let odd = |operation: &str, payload: Json| Delivery {
        operation: operation.to_owned(),
        payload,
        ..delivery(1)
    };
    let nothing = Json::of(&serde_json::json!({})).expect("JSON");
    let mut forgotten = order("Lisbon");
    forgotten.travellers = vec![Personal::Erased { subject: subject("traveller:1") }];
    for odd in [
        odd("fly", delivery(1).payload),
        odd(OPERATION_REBOOK, nothing),
        odd(OPERATION_REBOOK, forgotten.request().payload),
    ] {
        assert!(is_not_sent(&destination.dispatch(&odd).await), "{odd:?}");
    }
    assert_eq!(simulator.book().received_total(), 0);
}

/// A server that gives everybody one and the same answer.
async fn answering(status: StatusCode, body: &'static str) -> AirlineDestination {
    serving(any(move || async move { (status, body).into_response() })).await
}

async fn serving(answer: MethodRouter) -> AirlineDestination {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let app = Router::new().fallback_service(answer);
    tokio::spawn(axum::serve(listener, app).into_future());
    AirlineDestination::new(&format!("http://{address}/v1")).expect("an address")
}

#[tokio::test]
async fn a_redirect_is_not_followed_to_a_second_sending() {
    let (simulator, _) = airline().await;
    let elsewhere = format!("{}/rebookings", simulator.url());
    let answer = move || {
        let location = [("location", elsewhere.clone())];
        async move { (StatusCode::TEMPORARY_REDIRECT, location).into_response() }
    };
    let redirected = serving(any(answer)).await.dispatch(&delivery(1)).await;
    assert!(is_unknown(&redirected), "{redirected:?}");
    assert_eq!(simulator.book().received_total(), 0);
}

#[tokio::test]
async fn a_refusal_is_only_what_the_airline_says_in_a_body_that_can_be_read() {
    let code = r#"{"code":"no"}"#;
    for status in [400, 403, 404, 410, 422] {
        let status = StatusCode::from_u16(status).expect("a status");
        let refused = answering(status, code).await.dispatch(&delivery(1)).await;
        assert_eq!(refused, Dispatched::rejected("no"), "{status}");
        let unreadable = answering(status, "<html>").await.dispatch(&delivery(1)).await;
        assert!(is_unknown(&unreadable), "{status}: {unreadable:?}");
    }
    for status in [200, 201, 204, 302, 307, 408, 409, 425, 429, 500, 502, 503, 504] {
        let status = StatusCode::from_u16(status).expect("a status");
        let unknown = answering(status, code).await.dispatch(&delivery(1)).await;
        assert!(is_unknown(&unknown), "{status}: {unknown:?}");
    }
}

#[tokio::test]
async fn what_the_ledger_cannot_keep_is_no_reference_and_no_code() {
    let nul = r#"{"reference":"R\u0000"}"#;
    let taken = answering(StatusCode::ACCEPTED, nul).await.dispatch(&delivery(1)).await;
    assert!(is_unknown(&taken), "{taken:?}");
    let blank = r#"{"code":" "}"#;
    let refused = answering(StatusCode::BAD_REQUEST, blank).await.dispatch(&delivery(1)).await;
    assert!(is_unknown(&refused), "{refused:?}");
    let bare = r#"{"reference":"R-7"}"#;
    let taken = answering(StatusCode::ACCEPTED, bare).await.dispatch(&delivery(1)).await;
    let is_taken = matches!(taken, Dispatched::Accepted { reference, .. } if reference == "R-7");
    assert!(is_taken, "a bare reference is enough");
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let long = Box::leak("x".repeat(1 << 20).into_boxed_str());
    let unknown = answering(StatusCode::ACCEPTED, long).await.dispatch(&delivery(1)).await;
    let is_too_long =
        matches!(&unknown, Dispatched::Unknown { reason } if reason.contains("too long"));
    assert!(is_too_long, "{unknown:?}");
}

#[tokio::test]
async fn a_404_of_whatever_stands_in_between_is_no_not_found() {
    let gateway = answering(StatusCode::NOT_FOUND, "no such route").await;
    let looked_up = gateway.reconcile(&delivery(1)).await;
    assert!(matches!(looked_up, Reconciled::StillUnknown { .. }), "{looked_up:?}");
    let airline = answering(StatusCode::NOT_FOUND, r#"{"code":"unknown_key"}"#).await;
    assert_eq!(airline.reconcile(&delivery(1)).await, Reconciled::NotFound);
}

#[test]
fn an_attempt_of_unknown_outcome_is_looked_up_and_not_sent_again() {
    let destination = AirlineDestination::new("http://127.0.0.1:9").expect("an address");
    assert_eq!(destination.profile().resending, Resending::Never);
    assert_eq!(destination.key().as_str(), DESTINATION);
}

#[test]
fn an_address_is_absolute_http() {
    for address in ["", "airline", "ftp://airline", "mailto:desk@airline"] {
        let refused = AirlineDestination::new(address);
        assert!(matches!(refused, Err(AirlineAddressError::Address(_))), "{address}");
    }
}
