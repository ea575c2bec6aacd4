//! Callbacks: told to whoever follows, at whatever process they come in; and every one that is not the destination's.

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use turnframe_core::canonical::Json;
use turnframe_core::id::EffectId;
use turnframe_core::source::Timestamp;
use turnframe_destinations::webhooks::Secrets;
use turnframe_ledger::{PartitionId, Position};
use turnframe_runtime::port::{CallbackRefusal, Callbacks, Dispatched, Incoming, Statement};
use turnframe_server::ServerLimits;
use turnframe_test::literal;
use turnframe_test::postgres;
use turnframe_test::script::Behaviour;
use turnframe_test::sources::START;

use crate::elsewhere::{bystander, owner_with};
use crate::host::{Answer, Host, Setup};

type Headers = Vec<(&'static str, String)>;

const OFFICE: &str = "/v1/callbacks/desk-office";

/// The secrets of the office: one that is on its way out, and one that follows it.
pub(crate) fn secrets() -> Secrets {
    Secrets::new([OLD, NEW]).expect("secrets")
}

const OLD: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// How the office calls back.
pub(crate) struct Signed(pub(crate) Secrets);

#[derive(Deserialize)]
struct Body {
    effect: EffectId,
    accepted: String,
}

impl Callbacks for Signed {
    fn verify(&self, incoming: &Incoming, now: Timestamp) -> Result<String, CallbackRefusal> {
        self.0.verify(incoming, now)
    }

    fn read(&self, body: &[u8]) -> Result<Statement, CallbackRefusal> {
        let body = serde_json::from_slice(body).map_err(|_| CallbackRefusal::Unreadable)?;
        let Body { effect, accepted: reference } = body;
        let says = Dispatched::Accepted { reference, details: Json::default() };
        Ok(Statement { effect, key: None, says })
    }
}

fn loses_its_answers() -> Setup {
    Setup { office: Behaviour::LosesTheAnswer, ..Setup::default() }
}

/// A loan whose order the office took without being able to say so; told as unknown.
async fn ordered(host: &Host) -> String {
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    ada.click("t-confirm", &card, "confirm").await.ok();
    ada.follow("?after=0", None).await.until("update.posted").await;
    let book = host.office.book();
    book.keys().next().expect("an order").clone()
}

fn body(effect: &str) -> String {
    json!({ "effect": effect, "accepted": "O-1" }).to_string()
}

async fn call(host: &Host, path: &str, headers: &[(&str, String)], body: &str) -> Answer {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    host.send(Method::POST, path, &headers, Some(body.as_bytes())).await
}

async fn call_back(host: &Host, secret: &str, id: &str, body: &str) -> Answer {
    let signed = Secrets::new([secret]).expect("a secret").sign(id, START, body.as_bytes());
    call(host, OFFICE, &signed, body).await
}

#[tokio::test]
async fn a_late_outcome_is_pushed_to_who_follows_and_stands_in_the_transcript() {
    let host = Host::start_with(loses_its_answers()).await;
    let effect = ordered(&host).await;
    let position = host.head("acme").await.0;
    let mut following = host.ada().follow(&format!("?after={position}"), None).await;
    let said = call_back(&host, NEW, "w1", &body(&effect)).await.ok();
    assert_eq!(said, json!({ "status": "recorded" }));
    let events = following.until("update.posted").await;
    let update: Value = serde_json::from_str(&events.last().expect("an event").data).expect("JSON");
    let items = host.ada().items().await;
    let last = items.last().expect("an item");
    assert_eq!(last["blocks"], update["blocks"], "pushed as it is read again");
    assert_eq!(last["blocks"][0]["status"], "accepted", "{last}");
    assert!(!last["blocks"][0]["event_ids"].as_array().expect("events").is_empty(), "{last}");
    // Both secrets are valid while one follows the other, and a delivery that comes again is told so.
    for (secret, id, status) in [(OLD, "w1", "repeated"), (OLD, "w2", "recorded")] {
        let said = call_back(&host, secret, id, &body(&effect)).await.ok();
        assert_eq!(said, json!({ "status": status }), "{id}");
    }
}

#[tokio::test]
async fn what_is_forged_stale_replayed_or_garbled_is_refused_and_writes_nothing() {
    let host = Host::start_with(loses_its_answers()).await;
    let effect = ordered(&host).await;
    let (good, other) = (body(&effect), host.head("acme").await);
    let signed = secrets().sign("w1", START, good.as_bytes());
    let with = |index: usize, value: &str| {
        let mut headers = signed.to_vec();
        value.clone_into(&mut headers[index].1);
        headers
    };
    let without = |index: usize| {
        let mut headers = signed.to_vec();
        headers.remove(index);
        headers
    };
    let twice = |index: usize| {
        let mut headers = signed.to_vec();
        headers.push(signed[index].clone());
        headers
    };
    let at = |seconds: i64, body: &str| {
        let at = Timestamp::from_micros(START.as_micros() + seconds * 1_000_000);
        secrets().sign("w1", at, body.as_bytes()).to_vec()
    };
    let stranger = Secrets::new(["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]).expect("a secret");
    let unknown = body("01890000-0000-7000-8000-00000000dead");
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(ServerLimits::default().body_max_bytes));
    let long = "w".repeat(300);
    let cases: [(&str, Headers, &str, u16, &str); 20] = [
        (OFFICE, Vec::new(), &good, 403, "callback_unsigned"),
        (OFFICE, without(0), &good, 403, "callback_unsigned"),
        (OFFICE, without(1), &good, 403, "callback_unsigned"),
        (OFFICE, without(2), &good, 403, "callback_unsigned"),
        (OFFICE, twice(2), &good, 403, "callback_unsigned"),
        (OFFICE, with(1, "yesterday"), &good, 403, "callback_unsigned"),
        (OFFICE, with(0, "w2"), &good, 403, "callback_signature"),
        (OFFICE, with(2, "v1,AAAA"), &good, 403, "callback_signature"),
        (
            OFFICE,
            stranger.sign("w1", START, good.as_bytes()).to_vec(),
            &good,
            403,
            "callback_signature",
        ),
        (OFFICE, signed.to_vec(), &good[..good.len() - 1], 403, "callback_signature"),
        (OFFICE, signed.to_vec(), &unknown, 403, "callback_signature"),
        (OFFICE, at(-301, &good), &good, 403, "callback_time"),
        (OFFICE, at(301, &good), &good, 403, "callback_time"),
        (OFFICE, at(0, "{}"), "{}", 422, "callback_unreadable"),
        (OFFICE, at(0, "\u{0}"), "\u{0}", 422, "callback_unreadable"),
        (OFFICE, at(0, &unknown), &unknown, 404, "not_found"),
        (OFFICE, at(0, &large), &large, 413, "body_too_large"),
        (
            OFFICE,
            secrets().sign(&long, START, good.as_bytes()).to_vec(),
            &good,
            403,
            "callback_unsigned",
        ),
        ("/v1/callbacks/nobody", signed.to_vec(), &good, 404, "not_found"),
        ("/v1/callbacks/no%20name", signed.to_vec(), &good, 404, "not_found"),
    ];
    for (path, headers, body, status, code) in cases {
        let answer = call(&host, path, &headers, body).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{headers:?}");
    }
    assert_eq!(host.head("acme").await, other, "nothing was written");
    let answer = host.send(Method::GET, OFFICE, &[], None).await;
    assert_eq!((answer.status, answer.code().as_str()), (405, "method_not_allowed"));
    // An id that was used is not used for something else.
    call_back(&host, NEW, "w1", &good).await.ok();
    let answer = call_back(&host, NEW, "w1", &good.replace("O-1", "O-2")).await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "callback_reused"));
    let partition = PartitionId::of(&literal("acme"));
    let entries = host.ledger.read_partition(partition, Position::START, 1_000, None).await;
    let facts = entries.expect("entries").into_iter().map(|entry| entry.body.facts);
    assert!(facts.into_iter().all(|facts| !String::from_utf8_lossy(&facts).contains("O-2")));
}

#[tokio::test]
async fn past_the_most_callbacks_at_once_the_sender_is_told_to_come_again() {
    let limits = ServerLimits { callbacks_max: 0, ..ServerLimits::default() };
    let host = Host::start_with(Setup { limits, ..loses_its_answers() }).await;
    let effect = ordered(&host).await;
    // Whoever cannot sign takes nobody's place.
    let forged = call(&host, OFFICE, &[], &body(&effect)).await;
    assert_eq!(forged.code(), "callback_unsigned");
    let answer = call_back(&host, NEW, "w1", &body(&effect)).await;
    assert_eq!((answer.status, answer.code().as_str()), (429, "overloaded"));
    assert!(answer.header("retry-after").is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_callback_at_the_wrong_process_is_recorded_by_the_owner() {
    let database = postgres::shared().database().await;
    let owner = owner_with(&database, loses_its_answers()).await;
    let effect = ordered(&owner).await;
    let bystander = bystander(&database).await;
    let said = call_back(&bystander, NEW, "w1", &body(&effect)).await.ok();
    assert_eq!(said, json!({ "status": "recorded" }));
    let said = call_back(&owner, NEW, "w1", &body(&effect)).await.ok();
    assert_eq!(said, json!({ "status": "repeated" }));
    // Where nobody owns the account, it is not unknown.
    let ledger = owner.ledger.clone();
    owner.stop().await;
    ledger.close().await;
    let answer = call_back(&bystander, NEW, "w2", &body(&effect)).await;
    assert_eq!((answer.status, answer.code().as_str()), (503, "not_here"));
}
