//! A workflow as awkward as an author may make it: policies that change with the state, a required card that offers
//! more than its risk says, a free value that turns into a submission.

use serde::{Deserialize, Serialize};
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{Locale, SubjectId, WorkflowKey};
use turnframe_core::interaction::{
    FreeformRule, InteractionKind, InteractionPayload, OptionMeaning, StoredOption,
};
use turnframe_core::operation::{
    Choice, OperationSpec, Phrase, SlotKind, SlotSpec, SlotValue, TopicSpec,
};
use turnframe_core::plan::Rejection;
use turnframe_core::policy::{CommandPolicy, ConfirmationPolicy, RiskClass};
use turnframe_core::receipt::ReceiptDraft;
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::value::ValueError;
use turnframe_core::view::{Phase, PhaseOwner, Projection, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct, Workflow};
use turnframe_test::literal;

/// The operations, the creating one first.
pub(crate) const OPERATIONS: [&str; 6] = ["open", "note", "paint", "seal", "ship", "burn"];

/// Boxes, or whatever else the key calls them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boxes(pub(crate) &'static str);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    #[default]
    New,
    Open,
    Sealed,
    Shipped,
    Burnt,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BoxState {
    pub(crate) stage: Stage,
    pub(crate) name: String,
    pub(crate) colour: Option<String>,
    pub(crate) notes: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Command {
    Open { name: String },
    Note,
    Paint { colour: String },
    Seal,
    Ship,
    Burn,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    Opened { name: String },
    Noted,
    Painted { colour: String },
    Sealed,
    Shipped,
    Burnt,
}

impl Workflow for Boxes {
    type State = BoxState;
    type Command = Command;
    type Event = Event;

    fn key(&self) -> WorkflowKey {
        literal(self.0)
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        let slots = |key: &str| match key {
            "open" => vec![slot("name", SlotKind::Text)],
            "paint" => vec![slot("colour", colours())],
            _ => Vec::new(),
        };
        let spec = |key: &str| OperationSpec {
            key: literal(key),
            creates: key == "open",
            slots: slots(key),
            phrases: Vec::new(),
            names: Vec::new(),
        };
        OPERATIONS.map(spec).to_vec()
    }

    fn topics(&self) -> Vec<TopicSpec> {
        vec![TopicSpec { key: literal("status"), phrases: Vec::new() }]
    }

    fn initial(&self) -> BoxState {
        BoxState::default()
    }

    fn decide(&self, state: &BoxState, command: &Command, _: Timestamp) -> Decided {
        let usable = matches!(state.stage, Stage::Open | Stage::Sealed);
        match command {
            Command::Open { name } if state.stage == Stage::New && name != "three" => {
                one(Event::Opened { name: name.clone() })
            }
            Command::Open { .. } => Err(Rejection::new("not_opened")),
            _ if !usable => Err(Rejection::new("not_usable")),
            Command::Note => one(Event::Noted),
            Command::Paint { colour } if colour == "black" => Err(Rejection::new("out_of_stock")),
            Command::Paint { colour } => one(Event::Painted { colour: colour.clone() }),
            Command::Seal => one(Event::Sealed),
            Command::Ship => one(Event::Shipped),
            Command::Burn => one(Event::Burnt),
        }
    }

    fn evolve(&self, mut state: BoxState, event: &Event) -> BoxState {
        match event {
            Event::Opened { name } => (state.stage, state.name) = (Stage::Open, name.clone()),
            Event::Noted => state.notes += 1,
            Event::Painted { colour } => state.colour = Some(colour.clone()),
            Event::Sealed => state.stage = Stage::Sealed,
            Event::Shipped => state.stage = Stage::Shipped,
            Event::Burnt => state.stage = Stage::Burnt,
        }
        state
    }

    fn project(&self, state: &BoxState, _: &Locale) -> Projection<Command> {
        let bare = state.stage == Stage::Open && state.colour.is_none();
        let (owner, operations): (_, &[&str]) = match state.stage {
            Stage::New => (PhaseOwner::Anyone, &["open"]),
            Stage::Open if bare => (PhaseOwner::User, &OPERATIONS[1..]),
            Stage::Open => (PhaseOwner::Anyone, &OPERATIONS[1..]),
            Stage::Sealed => (PhaseOwner::External, &["note", "paint", "ship", "burn"]),
            Stage::Shipped | Stage::Burnt => (PhaseOwner::Closed, &[]),
        };
        Projection {
            phase: Phase { key: format!("{:?}", state.stage), owner },
            obligations: Vec::new(),
            label: state.name.as_str().into(),
            aliases: Vec::new(),
            facts: Vec::new(),
            operations: operations.iter().map(|key| literal(key)).collect(),
            required: bare.then(colour_card),
        }
    }

    fn compile(&self, _: &BoxState, act: &OperationAct<'_>) -> Result<Command, CompileError> {
        let text = |slot: &str| {
            let found = act.values.iter().find(|(name, _)| name.as_str() == slot);
            match found.map(|(_, value)| value) {
                Some(SlotValue::Text(words) | SlotValue::Choice(words)) => Ok(words.clone()),
                Some(SlotValue::Integer(_) | SlotValue::Date(_) | SlotValue::Moment { .. })
                | None => {
                    let (slot, why) = (literal(slot), ValueError::Missing);
                    Err(CompileError::Incomplete { slot, why })
                }
            }
        };
        match act.operation.as_str() {
            "open" => Ok(Command::Open { name: text("name")? }),
            "note" => Ok(Command::Note),
            "paint" => Ok(Command::Paint { colour: text("colour")? }),
            "seal" => Ok(Command::Seal),
            "ship" => Ok(Command::Ship),
            "burn" => Ok(Command::Burn),
            _ => Err(CompileError::NotOnOffer),
        }
    }

    fn fill(&self, command: Command, value: &str, _: &SubjectId) -> Result<Command, Rejection> {
        match (command, value) {
            (Command::Paint { .. }, "abroad") => Ok(Command::Ship),
            (Command::Paint { .. }, colour) if !colour.is_empty() => {
                Ok(Command::Paint { colour: colour.to_owned() })
            }
            _ => Err(Rejection::new("value_not_taken")),
        }
    }

    /// A sealed box is worth more: what words could do before needs a click, and painting it costs money.
    fn policy(&self, state: &BoxState, command: &Command) -> CommandPolicy {
        let sealed = state.stage == Stage::Sealed;
        let medium = CommandPolicy { risk: RiskClass::Medium, ..CommandPolicy::direct() };
        match command {
            Command::Note if sealed => {
                CommandPolicy { confirmation: ConfirmationPolicy::Click, ..medium }
            }
            Command::Paint { .. } if sealed => {
                CommandPolicy { risk: RiskClass::High, ..CommandPolicy::direct() }
            }
            Command::Open { .. } | Command::Note | Command::Paint { .. } => CommandPolicy::direct(),
            Command::Seal => CommandPolicy { confirmation: ConfirmationPolicy::Click, ..medium },
            Command::Ship => CommandPolicy::external(),
            Command::Burn => CommandPolicy::strictest(),
        }
    }

    fn confirmation(&self, _: &BoxState, command: &Command, _: &Locale) -> Confirmation {
        Confirmation {
            title: format!("{command:?}?").into(),
            lines: Vec::new(),
            confirm: "Yes".into(),
            decline: "No".into(),
        }
    }

    fn receipts(
        &self,
        _: &[CommittedEvent<Event>],
        _: &WorkflowView,
        _: &Locale,
    ) -> Vec<ReceiptDraft> {
        Vec::new()
    }

    fn rejection(&self, rejection: &Rejection, _: &Locale) -> Text {
        rejection.code.as_str().into()
    }
}

type Decided = Result<Decision<Event>, Rejection>;

fn one(event: Event) -> Decided {
    Ok(Decision::events([event]))
}

fn slot(name: &str, kind: SlotKind) -> SlotSpec {
    SlotSpec { name: literal(name), kind, required: true }
}

fn colours() -> SlotKind {
    let english: Locale = literal("en");
    let choice =
        |value: &str| Choice { value: value.to_owned(), words: vec![Phrase::new(&english, value)] };
    SlotKind::Choice(["red", "blue", "black"].map(choice).to_vec())
}

/// The card of a box without a colour. Its risk is said to be low, whatever its options do.
fn colour_card() -> InteractionPayload<Command> {
    let paint = |colour: &str| Command::Paint { colour: colour.to_owned() };
    let option = |id: &str, meaning| StoredOption {
        id: literal(id),
        label: id.into(),
        meaning,
        freeform: None,
    };
    let other = StoredOption {
        freeform: Some(FreeformRule { max_chars: 40 }),
        ..option("other", OptionMeaning::Fill(paint("")))
    };
    InteractionPayload {
        kind: InteractionKind::SingleSelect,
        requirement: Some("colour".to_owned()),
        operation: None,
        continuation: None,
        title: "Which colour?".into(),
        lines: Vec::new(),
        options: vec![
            option("red", OptionMeaning::Execute(paint("red"))),
            option("as_it_is", OptionMeaning::Execute(Command::Ship)),
            other,
            option("decline", OptionMeaning::Decline),
        ],
        risk: RiskClass::Low,
        independent: false,
    }
}
