//! A conversation: which turns are unfinished, and how far each has come.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{CaseRef, EntryId, InteractionId, TurnId};
use turnframe_core::interaction::Interaction;
use turnframe_ledger::{Entry, EntryKind, Version};

use super::{FoldError, follow, open};
use crate::record::{CardClosed, CardOpened, TurnAccepted, TurnAnswered, TurnReduced};

/// The most cases a conversation remembers having touched.
pub const TOUCHED_MAX: usize = 64;

/// A turn that was accepted and is not answered yet.
#[derive(Debug, Clone)]
pub struct UnfinishedTurn {
    /// Which turn.
    pub turn: TurnId,
    /// The entry that accepted it.
    pub accepted_by: EntryId,
    /// What arrived.
    pub accepted: TurnAccepted,
    /// What it came to, once it was reduced.
    pub reduced: Option<TurnReduced>,
}

/// The fold of a conversation's stream. Bounded by what is unfinished and open, not by its length.
#[derive(Debug, Clone, Default)]
pub struct ConversationFold {
    /// The last entry that was folded.
    pub version: Version,
    /// The chain hash of that entry, once it was read back.
    pub chain: Option<Digest>,
    /// Accepted turns without an answer, in the order of their arrival.
    pub unfinished: VecDeque<UnfinishedTurn>,
    /// Cases the conversation has touched, latest first.
    pub touched: Vec<CaseRef>,
    /// Open choices between records.
    pub choices: BTreeMap<InteractionId, Interaction>,
}

/// A conversation's fold as a snapshot keeps it. Only a resting conversation is snapshotted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedConversation {
    touched: Vec<CaseRef>,
    choices: Vec<Interaction>,
}

impl ConversationFold {
    /// Whether the conversation was opened.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.version > Version::NONE
    }

    /// The fold after one more entry.
    ///
    /// # Errors
    /// [`FoldError`] when the entry does not belong here or cannot be read.
    pub fn apply(mut self, entry: &Entry) -> Result<Self, FoldError> {
        self.version = follow(self.version, entry)?;
        self.chain = Some(entry.chain);
        match entry.kind {
            EntryKind::ConversationOpened | EntryKind::UpdatePosted => {}
            EntryKind::TurnAccepted => {
                let accepted = open(entry)?;
                self.accept(turn_of(entry)?, entry.id, accepted);
            }
            EntryKind::TurnReduced => self.reduce(&turn_of(entry)?, open(entry)?),
            EntryKind::TurnAnswered => {
                let TurnAnswered { touched, .. } = open(entry)?;
                self.answer(&turn_of(entry)?, touched);
            }
            EntryKind::CardOpened => {
                let CardOpened { card, .. } = open(entry)?;
                self.choices.insert(card.id, card);
            }
            EntryKind::CardClosed => {
                let CardClosed { card, .. } = open(entry)?;
                self.choices.remove(&card);
            }
            kind @ (EntryKind::CaseCommand
            | EntryKind::CaseEvent
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

    /// A turn arrived.
    pub fn accept(&mut self, turn: TurnId, accepted_by: EntryId, accepted: TurnAccepted) {
        let unfinished = UnfinishedTurn { turn, accepted_by, accepted, reduced: None };
        self.unfinished.push_back(unfinished);
    }

    /// A turn was reduced.
    pub fn reduce(&mut self, turn: &TurnId, reduced: TurnReduced) {
        if let Some(unfinished) = self.unfinished.iter_mut().find(|it| it.turn == *turn) {
            unfinished.reduced = Some(reduced);
        }
    }

    /// A turn was answered.
    pub fn answer(&mut self, turn: &TurnId, touched: Vec<CaseRef>) {
        self.unfinished.retain(|unfinished| unfinished.turn != *turn);
        for case in touched {
            self.touched.retain(|known| *known != case);
            self.touched.insert(0, case);
        }
        self.touched.truncate(TOUCHED_MAX);
    }

    /// What a snapshot keeps; none while a turn is unfinished.
    #[must_use]
    pub fn save(&self) -> Option<SavedConversation> {
        self.unfinished.is_empty().then(|| SavedConversation {
            touched: self.touched.clone(),
            choices: self.choices.values().cloned().collect(),
        })
    }

    /// The fold of a snapshot that was taken at an entry.
    #[must_use]
    pub fn load(saved: SavedConversation, version: Version, chain: Digest) -> Self {
        Self {
            version,
            chain: Some(chain),
            unfinished: VecDeque::new(),
            touched: saved.touched,
            choices: saved.choices.into_iter().map(|card| (card.id, card)).collect(),
        }
    }
}

fn turn_of(entry: &Entry) -> Result<TurnId, FoldError> {
    let missing = || FoldError::Kind { at: entry.reference(), kind: entry.kind };
    entry.turn.clone().ok_or_else(missing)
}
