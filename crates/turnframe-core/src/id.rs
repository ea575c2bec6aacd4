//! Identifiers: one type per thing that is named, so that no id can stand where another belongs.
//!
//! Names that a client or an adopter chooses (accounts, conversations, turns) are short strings of a
//! closed alphabet; everything that the server names is a UUIDv7 built by [`crate::source::IdSource`].
//! Parsing is the only way in, so an id that exists is an id that may be stored, logged and put in a key.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The longest name a client may choose, in bytes.
pub const NAME_MAX_BYTES: usize = 96;

/// Why a string is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The string has no characters.
    #[error("an identifier must not be empty")]
    Empty,
    /// The string is longer than [`NAME_MAX_BYTES`].
    #[error("an identifier has at most {NAME_MAX_BYTES} bytes")]
    TooLong,
    /// A character is outside letters, digits, `.`, `_`, `-` and `:`.
    #[error("an identifier is made of ASCII letters, digits, '.', '_', '-' and ':'")]
    Character,
    /// The string is not a UUID.
    #[error("not a UUID")]
    NotAUuid,
}

fn check_name(name: &str) -> Result<(), IdError> {
    if name.is_empty() {
        return Err(IdError::Empty);
    }
    if name.len() > NAME_MAX_BYTES {
        return Err(IdError::TooLong);
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
    if name.bytes().all(allowed) { Ok(()) } else { Err(IdError::Character) }
}

macro_rules! name_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a name and keeps it.
            ///
            /// # Errors
            /// [`IdError`] when the name is empty, too long or has a character outside the alphabet.
            pub fn new(name: impl AsRef<str>) -> Result<Self, IdError> {
                check_name(name.as_ref()).map(|()| Self(Arc::from(name.as_ref())))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(name: &str) -> Result<Self, IdError> {
                Self::new(name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(name: String) -> Result<Self, IdError> {
                Self::new(name)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0.as_ref().to_owned()
            }
        }
    };
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that an [`crate::source::IdSource`] made or a ledger returned.
            #[must_use]
            pub const fn from_uuid(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            #[must_use]
            pub const fn as_uuid(&self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Uuid::parse_str(text).map(Self).map_err(|_| IdError::NotAUuid)
            }
        }
    };
}

name_id! {
    /// The tenant: the authorization boundary the runtime enforces. It leads every key and index.
    AccountId
}
name_id! {
    /// The authenticated person or program that speaks within an account.
    ActorId
}
name_id! {
    /// A conversation, unique within its account; a client may choose it.
    ConversationId
}
name_id! {
    /// A turn, unique within its conversation; a client may choose it, and a retry repeats it.
    TurnId
}
name_id! {
    /// The opaque id of a person whose data a personal part holds and an erasure names.
    SubjectId
}
name_id! {
    /// The kind of case: names a registered workflow.
    WorkflowKey
}
name_id! {
    /// An operation that a workflow offers, unique within its workflow.
    OperationKey
}
name_id! {
    /// A question topic that a workflow answers, unique within its workflow.
    TopicKey
}
name_id! {
    /// A named place in an operation's arguments.
    SlotName
}
name_id! {
    /// An option stored on a card, unique within it.
    OptionId
}
name_id! {
    /// An external system that receives effects.
    DestinationKey
}
name_id! {
    /// A domain actor: what an adopter has follow the events of a workflow.
    DomainActorKey
}
name_id! {
    /// A timer of a domain actor, unique within the case it was set for.
    TimerName
}

name_id! {
    /// A BCP 47 language tag, such as `en` or `de-AT`.
    Locale
}

impl Locale {
    /// The language alone: `de` of `de-AT`.
    #[must_use]
    pub fn language(&self) -> &str {
        self.0.split('-').next().unwrap_or_default()
    }
}

uuid_id! {
    /// A case: one real record with a lifecycle.
    CaseId
}
uuid_id! {
    /// A persisted card.
    InteractionId
}
uuid_id! {
    /// A requested external effect.
    EffectId
}
uuid_id! {
    /// An entry of the ledger. A receipt cites these.
    EntryId
}

/// A case of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CaseRef {
    /// The workflow that decides for the case.
    pub workflow: WorkflowKey,
    /// The case within the workflow.
    pub case: CaseId,
}

impl fmt::Display for CaseRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.workflow, self.case)
    }
}

/// An operation of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRef {
    /// The workflow that offers it.
    pub workflow: WorkflowKey,
    /// The operation within the workflow.
    pub operation: OperationKey,
}

impl fmt::Display for OperationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.workflow, self.operation)
    }
}

/// How many commits with a domain event a case has seen. A case that does not exist yet has revision 0.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct CaseRevision(pub u64);

impl CaseRevision {
    /// The revision of a case that does not exist yet.
    pub const NONE: Self = Self(0);

    /// The revision after one more commit with a domain event.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for CaseRevision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l15_names_that_are_empty_huge_or_carry_control_characters_are_refused() {
        assert_eq!(TurnId::new(""), Err(IdError::Empty));
        assert_eq!(TurnId::new("x".repeat(NAME_MAX_BYTES + 1)), Err(IdError::TooLong));
        for name in ["a\0b", "a\nb", "a b", "ä", "a/b"] {
            assert_eq!(TurnId::new(name), Err(IdError::Character), "{name:?}");
        }
        assert!(TurnId::new("x".repeat(NAME_MAX_BYTES)).is_ok());
    }

    #[test]
    fn a_name_is_checked_when_it_is_read_from_json_too() {
        assert!(serde_json::from_str::<TurnId>("\"t-1\"").is_ok());
        assert!(serde_json::from_str::<TurnId>("\"\"").is_err());
    }
}
