//! Why a request to the system was not served. Each has a stable code; none says anything about records of
//! another account.

use turnframe_runtime::port::CallbackRefusal;

/// Why a callback was not recorded. Nothing was written, but where it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// No destination of that name calls back, or no attempt at that effect was sent to it.
    #[error("there is no such destination or effect")]
    NotFound,
    /// It was not verified, or cannot be read.
    #[error(transparent)]
    Refused(#[from] CallbackRefusal),
    /// Its id was used before for other content.
    #[error("this callback's id was used before with other content")]
    Reused,
    /// Another process takes work for the effect's account.
    #[error("another process takes work for this account")]
    NotHere,
    /// The ledger is away. Whether it was recorded is on the ledger: delivered again, it is recorded once.
    #[error("the system is unavailable: {reason}")]
    Unavailable {
        /// What went wrong, for an operator.
        reason: String,
    },
}

impl CallbackError {
    pub(crate) fn unavailable(reason: impl std::fmt::Display) -> Self {
        Self::Unavailable { reason: reason.to_string() }
    }
}

/// Why an operator's decision was not recorded. Nothing was written, but where it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The account has no such effect.
    #[error("there is no such effect")]
    NotFound,
    /// Its receiver has spoken already: there is nothing to decide.
    #[error("the effect is concluded")]
    Concluded,
    /// An attempt is on its way; decide once it has ended.
    #[error("an attempt at the effect is on its way")]
    UnderWay,
    /// It goes on by itself.
    #[error("the effect is not parked")]
    NotParked,
    /// It is parked: nothing is done about it by itself.
    #[error("the effect is parked")]
    Parked,
    /// Another effect of its case is sent before it.
    #[error("another effect of its case is before it")]
    NotItsTurn,
    /// Its destination is not there any more: nothing can be sent to it.
    #[error("the effect's destination is not known here")]
    NoDestination,
    /// The reason is blank or too long, or what was decided cannot be stored.
    #[error("the decision or its reason cannot be recorded")]
    Unreadable,
    /// Another process takes work for the account.
    #[error("another process takes work for this account")]
    NotHere,
    /// The ledger is away. Whether the decision was recorded is on the ledger: ask again.
    #[error("the system is unavailable: {reason}")]
    Unavailable {
        /// What went wrong, for an operator.
        reason: String,
    },
}

impl ResolveError {
    pub(crate) fn unavailable(reason: impl std::fmt::Display) -> Self {
        Self::Unavailable { reason: reason.to_string() }
    }
}

/// Why a turn, or a request about a conversation, was not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// There is no such conversation or card for this account.
    #[error("there is no such record")]
    NotFound,
    /// The turn id was used before with other content. Nothing was written.
    #[error("this turn id was used before with other content")]
    TurnReused,
    /// A turn needs words, a click, or both.
    #[error("a turn needs words, a click, or both")]
    Empty,
    /// The words cannot be a message.
    #[error(transparent)]
    Message(#[from] turnframe_core::words::MessageError),
    /// The card has no such option.
    #[error("the card has no such option")]
    NoSuchOption,
    /// The revision is not the one on the card.
    #[error("the revision is not the one on the card")]
    WrongRevision,
    /// The option takes no value, needs one, or takes a shorter one.
    #[error("the value does not fit the option")]
    WrongValue,
    /// Too many turns wait in this conversation or in the process. Nothing was written; try again later.
    #[error("too many turns are waiting; try again shortly")]
    Overloaded,
    /// Another process takes work for this account, or none does at this moment. Nothing was written by this request
    /// here; that the record does not exist is not said.
    #[error("another process takes work for this account")]
    NotHere,
    /// The system is shutting down or its ledger is away. Whether the turn was accepted is on the ledger: the same
    /// turn id may be sent again and is answered once.
    #[error("the system is unavailable: {reason}")]
    Unavailable {
        /// What went wrong, for an operator.
        reason: String,
    },
}

impl PostError {
    pub(crate) fn unavailable(reason: impl std::fmt::Display) -> Self {
        Self::Unavailable { reason: reason.to_string() }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::TurnReused => "turn_reused",
            Self::Empty => "empty_turn",
            Self::Message(_) => "unreadable_message",
            Self::NoSuchOption => "no_such_option",
            Self::WrongRevision => "wrong_revision",
            Self::WrongValue => "wrong_value",
            Self::Overloaded => "overloaded",
            Self::NotHere => "not_here",
            Self::Unavailable { .. } => "unavailable",
        }
    }
}
