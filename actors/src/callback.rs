//! What destinations call back to say: verified, recorded once, and carried on like any other conclusion.
//!
//! A callback is appended to its effect's stream, whatever is known of the effect already: whether it is news, says the
//! same again or comes too late is for the case to judge. Killed before the append, nothing is written and the sender
//! delivers it again; killed after, the delivery that comes again finds its id taken. One that is not verified, or of
//! an effect that was never sent there, writes nothing at all.

use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, DestinationKey};
use turnframe_ledger::AppendError;
use turnframe_runtime::effect::{Heard, UnheardError, append_of_callback};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::key;
use turnframe_runtime::port::{
    CALLBACK_ID_MAX_BYTES, CallbackRefusal, Destination, DestinationProfile, Incoming,
};

use crate::error::CallbackError;
use crate::shared::Shared;

/// What became of a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Called {
    /// It is on the ledger, and on its way to its case.
    Recorded,
    /// It was recorded before, under its own id or under its statement's name.
    Repeated,
}

/// A callback that was verified and read, of an effect of an account.
#[derive(Debug, Clone)]
pub struct Callback {
    account: AccountId,
    destination: DestinationKey,
    profile: DestinationProfile,
    heard: Heard,
}

impl Callback {
    /// Whose effect it is of.
    #[must_use]
    pub const fn account(&self) -> &AccountId {
        &self.account
    }
}

/// Verifies and reads a callback, and finds its account. Counted where it is not heard: somebody may be trying.
pub(crate) async fn hear(
    shared: &Shared,
    destination: &dyn Destination,
    incoming: &Incoming,
) -> Result<Callback, CallbackError> {
    let (key, profile) = (destination.key(), destination.profile());
    let callbacks = destination.callbacks().ok_or(CallbackError::NotFound)?;
    let verified = callbacks.verify(incoming, shared.ids().now()).and_then(|id| {
        if id.is_empty() || id.len() > CALLBACK_ID_MAX_BYTES {
            return Err(CallbackRefusal::Unsigned);
        }
        let statement = callbacks.read(&incoming.body)?;
        let digest = Digest::of("tf.callback-body.1", &[&incoming.body]);
        Ok(Heard { id, digest, statement })
    });
    let heard = verified.map_err(|refusal| {
        tracing::warn!(
            counter.turnframe.callback.refused = 1,
            destination = %key,
            %refusal,
            "a callback was not heard"
        );
        CallbackError::Refused(refusal)
    })?;
    let account = shared.ledger.account_of_effect(heard.statement.effect).await;
    let account = account.map_err(CallbackError::unavailable)?.ok_or(CallbackError::NotFound)?;
    Ok(Callback { account, destination: key, profile, heard })
}

/// Records what was heard.
pub(crate) async fn record(shared: &Shared, callback: &Callback) -> Result<Called, CallbackError> {
    let Callback { account, destination, profile, heard } = callback;
    let own = key::callback(destination, &heard.id).map_err(CallbackError::unavailable)?;
    for _ in 0..shared.limits.append_attempts_max {
        let entries = shared.effect(account, heard.statement.effect).await;
        let entries = entries.map_err(CallbackError::unavailable)?;
        let fold = EffectFold::of(&entries).map_err(CallbackError::unavailable)?;
        let fold = fold.ok_or(CallbackError::NotFound)?;
        let append =
            append_of_callback(account, &fold, profile, (destination, heard), shared.ids());
        let append = append.map_err(|error| match error {
            UnheardError::NotSentThere => CallbackError::NotFound,
            UnheardError::NoVerdict | UnheardError::Seal(_) => {
                CallbackError::Refused(CallbackRefusal::Unreadable)
            }
            UnheardError::Key(_) | _ => CallbackError::unavailable(error),
        })?;
        match shared.append(&append).await {
            Ok(_) => {
                shared.nudges.facts.send_replace(());
                return Ok(Called::Recorded);
            }
            Err(AppendError::DuplicateKey { key, same_content: false, .. }) if key == own => {
                return Err(CallbackError::Reused);
            }
            Err(AppendError::DuplicateKey { .. }) => return Ok(Called::Repeated),
            // An attempt was concluded meanwhile, or another callback came.
            Err(AppendError::Conflict { .. }) => {}
            Err(AppendError::Fenced { .. }) => return Err(CallbackError::NotHere),
            // Where it landed after all, the delivery that comes again is told so.
            Err(error) => return Err(CallbackError::unavailable(error)),
        }
    }
    Err(CallbackError::unavailable("the effect is being worked on"))
}
