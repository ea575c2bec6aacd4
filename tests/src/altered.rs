//! The trip as another release of it would be: with a stricter policy, or with a defect in a decision.
//!
//! What it stores is what the trip stores, so that a process with one goes on from where a process with the other
//! stopped.

use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{EffectId, Locale, SubjectId, TopicKey, WorkflowKey};
use turnframe_core::operation::{OperationSpec, TopicSpec};
use turnframe_core::plan::Rejection;
use turnframe_core::policy::CommandPolicy;
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft};
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::view::{Projection, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct, Workflow};
use turnframe_travel::trip::{TripCommand, TripEvent, TripState};
use turnframe_travel::{TravellerWorkflow, TripWorkflow};

type Police = fn(&TripCommand, CommandPolicy) -> CommandPolicy;
type Look = fn(&TripCommand);
type Show = fn(&TripEvent);
type Decide = fn(Decision<TripEvent>) -> Decision<TripEvent>;

/// The trip, altered.
#[derive(Debug, Clone, Copy)]
pub struct AlteredTrip {
    police: Police,
    before_decision: Look,
    after_decision: Decide,
    before_receipt: Show,
    before_evolution: Show,
}

impl Default for AlteredTrip {
    fn default() -> Self {
        Self {
            police: |_, policy| policy,
            before_decision: |_| {},
            after_decision: |decision| decision,
            before_receipt: |_| {},
            before_evolution: |_| {},
        }
    }
}

impl AlteredTrip {
    /// With a policy made of the one before.
    #[must_use]
    pub fn policing(self, police: Police) -> Self {
        Self { police, ..self }
    }

    /// With something that happens before each decision, such as a panic.
    #[must_use]
    pub fn deciding(self, before_decision: Look) -> Self {
        Self { before_decision, ..self }
    }

    /// With decisions made of those before.
    #[must_use]
    pub fn altering(self, after_decision: Decide) -> Self {
        Self { after_decision, ..self }
    }

    /// With something that happens before an event gets its receipt, such as a panic.
    #[must_use]
    pub fn rendering(self, before_receipt: Show) -> Self {
        Self { before_receipt, ..self }
    }

    /// With something that happens before a state takes an event in, such as a panic.
    #[must_use]
    pub fn evolving(self, before_evolution: Show) -> Self {
        Self { before_evolution, ..self }
    }

    /// The travel desk with this trip in place of its own.
    #[must_use]
    pub fn registry(self) -> WorkflowRegistry {
        let registry = WorkflowRegistry::new().with(self);
        let registry = registry.and_then(|registry| registry.with(TravellerWorkflow));
        registry.expect("the two workflows have two names")
    }
}

impl Workflow for AlteredTrip {
    type State = TripState;
    type Command = TripCommand;
    type Event = TripEvent;

    fn key(&self) -> WorkflowKey {
        TripWorkflow.key()
    }

    fn version(&self) -> u16 {
        TripWorkflow.version()
    }

    fn event_schema(&self) -> u16 {
        TripWorkflow.event_schema()
    }

    fn upcast(&self, schema: u16, event: &Json) -> Result<TripEvent, String> {
        TripWorkflow.upcast(schema, event)
    }

    fn operations(&self) -> Vec<OperationSpec> {
        TripWorkflow.operations()
    }

    fn topics(&self) -> Vec<TopicSpec> {
        TripWorkflow.topics()
    }

    fn initial(&self) -> TripState {
        TripWorkflow.initial()
    }

    fn decide(
        &self,
        state: &TripState,
        command: &TripCommand,
        now: Timestamp,
    ) -> Result<Decision<TripEvent>, Rejection> {
        (self.before_decision)(command);
        TripWorkflow.decide(state, command, now).map(self.after_decision)
    }

    fn evolve(&self, state: TripState, event: &TripEvent) -> TripState {
        (self.before_evolution)(event);
        TripWorkflow.evolve(state, event)
    }

    fn project(&self, state: &TripState, locale: &Locale) -> Projection<TripCommand> {
        TripWorkflow.project(state, locale)
    }

    fn compile(
        &self,
        state: &TripState,
        act: &OperationAct<'_>,
    ) -> Result<TripCommand, CompileError> {
        TripWorkflow.compile(state, act)
    }

    fn fill(
        &self,
        command: TripCommand,
        value: &str,
        speaker: &SubjectId,
    ) -> Result<TripCommand, Rejection> {
        TripWorkflow.fill(command, value, speaker)
    }

    fn policy(&self, state: &TripState, command: &TripCommand) -> CommandPolicy {
        (self.police)(command, TripWorkflow.policy(state, command))
    }

    fn confirmation(
        &self,
        state: &TripState,
        command: &TripCommand,
        locale: &Locale,
    ) -> Confirmation {
        TripWorkflow.confirmation(state, command, locale)
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<TripEvent>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Vec<ReceiptDraft> {
        events.iter().for_each(|event| (self.before_receipt)(&event.event));
        TripWorkflow.receipts(events, view, locale)
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<TripCommand> {
        TripWorkflow.conclude(effect, conclusion)
    }

    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
        TripWorkflow.answer(topic, view, locale)
    }

    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text {
        TripWorkflow.rejection(rejection, locale)
    }

    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String> {
        TripWorkflow.forbidden_phrases(locale)
    }
}
