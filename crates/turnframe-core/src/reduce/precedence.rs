//! Prohibition > cancellation > click > correction > text.
//!
//! Each pass settles what it decides; a later pass finds it settled and leaves it alone.

use super::{Reducer, act_id};
use crate::id::OperationRef;
use crate::interaction::{Interaction, InteractionStatus, OptionMeaning};
use crate::plan::{ActId, ActOutcome, Action, ClosedChoice, Disposition, Step};
use crate::understanding::{CancelTarget, Intent, ProhibitionScope, ProposedAct};

/// The operation an act asks for, where it asks for one.
pub(super) fn operation_of(act: &ProposedAct) -> Option<&OperationRef> {
    match &act.intent {
        Intent::Operate { operation, .. } => Some(operation),
        Intent::Answer { .. } | Intent::Cancel(_) => None,
    }
}

impl<'a> Reducer<'a> {
    /// A prohibition blocks what it names, also a click's. Submissions are judged when they are policed.
    pub(super) fn forbid(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let forbidden = match &act.intent {
                Intent::Operate { operation, .. } => self.forbids(Some(operation)),
                Intent::Answer { .. } => self.forbids(None),
                Intent::Cancel(_) => false,
            };
            if forbidden {
                self.texts[index].settle(ActOutcome::Prohibited);
            }
        }
        let Some(click) = self.input.click else { return };
        let meaning = click.card.payload.option(&click.response.option).map(|it| &it.meaning);
        let says_no = matches!(meaning, Some(OptionMeaning::Decline) | None);
        let operation = operation_on(&click.card);
        let submission = click.card.payload.risk >= crate::policy::RiskClass::ExternalRegulated;
        if !says_no && (self.forbids(operation) || submission && self.forbids_submissions()) {
            self.settle_click(ActOutcome::Prohibited);
        }
    }

    fn forbids(&self, operation: Option<&OperationRef>) -> bool {
        self.input.understanding.prohibitions.iter().any(|prohibition| match &prohibition.scope {
            ProhibitionScope::Everything => true,
            ProhibitionScope::Submissions => false,
            ProhibitionScope::Operations(named) => {
                operation.is_some_and(|operation| named.contains(operation))
            }
        })
    }

    /// Whether what leaves the house is forbidden in this turn.
    pub(super) fn forbids_submissions(&self) -> bool {
        let submissions = |scope: &ProhibitionScope| match scope {
            ProhibitionScope::Everything | ProhibitionScope::Submissions => true,
            ProhibitionScope::Operations(_) => false,
        };
        self.input.understanding.prohibitions.iter().any(|it| submissions(&it.scope))
    }

    /// A cancellation takes an act of this message back, or puts an open card away, also one clicked now.
    pub(super) fn cancel(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let Intent::Cancel(target) = &act.intent else { continue };
            match target {
                CancelTarget::Act(earlier) => {
                    self.texts[*earlier].settle(ActOutcome::Cancelled { by: act_id(index) });
                    self.texts[index].settle(ActOutcome::Cancels { act: act_id(*earlier) });
                }
                CancelTarget::Card(id) => {
                    let card = self.open_cards().find(|card| card.id == *id).cloned();
                    self.dismiss(index, card.as_ref());
                }
                CancelTarget::OpenCard => {
                    let cards: Vec<_> = self.open_cards().cloned().collect();
                    match cards.as_slice() {
                        [] | [_] => self.dismiss(index, cards.first()),
                        several => {
                            let cards = several.iter().map(|card| card.id).collect();
                            self.texts[index].settle(ActOutcome::AmbiguousCard { cards });
                        }
                    }
                }
            }
        }
    }

    fn dismiss(&mut self, index: usize, card: Option<&Interaction>) {
        let Some(card) = card else { return self.texts[index].settle(ActOutcome::NoCard) };
        if self.input.click.is_some_and(|click| click.card.id == card.id) {
            self.settle_click(ActOutcome::Cancelled { by: act_id(index) });
        }
        let status = InteractionStatus::Dismissed;
        match &card.case {
            Some(case) => {
                let case = case.clone();
                let action = Action::Close { card: card.id, status, option: None };
                self.texts[index].case = Some(case.clone());
                self.texts[index].disposition = Some(Disposition::Step(Step::on(case, action)));
            }
            None => {
                self.closed_choices.push(ClosedChoice { card: card.id, status, option: None });
                self.texts[index].settle(ActOutcome::CardClosed { card: card.id, status });
            }
        }
    }

    /// A click speaks for its card and for the operation it confirms: words on the same give way.
    pub(super) fn click_precedes_text(&mut self) {
        let Some(click) = self.input.click else { return };
        let settled = self.click.as_ref().is_some_and(super::Draft::is_settled);
        if settled {
            return;
        }
        let only_card = self.open_cards().all(|card| card.id == click.card.id);
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let same = match &act.intent {
                Intent::Answer { card: Some(card), .. } => *card == click.card.id,
                Intent::Answer { card: None, .. } => only_card,
                Intent::Operate { operation, target, .. } => {
                    click.card.payload.operation.as_ref() == Some(operation)
                        && self.same_case(operation, target)
                }
                Intent::Cancel(_) => false,
            };
            if same {
                self.texts[index].settle(ActOutcome::Superseded { by: ActId::CLICK });
            }
        }
    }

    fn same_case(
        &self,
        operation: &OperationRef,
        target: &crate::understanding::ProposedTarget,
    ) -> bool {
        let case = self.input.click.and_then(|click| click.card.case.as_ref());
        match self.resolve_named(&operation.workflow, target) {
            crate::target::Resolution::One(found) => Some(&found) == case,
            crate::target::Resolution::Ambiguous(_) | crate::target::Resolution::Missing => false,
        }
    }

    /// A correction takes the place of the act it puts right.
    pub(super) fn correct(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let Intent::Operate { corrects: Some(earlier), .. } = &act.intent else { continue };
            let usable = !self.texts[*earlier].is_settled() && !self.texts[index].is_settled();
            if usable {
                self.texts[*earlier].settle(ActOutcome::Superseded { by: act_id(index) });
                self.corrected_by[*earlier] = Some(index);
            }
        }
    }

    pub(super) fn settle_click(&mut self, outcome: ActOutcome) {
        if let Some(click) = &mut self.click {
            click.settle(outcome);
        }
    }

    /// The cards that are open in this conversation.
    pub(super) fn open_cards(&self) -> impl Iterator<Item = &'a Interaction> + use<'a> {
        let here = self.input.conversation;
        let on_cases = self.input.cases.values().flat_map(|case| &case.cards);
        on_cases.chain(self.input.choices).filter(move |card| card.conversation == *here)
    }
}

/// The operation a card stands for: the one it confirms, or the one a choice goes on with.
fn operation_on(card: &Interaction) -> Option<&OperationRef> {
    use crate::interaction::Continuation;
    let continued = match &card.payload.continuation {
        Some(Continuation::Operate { operation, .. }) => Some(operation),
        Some(Continuation::Ask { .. }) | None => None,
    };
    card.payload.operation.as_ref().or(continued)
}
