use std::collections::BTreeMap;

use turnframe_core::id::EffectId;
use turnframe_core::source::Timestamp;

use super::Dispatched;

/// The longest id of a callback, in bytes.
pub const CALLBACK_ID_MAX_BYTES: usize = 256;

/// A request that claims to come from a destination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Incoming {
    headers: BTreeMap<String, Option<String>>,
    /// The body, byte for byte as it came: what a signature is of.
    pub body: Vec<u8>,
}

impl Incoming {
    /// A request with a body and no headers.
    #[must_use]
    pub fn new(body: impl Into<Vec<u8>>) -> Self {
        Self { headers: BTreeMap::new(), body: body.into() }
    }

    /// This request and one more header. One that comes twice says nothing: whoever put the second there may not be
    /// who put the first.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = Some(value.into());
        let told = self.headers.entry(name.to_ascii_lowercase());
        told.and_modify(|known| *known = None).or_insert(value);
        self
    }

    /// This request and a header whose value is no text: it says nothing, and neither does another of its name.
    #[must_use]
    pub fn garbled(mut self, name: &str) -> Self {
        self.headers.insert(name.to_ascii_lowercase(), None);
        self
    }

    /// A header by its name, in whatever case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase())?.as_deref()
    }
}

/// Why a callback is not heard. Nothing was written to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackRefusal {
    /// What has to say who sent it is missing, or cannot be read.
    #[error("the callback does not say who sent it")]
    Unsigned,
    /// It was not signed with a secret of the destination.
    #[error("the callback's signature does not fit")]
    Signature,
    /// It is too old, or from the future: it may be one that was recorded and is played again.
    #[error("the callback's time is outside the window")]
    Time,
    /// It is the destination's, and cannot be read.
    #[error("the callback cannot be read")]
    Unreadable,
}

/// What a destination calls back to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Of which effect: its text is the key that every attempt was sent under.
    pub effect: EffectId,
    /// What the source calls this statement, where it has a name of its own: the same statement under another
    /// callback's id is the same.
    pub key: Option<String>,
    /// What it says: that it took the effect or refused it. Anything else is [`CallbackRefusal::Unreadable`].
    pub says: Dispatched,
}

/// How the callbacks of a destination are told from others', and read: security-relevant code of the adopter, where
/// the destination does not sign as most do.
pub trait Callbacks: Send + Sync + 'static {
    /// Checks that the destination sent it, and not long ago, comparing in constant time. Answers with the callback's
    /// id: the same however often it is delivered.
    ///
    /// # Errors
    /// [`CallbackRefusal`].
    fn verify(&self, incoming: &Incoming, now: Timestamp) -> Result<String, CallbackRefusal>;

    /// Reads what a verified callback says.
    ///
    /// # Errors
    /// [`CallbackRefusal::Unreadable`].
    fn read(&self, body: &[u8]) -> Result<Statement, CallbackRefusal>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_comes_twice_says_nothing() {
        let incoming = Incoming::new("x").with("Webhook-Id", "a").with("other", "b");
        assert_eq!(incoming.header("webhook-id"), Some("a"));
        let twice = incoming.with("WEBHOOK-ID", "a");
        assert_eq!((twice.header("webhook-id"), twice.header("other")), (None, Some("b")));
        assert_eq!(twice.with("webhook-id", "a").header("webhook-id"), None);
        let one = Incoming::new("x").with("webhook-id", "a");
        assert_eq!(one.clone().garbled("Webhook-Id").header("webhook-id"), None);
        let garbled = Incoming::new("x").garbled("webhook-id").with("webhook-id", "a");
        assert_eq!(garbled.header("webhook-id"), None);
    }
}
