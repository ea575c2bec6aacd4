//! The sample domain: a travel desk.
//!
//! It shows what an adopter writes, and nothing of how it is run. Two workflows share one registry:
//!
//! - [`trip`]: a trip with travellers, extras that somebody has to pay, and a rebooking at an airline, which is
//!   the one thing here that leaves the house;
//! - [`traveller`]: a person on file, whose missing name is asked for by a card.
//!
//! [`airline`] is the other side: a destination that speaks HTTP, and a simulator with a book of its own to
//! check it against.
//!
//! **Guarantees:** decisions, folds, projections and words are pure functions of what they are given. What
//! leaves for the airline is in the same append as the event that says so. Nothing is worded as having
//! happened outside before the airline said it.
//!
//! **Never here:** a clock, randomness, a store, a model, or a word about how a turn is run.

pub mod airline;
pub mod deadline;
pub mod traveller;
pub mod trip;

mod key;
mod language;
mod slots;
mod text_rule;

#[cfg(test)]
mod testing;

pub use airline::{AirlineDestination, AirlineSimulator};
pub use deadline::AnswerDeadline;
pub use traveller::TravellerWorkflow;
pub use trip::TripWorkflow;

use turnframe_core::registry::WorkflowRegistry;

/// The travel desk's workflows.
#[must_use]
pub fn registry() -> WorkflowRegistry {
    WorkflowRegistry::new()
        .with(TripWorkflow)
        .and_then(|registry| registry.with(TravellerWorkflow))
        .expect("the two workflows have two names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_holds_both_workflows_and_an_operation_is_named_once_in_each() {
        let registry = registry();
        let keys: Vec<_> = registry.iter().map(|workflow| workflow.key().to_string()).collect();
        assert_eq!(keys, ["traveller", "trip"]);
        for workflow in registry.iter() {
            let mut keys: Vec<_> = workflow.operations().iter().map(|spec| &spec.key).collect();
            let declared = keys.len();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), declared);
        }
    }
}
