//! Text acts: values, command, policy, and a try-out on the scratch state.

use std::collections::BTreeMap;

use super::target::{Origin, Target};
use super::{Draft, Reducer, act_id};
use crate::id::{CaseRef, InteractionId, OperationRef, OptionId, SlotName};
use crate::interaction::{Continuation, InteractionStatus, OptionMeaning};
use crate::operation::{OperationSpec, SlotValue};
use crate::personal::Personal;
use crate::plan::{ActId, ActOutcome, Action, ClosedChoice, Disposition, Step};
use crate::policy::{CommandOrigin, RiskClass};
use crate::registry::Erasure;
use crate::understanding::{Argument, Intent, Mood, ProposedTarget};
use crate::value::{self, ValueContext, ValueError};
use crate::workflow::{CompileError, OperationAct};

/// An operation with its values, whoever asked for it.
pub(super) struct Operating<'r> {
    pub(super) act: ActId,
    pub(super) operation: &'r OperationRef,
    pub(super) values: &'r BTreeMap<SlotName, SlotValue>,
}

impl<'a> Reducer<'a> {
    /// Reduces a text act that no pass has settled.
    pub(super) fn reduce_text(&mut self, index: usize) -> Erasure<()> {
        if self.texts[index].is_settled() {
            if let Some(Disposition::Step(step)) = &self.texts[index].disposition {
                let case = step.case.clone();
                self.touch(&case)?;
            }
            return Ok(());
        }
        let input = self.input;
        let disposition = match &input.understanding.acts[index].intent {
            Intent::Operate { mood: Mood::Hypothetical, .. } => {
                Disposition::Final(ActOutcome::Hypothetical)
            }
            Intent::Operate { operation, target, arguments, .. } => {
                self.operate(index, operation, target, arguments)?
            }
            Intent::Answer { card, option } => self.answer_in_words(index, *card, option)?,
            // Cancellations are settled by their own pass.
            Intent::Cancel(_) => Disposition::Final(ActOutcome::NoCard),
        };
        if let Disposition::Step(step) = &disposition {
            self.texts[index].case = Some(step.case.clone());
        }
        self.texts[index].disposition = Some(disposition);
        Ok(())
    }

    fn operate(
        &mut self,
        index: usize,
        operation: &'a OperationRef,
        target: &'a ProposedTarget,
        arguments: &[Argument],
    ) -> Erasure<Disposition> {
        let values = match self.values(operation, arguments) {
            Ok(values) => values,
            Err(outcome) => return Ok(Disposition::Final(outcome)),
        };
        match self.resolve(index, &operation.workflow, target) {
            Target::Case(case) => {
                self.texts[index].case = Some(case.clone());
                let operating = Operating { act: act_id(index), operation, values: &values };
                let mut disposition = self.operate_on(case, &operating)?;
                if let Disposition::Step(step) = &mut disposition {
                    step.depends_on = self.creator(index, operation, target);
                }
                Ok(disposition)
            }
            Target::Ambiguous(cases) => {
                let values = Personal::known(self.input.speaker.clone(), values);
                let operation = operation.clone();
                let card = self.ask_which(&cases, Continuation::Operate { operation, values })?;
                Ok(Disposition::Final(ActOutcome::AmbiguousTarget { card }))
            }
            Target::Missing => Ok(Disposition::Final(ActOutcome::TargetMissing)),
            Target::DependsOn(act) => {
                Ok(Disposition::Final(ActOutcome::NotExecuted { because: act_id(act) }))
            }
        }
    }

    /// The act of this turn that brings the target into being, if one does.
    fn creator(
        &self,
        index: usize,
        operation: &'a OperationRef,
        target: &'a ProposedTarget,
    ) -> Option<ActId> {
        match self.origin(index, &operation.workflow, target) {
            Origin::Act(act) if self.creates(act) => Some(act_id(act)),
            Origin::Act(_) | Origin::Words { .. } | Origin::Circle => None,
        }
    }

    fn creates(&self, act: usize) -> bool {
        let intent = &self.input.understanding.acts[act].intent;
        matches!(intent, Intent::Operate { target: ProposedTarget::New(_), .. })
    }

    /// Computes the values from the words the pointers hold.
    fn values(
        &self,
        operation: &OperationRef,
        arguments: &[Argument],
    ) -> Result<BTreeMap<SlotName, SlotValue>, ActOutcome> {
        let spec = self.spec(operation);
        let context = ValueContext {
            locale: &self.input.actor.locale,
            time_zone: &self.input.actor.time_zone,
            now: self.input.now,
        };
        let mut values = BTreeMap::new();
        for argument in arguments {
            let slot = argument.slot.clone();
            let kind = spec.and_then(|spec| spec.slots.iter().find(|known| known.name == slot));
            let read = kind.map_or(Err(ValueError::Unreadable), |slot| {
                value::read(&slot.kind, &argument.pointer.copy, &context)
            });
            match read {
                Ok(value) => values.insert(slot, value),
                Err(why) => return Err(ActOutcome::Incomplete { slot, why }),
            };
        }
        let required = spec.into_iter().flat_map(|spec| &spec.slots).filter(|slot| slot.required);
        match required.map(|slot| &slot.name).find(|name| !values.contains_key(*name)) {
            Some(slot) => {
                Err(ActOutcome::Incomplete { slot: slot.clone(), why: ValueError::Missing })
            }
            None => Ok(values),
        }
    }

    fn spec(&self, operation: &OperationRef) -> Option<&OperationSpec> {
        let workflow = self.input.registry.get(&operation.workflow)?;
        workflow.operations().iter().find(|spec| spec.key == operation.operation)
    }

    /// Compiles, polices and tries out an operation on a case.
    pub(super) fn operate_on(
        &mut self,
        case: CaseRef,
        operating: &Operating<'_>,
    ) -> Erasure<Disposition> {
        let Operating { act, operation, values } = operating;
        let workflow = self.workflow(&case)?;
        let creates = self.spec(operation).is_some_and(|spec| spec.creates);
        let (speaker, now) = (self.input.speaker, self.input.now);
        let fresh = self.input.ids.uuid();
        let forbids_submissions = self.forbids_submissions();
        let scratch = self.touch(&case)?;
        if !creates && !scratch.projection.operations.contains(&operation.operation) {
            return Ok(Disposition::Final(ActOutcome::NotOnOffer { case }));
        }
        let act_in = OperationAct { operation: &operation.operation, values, fresh, speaker, now };
        let command = match workflow.compile(&scratch.state, &act_in)? {
            Ok(command) => command,
            Err(error) => return Ok(Disposition::Final(refused(case, error))),
        };
        let policy = workflow.policy(&scratch.state, &command)?;
        if policy.is_submission() && forbids_submissions {
            return Ok(Disposition::Final(ActOutcome::Prohibited));
        }
        let action = if policy.requires_click() {
            Action::Confirm { command, operation: (*operation).clone(), policy }
        } else {
            self.try_out(&case, &command)?;
            let turn = self.input.turn.clone();
            let origin = CommandOrigin::DirectUserAct { turn, act: *act };
            Action::Run { command, origin, resolves: None }
        };
        Ok(Disposition::Step(Step::on(case, action)))
    }

    /// Moves the scratch state to where the command will leave the case. A rejection leaves it as it is; it
    /// is decided again, and recorded, when the plan is executed.
    pub(super) fn try_out(
        &mut self,
        case: &CaseRef,
        command: &crate::canonical::Json,
    ) -> Erasure<()> {
        let workflow = self.workflow(case)?;
        let (now, locale) = (self.input.now, &self.input.actor.locale);
        let scratch = self.touch(case)?;
        if let Ok(decision) = workflow.decide(&scratch.state, command, now)? {
            scratch.projection = workflow.project(&decision.after, locale)?;
            scratch.state = decision.after;
            self.born.insert(case.clone());
        }
        Ok(())
    }

    /// An answer in words. A high-risk card is never resolved by words, and never the newest of several.
    fn answer_in_words(
        &mut self,
        index: usize,
        card: Option<InteractionId>,
        option: &OptionId,
    ) -> Erasure<Disposition> {
        let card = match self.offering(card, option).as_slice() {
            [] => return Ok(Disposition::Final(ActOutcome::NoCard)),
            [card] => *card,
            several => {
                let cards = several.iter().map(|card| card.id).collect();
                return Ok(Disposition::Final(ActOutcome::AmbiguousCard { cards }));
            }
        };
        if let Some(by) = self.answered.get(&card.id) {
            return Ok(Disposition::Final(ActOutcome::Superseded { by: *by }));
        }
        if card.payload.risk >= RiskClass::High {
            return Ok(Disposition::Final(ActOutcome::NeedsClick { card: card.id }));
        }
        let Some(case) = card.case.clone() else {
            // A choice between records is made by a click: words that name the record again would do.
            return Ok(Disposition::Final(ActOutcome::NeedsClick { card: card.id }));
        };
        self.texts[index].operation.clone_from(&card.payload.operation);
        match card.payload.option(option).map(|stored| &stored.meaning) {
            Some(OptionMeaning::Execute(command)) => {
                let policy = {
                    let workflow = self.workflow(&case)?;
                    workflow.policy(&self.touch(&case)?.state, command)?
                };
                if policy.requires_click() {
                    return Ok(Disposition::Final(ActOutcome::NeedsClick { card: card.id }));
                }
                if policy.is_submission() && self.forbids_submissions() {
                    return Ok(Disposition::Final(ActOutcome::Prohibited));
                }
                self.answered.insert(card.id, act_id(index));
                self.try_out(&case, command)?;
                let (turn, act) = (self.input.turn.clone(), act_id(index));
                let origin = CommandOrigin::DirectUserAct { turn, act };
                let command = command.clone();
                let action = Action::Run { command, origin, resolves: Some(card.id) };
                Ok(Disposition::Step(Step::on(case, action)))
            }
            Some(OptionMeaning::Decline) => {
                self.touch(&case)?;
                self.answered.insert(card.id, act_id(index));
                let status = InteractionStatus::Declined;
                let action = Action::Close { card: card.id, status, option: Some(option.clone()) };
                Ok(Disposition::Step(Step::on(case, action)))
            }
            Some(OptionMeaning::Fill(_) | OptionMeaning::Choose(_)) | None => {
                Ok(Disposition::Final(ActOutcome::NeedsClick { card: card.id }))
            }
        }
    }

    /// Closes a choice of this conversation.
    pub(super) fn close_choice(
        &mut self,
        card: InteractionId,
        status: InteractionStatus,
        option: &OptionId,
    ) {
        let option = Some(option.clone());
        self.closed_choices.push(ClosedChoice { card, status, option });
    }
}

fn refused(case: CaseRef, error: CompileError) -> ActOutcome {
    match error {
        CompileError::NotOnOffer => ActOutcome::NotOnOffer { case },
        CompileError::Incomplete { slot, why } => ActOutcome::Incomplete { slot, why },
        CompileError::Rejected(rejection) => ActOutcome::Rejected { case, rejection },
    }
}

impl Draft {
    /// Fixes the disposition of an act that nothing has settled.
    pub(super) fn dispose(&mut self, disposition: Disposition) {
        if let Disposition::Step(step) = &disposition {
            self.case = Some(step.case.clone());
        }
        self.disposition.get_or_insert(disposition);
    }
}
