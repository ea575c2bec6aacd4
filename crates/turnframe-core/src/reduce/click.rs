//! The click: it authorises exactly the commands its card names, and nothing beside them (I12).

use super::act::Operating;
use super::{Click, Reducer};
use crate::canonical::Json;
use crate::id::CaseRef;
use crate::interaction::{Continuation, InteractionStatus, OptionMeaning};
use crate::plan::{ActId, ActOutcome, Action, Disposition, PlannedAnswer, PlannedQuestion, Step};
use crate::policy::CommandOrigin;
use crate::registry::Erasure;

impl Reducer<'_> {
    /// Reduces the click that no pass has settled.
    pub(super) fn reduce_click(&mut self) -> Erasure<()> {
        let Some(click) = self.input.click else { return Ok(()) };
        if self.click.as_ref().is_some_and(super::Draft::is_settled) {
            return Ok(());
        }
        let disposition = match &click.card.case {
            Some(case) => self.click_on_case(click, case)?,
            None => self.click_on_choice(click)?,
        };
        if let Some(draft) = &mut self.click {
            draft.dispose(disposition);
        }
        Ok(())
    }

    fn click_on_case(&mut self, click: &Click, case: &CaseRef) -> Erasure<Disposition> {
        let (card, option) = (&click.card, &click.response.option);
        let step = |action| Disposition::Step(Step::on(case.clone(), action));
        self.touch(case)?;
        let meaning = card.payload.option(option).map(|stored| &stored.meaning);
        let status = self.standing(click, case);
        if status != InteractionStatus::Active {
            let (card, option) = (Box::new(card.clone()), option.clone());
            return Ok(step(Action::Renew { card, option, status }));
        }
        match meaning {
            Some(OptionMeaning::Execute(command)) => self.confirmed(click, case, command.clone()),
            Some(OptionMeaning::Fill(command)) => {
                let value = click.response.value.as_deref().unwrap_or_default();
                let workflow = self.workflow(case)?;
                match workflow.fill(command, value, self.input.speaker)? {
                    Ok(command) => self.confirmed(click, case, command),
                    Err(rejection) => {
                        let case = case.clone();
                        Ok(Disposition::Final(ActOutcome::Rejected { case, rejection }))
                    }
                }
            }
            Some(OptionMeaning::Decline) => {
                self.answered.insert(card.id, ActId::CLICK);
                let status = InteractionStatus::Declined;
                let option = Some(option.clone());
                Ok(step(Action::Close { card: card.id, status, option }))
            }
            Some(OptionMeaning::Choose(_)) | None => Ok(Disposition::Final(ActOutcome::NoCard)),
        }
    }

    /// The very command is policed in the state it meets: it may be a submission that is forbidden, and it may weigh
    /// more by now than the card said.
    fn confirmed(&mut self, click: &Click, case: &CaseRef, command: Json) -> Erasure<Disposition> {
        let (card, option) = (&click.card, &click.response.option);
        let workflow = self.workflow(case)?;
        let policy = workflow.policy(&self.touch(case)?.state, &command)?;
        if policy.is_submission() && self.forbids_submissions() {
            return Ok(Disposition::Final(ActOutcome::Prohibited));
        }
        let step = |action| Disposition::Step(Step::on(case.clone(), action));
        self.answered.insert(card.id, ActId::CLICK);
        if policy.risk > card.payload.risk {
            let (card, option) = (Box::new(card.clone()), option.clone());
            let status = InteractionStatus::Invalidated;
            return Ok(step(Action::Renew { card, option, status }));
        }
        self.try_out(case, &command)?;
        let origin = CommandOrigin::ConfirmedInteraction {
            interaction: card.id,
            option: option.clone(),
            payload_hash: card.payload_hash,
        };
        Ok(step(Action::Run { command, origin, resolves: Some(card.id) }))
    }

    /// Where the card stands for this click. An open one counts as invalidated when the case moved since it was
    /// drawn, or when its payload is not the one that was hashed: the user is asked again.
    fn standing(&self, click: &Click, case: &CaseRef) -> InteractionStatus {
        let card = &click.card;
        if click.status != InteractionStatus::Active {
            return click.status;
        }
        let revision = self.input.cases.get(case).map_or_else(Default::default, |it| it.revision);
        let moved = card.revision != revision && !card.payload.independent;
        if !moved && card.is_intact() {
            InteractionStatus::Active
        } else {
            InteractionStatus::Invalidated
        }
    }

    fn click_on_choice(&mut self, click: &Click) -> Erasure<Disposition> {
        let (card, option) = (&click.card, &click.response.option);
        if click.status != InteractionStatus::Active {
            let outcome = ActOutcome::AlreadyResolved { card: card.id, status: click.status };
            return Ok(Disposition::Final(outcome));
        }
        let chosen = match card.payload.option(option).map(|stored| &stored.meaning) {
            Some(OptionMeaning::Choose(case)) => case.clone(),
            Some(OptionMeaning::Decline) => {
                let status = InteractionStatus::Declined;
                self.close_choice(card.id, status, option);
                return Ok(Disposition::Final(ActOutcome::CardClosed { card: card.id, status }));
            }
            Some(OptionMeaning::Execute(_) | OptionMeaning::Fill(_)) | None => {
                return Ok(Disposition::Final(ActOutcome::NoCard));
            }
        };
        if !self.input.cases.contains_key(&chosen) {
            return Ok(Disposition::Final(ActOutcome::TargetMissing));
        }
        self.close_choice(card.id, InteractionStatus::Resolved, option);
        self.go_on(click, chosen)
    }

    /// Goes on with what the choice was asked for, now that the record is known. The click says which record
    /// was meant and authorises nothing: the operation is policed like the words that asked for it.
    fn go_on(&mut self, click: &Click, chosen: CaseRef) -> Erasure<Disposition> {
        let card = &click.card;
        match &card.payload.continuation {
            Some(Continuation::Operate { operation, values }) => {
                let nothing = std::collections::BTreeMap::new();
                let values = values.value().unwrap_or(&nothing);
                if let Some(draft) = &mut self.click {
                    draft.operation = Some(operation.clone());
                }
                let operating = Operating { act: ActId::CLICK, operation, values };
                self.operate_on(chosen, &operating)
            }
            Some(Continuation::Ask { topic, .. }) => {
                self.touch(&chosen)?;
                self.questions.push(PlannedQuestion {
                    source: None,
                    topic: topic.clone(),
                    answer: PlannedAnswer::FromView(chosen),
                });
                let status = InteractionStatus::Resolved;
                Ok(Disposition::Final(ActOutcome::CardClosed { card: card.id, status }))
            }
            None => Ok(Disposition::Final(ActOutcome::NoCard)),
        }
    }
}
