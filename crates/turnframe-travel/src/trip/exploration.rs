//! Every state that short sequences of commands reach: one phase, stable obligations, a card where the user owns
//! the step, statements that are always taken, and a way out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use jiff::civil::date;
use proptest::prelude::*;
use turnframe_core::canonical::Json;
use turnframe_core::interaction::OptionMeaning;
use turnframe_core::source::Timestamp;
use turnframe_core::view::PhaseOwner;
use turnframe_core::workflow::Workflow;

use super::decisions::{accepted, ada, called, rejected, submitted};
use super::operations::Operation;
use super::project::TripPhase;
use super::{
    Departure, ExtraKind, Lifecycle, Opening, Payer, RebookingOutcome, TripCommand, TripEvent,
    TripState, TripWorkflow,
};
use crate::language::Language;
use crate::testing::{NOW, assert_round_trip, effect, forgotten};

/// How many commands deep every sequence is tried.
const DEPTH: usize = 5;

fn outcomes() -> Vec<RebookingOutcome> {
    vec![
        submitted(),
        accepted(),
        rejected(),
        RebookingOutcome::Unknown,
        RebookingOutcome::ReconciliationRequired,
    ]
}

fn statements() -> impl Iterator<Item = TripCommand> {
    let of_effect = |number: u128| {
        outcomes().into_iter().flat_map(move |outcome| {
            [None, Some(1), Some(2)].map(|sequence| TripCommand::RecordRebookingOutcome {
                effect: effect(number),
                outcome: outcome.clone(),
                sequence,
            })
        })
    };
    let overdue =
        (1..=2).map(|rebooking| TripCommand::RecordRebookingOverdue { rebooking, seconds: 600 });
    (1..=2).flat_map(of_effect).chain(overdue)
}

/// Commands of users, few of each kind so that the states stay countable.
fn commands() -> Vec<TripCommand> {
    let departure =
        Departure { at: Timestamp::from_micros(1), civil: date(2026, 5, 3).at(9, 0, 0, 0) };
    vec![
        TripCommand::Open(Opening::default()),
        TripCommand::Open(Opening {
            name: None,
            destination: Some("Lisbon".to_owned()),
            date: None,
            traveller: Some(ada()),
        }),
        TripCommand::Rename { name: called("Fair") },
        TripCommand::SetDestination { destination: "Rome".to_owned() },
        TripCommand::SetDate { date: date(2026, 6, 1) },
        TripCommand::SetDeparture { departure },
        TripCommand::AddTraveller { traveller: called("Ben Okoye") },
        TripCommand::AddExtra { kind: ExtraKind::Bag, quantity: 1, payer: None },
        TripCommand::AddExtra { kind: ExtraKind::Seat, quantity: 2, payer: Some(Payer::Company) },
        TripCommand::SetPayer { extra: 1, payer: Payer::Traveller },
        TripCommand::SetPayer { extra: 2, payer: Payer::Company },
        TripCommand::RemoveExtra { extra: 1 },
        TripCommand::ProtectLeg { leg: "LIS-FRA".to_owned() },
        TripCommand::RequestRebooking,
        TripCommand::Withdraw,
    ]
}

fn after(state: &TripState, command: &TripCommand) -> Option<TripState> {
    let decision = TripWorkflow.decide(state, command, NOW).ok()?;
    let evolve = |state, event: &TripEvent| TripWorkflow.evolve(state, event);
    Some(decision.events.iter().fold(state.clone(), evolve))
}

static REACHABLE: LazyLock<Vec<TripState>> = LazyLock::new(explore);

/// Every state within [`DEPTH`] commands of a trip that does not exist, each once.
fn explore() -> Vec<TripState> {
    // Details that no phase, card or refusal depends on would only multiply the same states.
    let alphabet: Vec<_> = commands().into_iter().chain(statements_of_one_effect()).collect();
    let mut seen: BTreeMap<Json, TripState> = BTreeMap::new();
    let mut frontier = VecDeque::from([(0, TripState::new())]);
    while let Some((depth, state)) = frontier.pop_front() {
        let key = Json::of(&state).expect("a state is JSON");
        if seen.contains_key(&key) {
            continue;
        }
        if depth < DEPTH {
            let next = alphabet.iter().filter_map(|command| after(&state, command));
            frontier.extend(next.map(|next| (depth + 1, next)));
        }
        seen.insert(key, state);
    }
    seen.into_values().collect()
}

fn statements_of_one_effect() -> impl Iterator<Item = TripCommand> {
    outcomes().into_iter().map(|outcome| TripCommand::RecordRebookingOutcome {
        effect: effect(1),
        outcome,
        sequence: None,
    })
}

/// I3, I4, I6 and the promises of the offer, in one state.
fn assert_sound(state: &TripState) {
    for language in Language::ALL {
        let projection = TripWorkflow.project(state, &language.locale());
        projection.check().expect("an invariant of projections");
        let phase = TripPhase::of_key(&projection.phase.key);
        assert_eq!(phase, Some(TripPhase::of(state)));
        assert!(!projection.label.is_empty());

        let closed = projection.phase.owner == PhaseOwner::Closed;
        assert_eq!(closed, state.lifecycle == Lifecycle::Withdrawn);
        assert_eq!(closed, projection.operations.is_empty(), "an open case can be asked something");
        let unpaid: Vec<_> = state.unpaid().map(|it| format!("extra-{}", it.number)).collect();
        let asked: Vec<_> = projection.obligations.iter().map(|it| it.parameter.clone()).collect();
        assert_eq!(asked, if closed { Vec::new() } else { unpaid });

        let Some(card) = projection.required else { continue };
        let first = projection.obligations.first().expect("a card meets an obligation");
        let requirement = format!("{}:{}", first.key, first.parameter);
        assert_eq!(card.requirement, Some(requirement));
        for option in card.options {
            let OptionMeaning::Execute(command) = option.meaning else {
                panic!("every option of the payer's card settles the payer")
            };
            let settled = after(state, &command).expect("no option of a required card is refused");
            assert_eq!(settled.unpaid().count() + 1, state.unpaid().count());
        }
    }
}

/// Whatever is said of a rebooking is taken, and a status never goes back.
fn assert_statements_are_total(state: &TripState) {
    let rank = |state: &TripState| {
        let status = state.rebooking.as_ref().map(|rebooking| &rebooking.status);
        status.map(|status| (status.is_final(), !status.is_uncertain()))
    };
    for statement in statements() {
        let next = after(state, &statement).expect("a statement is never refused");
        let is_final = |state: &TripState| {
            state.rebooking.as_ref().is_some_and(|rebooking| rebooking.status.is_final())
        };
        if is_final(state) {
            let status = |state: &TripState| state.rebooking.clone().map(|it| it.status);
            assert_eq!(status(&next), status(state), "a final status stands");
        }
        assert_eq!(rank(&next).is_some(), rank(state).is_some());
        assert_eq!(next.extras, state.extras);
        assert_eq!(next.lifecycle, state.lifecycle);
        assert_sound(&next);
    }
}

/// What is on offer is decided, or refused for a reason that the user is told; what is off offer is refused.
fn assert_offer_is_honest(state: &TripState) {
    let offered = TripWorkflow.project(state, &Language::English.locale()).operations;
    for command in commands() {
        let Some(operation) = operation_of(&command) else { continue };
        let is_offered = offered.contains(&operation.key());
        if after(state, &command).is_some() {
            assert!(is_offered, "{operation:?} is decided though it is off offer: {state:?}");
        }
    }
}

fn operation_of(command: &TripCommand) -> Option<Operation> {
    Some(match command {
        TripCommand::Open(_) => Operation::Open,
        TripCommand::Rename { .. } => Operation::Rename,
        TripCommand::SetDestination { .. } => Operation::SetDestination,
        TripCommand::SetDate { .. } => Operation::SetDate,
        TripCommand::SetDeparture { .. } => Operation::SetDeparture,
        TripCommand::AddTraveller { .. } => Operation::AddTraveller,
        TripCommand::AddExtra { .. } => Operation::AddExtra,
        TripCommand::SetPayer { .. } => Operation::SetPayer,
        TripCommand::RemoveExtra { .. } => Operation::RemoveExtra,
        TripCommand::ProtectLeg { .. } => Operation::ProtectLeg,
        TripCommand::RequestRebooking => Operation::RequestRebooking,
        TripCommand::Withdraw => Operation::Withdraw,
        TripCommand::RecordRebookingOutcome { .. } | TripCommand::RecordRebookingOverdue { .. } => {
            return None;
        }
    })
}

/// From here to the end of the trip, by cards, by the airline's answer, and by a withdrawal.
fn assert_there_is_a_way_out(start: &TripState) {
    let mut state = start.clone();
    if state.lifecycle == Lifecycle::New {
        state = after(&state, &TripCommand::Open(Opening::default())).expect("it opens");
    }
    while let Some(card) = TripWorkflow.project(&state, &Language::English.locale()).required {
        let OptionMeaning::Execute(command) = card.options[0].meaning.clone() else {
            panic!("the first option settles the payer")
        };
        state = after(&state, &command).expect("the card's option is decided");
    }
    if let Some(rebooking) = state.open_rebooking() {
        let effect = rebooking.effect.unwrap_or(effect(9));
        let outcome = accepted();
        let answer = TripCommand::RecordRebookingOutcome { effect, outcome, sequence: Some(99) };
        state = after(&state, &answer).expect("the airline's answer is taken");
    }
    if state.lifecycle == Lifecycle::Open {
        state = after(&state, &TripCommand::Withdraw).expect("a trip at rest can be withdrawn");
    }
    assert_eq!(state.lifecycle, Lifecycle::Withdrawn, "no way out of {start:?}");
}

#[test]
fn i3_i4_i6_every_reachable_state_is_sound_and_has_a_way_out() {
    let states = &*REACHABLE;
    let mut phases = std::collections::BTreeSet::new();
    for state in states {
        assert_sound(state);
        assert_offer_is_honest(state);
        assert_there_is_a_way_out(state);
        phases.insert(TripPhase::of(state).key());
    }
    assert_eq!(phases.len(), TripPhase::ALL.len(), "every phase was reached: {phases:?}");
    assert!(states.len() > 1_000, "only {} states were explored", states.len());
}

#[test]
fn a_statement_about_a_rebooking_is_taken_in_every_reachable_state() {
    for state in &*REACHABLE {
        assert_statements_are_total(state);
    }
}

#[test]
fn a_payer_question_comes_before_what_the_airline_owes_and_hides_none_of_it() {
    let ask = TripCommand::AddExtra { kind: ExtraKind::Bag, quantity: 1, payer: None };
    let commands = [
        TripCommand::Open(Opening { destination: Some("Lisbon".to_owned()), ..Opening::default() }),
        TripCommand::RequestRebooking,
        ask,
    ];
    let apply = |state: TripState, command: &TripCommand| after(&state, command).expect("decided");
    let state = commands.iter().fold(TripState::new(), apply);
    let projection = TripWorkflow.project(&state, &Language::English.locale());
    assert_eq!(projection.phase.key, "needs_payer");
    assert!(projection.facts.iter().any(|fact| fact.name == "rebooking"));
    let offered = |operation: Operation| projection.operations.contains(&operation.key());
    assert!(offered(Operation::AddExtra) && offered(Operation::Rename));
    assert!(!offered(Operation::SetDestination), "the airline was sent the destination");
    let settle = TripCommand::SetPayer { extra: 1, payer: Payer::Company };
    assert_eq!(TripPhase::of(&apply(state, &settle)), TripPhase::Rebooking);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Replaying the events gives the live state; replaying them after an erasure gives the forgotten state, and
    /// nothing stops either fold.
    #[test]
    fn a_replay_equals_what_was_lived_also_after_an_erasure(
        picks in proptest::collection::vec(any::<prop::sample::Index>(), 0..24)
    ) {
        let alphabet: Vec<_> = commands().into_iter().chain(statements()).collect();
        let mut live = TripState::new();
        let mut events: Vec<TripEvent> = Vec::new();
        for pick in picks {
            if let Ok(decision) = TripWorkflow.decide(&live, pick.get(&alphabet), NOW) {
                for event in decision.events {
                    live = TripWorkflow.evolve(live, &event);
                    events.push(event);
                }
            }
        }
        let replayed = events.iter().fold(TripState::new(), |state, event| {
            let stored = Json::of(event).expect("an event is JSON");
            let read = TripWorkflow.upcast(1, &stored).expect("an event reads back");
            TripWorkflow.evolve(state, &read)
        });
        prop_assert_eq!(&replayed, &live);
        let erased = events.iter().map(forgotten);
        let erased = erased.fold(TripState::new(), |state, event| TripWorkflow.evolve(state, &event));
        prop_assert_eq!(&erased, &forgotten(&live));
        assert_round_trip(&live);
        assert_sound(&live);
        assert_sound(&erased);
    }
}
