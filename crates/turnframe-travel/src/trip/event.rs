//! What can have happened to a trip.
//!
//! These shapes are on ledgers. A change of one raises `event_schema`, keeps the frozen fixture of the old
//! shape and brings an upcaster; the fixtures stand in `fixtures.rs`.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;

use super::rebooking::{Anomaly, RebookingOutcome};
use super::state::{Departure, Extra, Payer};
use crate::airline::RebookingOrder;

/// An event of a trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TripEvent {
    /// The trip was opened. Whoever travels first has an event of their own.
    TripOpened {
        /// What its owner calls it.
        name: Option<Personal<String>>,
        /// Where it goes.
        destination: Option<String>,
        /// On which day.
        date: Option<Date>,
    },
    /// It got a name.
    TripRenamed {
        /// Which.
        name: Personal<String>,
    },
    /// It goes somewhere else.
    DestinationSet {
        /// Where to.
        destination: String,
    },
    /// It is on another day.
    DateSet {
        /// Which.
        date: Date,
    },
    /// It departs at a moment, and so on that day.
    DepartureSet {
        /// When.
        departure: Departure,
    },
    /// The moment of departure belonged to another day and does not hold any more.
    DepartureCleared,
    /// Somebody travels.
    TravellerAdded {
        /// Who.
        traveller: Personal<String>,
    },
    /// Something is bought with the trip.
    ExtraAdded {
        /// What.
        extra: Extra,
    },
    /// It is settled who pays for an extra.
    PayerSet {
        /// Which extra.
        extra: u32,
        /// Who.
        payer: Payer,
    },
    /// An extra was taken off.
    ExtraRemoved {
        /// Which.
        extra: u32,
    },
    /// A leg is kept out of any rebooking.
    LegProtected {
        /// Which.
        leg: String,
    },
    /// The airline is to be asked to rebook. Nothing left the house yet.
    RebookingRequested {
        /// Which of the trip's rebookings it is, from 1; 0 in events of schema 1, which did not count them.
        #[serde(default)]
        rebooking: u32,
        /// What it is to be asked.
        order: RebookingOrder,
    },
    /// Something became known of a rebooking, or that nothing can be known.
    RebookingOutcomeRecorded {
        /// The effect.
        effect: EffectId,
        /// What became known.
        outcome: RebookingOutcome,
        /// The airline's count of its statements.
        sequence: Option<u32>,
    },
    /// Something was said of a rebooking that does not fit what is recorded. The trip stays as it is.
    OutcomeAnomalyRecorded {
        /// The effect it was said of.
        effect: EffectId,
        /// What was said.
        outcome: RebookingOutcome,
        /// The airline's count of its statements.
        sequence: Option<u32>,
        /// Why it does not fit.
        anomaly: Anomaly,
    },
    /// The airline has not decided on a rebooking in time. What is known of it stays as it is.
    RebookingOverdue {
        /// Which.
        rebooking: u32,
        /// How long the airline has had, in seconds.
        seconds: u64,
    },
    /// The trip was called off.
    TripWithdrawn,
}
