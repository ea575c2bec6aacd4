//! What an operator decides about an effect, as an event with a name and a reason.
//!
//! A verdict says what became of it, as the operator found out; parking takes it out of the hands of the outbox, and a
//! retry gives it back. A nudge decides nothing about it: what comes next is done now instead of at its time, and counts
//! like any other. It is recorded all the same, as it uses up one of a bounded number of look-ups or attempts, and who
//! asks later why an effect was parked so soon is to find who wanted that. No decision meets an attempt that is on its way.

use turnframe_core::canonical::Json;
use turnframe_core::id::{AccountId, ActorId, EffectId, IdError, SubjectId};
use turnframe_core::personal::{Personal, SealError};
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::IdSource;
use turnframe_ledger::Append;

use super::{EffectRecord, append_of};
use crate::fold::effect::{EffectFold, EffectStatus};
use crate::port::DestinationProfile;
use crate::record::{ByOperator, ConclusionSource, DeferReason};

/// The longest reason that an operator can give, in bytes.
pub const REASON_MAX_BYTES: usize = 2_000;

/// What an operator decides about an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorDecision {
    /// The receiver took it, as the operator found out.
    Accepted {
        /// What the receiver calls it.
        reference: String,
        /// What else it said.
        details: Json,
    },
    /// The receiver refused it, as the operator found out.
    Rejected {
        /// The receiver's stable code.
        code: String,
    },
    /// It is parked, and may be sent again under the same key.
    Retry,
    /// It is open, and nothing more is to be done about it by itself.
    Park,
    /// It is open, and what comes next is to be done now.
    Nudge,
}

impl OperatorDecision {
    /// The verdict that it is, where it is one.
    #[must_use]
    pub fn conclusion(&self) -> Option<EffectConclusion> {
        match self.clone() {
            Self::Accepted { reference, details } => {
                Some(EffectConclusion::Accepted { reference, details })
            }
            Self::Rejected { code } => Some(EffectConclusion::rejected(code)),
            Self::Retry | Self::Park | Self::Nudge => None,
        }
    }

    /// Whether something is to be asked of the effect's destination.
    #[must_use]
    pub const fn asks_the_destination(&self) -> bool {
        matches!(self, Self::Retry | Self::Nudge)
    }
}

/// The subject whose data an operator's words are: never that of an actor of the same name.
///
/// # Errors
/// [`IdError::TooLong`] when the name leaves no room for the prefix.
pub fn operator_subject(operator: &ActorId) -> Result<SubjectId, IdError> {
    SubjectId::new(format!("operator:{operator}"))
}

/// Why an operator's decision cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnresolvedError {
    /// The receiver has spoken already.
    #[error("the effect is concluded")]
    Concluded,
    /// An attempt is on its way.
    #[error("an attempt at the effect is on its way")]
    UnderWay,
    /// It goes on by itself, and need not be retried.
    #[error("the effect is not parked")]
    NotParked,
    /// It does not go on by itself any more.
    #[error("the effect is parked")]
    Parked,
    /// It was nudged, and nothing has come of that yet: it is due.
    #[error("the effect is due already")]
    Due,
    /// A decision has a reason, of at most [`REASON_MAX_BYTES`], that is not blank.
    #[error("a decision needs a reason of at most {REASON_MAX_BYTES} bytes")]
    Reason,
    /// The operator's name cannot name the subject of the operator's words.
    #[error(transparent)]
    Id(#[from] IdError),
    /// It cannot be stored.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Builds the append of an operator's decision.
///
/// # Errors
/// [`UnresolvedError`]; then nothing is to be written.
pub fn append_of_decision(
    account: &AccountId,
    effect: EffectId,
    fold: &EffectFold,
    profile: &DestinationProfile,
    (operator, reason, decision): (&ActorId, &str, &OperatorDecision),
    ids: &IdSource,
) -> Result<Append, UnresolvedError> {
    if reason.trim().is_empty() || reason.len() > REASON_MAX_BYTES || reason.contains('\0') {
        return Err(UnresolvedError::Reason);
    }
    admit(fold, decision)?;
    let reason = Personal::known(operator_subject(operator)?, reason.to_owned());
    let by = ByOperator { operator: operator.clone(), reason };
    let record = record_of_decision(fold, decision, by);
    Ok(append_of(account, effect, fold, profile, &record, ids)?)
}

/// Whether a decision can be made where the effect stands.
fn admit(fold: &EffectFold, decision: &OperatorDecision) -> Result<(), UnresolvedError> {
    use EffectStatus as Status;
    use OperatorDecision as Decision;
    match (&fold.status, decision) {
        (Status::Concluded(_), _) => Err(UnresolvedError::Concluded),
        (Status::Dispatched { .. }, _) => Err(UnresolvedError::UnderWay),
        (_, Decision::Accepted { .. } | Decision::Rejected { .. }) => Ok(()),
        (Status::Parked, Decision::Retry) => Ok(()),
        (Status::Parked, Decision::Park | Decision::Nudge) => Err(UnresolvedError::Parked),
        (Status::Requested | Status::NotSent | Status::Unknown { .. }, Decision::Retry) => {
            Err(UnresolvedError::NotParked)
        }
        (Status::Requested | Status::NotSent | Status::Unknown { .. }, Decision::Park) => Ok(()),
        (Status::Requested | Status::NotSent | Status::Unknown { .. }, Decision::Nudge) => {
            if fold.is_nudged { Err(UnresolvedError::Due) } else { Ok(()) }
        }
    }
}

fn record_of_decision(
    fold: &EffectFold,
    decision: &OperatorDecision,
    by: ByOperator,
) -> EffectRecord {
    let attempt = fold.attempts;
    if let Some(conclusion) = decision.conclusion() {
        let ByOperator { operator, reason } = by;
        let source = ConclusionSource::Operator { operator, reason };
        return EffectRecord::Concluded { attempt, conclusion, source };
    }
    match decision {
        OperatorDecision::Park => {
            EffectRecord::Parked { attempt, reason: what_is_known(fold), by: Some(by) }
        }
        OperatorDecision::Nudge => EffectRecord::Nudged(by),
        OperatorDecision::Retry
        | OperatorDecision::Accepted { .. }
        | OperatorDecision::Rejected { .. } => EffectRecord::Released(by),
    }
}

/// What is known of an effect that is parked before its time: no attempt was sent, or one of them may have been.
fn what_is_known(fold: &EffectFold) -> DeferReason {
    if fold.in_doubt.is_some() { DeferReason::StillUnknown } else { DeferReason::NotSent }
}
