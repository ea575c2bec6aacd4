//! Several workflows behind one type: how the runtime holds what adopters wrote.
//!
//! Commands and events travel as [`Json`], states as opaque values. [`Erased`] is the only place where
//! types are put back; text that does not fit them is a [`CorruptJson`], never a panic.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::canonical::Json;
use crate::event::CommittedEvent;
use crate::id::{EffectId, Locale, SubjectId, TopicKey, WorkflowKey};
use crate::operation::{OperationSpec, TopicSpec};
use crate::plan::Rejection;
use crate::policy::CommandPolicy;
use crate::receipt::{EffectConclusion, ReceiptDraft};
use crate::source::Timestamp;
use crate::text::Text;
use crate::understanding::{OfferedOperation, OfferedTopic};
use crate::view::{Projection, WorkflowView};
use crate::workflow::{
    CompileError, Confirmation, Decision, EffectRequest, OperationAct, Workflow,
};

/// A stored command, event or state that its workflow cannot read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{workflow}: {reason}")]
pub struct CorruptJson {
    /// The workflow.
    pub workflow: WorkflowKey,
    /// What does not fit.
    pub reason: String,
}

/// The state of a case without its type.
#[derive(Clone)]
pub struct ErasedState(Arc<dyn Any + Send + Sync>);

impl fmt::Debug for ErasedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedState")
    }
}

/// A decision without its types, with the state it leads to.
#[derive(Debug, Clone)]
pub struct ErasedDecision {
    /// What happened.
    pub events: Vec<Json>,
    /// What is to happen outside.
    pub effects: Vec<EffectRequest>,
    /// The state after the events.
    pub after: ErasedState,
}

/// An event as it is stored: its schema version and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// The version of the event's shape.
    pub schema: u16,
    /// The event.
    pub json: Json,
}

/// What a stored text comes to, or why it cannot be read.
pub type Erasure<T> = Result<T, CorruptJson>;

/// [`Workflow`] without its types. See there for what each function means.
#[expect(missing_docs, reason = "each function is documented at its twin in Workflow")]
pub trait ErasedWorkflow: Send + Sync + 'static {
    fn key(&self) -> &WorkflowKey;
    fn version(&self) -> u16;
    fn event_schema(&self) -> u16;
    fn operations(&self) -> &[OperationSpec];
    fn topics(&self) -> &[TopicSpec];
    fn initial(&self) -> ErasedState;
    fn decide(
        &self,
        state: &ErasedState,
        command: &Json,
        now: Timestamp,
    ) -> Erasure<Result<ErasedDecision, Rejection>>;
    fn evolve(&self, state: ErasedState, event: &StoredEvent) -> Erasure<ErasedState>;
    fn project(&self, state: &ErasedState, locale: &Locale) -> Erasure<Projection>;
    fn compile(
        &self,
        state: &ErasedState,
        act: &OperationAct<'_>,
    ) -> Erasure<Result<Json, CompileError>>;
    fn fill(
        &self,
        command: &Json,
        value: &str,
        speaker: &SubjectId,
    ) -> Erasure<Result<Json, Rejection>>;
    fn policy(&self, state: &ErasedState, command: &Json) -> Erasure<CommandPolicy>;
    fn confirmation(
        &self,
        state: &ErasedState,
        command: &Json,
        locale: &Locale,
    ) -> Erasure<Confirmation>;
    fn receipts(
        &self,
        events: &[CommittedEvent<StoredEvent>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Erasure<Vec<ReceiptDraft>>;
    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Erasure<Option<Json>>;
    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text>;
    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text;
    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String>;
    /// The state as text, where it reads back as the same state; otherwise it is never snapshotted.
    fn save(&self, state: &ErasedState) -> Option<Json>;
    /// A saved state.
    fn load(&self, saved: &Json) -> Erasure<ErasedState>;
}

/// A workflow without its types.
pub struct Erased<W> {
    workflow: W,
    key: WorkflowKey,
    operations: Vec<OperationSpec>,
    topics: Vec<TopicSpec>,
}

impl<W: Workflow> Erased<W> {
    /// Wraps a workflow.
    pub fn new(workflow: W) -> Self {
        let (key, operations, topics) = (workflow.key(), workflow.operations(), workflow.topics());
        Self { workflow, key, operations, topics }
    }

    fn corrupt(&self, reason: impl fmt::Display) -> CorruptJson {
        CorruptJson { workflow: self.key.clone(), reason: reason.to_string() }
    }

    fn state<'a>(&self, state: &'a ErasedState) -> Erasure<&'a W::State> {
        state.0.downcast_ref().ok_or_else(|| self.corrupt("the state is another workflow's"))
    }

    fn command(&self, command: &Json) -> Erasure<W::Command> {
        command.read().map_err(|error| self.corrupt(format_args!("command: {error}")))
    }

    fn json<T: serde::Serialize>(&self, value: &T) -> Erasure<Json> {
        Json::of(value).map_err(|error| self.corrupt(error))
    }

    fn event(&self, event: &StoredEvent) -> Erasure<W::Event> {
        let read = self.workflow.upcast(event.schema, &event.json);
        read.map_err(|error| self.corrupt(format_args!("event: {error}")))
    }
}

impl<W: Workflow> ErasedWorkflow for Erased<W> {
    fn key(&self) -> &WorkflowKey {
        &self.key
    }

    fn version(&self) -> u16 {
        self.workflow.version()
    }

    fn event_schema(&self) -> u16 {
        self.workflow.event_schema()
    }

    fn operations(&self) -> &[OperationSpec] {
        &self.operations
    }

    fn topics(&self) -> &[TopicSpec] {
        &self.topics
    }

    fn initial(&self) -> ErasedState {
        ErasedState(Arc::new(self.workflow.initial()))
    }

    fn decide(
        &self,
        state: &ErasedState,
        command: &Json,
        now: Timestamp,
    ) -> Erasure<Result<ErasedDecision, Rejection>> {
        let (state, command) = (self.state(state)?, self.command(command)?);
        let Decision { events, effects } = match self.workflow.decide(state, &command, now) {
            Ok(decision) => decision,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let evolve = |state, event| self.workflow.evolve(state, event);
        let after = events.iter().fold(state.clone(), evolve);
        let events = events.iter().map(|event| self.json(event)).collect::<Erasure<_>>()?;
        Ok(Ok(ErasedDecision { events, effects, after: ErasedState(Arc::new(after)) }))
    }

    fn evolve(&self, state: ErasedState, event: &StoredEvent) -> Erasure<ErasedState> {
        let event = self.event(event)?;
        let state = Arc::downcast::<W::State>(state.0)
            .map_err(|_| self.corrupt("the state is another workflow's"))?;
        let after = self.workflow.evolve(Arc::unwrap_or_clone(state), &event);
        Ok(ErasedState(Arc::new(after)))
    }

    fn project(&self, state: &ErasedState, locale: &Locale) -> Erasure<Projection> {
        let projection = self.workflow.project(self.state(state)?, locale);
        projection.check().map_err(|error| self.corrupt(error))?;
        let Projection { phase, obligations, label, aliases, facts, operations, required } =
            projection;
        let required =
            required.map(|card| card.try_map(|command| self.json(&command))).transpose()?;
        Ok(Projection { phase, obligations, label, aliases, facts, operations, required })
    }

    fn compile(
        &self,
        state: &ErasedState,
        act: &OperationAct<'_>,
    ) -> Erasure<Result<Json, CompileError>> {
        match self.workflow.compile(self.state(state)?, act) {
            Ok(command) => self.json(&command).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    fn fill(
        &self,
        command: &Json,
        value: &str,
        speaker: &SubjectId,
    ) -> Erasure<Result<Json, Rejection>> {
        match self.workflow.fill(self.command(command)?, value, speaker) {
            Ok(command) => self.json(&command).map(Ok),
            Err(rejection) => Ok(Err(rejection)),
        }
    }

    fn policy(&self, state: &ErasedState, command: &Json) -> Erasure<CommandPolicy> {
        Ok(self.workflow.policy(self.state(state)?, &self.command(command)?))
    }

    fn confirmation(
        &self,
        state: &ErasedState,
        command: &Json,
        locale: &Locale,
    ) -> Erasure<Confirmation> {
        let (state, command) = (self.state(state)?, self.command(command)?);
        Ok(self.workflow.confirmation(state, &command, locale))
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<StoredEvent>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Erasure<Vec<ReceiptDraft>> {
        let typed = |event: &CommittedEvent<StoredEvent>| {
            Ok(CommittedEvent {
                id: event.id,
                case: event.case.clone(),
                revision: event.revision,
                recorded_at: event.recorded_at,
                event: self.event(&event.event)?,
            })
        };
        let events = events.iter().map(typed).collect::<Erasure<Vec<_>>>()?;
        Ok(self.workflow.receipts(&events, view, locale))
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Erasure<Option<Json>> {
        self.workflow.conclude(effect, conclusion).map(|command| self.json(&command)).transpose()
    }

    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
        self.workflow.answer(topic, view, locale)
    }

    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text {
        self.workflow.rejection(rejection, locale)
    }

    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String> {
        self.workflow.forbidden_phrases(locale)
    }

    fn save(&self, state: &ErasedState) -> Option<Json> {
        let state = self.state(state).ok()?;
        let saved = Json::of(state).ok()?;
        let same = saved.read::<W::State>().is_ok_and(|read| read == *state);
        same.then_some(saved)
    }

    fn load(&self, saved: &Json) -> Erasure<ErasedState> {
        let state: W::State = saved.read().map_err(|error| self.corrupt(error))?;
        Ok(ErasedState(Arc::new(state)))
    }
}

/// The workflows of a deployment.
#[derive(Clone, Default)]
pub struct WorkflowRegistry {
    workflows: BTreeMap<WorkflowKey, Arc<dyn ErasedWorkflow>>,
}

impl fmt::Debug for WorkflowRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.workflows.keys()).finish()
    }
}

/// Two workflows with one key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two workflows are called {0}")]
pub struct RepeatedWorkflow(WorkflowKey);

impl WorkflowRegistry {
    /// A registry without workflows.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This registry and one more workflow.
    ///
    /// # Errors
    /// [`RepeatedWorkflow`] when its key is taken.
    pub fn with(mut self, workflow: impl Workflow) -> Result<Self, RepeatedWorkflow> {
        let workflow = Erased::new(workflow);
        let key = workflow.key.clone();
        match self.workflows.insert(key.clone(), Arc::new(workflow)) {
            None => Ok(self),
            Some(_) => Err(RepeatedWorkflow(key)),
        }
    }

    /// The workflow of a key.
    #[must_use]
    pub fn get(&self, key: &WorkflowKey) -> Option<&Arc<dyn ErasedWorkflow>> {
        self.workflows.get(key)
    }

    /// Every operation of every workflow: the offer of a turn.
    #[must_use]
    pub fn offered_operations(&self) -> Arc<[OfferedOperation]> {
        let of = |workflow: &Arc<dyn ErasedWorkflow>| {
            let key = workflow.key().clone();
            let offer = move |spec: &OperationSpec| OfferedOperation {
                workflow: key.clone(),
                spec: spec.clone(),
            };
            workflow.operations().iter().map(offer).collect::<Vec<_>>()
        };
        self.workflows.values().flat_map(of).collect()
    }

    /// Every topic of every workflow.
    #[must_use]
    pub fn offered_topics(&self) -> Arc<[OfferedTopic]> {
        let of = |workflow: &Arc<dyn ErasedWorkflow>| {
            let key = workflow.key().clone();
            let offer =
                move |spec: &TopicSpec| OfferedTopic { workflow: key.clone(), spec: spec.clone() };
            workflow.topics().iter().map(offer).collect::<Vec<_>>()
        };
        self.workflows.values().flat_map(of).collect()
    }

    /// All workflows in order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn ErasedWorkflow>> {
        self.workflows.values()
    }
}
