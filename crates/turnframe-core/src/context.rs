//! Who speaks. The host's authentication makes it; the account never comes from a request's body.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, ActorId, IdError, Locale, SubjectId};

/// The authenticated actor of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActorContext {
    /// The tenant: the boundary of every look-up.
    pub account: AccountId,
    /// The person or program within it.
    pub actor: ActorId,
    /// The language the actor reads.
    pub locale: Locale,
    /// The IANA time zone in which the actor's dates are meant.
    pub time_zone: String,
}

impl ActorContext {
    /// The subject whose data the actor's own words are.
    ///
    /// # Errors
    /// [`IdError::TooLong`] when the actor's name leaves no room for the prefix.
    pub fn subject(&self) -> Result<SubjectId, IdError> {
        SubjectId::new(format!("actor:{}", self.actor))
    }
}
