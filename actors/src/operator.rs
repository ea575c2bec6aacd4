//! What an operator does about effects: lists those that wait for one, and decides.
//!
//! A decision is an entry with a name and a reason, on the effect's stream; what it comes to goes to the case and to
//! the conversation like any other conclusion. Killed before the append, nothing was decided; killed after, the same
//! decision again is told that it stands.

use turnframe_core::id::{AccountId, ActorId, EffectId};
use turnframe_ledger::AppendError;
use turnframe_runtime::effect::{OperatorDecision, UnresolvedError, append_of_decision};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::port::DestinationProfile;

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
    profile_of: impl Fn(&EffectFold) -> DestinationProfile,
    resolution: &Resolution,
) -> Result<(), ResolveError> {
    let Resolution { account, effect, operator, reason, decision } = resolution;
    for _ in 0..shared.limits.append_attempts_max {
        let entries = shared.effect(account, *effect).await.map_err(ResolveError::unavailable)?;
        let fold = EffectFold::of(&entries).map_err(ResolveError::unavailable)?;
        let fold = fold.ok_or(ResolveError::NotFound)?;
        let decided = (operator, reason.as_str(), decision);
        let profile = profile_of(&fold);
        let append = append_of_decision(account, *effect, &fold, &profile, decided, shared.ids());
        let append = append.map_err(|error| match error {
            UnresolvedError::Concluded => ResolveError::Concluded,
            UnresolvedError::UnderWay => ResolveError::UnderWay,
            UnresolvedError::NotParked => ResolveError::NotParked,
            UnresolvedError::Reason | UnresolvedError::Id(_) | UnresolvedError::Seal(_) | _ => {
                ResolveError::Unreadable
            }
        })?;
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
