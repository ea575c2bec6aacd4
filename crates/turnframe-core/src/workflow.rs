//! The workflow: what an adopter writes.
//!
//! Everything here is pure. `decide` and `evolve` are the same functions live and on replay; `now` and
//! fresh ids are arguments. Nothing of a workflow sees the transcript, the clock or a model.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::canonical::Json;
use crate::event::CommittedEvent;
use crate::id::{
    DestinationKey, EffectId, Locale, OperationKey, SlotName, SubjectId, TopicKey, WorkflowKey,
};
use crate::operation::{OperationSpec, SlotValue, TopicSpec};
use crate::plan::Rejection;
use crate::policy::CommandPolicy;
use crate::receipt::{EffectConclusion, ReceiptDraft};
use crate::source::Timestamp;
use crate::text::Text;
use crate::value::ValueError;
use crate::view::{Projection, WorkflowView};

/// An act as compilation sees it: values computed from the user's words.
#[derive(Debug, Clone)]
pub struct OperationAct<'a> {
    /// Which operation.
    pub operation: &'a OperationKey,
    /// Its values.
    pub values: &'a BTreeMap<SlotName, SlotValue>,
    /// Names whatever the command brings into being; recorded with the plan.
    pub fresh: Uuid,
    /// Whose words these are.
    pub speaker: &'a SubjectId,
    /// The moment of the turn.
    pub now: Timestamp,
}

/// Why an act does not become a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    /// The workflow has no such operation, or not in this state.
    NotOnOffer,
    /// A value is missing or does not fit.
    Incomplete {
        /// Which slot.
        slot: SlotName,
        /// What is wrong with it.
        why: ValueError,
    },
    /// The domain refuses it.
    Rejected(Rejection),
}

/// An external effect that belongs to the events beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectRequest {
    /// Where it goes.
    pub destination: DestinationKey,
    /// What the destination is asked to do.
    pub operation: String,
    /// With which content.
    pub payload: Json,
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision<E> {
    /// What happened. None at all means that nothing had to.
    pub events: Vec<E>,
    /// What is to happen outside.
    pub effects: Vec<EffectRequest>,
}

impl<E> Decision<E> {
    /// Events without effects.
    #[must_use]
    pub fn events(events: impl IntoIterator<Item = E>) -> Self {
        Self { events: events.into_iter().collect(), effects: Vec::new() }
    }

    /// These events and one more effect.
    #[must_use]
    pub fn with_effect(mut self, effect: EffectRequest) -> Self {
        self.effects.push(effect);
        self
    }
}

/// What a confirmation card says of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The question.
    pub title: Text,
    /// What exactly would be done.
    pub lines: Vec<Text>,
    /// The words of the option that confirms.
    pub confirm: Text,
    /// The words of the option that declines.
    pub decline: Text,
}

/// A kind of case: state, commands, events, and everything that is decided about them.
pub trait Workflow: Send + Sync + 'static {
    /// The fold of a case's events.
    type State: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What can be asked of a case.
    type Command: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What can have happened to a case.
    type Event: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// Names the workflow. Stored; never changes.
    fn key(&self) -> WorkflowKey;

    /// The version of `evolve` and `State`: a snapshot of another version is folded anew.
    fn version(&self) -> u16;

    /// The version of the events written today.
    fn event_schema(&self) -> u16 {
        1
    }

    /// Reads an event of an older schema. A workflow that changes an event keeps a frozen fixture of it.
    ///
    /// # Errors
    /// Any text: the entry is corrupt, and its stream stops.
    fn upcast(&self, schema: u16, event: &Json) -> Result<Self::Event, String> {
        if schema != self.event_schema() {
            return Err(format!("no upcaster from event schema {schema}"));
        }
        event.read().map_err(|error| error.to_string())
    }

    /// The operations it offers, in all states.
    fn operations(&self) -> Vec<OperationSpec>;

    /// The questions it answers.
    fn topics(&self) -> Vec<TopicSpec> {
        Vec::new()
    }

    /// The state of a case that does not exist yet.
    fn initial(&self) -> Self::State;

    /// What a command comes to in a state.
    ///
    /// # Errors
    /// A [`Rejection`], which is a value and not a failure.
    fn decide(
        &self,
        state: &Self::State,
        command: &Self::Command,
        now: Timestamp,
    ) -> Result<Decision<Self::Event>, Rejection>;

    /// The state after an event. Total: what was committed cannot be refused.
    fn evolve(&self, state: Self::State, event: &Self::Event) -> Self::State;

    /// The view of a state in a language (I2).
    fn project(&self, state: &Self::State, locale: &Locale) -> Projection<Self::Command>;

    /// Turns an act into a command.
    ///
    /// # Errors
    /// [`CompileError`] with what the user has to be told.
    fn compile(
        &self,
        state: &Self::State,
        act: &OperationAct<'_>,
    ) -> Result<Self::Command, CompileError>;

    /// Puts a card's free value into its command.
    ///
    /// # Errors
    /// A [`Rejection`]; by default a command takes no value.
    fn fill(
        &self,
        command: Self::Command,
        value: &str,
        speaker: &SubjectId,
    ) -> Result<Self::Command, Rejection> {
        let _ = (command, value, speaker);
        Err(Rejection::new("value_not_taken"))
    }

    /// What a command may do without a click. A command that nobody classified gets the strictest.
    fn policy(&self, state: &Self::State, command: &Self::Command) -> CommandPolicy {
        let _ = (state, command);
        CommandPolicy::strictest()
    }

    /// What the confirmation card of a command says. It must show every value of the command.
    fn confirmation(
        &self,
        state: &Self::State,
        command: &Self::Command,
        locale: &Locale,
    ) -> Confirmation;

    /// Receipts of committed events (ADR-005). Together they cite every event that is given.
    fn receipts(
        &self,
        events: &[CommittedEvent<Self::Event>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Vec<ReceiptDraft>;

    /// The command that carries an effect's conclusion to its case. `decide` must be total on it: apply it,
    /// or record an anomaly. `None` where the workflow requests no effects.
    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<Self::Command> {
        let _ = (effect, conclusion);
        None
    }

    /// Answers a question from a view: an explanation, never a claim.
    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
        let _ = (topic, view, locale);
        None
    }

    /// Words a rejection.
    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text;

    /// Phrases that a model's words must not contain, folded (the guardrail of ADR-005).
    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String> {
        let _ = locale;
        Vec::new()
    }
}
