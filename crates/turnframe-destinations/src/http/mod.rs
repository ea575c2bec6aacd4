//! A receiver of JSON over HTTP, as a destination: what it is asked is declared, and so is what its answers mean.
//!
//! **Guarantees:** one call sends at most one request: no retry, no redirect, no proxy, no connection that idled, unless
//! [`HttpBuilder::keeping_connections`] was asked for. Every attempt carries the effect's id as [`HEADER_KEY`] and, where
//! there are secrets, a [Standard Webhooks] signature over exactly the bytes that are sent. `NotSent` means that no
//! connection was made (no address, refused, no TLS), that the request could not be made, or that an answer came which
//! was declared to prove it. From the first byte on everything else is `Unknown`, except an answer that was declared to
//! accept or refuse.
//!
//! **What was declared as proof has to be there.** Where the reference stands at a pointer, an accepting status with a
//! body that is broken, too long or not JSON accepts nothing: a gateway's cheerful page has that status too. Where the
//! receiver is declared to know it by the key alone, the status speaks, and what was to be kept of the body is lost.
//!
//! **In a crash** the attempt is of unknown outcome, as the outbox has it; a call that is dropped closes its connection
//! and goes on nowhere.
//!
//! **Never here:** a reading of silence or of an undeclared status as an answer, a payload or a key in an error.
//!
//! ```
//! use turnframe_destinations::http::{Code, HttpDestination, LookUp, Operation, Reading, Reference, When};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let reading = Reading::new(Reference::At("/id".to_owned()), Code::At("/error/code".to_owned()));
//! let place = Operation::post("/orders", reading.clone())
//!     .accepted(When::status(201))
//!     .rejected(When::status(422))
//!     // This receiver promises that it has done nothing when it says that it has no time.
//!     .not_sent(When::status(429))
//!     .looked_up_by(
//!         LookUp::get("/orders/by-key/{key}", reading)
//!             .accepted(When::status(200))
//!             .not_found(When::status(404).with_field("/error/code", "unknown_key")),
//!     );
//! let orders = HttpDestination::builder("orders".parse()?, "https://orders.example/v2")
//!     .operation("place", place)
//!     .header("authorization", "Bearer secret")
//!     .build();
//! # // A machine without any authority to trust cannot speak TLS.
//! # let _ = orders;
//! # Ok(())
//! # }
//! ```
//!
//! [Standard Webhooks]: crate::webhooks

mod answer;
mod builder;
mod declaration;
mod error;
mod template;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Request, Response, Url};
use serde_json::Value;
use turnframe_core::id::DestinationKey;
use turnframe_core::source::Clock;
use turnframe_runtime::port::{
    Callbacks, Delivery, Destination, DestinationProfile, Dispatched, Reconciled,
};

pub use builder::{CONNECT_TIMEOUT, HttpBuilder};
pub use declaration::{BodyOf, Code, LookUp, Operation, Reading, Reference, When};
pub use error::HttpError;

use crate::webhooks::Secrets;
use answer::Answer;
use declaration::Answers;
use template::{Filling, Template};

/// Names the effect: every attempt at it carries the same (draft-ietf-httpapi-idempotency-key-header).
pub const HEADER_KEY: &str = "idempotency-key";
/// The longest answer that is read, in bytes. A longer one is an answer without a body that can be read.
pub const ANSWER_MAX_BYTES: usize = 64 * 1024;

/// A receiver of JSON over HTTP.
pub struct HttpDestination {
    key: DestinationKey,
    base: Url,
    client: Client,
    profile: DestinationProfile,
    operations: BTreeMap<String, Declared>,
    headers: HeaderMap,
    quotes_key: bool,
    signing: Option<(Secrets, Arc<dyn Clock>)>,
    callbacks: Option<Box<dyn Callbacks>>,
}

/// An operation, with its paths read.
struct Declared {
    operation: Operation,
    path: Template,
    look_up: Option<(Template, Answers)>,
}

impl fmt::Debug for HttpDestination {
    /// Which receiver it is, and nothing of secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpDestination")
            .field("key", &self.key)
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl HttpDestination {
    /// Begins to declare the receiver behind an address such as `https://orders.example/v2`.
    pub fn builder(key: DestinationKey, address: &str) -> HttpBuilder {
        HttpBuilder::new(key, address)
    }

    /// The one request of an attempt. An error means that there is nothing to send.
    fn request(&self, declared: &Declared, delivery: &Delivery) -> Result<Request, String> {
        let (key, body) = (delivery.idempotency_key(), (declared.operation.body)(delivery)?);
        let url = declared.path.join(&self.base, Filling { key: &key, body: &body })?;
        let body = serde_json::to_vec(&body).map_err(|_| "the body is no JSON")?;
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let sent_key = if self.quotes_key { format!("\"{key}\"") } else { key.clone() };
        headers.insert(HEADER_KEY, header_value(&sent_key)?);
        if let Some((secrets, clock)) = &self.signing {
            for (name, value) in secrets.sign(&key, clock.now(), &body) {
                headers.insert(HeaderName::from_static(name), header_value(&value)?);
            }
        }
        let mut request = Request::new(declared.operation.method.clone(), url);
        *request.headers_mut() = headers;
        *request.timeout_mut() = Some(self.profile.timeout);
        *request.body_mut() = Some(body.into());
        Ok(request)
    }

    fn look_up_request(
        &self,
        operation: &Operation,
        path: &Template,
        delivery: &Delivery,
    ) -> Result<Request, String> {
        // A look-up by the key is made whatever was erased since the attempt.
        let body = if path.has_fields() { (operation.body)(delivery)? } else { Value::Null };
        let filling = Filling { key: &delivery.idempotency_key(), body: &body };
        let mut request = Request::new(Method::GET, path.join(&self.base, filling)?);
        *request.headers_mut() = self.headers.clone();
        *request.timeout_mut() = Some(self.profile.timeout);
        Ok(request)
    }
}

#[async_trait]
impl Destination for HttpDestination {
    fn key(&self) -> DestinationKey {
        self.key.clone()
    }

    fn profile(&self) -> DestinationProfile {
        self.profile.clone()
    }

    fn callbacks(&self) -> Option<&dyn Callbacks> {
        self.callbacks.as_deref()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        let Some(declared) = self.operations.get(&delivery.operation) else {
            let reason = format!("{} has no operation {:?}", self.key, delivery.operation);
            return Dispatched::NotSent { reason };
        };
        let request = match self.request(declared, delivery) {
            Ok(request) => request,
            Err(reason) => return Dispatched::NotSent { reason },
        };
        match self.client.execute(request).await {
            Ok(response) => {
                let (answer, key) = (read(response).await, delivery.idempotency_key());
                answer::dispatched(&declared.operation.answers, &answer, &key)
            }
            Err(error) if error.is_connect() => {
                Dispatched::NotSent { reason: format!("no connection was made: {}", chain(&error)) }
            }
            Err(error) => Dispatched::Unknown { reason: chain(&error) },
        }
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        let declared = self.operations.get(&delivery.operation);
        let Some(Declared { operation, look_up: Some((path, answers)), .. }) = declared else {
            return Reconciled::StillUnknown { reason: "no look-up is declared".to_owned() };
        };
        let request = match self.look_up_request(operation, path, delivery) {
            Ok(request) => request,
            Err(reason) => return Reconciled::StillUnknown { reason },
        };
        match self.client.execute(request).await {
            Ok(response) => {
                let (answer, key) = (read(response).await, delivery.idempotency_key());
                answer::reconciled(answers, &answer, &key)
            }
            Err(error) => Reconciled::StillUnknown { reason: chain(&error) },
        }
    }
}

fn header_value(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|_| "a header cannot be written".to_owned())
}

async fn read(response: Response) -> Answer {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = body(response).await.and_then(|body| {
        serde_json::from_slice(&body).map_err(|_| "the body is no JSON".to_owned())
    });
    Answer { status, headers, body }
}

/// The body, up to [`ANSWER_MAX_BYTES`].
async fn body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
        if body.len() + chunk.len() > ANSWER_MAX_BYTES {
            return Err(format!("the body is longer than {ANSWER_MAX_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What caused an error, for an operator. The address goes: what stands in it would stand in a log.
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
