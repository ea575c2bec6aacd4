//! Domain actors: what an adopter has follow the events of a workflow and answer with commands: a deadline, a
//! poller, a saga.
//!
//! **Guarantees:** every event is shown at least once, the events of a case in their order unless one failed and is
//! shown again later; also events of before the actor was installed, and those committed while no process ran it.
//! A command that one event or one timer leads to runs at most once, whatever is shown again; where the second answer is
//! another one, what is new in it is carried out as well. A timer fires after its moment, also after a restart.
//! **Never:** a command that the case did not decide itself.
//!
//! An actor is also shown what its own commands came to: one that answers its own events with a command again and again
//! does so for ever, as far as the case lets it.

use async_trait::async_trait;
use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{CaseRef, DomainActorKey, TimerName, WorkflowKey};
use turnframe_core::registry::{CorruptJson, StoredEvent};
use turnframe_core::source::Timestamp;
use turnframe_core::workflow::Workflow;

/// The most that a domain actor may ask for at once.
pub const REACTIONS_MAX: usize = 16;

/// What a domain actor asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// Runs a command on a case of the event's account, of whatever workflow. The case decides at the revision it then
    /// has; `decide` must be total on it, as it is on what comes from outside. What it comes to is told in the
    /// conversation that the case concerned last; a case that nobody has asked anything of yet is not there.
    Run {
        /// On which case.
        case: CaseRef,
        /// The command.
        command: Json,
    },
    /// Has [`DomainActor::fire`] called with the same event once the moment has come, in place of an earlier timer of
    /// this name for this case.
    Wake {
        /// The timer.
        timer: TimerName,
        /// From when on.
        at: Timestamp,
    },
    /// Takes back the timer of this name that this case's events up to this one set.
    Cancel {
        /// The timer.
        timer: TimerName,
    },
}

impl Reaction {
    /// Runs a command of a workflow.
    ///
    /// # Errors
    /// [`ReactError::Failed`] when the command cannot be written as JSON.
    pub fn run<W: Workflow>(case: CaseRef, command: &W::Command) -> Result<Self, ReactError> {
        let command = Json::of(command).map_err(ReactError::failed)?;
        Ok(Self::Run { case, command })
    }
}

/// Why a domain actor does not know what to ask for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReactError {
    /// The event cannot be read. An operator is told, and the event is shown again later.
    #[error(transparent)]
    Corrupt(#[from] CorruptJson),
    /// It could not find out; the event is shown again later.
    #[error("{0}")]
    Failed(String),
}

impl ReactError {
    /// It could not find out, for this reason.
    #[must_use]
    pub fn failed(reason: impl std::fmt::Display) -> Self {
        Self::Failed(reason.to_string())
    }
}

/// An event of the workflow that a domain actor follows.
pub type EventOf<A> = CommittedEvent<<<A as DomainActor>::Workflow as Workflow>::Event>;

/// A process that follows a workflow.
///
/// It may do I/O, and whatever it does outside is done again where it is shown an event again: an effect that has to be
/// accounted for is a case's to request.
#[async_trait]
pub trait DomainActor: Send + Sync + 'static {
    /// What it follows.
    type Workflow: Workflow;

    /// Names it. Stored with its cursor and its timers; never changes.
    fn key(&self) -> DomainActorKey;

    /// The workflow it follows.
    fn workflow(&self) -> &Self::Workflow;

    /// What an event asks for. Who installs an actor late, and does not want what happened before, leaves out what was
    /// recorded before a moment of the actor's own.
    ///
    /// # Errors
    /// [`ReactError`]: the event is shown again, at first soon, and after a few times later than those behind it.
    async fn react(&self, event: &EventOf<Self>) -> Result<Vec<Reaction>, ReactError>;

    /// What a timer asks for that this event set.
    ///
    /// # Errors
    /// [`ReactError`]: the timer fires again later.
    async fn fire(
        &self,
        timer: &TimerName,
        event: &EventOf<Self>,
    ) -> Result<Vec<Reaction>, ReactError> {
        let _ = (timer, event);
        Ok(Vec::new())
    }
}

/// [`DomainActor`] without its types. See there for what each function means.
#[async_trait]
#[expect(missing_docs, reason = "each function is documented at its twin in DomainActor")]
pub trait ErasedDomainActor: Send + Sync + 'static {
    fn key(&self) -> DomainActorKey;
    fn follows(&self) -> WorkflowKey;
    async fn react(&self, event: &CommittedEvent<StoredEvent>)
    -> Result<Vec<Reaction>, ReactError>;
    async fn fire(
        &self,
        timer: &TimerName,
        event: &CommittedEvent<StoredEvent>,
    ) -> Result<Vec<Reaction>, ReactError>;
}

fn typed<A: DomainActor>(
    actor: &A,
    event: &CommittedEvent<StoredEvent>,
) -> Result<EventOf<A>, CorruptJson> {
    let workflow = actor.workflow();
    let read = workflow.upcast(event.event.schema, &event.event.json);
    let corrupt = |reason| CorruptJson { workflow: workflow.key(), reason };
    Ok(CommittedEvent {
        id: event.id,
        case: event.case.clone(),
        revision: event.revision,
        recorded_at: event.recorded_at,
        event: read.map_err(corrupt)?,
    })
}

#[async_trait]
impl<A: DomainActor> ErasedDomainActor for A {
    fn key(&self) -> DomainActorKey {
        DomainActor::key(self)
    }

    fn follows(&self) -> WorkflowKey {
        self.workflow().key()
    }

    async fn react(
        &self,
        event: &CommittedEvent<StoredEvent>,
    ) -> Result<Vec<Reaction>, ReactError> {
        DomainActor::react(self, &typed(self, event)?).await
    }

    async fn fire(
        &self,
        timer: &TimerName,
        event: &CommittedEvent<StoredEvent>,
    ) -> Result<Vec<Reaction>, ReactError> {
        DomainActor::fire(self, timer, &typed(self, event)?).await
    }
}
