//! What an operator does about effects: lists those that wait for one, and decides.
//!
//! A decision is an entry with a name and a reason, on the effect's stream; what it comes to goes to the case and to
//! the conversation like any other conclusion. Killed before the append, nothing was decided; killed after, the same
//! decision of the same operator for the same reason is told that it stands.

use turnframe_core::id::{AccountId, ActorId, EffectId};
use turnframe_core::personal::Personal;
use turnframe_ledger::{AppendError, Entry, EntryKind};
use turnframe_runtime::effect::{OperatorDecision, UnresolvedError, append_of_decision};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::port::DestinationProfile;
use turnframe_runtime::record::{ConclusionSource, EffectConcluded, EffectReleased};

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
            None if *decision == OperatorDecision::Retry => {
                return Err(ResolveError::NoDestination);
            }
            None => DestinationProfile::default(),
        };
        let decided = (operator, reason.as_str(), decision);
        let append =
            match append_of_decision(account, *effect, &fold, &profile, decided, shared.ids()) {
                Ok(append) => append,
                Err(_) if stands(&entries, resolution) => return Ok(()),
                Err(error) => return Err(refusal(&error)),
            };
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

/// Whether the last decision on the record is this one: its answer was lost, and it is asked for again.
fn stands(entries: &[Entry], resolution: &Resolution) -> bool {
    let Resolution { operator, reason, decision, .. } = resolution;
    let is_same = |by: &ActorId, why: &Personal<String>| {
        by == operator && why.value().is_some_and(|why| why == reason)
    };
    let decided = entries.iter().rev().find_map(|entry| {
        if entry.kind == EntryKind::EffectReleased {
            let EffectReleased { operator, reason } = entry.body.open().ok()?;
            return Some(is_same(&operator, &reason) && *decision == OperatorDecision::Retry);
        }
        if entry.kind != EntryKind::EffectConcluded {
            return None;
        }
        let EffectConcluded { conclusion, source, .. } = entry.body.open().ok()?;
        let ConclusionSource::Operator { operator, reason } = source else { return None };
        Some(is_same(&operator, &reason) && decision.conclusion().as_ref() == Some(&conclusion))
    });
    decided.unwrap_or_default()
}

fn refusal(error: &UnresolvedError) -> ResolveError {
    match error {
        UnresolvedError::Concluded => ResolveError::Concluded,
        UnresolvedError::UnderWay => ResolveError::UnderWay,
        UnresolvedError::NotParked => ResolveError::NotParked,
        UnresolvedError::Reason | UnresolvedError::Id(_) | UnresolvedError::Seal(_) | _ => {
            ResolveError::Unreadable
        }
    }
}
