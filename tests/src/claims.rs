//! Checks what a conversation was told against what its ledger holds, block by block.
//!
//! Everything is read from the stored transcript, as a reload reads it.

use std::collections::BTreeMap;

use turnframe_core::block::{Author, ResponseBlock};
use turnframe_core::claim::breaks_guardrail;
use turnframe_core::id::{EntryId, InteractionId};
use turnframe_core::receipt::{OperationalReceipt, ReceiptStatus};
use turnframe_ledger::{Entry, EntryKind, Position};
use turnframe_runtime::record::{CardOpened, TurnAnswered, UpdatePosted};

use crate::reading::words_of;
use crate::world::Process;

/// What stands on a ledger before each place of it.
struct Record {
    events: BTreeMap<EntryId, Position>,
    cards: BTreeMap<InteractionId, Position>,
}

impl Record {
    fn of(entries: &[Entry]) -> Self {
        let of_kind = |kind| entries.iter().filter(move |entry| entry.kind == kind);
        let events = of_kind(EntryKind::CaseEvent).map(|entry| (entry.id, entry.position));
        let cards = of_kind(EntryKind::CardOpened).map(|entry| {
            let CardOpened { card, .. } = entry.body.open().expect("a card");
            (card.id, entry.position)
        });
        Self { events: events.collect(), cards: cards.collect() }
    }

    fn check(&self, block: &ResponseBlock, told_at: Position) {
        let was_there = |card: &InteractionId| self.cards.get(card).is_some_and(|it| *it < told_at);
        match block {
            ResponseBlock::Receipt(receipt) => self.check_receipt(receipt, told_at),
            ResponseBlock::Interaction(card) => assert!(was_there(&card.id), "I6: {card:#?}"),
            ResponseBlock::Notice(notice) => {
                assert!(notice.interaction.as_ref().is_none_or(was_there), "I6: {notice:#?}");
            }
            ResponseBlock::Answer { .. }
            | ResponseBlock::Transition { .. }
            | ResponseBlock::Artifact(_) => {}
        }
    }

    fn check_receipt(&self, receipt: &OperationalReceipt, told_at: Position) {
        let cited = &receipt.draft.event_ids;
        assert!(!cited.is_empty(), "I16: a receipt cites nothing: {receipt:#?}");
        for event in cited {
            let committed = self.events.get(event).is_some_and(|at| *at < told_at);
            assert!(committed, "I16: {event} was not committed before it was told: {receipt:#?}");
        }
    }
}

/// Every block that was stored, in the order of the ledger, with its place.
///
/// # Panics
/// When an entry cannot be read.
#[must_use]
pub fn told(entries: &[Entry]) -> Vec<(Position, ResponseBlock)> {
    let mut told = Vec::new();
    for entry in entries {
        let blocks = match entry.kind {
            EntryKind::TurnAnswered => {
                entry.body.open::<TurnAnswered>().expect("an answer").answer.blocks
            }
            EntryKind::UpdatePosted => entry.body.open::<UpdatePosted>().expect("news").blocks,
            EntryKind::ConversationOpened
            | EntryKind::TurnAccepted
            | EntryKind::TurnReduced
            | EntryKind::CaseCommand
            | EntryKind::CaseEvent
            | EntryKind::CardOpened
            | EntryKind::CardClosed
            | EntryKind::EffectRequested
            | EntryKind::EffectDispatched
            | EntryKind::EffectDeferred
            | EntryKind::EffectConcluded
            | EntryKind::EffectParked
            | EntryKind::EffectReleased
            | EntryKind::EffectNudged
            | EntryKind::TimerSet
            | EntryKind::TimerFired
            | EntryKind::TimerCancelled => continue,
        };
        told.extend(blocks.into_iter().map(|block| (entry.position, block)));
    }
    told
}

/// Every receipt, card and notice that the account was ever shown stands on the ledger before it was shown, and no
/// other words say what only a receipt may.
///
/// # Panics
/// When one does not.
pub async fn check(process: &Process) {
    let entries = process.entries().await;
    let record = Record::of(&entries);
    let locale = &process.actor.locale;
    let registry = turnframe_travel::registry();
    let forbidden: Vec<String> =
        registry.iter().flat_map(|workflow| workflow.forbidden_phrases(locale)).collect();
    let mut airline_has_spoken = false;
    for (told_at, block) in told(&entries) {
        record.check(&block, told_at);
        if let ResponseBlock::Receipt(receipt) = &block {
            airline_has_spoken |= is_of_the_airline(&receipt.draft.status);
        }
        let words = words_of(&block).unwrap_or_default();
        let claims = words.split_inclusive(['.', '!', '?', '\n']).any(|sentence| {
            let says_that_nothing_happened = is_of_the_server(&block) && denies(sentence);
            breaks_guardrail(sentence, &forbidden) && !says_that_nothing_happened
        });
        // The server may answer from the record what the record says.
        let is_from_the_record = is_of_the_server(&block) && airline_has_spoken;
        assert!(!claims || is_from_the_record, "a claim beside the record: {words}");
    }
}

fn denies(sentence: &str) -> bool {
    ["not", "nothing", "nicht", "nichts"]
        .iter()
        .any(|word| sentence.split(|it: char| !it.is_alphabetic()).any(|other| other == *word))
}

fn is_of_the_server(block: &ResponseBlock) -> bool {
    !matches!(
        block,
        ResponseBlock::Answer { author: Author::Model, .. }
            | ResponseBlock::Transition { author: Author::Model, .. }
    )
}

fn is_of_the_airline(status: &ReceiptStatus) -> bool {
    matches!(status, ReceiptStatus::Submitted | ReceiptStatus::Accepted | ReceiptStatus::Rejected)
}
