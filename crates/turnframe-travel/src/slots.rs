//! The values of an act, read by slot.

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use turnframe_core::id::SlotName;
use turnframe_core::operation::{SlotKind, SlotSpec, SlotValue};
use turnframe_core::source::Timestamp;
use turnframe_core::value::ValueError;
use turnframe_core::workflow::CompileError;

use crate::key::literal;
use crate::text_rule::tidy;

/// A slot that may stay empty.
pub(crate) fn optional(name: &'static str, kind: SlotKind) -> SlotSpec {
    SlotSpec { name: literal(name), kind, required: false }
}

/// A slot that must not.
pub(crate) fn required(name: &'static str, kind: SlotKind) -> SlotSpec {
    SlotSpec { name: literal(name), kind, required: true }
}

/// The refusal to compile because of one slot.
pub(crate) fn incomplete(slot: &'static str, why: ValueError) -> CompileError {
    CompileError::Incomplete { slot: literal(slot), why }
}

/// The values of an act. A value of another kind than its slot's is unreadable, never coerced.
#[derive(Clone, Copy)]
pub(crate) struct Slots<'a>(pub(crate) &'a BTreeMap<SlotName, SlotValue>);

impl<'a> Slots<'a> {
    fn get(self, slot: &str) -> Option<&'a SlotValue> {
        self.0.iter().find(|(name, _)| name.as_str() == slot).map(|(_, value)| value)
    }

    fn read<T>(
        self,
        slot: &'static str,
        read: impl FnOnce(&'a SlotValue) -> Option<T>,
    ) -> Result<Option<T>, CompileError> {
        let unreadable = || incomplete(slot, ValueError::Unreadable);
        self.get(slot).map(|value| read(value).ok_or_else(unreadable)).transpose()
    }

    pub(crate) fn text(self, slot: &'static str) -> Result<Option<String>, CompileError> {
        self.read(slot, |value| match value {
            SlotValue::Text(words) => Some(tidy(words)),
            SlotValue::Integer(_)
            | SlotValue::Date(_)
            | SlotValue::Moment { .. }
            | SlotValue::Choice(_) => None,
        })
    }

    pub(crate) fn integer(self, slot: &'static str) -> Result<Option<i64>, CompileError> {
        self.read(slot, |value| match value {
            SlotValue::Integer(number) => Some(*number),
            SlotValue::Text(_)
            | SlotValue::Date(_)
            | SlotValue::Moment { .. }
            | SlotValue::Choice(_) => None,
        })
    }

    pub(crate) fn date(self, slot: &'static str) -> Result<Option<Date>, CompileError> {
        self.read(slot, |value| match value {
            SlotValue::Date(date) => Some(*date),
            SlotValue::Text(_)
            | SlotValue::Integer(_)
            | SlotValue::Moment { .. }
            | SlotValue::Choice(_) => None,
        })
    }

    pub(crate) fn moment(
        self,
        slot: &'static str,
    ) -> Result<Option<(Timestamp, DateTime)>, CompileError> {
        self.read(slot, |value| match value {
            SlotValue::Moment { at, civil } => Some((*at, *civil)),
            SlotValue::Text(_)
            | SlotValue::Integer(_)
            | SlotValue::Date(_)
            | SlotValue::Choice(_) => None,
        })
    }

    /// A value of a closed list, read into its type.
    pub(crate) fn choice<T>(
        self,
        slot: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, CompileError> {
        self.read(slot, |value| match value {
            SlotValue::Choice(value) => parse(value),
            SlotValue::Text(_)
            | SlotValue::Integer(_)
            | SlotValue::Date(_)
            | SlotValue::Moment { .. } => None,
        })
    }
}

/// The value of a slot that the operation cannot do without.
pub(crate) fn needed<T>(
    slot: &'static str,
    value: Result<Option<T>, CompileError>,
) -> Result<T, CompileError> {
    value?.ok_or_else(|| incomplete(slot, ValueError::Missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_another_kind_is_unreadable_and_an_absent_one_is_missing() {
        let values = BTreeMap::from([(literal("date"), SlotValue::Text("soon".to_owned()))]);
        let slots = Slots(&values);
        assert_eq!(slots.date("date"), Err(incomplete("date", ValueError::Unreadable)));
        assert_eq!(slots.text("name"), Ok(None));
        let missing = needed("name", slots.text("name"));
        assert_eq!(missing, Err(incomplete("name", ValueError::Missing)));
    }
}
