//! Operators: who is one, what waits for one, and what becomes of a decision.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use turnframe_runtime::port::DestinationProfile;
use turnframe_test::postgres;
use turnframe_test::script::Behaviour;

use crate::elsewhere::{bystander, owner_with};
use crate::host::{ADA, Answer, GRACE, Host, Setup};

const EFFECTS: &str = "/v1/operator/effects";

/// A host whose office is never reached, and whose effects are parked at once.
fn unreachable_office() -> Setup {
    let profile = DestinationProfile {
        attempts_max: 1,
        failures_max: 0,
        backoff: Duration::ZERO,
        backoff_max: Duration::ZERO,
        ..DestinationProfile::default()
    };
    Setup { office: Behaviour::NotSent, profile, ..Setup::default() }
}

/// A loan whose order is left to an operator.
async fn parked(host: &Host) -> String {
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    ada.click("t-confirm", &card, "confirm").await.ok();
    let mut following = ada.follow("?after=0", None).await;
    let told = following.until("update.posted");
    let time_passes = async {
        loop {
            host.clock.advance(Duration::from_millis(100));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = told => {}
        () = time_passes => {}
    }
    let listed = list(host, GRACE, "").await.ok();
    listed["effects"][0]["effect"].as_str().expect("an effect").to_owned()
}

async fn list(host: &Host, token: &str, query: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let path = format!("{EFFECTS}{query}");
    host.send(Method::GET, &path, &[("authorization", &bearer)], None).await
}

async fn decide(host: &Host, token: &str, (account, effect): (&str, &str), body: &Value) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let path = format!("/v1/operator/accounts/{account}/effects/{effect}/decision");
    host.send(Method::POST, &path, &headers, Some(body.to_string().as_bytes())).await
}

fn accepted() -> Value {
    json!({ "reason": "asked them", "decision": { "accepted": { "reference": "O-1" } } })
}

#[tokio::test]
async fn a_decision_is_recorded_and_told_and_what_it_was_about_is_listed_no_more() {
    let host = Host::start_with(unreachable_office()).await;
    let effect = parked(&host).await;
    let listed = list(&host, GRACE, "?account=acme").await.ok();
    assert_eq!(listed["effects"][0]["destination"], "desk-office");
    assert!(listed["effects"][0]["parked_at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert_eq!(
        (listed["effects"].as_array().map(Vec::len), &listed["next"]),
        (Some(1), &Value::Null)
    );
    assert_eq!(list(&host, GRACE, "?account=beta").await.ok()["effects"], json!([]));
    let position = host.head("acme").await.0;
    let mut following = host.ada().follow(&format!("?after={position}"), None).await;
    let decided = decide(&host, GRACE, ("acme", &effect), &accepted()).await;
    assert_eq!((decided.status, decided.text.as_str()), (204, ""));
    let events = following.until("update.posted").await;
    let update: Value = serde_json::from_str(&events.last().expect("an event").data).expect("JSON");
    assert_eq!(update["blocks"][0]["status"], "accepted", "{update}");
    assert_eq!(list(&host, GRACE, "").await.ok()["effects"], json!([]));
    let again = decide(&host, GRACE, ("acme", &effect), &accepted()).await;
    assert_eq!(again.status, 204, "its answer may have been lost");
    let other = json!({ "reason": "no", "decision": { "rejected": { "code": "full" } } });
    let late = decide(&host, GRACE, ("acme", &effect), &other).await;
    assert_eq!((late.status, late.code().as_str()), (409, "effect_concluded"));
}

#[tokio::test]
async fn l8_what_waits_is_told_with_its_age_and_where_that_is_too_long() {
    let host = Host::start_with(unreachable_office()).await;
    let backlog = async |token: &str| {
        let bearer = format!("Bearer {token}");
        host.send(Method::GET, "/v1/operator/backlog", &[("authorization", &bearer)], None).await
    };
    assert_eq!(backlog(ADA).await.status, 401);
    let nothing = json!({ "count": 0, "is_cut": false, "first": null });
    let told = backlog(GRACE).await.ok();
    assert_eq!(told["destinations"][0]["destination"], "desk-office");
    assert_eq!(told["destinations"][0]["open"], nothing);
    let effect = parked(&host).await;
    host.clock.advance(Duration::from_secs(25 * 60 * 60));
    let told = backlog(GRACE).await.ok();
    let office = &told["destinations"][0];
    assert_eq!((&office["open"], &office["is_stalled"]), (&nothing, &json!(false)));
    assert_eq!(office["parked"]["first"]["effect"], effect.as_str());
    assert_eq!(office["parked"]["first"]["account"], "acme");
    assert!(office["parked_seconds"].as_u64() > told["parked_max_seconds"].as_u64());
    assert_eq!(office["is_undecided"], true);
}

#[tokio::test]
async fn what_is_open_is_listed_nudged_and_parked() {
    const HOUR: Duration = Duration::from_secs(60 * 60);
    let patient =
        DestinationProfile { backoff: HOUR, backoff_max: HOUR, ..unreachable_office().profile };
    let profile = DestinationProfile { attempts_max: 5, ..patient };
    let host = Host::start_with(Setup { profile, ..unreachable_office() }).await;
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    ada.click("t-confirm", &card, "confirm").await.ok();
    let open = async |query: &str| {
        let listed = list(&host, GRACE, &format!("?state=open{query}")).await.ok();
        listed["effects"].as_array().expect("effects").clone()
    };
    let listed = open("&destination=desk-office").await;
    let effect = listed[0]["effect"].as_str().expect("an effect").to_owned();
    assert!(listed[0]["due_at"].is_string() && listed[0]["parked_at"].is_null(), "{listed:?}");
    assert_eq!(open("&destination=desk-offic").await, Vec::<Value>::new());
    assert_eq!(open("&account=beta").await, Vec::<Value>::new());
    let wrong = list(&host, GRACE, "?state=lost").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid_parameter"));
    let wrong = list(&host, GRACE, "?destination=a%20b").await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "invalid_id"));
    // An attempt that is on its way is waited for.
    let about = async |decision: &str| {
        let body = json!({ "reason": "they are closed", "decision": { decision: {} } });
        loop {
            let answer = decide(&host, GRACE, ("acme", &effect), &body).await;
            if answer.status == 204 || answer.code() != "effect_under_way" {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    assert_eq!(about("nudge").await.status, 204);
    assert_eq!(about("park").await.status, 204);
    assert_eq!(open("").await, Vec::<Value>::new());
    let parked = list(&host, GRACE, "?state=parked&destination=desk-office").await.ok();
    assert_eq!(parked["effects"][0]["effect"], effect.as_str());
    assert_eq!(about("park").await.status, 204, "it stands");
    let late = about("nudge").await;
    assert_eq!(late.status, 204, "{}", late.text);
    let other = json!({ "reason": "other", "decision": { "nudge": {} } });
    for decision in ["nudge", "park"] {
        let other = json!({ "reason": "other", "decision": { decision: {} } });
        let late = decide(&host, GRACE, ("acme", &effect), &other).await;
        assert_eq!((late.status, late.code().as_str()), (409, "effect_parked"), "{decision}");
    }
    assert_eq!(decide(&host, ADA, ("acme", &effect), &other).await.status, 401);
}

#[tokio::test]
async fn a_page_goes_on_where_the_one_before_ended() {
    let host = Host::start_with(unreachable_office()).await;
    let effect = parked(&host).await;
    for (after, are_listed) in [("acme/desk-office/~", 0), ("acme/desk-office/", 1), ("a/~", 1)] {
        let listed = list(&host, GRACE, &format!("?after={after}")).await.ok();
        let listed = listed["effects"].as_array().expect("effects").clone();
        assert_eq!(listed.len(), are_listed, "{after}");
        assert!(listed.iter().all(|listed| listed["effect"] == effect.as_str()));
    }
    for (query, code) in [
        ("?after=nothing", "invalid_parameter"),
        ("?after=acme/%00", "invalid_parameter"),
        ("?after=a%20b/x", "invalid_parameter"),
        ("?since=1", "invalid_parameter"),
        ("?account=a%20b", "invalid_id"),
    ] {
        let answer = list(&host, GRACE, query).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{query}");
    }
}

#[tokio::test]
async fn whoever_is_no_operator_neither_sees_nor_decides_and_an_operator_is_no_actor() {
    let host = Host::start_with(unreachable_office()).await;
    let effect = parked(&host).await;
    let head = host.head("acme").await;
    for token in [ADA, "nobody-at-all-with-a-token", ""] {
        assert_eq!(list(&host, token, "").await.status, 401, "{token}");
        let decided = decide(&host, token, ("acme", &effect), &accepted()).await;
        assert_eq!((decided.status, decided.code().as_str()), (401, "unauthenticated"), "{token}");
    }
    assert_eq!(host.client(GRACE).get("transcript").await.status, 401);
    assert_eq!(host.client(GRACE).say("t-x", "hello").await.status, 401);
    assert_eq!(host.head("acme").await, head, "nothing was written");
}

#[tokio::test]
async fn a_decision_that_cannot_be_one_is_refused_and_writes_nothing() {
    let host = Host::start_with(unreachable_office()).await;
    let effect = parked(&host).await;
    let head = host.head("acme").await;
    let with = |reason: &str, decision: Value| json!({ "reason": reason, "decision": decision });
    let (known, unknown) = (effect.as_str(), "01890000-0000-7000-8000-00000000dead");
    let retry = json!({ "retry": {} });
    for (of, body, status, code) in [
        (("acme", known), with(" ", retry.clone()), 422, "unreadable_decision"),
        (("acme", known), with("a\0b", retry.clone()), 422, "unreadable_decision"),
        (("acme", known), with(&"x".repeat(2_001), retry.clone()), 422, "unreadable_decision"),
        (("acme", known), json!({ "decision": retry }), 422, "wrong_shape"),
        (("acme", known), with("why", json!("retry")), 422, "wrong_shape"),
        (("acme", known), with("why", json!({ "accepted": {} })), 422, "wrong_shape"),
        (("acme", known), with("why", json!({ "retry": { "at": 1 } })), 422, "wrong_shape"),
        (("acme", unknown), accepted(), 404, "not_found"),
        (("beta", known), accepted(), 404, "not_found"),
        (("acme", "7"), accepted(), 400, "invalid_id"),
        (("a%20b", known), accepted(), 400, "invalid_id"),
    ] {
        let answer = decide(&host, GRACE, of, &body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{of:?} {body}");
    }
    assert_eq!(host.head("acme").await, head, "nothing was written");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_at_the_wrong_process_is_recorded_by_the_owner() {
    let database = postgres::shared().database().await;
    let owner = owner_with(&database, unreachable_office()).await;
    let effect = parked(&owner).await;
    let bystander = bystander(&database).await;
    let listed = list(&bystander, GRACE, "").await.ok();
    assert_eq!(listed["effects"][0]["effect"], effect.as_str(), "any process can read");
    assert_eq!(decide(&bystander, GRACE, ("acme", &effect), &accepted()).await.status, 204);
    let again = json!({ "reason": "again", "decision": { "retry": {} } });
    let late = decide(&owner, GRACE, ("acme", &effect), &again).await;
    assert_eq!(late.code(), "effect_concluded");
}
