//! A turn's way: gather, understand, resolve, reduce, police, persist, execute, compose, answer.
//!
//! [`TurnEngine::run`] is the whole of it as one function over ports. Whatever was recorded before is not
//! done again: a turn that was only accepted is understood, one that was reduced executes its plan by
//! idempotency key, and a model is never asked after `turn.reduced` (I17). It holds no lock and no state
//! between turns; killed at any await, the next start calls it again with what the ledger holds.

mod conversation;
mod gather;
mod settle;
mod understand;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use turnframe_core::block::AssistantTurn;
use turnframe_core::id::{AccountId, CaseRef, CaseRevision, ConversationId, IdError, TurnId};
use turnframe_core::interaction::Interaction;
use turnframe_core::plan::{ActId, ActOutcome, Disposition, PlannedAct};
use turnframe_core::reduce::TurnInput;
use turnframe_core::registry::{CorruptJson, ErasedState, WorkflowRegistry};
use turnframe_core::source::IdSource;
use turnframe_core::understanding::{OfferedOperation, OfferedTopic, Understanding};
use turnframe_core::words::{Message, MessageError};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{EventLedger, ReadError, Version};

use crate::compose::{ComposeError, words};
use crate::execute::CaseJob;
use crate::fold::FoldError;
use crate::fold::conversation::UnfinishedTurn;
use crate::port::{CaseDirectory, DirectoryError, Interpreter, Narrator};
use crate::record::{Reading, TurnAnswered, TurnReduced};

pub use conversation::{AppendOfError, TurnRecord, append_of};
pub use gather::{find_card, find_closed, find_entry};
pub use settle::Settled;
pub use understand::UNDERSTAND_ATTEMPTS_MAX;

/// How long an interpreter may take before the turn goes on without it.
pub const UNDERSTAND_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest words of a narrator, in bytes; longer ones give way to the server's.
pub const NARRATION_MAX_BYTES: usize = 4 * 1024;
/// How long a narrator may take before the reply goes out in the server's words.
pub const NARRATE_TIMEOUT: Duration = Duration::from_secs(10);

/// A case as its actor holds it.
#[derive(Debug, Clone)]
pub struct OpenCase {
    /// The last entry of its stream.
    pub version: Version,
    /// Its revision.
    pub revision: CaseRevision,
    /// Its state.
    pub state: ErasedState,
    /// Its open cards, of whatever conversation.
    pub cards: Vec<Interaction>,
}

/// What became of a job.
#[derive(Debug, Clone)]
pub struct CaseReport {
    /// The outcome of each step, in order.
    pub outcomes: Vec<ActOutcome>,
    /// The entry that records each step, where one does.
    pub recorded: Vec<Option<Version>>,
    /// The case at the revision that the job committed, and its cards as they are now.
    pub case: OpenCase,
}

/// A case could not be reached, or its stream stopped. Nothing is known to have been written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{case}: {reason}")]
pub struct CaseError {
    /// Which case.
    pub case: CaseRef,
    /// What went wrong, for an operator.
    pub reason: String,
    /// Whether it may well work later. A corrupt stream stays corrupt.
    pub is_transient: bool,
}

/// The way down to the cases.
#[async_trait]
pub trait Cases: Send + Sync {
    /// A case as its actor holds it.
    async fn open(&self, account: &AccountId, case: &CaseRef) -> Result<OpenCase, CaseError>;

    /// Runs a job. When the answer is lost, the same job may be run again: its keys repeat its outcomes.
    async fn execute(&self, job: CaseJob) -> Result<CaseReport, CaseError>;
}

/// The way back to the conversation's own stream: only its actor appends to it.
#[async_trait]
pub trait Recorder: Send + Sync {
    /// Records a stage of a turn. Durable when it returns.
    async fn record(&self, turn: &TurnId, record: TurnRecord) -> Result<(), RecordError>;
}

/// A stage could not be recorded: another owner went on with the conversation, the ledger is away, or it refuses the
/// stage for what it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the turn could not be recorded: {reason}")]
pub struct RecordError {
    /// What went wrong, for an operator.
    pub reason: String,
    /// Whether it may well work later. What is refused for what it is will be refused again.
    pub is_transient: bool,
}

impl RecordError {
    /// Something was away or in the way.
    #[must_use]
    pub fn away(reason: impl std::fmt::Display) -> Self {
        Self { reason: reason.to_string(), is_transient: true }
    }

    /// The stage cannot be stored.
    #[must_use]
    pub fn refused(reason: impl std::fmt::Display) -> Self {
        Self { reason: reason.to_string(), is_transient: false }
    }
}

/// Why a turn stopped. It stays unfinished on the ledger and is resumed from what is recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The directory did not answer (I19).
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A case could not be reached.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A stage could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The ledger could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An entry cannot be read.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A command, event or state cannot be read.
    #[error(transparent)]
    Corrupt(#[from] CorruptJson),
    /// The reply did not pass.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// A recorded message is none.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// An id or a key cannot be made.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
    /// Code of a workflow or of ours panicked.
    #[error("the turn panicked")]
    Panicked,
}

impl TurnError {
    /// Whether trying again may well work: something was away. Everything else fails the same way again.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Read(ReadError::Unavailable { .. }) => true,
            Self::Record(error) => error.is_transient,
            Self::Case(error) => error.is_transient,
            Self::Read(_)
            | Self::Fold(_)
            | Self::Corrupt(_)
            | Self::Compose(_)
            | Self::Message(_)
            | Self::Id(_)
            | Self::Key(_)
            | Self::Panicked => false,
        }
    }
}

/// What a turn needs to know of its conversation.
#[derive(Debug, Clone)]
pub struct ConversationContext {
    /// The conversation.
    pub conversation: ConversationId,
    /// Cases it has touched, latest first.
    pub touched: Vec<CaseRef>,
    /// Its open choices between records.
    pub choices: Vec<Interaction>,
}

/// Everything a turn is run with.
pub struct TurnEngine {
    registry: WorkflowRegistry,
    operations: Arc<[OfferedOperation]>,
    topics: Arc<[OfferedTopic]>,
    interpreter: Arc<dyn Interpreter>,
    narrator: Option<Arc<dyn Narrator>>,
    directory: Arc<dyn CaseDirectory>,
    ledger: Arc<dyn EventLedger>,
    ids: IdSource,
}

/// The ports of a [`TurnEngine`].
pub struct TurnPorts {
    /// The workflows.
    pub registry: WorkflowRegistry,
    /// Proposes what messages mean.
    pub interpreter: Arc<dyn Interpreter>,
    /// Words replies, where a model does.
    pub narrator: Option<Arc<dyn Narrator>>,
    /// Says which cases an actor may address.
    pub directory: Arc<dyn CaseDirectory>,
    /// The only source of state.
    pub ledger: Arc<dyn EventLedger>,
    /// Time, randomness and ids.
    pub ids: IdSource,
}

impl TurnEngine {
    /// An engine over its ports.
    #[must_use]
    pub fn new(ports: TurnPorts) -> Self {
        Self {
            operations: ports.registry.offered_operations(),
            topics: ports.registry.offered_topics(),
            registry: ports.registry,
            interpreter: ports.interpreter,
            narrator: ports.narrator,
            directory: ports.directory,
            ledger: ports.ledger,
            ids: ports.ids,
        }
    }

    /// The workflows.
    #[must_use]
    pub fn registry(&self) -> &WorkflowRegistry {
        &self.registry
    }

    /// Where ids and times come from.
    #[must_use]
    pub fn ids(&self) -> &IdSource {
        &self.ids
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &dyn CaseDirectory {
        self.directory.as_ref()
    }

    /// Takes a turn from where the ledger has it to its recorded answer.
    ///
    /// # Errors
    /// [`TurnError`] when it has to stop; what is recorded stays, and the turn is resumed from there.
    pub async fn run(
        &self,
        context: &ConversationContext,
        turn: UnfinishedTurn,
        cases: &dyn Cases,
        recorder: &dyn Recorder,
    ) -> Result<AssistantTurn, TurnError> {
        let message = match turn.accepted.text.as_ref().and_then(|text| text.value()) {
            Some(text) => Some(Message::new(text.clone())?),
            None => None,
        };
        let reduced = match turn.reduced.clone() {
            Some(reduced) => reduced,
            None => {
                let reduced = self.reduce(context, &turn, message.as_ref(), cases).await?;
                let record = TurnRecord::Reduced(Box::new(reduced.clone()));
                recorder.record(&turn.turn, record).await?;
                reduced
            }
        };
        let settled = self.settle(context, &turn, &reduced, cases).await?;
        let answer = self.answer(context, &turn, message.as_ref(), &reduced, &settled).await?;
        let touched = settled.touched();
        let answered = TurnAnswered { answer: answer.clone(), touched };
        recorder.record(&turn.turn, TurnRecord::Answered(Box::new(answered))).await?;
        Ok(answer)
    }

    /// Steps 2 to 6: everything up to the plan, with nothing changed anywhere.
    async fn reduce(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        message: Option<&Message>,
        cases: &dyn Cases,
    ) -> Result<TurnReduced, TurnError> {
        let actor = &turn.accepted.actor;
        let click = self.find_click(context, turn).await?;
        let gathered = self.gather(context, turn, click, cases).await?;
        let nothing = Understanding::default();
        let reading = match message {
            None => Reading::ClickAlone,
            Some(message) => self.understand(context, turn, message, &gathered).await?,
        };
        let understanding = match &reading {
            Reading::Understood { understanding, .. } => understanding.value().unwrap_or(&nothing),
            Reading::ClickAlone | Reading::Failed { .. } => &nothing,
        };
        let mut plan = turnframe_core::reduce::reduce(&TurnInput {
            conversation: &context.conversation,
            turn: &turn.turn,
            actor,
            speaker: &actor.subject()?,
            now: self.ids.now(),
            registry: &self.registry,
            understanding,
            words_failed: matches!(reading, Reading::Failed { .. }),
            targets: &gathered.targets,
            cases: &gathered.cases,
            choices: &context.choices,
            click: gathered.click.as_ref(),
            words: &words::choice(&actor.locale),
            ids: &self.ids,
        })?;
        if turn.accepted.click.is_some() && gathered.click.is_none() {
            plan.acts.insert(0, unreachable_click());
        }
        let workflows = self.registry.iter().map(|it| (it.key().clone(), it.version())).collect();
        Ok(TurnReduced { reading, workflows, plan })
    }
}

/// A click whose card is not this actor's to answer: the same answer as for a card that never was.
fn unreachable_click() -> PlannedAct {
    PlannedAct {
        id: ActId::CLICK,
        source: None,
        operation: None,
        disposition: Disposition::Final(ActOutcome::NoCard),
    }
}
