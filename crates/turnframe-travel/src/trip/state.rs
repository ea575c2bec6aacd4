//! What is known of a trip: the fold of its events.
//!
//! Everything here reads back equal from its JSON, with a person's data known or erased, so that a trip can be
//! snapshotted.

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;
use turnframe_core::source::Timestamp;

use super::rebooking::Rebooking;
use crate::airline::RebookingOrder;

/// The most of one extra that a trip takes; a request for more is clamped to it.
pub const QUANTITY_MAX: u8 = 5;
/// The most extras on a trip.
pub const EXTRAS_MAX: usize = 32;
/// The most travellers on a trip.
pub const TRAVELLERS_MAX: usize = 16;
/// The most protected legs of a trip.
pub const LEGS_MAX: usize = 16;

/// Where a trip is in its life, apart from what it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// It does not exist yet.
    New,
    /// It is being looked after.
    Open,
    /// It was called off. For good.
    Withdrawn,
}

/// Who pays for an extra.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payer {
    /// The company.
    Company,
    /// The traveller.
    Traveller,
}

impl Payer {
    /// Everybody who can pay.
    pub const ALL: [Self; 2] = [Self::Company, Self::Traveller];

    /// How the payer is named in values and options.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Traveller => "traveller",
        }
    }

    /// The payer of a key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|payer| payer.key() == key)
    }
}

/// What kind of extra it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtraKind {
    /// A checked bag.
    Bag,
    /// A seat of one's choice.
    Seat,
    /// A meal on board.
    Meal,
    /// An insurance for the trip.
    Insurance,
}

impl ExtraKind {
    /// Every kind there is.
    pub const ALL: [Self; 4] = [Self::Bag, Self::Seat, Self::Meal, Self::Insurance];

    /// How the kind is named in values.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Bag => "bag",
            Self::Seat => "seat",
            Self::Meal => "meal",
            Self::Insurance => "insurance",
        }
    }

    /// The kind of a key.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

/// Something that is bought with the trip. Its number is never given to another, also once it is removed, so
/// that "the payer of extra 2" means one thing for good (I4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extra {
    /// Its number on this trip, from 1.
    pub number: u32,
    /// What it is.
    pub kind: ExtraKind,
    /// How many, from 1 to [`QUANTITY_MAX`].
    pub quantity: u8,
    /// Who pays, once that is settled.
    pub payer: Option<Payer>,
}

/// When a trip departs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Departure {
    /// The instant.
    pub at: Timestamp,
    /// The civil time it was said as.
    pub civil: DateTime,
}

/// A trip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripState {
    /// Where it is in its life.
    pub lifecycle: Lifecycle,
    /// What its owner calls it: their own words.
    pub name: Option<Personal<String>>,
    /// Where it goes.
    pub destination: Option<String>,
    /// On which day.
    pub date: Option<Date>,
    /// At which moment; always on [`TripState::date`].
    pub departure: Option<Departure>,
    /// Who travels, in the order in which they were added.
    pub travellers: Vec<Personal<String>>,
    /// What is bought with it, in order of their numbers.
    pub extras: Vec<Extra>,
    /// The highest number an extra has had.
    pub last_extra: u32,
    /// Legs that a rebooking must not touch.
    pub protected_legs: Vec<String>,
    /// How many rebookings were requested.
    pub rebookings: u32,
    /// The latest rebooking.
    pub rebooking: Option<Rebooking>,
    /// The effects of the rebookings before it.
    pub past_rebookings: Vec<EffectId>,
}

impl TripState {
    /// A trip that does not exist yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lifecycle: Lifecycle::New,
            name: None,
            destination: None,
            date: None,
            departure: None,
            travellers: Vec::new(),
            extras: Vec::new(),
            last_extra: 0,
            protected_legs: Vec::new(),
            rebookings: 0,
            rebooking: None,
            past_rebookings: Vec::new(),
        }
    }

    /// The extra of a number.
    #[must_use]
    pub fn extra(&self, number: u32) -> Option<&Extra> {
        self.extras.iter().find(|extra| extra.number == number)
    }

    /// Extras whose payer nobody has settled, in order of their numbers.
    pub fn unpaid(&self) -> impl Iterator<Item = &Extra> {
        self.extras.iter().filter(|extra| extra.payer.is_none())
    }

    /// The rebooking that the airline has not concluded, if there is one.
    #[must_use]
    pub fn open_rebooking(&self) -> Option<&Rebooking> {
        self.rebooking.as_ref().filter(|rebooking| !rebooking.status.is_final())
    }

    /// What the airline would be asked to rebook; nothing without a destination. A traveller whose name was
    /// erased is named to nobody.
    #[must_use]
    pub fn order(&self) -> Option<RebookingOrder> {
        let known = |name: &&Personal<String>| name.value().is_some();
        Some(RebookingOrder {
            destination: self.destination.clone()?,
            date: self.date,
            departure: self.departure.map(|departure| departure.civil),
            travellers: self.travellers.iter().filter(known).cloned().collect(),
            protected_legs: self.protected_legs.clone(),
        })
    }
}

impl Default for TripState {
    fn default() -> Self {
        Self::new()
    }
}
