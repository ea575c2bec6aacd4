//! What answers come to: what was declared of them, and nothing besides.

use serde_json::json;
use turnframe_core::canonical::Json;
use turnframe_destinations::http::{
    ANSWER_MAX_BYTES, Code, LookUp, Operation, Reading, Reference, When,
};
use turnframe_runtime::effect::REFERENCE_MAX_CHARS;
use turnframe_runtime::port::{Destination, Dispatched, Reconciled};

use crate::wire::{Canned, json as answer, with_headers};
use crate::{builder, delivery, effect, is_not_sent, is_unknown, reading};

/// What a dispatch comes to whose request is answered with these bytes.
async fn dispatched(operation: Operation, bytes: impl Into<Vec<u8>>) -> Dispatched {
    let server = Canned::new(bytes).await;
    let orders = builder(&server.url()).operation("place", operation).build();
    let dispatched = orders.expect("a declaration").dispatch(&delivery(&json!({}))).await;
    assert_eq!(server.requests().len(), 1, "one dispatch is one request");
    dispatched
}

async fn looked_up(look_up: LookUp, bytes: impl Into<Vec<u8>>) -> Reconciled {
    let server = Canned::new(bytes).await;
    let operation = place().looked_up_by(look_up);
    let orders = builder(&server.url()).operation("place", operation).build();
    let found = orders.expect("a declaration").reconcile(&delivery(&json!({}))).await;
    let requests = server.requests();
    assert_eq!((requests.len(), requests[0].method.as_str()), (1, "GET"));
    found
}

fn place() -> Operation {
    Operation::post("/orders", reading())
        .accepted(When::status(201))
        .rejected(When::status(422))
        .not_sent(When::status(503).with_header("x-not-processed"))
}

fn accepted(reference: &str) -> Dispatched {
    Dispatched::Accepted { reference: reference.to_owned(), details: Json::default() }
}

#[tokio::test]
async fn a_declared_answer_is_what_it_was_declared_to_be() {
    let taken = dispatched(place(), answer(201, r#"{"id":"R-1","more":1}"#)).await;
    assert_eq!(taken, accepted("R-1"));
    let numbered = dispatched(place(), answer(201, r#"{"id":42}"#)).await;
    assert_eq!(numbered, accepted("42"));
    let refused = dispatched(place(), answer(422, r#"{"code":"sold_out"}"#)).await;
    assert_eq!(refused, Dispatched::rejected("sold_out"));
}

#[tokio::test]
async fn i15_no_status_means_anything_that_was_not_declared() {
    let body = r#"{"id":"R-1","code":"no"}"#;
    for status in [
        200, 202, 204, 206, 301, 302, 304, 307, 308, 400, 401, 403, 404, 408, 409, 425, 429, 500,
        502, 503, 504, 599,
    ] {
        let unknown = dispatched(place(), answer(status, body)).await;
        assert!(is_unknown(&unknown), "{status}: {unknown:?}");
    }
}

#[tokio::test]
async fn only_an_answer_that_proves_it_says_that_nothing_was_processed() {
    let proof = dispatched(place(), with_headers(503, "x-not-processed: 1\r\n", "")).await;
    assert!(is_not_sent(&proof), "{proof:?}");
    let gateway = dispatched(place(), with_headers(503, "retry-after: 1\r\n", "")).await;
    assert!(is_unknown(&gateway), "{gateway:?}");
}

#[tokio::test]
async fn an_accepting_status_without_its_reference_accepts_nothing() {
    let long = "x".repeat(REFERENCE_MAX_CHARS + 1);
    for body in [
        "".to_owned(),
        "<html>Welcome</html>".to_owned(),
        r#"{"id":"R-1""#.to_owned(),
        r#"{"other":"R-1"}"#.to_owned(),
        r#"{"id":" "}"#.to_owned(),
        r#"{"id":"R\n1"}"#.to_owned(),
        r#"{"id":1.5}"#.to_owned(),
        r#"{"id":["R-1"]}"#.to_owned(),
        format!(r#"{{"id":"{long}"}}"#),
    ] {
        let unknown = dispatched(place(), answer(201, &body)).await;
        assert!(is_unknown(&unknown), "{body}: {unknown:?}");
        let unknown = dispatched(place(), answer(422, &body)).await;
        assert!(is_unknown(&unknown), "{body}: {unknown:?}");
    }
    let cut = "HTTP/1.1 201 Created\r\ncontent-length: 90\r\n\r\n{\"id\":\"R-1\"}";
    let unknown = dispatched(place(), cut).await;
    assert!(is_unknown(&unknown), "{unknown:?}");
}

#[tokio::test]
async fn an_answer_is_read_up_to_a_length() {
    let of = |length: usize| {
        let padding = "x".repeat(length - r#"{"id":"R-1","p":""}"#.len());
        answer(201, &format!(r#"{{"id":"R-1","p":"{padding}"}}"#))
    };
    assert_eq!(dispatched(place(), of(ANSWER_MAX_BYTES)).await, accepted("R-1"));
    let unknown = dispatched(place(), of(ANSWER_MAX_BYTES + 1)).await;
    let is_too_long =
        matches!(&unknown, Dispatched::Unknown { reason } if reason.contains("longer than"));
    assert!(is_too_long, "{unknown:?}");
}

#[tokio::test]
async fn where_the_receiver_knows_it_by_the_key_the_status_speaks_alone() {
    let bare = Reading::new(Reference::Key, Code::Status).keeping("/kept");
    let place = || {
        Operation::post("/orders", bare.clone())
            .accepted(When::status(202))
            .rejected(When::status(409))
    };
    let taken = accepted(&effect(1).to_string());
    let cut = "HTTP/1.1 202 Accepted\r\ncontent-length: 90\r\n\r\n{".to_owned();
    for body in [answer(202, ""), answer(202, "<html>"), cut] {
        assert_eq!(dispatched(place(), body).await, taken, "what was to be kept is lost");
    }
    assert_eq!(dispatched(place(), answer(409, "")).await, Dispatched::rejected("409"));
    let kept = dispatched(place(), answer(409, r#"{"kept":{"b":1,"a":2},"name":"Ada"}"#)).await;
    let details = Json::of(&json!({"a": 2, "b": 1})).expect("JSON");
    assert_eq!(kept, Dispatched::Rejected { code: "409".to_owned(), details });
}

#[tokio::test]
async fn declarations_that_contradict_one_another_settle_nothing() {
    let place = || {
        Operation::post("/orders", reading())
            .accepted(When::status(200))
            .rejected(When::status(200).with_field("/state", "refused"))
    };
    let both = r#"{"id":"R-1","code":"no","state":"refused"}"#;
    let unknown = dispatched(place(), answer(200, both)).await;
    assert!(is_unknown(&unknown), "{unknown:?}");
    let one = r#"{"id":"R-1","code":"no","state":"taken"}"#;
    assert_eq!(dispatched(place(), answer(200, one)).await, accepted("R-1"));
}

#[tokio::test]
async fn a_look_up_finds_what_was_declared_to_be_found() {
    let look_up = || {
        LookUp::get("/orders/{key}", reading())
            .accepted(When::status(200).with_field("/state", "taken"))
            .rejected(When::status(200).with_field("/state", "refused"))
            .not_found(When::status(404).with_field("/code", "unknown_key"))
    };
    let taken = looked_up(look_up(), answer(200, r#"{"state":"taken","id":"R-1"}"#)).await;
    assert_eq!(taken, Reconciled::Found(accepted("R-1")));
    let refused = looked_up(look_up(), answer(200, r#"{"state":"refused","code":"no"}"#)).await;
    assert_eq!(refused, Reconciled::Found(Dispatched::rejected("no")));
    let not_found = looked_up(look_up(), answer(404, r#"{"code":"unknown_key"}"#)).await;
    assert_eq!(not_found, Reconciled::NotFound);
    for (status, body) in [
        (200, r#"{"state":"pending","id":"R-1"}"#),
        (200, "<html>"),
        (200, r#"{"state":"taken"}"#),
        (404, "no such route"),
        (404, r#"{"code":"no_route"}"#),
        (500, r#"{"state":"taken","id":"R-1"}"#),
    ] {
        let unknown = looked_up(look_up(), answer(status, body)).await;
        let is_unknown = matches!(unknown, Reconciled::StillUnknown { .. });
        assert!(is_unknown, "{status} {body}: {unknown:?}");
    }
}

#[tokio::test]
async fn without_a_look_up_what_is_unknown_stays_so() {
    let server = Canned::new(answer(200, "{}")).await;
    let orders = builder(&server.url()).operation("place", place()).build().expect("a declaration");
    let unknown = orders.reconcile(&delivery(&json!({}))).await;
    assert!(matches!(unknown, Reconciled::StillUnknown { .. }), "{unknown:?}");
    assert_eq!(server.requests().len(), 0);
}
