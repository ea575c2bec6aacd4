//! A declaration is checked as a whole before anything can be sent by it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use turnframe_core::id::DestinationKey;
use turnframe_core::source::Clock;
use turnframe_runtime::port::{Callbacks, DestinationProfile, Resending};

use super::declaration::{Answers, Code, Meaning, Operation, Reference, When};
use super::template::Template;
use super::{Declared, HEADER_KEY, HttpDestination, HttpError};
use crate::webhooks::{HEADER_ID, HEADER_SIGNATURE, HEADER_TIMESTAMP, Secrets};

/// How long making a connection may take, TLS included, where nothing else is said. Shorter than an attempt, so that a
/// dead host is a proof of "not sent" and not a timeout of unknown outcome.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// What a request carries by itself, and what would change how it is sent.
const RESERVED: [&str; 13] = [
    HEADER_KEY,
    HEADER_ID,
    HEADER_TIMESTAMP,
    HEADER_SIGNATURE,
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A receiver that is being declared.
#[must_use]
pub struct HttpBuilder {
    key: DestinationKey,
    address: String,
    operations: Vec<(String, Operation)>,
    headers: Vec<(String, String)>,
    profile: DestinationProfile,
    connect_timeout: Duration,
    idle_max: Option<Duration>,
    quotes_key: bool,
    signing: Option<(Secrets, Arc<dyn Clock>)>,
    callbacks: Option<Box<dyn Callbacks>>,
}

impl HttpBuilder {
    pub(super) fn new(key: DestinationKey, address: &str) -> Self {
        Self {
            key,
            address: address.to_owned(),
            operations: Vec::new(),
            headers: Vec::new(),
            profile: DestinationProfile::default(),
            connect_timeout: CONNECT_TIMEOUT,
            idle_max: None,
            quotes_key: false,
            signing: None,
            callbacks: None,
        }
    }

    /// An operation that effects may ask for. Any other is not sent.
    pub fn operation(mut self, name: &str, operation: Operation) -> Self {
        self.operations.push((name.to_owned(), operation));
        self
    }

    /// A header of every request, look-ups included: an authorization, say. Its value is told nowhere.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// How the destination is treated. Its timeout is what one attempt may take. `IdempotentByKey` is a promise that the
    /// receiver has to make.
    pub fn profile(self, profile: DestinationProfile) -> Self {
        Self { profile, ..self }
    }

    /// How long making a connection may take, TLS included.
    pub fn connect_timeout(self, connect_timeout: Duration) -> Self {
        Self { connect_timeout, ..self }
    }

    /// Uses a connection again that has idled no longer than this, where much is sent and making one is dear. It may be
    /// dead without anybody knowing, and what fails on it is of unknown outcome: only for a receiver that is
    /// `IdempotentByKey`, so that it can simply be sent again.
    pub fn keeping_connections(self, idle_max: Duration) -> Self {
        Self { idle_max: Some(idle_max), ..self }
    }

    /// Sends the key in quotation marks, a string as structured fields have it (RFC 9651): the draft demands it, and
    /// most receivers that are in use do not expect it.
    pub fn quoting_the_key(self) -> Self {
        Self { quotes_key: true, ..self }
    }

    /// Signs each attempt, with the effect's id as the message's and the clock's time.
    pub fn signed_with(self, secrets: Secrets, clock: Arc<dyn Clock>) -> Self {
        Self { signing: Some((secrets, clock)), ..self }
    }

    /// The receiver calls back, and is known by this.
    pub fn calling_back(self, callbacks: impl Callbacks) -> Self {
        Self { callbacks: Some(Box::new(callbacks)), ..self }
    }

    /// The destination.
    ///
    /// # Errors
    /// [`HttpError`] when the declaration cannot be used as it is.
    pub fn build(self) -> Result<HttpDestination, HttpError> {
        let base = base(&self.address)?;
        let (connect, attempt) = (self.connect_timeout, self.profile.timeout);
        if connect >= attempt {
            return Err(HttpError::Timeouts { connect, attempt });
        }
        if self.idle_max.is_some() && self.profile.resending != Resending::IdempotentByKey {
            return Err(HttpError::KeptConnections);
        }
        let mut operations = BTreeMap::new();
        for (name, operation) in self.operations {
            let declared = declared(&name, operation)?;
            if operations.insert(name.clone(), declared).is_some() {
                return Err(HttpError::Twice(name));
            }
        }
        if operations.is_empty() {
            return Err(HttpError::NoOperation);
        }
        Ok(HttpDestination {
            key: self.key,
            client: client(connect, self.idle_max, self.profile.concurrency, &base)?,
            base,
            profile: self.profile,
            operations,
            headers: headers(&self.headers)?,
            quotes_key: self.quotes_key,
            signing: self.signing,
            callbacks: self.callbacks,
        })
    }
}

fn client(
    connect_timeout: Duration,
    idle_max: Option<Duration>,
    concurrency: usize,
    base: &Url,
) -> Result<Client, HttpError> {
    let mut client = Client::builder()
        .connect_timeout(connect_timeout)
        // A connection that idled may be dead without anybody knowing, and whatever fails on it is of unknown outcome. A
        // fresh one fails as a proof that nothing was sent.
        .pool_max_idle_per_host(idle_max.map_or(0, |_| concurrency))
        .pool_idle_timeout(idle_max)
        // Each of these would send a second time, or to somebody else, behind our back.
        .retry(reqwest::retry::never())
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    if base.scheme() == "http" {
        // TLS is never spoken, so that nothing depends on whom this machine trusts.
        client = client.tls_certs_only([]);
    }
    Ok(client.build()?)
}

fn base(address: &str) -> Result<Url, HttpError> {
    let unusable = || HttpError::Address(address.to_owned());
    let base = Url::parse(address).map_err(|_| unusable())?;
    if !base.username().is_empty() || base.password().is_some() {
        return Err(HttpError::SecretInAddress);
    }
    let is_http = ["http", "https"].contains(&base.scheme()) && base.has_host();
    let is_bare = base.query().is_none() && base.fragment().is_none();
    if is_http && is_bare { Ok(base) } else { Err(unusable()) }
}

fn headers(declared: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in declared {
        let unusable = || HttpError::Header(name.clone());
        let parsed = HeaderName::try_from(name).map_err(|_| unusable())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| unusable())?;
        value.set_sensitive(true);
        if RESERVED.contains(&parsed.as_str()) || headers.insert(parsed, value).is_some() {
            return Err(unusable());
        }
    }
    Ok(headers)
}

fn declared(name: &str, mut operation: Operation) -> Result<Declared, HttpError> {
    let path = Template::parse(&operation.path)?;
    let mut is_settled = check(name, &operation.answers)?;
    let mut look_up = None;
    if let Some(declared) = operation.look_up.take() {
        is_settled |= check(name, &declared.answers)?;
        look_up = Some((Template::parse(&declared.path)?, declared.answers));
    }
    if is_settled {
        Ok(Declared { operation, path, look_up })
    } else {
        Err(HttpError::NeverAccepted(name.to_owned()))
    }
}

/// Checks what answers are declared to mean. Says whether one of them accepts.
fn check(operation: &str, answers: &Answers) -> Result<bool, HttpError> {
    let reading = &answers.reading;
    if let Reference::At(pointer) = &reading.reference {
        check_pointer(pointer)?;
    }
    if let Code::At(pointer) = &reading.code {
        check_pointer(pointer)?;
    }
    reading.details.iter().try_for_each(|pointer| check_pointer(pointer))?;
    for (index, (when, meaning)) in answers.rules.iter().enumerate() {
        check_when(when)?;
        let before = &answers.rules[..index];
        if before.iter().any(|(other, said)| other == when && said != meaning) {
            let (operation, when) = (operation.to_owned(), format!("{when:?}"));
            return Err(HttpError::Contradiction { operation, when });
        }
    }
    Ok(answers.rules.iter().any(|(_, meaning)| *meaning == Meaning::Accepted))
}

fn check_when(when: &When) -> Result<(), HttpError> {
    if !(200..=599).contains(&when.status) {
        return Err(HttpError::Status(when.status));
    }
    if let Some(name) = &when.header {
        HeaderName::try_from(name).map_err(|_| HttpError::Header(name.clone()))?;
    }
    when.field.iter().try_for_each(|(pointer, _)| check_pointer(pointer))
}

fn check_pointer(pointer: &str) -> Result<(), HttpError> {
    if pointer.is_empty() || pointer.starts_with('/') {
        Ok(())
    } else {
        Err(HttpError::Pointer(pointer.to_owned()))
    }
}
