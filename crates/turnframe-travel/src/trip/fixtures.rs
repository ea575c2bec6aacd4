//! The frozen JSON of every event, and of a full state. Ledgers hold these very shapes: a test that goes red here
//! asks for a new `event_schema` with an upcaster, not for a new string.

use jiff::civil::date;
use turnframe_core::canonical::Json;
use turnframe_core::source::Timestamp;
use turnframe_core::workflow::Workflow;

use super::decisions::{accepted, ada, called, rejected, submitted};
use super::{
    Anomaly, Departure, Extra, ExtraKind, Payer, RebookingOutcome, TripEvent, TripWorkflow,
};
use crate::airline::RebookingOrder;
use crate::testing::{assert_round_trip, effect, forgotten, given};

const EFFECT: &str = "00000000-0000-0000-0000-000000000001";

fn departure() -> Departure {
    let at = Timestamp::from_micros(1_777_811_400_000_000);
    Departure { at, civil: date(2026, 5, 3).at(14, 30, 0, 0) }
}

fn order() -> RebookingOrder {
    RebookingOrder {
        destination: "Lisbon".to_owned(),
        date: Some(date(2026, 5, 3)),
        departure: Some(departure().civil),
        travellers: vec![ada()],
        protected_legs: vec!["LIS-FRA".to_owned()],
    }
}

fn outcome(outcome: RebookingOutcome, sequence: Option<u32>) -> TripEvent {
    TripEvent::RebookingOutcomeRecorded { effect: effect(1), outcome, sequence }
}

fn anomaly(outcome: RebookingOutcome, anomaly: Anomaly) -> TripEvent {
    TripEvent::OutcomeAnomalyRecorded { effect: effect(1), outcome, sequence: Some(1), anomaly }
}

/// Every kind of event, with the JSON that it had when it was first written.
pub(super) fn frozen() -> Vec<(TripEvent, String)> {
    [trips(), extras(), requests(), outcomes(), anomalies(), overdue()].concat()
}

fn overdue() -> Vec<(TripEvent, String)> {
    vec![(
        TripEvent::RebookingOverdue { rebooking: 2, seconds: 600 },
        r#"{"rebooking_overdue":{"rebooking":2,"seconds":600}}"#.to_owned(),
    )]
}

fn ferri() -> &'static str {
    r#"{"$personal":{"subject":"traveller:1","value":"Ada Ferri"}}"#
}

fn trips() -> Vec<(TripEvent, String)> {
    let kim = |name: &str| format!(r#"{{"$personal":{{"subject":"actor:kim","value":"{name}"}}}}"#);
    let text = str::to_owned;
    vec![
        (
            TripEvent::TripOpened {
                name: Some(called("Fair")),
                destination: Some("Lisbon".to_owned()),
                date: Some(date(2026, 5, 3)),
            },
            format!(
                r#"{{"trip_opened":{{"date":"2026-05-03","destination":"Lisbon","name":{}}}}}"#,
                kim("Fair")
            ),
        ),
        (
            TripEvent::TripOpened { name: None, destination: None, date: None },
            text(r#"{"trip_opened":{"date":null,"destination":null,"name":null}}"#),
        ),
        (
            TripEvent::TripRenamed { name: called("Expo") },
            format!(r#"{{"trip_renamed":{{"name":{}}}}}"#, kim("Expo")),
        ),
        (
            TripEvent::DestinationSet { destination: "Rome".to_owned() },
            text(r#"{"destination_set":{"destination":"Rome"}}"#),
        ),
        (
            TripEvent::DateSet { date: date(2026, 6, 1) },
            text(r#"{"date_set":{"date":"2026-06-01"}}"#),
        ),
        (
            TripEvent::DepartureSet { departure: departure() },
            text(
                r#"{"departure_set":{"departure":{"at":1777811400000000,"civil":"2026-05-03T14:30:00"}}}"#,
            ),
        ),
        (TripEvent::DepartureCleared, text(r#""departure_cleared""#)),
        (
            TripEvent::TravellerAdded { traveller: ada() },
            format!(r#"{{"traveller_added":{{"traveller":{}}}}}"#, ferri()),
        ),
        (
            TripEvent::LegProtected { leg: "LIS-FRA".to_owned() },
            text(r#"{"leg_protected":{"leg":"LIS-FRA"}}"#),
        ),
        (TripEvent::TripWithdrawn, text(r#""trip_withdrawn""#)),
    ]
}

fn extras() -> Vec<(TripEvent, String)> {
    let extra = |number, kind, quantity, payer| TripEvent::ExtraAdded {
        extra: Extra { number, kind, quantity, payer },
    };
    let added = |kind: &str, number: u32, payer: &str, quantity: u8| {
        format!(
            r#"{{"extra_added":{{"extra":{{"kind":"{kind}","number":{number},"payer":{payer},"quantity":{quantity}}}}}}}"#
        )
    };
    vec![
        (extra(1, ExtraKind::Bag, 2, Some(Payer::Company)), added("bag", 1, r#""company""#, 2)),
        (extra(2, ExtraKind::Insurance, 1, None), added("insurance", 2, "null", 1)),
        (extra(3, ExtraKind::Seat, 1, None), added("seat", 3, "null", 1)),
        (extra(4, ExtraKind::Meal, 1, None), added("meal", 4, "null", 1)),
        (
            TripEvent::PayerSet { extra: 2, payer: Payer::Traveller },
            r#"{"payer_set":{"extra":2,"payer":"traveller"}}"#.to_owned(),
        ),
        (TripEvent::ExtraRemoved { extra: 2 }, r#"{"extra_removed":{"extra":2}}"#.to_owned()),
    ]
}

fn requests() -> Vec<(TripEvent, String)> {
    vec![(
        TripEvent::RebookingRequested { rebooking: 2, order: order() },
        format!(
            r#"{{"rebooking_requested":{{"order":{{"date":"2026-05-03","departure":"2026-05-03T14:30:00","destination":"Lisbon","protected_legs":["LIS-FRA"],"travellers":[{}]}},"rebooking":2}}}}"#,
            ferri()
        ),
    )]
}

fn outcomes() -> Vec<(TripEvent, String)> {
    let recorded = |outcome: &str, sequence: &str| {
        format!(
            r#"{{"rebooking_outcome_recorded":{{"effect":"{EFFECT}","outcome":{outcome},"sequence":{sequence}}}}}"#
        )
    };
    vec![
        (outcome(submitted(), Some(1)), recorded(r#"{"submitted":{"reference":"R-1"}}"#, "1")),
        (outcome(accepted(), Some(2)), recorded(r#"{"accepted":{"reference":"R-1"}}"#, "2")),
        (outcome(rejected(), None), recorded(r#"{"rejected":{"code":"fully_booked"}}"#, "null")),
        (outcome(RebookingOutcome::Unknown, None), recorded(r#""unknown""#, "null")),
        (
            outcome(RebookingOutcome::ReconciliationRequired, None),
            recorded(r#""reconciliation_required""#, "null"),
        ),
    ]
}

fn anomalies() -> Vec<(TripEvent, String)> {
    let odd = |anomaly: &str, outcome: &str| {
        format!(
            r#"{{"outcome_anomaly_recorded":{{"anomaly":"{anomaly}","effect":"{EFFECT}","outcome":{outcome},"sequence":1}}}}"#
        )
    };
    let unknown = r#""unknown""#;
    let rejection = r#"{"rejected":{"code":"fully_booked"}}"#;
    let of_unknown = |it| anomaly(RebookingOutcome::Unknown, it);
    vec![
        (of_unknown(Anomaly::UnknownEffect), odd("unknown_effect", unknown)),
        (of_unknown(Anomaly::EarlierRebooking), odd("earlier_rebooking", unknown)),
        (of_unknown(Anomaly::OlderStatus), odd("older_status", unknown)),
        (anomaly(rejected(), Anomaly::Contradiction), odd("contradiction", rejection)),
    ]
}

#[test]
fn every_event_is_written_and_read_as_it_was_at_first() {
    for (event, json) in frozen() {
        assert_eq!(Json::of(&event).expect("JSON").as_str(), json);
        let frozen: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let frozen = Json::of(&frozen).expect("JSON");
        assert_eq!(TripWorkflow.upcast(2, &frozen), Ok(event));
        for schema in [0, 3] {
            assert!(TripWorkflow.upcast(schema, &frozen).is_err(), "schema {schema} is refused");
        }
    }
}

/// What schema 1 wrote otherwise.
fn of_schema_1() -> (TripEvent, String) {
    (
        TripEvent::RebookingRequested { rebooking: 0, order: order() },
        format!(
            r#"{{"rebooking_requested":{{"order":{{"date":"2026-05-03","departure":"2026-05-03T14:30:00","destination":"Lisbon","protected_legs":["LIS-FRA"],"travellers":[{}]}}}}}}"#,
            ferri()
        ),
    )
}

#[test]
fn an_event_of_schema_1_is_read_and_its_rebooking_is_counted_by_the_fold() {
    let (event, json) = of_schema_1();
    let frozen: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let frozen = Json::of(&frozen).expect("JSON");
    assert_eq!(TripWorkflow.upcast(1, &frozen), Ok(event.clone()));
    let unchanged = frozen_but_requests();
    assert!(!unchanged.is_empty());
    for (event, json) in unchanged {
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(TripWorkflow.upcast(1, &Json::of(&json).expect("JSON")), Ok(event));
    }
    let state = given(TripWorkflow, [event]).state;
    assert_eq!(state.rebooking.map(|rebooking| rebooking.number), Some(1));
}

fn frozen_but_requests() -> Vec<(TripEvent, String)> {
    [trips(), extras(), outcomes(), anomalies()].concat()
}

#[test]
fn no_kind_of_event_is_without_a_fixture() {
    let kind = |event: &TripEvent| match event {
        TripEvent::TripOpened { .. } => 0,
        TripEvent::TripRenamed { .. } => 1,
        TripEvent::DestinationSet { .. } => 2,
        TripEvent::DateSet { .. } => 3,
        TripEvent::DepartureSet { .. } => 4,
        TripEvent::DepartureCleared => 5,
        TripEvent::TravellerAdded { .. } => 6,
        TripEvent::ExtraAdded { .. } => 7,
        TripEvent::PayerSet { .. } => 8,
        TripEvent::ExtraRemoved { .. } => 9,
        TripEvent::LegProtected { .. } => 10,
        TripEvent::RebookingRequested { .. } => 11,
        TripEvent::RebookingOutcomeRecorded { .. } => 12,
        TripEvent::OutcomeAnomalyRecorded { .. } => 13,
        TripEvent::TripWithdrawn => 14,
        TripEvent::RebookingOverdue { .. } => 15,
    };
    let kinds: std::collections::BTreeSet<_> =
        frozen().iter().map(|(event, _)| kind(event)).collect();
    assert_eq!(kinds, (0..16).collect());
}

#[test]
fn a_full_state_reads_back_equal_with_its_people_known_and_forgotten() {
    let events: Vec<_> = frozen().into_iter().map(|(event, _)| event).collect();
    let state = given(TripWorkflow, events.clone()).state;
    assert_round_trip(&state);
    let erased = given(TripWorkflow, events.iter().map(forgotten)).state;
    assert_round_trip(&erased);
    assert!(erased == forgotten(&state), "forgetting before and after the fold is the same");
    assert!(!Json::of(&erased).expect("JSON").as_str().contains("Ferri"));
}
