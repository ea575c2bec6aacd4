//! The live stream: nothing lost, nothing twice, whatever is cut where.

use std::time::Duration;

use serde_json::Value;
use turnframe_server::ServerLimits;

use crate::host::{ADA, Desk, Host, Setup};
use crate::live::LiveEvent;

/// A loan that is opened, ordered and accepted: every kind of event that a conversation can show.
async fn ordered<'a>(ada: Desk<'a>) -> Desk<'a> {
    let ada = ada.loan().await;
    ada.say("t-order", "order it").await.ok();
    let card = ada.only_card().await;
    ada.click("t-confirm", &card, "confirm").await.ok();
    ada
}

fn kinds(events: &[LiveEvent]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

#[tokio::test]
async fn a_stream_shows_the_conversation_and_its_cards_in_commit_order() {
    let host = Host::start().await;
    let ada = ordered(host.ada()).await;
    let events = ada.follow("?after=0", None).await.until("update.posted").await;
    let expected = [
        "conversation.opened",
        "turn.accepted",
        "turn.reduced",
        "card.opened",
        "turn.answered",
        "turn.accepted",
        "turn.reduced",
        "card.closed",
        "turn.answered",
        "turn.accepted",
        "turn.reduced",
        "card.opened",
        "turn.answered",
        "turn.accepted",
        "turn.reduced",
        "card.closed",
        "turn.answered",
        "update.posted",
    ];
    assert_eq!(kinds(&events), expected);
    assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id), "ids are positions");
    for event in &events {
        let data: Value = serde_json::from_str(&event.data).expect("JSON");
        assert_eq!(data["position"], event.id);
    }
    let closed: Value = serde_json::from_str(&events[7].data).expect("JSON");
    assert_eq!(closed["status"], "resolved");
    assert_eq!(closed["option"], "north");
    let opened: Value = serde_json::from_str(&events[3].data).expect("JSON");
    assert_eq!(closed["card"], opened["card"]["id"]);
}

#[tokio::test]
async fn a_stream_resumes_after_any_event_without_loss_or_repeat() {
    let host = Host::start().await;
    let ada = ordered(host.ada()).await;
    let all = ada.follow("?after=0", None).await.until("update.posted").await;
    for (index, event) in all.iter().enumerate().take(all.len() - 1) {
        // The header of a reconnecting client outranks the query it first came with.
        let mut resumed = ada.follow("?after=0", Some(event.id)).await;
        assert_eq!(resumed.until("update.posted").await, all[index + 1..]);
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_while_others_write_goes_on_where_it_was() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let other = ada.in_conversation("c2").open().await;
    let mut seen = Vec::new();
    let mut live = ada.follow("?after=0", None).await;
    for round in 0..5 {
        ada.say(&format!("t-here-{round}"), "hello").await.ok();
        other.say(&format!("t-there-{round}"), "hello").await.ok();
        // Two of the three events of the turn, then the line is cut.
        for _ in 0..2 {
            seen.push(live.event().await);
        }
        live = ada.follow("", Some(seen.last().expect("an event").id)).await;
    }
    while seen.last().is_none_or(|event| !event.data.contains("t-here-4"))
        || seen.last().is_none_or(|event| event.kind != "turn.answered")
    {
        seen.push(live.event().await);
    }
    let mut whole = ada.follow("?after=0", None).await;
    let mut expected = Vec::new();
    for _ in 0..seen.len() {
        expected.push(whole.event().await);
    }
    assert_eq!(seen, expected);
    assert!(seen.iter().all(|event| !event.data.contains("t-there")));
}

#[tokio::test]
async fn the_end_of_the_transcript_says_where_the_stream_goes_on() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let page = ada.get("transcript").await.ok();
    assert_eq!(page["next"], Value::Null);
    let mut live = ada.follow(&format!("?after={}", page["position"]), None).await;
    ada.say("t-next", "note large print").await.ok();
    let events = live.until("turn.answered").await;
    assert_eq!(kinds(&events), ["turn.accepted", "turn.reduced", "turn.answered"]);
    let mut items = page["items"].as_array().expect("items").clone();
    let data = |event: &LiveEvent| serde_json::from_str::<Value>(&event.data).expect("JSON");
    items.extend([data(&events[0]), data(&events[2])]);
    assert_eq!(items, ada.items().await);
}

#[tokio::test]
async fn without_a_place_to_start_a_stream_shows_what_happens_from_now_on() {
    let host = Host::start().await;
    let ada = host.ada().loan().await;
    let head = host.head("acme").await.0;
    let mut live = ada.follow("", None).await;
    let greeting = live.message().await.expect("a greeting");
    assert_eq!(greeting, LiveEvent { id: head, kind: String::new(), data: String::new() });
    ada.say("t-next", "hello").await.ok();
    assert_eq!(live.event().await.id, head + 1);
    let mut ahead = ada.follow("", Some(u64::MAX)).await;
    let standing = ahead.message().await.expect("a greeting").id;
    assert_eq!(standing, host.head("acme").await.0, "no place beyond what is written");
}

#[tokio::test]
async fn a_silent_stream_says_where_it_stands_while_others_write() {
    let limits = ServerLimits { keep_alive: Duration::from_millis(20), ..ServerLimits::default() };
    let host = Host::start_with(Setup { limits, ..Setup::default() }).await;
    let ada = host.ada().open().await;
    let mut live = ada.follow("", None).await;
    let other = ada.in_conversation("c2").open().await;
    other.say("t1", "hello").await.ok();
    let head = host.head("acme").await.0;
    loop {
        let standing = live.message().await.expect("the stream goes on");
        assert_eq!(standing.data, "", "nothing happened here");
        if standing.id == head {
            break;
        }
    }
}

#[tokio::test]
async fn a_process_serves_a_bounded_number_of_streams() {
    let limits = ServerLimits { streams_max: 1, ..ServerLimits::default() };
    let host = Host::start_with(Setup { limits, ..Setup::default() }).await;
    let ada = host.ada().open().await;
    let mut first = ada.follow("", None).await;
    first.message().await.expect("a greeting");
    let refused = ada.get("events").await;
    assert_eq!((refused.status, refused.code().as_str()), (429, "overloaded"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(first);
    // The server learns of it when it next writes; until then it says come back.
    ada.say("t1", "hello").await.ok();
    for _ in 0..1_000 {
        let bearer = format!("Bearer {ADA}");
        let headers = [("authorization", bearer.as_str())];
        let path = ada.path("events");
        let answer = host.respond(reqwest::Method::GET, &path, &headers, None).await;
        if answer.status() == 200 {
            return;
        }
    }
    unreachable!("the place was not given free");
}

#[tokio::test]
async fn a_place_that_is_none_is_refused() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    let bearer = format!("Bearer {ADA}");
    for id in ["x", "-1", "1.5", ""] {
        let headers = [("authorization", bearer.as_str()), ("last-event-id", id)];
        let answer = host.send(reqwest::Method::GET, &ada.path("events"), &headers, None).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_id"), "{id:?}");
    }
}

#[tokio::test]
async fn a_shutdown_ends_streams_so_that_their_clients_resume_elsewhere() {
    let host = Host::start().await;
    let ada = host.ada().open().await;
    let mut live = ada.follow("?after=0", None).await;
    live.until("conversation.opened").await;
    host.stop().await;
    assert_eq!(live.message().await, None);
}
