//! The dialogue with the server, and what each of its ends comes to.
//!
//! `lettre` says of an error what it was and not where: whether the content was begun is known by taking each step of
//! RFC 5321 alone.

use std::fmt;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::transport::smtp::response::{Response, Severity};
use serde_json::json;
use tokio::net::TcpStream;
use turnframe_core::canonical::Json;
use turnframe_runtime::port::Dispatched;

use super::mail::Letter;
use super::stream::OneByOne;
use crate::said::is_name;

/// How long taking leave of a server may take. Nobody waits for it.
const QUIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The server, and how it is spoken to.
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Tls,
    pub(super) hello: ClientId,
    pub(super) credentials: Option<Credentials>,
    pub(super) session_timeout: Duration,
    pub(super) answer_timeout: Duration,
}

/// When TLS begins.
pub(super) enum Tls {
    Never,
    AfterHello(TlsParameters),
    AtOnce(TlsParameters),
}

/// A step past the session: what it refuses, it refuses of the message.
#[derive(Debug, Clone, Copy)]
enum Step {
    Sender,
    /// From 1.
    Recipient(usize),
    Data,
    Content,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sender => f.write_str("sender"),
            Self::Recipient(number) => write!(f, "recipient {number}"),
            Self::Data => f.write_str("data"),
            Self::Content => f.write_str("content"),
        }
    }
}

/// Why there is no session. It is not about the message: it says so even where it is for good.
#[derive(Debug)]
enum NoSession {
    Connection(std::io::Error),
    Dialogue(Error),
}

impl From<std::io::Error> for NoSession {
    fn from(error: std::io::Error) -> Self {
        Self::Connection(error)
    }
}

impl From<Error> for NoSession {
    fn from(error: Error) -> Self {
        Self::Dialogue(error)
    }
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => error.fmt(f),
            Self::Dialogue(error) => f.write_str(&told(error)),
        }
    }
}

impl Server {
    /// Sends a letter at most once.
    pub(super) async fn send(&self, letter: &Letter) -> Dispatched {
        let opened = tokio::time::timeout(self.session_timeout, self.open(letter)).await;
        let mut connection = match opened {
            Ok(Ok(connection)) => connection,
            Ok(Err(dispatched)) => return dispatched,
            // Dropped with the future, before a word of the content.
            Err(_) => {
                let reason = "the server was not ready for the content in time".to_owned();
                return Dispatched::NotSent { reason };
            }
        };
        // From here on the server may have it.
        let message = connection.message(&letter.content);
        let answered = tokio::time::timeout(self.answer_timeout, message).await;
        match answered {
            Ok(answered) => {
                take_leave(connection);
                answer(answered, letter)
            }
            Err(_) => {
                let reason = "the server did not answer for the content in time".to_owned();
                Dispatched::Unknown { reason }
            }
        }
    }

    /// A connection on which the server waits for the content, or what is said where there is none.
    async fn open(&self, letter: &Letter) -> Result<AsyncSmtpConnection, Dispatched> {
        let opened = self.connect().await;
        let mut connection = opened
            .map_err(|error| Dispatched::NotSent { reason: format!("no session: {error}") })?;
        match announce(&mut connection, letter).await {
            Ok(()) => Ok(connection),
            Err(dispatched) => {
                take_leave(connection);
                Err(dispatched)
            }
        }
    }

    /// A connection past TLS and authentication.
    async fn connect(&self) -> Result<AsyncSmtpConnection, NoSession> {
        let address = (self.host.as_str(), self.port);
        let connect = |tls| {
            let timeout = Some(self.session_timeout);
            AsyncSmtpConnection::connect_tokio1(address, timeout, &self.hello, tls, None)
        };
        let mut connection = match &self.tls {
            Tls::Never => connect(None).await?,
            Tls::AtOnce(tls) => connect(Some(tls.clone())).await?,
            Tls::AfterHello(tls) => {
                let stream = Box::new(OneByOne(TcpStream::connect(address).await?));
                let mut connection =
                    AsyncSmtpConnection::connect_with_transport(stream, &self.hello).await?;
                connection.starttls(tls.clone(), &self.hello).await?;
                connection
            }
        };
        if let Some(credentials) = &self.credentials {
            connection.auth(&[Mechanism::Plain, Mechanism::Login], credentials).await?;
        }
        Ok(connection)
    }
}

/// Says from whom and to whom, and asks to send the content.
async fn announce(connection: &mut AsyncSmtpConnection, letter: &Letter) -> Result<(), Dispatched> {
    let sender = Mail::new(letter.envelope.from().cloned(), Vec::new());
    taken(Step::Sender, connection.command(sender).await)?;
    for (index, recipient) in letter.envelope.to().iter().enumerate() {
        let recipient = Rcpt::new(recipient.clone(), Vec::new());
        taken(Step::Recipient(index + 1), connection.command(recipient).await)?;
    }
    expect(Step::Data, connection.command(Data).await, Severity::PositiveIntermediate)
}

fn taken(step: Step, answered: Result<Response, Error>) -> Result<(), Dispatched> {
    expect(step, answered, Severity::PositiveCompletion)
}

fn expect(
    step: Step,
    answered: Result<Response, Error>,
    severity: Severity,
) -> Result<(), Dispatched> {
    match answered {
        Ok(response) if response.code().severity == severity => Ok(()),
        Ok(response) => {
            let reason = format!("{step}: the server answered with {}", response.code());
            Err(Dispatched::NotSent { reason })
        }
        Err(error) => Err(refused(step, &error)),
    }
}

/// What a refusal before the content comes to.
fn refused(step: Step, error: &Error) -> Dispatched {
    if error.is_permanent() {
        return rejected(step, error);
    }
    Dispatched::NotSent { reason: format!("{step}: {}", told(error)) }
}

/// What the server's answer for the content comes to.
fn answer(answered: Result<Response, Error>, letter: &Letter) -> Dispatched {
    match answered {
        Ok(response) if response.code().severity == Severity::PositiveCompletion => {
            let details = Json::of(&json!({"message_id": letter.id})).unwrap_or_default();
            Dispatched::Accepted { reference: reference(&response, letter), details }
        }
        Ok(response) => Dispatched::Unknown {
            reason: format!("the content was answered with {}", response.code()),
        },
        Err(error) if error.is_permanent() => rejected(Step::Content, &error),
        Err(error) => {
            Dispatched::Unknown { reason: format!("the content was sent: {}", told(&error)) }
        }
    }
}

/// What the server calls it: its own words, in which most name their queue's id. Where they cannot be kept, or name a
/// recipient, who could not be erased from them, it is the message's id.
fn reference(response: &Response, letter: &Letter) -> String {
    let words = response.first_line().unwrap_or_default().trim();
    let lower = words.to_ascii_lowercase();
    let names = |address: &str| lower.contains(&address.to_ascii_lowercase());
    let is_kept = is_name(words) && !letter.envelope.to().iter().any(|to| names(to.as_ref()));
    if is_kept { words.to_owned() } else { letter.id.clone() }
}

/// A refusal for good. The server's words are left out: most name the recipient.
fn rejected(step: Step, error: &Error) -> Dispatched {
    let code = error.status().map(|code| code.to_string()).unwrap_or_default();
    let details = match enhanced(error) {
        Some(enhanced) => json!({"at": step.to_string(), "enhanced": enhanced}),
        None => json!({"at": step.to_string()}),
    };
    Dispatched::Rejected { code, details: Json::of(&details).unwrap_or_default() }
}

/// What went wrong, for an operator, without the server's words.
fn told(error: &Error) -> String {
    match error.status() {
        Some(code) => match enhanced(error) {
            Some(enhanced) => format!("the server answered with {code} {enhanced}"),
            None => format!("the server answered with {code}"),
        },
        None if error.is_response() => "the server's answer cannot be read".to_owned(),
        None => error.to_string(),
    }
}

/// The enhanced status code (RFC 3463) that the server's words begin with.
fn enhanced(error: &Error) -> Option<String> {
    let words = std::error::Error::source(error)?.to_string();
    let first = words.split_whitespace().next()?;
    let parts: Vec<_> = first.split('.').collect();
    let is_number = |part: &&str| {
        (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    (parts.len() == 3 && parts.iter().all(is_number)).then(|| first.to_owned())
}

/// Ends the dialogue as it should be, while nobody waits.
fn take_leave(mut connection: AsyncSmtpConnection) {
    tokio::spawn(async move {
        // The message's fate is known or not by now, and this changes nothing about it.
        let _ = tokio::time::timeout(QUIT_TIMEOUT, connection.quit()).await;
    });
}
