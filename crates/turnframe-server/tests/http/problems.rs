//! Every refusal: its status, its code, its page, and that nothing was written for it.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use turnframe_server::{Problem, ServerLimits};

use crate::host::{Answer, Desk, Host, Setup, click, with_a_ledger_that_can_go};

/// What RFC 9457 asks of a problem, and we of ours.
#[track_caller]
fn assert_problem(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.code().as_str()), (status, code), "{}", answer.text);
    let problem = answer.json();
    assert_eq!(problem["type"], format!("/problems/{code}"));
    assert_eq!(problem["status"], status);
    assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()));
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.ends_with('.')));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

/// A conversation with a loan and an open card to confirm its order.
async fn with_a_card(host: &Host) -> (Desk<'_>, serde_json::Value) {
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    (ada, card)
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused_and_nothing_is_written() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let before = host.head("acme").await;
    let deep = format!(r#"{{"x":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(64 * 1024));
    for (body, status, code) in [
        ("", 400, "malformed_json"),
        ("{\"text\":", 400, "malformed_json"),
        (r#"{"text":"\ud800"}"#, 400, "malformed_json"),
        (r#"{"text":"a\udc00b"}"#, 400, "malformed_json"),
        (&deep, 400, "malformed_json"),
        (r#"{"turn":"a b","text":"hi"}"#, 400, "invalid_id"),
        (r#"{"turn":"","text":"hi"}"#, 400, "invalid_id"),
        (r#"{"turn":"a\u0000b","text":"hi"}"#, 400, "invalid_id"),
        (&long, 413, "body_too_large"),
        (r#"{"text":7}"#, 422, "wrong_shape"),
        ("[]", 422, "wrong_shape"),
        ("{}", 422, "empty_turn"),
        (r#"{"text":"a\u0000b"}"#, 422, "unreadable_message"),
        (r#"{"text":"  "}"#, 422, "unreadable_message"),
        (r#"{"text":"hi","origin":"a\u0000b"}"#, 404, "not_found"),
        (r#"{"text":"hi","origin":"somewhere"}"#, 404, "not_found"),
    ] {
        let answer = ada.post_to(&ada.path("turns"), body, &[]).await;
        assert_problem(&answer, status, code);
    }
    for media_type in ["text/plain", "application/x-www-form-urlencoded"] {
        let bearer = format!("Bearer {}", crate::host::ADA);
        let headers = [("authorization", bearer.as_str()), ("content-type", media_type)];
        let answer = host.send(Method::POST, &ada.path("turns"), &headers, Some(b"{}")).await;
        assert_problem(&answer, 415, "unsupported_media_type");
    }
    assert_eq!(host.head("acme").await, before);
    ada.say("t-next", "note large print").await.ok();
}

#[tokio::test]
async fn case_12_and_21_forged_clicks_and_receipts_are_refused_and_nothing_is_written() {
    let host = Host::start().await;
    let (ada, card) = with_a_card(&host).await;
    let before = host.head("acme").await;
    let forged = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut response = click(&card, "confirm");
        change(&mut response);
        json!({ "turn": "t-forged", "response": response })
    };
    let never_was = "01890000-0000-7000-8000-000000000001";
    for (body, status, code) in [
        (forged(&|it| it["option"] = json!("approve")), 422, "no_such_option"),
        (forged(&|it| it["expected_revision"] = json!(99)), 422, "wrong_revision"),
        (forged(&|it| it["value"] = json!("1000")), 422, "wrong_value"),
        (forged(&|it| it["interaction"] = json!(never_was)), 404, "not_found"),
        (forged(&|it| it["interaction"] = json!("7")), 400, "invalid_id"),
        (forged(&|it| it["command"] = json!({"order": {"title": "Other"}})), 422, "unknown_field"),
        (forged(&|it| it["case"] = json!("desk/1")), 422, "unknown_field"),
        (json!({"text": "hi", "approved": true}), 422, "unknown_field"),
        (json!({"text": "hi", "account": "beta"}), 422, "unknown_field"),
        (json!({"text": "hi", "blocks": [{"type": "receipt"}]}), 422, "unknown_field"),
        (json!({"text": "hi", "role": "tool"}), 422, "unknown_field"),
    ] {
        assert_problem(&ada.post(&body).await, status, code);
    }
    assert_eq!(host.head("acme").await, before);
    assert!(host.office.book().is_empty());
    assert_eq!(ada.only_card().await, card, "the card is still there to be answered");
}

#[tokio::test]
async fn a_value_goes_only_where_the_option_takes_one() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    ada.say("t1", "open a loan of Emma").await.ok();
    let card = ada.only_card().await;
    let before = host.head("acme").await;
    for value in [json!(null), json!(""), json!("a\0b"), json!("x".repeat(61))] {
        let mut response = click(&card, "elsewhere");
        response["value"] = value;
        let answer = ada.post(&json!({ "turn": "t2", "response": response })).await;
        assert_problem(&answer, 422, "wrong_value");
    }
    assert_eq!(host.head("acme").await, before);
    let mut response = click(&card, "elsewhere");
    response["value"] = json!("Harbour");
    let answer = ada.post(&json!({ "turn": "t2", "response": response })).await.ok();
    assert_eq!(answer["acts"][0]["result"], "applied");
}

#[tokio::test]
async fn l16_a_turn_id_with_other_content_is_refused_and_nothing_is_written() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    ada.say("t1", "note large print").await.ok();
    let before = host.head("acme").await;
    assert_problem(&ada.say("t1", "order it").await, 422, "turn_reused");
    assert_eq!(host.head("acme").await, before);
}

#[tokio::test]
async fn who_has_no_known_token_is_told_nothing_else() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let transcript = ada.path("transcript");
    for headers in [
        &[][..],
        &[("authorization", "Bearer the-token-of-nobody-here")],
        &[("authorization", "Basic dGhlLXRva2VuLW9mLWFkYS1hdC1hY21l")],
        &[("authorization", "Bearer ")],
    ] {
        for path in [transcript.as_str(), "/v1/conversations/missing/cards"] {
            let answer = host.send(Method::GET, path, headers, None).await;
            assert_problem(&answer, 401, "unauthenticated");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
}

#[tokio::test]
async fn paths_methods_and_parameters_that_are_not_there_are_problems_too() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    for path in ["/", "/v1", "/v1/conversations/c1", "/problems/no_such_problem"] {
        assert_problem(&host.send(Method::GET, path, &[], None).await, 404, "not_found");
    }
    let answer = host.send(Method::DELETE, &ada.path("turns"), &[], None).await;
    assert_problem(&answer, 405, "method_not_allowed");
    assert_eq!(answer.header("allow"), Some("POST"));
    for query in ["transcript?after=x", "transcript?limit=-1", "events?after=x"] {
        assert_problem(&ada.get(query).await, 400, "invalid_parameter");
    }
    for conversation in ["a%20b", "a%00b", "%ff", "x%2Fy"] {
        let path = format!("/v1/conversations/{conversation}/cards");
        let bearer = format!("Bearer {}", crate::host::ADA);
        let answer = host.send(Method::GET, &path, &[("authorization", &bearer)], None).await;
        assert_problem(&answer, 400, "invalid_id");
    }
}

#[tokio::test]
async fn every_problem_has_a_page() {
    let host = Host::start().await;
    for problem in Problem::ALL {
        let path = format!("/problems/{}", problem.code());
        let page = host.send(Method::GET, &path, &[], None).await.ok();
        assert_eq!(page["type"], path);
        assert_eq!(page["status"], problem.status().as_u16());
    }
}

#[tokio::test]
async fn a_conversation_that_is_full_says_when_to_come_back() {
    let limits = ServerLimits { turn_wait: Duration::from_millis(20), ..ServerLimits::default() };
    let setup = Setup { limits, turns_waiting_max: 1, is_gate_open: false, ..Setup::default() };
    let host = Host::start_with(setup).await;
    let ada = host.ada().open().await;
    assert_eq!(ada.say("t1", "hello").await.status, 202, "it was accepted, and waits");
    let before = host.head("acme").await;
    let answer = ada.say("t2", "hello").await;
    assert_problem(&answer, 429, "overloaded");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(host.head("acme").await, before);
}

#[tokio::test]
async fn a_turn_of_unknown_fate_is_not_called_accepted() {
    let wait = Duration::from_millis(50);
    let limits = ServerLimits { turn_wait: wait, ledger_wait: wait, ..ServerLimits::default() };
    let (host, switch) = with_a_ledger_that_can_go(limits).await;
    let ada = host.ada().open().await;
    switch.crash();
    let answer = ada.say("t1", "hello").await;
    assert_problem(&answer, 503, "unavailable");
    assert_eq!(answer.header("retry-after"), Some("2"));
    assert_eq!(answer.json()["turn"], "t1", "the turn to send again");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_not_waited_for() {
    let limits = ServerLimits { body_wait: Duration::from_millis(50), ..ServerLimits::default() };
    let host = Host::start_with(Setup { limits, ..Setup::default() }).await;
    host.ada().open().await;
    let before = host.head("acme").await;
    let head = format!(
        "POST /v1/conversations/c1/turns HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        crate::host::ADA
    );
    let answer = host.raw(head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains(r#""code":"body_timeout""#), "{answer}");
    assert_eq!(host.head("acme").await, before);
}

#[tokio::test]
async fn health_is_asked_without_a_token_and_says_whether_the_ledger_answers() {
    let limits = ServerLimits { ledger_wait: Duration::from_millis(50), ..ServerLimits::default() };
    let (host, switch) = with_a_ledger_that_can_go(limits).await;
    host.ada().loan().await;
    let health = host.send(Method::GET, "/healthz", &[], None).await.ok();
    assert_eq!(health["status"], "ok");
    assert_eq!(health["ledger"], "reachable");
    assert_eq!(health["live"], json!({ "conversations": 1, "cases": 1 }));
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    switch.crash();
    let answer = host.send(Method::GET, "/healthz", &[], None).await;
    assert_eq!(answer.status, 503);
    assert_eq!(answer.json()["ledger"], "unreachable");
}
