//! An effect: what was asked for, what was tried, and what is known of it.

use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::Timestamp;
use turnframe_ledger::{Entry, EntryKind, Version};

use super::{FoldError, follow, open};
use crate::record::{
    DeferReason, EffectConcluded, EffectDeferred, EffectDispatched, EffectRequested,
};

/// Where an effect stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EffectStatus {
    /// Nothing was sent yet.
    Requested,
    /// An attempt is on its way, or its process died.
    Dispatched {
        /// When the attempt was recorded.
        at: Timestamp,
    },
    /// The last attempt provably was not sent.
    NotSent,
    /// The last attempt may have been received or not.
    Unknown {
        /// When the attempt was recorded.
        dispatched_at: Timestamp,
    },
    /// Its fate is known.
    Concluded(EffectConclusion),
    /// Nobody but an operator can go on.
    Parked,
}

/// The fold of an effect's stream.
#[derive(Debug, Clone)]
pub struct EffectFold {
    /// The last entry that was folded.
    pub version: Version,
    /// What was asked for.
    pub requested: EffectRequested,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// How many attempts were made.
    pub attempts: u32,
    /// How many of them say nothing about the effect: the destination was down.
    pub uncounted: u32,
    /// How many look-ups of the last attempt came to nothing.
    pub lookups: u32,
    /// When the latest attempt was recorded that may have been received or not. A later one that was not sent says
    /// nothing about it.
    pub in_doubt: Option<Timestamp>,
    /// Whether nothing has happened since an operator had it made due.
    pub is_nudged: bool,
    /// Where it stands.
    pub status: EffectStatus,
}

impl EffectFold {
    /// Folds a whole stream. `None` for a stream without entries.
    ///
    /// # Errors
    /// [`FoldError`] when an entry does not belong here or cannot be read.
    pub fn of(entries: &[Entry]) -> Result<Option<Self>, FoldError> {
        let Some((first, rest)) = entries.split_first() else { return Ok(None) };
        if first.kind != EntryKind::EffectRequested {
            return Err(FoldError::Kind { at: first.reference(), kind: first.kind });
        }
        let fold = Self {
            version: follow(Version::NONE, first)?,
            requested: open(first)?,
            requested_at: first.recorded_at,
            attempts: 0,
            uncounted: 0,
            lookups: 0,
            in_doubt: None,
            is_nudged: false,
            status: EffectStatus::Requested,
        };
        rest.iter().try_fold(fold, Self::apply).map(Some)
    }

    /// Whether another attempt may be made, of so many.
    #[must_use]
    pub const fn has_attempts_left(&self, attempts_max: u32) -> bool {
        self.attempts.saturating_sub(self.uncounted) < attempts_max
    }

    fn apply(mut self, entry: &Entry) -> Result<Self, FoldError> {
        self.version = follow(self.version, entry)?;
        self.is_nudged = entry.kind == EntryKind::EffectNudged;
        match entry.kind {
            EntryKind::EffectNudged => {}
            EntryKind::EffectDispatched => {
                let EffectDispatched { attempt } = open(entry)?;
                (self.attempts, self.lookups) = (attempt, 0);
                self.status = EffectStatus::Dispatched { at: entry.recorded_at };
            }
            EntryKind::EffectDeferred => {
                let EffectDeferred { reason, .. } = open(entry)?;
                match reason {
                    DeferReason::NotSent => self.status = EffectStatus::NotSent,
                    DeferReason::Unavailable => {
                        (self.status, self.uncounted) = (EffectStatus::NotSent, self.uncounted + 1);
                    }
                    DeferReason::StillUnknown => self.lookups += 1,
                }
            }
            EntryKind::EffectConcluded => {
                let EffectConcluded { conclusion, .. } = open(entry)?;
                self.status = match (conclusion, &self.status) {
                    (EffectConclusion::Unknown, EffectStatus::Dispatched { at }) => {
                        EffectStatus::Unknown { dispatched_at: *at }
                    }
                    (EffectConclusion::Unknown, _) => {
                        EffectStatus::Unknown { dispatched_at: entry.recorded_at }
                    }
                    (conclusion, _) => EffectStatus::Concluded(conclusion),
                };
                if let EffectStatus::Unknown { dispatched_at } = self.status {
                    self.in_doubt = Some(dispatched_at);
                }
            }
            EntryKind::EffectParked => self.status = EffectStatus::Parked,
            EntryKind::EffectReleased => {
                // Whatever was in doubt, an operator has decided that the effect may be sent again.
                (self.uncounted, self.lookups, self.in_doubt) = (self.attempts, 0, None);
                self.status = EffectStatus::NotSent;
            }
            kind @ (EntryKind::ConversationOpened
            | EntryKind::TurnAccepted
            | EntryKind::TurnReduced
            | EntryKind::TurnAnswered
            | EntryKind::UpdatePosted
            | EntryKind::CaseCommand
            | EntryKind::CaseEvent
            | EntryKind::CardOpened
            | EntryKind::CardClosed
            | EntryKind::EffectRequested
            | EntryKind::TimerSet
            | EntryKind::TimerFired
            | EntryKind::TimerCancelled) => {
                return Err(FoldError::Kind { at: entry.reference(), kind });
            }
        }
        Ok(self)
    }
}
