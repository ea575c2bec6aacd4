//! The execution plan: exactly one result per act, decided before the first effect (I10, I11).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical::Json;
use crate::id::{
    CaseRef, CaseRevision, EffectId, EntryId, InteractionId, OperationRef, OptionId, SlotName,
    TopicKey,
};
use crate::interaction::{Interaction, InteractionStatus};
use crate::policy::{CommandOrigin, CommandPolicy};
use crate::source::Timestamp;
use crate::value::ValueError;
use crate::words::WordRange;

/// An act of a turn. The server numbers them: 0 is the click, text acts follow in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActId(pub u16);

impl ActId {
    /// The click of a turn.
    pub const CLICK: Self = Self(0);
}

impl fmt::Display for ActId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

/// Why the domain refuses a command. The domain words it in the reader's language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// A stable code of the domain.
    pub code: String,
    /// What the words need to know, such as the value that was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<crate::text::Text>,
}

impl Rejection {
    /// A rejection without details.
    #[must_use]
    pub fn new(code: impl Into<String>) -> Self {
        Self { code: code.into(), details: Vec::new() }
    }

    /// This rejection with one more detail.
    #[must_use]
    pub fn with(mut self, detail: impl Into<crate::text::Text>) -> Self {
        self.details.push(detail.into());
        self
    }
}

/// What became of an act. Every act of a turn has exactly one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActOutcome {
    /// Its events are committed.
    Applied {
        /// The case.
        case: CaseRef,
        /// The revision its commit made.
        revision: CaseRevision,
        /// The events, which authorise its receipt.
        events: Vec<EntryId>,
        /// External effects requested with them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        effects: Vec<EffectId>,
    },
    /// The domain refused it.
    Rejected {
        /// The case.
        case: CaseRef,
        /// Why.
        rejection: Rejection,
    },
    /// The case moved between the reading and the writing (I13).
    RevisionConflict {
        /// The case.
        case: CaseRef,
        /// What the plan was made for.
        expected: CaseRevision,
        /// What the case is at.
        actual: CaseRevision,
    },
    /// It needs a click, and this card asks for it.
    AwaitingConfirmation {
        /// The card.
        card: InteractionId,
    },
    /// It needs a click, and another card holds the case's only slot (I5).
    Waiting {
        /// The card that holds it.
        card: InteractionId,
    },
    /// It needs a click, and a card of another conversation holds the slot.
    WaitingElsewhere,
    /// The card was answered with no, or put away.
    CardClosed {
        /// The card.
        card: InteractionId,
        /// What it is now.
        status: InteractionStatus,
    },
    /// The card had been answered before; the first resolution stands.
    AlreadyResolved {
        /// The card.
        card: InteractionId,
        /// What it is.
        status: InteractionStatus,
    },
    /// The case moved on since the card was drawn.
    StaleCard {
        /// The old card.
        card: InteractionId,
        /// A fresh one for the same command, where it can still be decided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fresh: Option<InteractionId>,
    },
    /// Words cannot answer this card; only a click can.
    NeedsClick {
        /// The card.
        card: InteractionId,
    },
    /// The words do not say which card is meant.
    AmbiguousCard {
        /// The cards it may be.
        cards: Vec<InteractionId>,
    },
    /// There is no card to answer or to put away.
    NoCard,
    /// A prohibition of this turn forbids it.
    Prohibited,
    /// Called off in the same message.
    Cancelled {
        /// By this act.
        by: ActId,
    },
    /// Another act takes its place.
    Superseded {
        /// This one.
        by: ActId,
    },
    /// It called another act off.
    Cancels {
        /// That one.
        act: ActId,
    },
    /// Several records are meant; this card asks which.
    AmbiguousTarget {
        /// The card.
        card: InteractionId,
    },
    /// No record is meant.
    TargetMissing,
    /// What it needs did not happen.
    NotExecuted {
        /// The act it depends on.
        because: ActId,
    },
    /// It was asked, not told: nothing was done.
    Hypothetical,
    /// The operation is not on offer in the case's state.
    NotOnOffer {
        /// The case.
        case: CaseRef,
    },
    /// A value is missing or cannot be read.
    Incomplete {
        /// Which slot.
        slot: SlotName,
        /// What is wrong with it.
        why: ValueError,
    },
    /// The words beside the click could not be read, and they may have forbidden it.
    WordsUnread {
        /// The card, which stays open.
        card: InteractionId,
    },
    /// The turn was given up before it was known what became of this act; the record says so.
    Unreported,
    /// The system failed; nothing was changed by this act.
    Failed {
        /// A stable code.
        code: String,
    },
}

impl ActOutcome {
    /// The committed events it claims.
    #[must_use]
    pub fn events(&self) -> &[EntryId] {
        if let Self::Applied { events, .. } = self { events } else { &[] }
    }

    /// The revision its commit made, where it was applied.
    #[must_use]
    pub const fn revision(&self) -> Option<CaseRevision> {
        if let Self::Applied { revision, .. } = self { Some(*revision) } else { None }
    }

    /// The external effects requested with it.
    #[must_use]
    pub fn effects(&self) -> &[EffectId] {
        if let Self::Applied { effects, .. } = self { effects } else { &[] }
    }
}

/// What is to happen for an act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// Nothing more: this is the result.
    Final(ActOutcome),
    /// A step on a case.
    Step(Step),
}

/// A step on a case. Steps of a case run in order and commit in one append.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The case.
    pub case: CaseRef,
    /// The act that brings the case into being: when it is not applied, this step does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<ActId>,
    /// What is done.
    pub action: Action,
}

impl Step {
    /// A step on a case that is there.
    #[must_use]
    pub const fn on(case: CaseRef, action: Action) -> Self {
        Self { case, depends_on: None, action }
    }
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Runs a command.
    Run {
        /// The command.
        command: Json,
        /// Who authorised it.
        origin: CommandOrigin,
        /// The card it resolves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resolves: Option<InteractionId>,
    },
    /// Asks for a click: the card is drawn from the state after the events.
    Confirm {
        /// The command.
        command: Json,
        /// The operation it was compiled from.
        operation: OperationRef,
        /// What policing said.
        policy: CommandPolicy,
    },
    /// Closes an open card without a command.
    Close {
        /// The card.
        card: InteractionId,
        /// Declined or dismissed.
        status: InteractionStatus,
        /// The option that said so, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<OptionId>,
    },
    /// Answers a click on a card that is not open any more, with a fresh card where that makes sense.
    Renew {
        /// The old card, whole: its command is decided and policed anew.
        card: Box<Interaction>,
        /// The option clicked.
        option: OptionId,
        /// Where the old card stands.
        status: InteractionStatus,
    },
}

/// An act and what is to happen for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAct {
    /// Which act.
    pub id: ActId,
    /// The words it was read from; none for a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<WordRange>,
    /// The operation, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<OperationRef>,
    /// What is to happen.
    pub disposition: Disposition,
}

/// A question and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedQuestion {
    /// The words it was read from; none where a choice between records goes on with it.
    pub source: Option<WordRange>,
    /// What it is about.
    pub topic: TopicKey,
    /// How it will be answered.
    pub answer: PlannedAnswer,
}

/// How a question will be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedAnswer {
    /// From the view of this case.
    FromView(CaseRef),
    /// Not: several records are meant, and this card asks which.
    Ambiguous {
        /// The card.
        card: InteractionId,
    },
    /// Not: no record is meant.
    Missing,
    /// Not: the act that its record depends on did not run.
    NotExecuted {
        /// That act.
        because: ActId,
    },
}

/// A case the plan touches, and the revision it was read at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseExpectation {
    /// The case.
    pub case: CaseRef,
    /// Its revision when the plan was made.
    pub revision: CaseRevision,
}

/// What a whole turn comes to, before its first effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionPlan {
    /// The moment that every decision of this turn is made at.
    pub now: Timestamp,
    /// Every act with exactly one disposition, in order of their ids.
    pub acts: Vec<PlannedAct>,
    /// The acts in the order in which they run: a correction runs in the place of what it corrects.
    pub order: Vec<ActId>,
    /// Every question with exactly one answer.
    pub questions: Vec<PlannedQuestion>,
    /// Words of prohibitions that were heard.
    pub prohibitions: Vec<WordRange>,
    /// Words that could not be read.
    pub unread: Vec<WordRange>,
    /// Every case that a step or an answer touches.
    pub cases: Vec<CaseExpectation>,
    /// Choices between records, persisted together with the plan.
    pub choices: Vec<Interaction>,
    /// Choices between records that this turn closes.
    pub closed_choices: Vec<ClosedChoice>,
}

/// A choice between records that a turn closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedChoice {
    /// The card.
    pub card: InteractionId,
    /// Resolved, declined or dismissed.
    pub status: InteractionStatus,
    /// The option that said so, where one did.
    pub option: Option<OptionId>,
}

impl ExecutionPlan {
    /// The steps of a case in the order in which they run.
    pub fn steps<'a>(
        &'a self,
        case: &'a CaseRef,
    ) -> impl Iterator<Item = (&'a PlannedAct, &'a Step)> {
        let by_id = |id: &ActId| self.acts.iter().find(|act| act.id == *id);
        self.order.iter().filter_map(by_id).filter_map(move |act| match &act.disposition {
            Disposition::Step(step) if step.case == *case => Some((act, step)),
            Disposition::Step(_) | Disposition::Final(_) => None,
        })
    }
}
