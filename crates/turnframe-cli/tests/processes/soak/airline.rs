//! The airline of a soak: it misbehaves by chance, decides late, and calls back late, twice and out of order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::{Client, StatusCode};
use tokio::sync::{Mutex, watch};
use tokio::task::{JoinHandle, JoinSet};
use turnframe_core::canonical::Digest;
use turnframe_core::source::Timestamp;
use turnframe_destinations::webhooks::Secrets;
use turnframe_travel::AirlineSimulator;
use turnframe_travel::airline::{
    AirlineBook, AirlineCallback, AirlineStatement, Behaviour, Standing,
};

/// How long a callback waits for the airline's next round, and a decision for its callback at the least.
const BEAT: Duration = Duration::from_millis(100);
/// The longest that the airline takes to say what it decided.
const LATE_MAX_MS: u64 = 3_000;

/// The airline's office.
pub(super) struct Office {
    simulator: Arc<AirlineSimulator>,
    secret: String,
    is_calm: Arc<AtomicBool>,
    open: Arc<AtomicUsize>,
}

/// A number from 0 to 255 that depends on these alone.
fn chance(what: &str, key: &str, number: usize) -> u8 {
    let number = number.to_be_bytes();
    Digest::of("soak", &[what.as_bytes(), key.as_bytes(), &number]).as_bytes()[0]
}

/// How the nth request under a key is met. Who is patient loses requests too: that one was not received is known after a
/// quarter of a minute and a look-up at the earliest.
fn meets(key: &str, nth: usize, is_patient: bool) -> Behaviour {
    let millis = |low: u64, span: u64| {
        let part = u64::from(chance("delay", key, nth)) * span / 256;
        Behaviour::Delay(Duration::from_millis(low + part))
    };
    let meets = chance("meets", key, nth);
    match if is_patient { meets } else { meets % 208 } {
        0..=139 => Behaviour::Accept,
        140..=160 => Behaviour::Refuse { code: "fully_booked".to_owned() },
        161..=175 => millis(200, 2_000),
        176..=189 => Behaviour::DropAfterCommit,
        190..=196 => Behaviour::ErrorAfterCommit,
        197..=202 => Behaviour::Garbled,
        203..=207 => Behaviour::Busy { proof: true },
        208..=214 => Behaviour::Busy { proof: false },
        215..=224 => Behaviour::ServerError,
        225..=238 => Behaviour::DropBeforeCommit,
        239..=248 => millis(10_500, 12_000),
        249..=255 => Behaviour::Hang,
    }
}

impl Office {
    pub(super) async fn open(secret: &str, is_patient: bool) -> Self {
        let simulator = Arc::new(AirlineSimulator::start().await.expect("an airline"));
        let is_calm = Arc::new(AtomicBool::new(false));
        let (calm, requests) = (is_calm.clone(), StdMutex::new(BTreeMap::<String, usize>::new()));
        simulator.rule(move |key, _| {
            let mut requests = requests.lock().expect("unpoisoned");
            let nth = requests.entry(key.to_owned()).or_default();
            *nth += 1;
            let is_calm = calm.load(Ordering::Relaxed);
            Some(if is_calm { Behaviour::Accept } else { meets(key, *nth, is_patient) })
        });
        let (secret, open) = (secret.to_owned(), Arc::new(AtomicUsize::new(0)));
        Self { simulator, secret, is_calm, open }
    }

    pub(super) fn url(&self) -> String {
        self.simulator.url()
    }

    pub(super) fn book(&self) -> AirlineBook {
        self.simulator.book()
    }

    /// Accepts whatever comes from now on.
    pub(super) fn calm_down(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
        self.simulator.fail_lookups(0);
    }

    /// Whether everything that was received is decided, and everybody was told.
    pub(super) fn has_called_back(&self) -> bool {
        let is_open = |standing: &Standing| matches!(standing, Standing::Received { .. });
        let undecided = self.book().all_performed().any(|(_, it)| is_open(&it.statement.standing));
        !undecided && self.open.load(Ordering::Relaxed) == 0
    }

    /// Decides on what it has, and calls back to an address.
    pub(super) fn call_back(&self, url: &str) -> Calling {
        let (url, current) = watch::channel(url.to_owned());
        let (stop, stopped) = watch::channel(false);
        let caller = Arc::new(Caller {
            simulator: self.simulator.clone(),
            secrets: Secrets::new([self.secret.as_str()]).expect("a secret"),
            forger: Secrets::new(["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"]).expect("a secret"),
            client: Client::new(),
            url: current,
            open: self.open.clone(),
            calls: Mutex::default(),
        });
        Calling { url, stop, calling: tokio::spawn(caller.go_on(stopped)) }
    }
}

/// An airline that calls back.
pub(super) struct Calling {
    url: watch::Sender<String>,
    stop: watch::Sender<bool>,
    calling: JoinHandle<Calls>,
}

impl Calling {
    pub(super) fn now_at(&self, url: &str) {
        self.url.send_replace(url.to_owned());
    }

    pub(super) async fn end(self) -> Calls {
        self.stop.send_replace(true);
        self.calling.await.expect("the airline called back")
    }
}

/// What the airline called back.
#[derive(Debug, Clone, Default)]
pub(super) struct Calls {
    /// Every statement that was delivered, by the key and the airline's count.
    pub(super) statements: BTreeSet<(String, u32)>,
    pub(super) delivered: usize,
    pub(super) repeated: usize,
    pub(super) forged: usize,
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { delivered, repeated, forged, .. } = self;
        write!(
            f,
            "{delivered} callbacks heard, {repeated} of them again, {forged} forged ones refused"
        )
    }
}

struct Caller {
    simulator: Arc<AirlineSimulator>,
    secrets: Secrets,
    forger: Secrets,
    client: Client,
    url: watch::Receiver<String>,
    /// Rebookings that are decided and not told completely.
    open: Arc<AtomicUsize>,
    calls: Mutex<Calls>,
}

impl Caller {
    async fn go_on(self: Arc<Self>, stopped: watch::Receiver<bool>) -> Calls {
        let (mut decided, mut telling) = (BTreeSet::new(), JoinSet::new());
        let mut beat = 0;
        while !*stopped.borrow() {
            tokio::time::sleep(BEAT).await;
            beat += 1;
            if beat % 20 == 0 {
                self.simulator.fail_lookups(2);
            }
            for (key, first) in self.undecided(&decided) {
                decided.insert(key.clone());
                self.open.fetch_add(1, Ordering::Relaxed);
                telling.spawn(self.clone().decide(key, first));
            }
        }
        while let Some(told) = telling.join_next().await {
            told.expect("told");
        }
        self.calls.lock().await.clone()
    }

    fn undecided(&self, decided: &BTreeSet<String>) -> Vec<(String, AirlineStatement)> {
        let book = self.simulator.book();
        let is_new = |key: &str, standing: &Standing| {
            matches!(standing, Standing::Received { .. }) && !decided.contains(key)
        };
        let undecided = book.all_performed();
        let undecided = undecided.filter(|(key, it)| is_new(key, &it.statement.standing));
        undecided.map(|(key, it)| (key.to_owned(), it.statement.clone())).collect()
    }

    /// Decides after a while, and tells: the decision late, perhaps twice, perhaps under another id, and perhaps followed
    /// by what was true before it.
    async fn decide(self: Arc<Self>, key: String, first: AirlineStatement) {
        let draw = |what: &str| chance(what, &key, 0);
        let millis = |what: &str| u64::from(draw(what)) * LATE_MAX_MS / 256;
        tokio::time::sleep(Duration::from_millis(millis("thinks"))).await;
        let decision = if draw("decides") < 180 {
            self.simulator.confirm(&key)
        } else {
            self.simulator.refuse(&key, "no_seats_left")
        };
        let decision = decision.expect("it was open");
        if draw("forges") < 40 {
            self.forge(&decision).await;
        }
        tokio::time::sleep(Duration::from_millis(millis("tells"))).await;
        let id = format!("w-{key}");
        self.tell(&id, &decision).await;
        if draw("repeats") < 100 {
            self.tell(&id, &decision).await;
        }
        if draw("renames") < 60 {
            self.tell(&format!("w-{key}-again"), &decision).await;
        }
        if draw("reorders") < 100 {
            let before = AirlineCallback { key: decision.key, statement: first };
            self.tell(&format!("w-{key}-before"), &before).await;
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Delivers until it is heard, as a caller does.
    async fn tell(&self, id: &str, callback: &AirlineCallback) {
        loop {
            let again = [StatusCode::SERVICE_UNAVAILABLE, StatusCode::TOO_MANY_REQUESTS];
            let answer = self.call(&self.secrets, id, callback).await;
            let Some((status, answer)) = answer.filter(|(status, _)| !again.contains(status))
            else {
                tokio::time::sleep(BEAT).await;
                continue;
            };
            assert_eq!(status, StatusCode::OK, "{answer}");
            let mut calls = self.calls.lock().await;
            calls.delivered += 1;
            calls.repeated += usize::from(answer.contains("repeated"));
            calls.statements.insert((callback.key.to_string(), callback.statement.sequence));
            return;
        }
    }

    /// Somebody else says the same.
    async fn forge(&self, callback: &AirlineCallback) {
        let answer = self.call(&self.forger, "w-forged", callback).await;
        if let Some((status, answer)) = answer {
            assert_eq!(status, StatusCode::FORBIDDEN, "{answer}");
            self.calls.lock().await.forged += 1;
        }
    }

    async fn call(
        &self,
        secrets: &Secrets,
        id: &str,
        callback: &AirlineCallback,
    ) -> Option<(StatusCode, String)> {
        let body = serde_json::to_vec(callback).expect("JSON");
        let url = format!("{}/v1/callbacks/airline", *self.url.borrow());
        let mut request = self.client.post(url).timeout(Duration::from_secs(30));
        for (name, value) in secrets.sign(id, now(), &body) {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await.ok()?;
        Some((response.status(), response.text().await.ok()?))
    }
}

#[expect(clippy::disallowed_methods, reason = "the process that it calls reads the same clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    Timestamp::from_micros(i64::try_from(since.as_micros()).expect("in range"))
}
