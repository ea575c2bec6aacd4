//! Values are computed by code from the user's words, never by a model.
//!
//! Reading is pure: the language, the zone and the moment are arguments. Words that may mean several values
//! are [`ValueError::Ambiguous`], a time that the actor's clock skips or repeats is a gap or an overlap, and
//! the user is asked. **Nothing here guesses.** English and German are read; of every other language only
//! plain digits and ISO 8601 dates and times are.

mod choice;
mod date;
mod integer;
mod language;
mod moment;
mod text;
mod token;

use serde::{Deserialize, Serialize};

use crate::id::Locale;
use crate::operation::{SlotKind, SlotValue};
use crate::source::Timestamp;
use language::Language;

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
    if words.trim().is_empty() {
        return Err(ValueError::Missing);
    }
    let language = Language::of(context.locale);
    match kind {
        SlotKind::Text => text::read(words).map(SlotValue::Text),
        SlotKind::Integer => integer::read(words, language).map(SlotValue::Integer),
        SlotKind::Date => date::read(words, language, context).map(SlotValue::Date),
        SlotKind::Moment => moment::read(words, language, context),
        SlotKind::Choice(choices) => {
            choice::read(choices, words, context.locale).map(SlotValue::Choice)
        }
    }
}

/// Whether words have the shape of a value, in whatever zone and at whatever moment they are said. What an
/// interpreter asks to tell a value from the words beside it; [`read`] alone says what the value is.
#[must_use]
pub fn has_shape(kind: &SlotKind, words: &str, locale: &Locale) -> bool {
    let language = Language::of(locale);
    match kind {
        SlotKind::Text => text::read(words).is_ok(),
        SlotKind::Integer => integer::read(words, language).is_ok(),
        SlotKind::Date => date::has_shape(words, language),
        SlotKind::Moment => moment::has_shape(words, language),
        SlotKind::Choice(choices) => {
            !matches!(choice::read(choices, words, locale), Err(ValueError::Unreadable))
        }
    }
}

#[cfg(test)]
mod tests;
