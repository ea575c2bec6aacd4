//! What a step came to when it ran before: read from the entry that its key names (I14).

use turnframe_core::id::TurnId;
use turnframe_core::plan::ActOutcome;
use turnframe_ledger::{Entry, EntryKind, Version};

use crate::fold::FoldError;
use crate::record::{CardClosed, CardOpened, CaseCommand};

/// A step that ran before.
#[derive(Debug, Clone)]
pub struct Original {
    /// What it came to.
    pub outcome: ActOutcome,
    /// The entry that records it.
    pub version: Version,
    /// The turn it ran in.
    pub turn: Option<TurnId>,
}

/// Reads the original outcome from the entry that a step's key names.
///
/// # Errors
/// [`FoldError`] when the entry is not one that a step's key can name, or cannot be read.
pub fn original(entry: &Entry) -> Result<Original, FoldError> {
    let shape = |source| FoldError::Shape { at: entry.reference(), source };
    let outcome = match entry.kind {
        EntryKind::CaseCommand => entry.body.open::<CaseCommand>().map_err(shape)?.outcome,
        EntryKind::CardOpened => {
            let CardOpened { card, renews, .. } = entry.body.open().map_err(shape)?;
            match renews {
                Some(stale) => ActOutcome::StaleCard { card: stale, fresh: Some(card.id) },
                None => ActOutcome::AwaitingConfirmation { card: card.id },
            }
        }
        EntryKind::CardClosed => {
            let CardClosed { card, status, .. } = entry.body.open().map_err(shape)?;
            ActOutcome::CardClosed { card, status }
        }
        kind @ (EntryKind::ConversationOpened
        | EntryKind::TurnAccepted
        | EntryKind::TurnReduced
        | EntryKind::TurnAnswered
        | EntryKind::UpdatePosted
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
    };
    Ok(Original { outcome, version: entry.version, turn: entry.turn.clone() })
}
