//! Cards that an outcome asks the user to look at: their cases are read with the turn's, so that the answer can show
//! them.

use std::collections::BTreeSet;

use super::Reducer;
use crate::id::{CaseRef, InteractionId};
use crate::plan::{ActOutcome, Disposition};
use crate::registry::Erasure;

impl Reducer<'_> {
    /// Touches the case of every card that the user is sent to.
    pub(super) fn touch_named(&mut self) -> Erasure<()> {
        let mut named: BTreeSet<InteractionId> = BTreeSet::new();
        for draft in self.click.iter().chain(&self.texts) {
            if let Some(Disposition::Final(outcome)) = &draft.disposition {
                named.extend(cards_of(outcome));
            }
        }
        let cards = self.open_cards().filter(|card| named.contains(&card.id));
        let cases: Vec<CaseRef> = cards.filter_map(|card| card.case.clone()).collect();
        cases.iter().try_for_each(|case| self.touch(case).map(|_| ()))
    }
}

fn cards_of(outcome: &ActOutcome) -> &[InteractionId] {
    match outcome {
        ActOutcome::AmbiguousCard { cards } => cards,
        ActOutcome::NeedsClick { card } | ActOutcome::WordsUnread { card } => {
            std::slice::from_ref(card)
        }
        ActOutcome::Applied { .. }
        | ActOutcome::Rejected { .. }
        | ActOutcome::RevisionConflict { .. }
        | ActOutcome::AwaitingConfirmation { .. }
        | ActOutcome::Waiting { .. }
        | ActOutcome::WaitingElsewhere
        | ActOutcome::CardClosed { .. }
        | ActOutcome::AlreadyResolved { .. }
        | ActOutcome::StaleCard { .. }
        | ActOutcome::NoCard
        | ActOutcome::Prohibited
        | ActOutcome::Cancelled { .. }
        | ActOutcome::Superseded { .. }
        | ActOutcome::Cancels { .. }
        | ActOutcome::AmbiguousTarget { .. }
        | ActOutcome::TargetMissing
        | ActOutcome::NotExecuted { .. }
        | ActOutcome::Hypothetical
        | ActOutcome::NotOnOffer { .. }
        | ActOutcome::Incomplete { .. }
        | ActOutcome::Unreported
        | ActOutcome::Failed { .. } => &[],
    }
}
