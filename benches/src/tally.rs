//! The smallest workflow that commits an event and renders a receipt: a tally that is counted up, cleared where a click
//! on a card says so, and sent to an office.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{
    DestinationKey, EffectId, IdError, Locale, OperationKey, OperationRef, SlotName, WorkflowKey,
};
use turnframe_core::operation::{OperationSpec, Phrase, SlotKind, SlotSpec, SlotValue};
use turnframe_core::plan::Rejection;
use turnframe_core::policy::{ClaimMode, CommandPolicy};
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::understanding::{
    Argument, Brief, Intent, Mood, ProposedAct, ProposedTarget, Understanding,
};
use turnframe_core::view::{Fact, Phase, PhaseOwner, Projection, WorkflowView};
use turnframe_core::words::WordRange;
use turnframe_core::workflow::{
    CompileError, Confirmation, Decision, EffectRequest, OperationAct, Workflow,
};
use turnframe_runtime::port::{Interpreter, InterpreterError};

/// The destination that tallies are sent to.
pub const OFFICE: &str = "office";

/// The names of the workflow.
#[derive(Debug, Clone)]
pub struct Names {
    workflow: WorkflowKey,
    open: OperationKey,
    add: OperationKey,
    clear: OperationKey,
    send: OperationKey,
    office: DestinationKey,
    amount: SlotName,
    english: Locale,
}

impl Names {
    /// The names.
    ///
    /// # Errors
    /// [`IdError`] never: they are literals of the alphabet.
    pub fn new() -> Result<Self, IdError> {
        Ok(Self {
            workflow: WorkflowKey::new("tally")?,
            open: OperationKey::new("open")?,
            add: OperationKey::new("add")?,
            clear: OperationKey::new("clear")?,
            send: OperationKey::new("send")?,
            office: DestinationKey::new(OFFICE)?,
            amount: SlotName::new("amount")?,
            english: Locale::new("en")?,
        })
    }
}

/// A tally.
#[derive(Debug, Clone)]
pub struct Tally(pub Names);

/// What a tally is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    is_open: bool,
    total: i64,
    count: u64,
}

/// What can be asked of a tally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Begin.
    Open,
    /// Count up.
    Add {
        /// By how much.
        amount: i64,
    },
    /// Begin anew, where a click says so.
    Clear,
    /// Send the total to the office.
    Send,
    /// Note what became of that.
    Note {
        /// Whether the office took it.
        taken: bool,
    },
}

/// What can have happened to a tally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It was begun.
    Opened,
    /// It was counted up.
    Added {
        /// By how much.
        amount: i64,
    },
    /// It begins anew.
    Cleared,
    /// It is to be sent.
    Sent,
    /// What became of that.
    Noted {
        /// Whether the office took it.
        taken: bool,
    },
}

impl Workflow for Tally {
    type State = State;
    type Command = Command;
    type Event = Event;

    fn key(&self) -> WorkflowKey {
        self.0.workflow.clone()
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        let spec = |key: &OperationKey, creates, slots, words: &str| OperationSpec {
            key: key.clone(),
            creates,
            slots,
            phrases: vec![Phrase::new(&self.0.english, words)],
            names: vec![Phrase::new(&self.0.english, words)],
        };
        let amount =
            SlotSpec { name: self.0.amount.clone(), kind: SlotKind::Integer, required: true };
        vec![
            spec(&self.0.open, true, Vec::new(), "open a tally"),
            spec(&self.0.add, false, vec![amount], "add {amount}"),
            spec(&self.0.clear, false, Vec::new(), "clear it"),
            spec(&self.0.send, false, Vec::new(), "send it"),
        ]
    }

    fn initial(&self) -> State {
        State::default()
    }

    fn decide(
        &self,
        state: &State,
        command: &Command,
        _now: Timestamp,
    ) -> Result<Decision<Event>, Rejection> {
        match (state.is_open, command) {
            (false, Command::Open) => Ok(Decision::events([Event::Opened])),
            (true, Command::Open) => Err(Rejection::new("open_already")),
            (false, Command::Add { .. } | Command::Clear | Command::Send) => {
                Err(Rejection::new("not_open"))
            }
            (_, Command::Note { taken }) => Ok(Decision::events([Event::Noted { taken: *taken }])),
            (true, Command::Add { amount }) => {
                Ok(Decision::events([Event::Added { amount: *amount }]))
            }
            (true, Command::Clear) => Ok(Decision::events([Event::Cleared])),
            (true, Command::Send) => {
                Ok(Decision::events([Event::Sent]).with_effect(EffectRequest {
                    destination: self.0.office.clone(),
                    operation: "file".to_owned(),
                    payload: Json::of(&state.total).unwrap_or_default(),
                }))
            }
        }
    }

    fn evolve(&self, mut state: State, event: &Event) -> State {
        match event {
            Event::Opened => state.is_open = true,
            Event::Added { amount } => {
                state.total = state.total.saturating_add(*amount);
                state.count += 1;
            }
            Event::Cleared => (state.total, state.count) = (0, 0),
            Event::Sent | Event::Noted { .. } => {}
        }
        state
    }

    fn project(&self, state: &State, _locale: &Locale) -> Projection<Command> {
        Projection {
            phase: Phase { key: "counting".to_owned(), owner: PhaseOwner::Anyone },
            obligations: Vec::new(),
            label: Text::from("tally"),
            aliases: vec![Text::from("the tally"), Text::from("count")],
            facts: vec![Fact {
                name: "total".to_owned(),
                value: Text::from(state.total.to_string()),
            }],
            operations: if state.is_open {
                vec![self.0.add.clone(), self.0.clear.clone(), self.0.send.clone()]
            } else {
                Vec::new()
            },
            required: None,
        }
    }

    fn compile(&self, _state: &State, act: &OperationAct<'_>) -> Result<Command, CompileError> {
        if *act.operation == self.0.open {
            return Ok(Command::Open);
        }
        if *act.operation == self.0.clear {
            return Ok(Command::Clear);
        }
        if *act.operation == self.0.send {
            return Ok(Command::Send);
        }
        match act.values.get(&self.0.amount) {
            Some(SlotValue::Integer(amount)) => Ok(Command::Add { amount: *amount }),
            _ => Err(CompileError::NotOnOffer),
        }
    }

    fn policy(&self, _state: &State, command: &Command) -> CommandPolicy {
        match command {
            // A bench's office is nobody: what goes there needs no click.
            Command::Open | Command::Add { .. } | Command::Send => CommandPolicy::direct(),
            Command::Clear | Command::Note { .. } => CommandPolicy::strictest(),
        }
    }

    fn confirmation(&self, _: &State, _: &Command, _: &Locale) -> Confirmation {
        Confirmation {
            title: Text::from("Begin anew?"),
            lines: Vec::new(),
            confirm: Text::from("Yes"),
            decline: Text::from("No"),
        }
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<Event>],
        view: &WorkflowView,
        _locale: &Locale,
    ) -> Vec<ReceiptDraft> {
        let total = view.projection.facts.first().map(|fact| fact.value.clone());
        vec![ReceiptDraft {
            status: ReceiptStatus::Recorded,
            severity: ReceiptSeverity::Success,
            title: Text::from("Counted"),
            body: Text::from("The total is ").text(&total.unwrap_or_default()),
            event_ids: events.iter().map(|event| event.id).collect(),
            external_reference: None,
            claim_mode: ClaimMode::ServerReceiptOnly,
        }]
    }

    fn conclude(&self, _effect: EffectId, conclusion: &EffectConclusion) -> Option<Command> {
        Some(Command::Note { taken: matches!(conclusion, EffectConclusion::Accepted { .. }) })
    }

    fn rejection(&self, rejection: &Rejection, _locale: &Locale) -> Text {
        Text::from(rejection.code.clone())
    }
}

/// Understands the messages of the load by their first word.
#[derive(Debug)]
pub struct ScriptedTally(pub Names);

#[async_trait]
impl Interpreter for ScriptedTally {
    fn version(&self) -> String {
        "scripted-tally/1".to_owned()
    }

    async fn understand(
        &self,
        brief: &Brief,
        _refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        let Names { workflow, open, add, clear, send, amount, .. } = &self.0;
        let operation = match brief.message.words().next() {
            Some("open") => open,
            Some("clear") => clear,
            Some("send") => send,
            _ => add,
        };
        let value = WordRange { start: 1, end: 2 };
        let pointer = brief.message.pointer(value);
        let pointer = pointer.ok_or(InterpreterError::Refused("too few words".to_owned()))?;
        let argument = Argument { slot: amount.clone(), pointer };
        let target = match (operation == open, brief.handles.first()) {
            (true, _) => ProposedTarget::New(workflow.clone()),
            (false, Some(handle)) => ProposedTarget::Handle(handle.token.clone()),
            (false, None) => ProposedTarget::Unstated,
        };
        let intent = Intent::Operate {
            operation: OperationRef { workflow: workflow.clone(), operation: operation.clone() },
            target,
            arguments: if operation == add { vec![argument] } else { Vec::new() },
            mood: Mood::Requested,
            corrects: None,
        };
        let source = WordRange { start: 0, end: 2 };
        let acts = vec![ProposedAct { source, intent }];
        Ok(Understanding { acts, ..Understanding::default() })
    }
}
