//! Whether a ledger and the airline's own book say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use turnframe_core::block::ResponseBlock;
use turnframe_core::id::{EffectId, EntryId};
use turnframe_core::receipt::EffectConclusion;
use turnframe_ledger::open::open;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{
    Entry, EntryKind, EventLedger, MarkKind, MarkQuery, PartitionId, Position, StreamName,
};
use turnframe_runtime::record::{
    CaseEvent, ConclusionSource, EffectConcluded, TurnAnswered, UpdatePosted,
};
use turnframe_travel::airline::{AirlineBook, Standing};
use turnframe_travel::trip::{RebookingStatus, TripEvent};

use super::airline::Calls;

/// Whether an effect or a fact is on its way on the ledger of a process that has stopped.
pub(super) async fn is_open(path: &str) -> bool {
    let opened = open(path, None).await.expect("the ledger opens");
    let mut is_open = false;
    for kind in [MarkKind::Effect, MarkKind::Relay, MarkKind::Turn] {
        let query = MarkQuery { limit: 1, ..MarkQuery::of(kind) };
        is_open |= !opened.ledger.marks(query).await.expect("marks").is_empty();
    }
    opened.ledger.close().await;
    is_open
}

/// What was found to agree.
pub(super) struct Agreement {
    pub(super) effects: usize,
    pub(super) decided: usize,
    pub(super) parked: usize,
    pub(super) entries: usize,
    pub(super) requests: usize,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effects, decided, parked, entries, requests } = self;
        write!(
            f,
            "{effects} effects in {requests} requests, {decided} decided, {parked} parked, {entries} entries"
        )
    }
}

/// What the ledger has of an effect.
#[derive(Default)]
struct Effect {
    is_requested: bool,
    is_parked: bool,
    /// Statements of callbacks, by what was said.
    callbacks: Vec<EffectConclusion>,
    /// The last that its trip recorded of it.
    status: Option<RebookingStatus>,
}

/// Compares them, entry by entry.
///
/// # Panics
/// Where they do not agree.
pub(super) async fn check(path: &str, book: &AirlineBook, calls: &Calls) -> Agreement {
    let opened = open(path, None).await.expect("the ledger opens");
    let report = verify(opened.ledger.as_ref(), PartitionId::all(), |_| {}).await;
    assert!(report.is_intact(), "{:?}", report.faults);
    let entries = entries(opened.ledger.as_ref()).await;
    opened.ledger.close().await;
    let effects = effects(&entries);
    check_receipts(&entries);
    let asked: BTreeSet<String> = effects.keys().map(ToString::to_string).collect();
    for (key, _) in book.all_performed() {
        assert!(asked.contains(key), "the airline did what nobody asked for: {key}");
    }
    let mut agreement = Agreement {
        effects: effects.len(),
        decided: 0,
        parked: 0,
        entries: entries.len(),
        requests: book.received_total(),
    };
    for (effect, on_ledger) in &effects {
        assert!(on_ledger.is_requested, "{effect} was never requested");
        let key = effect.to_string();
        let in_book = book.performed(&key);
        agreement.parked += usize::from(on_ledger.is_parked);
        let Some(in_book) = in_book else {
            assert!(on_ledger.is_parked, "{effect} is not in the book: {:?}", on_ledger.status);
            continue;
        };
        // The last that the trip knows is the last that the airline said.
        let expected = match in_book.statement.standing.clone() {
            Standing::Received { reference } => RebookingStatus::Submitted { reference },
            Standing::Confirmed { reference } => RebookingStatus::Accepted { reference },
            Standing::Refused { code } => RebookingStatus::Rejected { code },
        };
        assert_eq!(on_ledger.status.as_ref(), Some(&expected), "{effect}");
        agreement.decided += usize::from(expected.is_final());
        // Each statement that was called back is recorded once, however often it came.
        let heard = calls.statements.iter().filter(|(of, _)| *of == key).count();
        assert_eq!(on_ledger.callbacks.len(), heard, "{effect}: {:?}", on_ledger.callbacks);
    }
    agreement
}

async fn entries(ledger: &dyn EventLedger) -> Vec<Entry> {
    let mut all = Vec::new();
    for partition in PartitionId::all() {
        let mut after = Position::START;
        loop {
            let page = ledger.read_partition(partition, after, 1_000, None).await.expect("entries");
            let Some(last) = page.last() else { break };
            after = last.position;
            all.extend(page);
        }
    }
    all
}

fn effects(entries: &[Entry]) -> BTreeMap<EffectId, Effect> {
    let mut effects: BTreeMap<EffectId, Effect> = BTreeMap::new();
    for entry in entries {
        if let StreamName::Effect(effect) = entry.stream {
            let known = effects.entry(effect).or_default();
            known.is_requested |= entry.kind == EntryKind::EffectRequested;
            known.is_parked |= entry.kind == EntryKind::EffectParked;
            if entry.kind == EntryKind::EffectConcluded {
                let concluded: EffectConcluded = entry.body.open().expect("a conclusion");
                if matches!(concluded.source, ConclusionSource::Callback { .. }) {
                    known.callbacks.push(concluded.conclusion);
                }
            }
        } else if entry.kind == EntryKind::CaseEvent {
            let CaseEvent { event, .. } = entry.body.open().expect("an event");
            if let Ok(TripEvent::RebookingOutcomeRecorded { effect, outcome, .. }) = event.read() {
                effects.entry(effect).or_default().status = Some(outcome.into());
            }
        }
    }
    effects
}

/// Every receipt that was shown cites events that stand on the ledger before it.
fn check_receipts(entries: &[Entry]) {
    let mut before: BTreeSet<EntryId> = BTreeSet::new();
    let mut receipts = 0;
    for entry in entries {
        if entry.kind == EntryKind::CaseEvent {
            before.insert(entry.id);
        }
        let blocks = if entry.kind == EntryKind::TurnAnswered {
            entry.body.open::<TurnAnswered>().expect("an answer").answer.blocks
        } else if entry.kind == EntryKind::UpdatePosted {
            entry.body.open::<UpdatePosted>().expect("news").blocks
        } else {
            continue;
        };
        for block in &blocks {
            let ResponseBlock::Receipt(receipt) = block else { continue };
            receipts += 1;
            let cited = &receipt.draft.event_ids;
            assert!(!cited.is_empty() && cited.iter().all(|it| before.contains(it)), "{receipt:?}");
        }
    }
    assert!(receipts > 0, "nobody was told anything");
}
