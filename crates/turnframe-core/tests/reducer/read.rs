//! What a turn says, read without the reducer: so that a property does not repeat the code it is about.

use std::collections::BTreeSet;

use turnframe_core::canonical::Json;
use turnframe_core::id::{CaseRef, OperationRef, OptionId, WorkflowKey};
use turnframe_core::interaction::{Continuation, Interaction, OptionMeaning};
use turnframe_core::plan::{ActId, Action, Disposition, ExecutionPlan};
use turnframe_core::target::Resolution;
use turnframe_core::understanding::{CancelTarget, Intent, ProhibitionScope, ProposedTarget};

use crate::world::World;

/// The id of a text act.
pub(crate) fn id_of(index: usize) -> ActId {
    ActId(u16::try_from(index + 1).expect("few acts"))
}

/// Reads a turn.
pub(crate) struct Read<'w>(pub(crate) &'w World);

impl<'w> Read<'w> {
    pub(crate) fn disposition<'p>(&self, plan: &'p ExecutionPlan, id: ActId) -> &'p Disposition {
        &plan.acts.iter().find(|act| act.id == id).expect("an act of the turn").disposition
    }

    pub(crate) fn scopes(&self) -> impl Iterator<Item = &'w ProhibitionScope> {
        self.0.understanding.prohibitions.iter().map(|it| &it.scope)
    }

    fn intent(&self, id: ActId) -> Option<&'w Intent> {
        let index = usize::from(id.0).checked_sub(1)?;
        self.0.understanding.acts.get(index).map(|act| &act.intent)
    }

    /// Whether a prohibition of the turn names what the act does.
    pub(crate) fn is_prohibited(&self, id: ActId) -> bool {
        self.scopes().any(|scope| match scope {
            ProhibitionScope::Everything => true,
            ProhibitionScope::Submissions => false,
            ProhibitionScope::Operations(named) => {
                self.operation_of(id).is_some_and(|operation| named.contains(operation))
            }
        })
    }

    /// The operation an act stands for: its own, or that of the one card it answers.
    fn operation_of(&self, id: ActId) -> Option<&'w OperationRef> {
        match self.intent(id) {
            None => self.0.click.as_ref().and_then(|click| operation_on(&click.card)),
            Some(Intent::Operate { operation, .. }) => Some(operation),
            Some(Intent::Answer { card, option }) => {
                let offers = |it: &&Interaction| {
                    card.is_none_or(|card| it.id == card) && has_option(it, option)
                };
                let found: Vec<_> = self.0.open_cards().filter(offers).collect();
                if let [card] = found.as_slice() { operation_on(card) } else { None }
            }
            Some(Intent::Cancel(_)) => None,
        }
    }

    /// The command that an action runs, or asks a click for.
    pub(crate) fn command_of<'a>(&self, action: &'a Action) -> Option<&'a Json> {
        match action {
            Action::Run { command, .. } | Action::Confirm { command, .. } => Some(command),
            Action::Renew { card, option, .. } if card.payload.operation.is_some() => {
                match &card.payload.option(option)?.meaning {
                    OptionMeaning::Execute(command) => Some(command),
                    OptionMeaning::Fill(_) | OptionMeaning::Choose(_) | OptionMeaning::Decline => {
                        None
                    }
                }
            }
            Action::Renew { .. } | Action::Close { .. } => None,
        }
    }

    /// Whether a command leaves the house. Here that is so in every state or in none.
    pub(crate) fn is_submission(&self, case: &CaseRef, command: &Json) -> bool {
        let workflow = self.0.workflow(&case.workflow);
        workflow.policy(&self.0.state(case), command).expect("readable").is_submission()
    }

    /// What a target that names a record by itself resolves to.
    pub(crate) fn resolve(
        &self,
        workflow: &WorkflowKey,
        target: &ProposedTarget,
    ) -> Option<Resolution> {
        let (targets, of_workflow) = (&self.0.targets, |case: &CaseRef| case.workflow == *workflow);
        match target {
            ProposedTarget::Mention(pointer) => {
                Some(targets.by_mention(&pointer.copy, of_workflow))
            }
            ProposedTarget::Unstated => Some(targets.unstated(of_workflow)),
            ProposedTarget::Handle(token) => {
                let found = targets.by_token(&self.0.actor.account, token);
                Some(found.cloned().map_or(Resolution::Missing, Resolution::One))
            }
            ProposedTarget::New(_) | ProposedTarget::Act(_) => None,
        }
    }

    /// The record in view that an act is about, where no correction makes it a matter of reading.
    pub(crate) fn record_of(&self, act: usize) -> Option<CaseRef> {
        let acts = &self.0.understanding.acts;
        let corrected =
            acts.iter().any(|act| matches!(act.intent, Intent::Operate { corrects: Some(_), .. }));
        let Intent::Operate { operation, target, .. } = &acts[act].intent else { return None };
        if corrected {
            return None;
        }
        if let ProposedTarget::Act(earlier) = target {
            return self.record_of(*earlier).filter(|case| case.workflow == operation.workflow);
        }
        match self.resolve(&operation.workflow, target) {
            Some(Resolution::One(case)) => Some(case),
            Some(Resolution::Ambiguous(_) | Resolution::Missing) | None => None,
        }
    }

    /// The acts that a later act calls off, which is not called off itself.
    pub(crate) fn called_off(&self) -> BTreeSet<usize> {
        let mut called_off = BTreeSet::new();
        for (index, act) in self.0.understanding.acts.iter().enumerate().rev() {
            if let Intent::Cancel(CancelTarget::Act(earlier)) = act.intent
                && !called_off.contains(&index)
            {
                called_off.insert(earlier);
            }
        }
        called_off
    }

    /// Whether an act brings a record into being.
    pub(crate) fn creates(&self, id: ActId) -> bool {
        matches!(self.intent(id), Some(Intent::Operate { target: ProposedTarget::New(_), .. }))
    }

    /// Whether an act runs and, by itself, comes to something.
    pub(crate) fn runs(&self, plan: &ExecutionPlan, id: ActId) -> bool {
        let Disposition::Step(step) = self.disposition(plan, id) else { return false };
        let Action::Run { command, .. } = &step.action else { return false };
        let workflow = self.0.workflow(&step.case.workflow);
        let state = self.0.state(&step.case);
        workflow.decide(&state, command, plan.now).expect("readable").is_ok()
    }

    /// The command that the clicked option names, with the value that came with the click.
    pub(crate) fn clicked(&self) -> Option<Json> {
        let click = self.0.click.as_ref()?;
        let workflow = self.0.workflow(&click.card.case.as_ref()?.workflow);
        match &click.card.payload.option(&click.response.option)?.meaning {
            OptionMeaning::Execute(command) => Some(command.clone()),
            OptionMeaning::Fill(command) => {
                let value = click.response.value.as_deref().unwrap_or_default();
                workflow.fill(command, value, &self.0.speaker).expect("readable").ok()
            }
            OptionMeaning::Choose(_) | OptionMeaning::Decline => None,
        }
    }

    /// The case that the click's card sits on.
    pub(crate) fn clicked_case(&self) -> Option<&'w CaseRef> {
        self.0.click.as_ref().and_then(|click| click.card.case.as_ref())
    }
}

fn has_option(card: &Interaction, option: &OptionId) -> bool {
    card.payload.option(option).is_some()
}

fn operation_on(card: &Interaction) -> Option<&OperationRef> {
    match &card.payload.continuation {
        Some(Continuation::Operate { operation, .. }) => Some(operation),
        Some(Continuation::Ask { .. }) | None => card.payload.operation.as_ref(),
    }
}
