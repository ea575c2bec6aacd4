//! `kill -9` of the real binary, again and again, in the middle of turns.
//!
//! The client does what a client does: it posts its turn again under the same id. At the end every turn was
//! answered, each once; what is on the ledger reads as if nothing had happened; and the airline's own book has one
//! rebooking.

use std::time::Duration;

use serde_json::{Value, json};
use turnframe_test::postgres;
use turnframe_travel::AirlineSimulator;

use crate::support::{LOOK_AGAIN, PATIENCE, Serving, Speaker, of_type};

/// The moments of the kills, in microseconds after the turn was sent: from before it arrives to after it is answered.
const KILLS: [u64; 12] =
    [200, 900, 1_700, 2_600, 3_400, 4_500, 5_600, 7_000, 9_000, 12_000, 16_000, 30_000];

const OPEN: &str = "open a trip to Lisbon for Ada Ferri on 3 May, add a bag paid by the company, \
                    and don't rebook anything yet";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_every_turn_is_answered_once_and_the_effect_happens_once() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let ledger = folder.path().join("killed.db");
    Stage::new(ledger.to_str().expect("UTF-8"), &[]).await.play().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql_every_turn_is_answered_once_and_the_effect_happens_once() {
    let database = postgres::shared().database().await;
    // It always starts at the same address, and so never waits for its own lease.
    Stage::new(&database.url(), &["--advertise", "http://127.0.0.1:9"]).await.play().await;
}

struct Stage<'a> {
    ledger: &'a str,
    more: &'a [&'a str],
    airline: AirlineSimulator,
    traveller: Speaker,
    tokens: [String; 1],
}

impl<'a> Stage<'a> {
    async fn new(ledger: &'a str, more: &'a [&'a str]) -> Self {
        let airline = AirlineSimulator::start().await.expect("an airline");
        let (traveller, token) = Speaker::new("acme", "ada");
        Self { ledger, more, airline, traveller, tokens: [token] }
    }

    async fn start(&self) -> Serving {
        Serving::start(self.ledger, &self.airline.url(), &self.tokens, self.more).await
    }

    async fn play(self) {
        let mut turns = vec![json!({"turn": "t-open", "text": OPEN})];
        for number in 0..KILLS.len() {
            let text = format!("call it Spring {number}");
            turns.push(json!({"turn": format!("t-{number}"), "text": text}));
        }
        turns.push(json!({"turn": "t-ask", "text": "rebook it"}));

        let mut serving = self.start().await;
        let (path, body) = ("/v1/conversations", json!({"id": "c1"}));
        self.traveller.post_until_answered(&serving.url, path, &body).await;
        for (turn, kill) in turns.iter().zip(KILLS.iter().cycle()) {
            serving = self.through_a_kill(serving, turn, *kill).await;
        }
        let cards = self.traveller.get(&serving.url, "/v1/conversations/c1/cards").await;
        let card = &cards["cards"][0];
        let click = json!({"turn": "t-click", "response": {
            "interaction": card["id"], "option": "confirm",
            "expected_revision": card["expected_revision"],
        }});
        // In the middle of the click, of the sending and of what follows from the answer.
        for kill in [1_500, 4_000, 8_000, 15_000] {
            serving = self.through_a_kill(serving, &click, kill).await;
        }

        let transcript = self.settled(&serving.url).await;
        let turns = turns.len() + 1;
        assert_eq!(of_type(&transcript, "turn").len(), turns, "every turn arrived once");
        assert_eq!(of_type(&transcript, "answer").len(), turns, "and was answered once");
        assert_eq!(self.airline.book().rebookings(), 1, "the airline rebooked once");
        serving.kill_nine().await;
    }

    /// Posts a turn, kills the process a moment later, starts it again, and posts the turn again until it is answered.
    async fn through_a_kill(&self, serving: Serving, turn: &Value, micros: u64) -> Serving {
        let path = "/v1/conversations/c1/turns";
        let posted = self.traveller.post(&serving.url, path, turn);
        let killed = tokio::time::sleep(Duration::from_micros(micros));
        // Whether it was answered before it died does not matter: it is posted again.
        tokio::select! {
            _ = posted => {}
            () = killed => {}
        }
        serving.kill_nine().await;
        let serving = self.start().await;
        let answer = self.traveller.post_until_answered(&serving.url, path, turn).await;
        assert_eq!(answer["turn"], turn["turn"]);
        assert!(!answer["blocks"].as_array().expect("blocks").is_empty());
        serving
    }

    /// The transcript once the airline's answer is in it: submitted, or found by a look-up after it was unknown.
    async fn settled(&self, url: &str) -> Value {
        let path = "/v1/conversations/c1/transcript?limit=200";
        let looks = async {
            loop {
                let transcript = self.traveller.get(url, path).await;
                if transcript.to_string().contains("\"submitted\"") {
                    return transcript;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(PATIENCE, looks).await.expect("the airline's answer arrives")
    }
}
