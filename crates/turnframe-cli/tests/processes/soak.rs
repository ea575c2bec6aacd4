//! A soak of the real binary: many travellers, and an airline that answers, refuses, stalls, drops connections after it
//! has acted and before, breaks, and calls back late, twice and out of order, signed and forged.
//!
//! At the end the ledger and the airline's own book agree, entry by entry: every rebooking of a trip is one effect, what the
//! airline did was asked of it, the last that a trip knows is the last that the airline said, each statement is recorded
//! once, everything that became known was told, and what was told rests on what was recorded before. A decision that took
//! too long was told once.
//!
//! A run of more than a minute also loses requests and stalls for longer than is waited. `TURNFRAME_SOAK_SECONDS` and
//! `TURNFRAME_SOAK_TRAVELLERS` say how long and how many. What the airline does depends on the effects' ids, and so on chance.

mod agreement;
mod airline;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::sync::watch;

use self::airline::Office;
use crate::support::{Serving, Speaker, setting};

/// How long a run lasts that is not told otherwise, in seconds.
const SECONDS: usize = 6;
const TRAVELLERS: usize = 24;
/// How long a traveller thinks between two turns of a long run: about a hundred and fifty turns a second of 500.
const THINKING: Duration = Duration::from_millis(3_000);
/// Accounts that the travellers are spread over.
const ACCOUNTS: usize = 16;
/// How often the process is stopped and started until nothing is open any more.
const ROUNDS_MAX: usize = 100;
/// How long a process lives in each round.
const ROUND: Duration = Duration::from_secs(3);
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_the_end_the_ledger_and_the_airlines_book_agree() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let ledger = folder.path().join("soak.db");
    let ledger = ledger.to_str().expect("UTF-8");
    let duration = Duration::from_secs(setting("TURNFRAME_SOAK_SECONDS", SECONDS) as u64);
    let travellers = setting("TURNFRAME_SOAK_TRAVELLERS", TRAVELLERS);
    let people = (0..travellers).map(|number| {
        Speaker::new(&format!("account-{}", number % ACCOUNTS), &format!("ada-{number}"))
    });
    let (people, tokens): (Vec<_>, Vec<_>) = people.unzip();
    let is_long = duration > Duration::from_secs(60);
    let office = Office::open(SECRET, is_long).await;
    let more = ["--airline-secret", SECRET, "--answer-deadline", "5"];
    let start = async || Serving::start(ledger, &office.url(), &tokens, &more).await;

    let serving = start().await;
    let calling = office.call_back(&serving.url);
    let (stop, stopped) = watch::channel(false);
    let turns = Arc::new(AtomicUsize::new(0));
    let thinking = THINKING.mul_f64(travellers as f64 / 500.0).max(Duration::from_millis(50));
    let travelling = people.into_iter().enumerate().map(|(number, speaker)| {
        let (url, conversation) = (serving.url.clone(), format!("c{number}"));
        let (stopped, turns) = (stopped.clone(), turns.clone());
        let traveller = Traveller { speaker, url, conversation, thinking, stopped, turns };
        tokio::spawn(traveller.travel())
    });
    let travelling: Vec<_> = travelling.collect();
    tokio::time::sleep(duration).await;
    stop.send_replace(true);
    for traveller in join_all(travelling).await {
        traveller.expect("travelled");
    }
    serving.stop().await;

    // Nothing goes wrong any more; what is unknown by now is found out, round by round.
    office.calm_down();
    let mut rounds = 0;
    while agreement::is_open(ledger).await || !office.has_called_back() {
        rounds += 1;
        assert!(rounds <= ROUNDS_MAX, "effects stay open");
        let serving = start().await;
        calling.now_at(&serving.url);
        tokio::time::sleep(ROUND).await;
        serving.stop().await;
    }
    let calls = calling.end().await;
    let turns = turns.load(Ordering::Relaxed);
    let found = agreement::check(ledger, &office.book(), &calls).await;
    assert!(is_long || found.parked == 0, "nothing is lost in a short run: {found}");
    #[expect(clippy::print_stdout, reason = "the figures of a long run are for whoever started it")]
    {
        println!(
            "soak: {duration:?}, {travellers} travellers, {turns} turns, {rounds} rounds; {found}; {calls}"
        );
    }
    assert!(turns > travellers && found.decided > 0, "no load");
}

struct Traveller {
    speaker: Speaker,
    url: String,
    conversation: String,
    thinking: Duration,
    stopped: watch::Receiver<bool>,
    turns: Arc<AtomicUsize>,
}

impl Traveller {
    /// Opens a trip, has it rebooked whenever the airline has decided, and renames it in between.
    async fn travel(self) {
        let opened = json!({ "id": self.conversation });
        self.speaker.post_until_answered(&self.url, "/v1/conversations", &opened).await;
        self.turn("t-open", json!({"text": "open a trip to Lisbon for Ada Ferri on 3 May"})).await;
        let mut number = 0_u32;
        while !*self.stopped.borrow() {
            self.turn(&format!("t-{number}-ask"), json!({"text": "rebook it"})).await;
            let cards = self.speaker.get(&self.url, &self.path("cards")).await;
            if let Some(card) = cards["cards"].as_array().and_then(|cards| cards.first()) {
                let response = json!({
                    "interaction": card["id"],
                    "option": "confirm",
                    "expected_revision": card["expected_revision"],
                });
                self.turn(&format!("t-{number}-click"), json!({ "response": response })).await;
            }
            self.think().await;
            let text = format!("call it Spring {number}");
            self.turn(&format!("t-{number}-name"), json!({ "text": text })).await;
            self.think().await;
            number += 1;
        }
    }

    async fn think(&self) {
        let mut stopped = self.stopped.clone();
        let stopped = stopped.wait_for(|stopped| *stopped);
        drop(tokio::time::timeout(self.thinking, stopped).await);
    }

    async fn turn(&self, turn: &str, mut body: Value) {
        body["turn"] = json!(turn);
        let path = self.path("turns");
        let answer = self.speaker.post_until_answered(&self.url, &path, &body).await;
        assert_eq!(answer["turn"], turn, "{answer}");
        self.turns.fetch_add(1, Ordering::Relaxed);
    }

    fn path(&self, resource: &str) -> String {
        format!("/v1/conversations/{}/{resource}", self.conversation)
    }
}
