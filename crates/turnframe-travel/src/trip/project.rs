//! A trip as it is shown: one phase, what it still needs, and the card where the next move is the user's.
//!
//! Precedence of phases: a question to the user comes before what the airline owes. An airline may take days,
//! and an extra that nobody pays for must not wait behind it; how the rebooking stands is a fact in every
//! phase. So: withdrawn, payer, airline, planning.

use turnframe_core::id::{Locale, OperationRef};
use turnframe_core::interaction::{
    InteractionKind, InteractionPayload, OptionMeaning, StoredOption,
};
use turnframe_core::policy::RiskClass;
use turnframe_core::text::Text;
use turnframe_core::view::{Fact, Obligation, Phase, PhaseOwner, Projection};

use super::command::TripCommand;
use super::copy::{Field, TripWords, words};
use super::operations::Operation;
use super::rebooking::Rebooking;
use super::state::{Extra, Lifecycle, Payer, TripState};
use super::{OBLIGATION_PAYER, key};
use crate::key::literal;

/// The phases of a trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TripPhase {
    New,
    Planning,
    NeedsPayer,
    Rebooking,
    Unresolved,
    Withdrawn,
}

impl TripPhase {
    pub(super) const ALL: [Self; 6] = [
        Self::New,
        Self::Planning,
        Self::NeedsPayer,
        Self::Rebooking,
        Self::Unresolved,
        Self::Withdrawn,
    ];

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Planning => "planning",
            Self::NeedsPayer => "needs_payer",
            Self::Rebooking => "rebooking",
            Self::Unresolved => "unresolved",
            Self::Withdrawn => "withdrawn",
        }
    }

    const fn owner(self) -> PhaseOwner {
        match self {
            Self::New | Self::Planning => PhaseOwner::Anyone,
            Self::NeedsPayer => PhaseOwner::User,
            Self::Rebooking | Self::Unresolved => PhaseOwner::External,
            Self::Withdrawn => PhaseOwner::Closed,
        }
    }

    pub(super) fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.key() == key)
    }

    /// The phase of a state: exactly one (I3).
    pub(super) fn of(state: &TripState) -> Self {
        match state.lifecycle {
            Lifecycle::New => Self::New,
            Lifecycle::Withdrawn => Self::Withdrawn,
            Lifecycle::Open if state.unpaid().next().is_some() => Self::NeedsPayer,
            Lifecycle::Open => match state.open_rebooking() {
                None => Self::Planning,
                Some(rebooking) if rebooking.status.is_uncertain() => Self::Unresolved,
                Some(_) => Self::Rebooking,
            },
        }
    }
}

/// Projects a state.
pub(super) fn project(state: &TripState, locale: &Locale) -> Projection<TripCommand> {
    let words = words(locale);
    let phase = TripPhase::of(state);
    let asked = (phase == TripPhase::NeedsPayer).then(|| state.unpaid().next()).flatten();
    Projection {
        phase: Phase { key: phase.key().to_owned(), owner: phase.owner() },
        obligations: obligations(state),
        label: words.label(state),
        aliases: words.aliases(state),
        facts: facts(state, words),
        operations: offered(state).into_iter().map(Operation::key).collect(),
        required: asked.map(|extra| payer_card(extra, words)),
    }
}

/// Every extra that nobody pays for, by its number (I4). A trip that was called off needs nothing.
fn obligations(state: &TripState) -> Vec<Obligation> {
    if state.lifecycle == Lifecycle::Withdrawn {
        return Vec::new();
    }
    let payer = |extra: &Extra| Obligation {
        key: OBLIGATION_PAYER.to_owned(),
        parameter: format!("extra-{}", extra.number),
    };
    state.unpaid().map(payer).collect()
}

/// While the airline has a rebooking, what it was sent is off offer: destination, day, departure, travellers and
/// protected legs. Name and extras are ours alone and stay. So do a rebooking and a withdrawal, though both are
/// refused: whoever waits asks for them, and the refusal says what is going on.
fn offered(state: &TripState) -> Vec<Operation> {
    let at_the_airline = state.open_rebooking().is_some();
    let has_extras = !state.extras.is_empty();
    let is_offered = |operation: &Operation| match operation {
        Operation::Open => false,
        Operation::SetDestination
        | Operation::SetDate
        | Operation::SetDeparture
        | Operation::AddTraveller
        | Operation::ProtectLeg => !at_the_airline,
        Operation::SetPayer | Operation::RemoveExtra => has_extras,
        Operation::Rename
        | Operation::AddExtra
        | Operation::RequestRebooking
        | Operation::Withdraw => true,
    };
    match state.lifecycle {
        Lifecycle::New => vec![Operation::Open],
        Lifecycle::Open => Operation::ALL.into_iter().filter(is_offered).collect(),
        Lifecycle::Withdrawn => Vec::new(),
    }
}

/// The card that asks who pays. Its options name the extra's number, so that a click settles this one only.
fn payer_card(extra: &Extra, words: &dyn TripWords) -> InteractionPayload<TripCommand> {
    let option = |payer: Payer| StoredOption {
        id: literal(payer.key()),
        label: words.payer(payer).into(),
        meaning: OptionMeaning::Execute(TripCommand::SetPayer { extra: extra.number, payer }),
        freeform: None,
    };
    InteractionPayload {
        kind: InteractionKind::SingleSelect,
        requirement: Some(format!("{OBLIGATION_PAYER}:extra-{}", extra.number)),
        operation: Some(OperationRef { workflow: key(), operation: Operation::SetPayer.key() }),
        continuation: None,
        title: words.payer_question(extra),
        lines: vec![words.line(Field::Extra(extra.number), &words.extra(extra).into())],
        options: Payer::ALL.into_iter().map(option).collect(),
        risk: RiskClass::Low,
        independent: false,
    }
}

/// What is known, in the order in which it is shown.
pub(super) fn facts(state: &TripState, words: &dyn TripWords) -> Vec<Fact> {
    let fact = |field: Field, value: Text| Fact { name: words.field(field), value };
    let mut facts = Vec::new();
    facts.extend(state.name.iter().map(|name| fact(Field::Name, Text::new().personal(name))));
    let destination = state.destination.as_deref();
    facts.extend(destination.map(|destination| fact(Field::Destination, destination.into())));
    let language = words.language();
    facts.extend(state.date.map(|date| fact(Field::Date, language.date(date).into())));
    let departure = state.departure.map(|departure| language.moment(departure.civil));
    facts.extend(departure.map(|moment| fact(Field::Departure, moment.into())));
    for traveller in &state.travellers {
        facts.push(fact(Field::Traveller, Text::new().personal(traveller)));
    }
    for extra in &state.extras {
        facts.push(fact(Field::Extra(extra.number), words.extra(extra).into()));
    }
    for leg in &state.protected_legs {
        facts.push(fact(Field::ProtectedLeg, leg.as_str().into()));
    }
    let standing = |rebooking: &Rebooking| {
        let standing = words.rebooking(&rebooking.status);
        let is_overdue = rebooking.is_overdue && !rebooking.status.is_final();
        if is_overdue { format!("{standing}; {}", words.overdue()) } else { standing }
    };
    let rebooking = state.rebooking.as_ref().map(standing);
    facts.extend(rebooking.map(|standing| fact(Field::Rebooking, standing.into())));
    facts
}
