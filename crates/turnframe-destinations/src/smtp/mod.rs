//! A mail server, as a destination.
//!
//! **What `Accepted` means here, and what it does not:** the server took the message, which is *received by an
//! intermediary*. Nobody says that it was delivered, and a refusal further on comes back as a mail that this module never
//! sees. A receipt that rests on it must not say more.
//!
//! | Where it ended | What is said |
//! |---|---|
//! | No connection, no TLS, the server's greeting, its hello, the authentication | `NotSent`: it is not about this message |
//! | Sender, a recipient or `DATA` refused with 5xx | `Rejected`, with that code; nobody gets it |
//! | The same with 4xx, or the connection lost, or no permission in [`SESSION_TIMEOUT`] | `NotSent`: no word of it left |
//! | The content refused with 5xx | `Rejected` |
//! | The content begun, and anything else: 4xx, silence, a lost connection | `Unknown`: a proxy that answers 451 may stand before a server that took it |
//! | The content answered with 2xx | `Accepted` |
//!
//! **Guarantees:** one call makes at most one connection and sends at most one message, to all of its recipients or to
//! none. Its `Message-ID` is the effect's id, the same for every attempt, so that whoever receives two can tell. Nobody has
//! to: mail knows no idempotency key, hence [`Resending::Never`], and no look-up, hence an operator.
//!
//! **Never here:** an address, a subject or a server's words in an error or in a refusal, since neither can be erased; an
//! address or a subject that ends its line; a password without TLS.

mod builder;
mod dialogue;
mod mail;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lettre::message::Mailbox;
use turnframe_core::id::DestinationKey;
use turnframe_core::source::Clock;
#[cfg(doc)]
use turnframe_runtime::port::Resending;
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile, Dispatched};

pub use builder::{Security, SmtpBuilder, SmtpError};
pub use mail::{Mail, MailError, RECIPIENTS_MAX, SUBJECT_MAX_CHARS, TEXT_MAX_BYTES};

use dialogue::Server;

/// Until when the server has to be ready for the content, connecting included. What takes longer provably was not sent.
pub const SESSION_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to answer for the content (RFC 5321, 4.5.3.2.6). Who waits less sends twice.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Makes the mail of a delivery. The reason of an error is for an operator, and holds no word of the payload.
pub type MailOf = dyn Fn(&Delivery) -> Result<Mail, String> + Send + Sync;

/// A mail server.
pub struct SmtpDestination {
    key: DestinationKey,
    server: Server,
    from: Mailbox,
    clock: Arc<dyn Clock>,
    profile: DestinationProfile,
    operations: BTreeMap<String, Box<MailOf>>,
}

impl fmt::Debug for SmtpDestination {
    /// Which server it is, and nothing of secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SmtpDestination")
            .field("key", &self.key)
            .field("host", &self.server.host)
            .field("port", &self.server.port)
            .finish_non_exhaustive()
    }
}

impl SmtpDestination {
    /// Begins to declare the server at a host and port, through which this address sends. The clock dates the mails.
    pub fn builder(
        key: DestinationKey,
        (host, port): (&str, u16),
        security: Security,
        from: &str,
        clock: Arc<dyn Clock>,
    ) -> SmtpBuilder {
        SmtpBuilder::new(key, (host, port), security, from, clock)
    }
}

#[async_trait]
impl Destination for SmtpDestination {
    fn key(&self) -> DestinationKey {
        self.key.clone()
    }

    fn profile(&self) -> DestinationProfile {
        self.profile.clone()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        let Some(mail_of) = self.operations.get(&delivery.operation) else {
            let reason = format!("{} has no operation {:?}", self.key, delivery.operation);
            return Dispatched::NotSent { reason };
        };
        let id = format!("<{}@{}>", delivery.idempotency_key(), self.from.email.domain());
        let rendered = mail_of(delivery).and_then(|mail| {
            mail.render(&self.from, &id, self.clock.now()).map_err(|error| error.to_string())
        });
        match rendered {
            Ok(letter) => self.server.send(&letter).await,
            Err(reason) => Dispatched::NotSent { reason },
        }
    }
}
