//! What a turn's message means, built from its [`TurnSpec`].

use turnframe_core::id::{OperationRef, WorkflowKey};
use turnframe_core::interaction::Interaction;
use turnframe_core::target::TargetToken;
use turnframe_core::understanding::{
    Argument, CancelTarget, Intent, Mood, Prohibition, ProhibitionScope, ProposedAct,
    ProposedQuestion, ProposedTarget, Understanding,
};
use turnframe_core::words::{Message, Pointer, WordRange};
use turnframe_test::literal;

use crate::boxes::OPERATIONS;
use crate::spec::{ActSpec, OperateSpec, ScopeSpec, TargetSpec, TurnSpec};
use crate::world::{WORDS, WORKFLOWS, World, pick};

/// What the message of a turn means. The numbers of a spec are taken so that every reference fits.
pub(crate) fn understanding(world: &World, spec: &TurnSpec) -> Understanding {
    let said = Said { world, message: Message::new(WORDS).expect("message") };
    let mut understanding = Understanding::default();
    for act in &spec.acts {
        let index = understanding.acts.len();
        let intent = said.intent(index, act);
        understanding.acts.push(ProposedAct { source: said.source(index), intent });
    }
    for question in &spec.questions {
        let workflow: WorkflowKey = literal(pick(&WORKFLOWS, question.workflow));
        let asks_of_nothing = matches!(question.target, TargetSpec::New);
        let target = if asks_of_nothing { &TargetSpec::Unstated } else { &question.target };
        let target = said.target(understanding.acts.len(), &workflow, target);
        let source = said.source(understanding.questions.len());
        let topic = literal("status");
        understanding.questions.push(ProposedQuestion { source, workflow, topic, target });
    }
    for scope in &spec.prohibitions {
        let source = said.source(understanding.prohibitions.len());
        understanding.prohibitions.push(Prohibition { source, scope: scope_of(scope) });
    }
    if spec.is_unread {
        understanding.unread.push(said.source(6));
    }
    understanding
}

struct Said<'w> {
    world: &'w World,
    message: Message,
}

impl Said<'_> {
    fn source(&self, index: usize) -> WordRange {
        let start = u32::try_from(index % self.message.len()).expect("few words");
        WordRange { start, end: start + 1 }
    }

    fn pointer(&self, word: u8) -> Pointer {
        let range = self.source(usize::from(word));
        self.message.pointer(range).expect("a word")
    }

    fn intent(&self, index: usize, act: &ActSpec) -> Intent {
        let cards: Vec<&Interaction> = self.world.open_cards().collect();
        match act {
            ActSpec::Operate(operate) => self.operate(index, operate),
            ActSpec::Answer { card, option, says_which } if !cards.is_empty() => {
                let card = pick(&cards, *card);
                let option = pick(&card.payload.options, *option).id.clone();
                Intent::Answer { card: says_which.then_some(card.id), option }
            }
            ActSpec::CancelAct(earlier) if index > 0 => {
                Intent::Cancel(CancelTarget::Act(usize::from(*earlier) % index))
            }
            ActSpec::CancelCard(card) if !cards.is_empty() => {
                Intent::Cancel(CancelTarget::Card(pick(&cards, *card).id))
            }
            ActSpec::Answer { .. }
            | ActSpec::CancelAct(_)
            | ActSpec::CancelCard(_)
            | ActSpec::CancelOpenCard => Intent::Cancel(CancelTarget::OpenCard),
        }
    }

    fn operate(&self, index: usize, spec: &OperateSpec) -> Intent {
        let creates = matches!(spec.target, TargetSpec::New);
        let key = if creates { "open" } else { pick(&OPERATIONS[1..], spec.operation) };
        let operation = operation(spec.workflow, key);
        let slot = match key {
            "open" => Some("name"),
            "paint" => Some("colour"),
            _ => None,
        };
        let argument = |(slot, word)| Argument { slot: literal(slot), pointer: self.pointer(word) };
        let mood = if spec.is_hypothetical { Mood::Hypothetical } else { Mood::Requested };
        let corrects = spec.corrects.filter(|_| index > 0).map(|it| usize::from(it) % index);
        Intent::Operate {
            target: self.target(index, &operation.workflow, &spec.target),
            operation,
            arguments: slot.zip(spec.argument).map(argument).into_iter().collect(),
            mood,
            corrects,
        }
    }

    fn target(&self, index: usize, workflow: &WorkflowKey, spec: &TargetSpec) -> ProposedTarget {
        let of_workflow: Vec<&TargetToken> = self
            .world
            .tokens
            .iter()
            .filter(|(_, case)| case.workflow == *workflow)
            .map(|(token, _)| token)
            .collect();
        match spec {
            TargetSpec::Handle(number) if !of_workflow.is_empty() => {
                ProposedTarget::Handle(pick(&of_workflow, *number).clone())
            }
            TargetSpec::Unknown => ProposedTarget::Handle(TargetToken::from("0")),
            TargetSpec::New => ProposedTarget::New(workflow.clone()),
            TargetSpec::Act(earlier) if index > 0 => {
                ProposedTarget::Act(usize::from(*earlier) % index)
            }
            TargetSpec::Mention(word) => ProposedTarget::Mention(self.pointer(*word)),
            TargetSpec::Handle(_) | TargetSpec::Act(_) | TargetSpec::Unstated => {
                ProposedTarget::Unstated
            }
        }
    }
}

fn operation(workflow: u8, key: &str) -> OperationRef {
    OperationRef { workflow: literal(pick(&WORKFLOWS, workflow)), operation: literal(key) }
}

fn scope_of(spec: &ScopeSpec) -> ProhibitionScope {
    match spec {
        ScopeSpec::Operations(named) => {
            let named =
                named.iter().map(|(workflow, key)| operation(*workflow, pick(&OPERATIONS, *key)));
            ProhibitionScope::Operations(named.collect())
        }
        ScopeSpec::Submissions => ProhibitionScope::Submissions,
        ScopeSpec::Everything => ProhibitionScope::Everything,
    }
}
