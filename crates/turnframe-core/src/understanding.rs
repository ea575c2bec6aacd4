//! What an interpreter may propose, and the check that accepts it whole or refuses it whole (I9, I18).
//!
//! A proposal names operations of the turn's offer, records by the turn's handles or the user's words, and
//! values by pointers into the message. It carries no ids of its own: acts are numbered by the server in the
//! order in which they stand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{InteractionId, Locale, OperationRef, OptionId, SlotName, TopicKey, WorkflowKey};
use crate::operation::{OperationSpec, TopicSpec};
use crate::target::TargetToken;
use crate::words::{Message, Pointer, WordRange};

/// The most acts, questions and prohibitions that one message can hold, each.
pub const PROPOSALS_MAX: usize = 64;

/// What a message means, as proposed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Understanding {
    /// What is to be done.
    pub acts: Vec<ProposedAct>,
    /// What is asked.
    pub questions: Vec<ProposedQuestion>,
    /// What must not be done.
    pub prohibitions: Vec<Prohibition>,
    /// Words that ask for nothing, such as a greeting.
    pub remarks: Vec<WordRange>,
    /// Words that could not be read; the user is told.
    pub unread: Vec<WordRange>,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedAct {
    /// The words it was read from.
    pub source: WordRange,
    /// What it is.
    pub intent: Intent,
}

/// What an act is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Intent {
    /// An operation of the offer on a record.
    Operate {
        /// Which operation.
        operation: OperationRef,
        /// On which record.
        target: ProposedTarget,
        /// With which values.
        arguments: Vec<Argument>,
        /// Whether it was meant.
        mood: Mood,
        /// The earlier act of this message that it puts right, by index.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        corrects: Option<usize>,
    },
    /// An answer to an open card in words.
    Answer {
        /// Which card, where the words say so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<InteractionId>,
        /// Which option.
        option: OptionId,
    },
    /// Something is called off.
    Cancel(CancelTarget),
}

/// What is called off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CancelTarget {
    /// An earlier act of this message, by index.
    Act(usize),
    /// An open card.
    Card(InteractionId),
    /// Whatever card is open; several are ambiguous.
    OpenCard,
}

/// Whether an act was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mood {
    /// The user wants it done.
    Requested,
    /// The user wonders what would happen: a question, never an act.
    Hypothetical,
}

/// Which record an act or a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProposedTarget {
    /// A record in view.
    Handle(TargetToken),
    /// One that comes into being.
    New(WorkflowKey),
    /// The one that an earlier act of this message brings into being or is about, by index.
    Act(usize),
    /// Whatever these words name.
    Mention(Pointer),
    /// The words do not say.
    Unstated,
}

/// A value for a slot: a pointer to the user's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Which slot.
    pub slot: SlotName,
    /// The words.
    pub pointer: Pointer,
}

/// Something asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedQuestion {
    /// The words it was read from.
    pub source: WordRange,
    /// The workflow that may answer.
    pub workflow: WorkflowKey,
    /// What it is about.
    pub topic: TopicKey,
    /// Which record it is about.
    pub target: ProposedTarget,
}

/// Something that must not be done in this turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prohibition {
    /// The words it was read from.
    pub source: WordRange,
    /// What it forbids.
    pub scope: ProhibitionScope,
}

/// What a prohibition forbids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ProhibitionScope {
    /// These operations.
    Operations(Vec<OperationRef>),
    /// Whatever leaves the house: "do not submit".
    Submissions,
    /// Every change.
    Everything,
}

/// An operation in the offer of a turn.
#[derive(Debug, Clone)]
pub struct OfferedOperation {
    /// Which workflow offers it.
    pub workflow: WorkflowKey,
    /// Its declaration.
    pub spec: OperationSpec,
}

/// A topic in the offer of a turn.
#[derive(Debug, Clone)]
pub struct OfferedTopic {
    /// Which workflow answers it.
    pub workflow: WorkflowKey,
    /// Its declaration.
    pub spec: TopicSpec,
}

/// A record in view.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Its token in this turn.
    pub token: TargetToken,
    /// Its workflow.
    pub workflow: WorkflowKey,
    /// What people call it.
    pub names: Vec<String>,
}

/// An open card in view.
#[derive(Debug, Clone)]
pub struct CardInView {
    /// The card.
    pub id: InteractionId,
    /// Its options and the words that name them.
    pub options: Vec<(OptionId, String)>,
}

/// Everything an interpreter sees of a turn, and the offer its answer is checked against. It holds no
/// record's id, no retrieved content and nothing of another account.
#[derive(Debug, Clone)]
pub struct Brief {
    /// What the user said.
    pub message: Message,
    /// The actor's language.
    pub locale: Locale,
    /// What can be done; the same for every turn of a deployment, so it is shared.
    pub operations: Arc<[OfferedOperation]>,
    /// What can be answered.
    pub topics: Arc<[OfferedTopic]>,
    /// The records in view.
    pub handles: Vec<Handle>,
    /// The cards that are open here.
    pub cards: Vec<CardInView>,
}

/// Why a proposal is refused, whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnderstandingError {
    /// More than [`PROPOSALS_MAX`] of a kind.
    #[error("at most {PROPOSALS_MAX} acts, questions and prohibitions each")]
    TooMany,
    /// A range of words is empty or beyond the message.
    #[error("words {}..{} are not in the message", .0.start, .0.end)]
    Range(WordRange),
    /// A pointer's copy is not what stands there.
    #[error("the copy {:?} differs from words {}..{}", .0.copy, .0.words.start, .0.words.end)]
    Copy(Pointer),
    /// An operation is not on offer.
    #[error("{0} is not on offer")]
    Operation(OperationRef),
    /// A slot is not the operation's, or is filled twice.
    #[error("{operation} has no free slot {slot}")]
    Slot {
        /// The operation.
        operation: OperationRef,
        /// The slot.
        slot: SlotName,
    },
    /// A topic is not on offer.
    #[error("{0} has no topic {1}")]
    Topic(WorkflowKey, TopicKey),
    /// A handle is not in view.
    #[error("a handle is not in view")]
    Handle,
    /// The target does not fit the operation: new for one that creates, a record for all others.
    #[error("the target does not fit {0}")]
    Target(OperationRef),
    /// An act refers to one that does not come before it.
    #[error("act {0} refers to an act that does not come before it")]
    Reference(usize),
    /// A card or an option is not in view.
    #[error("a card or an option is not in view")]
    Card,
}

impl Understanding {
    /// Accepts the proposal whole, or says what is wrong with it.
    ///
    /// # Errors
    /// [`UnderstandingError`] for the first thing that is not of the offer or not of the user's words.
    pub fn check(&self, brief: &Brief) -> Result<(), UnderstandingError> {
        let most = self.acts.len().max(self.questions.len()).max(self.prohibitions.len());
        if most > PROPOSALS_MAX {
            return Err(UnderstandingError::TooMany);
        }
        let check = Check { brief };
        for (index, act) in self.acts.iter().enumerate() {
            check.act(index, act)?;
        }
        for question in &self.questions {
            check.question(self.acts.len(), question)?;
        }
        for prohibition in &self.prohibitions {
            check.prohibition(prohibition)?;
        }
        self.remarks.iter().chain(&self.unread).try_for_each(|words| check.range(*words))
    }
}

struct Check<'a> {
    brief: &'a Brief,
}

impl Check<'_> {
    fn act(&self, index: usize, act: &ProposedAct) -> Result<(), UnderstandingError> {
        self.range(act.source)?;
        match &act.intent {
            Intent::Operate { operation, target, arguments, corrects, .. } => {
                let spec = self.operation(operation)?;
                self.arguments(operation, spec, arguments)?;
                if matches!(target, ProposedTarget::New(_)) != spec.creates {
                    return Err(UnderstandingError::Target(operation.clone()));
                }
                self.target(index, &operation.workflow, target)?;
                match corrects {
                    Some(earlier) if *earlier >= index => Err(UnderstandingError::Reference(index)),
                    Some(_) | None => Ok(()),
                }
            }
            Intent::Answer { card, option } => self.answer(*card, option),
            Intent::Cancel(CancelTarget::Act(earlier)) if *earlier >= index => {
                Err(UnderstandingError::Reference(index))
            }
            Intent::Cancel(CancelTarget::Card(card)) => self.card(*card).map(|_| ()),
            Intent::Cancel(CancelTarget::Act(_) | CancelTarget::OpenCard) => Ok(()),
        }
    }

    fn question(&self, acts: usize, question: &ProposedQuestion) -> Result<(), UnderstandingError> {
        self.range(question.source)?;
        let offered = |topic: &OfferedTopic| {
            topic.workflow == question.workflow && topic.spec.key == question.topic
        };
        if !self.brief.topics.iter().any(offered) {
            let (workflow, topic) = (question.workflow.clone(), question.topic.clone());
            return Err(UnderstandingError::Topic(workflow, topic));
        }
        if matches!(question.target, ProposedTarget::New(_)) {
            return Err(UnderstandingError::Handle);
        }
        self.target(acts, &question.workflow, &question.target)
    }

    fn prohibition(&self, prohibition: &Prohibition) -> Result<(), UnderstandingError> {
        self.range(prohibition.source)?;
        match &prohibition.scope {
            ProhibitionScope::Operations(operations) => {
                operations.iter().try_for_each(|operation| self.operation(operation).map(|_| ()))
            }
            ProhibitionScope::Submissions | ProhibitionScope::Everything => Ok(()),
        }
    }

    fn operation(&self, operation: &OperationRef) -> Result<&OperationSpec, UnderstandingError> {
        let offered = |offer: &&OfferedOperation| {
            offer.workflow == operation.workflow && offer.spec.key == operation.operation
        };
        let found = self.brief.operations.iter().find(offered);
        found
            .map(|offer| &offer.spec)
            .ok_or_else(|| UnderstandingError::Operation(operation.clone()))
    }

    fn arguments(
        &self,
        operation: &OperationRef,
        spec: &OperationSpec,
        arguments: &[Argument],
    ) -> Result<(), UnderstandingError> {
        for (index, argument) in arguments.iter().enumerate() {
            let known = spec.slots.iter().any(|slot| slot.name == argument.slot);
            let twice = arguments[..index].iter().any(|other| other.slot == argument.slot);
            if !known || twice {
                let (operation, slot) = (operation.clone(), argument.slot.clone());
                return Err(UnderstandingError::Slot { operation, slot });
            }
            self.pointer(&argument.pointer)?;
        }
        Ok(())
    }

    fn target(
        &self,
        index: usize,
        workflow: &WorkflowKey,
        target: &ProposedTarget,
    ) -> Result<(), UnderstandingError> {
        match target {
            ProposedTarget::Handle(token) => {
                let in_view =
                    |handle: &Handle| handle.token == *token && handle.workflow == *workflow;
                let known = self.brief.handles.iter().any(in_view);
                if known { Ok(()) } else { Err(UnderstandingError::Handle) }
            }
            ProposedTarget::New(key) if key != workflow => Err(UnderstandingError::Handle),
            ProposedTarget::Act(earlier) if *earlier >= index => {
                Err(UnderstandingError::Reference(index))
            }
            ProposedTarget::Mention(pointer) => self.pointer(pointer),
            ProposedTarget::New(_) | ProposedTarget::Act(_) | ProposedTarget::Unstated => Ok(()),
        }
    }

    fn answer(
        &self,
        card: Option<InteractionId>,
        option: &OptionId,
    ) -> Result<(), UnderstandingError> {
        let offers = |card: &CardInView| card.options.iter().any(|(id, _)| id == option);
        let known = match card {
            Some(id) => offers(self.card(id)?),
            None => self.brief.cards.iter().any(offers),
        };
        if known { Ok(()) } else { Err(UnderstandingError::Card) }
    }

    fn card(&self, id: InteractionId) -> Result<&CardInView, UnderstandingError> {
        self.brief.cards.iter().find(|card| card.id == id).ok_or(UnderstandingError::Card)
    }

    fn pointer(&self, pointer: &Pointer) -> Result<(), UnderstandingError> {
        self.range(pointer.words)?;
        let holds = self.brief.message.holds(pointer);
        if holds { Ok(()) } else { Err(UnderstandingError::Copy(pointer.clone())) }
    }

    fn range(&self, words: WordRange) -> Result<(), UnderstandingError> {
        let there = self.brief.message.slice(words).is_some();
        if there { Ok(()) } else { Err(UnderstandingError::Range(words)) }
    }
}
