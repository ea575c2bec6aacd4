//! Values are computed by code from the user's words, never by a model.

use serde::{Deserialize, Serialize};

use crate::id::Locale;
use crate::operation::{SlotKind, SlotValue};
use crate::source::Timestamp;

/// Why words do not make a value for a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueError {
    /// Nothing was said.
    Missing,
    /// The words are no such value.
    Unreadable,
    /// The words may mean several values; each is listed as it would be read.
    Ambiguous(Vec<String>),
    /// The clock jumps over this time in the actor's zone.
    Gap,
    /// This time happens twice in the actor's zone.
    Overlap,
}

/// In which language, zone and moment words are read.
#[derive(Debug, Clone, Copy)]
pub struct ValueContext<'a> {
    /// The actor's language.
    pub locale: &'a Locale,
    /// The actor's IANA time zone.
    pub time_zone: &'a str,
    /// The moment of the turn: what "tomorrow" starts from.
    pub now: Timestamp,
}

/// Reads the value of a slot from the words that a pointer holds.
///
/// # Errors
/// [`ValueError`] with what the user has to be asked.
pub fn read(
    kind: &SlotKind,
    words: &str,
    context: &ValueContext<'_>,
) -> Result<SlotValue, ValueError> {
    let _ = context;
    match kind {
        SlotKind::Text => Ok(SlotValue::Text(words.to_owned())),
        SlotKind::Integer | SlotKind::Date | SlotKind::Moment | SlotKind::Choice(_) => {
            Err(ValueError::Unreadable)
        }
    }
}
