//! Builds jobs from numbers.

use turnframe_core::canonical::{Digest, Json};
use turnframe_core::id::{CaseRevision, ConversationId, OperationRef, TurnId};
use turnframe_core::interaction::{Interaction, InteractionStatus, OptionMeaning};
use turnframe_core::personal::Personal;
use turnframe_core::plan::{ActId, Action, Step};
use turnframe_core::policy::CommandOrigin;
use turnframe_ledger::Version;
use turnframe_runtime::execute::{CaseJob, JobStep};
use turnframe_runtime::key;
use turnframe_runtime::record::FactKey;
use turnframe_test::literal;
use turnframe_test::sample::{DeskCommand, OrderOutcome};
use turnframe_test::sources::START;

use crate::desk::Desk;
use crate::spec::{ActionSpec, ClickSpec, JobSpec, StepSpec};

impl Desk {
    /// Builds a job. None where there is nothing to ask for.
    pub(crate) fn job(&self, spec: &JobSpec) -> Option<CaseJob> {
        match spec {
            JobSpec::Turn { is_elsewhere, is_late, click, steps } => {
                let conversation = literal(if *is_elsewhere { "elsewhere" } else { "here" });
                let turn: TurnId = literal(&format!("t-{}", self.commits.len()));
                let late = u64::from(*is_late);
                let expected = CaseRevision(self.fold.revision.0.saturating_sub(late));
                let mut actions: Vec<_> = click
                    .as_ref()
                    .and_then(|click| self.click(click, &conversation))
                    .map(|(operation, action)| (ActId::CLICK, None, operation, action))
                    .into_iter()
                    .collect();
                for (index, StepSpec { action, depends_on }) in steps.iter().enumerate() {
                    let id = ActId(u16::try_from(index + 1).expect("few"));
                    let earlier = depends_on.filter(|_| index > 0);
                    let depends_on = earlier
                        .map(|it| ActId(u16::from(it) % u16::try_from(index).expect("few") + 1));
                    let said = self.said(action, &turn, id, &conversation);
                    actions.extend(said.map(|(it, action)| (id, depends_on, it, action)));
                }
                let step = |(id, depends_on, operation, action)| {
                    self.step(&conversation, &turn, id, depends_on, operation, action)
                };
                let steps: Vec<_> = actions.into_iter().map(step).collect();
                let job = CaseJob { turn: Some(turn), expected: Some(expected), ..self.empty() };
                (!steps.is_empty()).then_some(CaseJob { conversation, steps, ..job })
            }
            JobSpec::Outside { effect, outcome } => {
                Some(CaseJob { steps: vec![self.outside(*effect, *outcome)], ..self.carrying() })
            }
        }
    }

    fn empty(&self) -> CaseJob {
        CaseJob {
            case: self.case.clone(),
            conversation: literal("here"),
            turn: None,
            causation: None,
            actor: self.actor.clone(),
            speaker: self.speaker.clone(),
            expected: None,
            now: START,
            steps: Vec::new(),
            carries: None,
        }
    }

    fn carrying(&self) -> CaseJob {
        let fact = FactKey { version: Version(1), entry: self.ids.entry() };
        CaseJob { carries: Some(fact), ..self.empty() }
    }

    fn outside(&self, effect: u8, outcome: u8) -> JobStep {
        let effect = match self.effects.as_slice() {
            [] => self.ids.effect(),
            effects => effects[usize::from(effect) % effects.len()],
        };
        let outcome = match outcome % 4 {
            0 => OrderOutcome::Accepted { reference: "R1".to_owned() },
            1 => OrderOutcome::Rejected { code: "sold_out".to_owned() },
            2 => OrderOutcome::Unknown,
            _ => OrderOutcome::ReconciliationRequired,
        };
        let command = json(&DeskCommand::RecordOutcome { effect, outcome });
        let origin = CommandOrigin::ExternalReceipt { effect };
        JobStep {
            act: None,
            operation: None,
            key: key::relay(self.ids.entry()).expect("a key"),
            act_key: None,
            facts: vec![effect.to_string()],
            step: Step::on(self.case.clone(), Action::Run { command, origin, resolves: None }),
        }
    }

    fn step(
        &self,
        conversation: &ConversationId,
        turn: &TurnId,
        id: ActId,
        depends_on: Option<ActId>,
        operation: Option<OperationRef>,
        action: Action,
    ) -> JobStep {
        JobStep {
            act: Some(id),
            key: key::step(conversation, turn, id, &action).expect("a key"),
            act_key: Some(key::act(conversation, turn, id).expect("a key")),
            facts: vec![self.case.to_string()],
            operation,
            step: Step { depends_on, ..Step::on(self.case.clone(), action) },
        }
    }

    /// What the words ask for.
    fn said(
        &self,
        spec: &ActionSpec,
        turn: &TurnId,
        act: ActId,
        conversation: &ConversationId,
    ) -> Option<(Option<OperationRef>, Action)> {
        let origin = CommandOrigin::DirectUserAct { turn: turn.clone(), act };
        match spec {
            ActionSpec::Run(command) => {
                let (operation, command) = self.command(*command);
                Some((Some(operation), Action::Run { command, origin, resolves: None }))
            }
            ActionSpec::Confirm(command) => {
                let (operation, command) = self.command(*command);
                let policy = self.workflow().policy(&self.fold.state, &command).expect("policy");
                Some((Some(operation.clone()), Action::Confirm { command, operation, policy }))
            }
            ActionSpec::Answer { card, option } => {
                let card = self.card(*card, conversation)?;
                let option =
                    &card.payload.options[usize::from(*option) % card.payload.options.len()];
                let action = match &option.meaning {
                    OptionMeaning::Execute(command) => {
                        let (command, resolves) = (command.clone(), Some(card.id));
                        Action::Run { command, origin, resolves }
                    }
                    OptionMeaning::Decline => {
                        let (status, option) =
                            (InteractionStatus::Declined, Some(option.id.clone()));
                        Action::Close { card: card.id, status, option }
                    }
                    OptionMeaning::Fill(_) | OptionMeaning::Choose(_) => return None,
                };
                Some((card.payload.operation.clone(), action))
            }
            ActionSpec::Dismiss(card) => {
                let (card, status) =
                    (self.card(*card, conversation)?.id, InteractionStatus::Dismissed);
                Some((None, Action::Close { card, status, option: None }))
            }
        }
    }

    fn click(
        &self,
        spec: &ClickSpec,
        conversation: &ConversationId,
    ) -> Option<(Option<OperationRef>, Action)> {
        let card = self.card(spec.card, conversation)?;
        let option = &card.payload.options[usize::from(spec.option) % card.payload.options.len()];
        let operation = card.payload.operation.clone();
        if spec.is_renewed {
            let status = InteractionStatus::Invalidated;
            let (card, option) = (Box::new(card.clone()), option.id.clone());
            return Some((operation, Action::Renew { card, option, status }));
        }
        let command = match &option.meaning {
            OptionMeaning::Execute(command) => command.clone(),
            OptionMeaning::Fill(command) => {
                let filled = self.workflow().fill(command, "harbour", &self.speaker);
                filled.expect("readable").expect("a value that fits")
            }
            OptionMeaning::Decline | OptionMeaning::Choose(_) => {
                let (status, option) = (InteractionStatus::Declined, Some(option.id.clone()));
                return Some((operation, Action::Close { card: card.id, status, option }));
            }
        };
        let payload_hash = if spec.is_forged { Digest::ZERO } else { card.payload_hash };
        let (interaction, option) = (card.id, option.id.clone());
        let origin = CommandOrigin::ConfirmedInteraction { interaction, option, payload_hash };
        Some((operation, Action::Run { command, origin, resolves: Some(card.id) }))
    }

    /// A card of the conversation, open or not.
    fn card(&self, number: u8, conversation: &ConversationId) -> Option<&Interaction> {
        let here: Vec<_> =
            self.cards.iter().filter(|card| card.conversation == *conversation).collect();
        let index = usize::from(number).checked_rem(here.len())?;
        Some(here[index])
    }

    fn command(&self, number: u8) -> (OperationRef, Json) {
        let note = |words: &str| Personal::known(self.speaker.clone(), words.to_owned());
        let branch = |name: &str| DeskCommand::ChooseBranch { branch: name.to_owned() };
        let open = DeskCommand::Open { title: "Emma".to_owned(), reader: Some(note("Ada")) };
        let (operation, command) = match number % 8 {
            0 | 1 => ("open", open),
            2 => ("note", DeskCommand::Note { note: note("signed copy") }),
            3 => ("note", DeskCommand::Note { note: note("large print") }),
            4 => ("choose_branch", branch("north")),
            5 => ("choose_branch", branch("south")),
            6 => ("order", DeskCommand::Order),
            _ => ("withdraw", DeskCommand::Withdraw),
        };
        let workflow = self.case.workflow.clone();
        (OperationRef { workflow, operation: literal(operation) }, json(&command))
    }
}

fn json(command: &DeskCommand) -> Json {
    Json::of(command).expect("a command is JSON")
}
