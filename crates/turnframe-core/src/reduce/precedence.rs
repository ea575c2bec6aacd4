//! Prohibition > cancellation > click > correction > text.
//!
//! Each pass settles what it decides; a later pass finds it settled and leaves it alone.

use super::target::Origin;
use super::{Reducer, act_id};
use crate::id::{InteractionId, OperationRef, OptionId};
use crate::interaction::{Interaction, InteractionStatus, OptionMeaning};
use crate::plan::{ActId, ActOutcome, Action, ClosedChoice, Disposition, Step};
use crate::policy::RiskClass;
use crate::target::Resolution;
use crate::understanding::{
    CancelTarget, Intent, Mood, ProhibitionScope, ProposedAct, ProposedTarget,
};

/// The operation an act asks for, where it asks for one.
pub(super) fn operation_of(act: &ProposedAct) -> Option<&OperationRef> {
    match &act.intent {
        Intent::Operate { operation, .. } => Some(operation),
        Intent::Answer { .. } | Intent::Cancel(_) => None,
    }
}

impl<'a> Reducer<'a> {
    /// A prohibition blocks what it names, also a click's and an answer's. What leaves the house is judged
    /// again when it is policed.
    pub(super) fn forbid(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let forbidden = match &act.intent {
                Intent::Operate { operation, .. } => self.forbids(Some(operation)),
                Intent::Answer { card, option } => {
                    let cards = self.offering(*card, option);
                    cards.iter().any(|card| self.forbids_answer(card, option))
                }
                Intent::Cancel(_) => false,
            };
            if forbidden {
                self.texts[index].settle(ActOutcome::Prohibited);
            }
        }
        let Some(click) = self.input.click else { return };
        if says_no(&click.card, &click.response.option) {
            return;
        }
        if self.forbids_answer(&click.card, &click.response.option) {
            self.settle_click(ActOutcome::Prohibited);
        } else if self.may_be_forbidden(&click.card) {
            self.settle_click(ActOutcome::WordsUnread { card: click.card.id });
        }
    }

    /// Whether an answer to a card is forbidden. A card that names no operation may stand for any (I19).
    fn forbids_answer(&self, card: &Interaction, option: &OptionId) -> bool {
        if says_no(card, option) {
            return false;
        }
        let operation = operation_on(card);
        let names_none = operation.is_none() && card.case.is_some();
        let any_named = || {
            self.input
                .understanding
                .prohibitions
                .iter()
                .any(|prohibition| matches!(prohibition.scope, ProhibitionScope::Operations(_)))
        };
        self.forbids(operation)
            || (names_none && any_named())
            || (is_submission(card) && self.forbids_submissions())
    }

    /// Words that could not be read may have forbidden what is clicked beside them (I19): all of it where nothing
    /// was understood, what leaves the house where a part was not.
    fn may_be_forbidden(&self, card: &Interaction) -> bool {
        let unread = !self.input.understanding.unread.is_empty();
        self.input.words_failed || (unread && is_submission(card))
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

    /// A cancellation takes an act of this message back, with all that corrects it, or puts an open card away,
    /// with every answer to it, also one clicked now.
    pub(super) fn cancel(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let Intent::Cancel(target) = &act.intent else { continue };
            if self.is_called_off(index) {
                continue;
            }
            match target {
                CancelTarget::Act(earlier) => {
                    let root = self.corrected_first(*earlier);
                    for member in 0..index {
                        if self.corrected_first(member) == root {
                            self.texts[member].settle(ActOutcome::Cancelled { by: act_id(index) });
                        }
                    }
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

    /// Whether a cancellation is itself taken back, by a later one that stands.
    fn is_called_off(&self, index: usize) -> bool {
        let this = Intent::Cancel(CancelTarget::Act(index));
        let mut later = self.input.understanding.acts.iter().enumerate().skip(index + 1);
        later.any(|(by, act)| act.intent == this && !self.is_called_off(by))
    }

    /// The act that a chain of corrections began with.
    fn corrected_first(&self, act: usize) -> usize {
        let mut first = act;
        while let Intent::Operate { corrects: Some(earlier), mood: Mood::Requested, .. } =
            &self.input.understanding.acts[first].intent
        {
            first = *earlier;
        }
        first
    }

    fn dismiss(&mut self, index: usize, card: Option<&Interaction>) {
        let Some(card) = card else { return self.texts[index].settle(ActOutcome::NoCard) };
        let by = act_id(index);
        if self.input.click.is_some_and(|click| click.card.id == card.id) {
            self.settle_click(ActOutcome::Cancelled { by });
        }
        for (other, act) in self.input.understanding.acts.iter().enumerate() {
            let Intent::Answer { card: named, option } = &act.intent else { continue };
            if self.offering(*named, option).iter().any(|offering| offering.id == card.id) {
                self.texts[other].settle(ActOutcome::Cancelled { by });
            }
        }
        let status = InteractionStatus::Dismissed;
        match &card.case {
            _ if self.answered.contains_key(&card.id) => {
                self.texts[index].settle(ActOutcome::NoCard);
            }
            Some(case) => {
                let action = Action::Close { card: card.id, status, option: None };
                self.texts[index].dispose(Disposition::Step(Step::on(case.clone(), action)));
            }
            None => {
                self.closed_choices.push(ClosedChoice { card: card.id, status, option: None });
                self.texts[index].settle(ActOutcome::CardClosed { card: card.id, status });
            }
        }
        self.answered.insert(card.id, by);
    }

    /// The open cards that an answer in words can mean.
    pub(super) fn offering(
        &self,
        card: Option<InteractionId>,
        option: &OptionId,
    ) -> Vec<&'a Interaction> {
        let offers = |open: &&Interaction| open.payload.option(option).is_some();
        let named = |open: &&Interaction| card.is_none_or(|card| open.id == card);
        self.open_cards().filter(offers).filter(named).collect()
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
                        && self.same_case(index, operation, target)
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
        index: usize,
        operation: &'a OperationRef,
        target: &'a ProposedTarget,
    ) -> bool {
        let case = self.input.click.and_then(|click| click.card.case.as_ref());
        match self.origin(index, &operation.workflow, target) {
            Origin::Words { workflow, target, .. } => match self.resolve_named(workflow, target) {
                Resolution::One(found) => Some(&found) == case,
                Resolution::Ambiguous(_) | Resolution::Missing => false,
            },
            Origin::Act(_) | Origin::Circle => false,
        }
    }

    /// A correction takes the place of the act it puts right, or of the last one that did so before; also where it
    /// comes to nothing itself: what was just taken back is not done. What is only wondered about corrects nothing.
    pub(super) fn correct(&mut self) {
        for (index, act) in self.input.understanding.acts.iter().enumerate() {
            let Intent::Operate { corrects: Some(earlier), mood: Mood::Requested, .. } =
                &act.intent
            else {
                continue;
            };
            let mut last = *earlier;
            while let Some(by) = self.corrected_by[last] {
                last = by;
            }
            if !self.texts[last].is_settled() {
                self.texts[last].settle(ActOutcome::Superseded { by: act_id(index) });
                self.corrected_by[last] = Some(index);
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

/// Whether an option does nothing: it declines, or the card does not have it.
fn says_no(card: &Interaction, option: &OptionId) -> bool {
    let meaning = card.payload.option(option).map(|stored| &stored.meaning);
    matches!(meaning, Some(OptionMeaning::Decline) | None)
}

fn is_submission(card: &Interaction) -> bool {
    card.payload.risk >= RiskClass::ExternalRegulated
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
