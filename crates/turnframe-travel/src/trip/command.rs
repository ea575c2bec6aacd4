//! What can be asked of a trip. A command holds every value it acts on, so that a card that names it shows
//! all that a click would do.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;

use super::rebooking::RebookingOutcome;
use super::state::{Departure, ExtraKind, Payer};

/// What a new trip starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// What its owner calls it.
    pub name: Option<Personal<String>>,
    /// Where it goes.
    pub destination: Option<String>,
    /// On which day.
    pub date: Option<Date>,
    /// Who travels first.
    pub traveller: Option<Personal<String>>,
}

/// A command to a trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripCommand {
    /// Opens a trip.
    Open(Opening),
    /// Calls it something.
    Rename {
        /// What.
        name: Personal<String>,
    },
    /// Sends it somewhere.
    SetDestination {
        /// Where to.
        destination: String,
    },
    /// Puts it on a day.
    SetDate {
        /// Which.
        date: Date,
    },
    /// Has it depart at a moment, which puts it on that day.
    SetDeparture {
        /// When.
        departure: Departure,
    },
    /// Takes somebody along.
    AddTraveller {
        /// Whom.
        traveller: Personal<String>,
    },
    /// Buys something with it.
    AddExtra {
        /// What.
        kind: ExtraKind,
        /// How many; already clamped.
        quantity: u8,
        /// Who pays, where that was said.
        payer: Option<Payer>,
    },
    /// Settles who pays for an extra.
    SetPayer {
        /// Which extra.
        extra: u32,
        /// Who.
        payer: Payer,
    },
    /// Takes an extra off.
    RemoveExtra {
        /// Which.
        extra: u32,
    },
    /// Keeps a leg out of any rebooking.
    ProtectLeg {
        /// Which leg, in the user's words.
        leg: String,
    },
    /// Asks the airline to rebook the trip as it stands. A click on its card is bound to the revision that the
    /// card was drawn from, so what is sent is what was shown.
    RequestRebooking,
    /// Calls the trip off for good.
    Withdraw,
    /// Records what the airline, or the way to it, said of a rebooking. Nobody's words compile to this.
    RecordRebookingOutcome {
        /// The effect it is about.
        effect: EffectId,
        /// What was said.
        outcome: RebookingOutcome,
        /// The airline's own count of its statements on this rebooking, where it gave one.
        sequence: Option<u32>,
    },
    /// Records that the airline has not decided in time. Nobody's words compile to this.
    RecordRebookingOverdue {
        /// Which of the trip's rebookings, from 1; 0 for the only one.
        rebooking: u32,
        /// How long it has had, in seconds.
        seconds: u64,
    },
}
