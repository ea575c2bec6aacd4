//! An airline to test against: a real HTTP server on a port of its own, with a book that says what it did.
//!
//! It honours idempotency keys: whatever it is sent how often, a key has at most one effect in the book. What it
//! answers is scripted, down to a connection that drops after the effect and before the answer, which is how an
//! outcome becomes unknown in earnest.

mod book;
mod connection;
mod script;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use book::{AirlineBook, Performed};
pub use script::Behaviour;

use super::protocol::{
    AirlineCallback, AirlineRequest, AirlineStatement, CodeBody, IDEMPOTENCY_KEY, NOT_PROCESSED,
    Standing, UNKNOWN_KEY,
};
use connection::{Connection, Listener};
use script::Script;

/// A simulated airline. Dropped, it stops at once; [`AirlineSimulator::stop`] lets answers out first.
#[derive(Debug)]
pub struct AirlineSimulator {
    address: SocketAddr,
    desk: Arc<Desk>,
    stopping: watch::Sender<bool>,
    server: JoinHandle<io::Result<()>>,
}

impl AirlineSimulator {
    /// Starts an airline on a free port of this machine.
    ///
    /// # Errors
    /// When no port can be bound.
    pub async fn start() -> io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// Starts an airline with an empty book at an address, such as the one of an airline that was stopped.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn start_at(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (stopping, stopped) = watch::channel(false);
        let desk = Arc::new(Desk {
            book: watch::Sender::default(),
            script: Mutex::default(),
            stopping: stopped.clone(),
        });
        let app = Router::new()
            .route("/rebookings", post(rebook))
            .route("/rebookings/by-key/{key}", get(by_key))
            .with_state(Arc::clone(&desk))
            .into_make_service_with_connect_info::<Connection>();
        let serving = axum::serve(Listener(listener), app).with_graceful_shutdown(told(stopped));
        let server = tokio::spawn(serving.into_future());
        Ok(Self { address, desk, stopping, server })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as [`super::AirlineDestination::new`] takes it.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets how the next request to rebook is met. Several are met in the order in which they were set.
    pub fn next(&self, behaviour: Behaviour) {
        lock(&self.desk.script).next(behaviour);
    }

    /// Sets how requests are met that no [`AirlineSimulator::next`] is for. Without a rule, or where it says
    /// nothing, they are accepted.
    pub fn rule(
        &self,
        rule: impl Fn(&str, &AirlineRequest) -> Option<Behaviour> + Send + Sync + 'static,
    ) {
        lock(&self.desk.script).rule(Box::new(rule));
    }

    /// Sets how many look-ups by key give no answer before one does.
    pub fn fail_lookups(&self, count: u32) {
        lock(&self.desk.script).fail_lookups(count);
    }

    /// What it has been sent and what it did, as of now.
    #[must_use]
    pub fn book(&self) -> AirlineBook {
        self.desk.book.borrow().clone()
    }

    /// Waits until the book says something, such as that a delayed request was processed.
    pub async fn until(&self, says: impl FnMut(&AirlineBook) -> bool) -> AirlineBook {
        let mut changes = self.desk.book.subscribe();
        // The book lives as long as `self`, so waiting for it cannot fail; then as now, this is the book.
        let _ = changes.wait_for(says).await;
        self.book()
    }

    /// Has the airline agree to a rebooking in its book, and returns the callback that says so.
    #[must_use]
    pub fn confirm(&self, key: &str) -> Option<AirlineCallback> {
        self.desk.write(|book| book.decide(key, None))
    }

    /// Has the airline refuse a rebooking in its book after all, and returns the callback that says so.
    #[must_use]
    pub fn refuse(&self, key: &str, code: &str) -> Option<AirlineCallback> {
        self.desk.write(|book| book.decide(key, Some(code)))
    }

    /// Stops listening, lets the answers out that are due, and ends. Requests that were left hanging are turned
    /// away.
    ///
    /// # Errors
    /// When the server failed.
    pub async fn stop(mut self) -> io::Result<()> {
        // An error means that the server is gone already, which is what was wanted.
        let _ = self.stopping.send(true);
        (&mut self.server).await.map_err(io::Error::other)?
    }
}

impl Drop for AirlineSimulator {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// What the handlers share.
#[derive(Debug)]
struct Desk {
    book: watch::Sender<AirlineBook>,
    script: Mutex<Script>,
    stopping: watch::Receiver<bool>,
}

impl Desk {
    /// Writes in the book, and tells whoever waits for it.
    fn write<T>(&self, write: impl FnOnce(&mut AirlineBook) -> T) -> T {
        let mut written = None;
        self.book.send_modify(|book| written = Some(write(book)));
        written.expect("a modification runs exactly once")
    }

    fn commit(&self, key: &str, request: &AirlineRequest) -> Response {
        answer(self.write(|book| book.accept(key, request)))
    }
}

async fn rebook(
    State(desk): State<Arc<Desk>>,
    ConnectInfo(connection): ConnectInfo<Connection>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let Some(key) = headers.get(IDEMPOTENCY_KEY).and_then(|key| key.to_str().ok()) else {
        return code(StatusCode::BAD_REQUEST, "key_missing");
    };
    let Ok(request) = serde_json::from_slice::<AirlineRequest>(&body) else {
        return code(StatusCode::UNPROCESSABLE_ENTITY, "request_unreadable");
    };
    desk.write(|book| book.receive(key, &request));
    let behaviour = lock(&desk.script).behaviour(key, &request);
    match behaviour {
        Behaviour::Accept => desk.commit(key, &request),
        Behaviour::Refuse { code } => answer(desk.write(|book| book.refuse(key, &request, &code))),
        Behaviour::Delay(delay) => delayed(desk, key.to_owned(), request, delay).await,
        Behaviour::DropAfterCommit => {
            let _ = desk.commit(key, &request);
            match connection.drop_it().await {}
        }
        Behaviour::DropBeforeCommit => match connection.drop_it().await {},
        Behaviour::ErrorAfterCommit => {
            let _ = desk.commit(key, &request);
            code(StatusCode::INTERNAL_SERVER_ERROR, "broken")
        }
        Behaviour::ServerError => code(StatusCode::INTERNAL_SERVER_ERROR, "broken"),
        Behaviour::Busy { proof } => busy(proof),
        Behaviour::Garbled => {
            let _ = desk.commit(key, &request);
            (StatusCode::ACCEPTED, "<html>").into_response()
        }
        Behaviour::Hang => {
            told(desk.stopping.clone()).await;
            busy(true)
        }
    }
}

async fn by_key(State(desk): State<Arc<Desk>>, Path(key): Path<String>) -> Response {
    if lock(&desk.script).fails_lookup() {
        return code(StatusCode::INTERNAL_SERVER_ERROR, "broken");
    }
    let statement = desk.book.borrow().performed(&key).map(|it| it.statement.clone());
    match statement {
        Some(statement) => (StatusCode::OK, Json(statement)).into_response(),
        None => code(StatusCode::NOT_FOUND, UNKNOWN_KEY),
    }
}

/// Processes a request after a while, whether or not its sender still waits: an airline does not notice.
async fn delayed(
    desk: Arc<Desk>,
    key: String,
    request: AirlineRequest,
    delay: Duration,
) -> Response {
    let processing = tokio::spawn(async move {
        tokio::select! {
            () = tokio::time::sleep(delay) => desk.commit(&key, &request),
            () = told(desk.stopping.clone()) => busy(true),
        }
    });
    processing.await.unwrap_or_else(|_| code(StatusCode::INTERNAL_SERVER_ERROR, "broken"))
}

fn answer(statement: Option<AirlineStatement>) -> Response {
    let Some(statement) = statement else {
        return code(StatusCode::UNPROCESSABLE_ENTITY, "key_reused");
    };
    let status = match statement.standing {
        Standing::Received { .. } | Standing::Confirmed { .. } => StatusCode::ACCEPTED,
        Standing::Refused { .. } => StatusCode::UNPROCESSABLE_ENTITY,
    };
    (status, Json(statement)).into_response()
}

fn busy(proof: bool) -> Response {
    let mut response = code(StatusCode::SERVICE_UNAVAILABLE, "busy");
    let headers = response.headers_mut();
    headers.insert("retry-after", axum::http::HeaderValue::from_static("1"));
    if proof {
        headers.insert(NOT_PROCESSED, axum::http::HeaderValue::from_static("true"));
    }
    response
}

fn code(status: StatusCode, code: &str) -> Response {
    (status, Json(CodeBody { code: code.to_owned() })).into_response()
}

/// Returns once the simulator is told to stop, or is gone.
async fn told(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

/// Whoever panicked while holding the lock left whole records behind: each is written in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a dropped connection answers.
type Never = Infallible;
