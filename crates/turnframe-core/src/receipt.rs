//! Receipts: the only form in which it may be said that something happened (ADR-005).

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::id::{CaseRef, CaseRevision, EntryId};
use crate::policy::ClaimMode;
use crate::text::Text;

/// How a receipt is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptSeverity {
    /// It happened.
    Success,
    /// It is under way.
    Info,
    /// It needs attention, an unknown outcome included.
    Warning,
    /// It did not happen, and that is certain.
    Failure,
}

/// The status of what a receipt is about. Distinct stages stay distinct; there is no "done".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptStatus {
    /// A record of ours was changed.
    Recorded,
    /// Ready to be sent; nothing left the house yet.
    Prepared,
    /// Checked against the rules of the receiver.
    Validated,
    /// Waits for the user.
    AwaitingConfirmation,
    /// Handed over; nothing is known of its fate.
    Submitted,
    /// A middleman has it.
    ReceivedByIntermediary,
    /// The authority has it.
    ReceivedByAuthority,
    /// The receiver agreed.
    Accepted,
    /// The receiver refused.
    Rejected,
    /// The receiver issued what was asked for.
    Issued,
    /// It did not reach its addressee.
    NotDelivered,
    /// It reached its addressee.
    Delivered,
    /// The whole procedure came to its end.
    Completed,
    /// Nobody here knows whether it happened (I15).
    Unknown,
    /// Somebody has to find out.
    ReconciliationRequired,
    /// A status of the domain's own.
    Domain(String),
}

/// A receipt as a domain renders it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiptDraft {
    /// The status of what it is about.
    pub status: ReceiptStatus,
    /// How it is meant.
    pub severity: ReceiptSeverity,
    /// What the user reads first.
    pub title: Text,
    /// What exactly happened.
    pub body: Text,
    /// The committed events that authorise it.
    pub event_ids: Vec<EntryId>,
    /// What an external system calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<String>,
    /// What else may be said of it.
    pub claim_mode: ClaimMode,
}

/// A receipt as it is shown and stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationalReceipt {
    /// Derived from the first event it cites: two receipts never share one.
    pub id: String,
    /// The case it is about.
    pub case: CaseRef,
    /// The revision that was committed.
    pub revision: CaseRevision,
    /// What the domain rendered.
    #[serde(flatten)]
    pub draft: ReceiptDraft,
}

impl OperationalReceipt {
    /// Names a draft. The id repeats for the same events, so that a repeated click shows the same receipt.
    #[must_use]
    pub fn of(case: CaseRef, revision: CaseRevision, draft: ReceiptDraft) -> Self {
        let id =
            draft.event_ids.first().map_or_else(String::new, |event| format!("receipt:{event}"));
        Self { id, case, revision, draft }
    }
}

/// What became of an attempt at an external effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectConclusion {
    /// The receiver took it.
    Accepted {
        /// What the receiver calls it.
        reference: String,
        /// What else it said.
        details: Json,
    },
    /// The receiver refused it.
    Rejected {
        /// The receiver's stable code.
        code: String,
        /// What else it said.
        #[serde(default, skip_serializing_if = "Json::is_empty_object")]
        details: Json,
    },
    /// It may have happened or not (I15).
    Unknown,
    /// Nothing could find out; an operator has to.
    ReconciliationRequired,
}

impl EffectConclusion {
    /// A refusal that says no more than its code.
    #[must_use]
    pub fn rejected(code: impl Into<String>) -> Self {
        Self::Rejected { code: code.into(), details: Json::default() }
    }
}
