//! `kill -9` of the real binary at random moments, under load.
//!
//! Several travellers talk at once, each posting its turn again under the same id until it is answered, while the
//! process under them is killed and started again. At the end every turn that was answered stands in its transcript
//! once, with the very blocks that its client was given; every traveller's rebooking happened once in the airline's own
//! book; and nobody was told of one that did not. `TURNFRAME_KILLS` says how often; `TURNFRAME_SEED` when.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;
use turnframe_test::postgres;
use turnframe_test::sources;
use turnframe_travel::AirlineSimulator;

use crate::support::{LOOK_AGAIN, PATIENCE, Serving, Speaker, setting};

const TRAVELLERS: usize = 8;
/// Kills of a run that is not told how many.
const KILLS: usize = 10;
/// The longest that a process lives once it listens.
const LIFE_MAX_MS: u64 = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_nothing_that_was_answered_is_lost_and_nothing_happens_twice() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let ledger = folder.path().join("killed.db");
    play(ledger.to_str().expect("UTF-8"), &[]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_postgresql_nothing_that_was_answered_is_lost_and_nothing_happens_twice() {
    let database = postgres::shared().database().await;
    // It always starts at the same address, and so never waits for its own lease.
    play(&database.url(), &["--advertise", "http://127.0.0.1:9"]).await;
}

async fn play(ledger: &str, more: &[&str]) {
    let (kills, seed) = (setting("TURNFRAME_KILLS", KILLS), setting("TURNFRAME_SEED", 1));
    let entropy = sources::ids(seed as u64);
    let airline = AirlineSimulator::start().await.expect("an airline");
    let people = (0..TRAVELLERS).map(|number| Speaker::new("acme", &format!("ada-{number}")));
    let (people, tokens): (Vec<_>, Vec<_>) = people.unzip();
    let start = async || Serving::start(ledger, &airline.url(), &tokens, more).await;

    let mut serving = start().await;
    let (address, current) = watch::channel(serving.url.clone());
    let (stop, stopped) = watch::channel(false);
    let travellers = people.into_iter().enumerate().map(|(number, speaker)| Traveller {
        speaker,
        conversation: format!("c{number}"),
        address: current.clone(),
        stopped: stopped.clone(),
        answers: BTreeMap::new(),
    });
    let travelling: Vec<_> = travellers.map(|traveller| tokio::spawn(traveller.travel())).collect();
    for _ in 0..kills {
        let [high, low] = entropy.bytes::<2>();
        let life = u64::from(u16::from_be_bytes([high, low])) * LIFE_MAX_MS / u64::from(u16::MAX);
        tokio::time::sleep(Duration::from_millis(life)).await;
        serving.kill_nine().await;
        serving = start().await;
        address.send_replace(serving.url.clone());
    }
    stop.send_replace(true);
    let travellers = join_all(travelling).await;
    let mut turns = 0;
    for traveller in travellers {
        let traveller = traveller.expect("travelled");
        turns += traveller.answers.len();
        traveller.check().await;
    }
    assert!(turns > kills, "seed {seed}: {turns} turns under {kills} kills are no load");
    assert_eq!(airline.book().rebookings(), TRAVELLERS, "seed {seed}: one for each traveller");
    serving.kill_nine().await;
}

struct Traveller {
    speaker: Speaker,
    conversation: String,
    address: watch::Receiver<String>,
    stopped: watch::Receiver<bool>,
    /// What was answered, by turn.
    answers: BTreeMap<String, Value>,
}

impl Traveller {
    /// Opens a trip, has it rebooked, and renames it until told to stop.
    async fn travel(mut self) -> Self {
        self.post("/v1/conversations", &json!({ "id": self.conversation })).await;
        self.turn("t-open", json!({"text": "open a trip to Lisbon for Ada Ferri on 3 May"})).await;
        self.turn("t-ask", json!({"text": "rebook it"})).await;
        let cards = self.get(&self.path("cards")).await;
        let card = &cards["cards"][0];
        let response = json!({
            "interaction": card["id"],
            "option": "confirm",
            "expected_revision": card["expected_revision"],
        });
        self.turn("t-click", json!({ "response": response })).await;
        let mut number = 0;
        while !*self.stopped.borrow() {
            let text = format!("call it Spring {number}");
            self.turn(&format!("t-{number}"), json!({ "text": text })).await;
            number += 1;
        }
        self
    }

    async fn turn(&mut self, turn: &str, mut body: Value) {
        body["turn"] = json!(turn);
        let answer = self.post(&self.path("turns"), &body).await;
        assert_eq!(answer["turn"], turn, "{answer}");
        self.answers.insert(turn.to_owned(), answer);
    }

    fn path(&self, resource: &str) -> String {
        format!("/v1/conversations/{}/{resource}", self.conversation)
    }

    /// Posts the same until it is answered, wherever the process is by then.
    async fn post(&self, path: &str, body: &Value) -> Value {
        let posting = async {
            loop {
                let url = self.address.borrow().clone();
                match self.speaker.post(&url, path, body).await {
                    Ok(answer) => return answer,
                    Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        };
        tokio::time::timeout(PATIENCE, posting).await.expect("answered in time")
    }

    async fn get(&self, path: &str) -> Value {
        let getting = async {
            loop {
                let url = self.address.borrow().clone();
                match self.speaker.try_get(&url, path).await {
                    Ok(answer) => return answer,
                    Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        };
        tokio::time::timeout(PATIENCE, getting).await.expect("answered in time")
    }

    /// Everything that the user reads on reload.
    async fn transcript(&self) -> Vec<Value> {
        let (mut items, mut after) = (Vec::new(), json!(0));
        loop {
            let page = self.get(&self.path(&format!("transcript?limit=200&after={after}"))).await;
            items.extend(page["items"].as_array().expect("items").iter().cloned());
            if page["next"].is_null() {
                return items;
            }
            after = page["next"].clone();
        }
    }

    async fn check(&self) {
        let looking = async {
            loop {
                let transcript = self.transcript().await;
                if transcript.iter().any(is_submission) {
                    return transcript;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let looking = tokio::time::timeout(PATIENCE, looking).await;
        let transcript = looking.expect("the airline's answer arrives");
        for (turn, answer) in &self.answers {
            let arrived = transcript.iter().filter(|item| item["type"] == "turn");
            assert_eq!(
                arrived.filter(|item| item["turn"] == *turn).count(),
                1,
                "{turn} arrived once"
            );
            let stored = transcript.iter().map(|item| &item["answer"]);
            let stored: Vec<_> = stored.filter(|answer| answer["turn"] == *turn).collect();
            assert_eq!(stored, [answer], "{turn}: what was told is what stands, once");
        }
        let turns = transcript.iter().filter(|item| item["type"] == "turn").count();
        assert_eq!(turns, self.answers.len(), "nothing arrived that nobody sent");
        let submissions = transcript.iter().filter(|item| is_submission(item)).count();
        assert_eq!(submissions, 1, "told once");
    }
}

/// Whether an item tells that the airline has the rebooking.
fn is_submission(item: &Value) -> bool {
    let blocks = item["blocks"].as_array();
    blocks.is_some_and(|blocks| blocks.iter().any(|block| block["status"] == "submitted"))
}
