//! Whether a ledger and the airline's own book say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use turnframe_core::block::ResponseBlock;
use turnframe_core::id::{CaseRef, EffectId, EntryId};
use turnframe_core::receipt::EffectConclusion;
use turnframe_ledger::open::open;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{
    Entry, EntryKind, EventLedger, MarkKind, MarkQuery, PartitionId, Position, StreamName,
};
use turnframe_runtime::record::{
    CaseEvent, ConclusionSource, EffectConcluded, EffectRequested, TurnAnswered, UpdatePosted,
};
use turnframe_travel::airline::{AirlineBook, AirlineDetails, Standing};
use turnframe_travel::trip::{RebookingStatus, TripEvent};

use super::airline::Calls;

/// Whether something is on its way, or was not followed, on the ledger of a process that has stopped.
pub(super) async fn is_open(path: &str) -> bool {
    let opened = open(path, None).await.expect("the ledger opens");
    let mut is_open = false;
    for kind in [MarkKind::Effect, MarkKind::Relay, MarkKind::Turn, MarkKind::Timer] {
        let query = MarkQuery { limit: 1, ..MarkQuery::of(kind) };
        is_open |= !opened.ledger.marks(query).await.expect("marks").is_empty();
    }
    let deadline = "answer-deadline".parse().expect("a name");
    for partition in PartitionId::all() {
        let cursor = opened.ledger.cursor(&deadline, partition).await.expect("a cursor");
        is_open |= cursor < opened.ledger.head(partition).await.expect("a head");
    }
    opened.ledger.close().await;
    is_open
}

/// What was found to agree.
pub(super) struct Agreement {
    pub(super) effects: usize,
    pub(super) decided: usize,
    pub(super) parked: usize,
    pub(super) overdue: usize,
    pub(super) entries: usize,
    pub(super) requests: usize,
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { effects, decided, parked, overdue, entries, requests } = self;
        write!(
            f,
            "{effects} effects in {requests} requests, {decided} decided, {overdue} overdue, {parked} parked, {entries} entries"
        )
    }
}

/// What the ledger has of an effect.
#[derive(Default)]
struct Effect {
    is_requested: bool,
    is_parked: bool,
    /// The airline's counts of the statements that were called back.
    callbacks: Vec<u32>,
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
    let overdue = check_trips(&entries);
    let asked: BTreeSet<String> = effects.keys().map(ToString::to_string).collect();
    for (key, _) in book.all_performed() {
        assert!(asked.contains(key), "the airline did what nobody asked for: {key}");
    }
    let mut agreement = Agreement {
        effects: effects.len(),
        decided: 0,
        parked: 0,
        overdue,
        entries: entries.len(),
        requests: book.received_total(),
    };
    for (effect, on_ledger) in &effects {
        assert!(on_ledger.is_requested, "{effect} was never requested");
        let key = effect.to_string();
        let in_book = book.performed(&key);
        agreement.parked += usize::from(on_ledger.is_parked);
        let Some(in_book) = in_book else {
            let status = &on_ledger.status;
            assert!(on_ledger.is_parked, "{effect} is not in the book: {status:?}");
            assert!(status.as_ref().is_none_or(|it| it.is_uncertain()), "{effect}: {status:?}");
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
        let heard = calls.statements.iter().filter(|(of, _)| *of == key);
        let mut recorded = on_ledger.callbacks.clone();
        recorded.sort_unstable();
        assert_eq!(recorded, heard.map(|(_, sequence)| *sequence).collect::<Vec<_>>(), "{effect}");
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
                    known.callbacks.push(sequence(&concluded.conclusion));
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

/// The airline's count of a statement.
fn sequence(conclusion: &EffectConclusion) -> u32 {
    let details = match conclusion {
        EffectConclusion::Accepted { details, .. } | EffectConclusion::Rejected { details, .. } => {
            details.read::<AirlineDetails>().expect("details")
        }
        EffectConclusion::Unknown | EffectConclusion::ReconciliationRequired => {
            unreachable!("nobody calls back to say that nothing is known")
        }
    };
    details.sequence.expect("a count")
}

/// Every receipt that was shown cites events that stand on its account's ledger before it, and every outcome of a
/// rebooking was shown.
fn check_receipts(entries: &[Entry]) {
    let (mut before, mut told) = (BTreeSet::new(), BTreeSet::new());
    let mut outcomes: BTreeSet<EntryId> = BTreeSet::new();
    for entry in entries {
        if entry.kind == EntryKind::CaseEvent {
            before.insert((&entry.account, entry.id));
            let CaseEvent { event, .. } = entry.body.open().expect("an event");
            if let Ok(TripEvent::RebookingOutcomeRecorded { .. }) = event.read() {
                outcomes.insert(entry.id);
            }
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
            let cited = &receipt.draft.event_ids;
            let was_there = |event: &EntryId| before.contains(&(&entry.account, *event));
            assert!(!cited.is_empty() && cited.iter().all(was_there), "{receipt:?}");
            told.extend(cited.iter().copied());
        }
    }
    assert!(!outcomes.is_empty() && outcomes.is_subset(&told), "everything was told");
}

/// Each rebooking of a trip is one effect, and is overdue once at most.
fn check_trips(entries: &[Entry]) -> usize {
    let mut trips: BTreeMap<CaseRef, (usize, usize)> = BTreeMap::new();
    let mut overdue: BTreeSet<(CaseRef, u32)> = BTreeSet::new();
    for entry in entries {
        if entry.kind == EntryKind::EffectRequested {
            let EffectRequested { case, .. } = entry.body.open().expect("a request");
            trips.entry(case).or_default().1 += 1;
        }
        let StreamName::Case(case) = &entry.stream else { continue };
        if entry.kind == EntryKind::CaseEvent {
            let CaseEvent { event, .. } = entry.body.open().expect("an event");
            match event.read() {
                Ok(TripEvent::RebookingRequested { .. }) => {
                    trips.entry(case.clone()).or_default().0 += 1;
                }
                Ok(TripEvent::RebookingOverdue { rebooking, .. }) => {
                    assert!(overdue.insert((case.clone(), rebooking)), "{case} is overdue twice");
                }
                _ => {}
            }
        }
    }
    for (case, (rebookings, effects)) in trips {
        assert_eq!(rebookings, effects, "{case}");
    }
    overdue.len()
}
