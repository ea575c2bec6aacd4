//! The workflow `trip`: a trip from its opening to its withdrawal, with one step that leaves the house.
//!
//! **Guarantees:** at most one rebooking is open at the airline; what it was sent does not change until it has
//! answered; a status never goes back, and what does not fit is recorded and changes nothing. An extra that
//! nobody pays for makes the next move the user's, with a card that names this extra and no other.
//!
//! **Never here:** a claim that the airline did something before the airline said so.

mod answer;
mod command;
mod compile;
mod confirmation;
mod copy;
mod decide;
mod event;
mod evolve;
mod operations;
mod phrases;
mod policy;
mod project;
mod rebooking;
mod receipts;
mod refusal;
mod state;

#[cfg(test)]
mod decisions;
#[cfg(test)]
mod exploration;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod statements;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod wording;

pub use command::{Opening, TripCommand};
pub use event::TripEvent;
pub use policy::LARGE_ORDER_FROM;
pub use rebooking::{Anomaly, Rebooking, RebookingOutcome, RebookingStatus};
pub use receipts::{STATUS_ANOMALY, STATUS_OVERDUE};
pub use refusal::Refusal;
pub use state::{
    Departure, EXTRAS_MAX, Extra, ExtraKind, LEGS_MAX, Lifecycle, Payer, QUANTITY_MAX,
    TRAVELLERS_MAX, TripState,
};

use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{EffectId, Locale, TopicKey, WorkflowKey};
use turnframe_core::operation::{OperationSpec, TopicSpec};
use turnframe_core::plan::Rejection;
use turnframe_core::policy::CommandPolicy;
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft};
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::view::{Projection, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct, Workflow};

use crate::key::literal;

/// The obligation that every extra without a payer is. Its parameter is `extra-` and the extra's number.
pub const OBLIGATION_PAYER: &str = "payer";

/// The key of the workflow.
#[must_use]
pub fn key() -> WorkflowKey {
    literal("trip")
}

/// The workflow `trip`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TripWorkflow;

impl Workflow for TripWorkflow {
    type State = TripState;
    type Command = TripCommand;
    type Event = TripEvent;

    fn key(&self) -> WorkflowKey {
        key()
    }

    fn version(&self) -> u16 {
        2
    }

    fn event_schema(&self) -> u16 {
        2
    }

    /// Schema 1 did not count rebookings; everything else is as it was.
    fn upcast(&self, schema: u16, event: &Json) -> Result<TripEvent, String> {
        if !(1..=self.event_schema()).contains(&schema) {
            return Err(format!("no upcaster from event schema {schema}"));
        }
        event.read().map_err(|error| error.to_string())
    }

    fn operations(&self) -> Vec<OperationSpec> {
        operations::operations()
    }

    fn topics(&self) -> Vec<TopicSpec> {
        operations::topics()
    }

    fn initial(&self) -> TripState {
        TripState::new()
    }

    fn decide(
        &self,
        state: &TripState,
        command: &TripCommand,
        _now: Timestamp,
    ) -> Result<Decision<TripEvent>, Rejection> {
        decide::decide(state, command)
    }

    fn evolve(&self, state: TripState, event: &TripEvent) -> TripState {
        evolve::evolve(state, event)
    }

    fn project(&self, state: &TripState, locale: &Locale) -> Projection<TripCommand> {
        project::project(state, locale)
    }

    fn compile(
        &self,
        state: &TripState,
        act: &OperationAct<'_>,
    ) -> Result<TripCommand, CompileError> {
        compile::compile(state, act)
    }

    fn policy(&self, _state: &TripState, command: &TripCommand) -> CommandPolicy {
        policy::policy(command)
    }

    fn confirmation(
        &self,
        state: &TripState,
        command: &TripCommand,
        locale: &Locale,
    ) -> Confirmation {
        confirmation::confirmation(state, command, locale)
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<TripEvent>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Vec<ReceiptDraft> {
        receipts::receipts(events, view, locale)
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<TripCommand> {
        Some(rebooking::conclude(effect, conclusion))
    }

    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
        answer::answer(topic, view, locale)
    }

    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text {
        let detail = rejection.details.first().cloned().unwrap_or_default();
        copy::words(locale).refusal(Refusal::of_code(&rejection.code), &detail)
    }

    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String> {
        copy::words(locale).forbidden().iter().map(|phrase| (*phrase).to_owned()).collect()
    }
}
