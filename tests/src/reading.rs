//! What a test reads off answers and entries.

use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::id::InteractionId;
use turnframe_core::interaction::Interaction;
use turnframe_core::plan::ActOutcome;
use turnframe_core::receipt::OperationalReceipt;
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::record::{CardOpened, CaseCommand, CaseEvent};

/// The outcome of each act, in order.
#[must_use]
pub fn outcomes(answer: &AssistantTurn) -> Vec<&ActOutcome> {
    answer.acts.iter().map(|act| &act.outcome).collect()
}

/// The outcome of the only act.
///
/// # Panics
/// When there is another number of acts.
#[must_use]
pub fn outcome(answer: &AssistantTurn) -> &ActOutcome {
    assert_eq!(answer.acts.len(), 1, "{answer:#?}");
    &answer.acts[0].outcome
}

/// Whether an act was applied.
#[must_use]
pub fn is_applied(outcome: &ActOutcome) -> bool {
    matches!(outcome, ActOutcome::Applied { .. })
}

/// The fresh card in place of a stale one, where there is one.
///
/// # Panics
/// When the outcome is not a stale card's.
#[must_use]
pub fn fresh_of(outcome: &ActOutcome) -> Option<InteractionId> {
    let ActOutcome::StaleCard { fresh, .. } = outcome else { panic!("not stale: {outcome:?}") };
    *fresh
}

/// The receipts among blocks, in order.
#[must_use]
pub fn receipts(blocks: &[ResponseBlock]) -> Vec<&OperationalReceipt> {
    let mut receipts = Vec::new();
    for block in blocks {
        if let ResponseBlock::Receipt(receipt) = block {
            receipts.push(receipt);
        }
    }
    receipts
}

/// The words of a block that are neither a receipt's nor a card's.
#[must_use]
pub fn words_of(block: &ResponseBlock) -> Option<String> {
    match block {
        ResponseBlock::Answer { text, .. } | ResponseBlock::Transition { text, .. } => {
            Some(text.to_string())
        }
        ResponseBlock::Notice(notice) => Some(notice.text.to_string()),
        ResponseBlock::Receipt(_) | ResponseBlock::Interaction(_) | ResponseBlock::Artifact(_) => {
            None
        }
    }
}

/// All words of an answer that are neither receipts' nor cards', line by line.
#[must_use]
pub fn prose(answer: &AssistantTurn) -> String {
    answer.blocks.iter().filter_map(words_of).collect::<Vec<_>>().join("\n")
}

/// The domain events among entries, in order, each by its name.
///
/// # Panics
/// When an entry cannot be read.
#[must_use]
pub fn events(entries: &[Entry]) -> Vec<String> {
    let events = entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent);
    events.map(|entry| name_of(&entry.body.open::<CaseEvent>().expect("an event"))).collect()
}

/// How many domain events of a name there are among entries.
#[must_use]
pub fn count(entries: &[Entry], event: &str) -> usize {
    events(entries).iter().filter(|name| *name == event).count()
}

/// An event is written as `{"name": {...}}`, or as `"name"` where it says nothing more.
fn name_of(event: &CaseEvent) -> String {
    let value: serde_json::Value = event.event.read().expect("JSON");
    let tag = value.as_object().and_then(|fields| fields.keys().next().cloned());
    tag.or_else(|| value.as_str().map(str::to_owned)).expect("an event has a name")
}

/// The commands that were run or refused, in order.
///
/// # Panics
/// When an entry cannot be read.
#[must_use]
pub fn commands(entries: &[Entry]) -> Vec<CaseCommand> {
    let commands = entries.iter().filter(|entry| entry.kind == EntryKind::CaseCommand);
    commands.map(|entry| entry.body.open().expect("a command")).collect()
}

/// The card of an id as it is persisted.
///
/// # Panics
/// When it is not.
#[must_use]
pub fn persisted(entries: &[Entry], id: InteractionId) -> Interaction {
    let opened = entries.iter().filter(|entry| entry.kind == EntryKind::CardOpened);
    let mut cards = opened.map(|it| it.body.open::<CardOpened>().expect("a card").card);
    cards.find(|card| card.id == id).expect("the card is persisted")
}

/// How many entries of a kind there are.
#[must_use]
pub fn kinds(entries: &[Entry], kind: EntryKind) -> usize {
    entries.iter().filter(|entry| entry.kind == kind).count()
}
