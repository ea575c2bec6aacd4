//! What the user is shown: ordered blocks, stored exactly as they are served (ADR-005, decision 11).

use serde::{Deserialize, Serialize};

use crate::id::{InteractionId, TurnId};
use crate::interaction::InteractionView;
use crate::plan::{ActId, ActOutcome};
use crate::receipt::OperationalReceipt;
use crate::text::Text;
use crate::words::WordRange;

/// How a notice is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeSeverity {
    /// For orientation.
    Info,
    /// Something did not happen as asked.
    Warning,
    /// Something failed.
    Failure,
}

/// What the server says about something that is not a committed effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerNotice {
    /// A stable code.
    pub code: String,
    /// How it is meant.
    pub severity: NoticeSeverity,
    /// The words.
    pub text: Text,
    /// The act it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<ActId>,
    /// The card it speaks of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
}

/// Who wrote words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Deterministic code.
    Server,
    /// A language model. Its words carry no claim.
    Model,
}

/// A file that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactView {
    /// What it is called.
    pub name: Text,
    /// The digest of its content.
    pub digest: crate::canonical::Digest,
    /// The committed events that say it is available.
    pub event_ids: Vec<crate::id::EntryId>,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseBlock {
    /// An answer to a question.
    Answer {
        /// The words.
        text: Text,
        /// Who wrote them.
        author: Author,
    },
    /// Words between other blocks.
    Transition {
        /// The words.
        text: Text,
        /// Who wrote them.
        author: Author,
    },
    /// Something happened.
    Receipt(OperationalReceipt),
    /// Something did not, or waits.
    Notice(ServerNotice),
    /// A card that is persisted.
    Interaction(InteractionView),
    /// A file.
    Artifact(ArtifactView),
}

/// What became of an act, beside the words it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActReport {
    /// Which act.
    pub id: ActId,
    /// The words; none for a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<WordRange>,
    /// The operation, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<crate::id::OperationRef>,
    /// What became of it.
    pub outcome: ActOutcome,
}

/// The answer of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssistantTurn {
    /// The turn it answers.
    pub turn: TurnId,
    /// Every act with exactly one outcome (I11).
    pub acts: Vec<ActReport>,
    /// What the user is shown, in order.
    pub blocks: Vec<ResponseBlock>,
}
