//! An entry: what happened, where it stands, and what proves that it was not changed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, EntryId, TurnId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::Timestamp;

use crate::stream::{PartitionId, Position, StreamName, Version};

macro_rules! entry_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal),+ $(,)?) => {
        /// What an entry records. Names are stored and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum EntryKind {
            $($(#[$doc])* $kind),+
        }

        impl EntryKind {
            /// Every kind there is.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The stored name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name),+
                }
            }
        }
    };
}

entry_kinds! {
    /// A conversation exists from here on.
    ConversationOpened = "conversation.opened",
    /// A turn arrived; durable before anything is made of it.
    TurnAccepted = "turn.accepted",
    /// The whole turn was reduced to a plan; from here on no model is asked again.
    TurnReduced = "turn.reduced",
    /// The turn's blocks, exactly as they are shown.
    TurnAnswered = "turn.answered",
    /// The server tells a conversation what became of an effect.
    UpdatePosted = "update.posted",
    /// A command's outcome: applied, rejected or in conflict.
    CaseCommand = "case.command",
    /// A domain event of a case.
    CaseEvent = "case.event",
    /// A card was persisted.
    CardOpened = "card.opened",
    /// A card reached a terminal status.
    CardClosed = "card.closed",
    /// An external effect belongs to the events beside it.
    EffectRequested = "effect.requested",
    /// An attempt is about to be sent.
    EffectDispatched = "effect.dispatched",
    /// An attempt provably was not sent.
    EffectDeferred = "effect.deferred",
    /// What became of an attempt, unknown included.
    EffectConcluded = "effect.concluded",
    /// Nobody but an operator can say what became of the effect.
    EffectParked = "effect.parked",
    /// An operator gave a parked effect another round of attempts.
    EffectReleased = "effect.released",
    /// A domain actor is to look at an event again at a moment.
    TimerSet = "timer.set",
    /// It did.
    TimerFired = "timer.fired",
    /// It need not any more.
    TimerCancelled = "timer.cancelled",
    /// An operator has what comes next for an effect done at once.
    EffectNudged = "effect.nudged",
}

/// A kind that this version of the program does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of entry known here")]
pub struct UnknownKind(String);

impl FromStr for EntryKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.iter().find(|kind| kind.as_str() == name);
        found.copied().ok_or_else(|| UnknownKind(name.to_owned()))
    }
}

impl TryFrom<String> for EntryKind {
    type Error = UnknownKind;

    fn try_from(name: String) -> Result<Self, UnknownKind> {
        name.parse()
    }
}

impl From<EntryKind> for String {
    fn from(kind: EntryKind) -> Self {
        kind.as_str().to_owned()
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A committed entry.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The tenant.
    pub account: AccountId,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// Its place in the stream.
    pub version: Version,
    /// The account's partition.
    pub partition: PartitionId,
    /// Its place in the partition.
    pub position: Position,
    /// Its own id; receipts cite it.
    pub id: EntryId,
    /// What it records.
    pub kind: EntryKind,
    /// The version of the payload's shape.
    pub schema: u16,
    /// When it was made, by the writer's injected clock.
    pub recorded_at: Timestamp,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// The entry that caused it.
    pub causation: Option<EntryId>,
    /// Facts and personal parts.
    pub body: Sealed,
    /// Commits to the body; see [`Sealed::commitment`].
    pub commitment: Digest,
    /// Commits to everything in the stream up to here; see [`crate::chain`].
    pub chain: Digest,
}

impl Entry {
    /// Where the entry stands, without what it says.
    #[must_use]
    pub fn reference(&self) -> EntryRef {
        EntryRef { stream: self.stream.clone(), version: self.version, id: self.id }
    }
}

/// Where an entry stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntryRef {
    /// The stream.
    pub stream: StreamName,
    /// The place in the stream.
    pub version: Version,
    /// The entry's id.
    pub id: EntryId,
}
