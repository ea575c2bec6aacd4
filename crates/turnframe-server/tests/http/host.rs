//! A served system, and clients of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use turnframe_actors::{Limits, System, SystemParts};
use turnframe_core::context::ActorContext;
use turnframe_core::id::AccountId;
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::understanding::{Brief, Understanding};
use turnframe_ledger::open::{Opened, open};
use turnframe_ledger::{EventLedger, PartitionId, Position};
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::port::{DestinationProfile, Interpreter, InterpreterError};
use turnframe_server::{ServerLimits, Tokens, serve};
use turnframe_test::fault::CrashSwitch;
use turnframe_test::literal;
use turnframe_test::sample::{DESK_OFFICE, DeskWorkflow};
use turnframe_test::script::{
    Behaviour, ScriptedDestination, ScriptedInterpreter, hangs, means, propose,
};
use turnframe_test::sources::{self, ManualClock};

use crate::callbacks::{Signed, secrets};
use crate::live::Following;

/// Longer than anything here takes; what is waited for comes, or the test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const ADA: &str = "the-token-of-ada-at-acme";
pub(crate) const BEN: &str = "the-token-of-ben-at-beta";
pub(crate) const GRACE: &str = "the-token-of-grace-who-operates";

/// What the scripted messages mean.
fn script() -> ScriptedInterpreter {
    let order = |message: &'static str| {
        means(move |brief| propose(brief).act(message, "desk.order").on("Emma"))
    };
    ScriptedInterpreter::new()
        .on(
            "open a loan of Emma",
            means(|brief| {
                propose(brief)
                    .act("open a loan of Emma", "desk.open")
                    .creating()
                    .slot("title", "Emma")
            }),
        )
        .on(
            "note large print",
            means(|brief| {
                propose(brief)
                    .act("note large print", "desk.note")
                    .on("Emma")
                    .slot("note", "large print")
            }),
        )
        .on("order it", order("order it"))
        .on("hello", means(|brief| propose(brief).remark("hello")))
        .on("never", hangs())
}

/// An interpreter that waits for its gate, so that a test says when a turn goes on.
struct Gated {
    script: ScriptedInterpreter,
    open: watch::Receiver<bool>,
}

#[async_trait]
impl Interpreter for Gated {
    fn version(&self) -> String {
        self.script.version()
    }

    async fn understand(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        let mut open = self.open.clone();
        let opened = open.wait_for(|open| *open).await;
        opened.map_err(|_| InterpreterError::Unavailable("the gate is gone".to_owned()))?;
        self.script.understand(brief, refused).await
    }
}

/// What a host is made of. [`Setup::default`] is a host with an open gate on a ledger in memory.
pub(crate) struct Setup {
    /// Bound before, where somebody has to know the address first.
    pub(crate) listener: Option<TcpListener>,
    pub(crate) opened: Option<Opened>,
    pub(crate) limits: ServerLimits,
    pub(crate) turns_waiting_max: usize,
    pub(crate) is_gate_open: bool,
    /// What becomes of an order that the office is sent.
    pub(crate) office: Behaviour,
    pub(crate) profile: DestinationProfile,
    pub(crate) seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            listener: None,
            opened: None,
            limits: ServerLimits::default(),
            turns_waiting_max: Limits::default().turns_waiting_max,
            is_gate_open: true,
            office: Behaviour::accepts(),
            profile: DestinationProfile::default(),
            seed: 1,
        }
    }
}

/// A served system.
pub(crate) struct Host {
    client: Client,
    base: String,
    pub(crate) ledger: Arc<dyn EventLedger>,
    pub(crate) office: Arc<ScriptedDestination>,
    pub(crate) gate: watch::Sender<bool>,
    /// Moves only when a test moves it.
    pub(crate) clock: Arc<ManualClock>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<std::io::Result<()>>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    async fn of(response: Response) -> Self {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.expect("a body") }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).expect("JSON")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    /// The problem's code; empty where it is none.
    pub(crate) fn code(&self) -> String {
        if self.header("content-type") != Some("application/problem+json") {
            return String::new();
        }
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// This answer, which is a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.text);
        self.json()
    }
}

impl Host {
    pub(crate) async fn start() -> Self {
        Self::start_with(Setup::default()).await
    }

    /// A host on a SQLite file. Each start is given a seed of its own, as each start of a process is.
    pub(crate) async fn start_on(path: &Path, seed: u64) -> Self {
        let opened = open(path.to_str().expect("UTF-8"), None).await.expect("a ledger");
        Self::start_with(Setup { opened: Some(opened), seed, ..Setup::default() }).await
    }

    pub(crate) async fn start_with(setup: Setup) -> Self {
        let opened = match setup.opened {
            Some(opened) => opened,
            None => open("memory:", None).await.expect("a ledger"),
        };
        let clock = Arc::new(ManualClock::new(sources::START));
        let (gate, is_open) = watch::channel(setup.is_gate_open);
        let office = ScriptedDestination::new(DESK_OFFICE, move |_| setup.office.clone());
        let office = office.calling_back(Signed(secrets())).with_profile(setup.profile);
        let office = Arc::new(office);
        let limits = Limits {
            turns_waiting_max: setup.turns_waiting_max,
            shutdown: Duration::from_millis(200),
            ..Limits::default()
        };
        let system = System::start(SystemParts {
            ledger: opened.ledger.clone(),
            snapshots: opened.snapshots.clone(),
            registry: WorkflowRegistry::new().with(DeskWorkflow).expect("registry"),
            interpreter: Arc::new(Gated { script: script(), open: is_open }),
            narrator: None,
            directory: Arc::new(LedgerDirectory::new(opened.ledger.clone())),
            destinations: vec![office.clone()],
            domain_actors: Vec::new(),
            ids: sources::ids_on(clock.clone(), setup.seed),
            limits,
        });
        let system = system.await.expect("a system");
        let listener = match setup.listener {
            Some(listener) => listener,
            None => TcpListener::bind("127.0.0.1:0").await.expect("a port"),
        };
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel();
        let until = async { drop(stopped.await) };
        let served = tokio::spawn(serve(listener, system, tokens(), setup.limits, until));
        let (client, ledger) = (Client::new(), opened.ledger);
        Self { client, base, ledger, office, gate, clock, stop: Some(stop), served }
    }

    /// Stops in order. Whoever holds the ledger besides has to let go of it by themselves.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        let served = tokio::time::timeout(PATIENCE, self.served).await;
        served.expect("in time").expect("a task").expect("served");
    }

    pub(crate) fn client(&self, token: &'static str) -> Desk<'_> {
        Desk { host: self, token, conversation: "c1" }
    }

    pub(crate) fn ada(&self) -> Desk<'_> {
        self.client(ADA)
    }

    pub(crate) fn ben(&self) -> Desk<'_> {
        self.client(BEN)
    }

    /// Any request.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Answer {
        Answer::of(self.respond(method, path, headers, body).await).await
    }

    pub(crate) async fn respond(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Response {
        let mut request = self.client.request(method, format!("{}{path}", self.base));
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a header name");
            request = request.header(name, *value);
        }
        if let Some(body) = body {
            request = request.body(body.to_vec());
        }
        let sent = tokio::time::timeout(PATIENCE, request.send()).await;
        sent.expect("in time").expect("an answer")
    }

    /// Sends bytes as they are, and reads what comes back up to the end of its JSON object.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let address = self.base.trim_start_matches("http://");
        let mut stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
        stream.write_all(bytes).await.expect("sent");
        let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
        while !String::from_utf8_lossy(&answer).contains('}') {
            let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer)).await;
            let read = read.expect("in time").expect("a read");
            assert!(read > 0, "the connection was closed without an answer");
            answer.extend_from_slice(&buffer[..read]);
        }
        String::from_utf8(answer).expect("UTF-8")
    }

    /// How much is written in an account's partition.
    pub(crate) async fn head(&self, account: &str) -> Position {
        let account: AccountId = literal(account);
        self.ledger.head(PartitionId::of(&account)).await.expect("a head")
    }
}

fn tokens() -> Tokens {
    let actor = |account: &str, actor: &str| ActorContext {
        account: literal(account),
        actor: literal(actor),
        locale: literal("en"),
        time_zone: "UTC".to_owned(),
    };
    Tokens::new()
        .with(ADA, actor("acme", "ada"))
        .and_then(|tokens| tokens.with(BEN, actor("beta", "ben")))
        .and_then(|tokens| tokens.with_operator(GRACE, literal("grace")))
        .expect("tokens")
}

/// A client of one actor in one conversation.
#[derive(Clone, Copy)]
pub(crate) struct Desk<'a> {
    host: &'a Host,
    token: &'static str,
    conversation: &'static str,
}

impl<'a> Desk<'a> {
    /// The same actor in another conversation.
    pub(crate) const fn in_conversation(self, conversation: &'static str) -> Self {
        Self { conversation, ..self }
    }

    pub(crate) fn path(self, resource: &str) -> String {
        format!("/v1/conversations/{}/{resource}", self.conversation)
    }

    fn bearer(self) -> String {
        format!("Bearer {}", self.token)
    }

    pub(crate) async fn get(self, resource: &str) -> Answer {
        let bearer = self.bearer();
        let headers = [("authorization", bearer.as_str())];
        self.host.send(Method::GET, &self.path(resource), &headers, None).await
    }

    /// Opens the conversation.
    pub(crate) async fn open(self) -> Self {
        let body = json!({ "id": self.conversation });
        self.post_to("/v1/conversations", &body.to_string(), &[]).await.ok();
        self
    }

    pub(crate) async fn post_to(self, path: &str, body: &str, more: &[(&str, &str)]) -> Answer {
        let bearer = self.bearer();
        let mut headers =
            vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend_from_slice(more);
        self.host.send(Method::POST, path, &headers, Some(body.as_bytes())).await
    }

    /// Posts a turn, as it is.
    pub(crate) async fn post(self, body: &Value) -> Answer {
        self.post_to(&self.path("turns"), &body.to_string(), &[]).await
    }

    /// Says something.
    pub(crate) async fn say(self, turn: &str, text: &str) -> Answer {
        self.post(&json!({ "turn": turn, "text": text })).await
    }

    /// Clicks an option of a card.
    pub(crate) async fn click(self, turn: &str, card: &Value, option: &str) -> Answer {
        self.post(&json!({ "turn": turn, "response": click(card, option) })).await
    }

    /// The only card that is open here.
    pub(crate) async fn only_card(self) -> Value {
        let cards = self.get("cards").await.ok()["cards"].take();
        let cards = cards.as_array().expect("cards").clone();
        assert_eq!(cards.len(), 1, "{cards:?}");
        cards[0].clone()
    }

    pub(crate) async fn items(self) -> Vec<Value> {
        let page = self.get("transcript").await.ok();
        page["items"].as_array().expect("items").clone()
    }

    /// Follows the conversation.
    pub(crate) async fn follow(self, query: &str, last_event_id: Option<u64>) -> Following {
        let (bearer, path) = (self.bearer(), format!("{}{query}", self.path("events")));
        let last = last_event_id.map(|id| id.to_string());
        let mut headers = vec![("authorization", bearer.as_str())];
        headers.extend(last.iter().map(|id| ("last-event-id", id.as_str())));
        let response = self.host.respond(Method::GET, &path, &headers, None).await;
        assert_eq!(response.status().as_u16(), 200);
        Following::of(response)
    }

    /// A loan of Emma with its branch chosen: five events of ours, two turns.
    pub(crate) async fn loan(self) -> Self {
        self.open().await.say("t-open", "open a loan of Emma").await.ok();
        let card = self.only_card().await;
        self.click("t-branch", &card, "north").await.ok();
        self
    }
}

/// What a client says about a card: all that it can.
pub(crate) fn click(card: &Value, option: &str) -> Value {
    json!({
        "interaction": card["id"],
        "option": option,
        "expected_revision": card["expected_revision"],
    })
}

/// A host whose ledger can be taken away.
pub(crate) async fn with_a_ledger_that_can_go(limits: ServerLimits) -> (Host, CrashSwitch) {
    use turnframe_test::fault::{FaultLedger, FaultPlan};
    let switch = CrashSwitch::new();
    let opened = open("memory:", None).await.expect("a ledger");
    let ledger = FaultLedger::new(opened.ledger, FaultPlan::none(), switch.clone());
    let opened = Opened { ledger: Arc::new(ledger), snapshots: opened.snapshots };
    (Host::start_with(Setup { opened: Some(opened), limits, ..Setup::default() }).await, switch)
}
