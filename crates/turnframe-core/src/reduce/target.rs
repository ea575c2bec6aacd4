//! From targets to cases, and the question that is asked when there are several (I8).

use super::{CHOICES_MAX, Reducer};
use crate::id::{CaseRef, CaseRevision, OptionId, WorkflowKey};
use crate::interaction::{
    CardContext, Continuation, Interaction, InteractionKind, InteractionPayload, InteractionStatus,
    OptionMeaning, StoredOption,
};
use crate::plan::{ActOutcome, ClosedChoice, Disposition, PlannedAnswer, PlannedQuestion};
use crate::policy::RiskClass;
use crate::registry::{CorruptJson, Erasure};
use crate::target::Resolution;
use crate::text::Text;
use crate::understanding::{Intent, ProposedQuestion, ProposedTarget};

/// What an act's target comes to.
pub(super) enum Target {
    Case(CaseRef),
    Ambiguous(Vec<CaseRef>),
    Missing,
    DependsOn(usize),
}

/// What a target comes down to.
pub(super) enum Origin<'a> {
    /// Words that name a record, and the act they stand in.
    Words { owner: usize, workflow: &'a WorkflowKey, target: &'a ProposedTarget },
    /// The record that this act brings into being, or whose card it is about.
    Act(usize),
    /// Acts that refer to each other.
    Circle,
}

impl<'a> Reducer<'a> {
    /// Resolves a target that names a record by itself.
    pub(super) fn resolve_named(
        &self,
        workflow: &WorkflowKey,
        target: &ProposedTarget,
    ) -> Resolution {
        let of_workflow = |case: &CaseRef| case.workflow == *workflow;
        let targets = self.input.targets;
        match target {
            ProposedTarget::Handle(token) => {
                let case = targets.by_token(&self.input.actor.account, token);
                case.filter(|case| of_workflow(case))
                    .cloned()
                    .map_or(Resolution::Missing, Resolution::One)
            }
            ProposedTarget::Mention(pointer) => targets.by_mention(&pointer.copy, of_workflow),
            ProposedTarget::Unstated => targets.unstated(of_workflow),
            ProposedTarget::New(_) | ProposedTarget::Act(_) => Resolution::Missing,
        }
    }

    /// Resolves any target of an act or a question that stands at a place in the message.
    pub(super) fn resolve(
        &self,
        place: usize,
        workflow: &'a WorkflowKey,
        target: &'a ProposedTarget,
    ) -> Target {
        if let ProposedTarget::New(workflow) = target {
            let case = self.input.ids.case();
            return Target::Case(CaseRef { workflow: workflow.clone(), case });
        }
        match self.origin(place, workflow, target) {
            Origin::Circle => Target::Missing,
            Origin::Act(act) => match &self.texts[act].case {
                Some(case) if self.input.cases.contains_key(case) || self.born.contains(case) => {
                    of_workflow(case, workflow)
                }
                Some(_) | None => Target::DependsOn(act),
            },
            Origin::Words { owner, workflow: named_in, target } => {
                match self.resolve_named(named_in, target) {
                    Resolution::One(case) => of_workflow(&case, workflow),
                    Resolution::Ambiguous(_) | Resolution::Missing
                        if owner != place && self.asks(owner) =>
                    {
                        Target::DependsOn(owner)
                    }
                    Resolution::Ambiguous(cases) => Target::Ambiguous(cases),
                    Resolution::Missing => Target::Missing,
                }
            }
        }
    }

    /// Where a target comes from, once acts that refer to acts are followed, and the corrections in their places. A
    /// correction that refers to what it corrects means the record of that.
    pub(super) fn origin(
        &self,
        place: usize,
        workflow: &'a WorkflowKey,
        target: &'a ProposedTarget,
    ) -> Origin<'a> {
        let (mut owner, mut workflow, mut target) = (place, workflow, target);
        for _ in 0..=self.texts.len() {
            let ProposedTarget::Act(earlier) = target else {
                return Origin::Words { owner, workflow, target };
            };
            let mut act = *earlier;
            while let Some(by) = self.corrected_by[act].filter(|by| *by != owner) {
                act = by;
            }
            owner = act;
            (workflow, target) = match &self.input.understanding.acts[act].intent {
                Intent::Operate { target: ProposedTarget::New(_), .. }
                | Intent::Answer { .. }
                | Intent::Cancel(_) => return Origin::Act(act),
                Intent::Operate { operation, target, .. } => (&operation.workflow, target),
            };
        }
        Origin::Circle
    }

    /// Whether an act tells the user that its own target is not clear, now or when its turn comes.
    fn asks(&self, act: usize) -> bool {
        matches!(
            self.texts[act].disposition,
            None | Some(Disposition::Final(
                ActOutcome::AmbiguousTarget { .. } | ActOutcome::TargetMissing
            ))
        )
    }

    /// Draws the question which record is meant.
    pub(super) fn ask_which(
        &mut self,
        cases: &[CaseRef],
        continuation: Continuation,
    ) -> Erasure<crate::id::InteractionId> {
        let failed = |error: &dyn std::fmt::Display| CorruptJson {
            workflow: cases[0].workflow.clone(),
            reason: error.to_string(),
        };
        let mut options = Vec::with_capacity(cases.len() + 1);
        for (index, case) in cases.iter().enumerate() {
            let found = self.input.cases.get(case);
            options.push(StoredOption {
                id: OptionId::new((index + 1).to_string()).map_err(|error| failed(&error))?,
                label: found.map_or_else(Text::new, |found| label_of(&found.projection)),
                meaning: OptionMeaning::Choose(case.clone()),
                freeform: None,
            });
        }
        options.push(StoredOption {
            id: OptionId::new("none").map_err(|error| failed(&error))?,
            label: self.input.words.none.clone(),
            meaning: OptionMeaning::Decline,
            freeform: None,
        });
        let payload = InteractionPayload {
            kind: InteractionKind::SelectTarget,
            requirement: None,
            operation: None,
            continuation: Some(continuation),
            title: self.input.words.title.clone(),
            lines: Vec::new(),
            options,
            risk: RiskClass::Low,
            independent: true,
        };
        let context = CardContext {
            conversation: self.input.conversation,
            turn: self.input.turn,
            case: None,
            revision: CaseRevision::NONE,
            subject: self.input.speaker,
        };
        let card =
            Interaction::draw(payload, &context, self.input.ids).map_err(|error| failed(&error))?;
        let id = card.id;
        self.choices.push(card);
        Ok(id)
    }

    /// Keeps the open choices of a conversation few: one that asks what a new one asks is closed, and past
    /// [`CHOICES_MAX`] the oldest is.
    pub(super) fn bound_choices(&mut self) {
        let closed = |card: &Interaction| self.closed_choices.iter().any(|it| it.card == card.id);
        let open = self.input.choices.iter().filter(|card| !closed(card));
        let (repeated, others): (Vec<_>, Vec<_>) = open.partition(|card| {
            let asks = |new: &Interaction| new.payload.continuation == card.payload.continuation;
            self.choices.iter().any(asks)
        });
        let excess = (others.len() + self.choices.len()).saturating_sub(CHOICES_MAX);
        let mut oldest_first = others;
        oldest_first.sort_by_key(|card| card.id);
        let close: Vec<_> =
            repeated.into_iter().chain(oldest_first.into_iter().take(excess)).collect();
        for card in close {
            let status = InteractionStatus::Invalidated;
            self.closed_choices.push(ClosedChoice { card: card.id, status, option: None });
        }
    }

    /// Every question gets an answer, or the reason why not (I11).
    pub(super) fn reduce_questions(&mut self) -> Erasure<()> {
        let input = self.input;
        for question in &input.understanding.questions {
            let answer = self.answer(question)?;
            let (source, topic) = (Some(question.source), question.topic.clone());
            self.questions.push(PlannedQuestion { source, topic, answer });
        }
        Ok(())
    }

    fn answer(&mut self, question: &'a ProposedQuestion) -> Erasure<PlannedAnswer> {
        let place = self.texts.len();
        Ok(match self.resolve(place, &question.workflow, &question.target) {
            Target::Case(case) => {
                self.touch(&case)?;
                PlannedAnswer::FromView(case)
            }
            Target::Ambiguous(cases) => {
                let (workflow, topic) = (question.workflow.clone(), question.topic.clone());
                let card = self.ask_which(&cases, Continuation::Ask { workflow, topic })?;
                PlannedAnswer::Ambiguous { card }
            }
            Target::Missing => PlannedAnswer::Missing,
            Target::DependsOn(act) => PlannedAnswer::NotExecuted { because: super::act_id(act) },
        })
    }
}

fn of_workflow(case: &CaseRef, workflow: &WorkflowKey) -> Target {
    if case.workflow == *workflow { Target::Case(case.clone()) } else { Target::Missing }
}

/// What tells two cases of one label apart: the label, and the facts beneath it.
fn label_of(projection: &crate::view::Projection) -> Text {
    let facts = projection.facts.iter().filter(|fact| !fact.value.is_empty());
    facts.take(3).fold(projection.label.clone(), |label, fact| label.plain(" · ").text(&fact.value))
}
