//! A case: its state, its revision and its open cards.

use std::collections::BTreeMap;

use turnframe_core::canonical::{Digest, Json};
use turnframe_core::id::{CaseRevision, InteractionId};
use turnframe_core::interaction::Interaction;
use turnframe_core::registry::{ErasedState, ErasedWorkflow, StoredEvent};
use turnframe_ledger::{Entry, EntryKind, Version};

use super::{FoldError, follow, open};
use crate::record::{CardClosed, CardOpened, CaseEvent};

/// The fold of a case's stream.
#[derive(Debug, Clone)]
pub struct CaseFold {
    /// The last entry that was folded.
    pub version: Version,
    /// The chain hash of that entry, once it was read back; what a snapshot is checked against.
    pub chain: Option<Digest>,
    /// How many commits with a domain event there were.
    pub revision: CaseRevision,
    /// The domain's state.
    pub state: ErasedState,
    /// The open cards.
    pub cards: BTreeMap<InteractionId, Interaction>,
}

/// A case's fold as a snapshot keeps it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedCase {
    revision: CaseRevision,
    state: Json,
    cards: Vec<Interaction>,
}

impl CaseFold {
    /// A case without entries.
    #[must_use]
    pub fn new(workflow: &dyn ErasedWorkflow) -> Self {
        Self {
            version: Version::NONE,
            chain: None,
            revision: CaseRevision::NONE,
            state: workflow.initial(),
            cards: BTreeMap::new(),
        }
    }

    /// The fold after one more entry.
    ///
    /// # Errors
    /// [`FoldError`] when the entry does not belong here or cannot be read.
    pub fn apply(
        mut self,
        workflow: &dyn ErasedWorkflow,
        entry: &Entry,
    ) -> Result<Self, FoldError> {
        self.version = follow(self.version, entry)?;
        self.chain = Some(entry.chain);
        match entry.kind {
            EntryKind::CaseCommand => {}
            EntryKind::CaseEvent => {
                let CaseEvent { revision, event } = open(entry)?;
                let stored = StoredEvent { schema: entry.schema, json: event };
                self.state = workflow
                    .evolve(self.state, &stored)
                    .map_err(|source| FoldError::Workflow { at: entry.reference(), source })?;
                self.revision = revision;
            }
            EntryKind::CardOpened => {
                let CardOpened { card, .. } = open(entry)?;
                self.cards.insert(card.id, card);
            }
            EntryKind::CardClosed => {
                let CardClosed { card, .. } = open(entry)?;
                self.cards.remove(&card);
            }
            kind @ (EntryKind::ConversationOpened
            | EntryKind::TurnAccepted
            | EntryKind::TurnReduced
            | EntryKind::TurnAnswered
            | EntryKind::UpdatePosted
            | EntryKind::EffectRequested
            | EntryKind::EffectDispatched
            | EntryKind::EffectDeferred
            | EntryKind::EffectConcluded
            | EntryKind::EffectParked
            | EntryKind::EffectReleased
            | EntryKind::EffectNudged
            | EntryKind::TimerSet
            | EntryKind::TimerFired
            | EntryKind::TimerCancelled) => {
                return Err(FoldError::Kind { at: entry.reference(), kind });
            }
        }
        Ok(self)
    }

    /// The card that holds the case's only blocking slot (I5).
    #[must_use]
    pub fn blocking(&self) -> Option<&Interaction> {
        self.cards.values().find(|card| !card.payload.independent)
    }

    /// What a snapshot keeps, where the state survives it.
    #[must_use]
    pub fn save(&self, workflow: &dyn ErasedWorkflow) -> Option<SavedCase> {
        Some(SavedCase {
            revision: self.revision,
            state: workflow.save(&self.state)?,
            cards: self.cards.values().cloned().collect(),
        })
    }

    /// The fold of a snapshot that was taken at an entry. `None` when the workflow cannot read it.
    #[must_use]
    pub fn load(
        workflow: &dyn ErasedWorkflow,
        saved: SavedCase,
        version: Version,
        chain: Digest,
    ) -> Option<Self> {
        Some(Self {
            version,
            chain: Some(chain),
            revision: saved.revision,
            state: workflow.load(&saved.state).ok()?,
            cards: saved.cards.into_iter().map(|card| (card.id, card)).collect(),
        })
    }
}
