//! Every command to a trip but those about its rebooking: what it comes to, and everything that refuses it.

use jiff::civil::date;
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;
use turnframe_core::source::Timestamp;

use super::state::{EXTRAS_MAX, LEGS_MAX, QUANTITY_MAX, TRAVELLERS_MAX};
use super::{
    Departure, Extra, ExtraKind, Lifecycle, Opening, Payer, RebookingOutcome, TripCommand,
    TripEvent, TripWorkflow,
};
use crate::airline::RebookingOrder;
use crate::testing::{self, Given, SPEAKER, subject};
use crate::text_rule::LINE_MAX_CHARS;

pub(super) fn given(events: impl IntoIterator<Item = TripEvent>) -> Given<TripWorkflow> {
    testing::given(TripWorkflow, events)
}

pub(super) fn ada() -> Personal<String> {
    Personal::known(subject("traveller:1"), "Ada Ferri".to_owned())
}

pub(super) fn called(name: &str) -> Personal<String> {
    Personal::known(subject(SPEAKER), name.to_owned())
}

pub(super) fn opened() -> TripEvent {
    let destination = Some("Lisbon".to_owned());
    TripEvent::TripOpened { name: None, destination, date: Some(date(2026, 5, 3)) }
}

pub(super) fn bare() -> TripEvent {
    TripEvent::TripOpened { name: None, destination: None, date: None }
}

pub(super) fn ada_added() -> TripEvent {
    TripEvent::TravellerAdded { traveller: ada() }
}

pub(super) fn extra(number: u32, payer: Option<Payer>) -> TripEvent {
    let extra = Extra { number, kind: ExtraKind::Bag, quantity: 1, payer };
    TripEvent::ExtraAdded { extra }
}

pub(super) fn order() -> RebookingOrder {
    RebookingOrder {
        destination: "Lisbon".to_owned(),
        date: Some(date(2026, 5, 3)),
        departure: None,
        travellers: vec![ada()],
        protected_legs: Vec::new(),
    }
}

pub(super) fn requested() -> TripEvent {
    TripEvent::RebookingRequested { rebooking: 1, order: order() }
}

pub(super) fn recorded(effect: EffectId, outcome: RebookingOutcome) -> TripEvent {
    TripEvent::RebookingOutcomeRecorded { effect, outcome, sequence: None }
}

pub(super) fn submitted() -> RebookingOutcome {
    RebookingOutcome::Submitted { reference: "R-1".to_owned() }
}

pub(super) fn accepted() -> RebookingOutcome {
    RebookingOutcome::Accepted { reference: "R-1".to_owned() }
}

pub(super) fn rejected() -> RebookingOutcome {
    RebookingOutcome::Rejected { code: "fully_booked".to_owned() }
}

fn departure(civil: jiff::civil::DateTime) -> Departure {
    Departure { at: Timestamp::from_micros(1), civil }
}

/// One of each command that needs an open trip.
fn every_edit() -> Vec<TripCommand> {
    vec![
        TripCommand::Rename { name: called("Fair") },
        TripCommand::AddExtra { kind: ExtraKind::Seat, quantity: 1, payer: None },
        TripCommand::SetPayer { extra: 1, payer: Payer::Company },
        TripCommand::RemoveExtra { extra: 1 },
    ]
    .into_iter()
    .chain(everything_sent())
    .collect()
}

/// One of each command that is refused while the airline has a rebooking.
pub(super) fn everything_sent() -> Vec<TripCommand> {
    vec![
        TripCommand::SetDestination { destination: "Rome".to_owned() },
        TripCommand::SetDate { date: date(2026, 6, 1) },
        TripCommand::SetDeparture { departure: departure(date(2026, 6, 1).at(9, 0, 0, 0)) },
        TripCommand::AddTraveller { traveller: called("Ben Okoye") },
        TripCommand::ProtectLeg { leg: "LIS-FRA".to_owned() },
        TripCommand::RequestRebooking,
        TripCommand::Withdraw,
    ]
}

#[test]
fn a_trip_opens_with_what_was_said_and_its_first_traveller() {
    let opening = Opening {
        name: Some(called("Spring meeting")),
        destination: Some("Lisbon".to_owned()),
        date: Some(date(2026, 5, 3)),
        traveller: Some(ada()),
    };
    let state = given([]).when(&TripCommand::Open(opening.clone())).then([
        TripEvent::TripOpened {
            name: opening.name,
            destination: opening.destination,
            date: opening.date,
        },
        ada_added(),
    ]);
    assert_eq!(state.lifecycle, Lifecycle::Open);
    assert_eq!(state.travellers, [ada()]);
    given([]).when(&TripCommand::Open(Opening::default())).then([bare()]);
}

#[test]
fn a_trip_opens_once() {
    let open = TripCommand::Open(Opening::default());
    given([opened()]).when(&open).then_refused("already_open");
    given([opened(), TripEvent::TripWithdrawn]).when(&open).then_refused("withdrawn");
}

#[test]
fn nothing_happens_to_a_trip_that_does_not_exist_or_was_withdrawn() {
    for command in every_edit() {
        given([]).when(&command).then_refused("not_open");
        given([opened(), extra(1, None), TripEvent::TripWithdrawn])
            .when(&command)
            .then_refused("withdrawn");
    }
}

#[test]
fn words_that_no_record_takes_are_refused_wherever_they_stand() {
    let too_long = "x".repeat(LINE_MAX_CHARS + 1);
    let faults = [(" ", "blank"), (too_long.as_str(), "too_long"), ("a\0b", "control_character")];
    for (words, code) in faults {
        let text = || words.to_owned();
        let opening = |opening: Opening| given([]).when(&TripCommand::Open(opening));
        opening(Opening { name: Some(called(words)), ..Opening::default() }).then_refused(code);
        opening(Opening { destination: Some(text()), ..Opening::default() }).then_refused(code);
        opening(Opening { traveller: Some(called(words)), ..Opening::default() })
            .then_refused(code);
        for command in [
            TripCommand::Rename { name: called(words) },
            TripCommand::SetDestination { destination: text() },
            TripCommand::AddTraveller { traveller: called(words) },
            TripCommand::ProtectLeg { leg: text() },
        ] {
            given([opened()]).when(&command).then_refused(code);
        }
    }
}

#[test]
fn words_that_were_erased_before_the_command_ran_are_refused() {
    let erased = || Personal::Erased { subject: subject("traveller:1") };
    let opening = Opening { traveller: Some(erased()), ..Opening::default() };
    given([]).when(&TripCommand::Open(opening)).then_refused("erased");
    given([opened()]).when(&TripCommand::Rename { name: erased() }).then_refused("erased");
    given([opened()])
        .when(&TripCommand::AddTraveller { traveller: erased() })
        .then_refused("erased");
}

#[test]
fn a_command_that_changes_nothing_says_so() {
    let noon = departure(date(2026, 5, 3).at(12, 0, 0, 0));
    let events = || {
        [
            opened(),
            ada_added(),
            extra(1, Some(Payer::Company)),
            TripEvent::TripRenamed { name: called("Fair") },
            TripEvent::DepartureSet { departure: noon },
            TripEvent::LegProtected { leg: "LIS-FRA".to_owned() },
        ]
    };
    for command in [
        TripCommand::Rename { name: called("Fair") },
        TripCommand::SetDestination { destination: "LISBON".to_owned() },
        TripCommand::SetDate { date: date(2026, 5, 3) },
        TripCommand::SetDeparture { departure: noon },
        TripCommand::AddTraveller { traveller: called("ada ferri") },
        TripCommand::SetPayer { extra: 1, payer: Payer::Company },
        TripCommand::ProtectLeg { leg: "lis-fra".to_owned() },
    ] {
        given(events()).when(&command).then_refused("unchanged");
    }
}

#[test]
fn plain_edits_come_to_their_event() {
    let rename = TripCommand::Rename { name: called("Fair") };
    given([opened()]).when(&rename).then([TripEvent::TripRenamed { name: called("Fair") }]);
    let destination = || "Rome".to_owned();
    given([opened()])
        .when(&TripCommand::SetDestination { destination: destination() })
        .then([TripEvent::DestinationSet { destination: destination() }]);
    given([opened()]).when(&TripCommand::AddTraveller { traveller: ada() }).then([ada_added()]);
    let leg = || "LIS-FRA".to_owned();
    given([opened()])
        .when(&TripCommand::ProtectLeg { leg: leg() })
        .then([TripEvent::LegProtected { leg: leg() }]);
}

#[test]
fn a_departure_puts_the_trip_on_its_day_and_another_day_takes_the_departure_away() {
    let morning = departure(date(2026, 6, 1).at(9, 0, 0, 0));
    let set = TripEvent::DepartureSet { departure: morning };
    let state = given([opened()])
        .when(&TripCommand::SetDeparture { departure: morning })
        .then([set.clone()]);
    assert_eq!(state.date, Some(date(2026, 6, 1)));

    let elsewhere = TripCommand::SetDate { date: date(2026, 6, 2) };
    let moved = TripEvent::DateSet { date: date(2026, 6, 2) };
    let state =
        given([opened(), set]).when(&elsewhere).then([moved.clone(), TripEvent::DepartureCleared]);
    assert_eq!(state.departure, None);
    given([opened()]).when(&elsewhere).then([moved]);
}

#[test]
fn i4_extras_are_numbered_for_good() {
    let add =
        TripCommand::AddExtra { kind: ExtraKind::Bag, quantity: 1, payer: Some(Payer::Traveller) };
    let payer = Some(Payer::Traveller);
    given([opened()]).when(&add).then([extra(1, payer)]);
    given([opened(), extra(1, None)]).when(&add).then([extra(2, payer)]);
    given([opened(), extra(1, None), TripEvent::ExtraRemoved { extra: 1 }])
        .when(&add)
        .then([extra(2, payer)]);
}

#[test]
fn i4_a_payer_is_settled_for_one_extra_and_no_other() {
    let set = TripCommand::SetPayer { extra: 2, payer: Payer::Company };
    let event = TripEvent::PayerSet { extra: 2, payer: Payer::Company };
    let state = given([opened(), extra(1, None), extra(2, None)]).when(&set).then([event]);
    let payers: Vec<_> = state.extras.iter().map(|extra| extra.payer).collect();
    assert_eq!(payers, [None, Some(Payer::Company)]);
    given([opened(), extra(1, None)]).when(&set).then_refused("no_such_extra");
}

#[test]
fn an_extra_is_taken_off_by_its_number() {
    let remove = TripCommand::RemoveExtra { extra: 1 };
    let state = given([opened(), extra(1, None), extra(2, None)])
        .when(&remove)
        .then([TripEvent::ExtraRemoved { extra: 1 }]);
    assert_eq!(state.extras.len(), 1);
    given([opened(), extra(2, None)]).when(&remove).then_refused("no_such_extra");
}

#[test]
fn a_quantity_outside_what_a_trip_takes_is_refused_however_the_command_was_made() {
    for quantity in [0, QUANTITY_MAX + 1, u8::MAX] {
        let add = TripCommand::AddExtra { kind: ExtraKind::Meal, quantity, payer: None };
        given([opened()]).when(&add).then_refused("quantity_out_of_range");
    }
}

#[test]
fn every_list_of_a_trip_has_a_limit() {
    let last = u32::try_from(EXTRAS_MAX).expect("a small number");
    let extras = (1..=last).map(|number| extra(number, Some(Payer::Company)));
    let add = TripCommand::AddExtra { kind: ExtraKind::Bag, quantity: 1, payer: None };
    given([opened()].into_iter().chain(extras)).when(&add).then_refused("limit_reached");

    let names = (0..TRAVELLERS_MAX).map(|index| called(&format!("Person {index}")));
    let added = names.map(|traveller| TripEvent::TravellerAdded { traveller });
    given([opened()].into_iter().chain(added))
        .when(&TripCommand::AddTraveller { traveller: ada() })
        .then_refused("limit_reached");

    let legs = (0..LEGS_MAX).map(|index| TripEvent::LegProtected { leg: format!("leg {index}") });
    given([opened()].into_iter().chain(legs))
        .when(&TripCommand::ProtectLeg { leg: "another".to_owned() })
        .then_refused("limit_reached");
}
