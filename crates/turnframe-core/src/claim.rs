//! The claim guard: reads the record, never the words (ADR-005 with its amendment).
//!
//! It is run on every reply before it is stored. Whatever a renderer or a model wrote, a block that claims
//! more than the ledger holds does not pass.

use std::collections::BTreeSet;

use crate::block::ResponseBlock;
use crate::id::{EntryId, InteractionId};

/// What the ledger was read to hold, by the account of the turn.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Committed domain events and stored external receipts, reloaded from the ledger.
    pub events: BTreeSet<EntryId>,
    /// Cards that are persisted.
    pub cards: BTreeSet<InteractionId>,
}

/// A claim that the record does not carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimViolation {
    /// I16: a receipt that cites nothing.
    #[error("a receipt cites no event")]
    Uncited,
    /// I16: an id that the ledger does not hold for this account.
    #[error("the ledger holds no event {0} for this account")]
    UnknownEvent(EntryId),
    /// Two receipts with one id.
    #[error("two receipts share the id {0}")]
    RepeatedReceipt(String),
    /// I6: a card that is not persisted.
    #[error("card {0} is not persisted")]
    UnknownCard(InteractionId),
}

/// Checks every block against the evidence.
///
/// # Errors
/// [`ClaimViolation`] for the first claim that the record does not carry.
pub fn check(blocks: &[ResponseBlock], evidence: &Evidence) -> Result<(), ClaimViolation> {
    let mut receipts = BTreeSet::new();
    for block in blocks {
        match block {
            ResponseBlock::Receipt(receipt) => {
                cited(&receipt.draft.event_ids, evidence)?;
                if !receipts.insert(receipt.id.as_str()) {
                    return Err(ClaimViolation::RepeatedReceipt(receipt.id.clone()));
                }
            }
            ResponseBlock::Artifact(artifact) => cited(&artifact.event_ids, evidence)?,
            ResponseBlock::Interaction(card) => persisted(card.id, evidence)?,
            ResponseBlock::Notice(notice) => {
                notice.interaction.map_or(Ok(()), |card| persisted(card, evidence))?;
            }
            ResponseBlock::Answer { .. } | ResponseBlock::Transition { .. } => {}
        }
    }
    Ok(())
}

fn cited(events: &[EntryId], evidence: &Evidence) -> Result<(), ClaimViolation> {
    if events.is_empty() {
        return Err(ClaimViolation::Uncited);
    }
    match events.iter().find(|event| !evidence.events.contains(event)) {
        Some(unknown) => Err(ClaimViolation::UnknownEvent(*unknown)),
        None => Ok(()),
    }
}

fn persisted(card: InteractionId, evidence: &Evidence) -> Result<(), ClaimViolation> {
    if evidence.cards.contains(&card) { Ok(()) } else { Err(ClaimViolation::UnknownCard(card)) }
}

/// Whether a model's words contain a phrase that only a receipt may say. A guardrail, counted where it fires;
/// the guarantee is [`check`].
#[must_use]
pub fn breaks_guardrail(words: &str, forbidden: &[String]) -> bool {
    let folded = crate::target::fold(words);
    forbidden.iter().any(|phrase| folded.contains(&crate::target::fold(phrase)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{NoticeSeverity, ServerNotice};
    use crate::id::{CaseRef, CaseRevision, WorkflowKey};
    use crate::policy::ClaimMode;
    use crate::receipt::{OperationalReceipt, ReceiptDraft, ReceiptSeverity, ReceiptStatus};
    use crate::testing::ids;

    fn receipt(event_ids: Vec<EntryId>) -> ResponseBlock {
        let workflow = WorkflowKey::new("thing").expect("workflow");
        let case = CaseRef { workflow, case: ids().case() };
        let draft = ReceiptDraft {
            status: ReceiptStatus::Recorded,
            severity: ReceiptSeverity::Success,
            title: "t".into(),
            body: "b".into(),
            event_ids,
            external_reference: None,
            claim_mode: ClaimMode::ServerReceiptOnly,
        };
        ResponseBlock::Receipt(OperationalReceipt::of(case, CaseRevision(1), draft))
    }

    #[test]
    fn i16_a_receipt_cites_events_that_the_ledger_holds_or_does_not_pass() {
        let ids = ids();
        let (known, unknown) = (ids.entry(), ids.entry());
        let evidence = Evidence { events: BTreeSet::from([known]), cards: BTreeSet::new() };
        assert_eq!(check(&[receipt(vec![known])], &evidence), Ok(()));
        assert_eq!(check(&[receipt(vec![])], &evidence), Err(ClaimViolation::Uncited));
        let refused = check(&[receipt(vec![known, unknown])], &evidence);
        assert_eq!(refused, Err(ClaimViolation::UnknownEvent(unknown)));
        let twice = check(&[receipt(vec![known]), receipt(vec![known])], &evidence);
        assert!(matches!(twice, Err(ClaimViolation::RepeatedReceipt(_))));
    }

    #[test]
    fn i6_a_block_that_speaks_of_a_card_needs_the_persisted_card() {
        let card = ids().interaction();
        let notice = ResponseBlock::Notice(ServerNotice {
            code: "awaiting_confirmation".to_owned(),
            severity: NoticeSeverity::Info,
            text: "Please use the card.".into(),
            act: None,
            interaction: Some(card),
        });
        let none = Evidence::default();
        assert_eq!(
            check(std::slice::from_ref(&notice), &none),
            Err(ClaimViolation::UnknownCard(card))
        );
        let persisted = Evidence { cards: BTreeSet::from([card]), ..none };
        assert_eq!(check(&[notice], &persisted), Ok(()));
    }
}
