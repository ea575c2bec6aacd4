//! A rebooking from its request to its end: what is sent, what is refused meanwhile, and which statements about it
//! count.

use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;

use super::decisions::{
    accepted, ada_added, bare, called, everything_sent, extra, given, opened, order, recorded,
    rejected, requested, submitted,
};
use super::{
    Anomaly, ExtraKind, Lifecycle, Payer, RebookingOutcome, RebookingStatus, TripCommand,
    TripEvent, TripState,
};
use crate::airline::RebookingOrder;
use crate::testing::{effect, subject};

#[test]
fn a_rebooking_is_requested_together_with_the_effect_that_carries_it() {
    let state = given([opened(), ada_added()])
        .when(&TripCommand::RequestRebooking)
        .then_with_effects([requested()], &[order().request()]);
    let rebooking = state.rebooking.expect("a rebooking");
    assert_eq!(rebooking.status, RebookingStatus::Requested);
    assert_eq!(rebooking.effect, None, "the runtime names it after the decision");
}

#[test]
fn a_trip_without_a_destination_is_nothing_to_rebook() {
    given([bare()]).when(&TripCommand::RequestRebooking).then_refused("nothing_to_rebook");
}

#[test]
fn a_traveller_who_was_forgotten_is_named_to_nobody() {
    let erased = Personal::Erased { subject: subject("traveller:1") };
    let event = TripEvent::TravellerAdded { traveller: erased };
    let nobody = RebookingOrder { travellers: Vec::new(), ..order() };
    given([opened(), event]).when(&TripCommand::RequestRebooking).then_with_effects(
        [TripEvent::RebookingRequested { rebooking: 1, order: nobody.clone() }],
        &[nobody.request()],
    );
}

#[test]
fn what_the_airline_was_sent_does_not_change_and_nothing_is_sent_beside_it() {
    for command in everything_sent() {
        let in_flight = [vec![], vec![recorded(effect(1), submitted())]];
        for outcomes in in_flight {
            given([opened(), ada_added(), requested()].into_iter().chain(outcomes))
                .when(&command)
                .then_refused("rebooking_in_flight");
        }
        for unknown in [RebookingOutcome::Unknown, RebookingOutcome::ReconciliationRequired] {
            given([opened(), ada_added(), requested(), recorded(effect(1), unknown)])
                .when(&command)
                .then_refused("rebooking_unresolved");
        }
    }
}

#[test]
fn name_and_extras_are_ours_and_change_also_while_the_airline_has_a_rebooking() {
    let in_flight = || [opened(), extra(1, None), requested()];
    given(in_flight())
        .when(&TripCommand::Rename { name: called("Fair") })
        .then([TripEvent::TripRenamed { name: called("Fair") }]);
    given(in_flight())
        .when(&TripCommand::AddExtra { kind: ExtraKind::Bag, quantity: 1, payer: None })
        .then([extra(2, None)]);
    given(in_flight())
        .when(&TripCommand::SetPayer { extra: 1, payer: Payer::Company })
        .then([TripEvent::PayerSet { extra: 1, payer: Payer::Company }]);
    given(in_flight())
        .when(&TripCommand::RemoveExtra { extra: 1 })
        .then([TripEvent::ExtraRemoved { extra: 1 }]);
}

#[test]
fn after_the_airline_has_decided_a_trip_may_be_rebooked_again_or_withdrawn() {
    for outcome in [accepted(), rejected()] {
        let decided = || [opened(), ada_added(), requested(), recorded(effect(1), outcome.clone())];
        let state = given(decided()).when(&TripCommand::RequestRebooking).then_with_effects(
            [TripEvent::RebookingRequested { rebooking: 2, order: order() }],
            &[order().request()],
        );
        assert_eq!(state.past_rebookings, [effect(1)]);
        given(decided()).when(&TripCommand::Withdraw).then([TripEvent::TripWithdrawn]);
    }
}

#[test]
fn a_decision_is_overdue_once_and_only_for_the_rebooking_that_waits_for_it() {
    let overdue = |rebooking| TripCommand::RecordRebookingOverdue { rebooking, seconds: 600 };
    let recorded_overdue = || TripEvent::RebookingOverdue { rebooking: 1, seconds: 600 };
    let waiting = || vec![opened(), ada_added(), requested()];
    let state = given(waiting()).when(&overdue(1)).then([recorded_overdue()]);
    let open = state.open_rebooking().expect("it goes on waiting");
    assert!(open.is_overdue && open.status == RebookingStatus::Requested);
    let late = [waiting(), vec![recorded_overdue()]].concat();
    given(late.clone()).when(&overdue(1)).then([]);
    given(waiting()).when(&overdue(2)).then([]);
    given([opened()]).when(&overdue(1)).then([]);
    let decided = [late, vec![recorded(effect(1), accepted())]].concat();
    given(decided.clone()).when(&overdue(1)).then([]);
    let again = TripEvent::RebookingRequested { rebooking: 2, order: order() };
    let again = [decided, vec![again]].concat();
    given(waiting()).when(&overdue(0)).then([recorded_overdue()]);
    given(again.clone()).when(&overdue(0)).then([]);
    given(again.clone()).when(&overdue(1)).then([]);
    let of_two = TripEvent::RebookingOverdue { rebooking: 2, seconds: 600 };
    given(again).when(&overdue(2)).then([of_two]);
}

#[test]
fn a_trip_is_withdrawn_for_good() {
    let state = given([opened()]).when(&TripCommand::Withdraw).then([TripEvent::TripWithdrawn]);
    assert_eq!(state.lifecycle, Lifecycle::Withdrawn);
}

fn record(effect: EffectId, outcome: RebookingOutcome, sequence: Option<u32>) -> TripCommand {
    TripCommand::RecordRebookingOutcome { effect, outcome, sequence }
}

fn anomaly(
    effect: EffectId,
    outcome: RebookingOutcome,
    sequence: Option<u32>,
    anomaly: Anomaly,
) -> TripEvent {
    TripEvent::OutcomeAnomalyRecorded { effect, outcome, sequence, anomaly }
}

#[test]
fn what_becomes_known_of_a_rebooking_is_recorded_with_its_effect() {
    for outcome in [
        submitted(),
        accepted(),
        rejected(),
        RebookingOutcome::Unknown,
        RebookingOutcome::ReconciliationRequired,
    ] {
        let state = given([opened(), requested()])
            .when(&record(effect(1), outcome.clone(), Some(3)))
            .then([TripEvent::RebookingOutcomeRecorded {
                effect: effect(1),
                outcome: outcome.clone(),
                sequence: Some(3),
            }]);
        let rebooking = state.rebooking.expect("a rebooking");
        assert_eq!(rebooking.status, outcome.into());
        assert_eq!((rebooking.effect, rebooking.sequence), (Some(effect(1)), Some(3)));
    }
}

#[test]
fn case_32_an_older_refusal_is_recorded_as_an_anomaly_and_changes_nothing() {
    let events = || {
        let outcome = accepted();
        let sequence = Some(2);
        let known = TripEvent::RebookingOutcomeRecorded { effect: effect(1), outcome, sequence };
        [opened(), requested(), known]
    };
    let before: TripState = given(events()).state;
    let after = given(events()).when(&record(effect(1), rejected(), Some(1))).then([anomaly(
        effect(1),
        rejected(),
        Some(1),
        Anomaly::OlderStatus,
    )]);
    assert_eq!(after, before);
}

#[test]
fn a_statement_about_nothing_or_about_an_earlier_rebooking_is_an_anomaly() {
    given([opened()]).when(&record(effect(1), accepted(), None)).then([anomaly(
        effect(1),
        accepted(),
        None,
        Anomaly::UnknownEffect,
    )]);
    given([opened(), requested(), recorded(effect(1), rejected()), requested()])
        .when(&record(effect(1), accepted(), None))
        .then([anomaly(effect(1), accepted(), None, Anomaly::EarlierRebooking)]);
}

#[test]
fn a_statement_that_was_heard_before_comes_to_nothing() {
    given([opened(), requested(), recorded(effect(1), accepted())])
        .when(&record(effect(1), accepted(), None))
        .then([]);
}

#[test]
fn a_statement_without_a_count_keeps_the_count_that_is_known() {
    let first = TripEvent::RebookingOutcomeRecorded {
        effect: effect(1),
        outcome: submitted(),
        sequence: Some(4),
    };
    let state = given([opened(), requested(), first, recorded(effect(1), accepted())]).state;
    assert_eq!(state.rebooking.and_then(|rebooking| rebooking.sequence), Some(4));
}
