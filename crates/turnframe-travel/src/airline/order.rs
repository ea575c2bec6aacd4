//! What the airline is asked to rebook.

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Json;
use turnframe_core::personal::Personal;
use turnframe_core::workflow::EffectRequest;

use crate::key::literal;

/// The destination that rebookings go to.
pub const DESTINATION: &str = "airline";
/// What the destination is asked to do.
pub const OPERATION_REBOOK: &str = "rebook";

/// A rebooking as it is recorded with its effect. Names stay personal until the very moment of sending, so that
/// an erasure reaches an order that still waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RebookingOrder {
    /// Where the trip goes.
    pub destination: String,
    /// On which day.
    pub date: Option<Date>,
    /// At which civil time.
    pub departure: Option<DateTime>,
    /// Who travels.
    pub travellers: Vec<Personal<String>>,
    /// Legs that must stay as they are.
    pub protected_legs: Vec<String>,
}

impl RebookingOrder {
    /// The effect that asks for it.
    ///
    /// # Panics
    /// Never: strings, dates and names have a canonical form.
    #[must_use]
    pub fn request(&self) -> EffectRequest {
        EffectRequest {
            destination: literal(DESTINATION),
            operation: OPERATION_REBOOK.to_owned(),
            payload: Json::of(self).expect("strings, dates and names have a canonical form"),
        }
    }
}
