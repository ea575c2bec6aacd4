//! Processes that share a ledger: who serves whose requests, and what is said where nobody does.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use turnframe_ledger::open::open;
use turnframe_ledger::postgres::NodeOptions;
use turnframe_server::ServerLimits;
use turnframe_test::postgres::{self, Database};
use uuid::Uuid;

use crate::host::{Answer, Desk, Host, Setup};

/// A process that owns every partition.
async fn owner(database: &Database) -> Host {
    owner_with(database, Setup::default()).await
}

pub(crate) async fn owner_with(database: &Database, setup: Setup) -> Host {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    let node = NodeOptions::new(Uuid::from_u64_pair(7, 7), address);
    let opened = open(&database.url(), Some(node)).await.expect("a ledger");
    let (listener, opened) = (Some(listener), Some(opened));
    Host::start_with(Setup { listener, opened, seed: 2, ..setup }).await
}

/// A process that owns none.
pub(crate) async fn bystander(database: &Database) -> Host {
    let opened = open(&database.url(), None).await.expect("a ledger");
    let limits = ServerLimits { owner_wait: Duration::from_millis(300), ..ServerLimits::default() };
    Host::start_with(Setup { opened: Some(opened), limits, seed: 3, ..Setup::default() }).await
}

fn assert_not_here(answer: &Answer) {
    assert_eq!((answer.status, answer.code().as_str()), (503, "not_here"), "{}", answer.text);
    assert!(answer.header("retry-after").is_some());
}

async fn healthy_partitions(host: &Host) -> u64 {
    let health = host.send(reqwest::Method::GET, "/healthz", &[], None).await.ok();
    health["partitions"].as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_at_the_wrong_process_is_answered_by_the_owner() {
    let database = postgres::shared().database().await;
    let (owner, bystander) = (owner(&database).await, bystander(&database).await);
    assert_eq!(healthy_partitions(&owner).await, 64);
    assert_eq!(healthy_partitions(&bystander).await, 0);
    // A whole conversation, all of it said to the process that owns nothing.
    let ada = bystander.ada().loan().await;
    let again = json!({"turn": "t-open", "text": "open a loan of Emma"});
    assert_eq!(ada.post(&again).await.text, owner.ada().post(&again).await.text);
    assert_eq!(ada.get("cards").await.text, owner.ada().get("cards").await.text);
    assert_eq!(ada.items().await, owner.ada().items().await);
    // What the owner refuses is refused with the owner's own words.
    let refused = ada.post(&json!({"turn": "t-open", "text": "something else"})).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "turn_reused"));
    // Another account is another account, here as there.
    assert_eq!(bystander.ben().get("cards").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_mine_is_never_not_found_and_the_past_can_be_read_all_the_same() {
    let database = postgres::shared().database().await;
    let first = owner(&database).await;
    first.ada().loan().await;
    let items = first.ada().items().await;
    let ledger = first.ledger.clone();
    first.stop().await;
    ledger.close().await;
    let bystander = bystander(&database).await;
    let ada: Desk<'_> = bystander.ada();
    assert_not_here(&ada.say("t-1", "hello").await);
    assert_not_here(&ada.get("cards").await);
    let body = json!({"id": "c2"}).to_string();
    assert_not_here(&ada.post_to("/v1/conversations", &body, &[]).await);
    assert_eq!(ada.items().await, items);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_was_sent_on_is_not_sent_on_again() {
    let database = postgres::shared().database().await;
    let (_owner, bystander) = (owner(&database).await, bystander(&database).await);
    let body = json!({"id": "c1"}).to_string();
    let sent_on = [("turnframe-forwarded", "1")];
    let answer = bystander.ada().post_to("/v1/conversations", &body, &sent_on).await;
    assert_not_here(&answer);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_speaks_is_asked_before_a_request_is_sent_on() {
    let database = postgres::shared().database().await;
    let (_owner, bystander) = (owner(&database).await, bystander(&database).await);
    let answer = bystander.client("no-such-token-anywhere").get("cards").await;
    assert_eq!((answer.status, answer.code().as_str()), (401, "unauthenticated"));
}
