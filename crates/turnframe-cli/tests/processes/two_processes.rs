//! Two processes on one PostgreSQL ledger, sent turns of the same conversations.
//!
//! Every turn may be sent to either. One of them is stopped (SIGSTOP) past its lease in the middle of its turns, and
//! woken again, while clients go on as clients do: the same turn under the same id, at the other process. At
//! the end every turn of every conversation arrived once, was answered once and in order, and changed its record once.

use futures::future::join_all;
use serde_json::{Value, json};
use turnframe_test::postgres;
use turnframe_travel::AirlineSimulator;

use crate::support::{Serving, Speaker, of_type, until};

/// Enough that either process owns some of them.
const ACCOUNTS: usize = 12;
const CONVERSATIONS: usize = 2;
/// Turns of each conversation while both run, while one is stopped, and after it was woken.
const ROUNDS: [usize; 3] = [6, 6, 6];
const LEASE_MS: &str = "1500";

struct Talk {
    speaker: Speaker,
    conversation: String,
}

impl Talk {
    fn path(&self) -> String {
        format!("/v1/conversations/{}/turns", self.conversation)
    }

    async fn open(&self, url: &str) {
        let body = json!({"id": self.conversation});
        self.speaker.post_until_answered(url, "/v1/conversations", &body).await;
        let text = "open a trip to Lisbon for Ada Ferri on 3 May";
        self.turn(url, &json!({"turn": "t-open", "text": text})).await;
    }

    async fn turn(&self, url: &str, turn: &Value) -> Value {
        let answer = self.speaker.post_until_answered(url, &self.path(), turn).await;
        assert_eq!(answer["turn"], turn["turn"], "{answer}");
        answer
    }

    /// Turns one after another, each to the next of these processes.
    async fn go_on(&self, urls: &[&str], turns: std::ops::Range<usize>) {
        for number in turns {
            self.turn(urls[number % urls.len()], &renaming(number)).await;
        }
    }
}

fn renaming(number: usize) -> Value {
    json!({"turn": format!("t-{number}"), "text": format!("call it Spring {number}")})
}

async fn partitions(url: &str) -> u64 {
    let (watcher, _) = Speaker::new("nobody", "nobody");
    watcher.get(url, "/healthz").await["partitions"].as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_neither_lose_nor_repeat_a_turn_also_when_one_is_stopped_past_its_lease() {
    let database = postgres::shared().database().await;
    let airline = AirlineSimulator::start().await.expect("an airline");
    let (mut talks, mut tokens) = (Vec::new(), Vec::new());
    for account in 0..ACCOUNTS {
        for number in 0..CONVERSATIONS {
            let (account, actor) = (format!("account-{account}"), format!("actor-{number}"));
            let (speaker, token) = Speaker::new(&account, &actor);
            talks.push(Talk { speaker, conversation: format!("c-{number}") });
            tokens.push(token);
        }
    }
    let start = async || {
        let (ledger, airline) = (database.url(), airline.url());
        Serving::start(&ledger, &airline, &tokens, &["--lease-ms", LEASE_MS]).await
    };
    let (one, two) = (start().await, start().await);
    let both = [one.url.as_str(), two.url.as_str()];
    until("either owns its share", || async {
        partitions(both[0]).await == 32 && partitions(both[1]).await == 32
    })
    .await;

    // Both run, and either is asked for everything.
    join_all(talks.iter().enumerate().map(|(index, talk)| talk.open(both[index % 2]))).await;
    let mut done = ROUNDS[0];
    join_all(talks.iter().map(|talk| talk.go_on(&both, 0..done))).await;

    // One is stopped while it runs a turn of each conversation; its clients turn to the other one.
    let interrupted = done;
    let turn = renaming(interrupted);
    let posting = talks.iter().map(|talk| async {
        // Whatever comes of it: the same turn is posted again.
        let _ = talk.speaker.post(both[0], &talk.path(), &turn).await;
    });
    tokio::select! {
        _ = join_all(posting) => {}
        () = one.signal("STOP") => {}
    }
    join_all(talks.iter().map(|talk| talk.go_on(&both[1..], interrupted..done + ROUNDS[1]))).await;
    done += ROUNDS[1];
    until("the other one took everything over", || async { partitions(both[1]).await == 64 }).await;

    // It wakes up in the belief that nothing happened, and both are asked at once.
    one.signal("CONT").await;
    join_all(talks.iter().map(|talk| talk.go_on(&both, done..done + ROUNDS[2]))).await;
    done += ROUNDS[2];
    until("either owns its share again", || async {
        partitions(both[0]).await == 32 && partitions(both[1]).await == 32
    })
    .await;

    let expected: Vec<_> =
        std::iter::once("t-open".to_owned()).chain((0..done).map(|it| format!("t-{it}"))).collect();
    for (index, talk) in talks.iter().enumerate() {
        let path = format!("/v1/conversations/{}/transcript?limit=200", talk.conversation);
        let transcript = talk.speaker.get(both[index % 2], &path).await;
        for kind in ["turn", "answer"] {
            let turn = |item: &&Value| {
                let named = if kind == "turn" { *item } else { &item["answer"] };
                named["turn"].as_str().unwrap_or_default().to_owned()
            };
            let turns: Vec<_> = of_type(&transcript, kind).iter().map(turn).collect();
            assert_eq!(turns, expected, "{kind}s of conversation {index}");
        }
        for answer in of_type(&transcript, "answer") {
            assert_eq!(answer["answer"]["acts"][0]["result"], "applied", "{answer}");
        }
    }
    one.kill_nine().await;
    two.kill_nine().await;
}
