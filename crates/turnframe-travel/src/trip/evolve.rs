//! The state of a trip after an event. Total: what was committed cannot be refused, an erased name included.

use super::event::TripEvent;
use super::rebooking::Rebooking;
use super::state::{Lifecycle, TripState};

/// Folds one event.
pub(super) fn evolve(mut state: TripState, event: &TripEvent) -> TripState {
    match event {
        TripEvent::TripOpened { name, destination, date } => {
            state.lifecycle = Lifecycle::Open;
            state.name.clone_from(name);
            state.destination.clone_from(destination);
            state.date = *date;
        }
        TripEvent::TripRenamed { name } => state.name = Some(name.clone()),
        TripEvent::DestinationSet { destination } => state.destination = Some(destination.clone()),
        TripEvent::DateSet { date } => state.date = Some(*date),
        TripEvent::DepartureSet { departure } => {
            state.date = Some(departure.civil.date());
            state.departure = Some(*departure);
        }
        TripEvent::DepartureCleared => state.departure = None,
        TripEvent::TravellerAdded { traveller } => state.travellers.push(traveller.clone()),
        TripEvent::ExtraAdded { extra } => {
            state.last_extra = state.last_extra.max(extra.number);
            state.extras.push(extra.clone());
        }
        TripEvent::PayerSet { extra, payer } => {
            for found in state.extras.iter_mut().filter(|found| found.number == *extra) {
                found.payer = Some(*payer);
            }
        }
        TripEvent::ExtraRemoved { extra } => state.extras.retain(|found| found.number != *extra),
        TripEvent::LegProtected { leg } => state.protected_legs.push(leg.clone()),
        TripEvent::RebookingRequested { .. } => {
            state.rebookings = state.rebookings.saturating_add(1);
            let before = state.rebooking.replace(Rebooking::requested(state.rebookings));
            state.past_rebookings.extend(before.and_then(|rebooking| rebooking.effect));
        }
        TripEvent::RebookingOutcomeRecorded { effect, outcome, sequence } => {
            let before = state.rebooking.take();
            let before = before.unwrap_or_else(|| Rebooking::requested(state.rebookings));
            state.rebooking = Some(Rebooking {
                status: outcome.clone().into(),
                effect: Some(*effect),
                sequence: sequence.or(before.sequence),
                ..before
            });
        }
        // Recorded for people to look at; the trip rests on what it knew before (case 32).
        TripEvent::OutcomeAnomalyRecorded { .. } => {}
        TripEvent::RebookingOverdue { rebooking, .. } => {
            for open in state.rebooking.iter_mut().filter(|open| open.number == *rebooking) {
                open.is_overdue = true;
            }
        }
        TripEvent::TripWithdrawn => state.lifecycle = Lifecycle::Withdrawn,
    }
    state
}
