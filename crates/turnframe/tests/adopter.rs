//! A whole adopter in one file, on the facade alone: a workflow, a system, and turns.
//!
//! The domain is a lamp with a price tag on darkness: switching it on is done as it is said, switching it off
//! needs a click.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use turnframe::core::block::{AssistantTurn, ResponseBlock};
use turnframe::core::interaction::InteractionView;
use turnframe::core::plan::ActOutcome;
use turnframe::ledger::open::open;
use turnframe::prelude::*;
use turnframe::runtime::directory::LedgerDirectory;
use turnframe::runtime::offline::OfflineInterpreter;
use turnframe::{Limits, System, SystemParts, TurnInput};

/// Whether there is a lamp, and whether it is on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Lamp {
    is_installed: bool,
    is_on: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum LampCommand {
    Install,
    SwitchOn,
    SwitchOff,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum LampEvent {
    Installed,
    SwitchedOn,
    SwitchedOff,
}

struct LampWorkflow;

fn name<T: std::str::FromStr<Err = IdError>>(text: &str) -> T {
    text.parse().expect("a name")
}

fn operation(key: &str, creates: bool, phrase: &str) -> OperationSpec {
    let english: Locale = name("en");
    OperationSpec {
        key: name(key),
        creates,
        slots: Vec::new(),
        phrases: vec![Phrase::new(&english, phrase)],
        names: vec![Phrase::new(&english, key)],
    }
}

impl Workflow for LampWorkflow {
    type State = Lamp;
    type Command = LampCommand;
    type Event = LampEvent;

    fn key(&self) -> WorkflowKey {
        name("lamp")
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        vec![
            operation("install", true, "install a lamp"),
            operation("switch_on", false, "switch the lamp on"),
            operation("switch_off", false, "switch the lamp off"),
        ]
    }

    fn initial(&self) -> Lamp {
        Lamp::default()
    }

    fn decide(
        &self,
        lamp: &Lamp,
        command: &LampCommand,
        _now: Timestamp,
    ) -> Result<Decision<LampEvent>, Rejection> {
        match command {
            LampCommand::Install if !lamp.is_installed => {
                Ok(Decision::events([LampEvent::Installed]))
            }
            LampCommand::SwitchOn if !lamp.is_on => Ok(Decision::events([LampEvent::SwitchedOn])),
            LampCommand::SwitchOff if lamp.is_on => Ok(Decision::events([LampEvent::SwitchedOff])),
            LampCommand::Install | LampCommand::SwitchOn | LampCommand::SwitchOff => {
                Err(Rejection::new("unchanged"))
            }
        }
    }

    fn evolve(&self, lamp: Lamp, event: &LampEvent) -> Lamp {
        match event {
            LampEvent::Installed => Lamp { is_installed: true, ..lamp },
            LampEvent::SwitchedOn => Lamp { is_on: true, ..lamp },
            LampEvent::SwitchedOff => Lamp { is_on: false, ..lamp },
        }
    }

    fn project(&self, lamp: &Lamp, _locale: &Locale) -> Projection<LampCommand> {
        let (phase, operations): (&str, &[&str]) = match (lamp.is_installed, lamp.is_on) {
            (false, _) => ("new", &["install"]),
            (true, false) => ("dark", &["switch_on"]),
            (true, true) => ("bright", &["switch_off"]),
        };
        Projection {
            phase: Phase { key: phase.to_owned(), owner: PhaseOwner::Anyone },
            obligations: Vec::new(),
            label: "the lamp".into(),
            aliases: Vec::new(),
            facts: Vec::new(),
            operations: operations.iter().map(|key| name(key)).collect(),
            required: None,
        }
    }

    fn compile(&self, _: &Lamp, act: &OperationAct<'_>) -> Result<LampCommand, CompileError> {
        match act.operation.as_str() {
            "install" => Ok(LampCommand::Install),
            "switch_on" => Ok(LampCommand::SwitchOn),
            "switch_off" => Ok(LampCommand::SwitchOff),
            _ => Err(CompileError::NotOnOffer),
        }
    }

    fn policy(&self, _: &Lamp, command: &LampCommand) -> CommandPolicy {
        match command {
            LampCommand::Install | LampCommand::SwitchOn => CommandPolicy::direct(),
            LampCommand::SwitchOff => CommandPolicy::strictest(),
        }
    }

    fn confirmation(&self, _: &Lamp, _: &LampCommand, _: &Locale) -> Confirmation {
        Confirmation {
            title: "Leave everybody in the dark?".into(),
            lines: vec!["the lamp: off".into()],
            confirm: "Switch it off".into(),
            decline: "Leave it on".into(),
        }
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<LampEvent>],
        _: &WorkflowView,
        _: &Locale,
    ) -> Vec<ReceiptDraft> {
        let receipt = |event: &CommittedEvent<LampEvent>| ReceiptDraft {
            status: ReceiptStatus::Recorded,
            severity: ReceiptSeverity::Success,
            title: match event.event {
                LampEvent::Installed => "Lamp installed".into(),
                LampEvent::SwitchedOn => "Lamp on".into(),
                LampEvent::SwitchedOff => "Lamp off".into(),
            },
            body: "the lamp".into(),
            event_ids: vec![event.id],
            external_reference: None,
            claim_mode: ClaimMode::ServerReceiptOnly,
        };
        events.iter().map(receipt).collect()
    }

    fn rejection(&self, _: &Rejection, _: &Locale) -> Text {
        "It is so already.".into()
    }
}

/// A deployment reads the machine's clock and entropy; a test counts.
struct Counting(AtomicU64);

impl Clock for Counting {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(1_767_225_600_000_000)
    }
}

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        buffer.iter_mut().rev().zip(number.iter().rev()).for_each(|(to, from)| *to = *from);
    }
}

async fn start() -> System {
    let opened = open("memory:", None).await.expect("a ledger");
    let registry = WorkflowRegistry::new().with(LampWorkflow).expect("a registry");
    let parts = SystemParts {
        interpreter: Arc::new(OfflineInterpreter::of(&registry).expect("phrases")),
        directory: Arc::new(LedgerDirectory::new(opened.ledger.clone())),
        ledger: opened.ledger,
        snapshots: opened.snapshots,
        registry,
        narrator: None,
        destinations: Vec::new(),
        domain_actors: Vec::new(),
        ids: IdSource::new(
            Arc::new(Counting(AtomicU64::new(1))),
            Arc::new(Counting(AtomicU64::new(1))),
        ),
        limits: Limits::default(),
    };
    System::start(parts).await.expect("a system")
}

/// Somebody who speaks to a system.
struct Speaker {
    system: System,
    actor: ActorContext,
    conversation: ConversationId,
}

impl Speaker {
    async fn enter(system: System) -> Self {
        let actor = ActorContext {
            account: name("home"),
            actor: name("ada"),
            locale: name("en"),
            time_zone: "UTC".to_owned(),
        };
        let conversation = name("hallway");
        system.open_conversation(&actor, &conversation).await.expect("open");
        Self { system, actor, conversation }
    }

    async fn post(&self, turn: &str, input: TurnInput) -> Arc<AssistantTurn> {
        let turn = name(turn);
        self.system.post(&self.actor, &self.conversation, &turn, input).await.expect("an answer")
    }

    async fn say(&self, turn: &str, words: &str) -> Arc<AssistantTurn> {
        self.post(turn, TurnInput { text: Some(words.to_owned()), ..TurnInput::default() }).await
    }

    async fn click(&self, turn: &str, card: &InteractionView, option: &str) -> Arc<AssistantTurn> {
        let response = InteractionResponse {
            interaction: card.id,
            option: name(option),
            expected_revision: card.expected_revision,
            value: None,
        };
        self.post(turn, TurnInput { response: Some(response), ..TurnInput::default() }).await
    }
}

fn receipts(answer: &AssistantTurn) -> Vec<String> {
    let title = |block: &ResponseBlock| match block {
        ResponseBlock::Receipt(receipt) => {
            assert!(!receipt.draft.event_ids.is_empty(), "a receipt cites events");
            Some(receipt.draft.title.to_string())
        }
        ResponseBlock::Answer { .. }
        | ResponseBlock::Transition { .. }
        | ResponseBlock::Notice(_)
        | ResponseBlock::Interaction(_)
        | ResponseBlock::Artifact(_) => None,
    };
    answer.blocks.iter().filter_map(title).collect()
}

#[tokio::test]
async fn a_workflow_of_an_adopter_runs_on_the_facade_alone() {
    let speaker = Speaker::enter(start().await).await;
    let installed = speaker.say("t1", "install a lamp").await;
    assert_eq!(receipts(&installed), ["Lamp installed"]);
    let on = speaker.say("t2", "switch the lamp on").await;
    assert_eq!(receipts(&on), ["Lamp on"]);

    let asked = speaker.say("t3", "switch the lamp off").await;
    assert!(receipts(&asked).is_empty(), "nothing is switched off by words");
    assert!(matches!(asked.acts[0].outcome, ActOutcome::AwaitingConfirmation { .. }));
    let cards = speaker.system.cards(&speaker.actor, &speaker.conversation).await.expect("cards");
    let off = speaker.click("t4", &cards[0], "confirm").await;
    assert_eq!(receipts(&off), ["Lamp off"]);
    speaker.system.shutdown().await;
}
