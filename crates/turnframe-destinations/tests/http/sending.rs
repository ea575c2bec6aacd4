//! What goes over the wire, and how it is known that nothing did.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use turnframe_core::id::SubjectId;
use turnframe_core::personal::Personal;
use turnframe_destinations::http::{HEADER_KEY, HttpDestination, LookUp, Operation, When};
use turnframe_destinations::webhooks::Secrets;
use turnframe_runtime::port::{Delivery, Destination, Dispatched, Incoming, Reconciled, Resending};
use turnframe_test::sources::{ManualClock, START};

use crate::wire::{Canned, json as answer, read};
use crate::{TIMEOUT, builder, delivery, effect, is_not_sent, is_unknown, profile, reading};

fn place() -> Operation {
    Operation::post("/orders", reading()).accepted(When::status(201))
}

async fn shop() -> Canned {
    Canned::new(answer(201, r#"{"id":"R-1"}"#)).await
}

fn person(name: Option<&str>) -> Value {
    let subject = SubjectId::new("s-1").expect("a subject");
    let personal = match name {
        Some(name) => Personal::known(subject, name),
        None => Personal::Erased { subject },
    };
    serde_json::to_value(personal).expect("JSON")
}

#[tokio::test]
async fn every_attempt_is_the_same_request_to_the_byte() {
    let shop = shop().await;
    let orders = builder(&shop.url())
        .operation("place", place())
        .header("Authorization", "Bearer secret")
        .build()
        .expect("a declaration");
    let first = delivery(&json!({"name": person(Some("Ada")), "lamps": 2}));
    orders.dispatch(&first).await;
    orders.dispatch(&Delivery { attempt: 2, ..first }).await;
    let requests = shop.requests();
    assert_eq!(requests.len(), 2);
    for request in &requests {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/orders"));
        assert_eq!(request.body, br#"{"lamps":2,"name":"Ada"}"#, "names leave their wrappers");
        assert_eq!(request.headers[HEADER_KEY], effect(1).to_string());
        assert_eq!(request.headers["content-type"], "application/json");
        assert_eq!(request.headers["authorization"], "Bearer secret");
    }
}

#[tokio::test]
async fn an_attempt_is_signed_over_what_is_sent_at_the_clocks_time() {
    let secrets = Secrets::new(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]).expect("a secret");
    let (shop, clock) = (shop().await, Arc::new(ManualClock::new(START)));
    let orders = builder(&shop.url())
        .operation("place", place())
        .signed_with(secrets.clone(), clock)
        .quoting_the_key()
        .build()
        .expect("a declaration");
    orders.dispatch(&delivery(&json!({"lamps": 2}))).await;
    let request = shop.requests().remove(0);
    let incoming = request
        .headers
        .iter()
        .fold(Incoming::new(request.body), |incoming, header| incoming.with(header.0, header.1));
    assert_eq!(secrets.verify(&incoming, START), Ok(effect(1).to_string()));
    assert_eq!(request.headers[HEADER_KEY], format!("\"{}\"", effect(1)));
}

#[tokio::test]
async fn places_of_a_path_are_filled_from_what_is_sent() {
    let shop = shop().await;
    let ship = Operation::put("/orders/{/id}/shipments/{key}", reading())
        .accepted(When::status(201))
        .with_body(|_| Ok(json!({"id": "a/b"})))
        .looked_up_by(LookUp::get("/orders/{/id}", reading()).accepted(When::status(200)));
    let orders = builder(&shop.url()).operation("place", ship).build().expect("a declaration");
    orders.dispatch(&delivery(&json!({}))).await;
    orders.reconcile(&delivery(&json!({}))).await;
    let [put, get] = shop.requests().try_into().expect("two requests");
    let path = format!("/v1/orders/a%2Fb/shipments/{}", effect(1));
    assert_eq!((put.method.as_str(), put.path), ("PUT", path));
    assert_eq!((get.method.as_str(), get.path.as_str()), ("GET", "/v1/orders/a%2Fb"));
    assert!(!get.headers.contains_key(HEADER_KEY), "a look-up asks for nothing to be done");
}

#[tokio::test]
async fn a_look_up_by_the_key_is_made_whatever_was_erased_since_the_attempt() {
    let shop = Canned::new(answer(200, r#"{"id":"R-1"}"#)).await;
    let by_key = LookUp::get("/orders/{key}", reading()).accepted(When::status(200));
    let by_name = LookUp::get("/orders/{/who}", reading()).accepted(When::status(200));
    let orders = builder(&shop.url())
        .operation("place", place().looked_up_by(by_key))
        .operation("ship", place().looked_up_by(by_name))
        .build()
        .expect("a declaration");
    let erased = delivery(&json!({"who": person(None)}));
    let found = orders.reconcile(&erased).await;
    assert!(matches!(found, Reconciled::Found(Dispatched::Accepted { .. })), "{found:?}");
    let unknown = orders.reconcile(&Delivery { operation: "ship".to_owned(), ..erased }).await;
    assert!(matches!(unknown, Reconciled::StillUnknown { .. }), "{unknown:?}");
}

#[tokio::test]
async fn what_cannot_be_asked_is_not_sent() {
    let shop = shop().await;
    let orders = builder(&shop.url())
        .operation("place", place())
        .operation("cancel", place().with_body(|_| Err("there is nothing to cancel".to_owned())))
        .operation("ship", Operation::post("/o/{/id}", reading()).accepted(When::status(201)))
        .build()
        .expect("a declaration");
    let of = |operation: &str, payload: Value| Delivery {
        operation: operation.to_owned(),
        ..delivery(&payload)
    };
    for (delivery, why) in [
        (of("paint", json!({})), "no operation \"paint\""),
        (of("cancel", json!({})), "nothing to cancel"),
        (of("place", json!({"who": person(None)})), "was erased"),
        (of("ship", json!({"id": ".."})), "cannot be filled"),
    ] {
        let dispatched = orders.dispatch(&delivery).await;
        let says_why =
            matches!(&dispatched, Dispatched::NotSent { reason } if reason.contains(why));
        assert!(says_why, "{dispatched:?}");
    }
    assert_eq!(shop.requests().len(), 0);
}

#[tokio::test]
async fn a_host_that_is_nowhere_and_one_that_speaks_no_tls_were_sent_nothing() {
    let nowhere = builder("http://nowhere.invalid").operation("place", place()).build();
    let dispatched = nowhere.expect("a declaration").dispatch(&delivery(&json!({}))).await;
    assert!(is_not_sent(&dispatched), "{dispatched:?}");

    let shop = shop().await;
    let secure = shop.url().replace("http:", "https:");
    let secure = builder(&secure).operation("place", place()).build();
    let dispatched = secure.expect("a declaration").dispatch(&delivery(&json!({}))).await;
    assert!(is_not_sent(&dispatched), "{dispatched:?}");
    assert_eq!(shop.requests().len(), 0);
}

#[tokio::test]
async fn a_handshake_that_stalls_or_breaks_off_was_sent_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("https://{}", listener.local_addr().expect("an address"));
    let stalling = tokio::spawn(async move {
        drop(listener.accept().await.expect("a connection"));
        // The second is never answered, and not closed.
        listener.accept().await.expect("a connection")
    });
    let secure = builder(&address)
        .connect_timeout(TIMEOUT / 8)
        .operation("place", place())
        .build()
        .expect("a declaration");
    for _ in 0..2 {
        let dispatched = secure.dispatch(&delivery(&json!({}))).await;
        assert!(is_not_sent(&dispatched), "{dispatched:?}");
    }
    stalling.await.expect("two connections");
}

#[tokio::test]
async fn an_answer_that_stops_in_its_middle_is_unknown_by_the_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let stopping = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let half = b"HTTP/1.1 201 Created\r\ncontent-length: 12\r\n\r\n{\"id\"";
        stream.write_all(half).await.expect("written");
        stream
    });
    let orders = builder(&address).operation("place", place()).build().expect("a declaration");
    let dispatched = orders.dispatch(&delivery(&json!({}))).await;
    assert!(is_unknown(&dispatched), "{dispatched:?}");
    stopping.await.expect("a connection");
}

/// A receiver on connections that stay open: how many requests it answers on each, and whether that one then breaks off
/// under the next. Answers with how many requests it read.
async fn on_connections(connections: &'static [(usize, bool)]) -> (String, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let serving = tokio::spawn(async move {
        let (mut open, mut requests) = (Vec::new(), 0);
        for (answered, breaks) in connections {
            let (stream, _) = listener.accept().await.expect("a connection");
            let mut stream = BufReader::new(stream);
            for _ in 0..*answered {
                read(&mut stream).await.expect("a request");
                requests += 1;
                let answer = "HTTP/1.1 201 Created\r\ncontent-length: 12\r\n\r\n{\"id\":\"R-1\"}";
                stream.write_all(answer.as_bytes()).await.expect("written");
            }
            if *breaks {
                read(&mut stream).await.expect("a request");
                requests += 1;
            } else {
                open.push(stream);
            }
        }
        requests
    });
    (address, serving)
}

/// What became of so many deliveries, one after another.
async fn sent_in_turn(orders: &HttpDestination, count: usize) -> Vec<Dispatched> {
    let mut seen = Vec::new();
    for _ in 0..count {
        seen.push(orders.dispatch(&delivery(&json!({}))).await);
    }
    seen
}

fn is_accepted(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::Accepted { .. })
}

fn keeping(address: &str) -> HttpDestination {
    builder(address)
        .profile(profile(Resending::IdempotentByKey))
        .keeping_connections(TIMEOUT)
        .operation("place", place())
        .build()
        .expect("a declaration")
}

/// A connection may be dead without anybody knowing, and what fails on it is of unknown outcome.
#[tokio::test]
async fn a_connection_that_idled_is_not_used_again() {
    let (address, serving) = on_connections(&[(1, false), (1, false)]).await;
    let orders = builder(&address).operation("place", place()).build().expect("a declaration");
    let seen = sent_in_turn(&orders, 2).await;
    assert!(seen.iter().all(is_accepted), "{seen:?}");
    assert_eq!(serving.await.expect("two connections"), 2);
}

#[tokio::test]
async fn connections_are_used_again_where_that_is_asked_for() {
    let (address, serving) = on_connections(&[(2, false)]).await;
    let seen = sent_in_turn(&keeping(&address), 2).await;
    assert!(seen.iter().all(is_accepted), "{seen:?}");
    assert_eq!(serving.await.expect("one connection"), 2);
}

#[tokio::test]
async fn what_breaks_off_on_a_kept_connection_is_of_unknown_outcome() {
    let (address, serving) = on_connections(&[(1, true), (1, false)]).await;
    let seen = sent_in_turn(&keeping(&address), 3).await;
    assert!(is_accepted(&seen[0]) && is_unknown(&seen[1]) && is_accepted(&seen[2]), "{seen:?}");
    assert_eq!(serving.await.expect("two connections"), 3, "each was sent, and none twice");
}

#[tokio::test]
async fn what_is_said_of_a_failure_names_no_address_and_no_word_of_the_payload() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let ship = Operation::post("/o/{/name}", reading()).accepted(When::status(201));
    let orders = builder(&address).operation("place", ship).build().expect("a declaration");
    let dispatched = orders.dispatch(&delivery(&json!({"name": person(Some("Ada"))}))).await;
    let Dispatched::NotSent { reason } = dispatched else { unreachable!("{dispatched:?}") };
    assert!(reason.starts_with("no connection was made") && !reason.contains("Ada"), "{reason}");
}
