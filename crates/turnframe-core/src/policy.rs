//! What a command may do without a click, and what may be said of its outcome.

use serde::{Deserialize, Serialize};

use crate::canonical::Digest;
use crate::id::{DestinationKey, EffectId, InteractionId, OptionId, TurnId};
use crate::plan::ActId;

/// How bad it is when a command was not meant. Ordered from harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RiskClass {
    /// Undone by another command.
    Low,
    /// Undone with some effort.
    Medium,
    /// Costs money or trust.
    High,
    /// Leaves the house: a submission to an external or regulated party.
    ExternalRegulated,
    /// Cannot be undone.
    Irreversible,
}

/// How a command comes to be authorised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfirmationPolicy {
    /// The user's own words are enough.
    DirectUserAct,
    /// Only a click on a persisted card is.
    Click,
}

/// What may be said of an outcome (ADR-005, decision 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimMode {
    /// The receipt alone speaks; a model may not paraphrase it.
    ServerReceiptOnly,
    /// Words may restate it where each statement names an event of an emitted receipt.
    EventReferencedParaphrase,
    /// Nothing operational is said.
    FreeExplanation,
}

/// What the domain's policy says of a command in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandPolicy {
    /// How bad it is when it was not meant.
    pub risk: RiskClass,
    /// How it comes to be authorised.
    pub confirmation: ConfirmationPolicy,
    /// What may be said of its outcome.
    pub claim: ClaimMode,
}

impl CommandPolicy {
    /// The policy of a command that nobody classified.
    #[must_use]
    pub const fn strictest() -> Self {
        Self {
            risk: RiskClass::Irreversible,
            confirmation: ConfirmationPolicy::Click,
            claim: ClaimMode::ServerReceiptOnly,
        }
    }

    /// A change that another command undoes: the user's words are enough.
    #[must_use]
    pub const fn direct() -> Self {
        Self {
            risk: RiskClass::Low,
            confirmation: ConfirmationPolicy::DirectUserAct,
            claim: ClaimMode::ServerReceiptOnly,
        }
    }

    /// A submission to an external or regulated party.
    #[must_use]
    pub const fn external() -> Self {
        Self {
            risk: RiskClass::ExternalRegulated,
            confirmation: ConfirmationPolicy::Click,
            claim: ClaimMode::ServerReceiptOnly,
        }
    }

    /// Whether words cannot authorise the command. A lenient confirmation does not loosen a high risk.
    #[must_use]
    pub fn requires_click(self) -> bool {
        self.confirmation == ConfirmationPolicy::Click || self.risk >= RiskClass::High
    }

    /// Whether the command leaves the house.
    #[must_use]
    pub fn is_submission(self) -> bool {
        self.risk >= RiskClass::ExternalRegulated
    }
}

/// Who authorised a command (I12). There is no variant for "the model said so".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandOrigin {
    /// The user's own words, where policy lets words authorise.
    DirectUserAct {
        /// The turn they were said in.
        turn: TurnId,
        /// The act they were read as.
        act: ActId,
    },
    /// A click on a persisted card that names exactly this command.
    ConfirmedInteraction {
        /// The card.
        interaction: InteractionId,
        /// The option clicked.
        option: OptionId,
        /// The hash of the payload the user saw.
        payload_hash: Digest,
    },
    /// A rule of the house, run by a domain actor.
    InternalPolicy {
        /// The rule's name.
        rule: String,
    },
    /// What an external system answered to an effect of ours.
    ExternalReceipt {
        /// The effect.
        effect: EffectId,
    },
    /// What an external system called back to say, signature verified.
    ExternalCallback {
        /// The system.
        destination: DestinationKey,
        /// The callback's own id.
        callback: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i12_a_lenient_confirmation_does_not_loosen_a_high_risk() {
        let lenient = CommandPolicy { risk: RiskClass::High, ..CommandPolicy::direct() };
        assert!(lenient.requires_click());
        assert!(CommandPolicy::strictest().requires_click());
        assert!(!CommandPolicy::direct().requires_click());
    }
}
