//! What can be asked of a loan, and what can have happened to it.

use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;
use turnframe_core::receipt::EffectConclusion;

/// What can be asked of a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskCommand {
    /// Opens a loan of a book. The user's words are enough.
    Open {
        /// What the book is called.
        title: String,
        /// Who will read it.
        reader: Option<Personal<String>>,
    },
    /// Writes a note, in place of the one before. The user's words are enough.
    Note {
        /// The note.
        note: Personal<String>,
    },
    /// Says where the book will be picked up. The user's words are enough, and a card asks.
    ChooseBranch {
        /// The branch.
        branch: String,
    },
    /// Orders the book from the office: an external effect, which needs a click.
    Order,
    /// Calls the loan off, for good. Needs a click, and sends nothing.
    Withdraw,
    /// Carries what became of an order. Total: it applies, repeats, or is recorded as an anomaly.
    RecordOutcome {
        /// The effect that carried the order.
        effect: EffectId,
        /// What became of it.
        outcome: OrderOutcome,
    },
}

/// What can become of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderOutcome {
    /// The office took it.
    Accepted {
        /// What the office calls it.
        reference: String,
    },
    /// The office refused it.
    Rejected {
        /// The office's code.
        code: String,
    },
    /// It may have reached the office or not.
    Unknown,
    /// Nothing could find out; somebody has to ask.
    ReconciliationRequired,
}

impl From<&EffectConclusion> for OrderOutcome {
    fn from(conclusion: &EffectConclusion) -> Self {
        match conclusion {
            EffectConclusion::Accepted { reference, .. } => {
                Self::Accepted { reference: reference.clone() }
            }
            EffectConclusion::Rejected { code, .. } => Self::Rejected { code: code.clone() },
            EffectConclusion::Unknown => Self::Unknown,
            EffectConclusion::ReconciliationRequired => Self::ReconciliationRequired,
        }
    }
}

/// What can have happened to a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeskEvent {
    /// It was opened.
    Opened {
        /// What the book is called.
        title: String,
        /// Who will read it.
        reader: Option<Personal<String>>,
    },
    /// A note was written.
    Noted {
        /// The note.
        note: Personal<String>,
    },
    /// The branch was chosen.
    BranchChosen {
        /// The branch.
        branch: String,
    },
    /// The order was recorded and will be sent.
    OrderRequested,
    /// What became of the order is known, or known to be unknown.
    OutcomeRecorded {
        /// The effect that carried the order.
        effect: EffectId,
        /// What became of it.
        outcome: OrderOutcome,
    },
    /// The office said something that does not fit what is recorded. It changes nothing.
    OutcomeAnomalyRecorded {
        /// The effect it was said of.
        effect: EffectId,
        /// What was said.
        outcome: OrderOutcome,
    },
    /// It was called off.
    Withdrawn,
}
