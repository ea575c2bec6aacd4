//! A case as it is shown and as it is reasoned about: a pure projection of its state (I2).

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::id::{CaseRef, CaseRevision, OperationKey};
use crate::interaction::InteractionPayload;
use crate::text::Text;

/// Whose move it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseOwner {
    /// The user's, who is asked by a persisted card (I6).
    User,
    /// Anybody's: the case rests and can be changed.
    Anyone,
    /// An external system's.
    External,
    /// Nobody's any more.
    Closed,
}

/// The one phase a case is in (I3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The phase's key within the workflow.
    pub key: String,
    /// Whose move it is.
    pub owner: PhaseOwner,
}

/// Something the case still needs. The parameter tells two of a kind apart (I4).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Obligation {
    /// The kind.
    pub key: String,
    /// Which one of the kind.
    pub parameter: String,
}

/// A fact of the case in the words of the domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it says.
    pub value: Text,
}

/// What a workflow projects from a state; the runtime adds which case and which revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Projection<C = Json> {
    /// The phase.
    pub phase: Phase,
    /// What the case still needs, in order.
    pub obligations: Vec<Obligation>,
    /// What people call the case.
    pub label: Text,
    /// What else people call it. A mention must equal the label or one of these.
    pub aliases: Vec<Text>,
    /// What is known, in the order in which it is shown.
    pub facts: Vec<Fact>,
    /// The operations on offer in this state.
    pub operations: Vec<OperationKey>,
    /// The card the state requires, exactly where the user owns the phase.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub required: Option<InteractionPayload<C>>,
}

/// A case at a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowView {
    /// Which case.
    pub case: CaseRef,
    /// At which revision.
    pub revision: CaseRevision,
    /// What the workflow projects.
    #[serde(flatten)]
    pub projection: Projection,
}

/// A projection that breaks an invariant: a defect of the workflow, never of the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// I6: the user owns the phase and nothing asks them.
    #[error("the user owns phase {0:?} and the projection requires no card")]
    UserPhaseWithoutCard(String),
    /// I6 the other way round: a card is required though it is not the user's move.
    #[error("phase {0:?} is not the user's and the projection requires a card")]
    CardOutsideUserPhase(String),
    /// The required card names no requirement, so that it could not be told from another.
    #[error("the required card of phase {0:?} names no requirement")]
    CardWithoutRequirement(String),
    /// A card without an option is a dead end.
    #[error("the required card of phase {0:?} has no option")]
    CardWithoutOption(String),
    /// I4: two obligations are the same one.
    #[error("obligation {0:?} stands twice")]
    RepeatedObligation(Obligation),
    /// A closed case offers operations.
    #[error("phase {0:?} is closed and operations are on offer")]
    OfferWhenClosed(String),
}

impl<C> Projection<C> {
    /// Checks what every projection must hold.
    ///
    /// # Errors
    /// [`ViewError`] for the first invariant that is broken.
    pub fn check(&self) -> Result<(), ViewError> {
        let phase = || self.phase.key.clone();
        match (self.phase.owner, &self.required) {
            (PhaseOwner::User, None) => return Err(ViewError::UserPhaseWithoutCard(phase())),
            (PhaseOwner::Anyone | PhaseOwner::External | PhaseOwner::Closed, Some(_)) => {
                return Err(ViewError::CardOutsideUserPhase(phase()));
            }
            (PhaseOwner::User, Some(card)) if card.requirement.is_none() => {
                return Err(ViewError::CardWithoutRequirement(phase()));
            }
            (PhaseOwner::User, Some(card)) if card.options.is_empty() => {
                return Err(ViewError::CardWithoutOption(phase()));
            }
            (PhaseOwner::Closed, None) if !self.operations.is_empty() => {
                return Err(ViewError::OfferWhenClosed(phase()));
            }
            (
                PhaseOwner::User | PhaseOwner::Anyone | PhaseOwner::External | PhaseOwner::Closed,
                _,
            ) => {}
        }
        let mut seen = std::collections::BTreeSet::new();
        match self.obligations.iter().find(|obligation| !seen.insert(*obligation)) {
            Some(twice) => Err(ViewError::RepeatedObligation(twice.clone())),
            None => Ok(()),
        }
    }

    /// Whether nothing can happen to the case any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.phase.owner == PhaseOwner::Closed
    }
}
