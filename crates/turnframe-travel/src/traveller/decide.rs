//! What a command to a file comes to, and the state after an event.

use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::workflow::Decision;

use super::model::{FileLifecycle, TravellerCommand, TravellerEvent, TravellerState};
use crate::text_rule::{LineFault, check_line};

/// Every code that a file refuses with.
#[cfg(test)]
pub(super) const CODES: [&str; 9] = [
    "already_registered",
    "not_registered",
    "archived",
    "unchanged",
    "blank",
    "too_long",
    "control_character",
    "erased",
    "nothing_to_do",
];

/// Decides a command.
pub(super) fn decide(
    state: &TravellerState,
    command: &TravellerCommand,
) -> Result<Decision<TravellerEvent>, Rejection> {
    let event = match command {
        TravellerCommand::Register { subject, name } => {
            match state.lifecycle {
                FileLifecycle::New => {}
                FileLifecycle::Active => return Err(Rejection::new("already_registered")),
                FileLifecycle::Archived => return Err(Rejection::new("archived")),
            }
            name.as_ref().map(known_line).transpose()?;
            TravellerEvent::TravellerRegistered { subject: subject.clone(), name: name.clone() }
        }
        TravellerCommand::SetName { name } => {
            changed(active(state)?.name.as_ref(), name)?;
            TravellerEvent::NameSet { name: name.clone() }
        }
        TravellerCommand::SetLoyaltyNumber { number } => {
            changed(active(state)?.loyalty_number.as_ref(), number)?;
            TravellerEvent::LoyaltyNumberSet { number: number.clone() }
        }
        TravellerCommand::Archive => {
            active(state)?;
            TravellerEvent::TravellerArchived
        }
    };
    Ok(Decision::events([event]))
}

/// Folds one event. Total, an erased value included.
pub(super) fn evolve(mut state: TravellerState, event: &TravellerEvent) -> TravellerState {
    match event {
        TravellerEvent::TravellerRegistered { subject, name } => {
            state.lifecycle = FileLifecycle::Active;
            state.subject = Some(subject.clone());
            state.name.clone_from(name);
        }
        TravellerEvent::NameSet { name } => state.name = Some(name.clone()),
        TravellerEvent::LoyaltyNumberSet { number } => state.loyalty_number = Some(number.clone()),
        TravellerEvent::TravellerArchived => state.lifecycle = FileLifecycle::Archived,
    }
    state
}

/// A personal value that is there and is a line of visible characters.
pub(super) fn known_line(words: &Personal<String>) -> Result<&str, Rejection> {
    let words = words.value().ok_or_else(|| Rejection::new("erased"))?;
    check_line(words).map_err(|fault| {
        Rejection::new(match fault {
            LineFault::Blank => "blank",
            LineFault::TooLong => "too_long",
            LineFault::Control => "control_character",
        })
    })?;
    Ok(words)
}

fn changed(current: Option<&Personal<String>>, new: &Personal<String>) -> Result<(), Rejection> {
    let new = known_line(new)?;
    let current = current.and_then(Personal::value);
    if current.is_some_and(|current| current == new) {
        return Err(Rejection::new("unchanged"));
    }
    Ok(())
}

fn active(state: &TravellerState) -> Result<&TravellerState, Rejection> {
    match state.lifecycle {
        FileLifecycle::Active => Ok(state),
        FileLifecycle::New => Err(Rejection::new("not_registered")),
        FileLifecycle::Archived => Err(Rejection::new("archived")),
    }
}
