//! What a turn meets: cases, cards, a message and what it means, built from a [`TurnSpec`].

use std::collections::BTreeMap;

use turnframe_core::canonical::Json;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    CaseRef, CaseRevision, ConversationId, OperationRef, SubjectId, TurnId, WorkflowKey,
};
use turnframe_core::interaction::{
    CardContext, Continuation, Interaction, InteractionKind, InteractionPayload,
    InteractionResponse, InteractionStatus, OptionMeaning, StoredOption,
};
use turnframe_core::operation::SlotValue;
use turnframe_core::personal::Personal;
use turnframe_core::plan::ExecutionPlan;
use turnframe_core::policy::RiskClass;
use turnframe_core::reduce::{CaseInTurn, ChoiceWords, Click, TurnInput, reduce};
use turnframe_core::registry::{ErasedState, ErasedWorkflow, WorkflowRegistry};
use turnframe_core::source::IdSource;
use turnframe_core::target::{TargetTable, TargetToken};
use turnframe_core::understanding::{Brief, CardInView, Handle, Understanding};
use turnframe_core::words::Message;
use turnframe_test::literal;
use turnframe_test::sources::{START, ids};

use crate::boxes::{Boxes, Command, OPERATIONS};
use crate::spec::{CardSpec, CaseSpec, ChoiceSpec, ClickSpec, TurnSpec};

/// Every word that can be said. The first three are names of cases.
pub(crate) const WORDS: &str = "one two three red blue black never";
/// The workflows.
pub(crate) const WORKFLOWS: [&str; 2] = ["box", "crate"];

const TERMINAL: [InteractionStatus; 6] = [
    InteractionStatus::Resolved,
    InteractionStatus::Declined,
    InteractionStatus::Dismissed,
    InteractionStatus::Invalidated,
    InteractionStatus::Expired,
    InteractionStatus::Failed,
];

/// A turn and everything it is reduced from.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) registry: WorkflowRegistry,
    pub(crate) actor: ActorContext,
    pub(crate) speaker: SubjectId,
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    pub(crate) cases: BTreeMap<CaseRef, CaseInTurn>,
    pub(crate) targets: TargetTable,
    pub(crate) tokens: Vec<(TargetToken, CaseRef)>,
    pub(crate) choices: Vec<Interaction>,
    /// Cards that can be clicked, with where they stand.
    pub(crate) cards: Vec<(Interaction, InteractionStatus)>,
    pub(crate) click: Option<Click>,
    pub(crate) understanding: Understanding,
    ids: IdSource,
}

impl World {
    /// What the numbers say.
    pub(crate) fn of(spec: &TurnSpec) -> Self {
        let registry = WorkflowRegistry::new();
        let with = |registry: WorkflowRegistry, key| registry.with(Boxes(key)).expect("one each");
        let actor = ActorContext {
            account: literal("acme"),
            actor: literal("ada"),
            locale: literal("en"),
            time_zone: "UTC".to_owned(),
        };
        let mut world = Self {
            registry: WORKFLOWS.into_iter().fold(registry, with),
            speaker: actor.subject().expect("subject"),
            targets: TargetTable::new(actor.account.clone()),
            actor,
            conversation: literal("here"),
            turn: literal("t-1"),
            cases: BTreeMap::new(),
            tokens: Vec::new(),
            choices: Vec::new(),
            cards: Vec::new(),
            click: None,
            understanding: Understanding::default(),
            ids: ids(1),
        };
        spec.cases.iter().for_each(|case| world.admit(case));
        spec.choices.iter().for_each(|choice| world.choose(choice));
        if spec.is_cut {
            world.targets.cut();
        }
        world.click = spec.click.as_ref().and_then(|click| world.click_on(click));
        world.understanding = crate::said::understanding(&world, spec);
        world
    }

    /// The plan of the turn, with ids of a seed of its own: the same whenever it is asked for.
    pub(crate) fn plan(&self) -> ExecutionPlan {
        let ids = ids(2);
        let words = ChoiceWords { title: "Which one?".into(), none: "None of them".into() };
        let input = TurnInput {
            conversation: &self.conversation,
            turn: &self.turn,
            actor: &self.actor,
            speaker: &self.speaker,
            now: START,
            registry: &self.registry,
            understanding: &self.understanding,
            words_failed: false,
            targets: &self.targets,
            cases: &self.cases,
            choices: &self.choices,
            click: self.click.as_ref(),
            words: &words,
            ids: &ids,
        };
        reduce(&input).expect("nothing stored here is corrupt")
    }

    /// What an interpreter of this turn sees.
    pub(crate) fn brief(&self) -> Brief {
        let handle = |(token, case): &(TargetToken, CaseRef)| Handle {
            token: token.clone(),
            workflow: case.workflow.clone(),
            names: Vec::new(),
        };
        let in_view = |card: &Interaction| CardInView {
            id: card.id,
            options: card.payload.options.iter().map(|it| (it.id.clone(), String::new())).collect(),
        };
        Brief {
            message: Message::new(WORDS).expect("message"),
            locale: self.actor.locale.clone(),
            operations: self.registry.offered_operations(),
            topics: self.registry.offered_topics(),
            handles: self.tokens.iter().map(handle).collect(),
            cards: self.open_cards().map(in_view).collect(),
        }
    }

    /// The open cards of this conversation.
    pub(crate) fn open_cards(&self) -> impl Iterator<Item = &Interaction> {
        let on_cases = self.cases.values().flat_map(|case| &case.cards);
        on_cases.chain(&self.choices).filter(|card| card.conversation == self.conversation)
    }

    pub(crate) fn workflow(&self, key: &WorkflowKey) -> &dyn ErasedWorkflow {
        self.registry.get(key).expect("registered").as_ref()
    }

    /// The state a case begins the turn in.
    pub(crate) fn state(&self, case: &CaseRef) -> ErasedState {
        let found = self.cases.get(case).map(|it| it.state.clone());
        found.unwrap_or_else(|| self.workflow(&case.workflow).initial())
    }

    fn admit(&mut self, spec: &CaseSpec) {
        let key: WorkflowKey = literal(pick(&WORKFLOWS, spec.workflow));
        let name = pick(&["one", "two"], spec.name).to_owned();
        let paint = Command::Paint { colour: "red".to_owned() };
        let history = [Command::Open { name }, paint, Command::Seal, Command::Ship];
        let length = usize::from(spec.stage) % (history.len() + 1);
        let workflow = self.workflow(&key);
        let mut state = workflow.initial();
        for command in &history[..length] {
            let command = Json::of(command).expect("json");
            let decided = workflow.decide(&state, &command, START).expect("readable");
            state = decided.expect("a history that happened").after;
        }
        let projection = workflow.project(&state, &self.actor.locale).expect("projection");
        let case = CaseRef { workflow: key, case: self.ids.case() };
        let names = projection.label.to_string();
        let is_open = length > 0 && !projection.is_closed();
        let token =
            self.targets.admit(case.clone(), is_open, std::iter::once(names.as_str()), &self.ids);
        self.tokens.push((token, case.clone()));
        let revision = CaseRevision(length as u64);
        let cards = Vec::new();
        self.cases.insert(case.clone(), CaseInTurn { revision, state, projection, cards });
        spec.cards.iter().for_each(|card| self.draw(&case, card));
    }

    fn draw(&mut self, case: &CaseRef, spec: &CardSpec) {
        let found = &self.cases[case];
        let required = found.projection.required.clone().filter(|_| spec.is_required);
        let payload = required.unwrap_or_else(|| self.confirm(case, spec));
        let revision = found.revision.0.saturating_sub(u64::from(spec.is_stale));
        let elsewhere = literal("elsewhere");
        let context = CardContext {
            conversation: if spec.is_elsewhere { &elsewhere } else { &self.conversation },
            turn: &literal("t-0"),
            case: Some(case),
            revision: CaseRevision(revision),
            subject: &self.speaker,
        };
        let card = Interaction::draw(payload, &context, &self.ids).expect("drawn");
        let status = self.offer(&card, spec.closed);
        if status == InteractionStatus::Active {
            self.cases.get_mut(case).expect("admitted").cards.push(card);
        }
    }

    /// A card that asks for a click on a command, as execution draws it.
    fn confirm(&self, case: &CaseRef, spec: &CardSpec) -> InteractionPayload {
        let paint = Command::Paint { colour: "blue".to_owned() };
        let commands = [Command::Note, paint, Command::Seal, Command::Ship, Command::Burn];
        let index = usize::from(spec.command) % commands.len();
        let command = Json::of(&commands[index]).expect("json");
        let state = &self.cases[case].state;
        let policy = self.workflow(&case.workflow).policy(state, &command).expect("policy");
        let operation = literal(OPERATIONS[index + 1]);
        let operation = OperationRef { workflow: case.workflow.clone(), operation };
        let options =
            [("confirm", OptionMeaning::Execute(command)), ("decline", OptionMeaning::Decline)];
        InteractionPayload {
            independent: spec.is_independent,
            risk: policy.risk,
            operation: Some(operation),
            ..card(InteractionKind::ConfirmCommand, options)
        }
    }

    fn choose(&mut self, spec: &ChoiceSpec) {
        let key: WorkflowKey = literal(pick(&WORKFLOWS, spec.workflow));
        let cases = self.cases.keys().filter(|case| case.workflow == key).cloned();
        let options: Vec<_> = cases.map(OptionMeaning::Choose).collect();
        let names = ["1", "2", "3", "4"].into_iter().zip(options);
        let continuation = match spec.operation {
            Some(operation) => {
                let operation = literal(pick(&OPERATIONS[1..], operation));
                let colour = (literal("colour"), SlotValue::Choice("blue".to_owned()));
                Continuation::Operate {
                    operation: OperationRef { workflow: key, operation },
                    values: Personal::known(self.speaker.clone(), BTreeMap::from([colour])),
                }
            }
            None => Continuation::Ask { workflow: key, topic: literal("status") },
        };
        let payload = InteractionPayload {
            continuation: Some(continuation),
            independent: true,
            ..card(InteractionKind::SelectTarget, names.chain([("none", OptionMeaning::Decline)]))
        };
        let context = CardContext {
            conversation: &self.conversation,
            turn: &literal("t-0"),
            case: None,
            revision: CaseRevision::NONE,
            subject: &self.speaker,
        };
        let card = Interaction::draw(payload, &context, &self.ids).expect("drawn");
        if self.offer(&card, spec.closed) == InteractionStatus::Active {
            self.choices.push(card);
        }
    }

    /// Lets a card be clicked, where it is of this conversation. Says where it stands.
    fn offer(&mut self, card: &Interaction, closed: Option<u8>) -> InteractionStatus {
        let status = closed.map_or(InteractionStatus::Active, |it| pick(&TERMINAL, it));
        if card.conversation == self.conversation {
            self.cards.push((card.clone(), status));
        }
        status
    }

    fn click_on(&self, spec: &ClickSpec) -> Option<Click> {
        if self.cards.is_empty() {
            return None;
        }
        let (card, status) = pick(&self.cards, spec.card);
        let option = pick(&card.payload.options, spec.option);
        let takes_value = matches!(option.meaning, OptionMeaning::Fill(_));
        let value = pick(&["green", "abroad", ""], spec.value);
        let response = InteractionResponse {
            interaction: card.id,
            option: option.id.clone(),
            expected_revision: card.revision,
            value: takes_value.then(|| value.to_owned()),
        };
        Some(Click { response, card, status })
    }
}

/// The one of several that a number chooses.
pub(crate) fn pick<T: Clone>(of: &[T], number: u8) -> T {
    of[usize::from(number) % of.len()].clone()
}

fn card(
    kind: InteractionKind,
    options: impl IntoIterator<Item = (&'static str, OptionMeaning)>,
) -> InteractionPayload {
    let option = |(id, meaning): (&str, _)| StoredOption {
        id: literal(id),
        label: id.into(),
        meaning,
        freeform: None,
    };
    InteractionPayload {
        kind,
        requirement: None,
        operation: None,
        continuation: None,
        title: "Well?".into(),
        lines: Vec::new(),
        options: options.into_iter().map(option).collect(),
        risk: RiskClass::Low,
        independent: false,
    }
}
