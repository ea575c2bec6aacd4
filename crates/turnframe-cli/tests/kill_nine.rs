//! `kill -9` of the real binary, again and again, in the middle of turns.
//!
//! The client does what a client does: it posts its turn again under the same id. At the end every turn was
//! answered, each once; what is on the ledger reads as if nothing had happened; and the airline's own book has one
//! rebooking.

#![cfg(unix)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use turnframe_travel::AirlineSimulator;

const SECRET: &str = "the-secret-of-ada-at-acme";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    async fn start(ledger: &Path, airline: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnframe"))
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--airline", airline])
            .args(["--token", &format!("acme/ada={SECRET}"), "--ledger"])
            .arg(ledger)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let line = lines.next_line().await.expect("it can be read").expect("it says where it is");
        let listening: Value = serde_json::from_str(&line).expect("an object");
        let url = listening["url"].as_str().expect("an address").to_owned();
        Self { child, url }
    }

    async fn kill_nine(mut self) {
        self.child.kill().await.expect("it dies");
    }
}

struct Traveller {
    client: Client,
}

impl Traveller {
    async fn post(&self, url: &str, path: &str, body: &Value) -> Result<Value, reqwest::Error> {
        let request = self.client.post(format!("{url}{path}")).bearer_auth(SECRET).json(body);
        let response = request.timeout(PATIENCE).send().await?;
        let status = response.status();
        let answer: Value = response.json().await?;
        assert!(status.is_success(), "{status}: {answer}");
        Ok(answer)
    }

    async fn get(&self, url: &str, path: &str) -> Value {
        let request = self.client.get(format!("{url}{path}")).bearer_auth(SECRET);
        let response = request.timeout(PATIENCE).send().await.expect("an answer");
        assert!(response.status().is_success());
        response.json().await.expect("JSON")
    }
}

/// The moments of the kills, in microseconds after the turn was sent: from before it arrives to after it is answered.
const KILLS: [u64; 12] =
    [200, 900, 1_700, 2_600, 3_400, 4_500, 5_600, 7_000, 9_000, 12_000, 16_000, 30_000];

const OPEN: &str = "open a trip to Lisbon for Ada Ferri on 3 May, add a bag paid by the company, \
                    and don't rebook anything yet";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_turn_is_answered_once_and_the_effect_happens_once() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let ledger = folder.path().join("killed.db");
    let airline = AirlineSimulator::start().await.expect("an airline");
    let traveller = Traveller { client: Client::new() };
    let mut turns = vec![json!({"turn": "t-open", "text": OPEN})];
    for number in 0..KILLS.len() {
        turns.push(
            json!({"turn": format!("t-{number}"), "text": format!("call it Spring {number}")}),
        );
    }
    turns.push(json!({"turn": "t-ask", "text": "rebook it"}));

    let mut serving = Serving::start(&ledger, &airline.url()).await;
    traveller.post(&serving.url, "/v1/conversations", &json!({"id": "c1"})).await.expect("opened");
    for (turn, kill) in turns.iter().zip(KILLS.iter().cycle()) {
        serving = through_a_kill(&traveller, serving, &ledger, &airline, turn, *kill).await;
    }
    let cards = traveller.get(&serving.url, "/v1/conversations/c1/cards").await;
    let card = &cards["cards"][0];
    let click = json!({"turn": "t-click", "response": {
        "interaction": card["id"], "option": "confirm", "expected_revision": card["expected_revision"],
    }});
    // In the middle of the click, of the sending and of what follows from the answer.
    for kill in [1_500, 4_000, 8_000, 15_000] {
        serving = through_a_kill(&traveller, serving, &ledger, &airline, &click, kill).await;
    }

    let transcript = settled(&traveller, &serving.url).await;
    let items = transcript["items"].as_array().expect("items");
    let of_type = |name: &str| items.iter().filter(|item| item["type"] == name).count();
    assert_eq!(of_type("turn"), turns.len() + 1, "every turn arrived once");
    assert_eq!(of_type("answer"), turns.len() + 1, "and was answered once");
    assert_eq!(airline.book().rebookings(), 1, "the airline rebooked once");
    serving.kill_nine().await;
}

/// Posts a turn, kills the process a moment later, starts it again, and posts the turn again until it is answered.
async fn through_a_kill(
    traveller: &Traveller,
    serving: Serving,
    ledger: &Path,
    airline: &AirlineSimulator,
    turn: &Value,
    micros: u64,
) -> Serving {
    let path = "/v1/conversations/c1/turns";
    let posted = traveller.post(&serving.url, path, turn);
    let killed = tokio::time::sleep(Duration::from_micros(micros));
    // Whether it was answered before it died does not matter: it is posted again.
    tokio::select! {
        _ = posted => {}
        () = killed => {}
    }
    serving.kill_nine().await;
    let serving = Serving::start(ledger, &airline.url()).await;
    let answer = traveller.post(&serving.url, path, turn).await.expect("answered");
    assert_eq!(answer["turn"], turn["turn"]);
    assert!(!answer["blocks"].as_array().expect("blocks").is_empty());
    serving
}

/// The transcript once the airline's answer is in it: submitted, or found by a look-up after it was unknown.
async fn settled(traveller: &Traveller, url: &str) -> Value {
    let looks = async {
        loop {
            let transcript = traveller.get(url, "/v1/conversations/c1/transcript?limit=200").await;
            if transcript.to_string().contains("\"submitted\"") {
                return transcript;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looks).await.expect("the airline's answer arrives")
}
