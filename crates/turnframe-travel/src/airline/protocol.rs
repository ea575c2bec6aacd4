//! The airline's protocol: headers and bodies, as both sides write and read them.

use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;

/// The header that names the rebooking; every attempt at it carries the same.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The header by which the airline says that it turned a request away unread. Its presence is the proof.
pub const NOT_PROCESSED: &str = "x-not-processed";
/// The code by which the airline says that it knows no rebooking of a key.
pub const UNKNOWN_KEY: &str = "unknown_key";

/// A request to rebook, `POST /rebookings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineRequest {
    /// Where the trip goes.
    pub destination: String,
    /// On which day.
    pub date: Option<Date>,
    /// At which civil time.
    pub departure: Option<DateTime>,
    /// Who travels.
    pub travellers: Vec<String>,
    /// Legs that must stay as they are.
    pub protected_legs: Vec<String>,
}

/// What the airline says of a rebooking, here or in a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineStatement {
    /// Where it stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// Counts the airline's statements on this rebooking, from 1: the higher is the newer.
    pub sequence: u32,
}

/// Where a rebooking stands with the airline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Standing {
    /// The airline has it and has not decided.
    Received {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline agreed.
    Confirmed {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline refused.
    Refused {
        /// Its stable code.
        code: String,
    },
}

/// What the airline calls back to say. The host verifies the signature before this is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineCallback {
    /// The key of the rebooking, which is our effect.
    pub key: EffectId,
    /// What is said of it.
    #[serde(flatten)]
    pub statement: AirlineStatement,
}

/// What an acceptance carries besides its reference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AirlineDetails {
    /// `received` or `confirmed`, where the airline said so.
    #[serde(default)]
    pub status: Option<String>,
    /// The airline's count of the statement, where it gave one.
    #[serde(default)]
    pub sequence: Option<u32>,
}

impl AirlineDetails {
    /// Whether the airline has decided. Anything but its very word is a submission.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.status.as_deref() == Some("confirmed")
    }
}

/// An acceptance by `202`.
#[derive(Debug, Deserialize)]
pub(super) struct TakenBody {
    pub(super) reference: String,
    #[serde(flatten)]
    pub(super) details: AirlineDetails,
}

/// A refusal by `4xx`, and any other answer that gives a code.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CodeBody {
    pub(super) code: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_reads_as_the_airline_writes_it() {
        let text = r#"{"key":"01890000-0000-7000-8000-000000000001","status":"confirmed","reference":"R-1","sequence":2}"#;
        let callback: AirlineCallback = serde_json::from_str(text).expect("callback");
        let reference = "R-1".to_owned();
        assert_eq!(callback.statement.standing, Standing::Confirmed { reference });
        assert_eq!(callback.statement.sequence, 2);
        let again = serde_json::to_value(&callback).expect("JSON");
        assert_eq!(again, serde_json::from_str::<serde_json::Value>(text).expect("JSON"));
        for broken in ["{}", r#"{"key":"1","status":"confirmed","reference":"R","sequence":1}"#] {
            assert!(serde_json::from_str::<AirlineCallback>(broken).is_err(), "{broken}");
        }
    }
}
