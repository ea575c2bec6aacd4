//! Requests for accounts that another process takes work for: sent on to it, and its answer handed back.
//!
//! Several processes share a ledger, and a client may send any request to any of them. What an account's owner alone
//! can answer is sent on once: a request that was sent on already is not sent on again, so that two processes that
//! each take the other for the owner do not play ball with it. Where nobody takes work for the account, or the owner
//! cannot be reached, the request waits for the next owner ([`crate::ServerLimits::owner_wait`]); past that the answer
//! says so, and never that a record does not exist.
//!
//! A turn that was sent on and not answered may have been accepted: like any turn of unknown fate it is sent again
//! under its id, and carried out once. Reading the ledger needs no owner and stays here.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use turnframe_core::id::AccountId;

use crate::auth::Authenticated;
use crate::body::arriving;
use crate::problem::Problem;
use crate::routes::App;

/// On a request that another process sent on.
const FORWARDED: HeaderName = HeaderName::from_static("turnframe-forwarded");

/// On an answer of a process that does not own the account.
pub(crate) const ELSEWHERE: HeaderName = HeaderName::from_static("turnframe-elsewhere");

/// How soon a request that nobody serves looks for an owner again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How often a request that waits for the owner's answer looks whether it still is the owner.
const LOOK_AT_OWNER: Duration = Duration::from_secs(1);
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

/// Serves a request here, or has it served by the account's owner. While the account changes hands, it waits: the
/// owner may be this process in the end.
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
    pass_on(&app, &actor.account, parts, body, next).await
}

/// Serves a request of an account, whose body has arrived, here or at the account's owner.
pub(crate) async fn pass_on(
    app: &App,
    account: &AccountId,
    parts: Parts,
    body: Bytes,
    next: Next,
) -> Result<Response, Problem> {
    let passage = Passage { app, account, parts, body, next };
    if let Some(response) = passage.serve_here().await {
        return Ok(response);
    }
    let permit = app.forwards.clone().try_acquire_owned().map_err(|_| Problem::OVERLOADED)?;
    let wait = app.limits.owner_wait;
    let served = tokio::time::timeout(wait, passage.have_it_served()).await;
    drop(permit);
    served.unwrap_or(Err(Problem::NOT_HERE))
}

/// A request on its way to whoever serves it.
struct Passage<'a> {
    app: &'a App,
    account: &'a AccountId,
    parts: Parts,
    body: Bytes,
    next: Next,
}

impl Passage<'_> {
    /// The answer of this process, where it takes work for the account until it has answered.
    async fn serve_here(&self) -> Option<Response> {
        if !self.app.system.serves(self.account) {
            return None;
        }
        let request = Request::from_parts(self.parts.clone(), Body::from(self.body.clone()));
        let response = self.next.clone().run(request).await;
        (!is_not_here(&response)).then_some(response)
    }

    async fn have_it_served(&self) -> Result<Response, Problem> {
        loop {
            if let Some(response) = self.serve_here().await {
                return Ok(response);
            }
            if self.parts.headers.contains_key(FORWARDED) {
                return Err(Problem::NOT_HERE);
            }
            if let Some(address) = self.owner().await? {
                let sent = send_on(&self.app.owners, &address, &self.parts, self.body.clone());
                tokio::select! {
                    answer = sent => match answer {
                        Ok(response) if !is_not_here(&response) => return Ok(response),
                        Ok(_) => {}
                        Err(error) => tracing::warn!(%error, "the owner did not answer"),
                    },
                    // It may be stopped, or cut off: whoever took over from it answers the same request.
                    () = self.is_not_owner(&address) => {}
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Where another process that owns the account is.
    async fn owner(&self) -> Result<Option<String>, Problem> {
        let owner = self.app.system.owner(self.account).await;
        let owner = owner.map_err(|error| Problem::unavailable(&error))?;
        Ok(owner.filter(|owner| !owner.is_here).map(|owner| owner.address))
    }

    /// Waits until the process at an address does not own the account.
    async fn is_not_owner(&self, address: &str) {
        loop {
            tokio::time::sleep(LOOK_AT_OWNER).await;
            // A database that does not say is no reason to give up on an owner that may well answer.
            if let Ok(owner) = self.owner().await
                && owner.is_none_or(|owner| owner != address)
            {
                return;
            }
        }
    }
}

/// Whether a process that took a request on does not own its account any more.
fn is_not_here(response: &Response) -> bool {
    response.headers().get(ELSEWHERE).is_some()
}

async fn send_on(
    owners: &Owners,
    address: &str,
    parts: &Parts,
    body: Bytes,
) -> Result<Response, reqwest::Error> {
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let url = format!("{}{path}", address.trim_end_matches('/'));
    let mut headers = kept(&parts.headers);
    headers.insert(FORWARDED, HeaderValue::from_static("1"));
    let sent = owners.0.request(parts.method.clone(), url).headers(headers).body(body).send();
    let answered = sent.await.map_err(reqwest::Error::without_url)?;
    let (status, headers) = (answered.status(), kept(answered.headers()));
    let body = answered.bytes().await.map_err(reqwest::Error::without_url)?;
    let mut response = (status, body).into_response();
    *response.headers_mut() = headers;
    Ok(response)
}

fn kept(headers: &HeaderMap) -> HeaderMap {
    let mut kept = headers.clone();
    NOT_SENT_ON.iter().for_each(|name| drop(kept.remove(name)));
    kept
}
