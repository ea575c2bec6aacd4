//! What a command to a trip comes to.
//!
//! Total on [`TripCommand::RecordRebookingOutcome`] and [`TripCommand::RecordRebookingOverdue`]: whatever is said of a
//! rebooking, in whatever state, comes to an event or changes nothing. Everything else may be refused, and says why.

use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::target::fold;
use turnframe_core::workflow::Decision;

use super::command::{Opening, TripCommand};
use super::event::TripEvent;
use super::rebooking::{self, Rebooking, Verdict};
use super::refusal::Refusal;
use super::state::{
    EXTRAS_MAX, Extra, ExtraKind, LEGS_MAX, Lifecycle, Payer, QUANTITY_MAX, TRAVELLERS_MAX,
    TripState,
};
use crate::text_rule::check_line;

type Decided = Result<Decision<TripEvent>, Rejection>;

/// Decides a command.
pub(super) fn decide(state: &TripState, command: &TripCommand) -> Decided {
    match command {
        TripCommand::Open(opening) => open(state, opening),
        TripCommand::Rename { name } => rename(opened(state)?, name),
        TripCommand::SetDestination { destination } => {
            set_destination(unsent(opened(state)?)?, destination)
        }
        TripCommand::SetDate { date } => set_date(unsent(opened(state)?)?, *date),
        TripCommand::SetDeparture { departure } => {
            let state = unsent(opened(state)?)?;
            changed(state.departure.as_ref() != Some(departure))?;
            one(TripEvent::DepartureSet { departure: *departure })
        }
        TripCommand::AddTraveller { traveller } => {
            add_traveller(unsent(opened(state)?)?, traveller)
        }
        TripCommand::AddExtra { kind, quantity, payer } => {
            add_extra(opened(state)?, *kind, *quantity, *payer)
        }
        TripCommand::SetPayer { extra, payer } => {
            let found = existing(opened(state)?, *extra)?;
            changed(found.payer != Some(*payer))?;
            one(TripEvent::PayerSet { extra: *extra, payer: *payer })
        }
        TripCommand::RemoveExtra { extra } => {
            existing(opened(state)?, *extra)?;
            one(TripEvent::ExtraRemoved { extra: *extra })
        }
        TripCommand::ProtectLeg { leg } => protect_leg(unsent(opened(state)?)?, leg),
        TripCommand::RequestRebooking => request_rebooking(unsent(opened(state)?)?),
        TripCommand::Withdraw => {
            unsent(opened(state)?)?;
            one(TripEvent::TripWithdrawn)
        }
        TripCommand::RecordRebookingOutcome { effect, outcome, sequence } => {
            let (effect, outcome, sequence) = (*effect, outcome.clone(), *sequence);
            let (latest, past) = (state.rebooking.as_ref(), &state.past_rebookings);
            let verdict = rebooking::judge(latest, past, effect, &outcome, sequence);
            Ok(Decision::events(match verdict {
                Verdict::Repeats => None,
                Verdict::Applies => {
                    Some(TripEvent::RebookingOutcomeRecorded { effect, outcome, sequence })
                }
                Verdict::Anomalous(anomaly) => {
                    Some(TripEvent::OutcomeAnomalyRecorded { effect, outcome, sequence, anomaly })
                }
            }))
        }
        TripCommand::RecordRebookingOverdue { rebooking, seconds } => {
            let seconds = *seconds;
            // An event of schema 1 does not say which it is: where there was no other, it is this one.
            let is_meant =
                |number| number == *rebooking || (*rebooking == 0 && state.rebookings == 1);
            let is_it = |open: &&Rebooking| is_meant(open.number) && !open.is_overdue;
            let overdue = state
                .open_rebooking()
                .filter(is_it)
                .map(|open| TripEvent::RebookingOverdue { rebooking: open.number, seconds });
            Ok(Decision::events(overdue))
        }
    }
}

fn open(state: &TripState, opening: &Opening) -> Decided {
    match state.lifecycle {
        Lifecycle::New => {}
        Lifecycle::Open => return Err(Refusal::AlreadyOpen.into()),
        Lifecycle::Withdrawn => return Err(Refusal::Withdrawn.into()),
    }
    let Opening { name, destination, date, traveller } = opening.clone();
    name.as_ref().map(known_line).transpose()?;
    destination.as_deref().map(line).transpose()?;
    traveller.as_ref().map(known_line).transpose()?;
    let opened = TripEvent::TripOpened { name, destination, date };
    let joined = traveller.map(|traveller| TripEvent::TravellerAdded { traveller });
    Ok(Decision::events([opened].into_iter().chain(joined)))
}

fn rename(state: &TripState, name: &Personal<String>) -> Decided {
    let words = known_line(name)?;
    let current = state.name.as_ref().and_then(Personal::value);
    changed(current.map(String::as_str) != Some(words))?;
    one(TripEvent::TripRenamed { name: name.clone() })
}

fn set_destination(state: &TripState, destination: &str) -> Decided {
    line(destination)?;
    let same = |current: &String| fold(current) == fold(destination);
    changed(!state.destination.as_ref().is_some_and(same))?;
    one(TripEvent::DestinationSet { destination: destination.to_owned() })
}

fn set_date(state: &TripState, date: jiff::civil::Date) -> Decided {
    changed(state.date != Some(date))?;
    let elsewhere = state.departure.filter(|departure| departure.civil.date() != date);
    let cleared = elsewhere.map(|_| TripEvent::DepartureCleared);
    Ok(Decision::events([TripEvent::DateSet { date }].into_iter().chain(cleared)))
}

fn add_traveller(state: &TripState, traveller: &Personal<String>) -> Decided {
    let words = known_line(traveller)?;
    let same = |other: &Personal<String>| other.value().is_some_and(|it| fold(it) == fold(words));
    changed(!state.travellers.iter().any(same))?;
    room(state.travellers.len(), TRAVELLERS_MAX)?;
    one(TripEvent::TravellerAdded { traveller: traveller.clone() })
}

fn add_extra(state: &TripState, kind: ExtraKind, quantity: u8, payer: Option<Payer>) -> Decided {
    if !(1..=QUANTITY_MAX).contains(&quantity) {
        return Err(Rejection::from(Refusal::QuantityOutOfRange).with(QUANTITY_MAX.to_string()));
    }
    room(state.extras.len(), EXTRAS_MAX)?;
    let number = state.last_extra.saturating_add(1);
    one(TripEvent::ExtraAdded { extra: Extra { number, kind, quantity, payer } })
}

fn protect_leg(state: &TripState, leg: &str) -> Decided {
    line(leg)?;
    changed(!state.protected_legs.iter().any(|other| fold(other) == fold(leg)))?;
    room(state.protected_legs.len(), LEGS_MAX)?;
    one(TripEvent::LegProtected { leg: leg.to_owned() })
}

fn request_rebooking(state: &TripState) -> Decided {
    let order = state.order().ok_or(Refusal::NothingToRebook)?;
    let (effect, rebooking) = (order.request(), state.rebookings.saturating_add(1));
    let requested = TripEvent::RebookingRequested { rebooking, order };
    Ok(Decision::events([requested]).with_effect(effect))
}

/// A trip that exists and was not called off.
fn opened(state: &TripState) -> Result<&TripState, Rejection> {
    match state.lifecycle {
        Lifecycle::Open => Ok(state),
        Lifecycle::New => Err(Refusal::NotOpen.into()),
        Lifecycle::Withdrawn => Err(Refusal::Withdrawn.into()),
    }
}

/// A trip with no rebooking under way. What the airline was sent does not change until it has answered, nothing
/// is sent beside it, and a trip is not called off while the airline may be rebooking it.
fn unsent(state: &TripState) -> Result<&TripState, Rejection> {
    match state.open_rebooking() {
        None => Ok(state),
        Some(rebooking) if rebooking.status.is_uncertain() => {
            Err(Refusal::RebookingUnresolved.into())
        }
        Some(_) => Err(Refusal::RebookingInFlight.into()),
    }
}

fn existing(state: &TripState, number: u32) -> Result<&Extra, Rejection> {
    let missing = || Rejection::from(Refusal::NoSuchExtra).with(number.to_string());
    state.extra(number).ok_or_else(missing)
}

fn changed(is_news: bool) -> Result<(), Rejection> {
    if is_news { Ok(()) } else { Err(Refusal::Unchanged.into()) }
}

fn room(taken: usize, limit: usize) -> Result<(), Rejection> {
    if taken < limit {
        return Ok(());
    }
    Err(Rejection::from(Refusal::LimitReached).with(limit.to_string()))
}

fn line(words: &str) -> Result<&str, Rejection> {
    check_line(words).map_err(Refusal::from)?;
    Ok(words)
}

fn known_line(words: &Personal<String>) -> Result<&str, Rejection> {
    line(words.value().ok_or(Refusal::Erased)?)
}

fn one(event: TripEvent) -> Decided {
    Ok(Decision::events([event]))
}
