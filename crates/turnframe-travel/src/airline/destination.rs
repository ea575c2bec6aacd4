//! The airline as a destination: one HTTP request per call, and an honest reading of what came of it.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::HeaderMap;
use reqwest::{Client, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use turnframe_core::canonical::Json;
use turnframe_core::id::DestinationKey;
use turnframe_destinations::webhooks::Secrets;
use turnframe_runtime::port::{
    Callbacks, Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};

use super::callbacks::AirlineCallbacks;
use super::order::{DESTINATION, OPERATION_REBOOK, RebookingOrder};
use super::protocol::{
    AirlineDetails, AirlineRequest, AirlineStatement, CodeBody, IDEMPOTENCY_KEY, NOT_PROCESSED,
    Standing, TakenBody, UNKNOWN_KEY,
};
use crate::key::literal;
use crate::text_rule::check_line;

/// How long making a connection may take. Shorter than an attempt, so that a dead host is a proof of "not sent"
/// and not a timeout of unknown outcome.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest answer that is read, in bytes.
const ANSWER_MAX_BYTES: usize = 64 * 1024;

/// An address that the airline cannot be reached under.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AirlineAddressError {
    /// It is no absolute HTTP address.
    #[error("{0:?} is not an absolute http address that paths can be put to")]
    Address(String),
    /// The HTTP client cannot be built.
    #[error("the HTTP client for the airline cannot be built: {0}")]
    Client(#[from] reqwest::Error),
}

/// The airline, reached over HTTP.
#[derive(Debug, Clone)]
pub struct AirlineDestination {
    client: Client,
    base: Url,
    profile: DestinationProfile,
    callbacks: Option<AirlineCallbacks>,
}

impl AirlineDestination {
    /// The airline behind an address such as `http://127.0.0.1:8000`.
    ///
    /// # Errors
    /// [`AirlineAddressError`] when the address is not absolute HTTP, or no client can be built for it.
    pub fn new(address: &str) -> Result<Self, AirlineAddressError> {
        let unusable = || AirlineAddressError::Address(address.to_owned());
        let base = Url::parse(address).map_err(|_| unusable())?;
        if !base.scheme().starts_with("http") || base.cannot_be_a_base() {
            return Err(unusable());
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            // A connection that idled may be dead without anybody knowing, and whatever fails on it is of unknown
            // outcome. A fresh one fails as a proof that nothing was sent.
            .pool_max_idle_per_host(0)
            // Each of these would send a second time behind our back.
            .retry(reqwest::retry::never())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .build()?;
        let profile =
            DestinationProfile { resending: Resending::Never, ..DestinationProfile::default() };
        Ok(Self { client, base, profile, callbacks: None })
    }

    /// The same airline, which calls back and signs with one of these secrets.
    #[must_use]
    pub fn calling_back(self, secrets: Secrets) -> Self {
        Self { callbacks: Some(AirlineCallbacks { secrets }), ..self }
    }

    /// The same airline, treated differently. The timeout is what one attempt may take.
    #[must_use]
    pub fn with_profile(self, profile: DestinationProfile) -> Self {
        Self { profile, ..self }
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

#[async_trait]
impl Destination for AirlineDestination {
    fn key(&self) -> DestinationKey {
        literal(DESTINATION)
    }

    fn profile(&self) -> DestinationProfile {
        self.profile.clone()
    }

    fn callbacks(&self) -> Option<&dyn Callbacks> {
        self.callbacks.as_ref().map(|callbacks| callbacks as &dyn Callbacks)
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        let request = match request_of(delivery) {
            Ok(request) => request,
            Err(reason) => return Dispatched::NotSent { reason },
        };
        let sent = self
            .client
            .post(self.url(&["rebookings"]))
            .header(IDEMPOTENCY_KEY, delivery.idempotency_key())
            .timeout(self.profile.timeout)
            .json(&request)
            .send()
            .await;
        match sent {
            Ok(response) => dispatched(response).await,
            Err(error) if error.is_connect() => {
                Dispatched::NotSent { reason: format!("no connection was made: {}", chain(&error)) }
            }
            Err(error) => Dispatched::Unknown { reason: chain(&error) },
        }
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        let key = delivery.idempotency_key();
        let url = self.url(&["rebookings", "by-key", &key]);
        match self.client.get(url).timeout(self.profile.timeout).send().await {
            Ok(response) => reconciled(response).await,
            Err(error) => Reconciled::StillUnknown { reason: chain(&error) },
        }
    }
}

/// What goes over the wire: here, and nowhere before, names leave their personal parts.
fn request_of(delivery: &Delivery) -> Result<AirlineRequest, String> {
    if delivery.operation != OPERATION_REBOOK {
        return Err(format!("the airline has no operation {:?}", delivery.operation));
    }
    let order: RebookingOrder = delivery.payload.read().map_err(|error| error.to_string())?;
    let RebookingOrder { destination, date, departure, travellers, protected_legs } = order;
    let names = travellers.iter().map(|name| name.value().cloned());
    let travellers = names
        .collect::<Option<Vec<_>>>()
        .ok_or("a traveller's name was erased before the order was sent")?;
    Ok(AirlineRequest { destination, date, departure, travellers, protected_legs })
}

async fn dispatched(response: Response) -> Dispatched {
    let status = response.status();
    let unprocessed = is_unprocessed(status, response.headers());
    let body = body(response).await;
    if unprocessed {
        return Dispatched::NotSent { reason: format!("the airline turned it away ({status})") };
    }
    let answer = match body {
        Ok(body) => read_answer(status, &body),
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|reason| Dispatched::Unknown { reason: format!("{status}: {reason}") })
}

/// Reads an answer to a request that the airline may have processed.
fn read_answer(status: StatusCode, body: &[u8]) -> Result<Dispatched, String> {
    if status == StatusCode::ACCEPTED {
        let taken: TakenBody = read(body)?;
        return accepted(taken.reference, &taken.details);
    }
    if is_refusal(status) {
        let CodeBody { code } = read(body)?;
        return rejected(code, Json::default());
    }
    Err("the status says neither that it was taken nor that it was refused".to_owned())
}

async fn reconciled(response: Response) -> Reconciled {
    let status = response.status();
    let found = match body(response).await {
        Ok(body) => read_record(status, &body),
        Err(error) => Err(error),
    };
    found
        .unwrap_or_else(|reason| Reconciled::StillUnknown { reason: format!("{status}: {reason}") })
}

fn read_record(status: StatusCode, body: &[u8]) -> Result<Reconciled, String> {
    if status == StatusCode::OK {
        let AirlineStatement { standing, sequence } = read(body)?;
        return said(standing, sequence).map(Reconciled::Found);
    }
    // A 404 of whatever stands in between says nothing about the airline's book.
    if status == StatusCode::NOT_FOUND && read::<CodeBody>(body)?.code == UNKNOWN_KEY {
        return Ok(Reconciled::NotFound);
    }
    Err("the look-up gave no answer".to_owned())
}

/// What a statement of the airline comes to.
pub(super) fn said(standing: Standing, sequence: u32) -> Result<Dispatched, String> {
    let details =
        |status: &str| AirlineDetails { status: Some(status.to_owned()), sequence: Some(sequence) };
    match standing {
        Standing::Received { reference } => accepted(reference, &details("received")),
        Standing::Confirmed { reference } => accepted(reference, &details("confirmed")),
        Standing::Refused { code } => {
            let details = Json::of(&details("refused")).map_err(|error| error.to_string())?;
            rejected(code, details)
        }
    }
}

fn accepted(reference: String, details: &AirlineDetails) -> Result<Dispatched, String> {
    check_line(&reference).map_err(|fault| format!("the reference cannot be kept: {fault:?}"))?;
    let details = Json::of(details).map_err(|error| error.to_string())?;
    Ok(Dispatched::Accepted { reference, details })
}

fn rejected(code: String, details: Json) -> Result<Dispatched, String> {
    check_line(&code).map_err(|fault| format!("the code cannot be kept: {fault:?}"))?;
    Ok(Dispatched::Rejected { code, details })
}

/// Whether the airline itself says that it did nothing. A `Retry-After` alone does not: it says when, not what.
fn is_unprocessed(status: StatusCode, headers: &HeaderMap) -> bool {
    let turned_away =
        matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    turned_away && headers.contains_key(NOT_PROCESSED)
}

/// Whether a status refuses. These do not: it took too long (408), another attempt under the key is running
/// (409), too early (425), too many (429).
fn is_refusal(status: StatusCode) -> bool {
    let undecided = matches!(
        status,
        StatusCode::REQUEST_TIMEOUT
            | StatusCode::CONFLICT
            | StatusCode::TOO_EARLY
            | StatusCode::TOO_MANY_REQUESTS
    );
    status.is_client_error() && !undecided
}

/// The body, up to [`ANSWER_MAX_BYTES`].
async fn body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
        if body.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err("the answer is too long".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| format!("the body cannot be read: {error}"))
}

/// An error with what caused it, for an operator. The address goes: a key would stand in a log with it.
fn chain(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() { "timed out".to_owned() } else { "failed".to_owned() };
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
