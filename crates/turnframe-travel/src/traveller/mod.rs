//! The workflow `traveller`: a person on file.
//!
//! Small on purpose, and with what `trip` has not: everything it knows is about one person, and a name that was
//! not given is asked for by a card that takes the user's own words.
//!
//! **Guarantees:** all personal values of a case belong to one subject, so that erasing it forgets the person and
//! keeps the file's history.

mod copy;
mod decide;
mod model;
mod operations;

pub use model::{FileLifecycle, TravellerCommand, TravellerEvent, TravellerState};

use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{Locale, OperationRef, SubjectId, TopicKey, WorkflowKey};
use turnframe_core::interaction::{
    FreeformRule, InteractionKind, InteractionPayload, OptionMeaning, StoredOption,
};
use turnframe_core::operation::{OperationSpec, TopicSpec};
use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::policy::{ClaimMode, CommandPolicy, ConfirmationPolicy, RiskClass};
use turnframe_core::receipt::{ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::view::{Fact, Obligation, Phase, PhaseOwner, Projection, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct, Workflow};

use crate::key::literal;
use crate::slots::{Slots, needed};
use crate::text_rule::{LINE_MAX_CHARS, tidy};
use copy::{Field, words};
use operations::Operation;

/// The obligation that a file without a name is.
pub const OBLIGATION_NAME: &str = "name";

/// The key of the workflow.
#[must_use]
pub fn key() -> WorkflowKey {
    literal("traveller")
}

/// The workflow `traveller`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TravellerWorkflow;

impl Workflow for TravellerWorkflow {
    type State = TravellerState;
    type Command = TravellerCommand;
    type Event = TravellerEvent;

    fn key(&self) -> WorkflowKey {
        key()
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        operations::operations()
    }

    fn topics(&self) -> Vec<TopicSpec> {
        operations::topics()
    }

    fn initial(&self) -> TravellerState {
        TravellerState::default()
    }

    fn decide(
        &self,
        state: &TravellerState,
        command: &TravellerCommand,
        _now: Timestamp,
    ) -> Result<Decision<TravellerEvent>, Rejection> {
        decide::decide(state, command)
    }

    fn evolve(&self, state: TravellerState, event: &TravellerEvent) -> TravellerState {
        decide::evolve(state, event)
    }

    fn project(&self, state: &TravellerState, locale: &Locale) -> Projection<TravellerCommand> {
        project(state, locale)
    }

    fn compile(
        &self,
        state: &TravellerState,
        act: &OperationAct<'_>,
    ) -> Result<TravellerCommand, CompileError> {
        let slots = Slots(act.values);
        // Before the file exists its subject is the fresh one, which registering makes the file's.
        let fresh = || SubjectId::new(format!("traveller:{}", act.fresh));
        let subject = state.subject.clone().map_or_else(fresh, Ok);
        let subject = subject.expect("a UUID is within the alphabet of names");
        let about = |words| Personal::known(subject.clone(), words);
        Ok(match Operation::of_key(act.operation).ok_or(CompileError::NotOnOffer)? {
            Operation::Register => {
                let name = slots.text("name")?.map(about);
                TravellerCommand::Register { subject: subject.clone(), name }
            }
            Operation::SetName => {
                TravellerCommand::SetName { name: about(needed("name", slots.text("name"))?) }
            }
            Operation::SetLoyaltyNumber => TravellerCommand::SetLoyaltyNumber {
                number: about(needed("number", slots.text("number"))?),
            },
            Operation::Archive => TravellerCommand::Archive,
        })
    }

    fn fill(
        &self,
        command: TravellerCommand,
        value: &str,
        _speaker: &SubjectId,
    ) -> Result<TravellerCommand, Rejection> {
        match command {
            TravellerCommand::SetName { name } => {
                let name = Personal::known(name.subject().clone(), tidy(value));
                decide::known_line(&name)?;
                Ok(TravellerCommand::SetName { name })
            }
            TravellerCommand::Register { .. }
            | TravellerCommand::SetLoyaltyNumber { .. }
            | TravellerCommand::Archive => Err(Rejection::new("value_not_taken")),
        }
    }

    fn policy(&self, _state: &TravellerState, command: &TravellerCommand) -> CommandPolicy {
        match command {
            TravellerCommand::Register { .. }
            | TravellerCommand::SetName { .. }
            | TravellerCommand::SetLoyaltyNumber { .. } => CommandPolicy::direct(),
            TravellerCommand::Archive => CommandPolicy {
                risk: RiskClass::Medium,
                confirmation: ConfirmationPolicy::Click,
                claim: ClaimMode::ServerReceiptOnly,
            },
        }
    }

    fn confirmation(
        &self,
        state: &TravellerState,
        command: &TravellerCommand,
        locale: &Locale,
    ) -> Confirmation {
        let words = words(locale);
        let line = |field, value: &Personal<String>| {
            Text::from(words.field(field)).plain(": ").personal(value)
        };
        let lines = match command {
            TravellerCommand::Register { name, .. } => {
                name.iter().map(|name| line(Field::Name, name)).collect()
            }
            TravellerCommand::SetName { name } => vec![line(Field::Name, name)],
            TravellerCommand::SetLoyaltyNumber { number } => {
                vec![line(Field::LoyaltyNumber, number)]
            }
            TravellerCommand::Archive => {
                let facts = facts(state, locale);
                facts
                    .iter()
                    .map(|it| Text::from(it.name.as_str()).plain(": ").text(&it.value))
                    .collect()
            }
        };
        Confirmation {
            title: words.question(command).into(),
            lines,
            confirm: words.confirm(command).into(),
            decline: words.decline().into(),
        }
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<TravellerEvent>],
        _view: &WorkflowView,
        locale: &Locale,
    ) -> Vec<ReceiptDraft> {
        let words = words(locale);
        let receipt = |event: &CommittedEvent<TravellerEvent>| {
            let (title, body) = words.receipt(&event.event);
            ReceiptDraft {
                status: ReceiptStatus::Recorded,
                severity: ReceiptSeverity::Success,
                title: title.into(),
                body,
                event_ids: vec![event.id],
                external_reference: None,
                claim_mode: ClaimMode::ServerReceiptOnly,
            }
        };
        events.iter().map(receipt).collect()
    }

    fn answer(&self, topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
        if topic.as_str() != operations::TOPIC_FILE {
            return None;
        }
        let start = view.projection.label.clone().plain(": ");
        let start = start.plain(words(locale).on_file());
        Some(view.projection.facts.iter().fold(start, |text, fact| {
            text.plain(" ").plain(&fact.name).plain(": ").text(&fact.value).plain(".")
        }))
    }

    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text {
        words(locale).rejection(&rejection.code).into()
    }

    fn forbidden_phrases(&self, locale: &Locale) -> Vec<String> {
        words(locale).forbidden().iter().map(|phrase| (*phrase).to_owned()).collect()
    }
}

fn project(state: &TravellerState, locale: &Locale) -> Projection<TravellerCommand> {
    let words = words(locale);
    let nameless = state.nameless();
    let (phase, owner) = match state.lifecycle {
        FileLifecycle::New => ("new", PhaseOwner::Anyone),
        FileLifecycle::Active if nameless.is_some() => ("needs_name", PhaseOwner::User),
        FileLifecycle::Active => ("active", PhaseOwner::Anyone),
        FileLifecycle::Archived => ("archived", PhaseOwner::Closed),
    };
    let label = match state.known_name() {
        Some(name) => Text::new().personal(name),
        None => words.unnamed().into(),
    };
    let obligation =
        |_| Obligation { key: OBLIGATION_NAME.to_owned(), parameter: "file".to_owned() };
    Projection {
        phase: Phase { key: phase.to_owned(), owner },
        obligations: nameless.map(obligation).into_iter().collect(),
        aliases: state.known_name().map(|name| words.aliases(name)).unwrap_or_default(),
        label,
        facts: facts(state, locale),
        operations: Operation::offered(state.lifecycle),
        required: nameless.map(|subject| name_card(subject, words)),
    }
}

/// The card that asks for the name. Its command holds the subject and no name yet: the domain fills that in from
/// what the user writes, and nothing else about the command can be said by a client (I7).
fn name_card(
    subject: &SubjectId,
    words: &dyn copy::TravellerWords,
) -> InteractionPayload<TravellerCommand> {
    let name = Personal::Erased { subject: subject.clone() };
    InteractionPayload {
        kind: InteractionKind::Freeform,
        requirement: Some(OBLIGATION_NAME.to_owned()),
        operation: Some(OperationRef { workflow: key(), operation: Operation::SetName.key() }),
        continuation: None,
        title: words.name_question().into(),
        lines: Vec::new(),
        options: vec![StoredOption {
            id: literal("save"),
            label: words.save().into(),
            meaning: OptionMeaning::Fill(TravellerCommand::SetName { name }),
            freeform: Some(FreeformRule {
                max_chars: u32::try_from(LINE_MAX_CHARS).unwrap_or(u32::MAX),
            }),
        }],
        risk: RiskClass::Low,
        independent: false,
    }
}

fn facts(state: &TravellerState, locale: &Locale) -> Vec<Fact> {
    let words = words(locale);
    let fact = |field, value: &Personal<String>| Fact {
        name: words.field(field).to_owned(),
        value: Text::new().personal(value),
    };
    let name = state.name.iter().map(|name| fact(Field::Name, name));
    let number = state.loyalty_number.iter().map(|it| fact(Field::LoyaltyNumber, it));
    name.chain(number).collect()
}

#[cfg(test)]
mod tests;
