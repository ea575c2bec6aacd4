//! What the runtime writes into entries: one type per kind, version 1 of each.
//!
//! These shapes are read in ten years. A change keeps the old type beside the new one, with a frozen fixture.

use serde::{Deserialize, Serialize};
use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::canonical::Json;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    ActorId, CaseRef, CaseRevision, ConversationId, DestinationKey, EntryId, InteractionId, Locale,
    OptionId, TimerName, WorkflowKey,
};
use turnframe_core::interaction::{Interaction, InteractionStatus};
use turnframe_core::personal::Personal;
use turnframe_core::plan::{ActId, ActOutcome, ExecutionPlan};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::Timestamp;
use turnframe_core::understanding::Understanding;

/// The version of every shape in this module.
pub const SCHEMA: u16 = 1;

/// `conversation.opened`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationOpened {
    /// Who opened it.
    pub actor: ActorContext,
}

/// The click of a turn as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClickRecord {
    /// The card.
    pub interaction: InteractionId,
    /// The option.
    pub option: OptionId,
    /// The revision the client saw.
    pub expected_revision: CaseRevision,
    /// The value, where the option takes one.
    pub value: Option<Personal<String>>,
}

/// `turn.accepted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnAccepted {
    /// Who speaks.
    pub actor: ActorContext,
    /// What was said.
    pub text: Option<Personal<String>>,
    /// What was clicked.
    pub click: Option<ClickRecord>,
    /// Where the turn came from, unverified.
    pub origin: Option<String>,
}

/// How the message came to be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// There were no words.
    ClickAlone,
    /// A proposal was accepted whole. It copies the user's words, so it is theirs.
    Understood {
        /// Name and version of the interpreter.
        interpreter: String,
        /// The proposal.
        understanding: Personal<Understanding>,
        /// How often a proposal was sent back before.
        repaired: u32,
    },
    /// No proposal could be had or accepted. Nothing is done, and the user is told.
    Failed {
        /// Name and version of the interpreter.
        interpreter: String,
        /// A stable code.
        code: String,
    },
}

/// `turn.reduced`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnReduced {
    /// How the message came to be understood.
    pub reading: Reading,
    /// The workflows and the versions that reduced it (I20).
    pub workflows: Vec<(WorkflowKey, u16)>,
    /// What it comes to.
    pub plan: ExecutionPlan,
}

/// `turn.answered`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnAnswered {
    /// The answer, exactly as it is shown.
    pub answer: AssistantTurn,
    /// The cases the turn touched: where the conversation's cards may sit.
    pub touched: Vec<CaseRef>,
}

/// `update.posted`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatePosted {
    /// The case it is about.
    pub case: CaseRef,
    /// What is shown.
    pub blocks: Vec<ResponseBlock>,
}

/// `case.command`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseCommand {
    /// The act it ran for; none for what comes from outside.
    pub act: Option<ActId>,
    /// The conversation it concerns.
    pub conversation: ConversationId,
    /// The reader's language, for updates that follow.
    pub locale: Locale,
    /// Who or what authorised it.
    pub origin: CommandOrigin,
    /// The command.
    pub command: Json,
    /// The revision it was decided at.
    pub revision: CaseRevision,
    /// What it came to.
    pub outcome: ActOutcome,
}

/// `case.event`; the entry's schema version is the workflow's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseEvent {
    /// The revision its commit made.
    pub revision: CaseRevision,
    /// The domain event.
    pub event: Json,
}

/// `card.opened`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardOpened {
    /// The card.
    pub card: Interaction,
    /// The act it was drawn for; none where the state requires it.
    pub act: Option<ActId>,
    /// The stale card it stands in for.
    pub renews: Option<InteractionId>,
}

/// `card.closed`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardClosed {
    /// The card.
    pub card: InteractionId,
    /// What it is now.
    pub status: InteractionStatus,
    /// The option that closed it, where one did.
    pub option: Option<OptionId>,
}

/// `effect.requested`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectRequested {
    /// The case whose events it belongs to.
    pub case: CaseRef,
    /// The conversation that will be told.
    pub conversation: ConversationId,
    /// The reader's language.
    pub locale: Locale,
    /// Who asked for it.
    pub actor: ActorId,
    /// Where it goes.
    pub destination: DestinationKey,
    /// What the destination is asked to do.
    pub operation: String,
    /// With which content.
    pub payload: Json,
    /// Where it stands among the effects of its case: sorted as text, in the order in which they were asked for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub order: String,
}

/// `effect.dispatched`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectDispatched {
    /// Which attempt, from 1.
    pub attempt: u32,
}

/// `effect.deferred`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectDeferred {
    /// Which attempt.
    pub attempt: u32,
    /// Why.
    pub reason: DeferReason,
}

/// Why an effect waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeferReason {
    /// The attempt provably was not sent.
    NotSent,
    /// Neither was it, and nothing else reached the destination either: it does not count against the effect.
    Unavailable,
    /// A look-up did not find out what became of the attempt.
    StillUnknown,
}

/// `effect.concluded`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectConcluded {
    /// Which attempt.
    pub attempt: u32,
    /// What became of it.
    pub conclusion: EffectConclusion,
    /// Who says so.
    #[serde(default, skip_serializing_if = "ConclusionSource::is_answer")]
    pub source: ConclusionSource,
}

/// Who says what became of an attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConclusionSource {
    /// The receiver, in its answer; or nobody, where no answer came.
    #[default]
    Answer,
    /// The receiver, when it was asked.
    LookUp,
    /// The receiver, when it called back.
    Callback {
        /// What it calls the message.
        id: String,
    },
    /// An operator, who found it out in some other way.
    Operator {
        /// Who.
        operator: ActorId,
        /// How, in the operator's words.
        reason: Personal<String>,
    },
}

impl ConclusionSource {
    const fn is_answer(&self) -> bool {
        matches!(self, Self::Answer)
    }
}

/// `effect.parked`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectParked {
    /// Which attempt was the last.
    pub attempt: u32,
    /// Why nobody here can go on; where an operator has decided so, what is known of the attempts.
    pub reason: DeferReason,
    /// The operator who has decided so, where one has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ByOperator>,
}

/// Who decided something, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByOperator {
    /// Who.
    pub operator: ActorId,
    /// Why, in the operator's words.
    pub reason: Personal<String>,
}

/// `effect.nudged`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectNudged {
    /// Who has what comes next done at once.
    pub operator: ActorId,
    /// Why, in the operator's words.
    pub reason: Personal<String>,
}

/// `effect.released`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectReleased {
    /// Who decided that it may be sent again.
    pub operator: ActorId,
    /// Why, in the operator's words.
    pub reason: Personal<String>,
}

/// `timer.set`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerSet {
    /// Which timer; none where the domain actor failed and is to be shown what a command came to again.
    pub timer: Option<TimerName>,
    /// From when on it fires.
    pub at: Timestamp,
    /// The version, on its case's stream, of the command that led to the event.
    pub command: turnframe_ledger::Version,
    /// The event it is about; where there is no timer's name, the command.
    pub event: EntryId,
}

/// `timer.fired`, `timer.cancelled`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerOver {
    /// The entry that set it.
    pub set: EntryId,
}

/// A committed fact on its way to the next stream: `version:entry id` of the entry that states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FactKey {
    /// The entry's version in its stream.
    pub version: turnframe_ledger::Version,
    /// The entry.
    pub entry: EntryId,
}

impl std::fmt::Display for FactKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Padded, so that the facts of a stream sort in the order in which they were stated.
        write!(f, "{:012}:{}", self.version.0, self.entry)
    }
}

impl std::str::FromStr for FactKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (version, entry) = text.split_once(':').ok_or(())?;
        let version = turnframe_ledger::Version(version.parse().map_err(|_| ())?);
        Ok(Self { version, entry: entry.parse().map_err(|_| ())? })
    }
}
