//! Why a trip refuses a command.

use turnframe_core::plan::Rejection;

use crate::text_rule::LineFault;

/// The domain's refusals. Their codes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The trip exists already.
    AlreadyOpen,
    /// The trip does not exist.
    NotOpen,
    /// The trip was called off.
    Withdrawn,
    /// It is so already.
    Unchanged,
    /// There are no words where words are needed.
    Blank,
    /// The words are too long.
    TooLong,
    /// The words hold a control character.
    Control,
    /// The words were erased before the command ran.
    Erased,
    /// The trip has no extra of that number.
    NoSuchExtra,
    /// The quantity is outside what a trip takes.
    QuantityOutOfRange,
    /// The trip takes no more of them.
    LimitReached,
    /// There is nothing yet that the airline could be asked to rebook.
    NothingToRebook,
    /// A rebooking is with the airline, or on its way there.
    RebookingInFlight,
    /// Nobody knows whether a rebooking reached the airline.
    RebookingUnresolved,
    /// The command brought no news. Said by the runtime where a decision comes to no event.
    NothingToDo,
}

impl Refusal {
    /// Every refusal there is.
    pub const ALL: [Self; 15] = [
        Self::AlreadyOpen,
        Self::NotOpen,
        Self::Withdrawn,
        Self::Unchanged,
        Self::Blank,
        Self::TooLong,
        Self::Control,
        Self::Erased,
        Self::NoSuchExtra,
        Self::QuantityOutOfRange,
        Self::LimitReached,
        Self::NothingToRebook,
        Self::RebookingInFlight,
        Self::RebookingUnresolved,
        Self::NothingToDo,
    ];

    /// Its stable code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::AlreadyOpen => "already_open",
            Self::NotOpen => "not_open",
            Self::Withdrawn => "withdrawn",
            Self::Unchanged => "unchanged",
            Self::Blank => "blank",
            Self::TooLong => "too_long",
            Self::Control => "control_character",
            Self::Erased => "erased",
            Self::NoSuchExtra => "no_such_extra",
            Self::QuantityOutOfRange => "quantity_out_of_range",
            Self::LimitReached => "limit_reached",
            Self::NothingToRebook => "nothing_to_rebook",
            Self::RebookingInFlight => "rebooking_in_flight",
            Self::RebookingUnresolved => "rebooking_unresolved",
            Self::NothingToDo => "nothing_to_do",
        }
    }

    /// The refusal of a code.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|refusal| refusal.code() == code)
    }
}

impl From<Refusal> for Rejection {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code())
    }
}

impl From<LineFault> for Refusal {
    fn from(fault: LineFault) -> Self {
        match fault {
            LineFault::Blank => Self::Blank,
            LineFault::TooLong => Self::TooLong,
            LineFault::Control => Self::Control,
        }
    }
}
