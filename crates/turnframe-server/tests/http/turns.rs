//! Turns: answered once, however often they are posted, and read back as they were answered.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use turnframe_server::ServerLimits;

use crate::host::{Answer, Host, Setup};

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawItem<'a> {
    #[serde(borrow)]
    answer: Option<&'a RawValue>,
}

#[tokio::test]
async fn a_conversation_is_opened_once_and_named_by_the_server_where_the_client_does_not() {
    let host = Host::start().await;
    let ada = host.ada();
    let answer = ada.post_to("/v1/conversations", r#"{"id":"c1"}"#, &[]).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.header("location"), Some("/v1/conversations/c1/transcript"));
    assert_eq!(answer.ok(), json!({ "conversation": "c1" }));
    let before = host.head("acme").await;
    ada.post_to("/v1/conversations", r#"{"id":"c1"}"#, &[]).await.ok();
    assert_eq!(host.head("acme").await, before, "it was open already");
    let named = ada.post_to("/v1/conversations", "{}", &[]).await.ok();
    let id = named["conversation"].as_str().expect("an id");
    assert_eq!(id.as_bytes()[14], b'7', "{id} is a UUIDv7");
}

#[tokio::test]
async fn l16_a_retry_returns_the_stored_answer_byte_for_byte() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    let first = ada.click("t-confirm", &card, "confirm").await;
    let mut live = ada.follow("?after=0", None).await;
    live.until("update.posted").await;
    let before = host.head("acme").await;
    let second = ada.click("t-confirm", &card, "confirm").await;
    assert_eq!(first.status, 200);
    assert_eq!(first.text, second.text);
    assert_eq!(host.head("acme").await, before, "nothing was written for it");
    assert_eq!(host.office.book().len(), 1);
}

#[tokio::test]
async fn a_second_click_in_another_turn_has_the_first_outcome_and_repeats_nothing() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    let first = ada.click("t-confirm", &card, "confirm").await.ok();
    assert_eq!(first["acts"][0]["result"], "applied");
    let mut live = ada.follow("?after=0", None).await;
    live.until("update.posted").await;
    let second = ada.click("t-again", &card, "confirm").await.ok();
    assert_eq!(second["turn"], "t-again");
    for part in ["acts", "blocks"] {
        assert_eq!(second[part], first[part], "the first outcome and its receipts, again");
    }
    let book = host.office.book();
    assert_eq!(book.len(), 1);
    assert!(book.values().all(|entry| entry.performed == 1));
}

#[tokio::test]
async fn live_equals_reload_byte_for_byte() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    let mut answers = vec![ada.say("t1", "open a loan of Emma").await];
    let card = ada.only_card().await;
    answers.push(ada.click("t2", &card, "south").await);
    answers.push(ada.say("t3", "note large print").await);
    answers.push(ada.say("t4", "order it").await);
    let card = ada.only_card().await;
    answers.push(ada.click("t5", &card, "confirm").await);
    let mut live = ada.follow("?after=0", None).await;
    let streamed = live.until("update.posted").await;

    let transcript = ada.get("transcript").await;
    let page: RawPage<'_> = serde_json::from_str(&transcript.text).expect("a page");
    let shown = |kind: &str| ["turn.accepted", "turn.answered", "update.posted"].contains(&kind);
    let streamed: Vec<_> =
        streamed.iter().filter(|event| shown(&event.kind)).map(|event| &event.data[..]).collect();
    let reloaded: Vec<_> = page.items.iter().map(|item| item.get()).collect();
    assert_eq!(streamed, reloaded, "the live stream and the transcript say the same");

    let item = |item: &&'_ RawValue| -> Option<String> {
        let item: RawItem<'_> = serde_json::from_str(item.get()).expect("an item");
        item.answer.map(|answer| answer.get().to_owned())
    };
    let stored: Vec<_> = page.items.iter().filter_map(item).collect();
    let answered: Vec<_> = answers.into_iter().map(|answer| answer.text).collect();
    assert_eq!(answered, stored, "the turns' answers and the transcript say the same");
}

#[tokio::test]
async fn texts_go_out_as_plain_strings_and_their_markers_stay_inside() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let answer = ada.say("t1", "note large print").await;
    let receipt = &answer.json()["blocks"][0];
    assert_eq!(receipt["type"], "receipt");
    assert_eq!(receipt["title"], "Note written");
    assert_eq!(receipt["body"], "large print");
    assert!(receipt["event_ids"].as_array().is_some_and(|ids| !ids.is_empty()));
    let texts = [answer.text, ada.get("transcript").await.text, ada.get("cards").await.text];
    for text in texts {
        assert!(!text.contains("$personal") && !text.contains("subject"), "{text}");
    }
    let said: Vec<_> = ada.items().await.into_iter().filter(|it| it["turn"] == "t1").collect();
    assert_eq!(said[0]["text"], "note large print");
}

#[tokio::test]
async fn the_language_is_the_tokens_unless_the_request_asks_for_one_that_is_spoken_here() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    let path = ada.path("turns");
    for (turn, language, expected) in [("t1", "de-AT, en;q=0.5", "Ihre "), ("t2", "fr", "Your ")] {
        let body = json!({ "turn": turn, "text": "something nobody scripted" }).to_string();
        let answer = ada.post_to(&path, &body, &[("accept-language", language)]).await.ok();
        assert_eq!(answer["blocks"][0]["code"], "not_understood");
        let text = answer["blocks"][0]["text"].as_str().expect("words");
        assert!(text.starts_with(expected), "{text}");
    }
}

/// Posts a turn until it is answered.
async fn answered(host: &Host, turn: &str, text: &str) -> Answer {
    for _ in 0..1_000 {
        let answer = host.ada().say(turn, text).await;
        if answer.status != 202 {
            return answer;
        }
    }
    unreachable!("the turn was not answered in time")
}

#[tokio::test]
async fn a_turn_that_takes_long_goes_on_and_its_answer_can_be_asked_for() {
    let limits = ServerLimits { turn_wait: Duration::from_millis(20), ..ServerLimits::default() };
    let host = Host::start_with(Setup { limits, is_gate_open: false, ..Setup::default() }).await;
    let ada = host.ada().open().await;
    let accepted = ada.say("t1", "open a loan of Emma").await;
    assert_eq!(accepted.status, 202);
    assert_eq!(accepted.header("location"), Some("/v1/conversations/c1/transcript"));
    assert_eq!(accepted.json(), json!({ "turn": "t1", "status": "accepted" }));
    host.gate.send_replace(true);
    let answer = answered(&host, "t1", "open a loan of Emma").await.ok();
    assert_eq!(answer["acts"][0]["result"], "applied");
    assert_eq!(ada.items().await.len(), 2, "one turn and one answer");
}

#[tokio::test]
async fn case_22_a_client_that_goes_away_loses_nothing_but_the_waiting() {
    let host = Host::start_with(Setup { is_gate_open: false, ..Setup::default() }).await;
    let ada = host.ada().open().await;
    let mut live = ada.follow("?after=0", None).await;
    {
        let posting = ada.say("t1", "open a loan of Emma");
        tokio::pin!(posting);
        tokio::select! {
            answer = &mut posting => unreachable!("the gate is closed: {answer:?}"),
            events = live.until("turn.accepted") => assert_eq!(events.len(), 2),
        }
    }
    host.gate.send_replace(true);
    let streamed = live.until("turn.answered").await;
    let answer = ada.say("t1", "open a loan of Emma").await;
    let answered = &streamed.last().expect("an answer").data;
    let item: RawItem<'_> = serde_json::from_str(answered).expect("an item");
    assert_eq!(item.answer.expect("an answer").get(), answer.text);
    assert_eq!(ada.items().await.len(), 2, "the turn ran once");
}

#[tokio::test]
async fn case_28_a_card_is_clickable_after_a_restart_and_absent_elsewhere() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("t.db");
    let host = Host::start_on(&path, 1).await;
    let ada = host.ada().loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    let (before, transcript) = (host.head("acme").await, ada.get("transcript").await.text);
    host.stop().await;

    let host = Host::start_on(&path, 2).await;
    let ada = host.ada();
    assert_eq!(host.head("acme").await, before);
    assert_eq!(ada.get("transcript").await.text, transcript);
    assert_eq!(ada.only_card().await, card);
    let elsewhere = ada.in_conversation("c2").open().await;
    assert_eq!(elsewhere.get("cards").await.ok(), json!({ "cards": [] }));
    assert_eq!(elsewhere.click("t1", &card, "confirm").await.code(), "not_found");
    let answer = ada.click("t-confirm", &card, "confirm").await.ok();
    assert_eq!(answer["acts"][0]["result"], "applied");
    let mut live = ada.follow("?after=0", None).await;
    live.until("update.posted").await;
    assert_eq!(host.office.book().len(), 1);
    host.stop().await;
}
