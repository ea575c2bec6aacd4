//! What an operator does about effects: decides about those that wait for one, parks those that are open, and has what
//! comes next done at once.
//!
//! A decision is an entry with a name and a reason, on the effect's stream; what it comes to goes to the case and to
//! the conversation like any other conclusion. Killed before the append, nothing was decided; killed after, the same
//! decision of the same operator for the same reason is told that it stands.

use turnframe_core::id::{AccountId, ActorId, EffectId};
use turnframe_core::receipt::EffectConclusion;
use turnframe_ledger::{AppendError, Entry, EntryKind, StreamName};
use turnframe_runtime::effect::{
    EffectStep, OperatorDecision, UnresolvedError, append_of_decision, next,
};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::port::DestinationProfile;
use turnframe_runtime::record::{
    ByOperator, ConclusionSource, EffectConcluded, EffectNudged, EffectParked, EffectReleased,
};

use crate::error::ResolveError;
use crate::shared::Shared;

/// An operator's decision about an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// Whose effect.
    pub account: AccountId,
    /// Which effect.
    pub effect: EffectId,
    /// Who decides.
    pub operator: ActorId,
    /// Why, in the operator's words.
    pub reason: String,
    /// What.
    pub decision: OperatorDecision,
}

pub(crate) async fn resolve(
    shared: &Shared,
    profile_of: impl Fn(&EffectFold) -> Option<DestinationProfile>,
    resolution: &Resolution,
) -> Result<(), ResolveError> {
    let Resolution { account, effect, operator, reason, decision } = resolution;
    for _ in 0..shared.limits.append_attempts_max {
        let entries = shared.effect(account, *effect).await.map_err(ResolveError::unavailable)?;
        let fold = EffectFold::of(&entries).map_err(ResolveError::unavailable)?;
        let fold = fold.ok_or(ResolveError::NotFound)?;
        // One whose destination is not there any more can be decided all the same, and not sent.
        let profile = match profile_of(&fold) {
            Some(profile) => profile,
            None if decision.asks_the_destination() => {
                return Err(ResolveError::NoDestination);
            }
            None => DestinationProfile::default(),
        };
        let decided = (operator, reason.as_str(), decision);
        let append =
            match append_of_decision(account, *effect, &fold, &profile, decided, shared.ids()) {
                Ok(append) => append,
                // It is due, and nothing has come of that yet.
                Err(UnresolvedError::Due) => return Ok(()),
                Err(_) if stands(&entries, resolution) => return Ok(()),
                Err(error) => return Err(refusal(&error)),
            };
        let is_sent_next = matches!(next(&fold, &profile), EffectStep::Dispatch { .. });
        if *decision == OperatorDecision::Nudge && profile.in_order && is_sent_next {
            let first = shared.is_first(account, *effect, &fold).await;
            if !first.map_err(ResolveError::unavailable)? {
                return Err(ResolveError::NotItsTurn);
            }
        }
        // Once committed it may be due: the outbox is not to look at it as it was remembered before.
        shared.writer.fresh().forget(account, &StreamName::Effect(*effect));
        match shared.append(&append).await {
            Ok(_) => {
                tracing::info!(%effect, %operator, "an operator decided about an effect");
                shared.nudges.effects.send_replace(());
                shared.nudges.facts.send_replace(());
                return Ok(());
            }
            // An attempt was concluded meanwhile, or a callback came.
            Err(AppendError::Conflict { .. }) => {}
            Err(AppendError::Fenced { .. }) => return Err(ResolveError::NotHere),
            Err(error) => return Err(ResolveError::unavailable(error)),
        }
    }
    Err(ResolveError::unavailable("the effect is being worked on"))
}

/// Whether the last decision on the record is this one: its answer was lost, and it is asked for again. A nudge decides
/// nothing that another decision would have to follow.
fn stands(entries: &[Entry], resolution: &Resolution) -> bool {
    let Resolution { operator, reason, decision, .. } = resolution;
    let is_nudge = *decision == OperatorDecision::Nudge;
    let decided = entries.iter().rev().filter_map(decision_of);
    let mut decided = decided.filter(|(_, made)| (*made == OperatorDecision::Nudge) == is_nudge);
    decided.next().is_some_and(|(by, made)| {
        let is_same = by.operator == *operator && by.reason.value() == Some(reason);
        is_same && made == *decision
    })
}

/// What an operator decided in an entry, where one did.
fn decision_of(entry: &Entry) -> Option<(ByOperator, OperatorDecision)> {
    if entry.kind == EntryKind::EffectReleased {
        let EffectReleased { operator, reason } = entry.body.open().ok()?;
        return Some((ByOperator { operator, reason }, OperatorDecision::Retry));
    }
    if entry.kind == EntryKind::EffectNudged {
        let EffectNudged { operator, reason } = entry.body.open().ok()?;
        return Some((ByOperator { operator, reason }, OperatorDecision::Nudge));
    }
    if entry.kind == EntryKind::EffectParked {
        let EffectParked { by, .. } = entry.body.open().ok()?;
        return Some((by?, OperatorDecision::Park));
    }
    if entry.kind != EntryKind::EffectConcluded {
        return None;
    }
    let EffectConcluded { conclusion, source, .. } = entry.body.open().ok()?;
    let ConclusionSource::Operator { operator, reason } = source else { return None };
    let decision = match conclusion {
        EffectConclusion::Accepted { reference, details } => {
            OperatorDecision::Accepted { reference, details }
        }
        EffectConclusion::Rejected { code, .. } => OperatorDecision::Rejected { code },
        EffectConclusion::Unknown | EffectConclusion::ReconciliationRequired => return None,
    };
    Some((ByOperator { operator, reason }, decision))
}

fn refusal(error: &UnresolvedError) -> ResolveError {
    match error {
        UnresolvedError::Concluded => ResolveError::Concluded,
        UnresolvedError::UnderWay => ResolveError::UnderWay,
        UnresolvedError::NotParked => ResolveError::NotParked,
        UnresolvedError::Parked => ResolveError::Parked,
        UnresolvedError::Reason | UnresolvedError::Id(_) | UnresolvedError::Seal(_) | _ => {
            ResolveError::Unreadable
        }
    }
}
