//! Accounts: what is another's is not there.

use reqwest::Method;
use serde_json::json;

use crate::host::{BEN, Host, click};

#[tokio::test]
async fn case_29_two_accounts_use_one_conversation_id_and_meet_nowhere() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    let ben = host.ben().open().await;
    let (of_ada, of_ben) = (host.head("acme").await, host.head("beta").await);

    assert_eq!(ben.get("cards").await.ok(), json!({ "cards": [] }));
    assert!(ben.items().await.is_empty());
    let clicked = ben.click("t1", &card, "confirm").await;
    assert_eq!((clicked.status, clicked.code().as_str()), (404, "not_found"));
    let mut missing = card.clone();
    missing["id"] = json!("01890000-0000-7000-8000-000000000001");
    assert_eq!(clicked.text, ben.click("t1", &missing, "confirm").await.text);
    assert_eq!(host.head("acme").await, of_ada);
    assert_eq!(host.head("beta").await, of_ben);

    let answer = ben.say("t-open", "open a loan of Emma").await.ok();
    assert_eq!(answer["acts"][0]["result"], "applied", "the same turn id, another account");
    assert_eq!(host.head("acme").await, of_ada);
    let mut live = ben.follow("?after=0", None).await;
    let events = live.until("turn.answered").await;
    let opened: Vec<_> = events.iter().filter(|it| it.kind == "card.opened").collect();
    assert_eq!(opened.len(), 1, "Ben's card, and none of Ada's");
    assert!(!opened[0].data.contains(card["id"].as_str().expect("an id")));
    assert_eq!(ada.only_card().await, card);
}

#[tokio::test]
async fn i19_another_accounts_conversation_is_answered_exactly_like_a_missing_one() {
    let host = Host::start().await;
    host.ada().loan().await;
    let bearer = format!("Bearer {BEN}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "turn": "t1", "text": "hello" }).to_string();
    for (method, resource, body) in [
        (Method::GET, "transcript", None),
        (Method::GET, "transcript?after=3", None),
        (Method::GET, "cards", None),
        (Method::GET, "events", None),
        (Method::GET, "events?after=1", None),
        (Method::POST, "turns", Some(body.as_bytes())),
    ] {
        let mut answers = Vec::new();
        for conversation in ["c1", "missing"] {
            let path = format!("/v1/conversations/{conversation}/{resource}");
            let mut answer = host.send(method.clone(), &path, &headers, body).await;
            answer.headers.remove("date");
            assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{resource}");
            answers.push((answer.headers, answer.text));
        }
        assert_eq!(answers[0], answers[1], "{resource}");
    }
}

#[tokio::test]
async fn a_card_belongs_to_its_conversation_also_within_an_account() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    ada.say("t-open", "open a loan of Emma").await.ok();
    let card = ada.only_card().await;
    let elsewhere = ada.in_conversation("c2").open().await;
    let before = host.head("acme").await;
    assert_eq!(elsewhere.get("cards").await.ok(), json!({ "cards": [] }));
    let answer = elsewhere.post(&json!({ "turn": "t1", "response": click(&card, "north") })).await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
    assert_eq!(host.head("acme").await, before);
}
