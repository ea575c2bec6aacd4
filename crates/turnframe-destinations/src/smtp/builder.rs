//! A declaration is checked as a whole before anything can be sent by it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::TlsParameters;
use lettre::transport::smtp::extension::ClientId;
use turnframe_core::id::DestinationKey;
use turnframe_core::source::Clock;
use turnframe_runtime::port::{Delivery, DestinationProfile, Resending};

use super::dialogue::{Server, Tls};
use super::mail::{Mail, address};
use super::{ANSWER_TIMEOUT, MailOf, SESSION_TIMEOUT, SmtpDestination};
use crate::said::is_name;

/// How a connection is secured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Security {
    /// By TLS from the first byte (port 465 by custom): the best, where the server has it.
    Tls,
    /// By `STARTTLS` after the hello (port 587 by custom). A server that does not offer it is told nothing.
    StartTls,
    /// Not at all: for a relay on this machine.
    Plain,
}

/// Why a server cannot be spoken to as it was declared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SmtpError {
    /// The sender cannot be one.
    #[error("{0:?} is not an address of visible ASCII characters")]
    From(String),
    /// The sender's name cannot be one.
    #[error("the sender's name is blank, too long or has a control character")]
    FromName,
    /// A password would go over the wire for everybody to read.
    #[error("a password is sent over TLS only")]
    SecretWithoutTls,
    /// TLS cannot be spoken.
    #[error("TLS to {host:?} cannot be set up: {source}")]
    Tls {
        /// The server.
        host: String,
        /// Why.
        source: lettre::transport::smtp::Error,
    },
    /// Mail is not idempotent, whatever the server promises.
    #[error("mail knows no idempotency key: what may have been sent is not sent again by itself")]
    Resending,
    /// An attempt could be given up while it is still provable that nothing was sent.
    #[error("the session ({session:?}) has to be ready before the attempt ends ({attempt:?})")]
    Timeouts {
        /// How long the session may take until the content.
        session: Duration,
        /// How long the whole attempt may take.
        attempt: Duration,
    },
    /// The same operation is declared twice.
    #[error("operation {0:?} is declared twice")]
    Twice(String),
    /// Nothing could ever be sent.
    #[error("no operation is declared")]
    NoOperation,
}

/// A mail server that is being declared.
#[must_use]
pub struct SmtpBuilder {
    key: DestinationKey,
    host: String,
    port: u16,
    security: Security,
    from: String,
    from_name: Option<String>,
    clock: Arc<dyn Clock>,
    credentials: Option<Credentials>,
    profile: DestinationProfile,
    session_timeout: Duration,
    operations: Vec<(String, Box<MailOf>)>,
}

impl SmtpBuilder {
    pub(super) fn new(
        key: DestinationKey,
        (host, port): (&str, u16),
        security: Security,
        from: &str,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let profile = DestinationProfile {
            resending: Resending::Never,
            timeout: SESSION_TIMEOUT + ANSWER_TIMEOUT,
            // There is nobody to ask: an attempt of unknown outcome is an operator's at once.
            lookups_max: 0,
            ..DestinationProfile::default()
        };
        Self {
            key,
            host: host.to_owned(),
            port,
            security,
            from: from.to_owned(),
            from_name: None,
            clock,
            credentials: None,
            profile,
            session_timeout: SESSION_TIMEOUT,
            operations: Vec::new(),
        }
    }

    /// An operation that effects may ask for, whose payload is [the mail itself](Mail::of_payload). Any other is not sent.
    pub fn operation(self, name: &str) -> Self {
        let mail =
            |delivery: &Delivery| Mail::of_payload(delivery).map_err(|error| error.to_string());
        self.operation_by(name, mail)
    }

    /// An operation whose mail is made in another way.
    pub fn operation_by(
        mut self,
        name: &str,
        mail: impl Fn(&Delivery) -> Result<Mail, String> + Send + Sync + 'static,
    ) -> Self {
        self.operations.push((name.to_owned(), Box::new(mail)));
        self
    }

    /// The sender's name, beside the address.
    pub fn from_name(self, name: &str) -> Self {
        Self { from_name: Some(name.to_owned()), ..self }
    }

    /// Whom the server knows, and by which password (`AUTH PLAIN` or `LOGIN`).
    pub fn credentials(self, user: &str, password: &str) -> Self {
        let credentials = Credentials::new(user.to_owned(), password.to_owned());
        Self { credentials: Some(credentials), ..self }
    }

    /// How the destination is treated. Its timeout is what one attempt may take, and less of it than [`ANSWER_TIMEOUT`]
    /// after the session makes unknowns of mails that were taken.
    pub fn profile(self, profile: DestinationProfile) -> Self {
        Self { profile, ..self }
    }

    /// Until when the server has to be ready for the content.
    pub fn session_timeout(self, session_timeout: Duration) -> Self {
        Self { session_timeout, ..self }
    }

    /// The destination.
    ///
    /// # Errors
    /// [`SmtpError`] when the declaration cannot be used as it is.
    pub fn build(self) -> Result<SmtpDestination, SmtpError> {
        let email = address(&self.from).ok_or_else(|| SmtpError::From(self.from.clone()))?;
        if self.from_name.as_ref().is_some_and(|name| !is_name(name)) {
            return Err(SmtpError::FromName);
        }
        if self.credentials.is_some() && self.security == Security::Plain {
            return Err(SmtpError::SecretWithoutTls);
        }
        if self.profile.resending != Resending::Never {
            return Err(SmtpError::Resending);
        }
        let (session, attempt) = (self.session_timeout, self.profile.timeout);
        let answer_timeout = attempt.checked_sub(session).filter(|left| !left.is_zero());
        let answer_timeout = answer_timeout.ok_or(SmtpError::Timeouts { session, attempt })?;
        let server = Server {
            tls: tls(self.security, &self.host)?,
            // A host that sends for a domain says hello by its name.
            hello: ClientId::Domain(email.domain().to_owned()),
            host: self.host,
            port: self.port,
            credentials: self.credentials,
            session_timeout: session,
            answer_timeout,
        };
        let (key, from) = (self.key, Mailbox::new(self.from_name, email));
        let (clock, profile) = (self.clock, self.profile);
        let operations = operations(self.operations)?;
        Ok(SmtpDestination { key, server, from, clock, profile, operations })
    }
}

fn operations(
    declared: Vec<(String, Box<MailOf>)>,
) -> Result<BTreeMap<String, Box<MailOf>>, SmtpError> {
    let mut operations = BTreeMap::new();
    for (name, mail) in declared {
        if operations.insert(name.clone(), mail).is_some() {
            return Err(SmtpError::Twice(name));
        }
    }
    if operations.is_empty() { Err(SmtpError::NoOperation) } else { Ok(operations) }
}

fn tls(security: Security, host: &str) -> Result<Tls, SmtpError> {
    let parameters = || {
        let failed = |source| SmtpError::Tls { host: host.to_owned(), source };
        TlsParameters::new(host.to_owned()).map_err(failed)
    };
    Ok(match security {
        Security::Tls => Tls::AtOnce(parameters()?),
        Security::StartTls => Tls::AfterHello(parameters()?),
        Security::Plain => Tls::Never,
    })
}
