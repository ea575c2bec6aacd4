//! Cards: durable decisions of the user.
//!
//! The payload is immutable and hashed; what an option means is stored on the server and never sent by a
//! client (I7). A card's life is one total transition function, used live and on replay.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::canonical::{CanonicalError, Digest, Hasher, Json, to_bytes, to_hex};
use crate::id::{
    CaseRef, CaseRevision, ConversationId, InteractionId, OperationRef, OptionId, SlotName,
    SubjectId, TopicKey, TurnId, WorkflowKey,
};
use crate::operation::SlotValue;
use crate::personal::{self, Personal};
use crate::policy::RiskClass;
use crate::source::IdSource;
use crate::text::Text;

/// What a card asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionKind {
    /// Yes or no.
    Boolean,
    /// One of several.
    SingleSelect,
    /// Any of several.
    MultiSelect,
    /// Words of the user's own.
    Freeform,
    /// Whether a set of changes is right.
    ReviewChanges,
    /// Whether a command may run.
    ConfirmCommand,
    /// Which record is meant.
    SelectTarget,
    /// How an invalid value is put right.
    ResolveValidationError,
    /// That the user proves again who they are.
    Reauthenticate,
    /// A signature given elsewhere.
    ExternalSignature,
}

/// Where a card stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionStatus {
    /// It can be answered.
    Active,
    /// An answer is being carried out.
    Resolving,
    /// An answer was carried out.
    Resolved,
    /// The user said no.
    Declined,
    /// The user put it away.
    Dismissed,
    /// The case moved on.
    Invalidated,
    /// Its time ran out.
    Expired,
    /// An answer could not be carried out.
    Failed,
}

/// What happens to a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InteractionEvent {
    /// An answer arrived.
    Answered,
    /// The answer was carried out.
    Resolved,
    /// The user said no.
    Declined,
    /// The user put it away.
    Dismissed,
    /// The case moved on.
    Invalidated,
    /// Its time ran out.
    Expired,
    /// The answer could not be carried out.
    Failed,
}

impl InteractionEvent {
    /// Every event there is.
    pub const ALL: [Self; 7] = [
        Self::Answered,
        Self::Resolved,
        Self::Declined,
        Self::Dismissed,
        Self::Invalidated,
        Self::Expired,
        Self::Failed,
    ];
}

/// An event that a card's status does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a card that is {from:?} cannot become {event:?}")]
pub struct IllegalTransition {
    /// Where the card stood.
    pub from: InteractionStatus,
    /// What was to happen.
    pub event: InteractionEvent,
}

impl InteractionStatus {
    /// Every status there is.
    pub const ALL: [Self; 8] = [
        Self::Active,
        Self::Resolving,
        Self::Resolved,
        Self::Declined,
        Self::Dismissed,
        Self::Invalidated,
        Self::Expired,
        Self::Failed,
    ];

    /// The status after an event. Terminal statuses accept nothing: the first resolution stands.
    ///
    /// # Errors
    /// [`IllegalTransition`] for every pair that is not a step of a card's life.
    pub const fn next(self, event: InteractionEvent) -> Result<Self, IllegalTransition> {
        use InteractionEvent as E;
        match (self, event) {
            (Self::Active, E::Answered) => Ok(Self::Resolving),
            (Self::Active | Self::Resolving, E::Resolved) => Ok(Self::Resolved),
            (Self::Active | Self::Resolving, E::Declined) => Ok(Self::Declined),
            (Self::Active, E::Dismissed) => Ok(Self::Dismissed),
            (Self::Active | Self::Resolving, E::Invalidated) => Ok(Self::Invalidated),
            (Self::Active, E::Expired) => Ok(Self::Expired),
            (Self::Resolving, E::Failed) => Ok(Self::Failed),
            (
                Self::Active
                | Self::Resolving
                | Self::Resolved
                | Self::Declined
                | Self::Dismissed
                | Self::Invalidated
                | Self::Expired
                | Self::Failed,
                _,
            ) => Err(IllegalTransition { from: self, event }),
        }
    }

    /// Whether the card can still be answered.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Active | Self::Resolving)
    }
}

/// What an option does. Stored on the server; a client names the option only (I7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionMeaning<C = Json> {
    /// Runs exactly this command.
    Execute(C),
    /// Runs this command with the client's value filled in by the domain.
    Fill(C),
    /// Says that this record was meant.
    Choose(CaseRef),
    /// Says no.
    Decline,
}

/// Whether and how an option takes a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreeformRule {
    /// The longest value, in characters.
    pub max_chars: u32,
}

/// An option of a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredOption<C = Json> {
    /// How a client names it.
    pub id: OptionId,
    /// What the user reads.
    pub label: Text,
    /// What it does.
    pub meaning: OptionMeaning<C>,
    /// Set where a value may come with it.
    #[serde(default)]
    pub freeform: Option<FreeformRule>,
}

/// What a choice between records goes on with once the record is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Continuation {
    /// This operation with these values, computed from the words that asked for it.
    Operate {
        /// The operation.
        operation: OperationRef,
        /// Its values; they are the actor's words.
        values: Personal<BTreeMap<SlotName, SlotValue>>,
    },
    /// This question.
    Ask {
        /// The workflow that answers.
        workflow: WorkflowKey,
        /// What is asked.
        topic: TopicKey,
    },
}

/// What a card asks, before it has an id. Immutable once it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionPayload<C = Json> {
    /// What it asks for.
    pub kind: InteractionKind,
    /// The requirement of the state that it meets, where one does; unique within the case.
    #[serde(default)]
    pub requirement: Option<String>,
    /// The operation whose command it would run, where it confirms one.
    #[serde(default)]
    pub operation: Option<OperationRef>,
    /// What a choice between records goes on with.
    #[serde(default)]
    pub continuation: Option<Continuation>,
    /// What the user reads first.
    pub title: Text,
    /// What exactly is decided, line by line.
    pub lines: Vec<Text>,
    /// What can be answered.
    pub options: Vec<StoredOption<C>>,
    /// How bad a wrong answer is.
    pub risk: RiskClass,
    /// Whether it outlives a change of its case: then a click decides and polices anew.
    #[serde(default)]
    pub independent: bool,
}

impl<C> InteractionPayload<C> {
    /// The same payload with its commands under a function.
    ///
    /// # Errors
    /// The first error of the function.
    pub fn try_map<D, E>(
        self,
        mut function: impl FnMut(C) -> Result<D, E>,
    ) -> Result<InteractionPayload<D>, E> {
        let mut options = Vec::with_capacity(self.options.len());
        for option in self.options {
            let meaning = match option.meaning {
                OptionMeaning::Execute(command) => OptionMeaning::Execute(function(command)?),
                OptionMeaning::Fill(command) => OptionMeaning::Fill(function(command)?),
                OptionMeaning::Choose(case) => OptionMeaning::Choose(case),
                OptionMeaning::Decline => OptionMeaning::Decline,
            };
            let StoredOption { id, label, freeform, .. } = option;
            options.push(StoredOption { id, label, meaning, freeform });
        }
        Ok(InteractionPayload {
            kind: self.kind,
            requirement: self.requirement,
            operation: self.operation,
            continuation: self.continuation,
            title: self.title,
            lines: self.lines,
            options,
            risk: self.risk,
            independent: self.independent,
        })
    }

    /// The option of an id.
    #[must_use]
    pub fn option(&self, id: &OptionId) -> Option<&StoredOption<C>> {
        self.options.iter().find(|option| option.id == *id)
    }
}

/// A persisted card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// Its id, which is all of it that a client names.
    pub id: InteractionId,
    /// The conversation it belongs to; elsewhere it is only waited for.
    pub conversation: ConversationId,
    /// The turn that drew it.
    pub turn: TurnId,
    /// The case it sits on; none for a choice between cases.
    pub case: Option<CaseRef>,
    /// The revision of the case it was drawn from.
    pub revision: CaseRevision,
    /// What it asks.
    pub payload: InteractionPayload,
    /// One of the actor and one of each person the payload names. They keep a short payload from being guessed from
    /// its hash; an erasure of any of them takes a salt away, and with it the way back to what was erased.
    pub salts: Vec<Personal<String>>,
    /// The salted hash of the payload, recorded in the origin of what it authorises.
    pub payload_hash: Digest,
}

/// Where a card is drawn, and for whom.
#[derive(Debug, Clone)]
pub struct CardContext<'a> {
    /// The conversation it belongs to.
    pub conversation: &'a ConversationId,
    /// The turn that draws it.
    pub turn: &'a TurnId,
    /// The case it sits on.
    pub case: Option<&'a CaseRef>,
    /// The revision it is drawn from.
    pub revision: CaseRevision,
    /// For whom it is drawn.
    pub subject: &'a SubjectId,
}

impl Interaction {
    /// Draws a card: gives it an id and hashes what it says under salts of its own.
    ///
    /// # Errors
    /// [`CanonicalError`] when the payload has no canonical form.
    pub fn draw(
        payload: InteractionPayload,
        context: &CardContext<'_>,
        ids: &IdSource,
    ) -> Result<Self, CanonicalError> {
        let mut subjects = BTreeSet::from([context.subject.clone()]);
        personal::subjects(&serde_json::to_value(&payload)?, &mut subjects);
        let salt = |subject| Personal::known(subject, to_hex(&ids.bytes::<16>()));
        let salts: Vec<_> = subjects.into_iter().map(salt).collect();
        Ok(Self {
            id: ids.interaction(),
            conversation: context.conversation.clone(),
            turn: context.turn.clone(),
            case: context.case.cloned(),
            revision: context.revision,
            payload_hash: hash(&salts, &payload)?.unwrap_or(Digest::ZERO),
            salts,
            payload,
        })
    }

    /// Whether the payload is the one that was hashed. A card of which a salt was erased cannot say.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        hash(&self.salts, &self.payload).is_ok_and(|hash| hash == Some(self.payload_hash))
    }

    /// What a client sees: no command, no salt.
    #[must_use]
    pub fn view(&self) -> InteractionView {
        let option = |option: &StoredOption| OptionView {
            id: option.id.clone(),
            label: option.label.clone(),
            max_chars: option.freeform.as_ref().map(|rule| rule.max_chars),
        };
        InteractionView {
            id: self.id,
            kind: self.payload.kind,
            title: self.payload.title.clone(),
            lines: self.payload.lines.clone(),
            options: self.payload.options.iter().map(option).collect(),
            expected_revision: self.revision,
            risk: self.payload.risk,
        }
    }
}

/// The hash of a payload under its salts; none where one was erased.
fn hash(
    salts: &[Personal<String>],
    payload: &InteractionPayload,
) -> Result<Option<Digest>, CanonicalError> {
    let mut hasher = Hasher::new("tf.card.1");
    for salt in salts {
        let Some(value) = salt.value() else { return Ok(None) };
        hasher.part(value.as_bytes());
    }
    hasher.part(&to_bytes(payload)?);
    Ok(Some(hasher.finish()))
}

/// A card as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteractionView {
    /// Names the card in an answer.
    pub id: InteractionId,
    /// What it asks for.
    pub kind: InteractionKind,
    /// What the user reads first.
    pub title: Text,
    /// What exactly is decided.
    pub lines: Vec<Text>,
    /// What can be answered.
    pub options: Vec<OptionView>,
    /// Goes back with the answer.
    pub expected_revision: CaseRevision,
    /// How bad a wrong answer is.
    pub risk: RiskClass,
}

/// An option as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionView {
    /// Names the option in an answer.
    pub id: OptionId,
    /// What the user reads.
    pub label: Text,
    /// The longest value that may come with it; none where no value may.
    #[serde(default)]
    pub max_chars: Option<u32>,
}

/// A client's answer to a card: all that a client can say about it (I7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InteractionResponse {
    /// The card.
    pub interaction: InteractionId,
    /// The option.
    pub option: OptionId,
    /// The revision the client saw on the card.
    pub expected_revision: CaseRevision,
    /// A value, only where the stored option takes one.
    #[serde(default)]
    pub value: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ids;

    #[test]
    fn erasing_anybody_a_card_names_takes_the_way_back_from_its_hash() {
        let ids = ids();
        let name = |text: &str| text.parse::<SubjectId>().expect("subject");
        let reader = Personal::known(name("s-ada"), "Ada Ferri".to_owned());
        let payload = InteractionPayload {
            kind: InteractionKind::Boolean,
            requirement: None,
            operation: None,
            continuation: None,
            title: Text::new().personal(&reader),
            lines: Vec::new(),
            options: Vec::new(),
            risk: RiskClass::Low,
            independent: false,
        };
        let (speaker, turn) = (name("s-speaker"), "t".parse().expect("turn"));
        let context = CardContext {
            conversation: &"c".parse().expect("conversation"),
            turn: &turn,
            case: None,
            revision: CaseRevision::NONE,
            subject: &speaker,
        };
        let card = Interaction::draw(payload, &context, &ids).expect("drawn");
        assert!(card.is_intact());
        for subject in ["s-ada", "s-speaker"] {
            let sealed = crate::personal::Sealed::seal(&card, &ids).expect("sealed");
            let mut erased = sealed.clone();
            assert!(erased.erase(&name(subject)));
            let erased: Interaction = erased.open().expect("opened");
            assert!(!erased.is_intact(), "{subject}");
            let salt_is_left = |salt: &Personal<String>| salt.value().is_some();
            assert!(!erased.salts.iter().all(salt_is_left), "{subject}");
        }
    }

    #[test]
    fn the_first_resolution_of_a_card_stands() {
        for status in InteractionStatus::ALL.into_iter().filter(|status| !status.is_open()) {
            for event in InteractionEvent::ALL {
                assert_eq!(status.next(event), Err(IllegalTransition { from: status, event }));
            }
        }
    }

    #[test]
    fn an_open_card_can_reach_every_terminal_status() {
        let mut reached = std::collections::BTreeSet::from([InteractionStatus::Active]);
        while let Some(next) = reached
            .iter()
            .flat_map(|status| InteractionEvent::ALL.map(|event| status.next(event)))
            .flatten()
            .find(|next| !reached.contains(next))
        {
            reached.insert(next);
        }
        assert_eq!(reached.len(), InteractionStatus::ALL.len());
    }
}
