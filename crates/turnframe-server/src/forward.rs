//! Requests for accounts that another process takes work for: sent on to it, and its answer handed back.
//!
//! Several processes share a ledger, and a client may send any request to any of them. What an account's owner alone
//! can answer is sent on once: a request that was sent on already is not sent on again, so that two processes that
//! each take the other for the owner do not play ball with it. Where nobody takes work for the account, or the owner
//! cannot be reached, the answer says so, and never that a record does not exist.
//!
//! A turn that was sent on and not answered may have been accepted: like any turn of unknown fate it is sent again
//! under its id, and carried out once. Reading the ledger needs no owner and stays here.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::auth::Authenticated;
use crate::body::arriving;
use crate::problem::{IsElsewhere, Problem};
use crate::routes::App;

/// On a request that another process sent on.
const FORWARDED: HeaderName = HeaderName::from_static("turnframe-forwarded");

/// How long the owner may take beyond the wait for a turn's answer.
const OWNER_GRACE: Duration = Duration::from_secs(5);
/// How long a connection to the owner may take.
const CONNECT: Duration = Duration::from_secs(2);

/// Of one connection and not of the message (RFC 9110, 7.6.1), or said anew by whoever sends it.
const NOT_SENT_ON: [HeaderName; 8] = [
    header::CONNECTION,
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// The way to the other processes.
#[derive(Debug, Clone)]
pub(crate) struct Owners(reqwest::Client);

impl Owners {
    pub(crate) fn new(turn_wait: Duration) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .timeout(turn_wait + OWNER_GRACE);
        // What can fail is TLS and the system's own resolver, and neither is asked for.
        Self(client.build().expect("a plain HTTP client"))
    }
}

/// Serves a request here, or has it served by the account's owner.
pub(crate) async fn to_owner(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    // Nobody's request is nobody's to send on: its handler refuses it.
    let Ok(Authenticated(actor)) = app.authenticate(&parts.headers) else {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    let body = arriving(Request::from_parts(parts.clone(), body), &app).await?;
    if app.system.serves(&actor.account) {
        let here = Request::from_parts(parts.clone(), Body::from(body.clone()));
        let response = next.run(here).await;
        // The account changed hands while it was being served.
        if response.extensions().get::<IsElsewhere>().is_none() {
            return Ok(response);
        }
    }
    if parts.headers.contains_key(FORWARDED) {
        return Err(Problem::NOT_HERE);
    }
    let owner = app.system.owner(&actor.account).await;
    let owner = owner.map_err(|error| Problem::unavailable(&error))?;
    match owner.filter(|owner| !owner.is_here) {
        Some(owner) => send_on(&app.owners, &owner.address, &parts, body).await,
        None => Err(Problem::NOT_HERE),
    }
}

async fn send_on(
    owners: &Owners,
    address: &str,
    parts: &axum::http::request::Parts,
    body: Bytes,
) -> Result<Response, Problem> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let url = format!("{}{path}", address.trim_end_matches('/'));
    let mut headers = kept(&parts.headers);
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    let sent = owners.0.request(parts.method.clone(), url).headers(headers).body(body).send();
    let answered = sent.await.map_err(|error| Problem::unavailable(&error.without_url()))?;
    let (status, headers) = (answered.status(), kept(answered.headers()));
    let body = answered.bytes().await;
    let body = body.map_err(|error| Problem::unavailable(&error.without_url()))?;
    let mut response = (status, body).into_response();
    *response.headers_mut() = headers;
    Ok(response)
}

fn kept(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    NOT_SENT_ON.iter().for_each(|name| drop(kept.remove(name)));
    kept
}
