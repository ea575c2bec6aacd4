//! From an act's values to a command.
//!
//! The domain's clamp stands here: a command holds the quantity that will be bought, so whatever card names the
//! command shows that quantity and no other. What the state allows is for [`super::decide`] to say.

use turnframe_core::id::SubjectId;
use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::value::ValueError;
use turnframe_core::workflow::{CompileError, OperationAct};
use uuid::Uuid;

use super::command::{Opening, TripCommand};
use super::operations::Operation;
use super::refusal::Refusal;
use super::state::{Departure, Extra, ExtraKind, Payer, QUANTITY_MAX, TripState};
use crate::slots::{Slots, incomplete, needed};

/// Compiles an act.
pub(super) fn compile(
    state: &TripState,
    act: &OperationAct<'_>,
) -> Result<TripCommand, CompileError> {
    let slots = Slots(act.values);
    let own_words = |words| Personal::known(act.speaker.clone(), words);
    let person = |name| Personal::known(traveller(act.fresh), name);
    Ok(match Operation::of_key(act.operation).ok_or(CompileError::NotOnOffer)? {
        Operation::Open => TripCommand::Open(Opening {
            name: slots.text("name")?.map(own_words),
            destination: slots.text("destination")?,
            date: slots.date("date")?,
            traveller: slots.text("traveller")?.map(person),
        }),
        Operation::Rename => {
            TripCommand::Rename { name: own_words(needed("name", slots.text("name"))?) }
        }
        Operation::SetDestination => TripCommand::SetDestination {
            destination: needed("destination", slots.text("destination"))?,
        },
        Operation::SetDate => TripCommand::SetDate { date: needed("date", slots.date("date"))? },
        Operation::SetDeparture => {
            let (at, civil) = needed("departure", slots.moment("departure"))?;
            TripCommand::SetDeparture { departure: Departure { at, civil } }
        }
        Operation::AddTraveller => TripCommand::AddTraveller {
            traveller: person(needed("traveller", slots.text("traveller"))?),
        },
        Operation::AddExtra => TripCommand::AddExtra {
            kind: needed("extra", slots.choice("extra", ExtraKind::of_key))?,
            quantity: quantity(slots)?,
            payer: slots.choice("payer", Payer::of_key)?,
        },
        Operation::SetPayer => TripCommand::SetPayer {
            payer: needed("payer", slots.choice("payer", Payer::of_key))?,
            extra: extra(state, slots, |extra| extra.payer.is_none())?,
        },
        Operation::RemoveExtra => {
            TripCommand::RemoveExtra { extra: extra(state, slots, |_| true)? }
        }
        Operation::ProtectLeg => TripCommand::ProtectLeg { leg: needed("leg", slots.text("leg"))? },
        Operation::RequestRebooking => TripCommand::RequestRebooking,
        Operation::Withdraw => TripCommand::Withdraw,
    })
}

/// Whose data a traveller's name is. Each is a subject of their own, so that one can be forgotten alone.
fn traveller(fresh: Uuid) -> SubjectId {
    SubjectId::new(format!("traveller:{fresh}")).expect("a UUID is within the alphabet of names")
}

fn quantity(slots: Slots<'_>) -> Result<u8, CompileError> {
    let wanted = slots.integer("quantity")?.unwrap_or(1);
    if wanted < 1 {
        return Err(incomplete("quantity", ValueError::Unreadable));
    }
    Ok(u8::try_from(wanted).unwrap_or(QUANTITY_MAX).min(QUANTITY_MAX))
}

/// The extra that is meant: the one of that number, the only one of that kind, or the only one. Where several fit,
/// the ones that `preferred` singles out come first; still several, and the user is asked (I8).
fn extra(
    state: &TripState,
    slots: Slots<'_>,
    preferred: impl Fn(&Extra) -> bool,
) -> Result<u32, CompileError> {
    if let Some(number) = slots.integer("number")? {
        let unknown = || {
            CompileError::Rejected(Rejection::from(Refusal::NoSuchExtra).with(number.to_string()))
        };
        return u32::try_from(number).map_err(|_| unknown());
    }
    let kind = slots.choice("extra", ExtraKind::of_key)?;
    let of_kind = |extra: &&Extra| kind.is_none_or(|kind| extra.kind == kind);
    let meant: Vec<&Extra> = state.extras.iter().filter(of_kind).collect();
    let first: Vec<&Extra> = meant.iter().copied().filter(|extra| preferred(extra)).collect();
    match (meant.as_slice(), first.as_slice()) {
        ([], _) => Err(incomplete("number", ValueError::Missing)),
        ([only], _) | (_, [only]) => Ok(only.number),
        (several, _) => {
            let numbers = several.iter().map(|extra| extra.number.to_string()).collect();
            Err(incomplete("number", ValueError::Ambiguous(numbers)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::civil::date;
    use turnframe_core::id::SlotName;
    use turnframe_core::operation::SlotValue;
    use turnframe_core::source::Timestamp;

    use super::*;
    use crate::key::literal;
    use crate::testing::{NOW, SPEAKER, subject};
    use crate::trip::state::Lifecycle;

    const FRESH: Uuid = Uuid::from_u128(7);

    fn text(words: &str) -> SlotValue {
        SlotValue::Text(words.to_owned())
    }

    fn choice(value: &str) -> SlotValue {
        SlotValue::Choice(value.to_owned())
    }

    fn compiled(
        state: &TripState,
        operation: &'static str,
        values: &[(&'static str, SlotValue)],
    ) -> Result<TripCommand, CompileError> {
        let value = |(slot, value): &(&'static str, SlotValue)| (literal(slot), value.clone());
        let values: BTreeMap<SlotName, SlotValue> = values.iter().map(value).collect();
        let speaker = subject(SPEAKER);
        let operation = literal(operation);
        let act = OperationAct {
            operation: &operation,
            values: &values,
            fresh: FRESH,
            speaker: &speaker,
            now: NOW,
        };
        compile(state, &act)
    }

    fn with_extras(extras: &[(u32, ExtraKind, Option<Payer>)]) -> TripState {
        let extra = |(number, kind, payer): &(u32, ExtraKind, Option<Payer>)| Extra {
            number: *number,
            kind: *kind,
            quantity: 1,
            payer: *payer,
        };
        let extras = extras.iter().map(extra).collect();
        TripState { lifecycle: Lifecycle::Open, extras, ..TripState::new() }
    }

    #[test]
    fn a_travellers_name_is_their_own_and_a_trips_name_is_the_speakers() {
        let opening = compiled(
            &TripState::new(),
            "open",
            &[
                ("destination", text(" Lisbon ")),
                ("traveller", text("Ada  Ferri")),
                ("date", SlotValue::Date(date(2026, 5, 3))),
                ("name", text("Spring meeting")),
            ],
        );
        let traveller = subject(&format!("traveller:{FRESH}"));
        assert_eq!(
            opening,
            Ok(TripCommand::Open(Opening {
                name: Some(Personal::known(subject(SPEAKER), "Spring meeting".to_owned())),
                destination: Some("Lisbon".to_owned()),
                date: Some(date(2026, 5, 3)),
                traveller: Some(Personal::known(traveller, "Ada Ferri".to_owned())),
            }))
        );
        assert_eq!(
            compiled(&TripState::new(), "open", &[]),
            Ok(TripCommand::Open(Opening::default()))
        );
    }

    #[test]
    fn case_11_a_quantity_is_clamped_before_any_card_can_show_it() {
        let quantity = |wanted: i64| {
            let values = [("extra", choice("bag")), ("quantity", SlotValue::Integer(wanted))];
            match compiled(&with_extras(&[]), "add_extra", &values) {
                Ok(TripCommand::AddExtra { quantity, .. }) => Some(quantity),
                _ => None,
            }
        };
        assert_eq!(quantity(1), Some(1));
        assert_eq!(quantity(5), Some(QUANTITY_MAX));
        assert_eq!(quantity(50), Some(QUANTITY_MAX));
        assert_eq!(quantity(i64::MAX), Some(QUANTITY_MAX));
        assert_eq!(quantity(0), None);
        assert_eq!(quantity(-1), None);
    }

    #[test]
    fn i4_the_extra_that_is_meant_is_named_or_the_only_one_and_never_guessed() {
        use ExtraKind::{Bag, Seat};
        let company = [("payer", choice("company"))];
        let pays = |state: &TripState, more: &[(&'static str, SlotValue)]| {
            let values: Vec<_> = company.iter().chain(more).cloned().collect();
            compiled(state, "set_payer", &values)
        };
        let set = |extra| Ok(TripCommand::SetPayer { extra, payer: Payer::Company });
        let ambiguous = |numbers: &[&str]| {
            let numbers = numbers.iter().map(|number| (*number).to_owned()).collect();
            Err(incomplete("number", ValueError::Ambiguous(numbers)))
        };
        let missing = || Err(incomplete("number", ValueError::Missing));

        let two = with_extras(&[(2, Bag, None), (7, Seat, None)]);
        assert_eq!(pays(&two, &[("number", SlotValue::Integer(7))]), set(7));
        assert_eq!(pays(&two, &[("extra", choice("bag"))]), set(2));
        assert_eq!(pays(&two, &[("extra", choice("meal"))]), missing());
        assert_eq!(pays(&two, &[]), ambiguous(&["2", "7"]));

        let one_open = with_extras(&[(2, Bag, Some(Payer::Traveller)), (7, Bag, None)]);
        assert_eq!(pays(&one_open, &[]), set(7), "only one waits for a payer");
        let removed = compiled(&one_open, "remove_extra", &[("extra", choice("bag"))]);
        assert_eq!(removed, ambiguous(&["2", "7"]));
        assert_eq!(pays(&with_extras(&[]), &[]), missing());
    }

    #[test]
    fn a_number_that_cannot_be_one_is_no_extra() {
        let refused =
            compiled(&with_extras(&[]), "remove_extra", &[("number", SlotValue::Integer(-3))]);
        let rejection = Rejection::from(Refusal::NoSuchExtra).with("-3");
        assert_eq!(refused, Err(CompileError::Rejected(rejection)));
    }

    #[test]
    fn every_other_operation_compiles_to_its_command() {
        let state = with_extras(&[]);
        let (at, civil) = (Timestamp::from_micros(5), date(2026, 5, 3).at(14, 30, 0, 0));
        let person = Personal::known(subject(&format!("traveller:{FRESH}")), "Ben".to_owned());
        let name = Personal::known(subject(SPEAKER), "Fair".to_owned());
        let expectations = [
            ("rename", vec![("name", text("Fair"))], TripCommand::Rename { name }),
            (
                "set_destination",
                vec![("destination", text("Rome"))],
                TripCommand::SetDestination { destination: "Rome".to_owned() },
            ),
            (
                "set_date",
                vec![("date", SlotValue::Date(civil.date()))],
                TripCommand::SetDate { date: civil.date() },
            ),
            (
                "set_departure",
                vec![("departure", SlotValue::Moment { at, civil })],
                TripCommand::SetDeparture { departure: Departure { at, civil } },
            ),
            (
                "add_traveller",
                vec![("traveller", text("Ben"))],
                TripCommand::AddTraveller { traveller: person },
            ),
            (
                "protect_leg",
                vec![("leg", text("LIS-FRA"))],
                TripCommand::ProtectLeg { leg: "LIS-FRA".to_owned() },
            ),
            ("request_rebooking", vec![], TripCommand::RequestRebooking),
            ("withdraw", vec![], TripCommand::Withdraw),
        ];
        for (operation, values, command) in expectations {
            assert_eq!(compiled(&state, operation, &values), Ok(command), "{operation}");
        }
        assert_eq!(compiled(&state, "teleport", &[]), Err(CompileError::NotOnOffer));
        assert_eq!(compiled(&state, "rename", &[]), Err(incomplete("name", ValueError::Missing)));
    }
}
