//! The real binary as a client meets it: started, killed, stopped and woken, and spoken to over HTTP.

use std::process::Stdio;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

/// Longer than anything takes that waits here.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// How soon something that is waited for is looked at again.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What the environment says of a number, or what is usual.
pub(crate) fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// A `turnframe serve`.
pub(crate) struct Serving {
    child: Child,
    pub(crate) url: String,
}

impl Serving {
    pub(crate) async fn start(
        ledger: &str,
        airline: &str,
        tokens: &[String],
        more: &[&str],
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnframe"));
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--airline", airline]);
        command.args(["--ledger", ledger]).args(more);
        for token in tokens {
            command.args(["--token", token]);
        }
        let command = command.stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let line = lines.next_line().await.expect("it can be read").expect("it says where it is");
        let listening: Value = serde_json::from_str(&line).expect("an object");
        let url = listening["url"].as_str().expect("an address").to_owned();
        Self { child, url }
    }

    pub(crate) async fn kill_nine(mut self) {
        self.child.kill().await.expect("it dies");
    }

    /// Lets it shut down in order.
    pub(crate) async fn stop(mut self) {
        self.signal("TERM").await;
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.expect("it ends in time").expect("it ends");
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status().await;
        assert!(sent.expect("kill runs").success());
    }
}

/// Somebody with a token.
pub(crate) struct Speaker {
    client: Client,
    secret: String,
}

impl Speaker {
    /// An actor of an account, and the argument that makes its token known.
    pub(crate) fn new(account: &str, actor: &str) -> (Self, String) {
        let secret = format!("the-secret-of-{actor}-at-{account}");
        let token = format!("{account}/{actor}={secret}");
        (Self { client: Client::new(), secret }, token)
    }

    /// Posts once. An error is a connection that failed, or a 503 or 429 that says to post again.
    pub(crate) async fn post(&self, url: &str, path: &str, body: &Value) -> Result<Value, String> {
        let request = self.client.post(format!("{url}{path}")).bearer_auth(&self.secret).json(body);
        let response = request.timeout(PATIENCE).send().await.map_err(|it| it.to_string())?;
        let status = response.status();
        let text = response.text().await.map_err(|error| error.to_string())?;
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            return Err(text);
        }
        assert!(status.is_success(), "{status}: {text}");
        Ok(serde_json::from_str(&text).expect("JSON"))
    }

    /// Posts until it is answered, as a client does: the same turn under the same id.
    pub(crate) async fn post_until_answered(&self, url: &str, path: &str, body: &Value) -> Value {
        let posting = async {
            loop {
                match self.post(url, path, body).await {
                    Ok(answer) => return answer,
                    Err(_) => tokio::time::sleep(LOOK_AGAIN).await,
                }
            }
        };
        tokio::time::timeout(PATIENCE, posting).await.expect("answered in time")
    }

    pub(crate) async fn get(&self, url: &str, path: &str) -> Value {
        self.try_get(url, path).await.expect("an answer")
    }

    /// Gets once. An error is a connection that failed, or a 503 that says to ask again.
    pub(crate) async fn try_get(&self, url: &str, path: &str) -> Result<Value, String> {
        let request = self.client.get(format!("{url}{path}")).bearer_auth(&self.secret);
        let response = request.timeout(PATIENCE).send().await.map_err(|it| it.to_string())?;
        let status = response.status();
        let text = response.text().await.map_err(|error| error.to_string())?;
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(text);
        }
        assert!(status.is_success(), "{status}: {text}");
        Ok(serde_json::from_str(&text).expect("JSON"))
    }
}

/// Waits until something holds.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let looks = async {
        while !holds().await {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let held = tokio::time::timeout(PATIENCE, looks).await;
    assert!(held.is_ok(), "not in time: {what}");
}

/// The items of a transcript of a type.
pub(crate) fn of_type<'a>(transcript: &'a Value, name: &str) -> Vec<&'a Value> {
    let items = transcript["items"].as_array().expect("items");
    items.iter().filter(|item| item["type"] == name).collect()
}
