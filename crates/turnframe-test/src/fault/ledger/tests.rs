use futures::FutureExt;
use turnframe_core::id::{CaseRef, EffectId};
use turnframe_core::personal::Sealed;
use turnframe_core::source::IdSource;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{EntryKind, NewEntry};

use super::super::boundary::Coverage;
use super::*;
use crate::literal;
use crate::sources::ids;

fn conversation(name: &str) -> StreamName {
    StreamName::Conversation(literal(name))
}

fn entry(ids: &IdSource, stream: &StreamName, kind: EntryKind) -> NewEntry {
    NewEntry {
        id: ids.entry(),
        stream: stream.clone(),
        kind,
        schema: 1,
        recorded_at: ids.now(),
        turn: None,
        causation: None,
        body: Sealed::seal(&serde_json::json!({}), ids).expect("sealed"),
    }
}

/// An append of one entry to one conversation at a version.
fn append(ids: &IdSource, name: &str, expected: u64, kind: EntryKind) -> Append {
    let stream = conversation(name);
    Append {
        account: literal("acme"),
        entries: vec![entry(ids, &stream, kind)],
        expected: vec![(stream, Version(expected))],
        keys: Vec::new(),
        marks: Vec::new(),
    }
}

/// A scenario of three appends, two of them in one batch.
async fn scenario(ledger: &dyn EventLedger) -> Vec<Answer> {
    let ids = ids(1);
    let accepted = append(&ids, "a", 0, EntryKind::TurnAccepted);
    let mut answers = ledger.append(vec![accepted]).await;
    let reduced = append(&ids, "a", 1, EntryKind::TurnReduced);
    let other = append(&ids, "b", 0, EntryKind::TurnAccepted);
    answers.extend(ledger.append(vec![reduced, other]).await);
    answers
}

/// The kinds that are committed to a conversation.
async fn committed(ledger: &dyn EventLedger, name: &str) -> Vec<&'static str> {
    let account = literal("acme");
    let entries = ledger.read_stream(&account, &conversation(name), Version::NONE, 10).await;
    entries.expect("read").iter().map(|entry| entry.kind.as_str()).collect()
}

fn faulty(inner: &Arc<MemoryLedger>, plan: FaultPlan<LedgerFault>) -> FaultLedger {
    FaultLedger::new(inner.clone(), plan, CrashSwitch::new())
}

#[tokio::test]
async fn a_clean_run_enumerates_every_append_of_every_batch() {
    let inner = Arc::new(MemoryLedger::new());
    let ledger = faulty(&inner, FaultPlan::none());
    assert!(scenario(&ledger).await.iter().all(Result::is_ok));
    let names: Vec<_> = ledger.enumerated().iter().map(ToString::to_string).collect();
    assert_eq!(
        names,
        [
            "1 conversation: turn.accepted (occurrence 1)",
            "2 conversation: turn.reduced (occurrence 1)",
            "3 conversation: turn.accepted (occurrence 2)",
        ]
    );
}

#[tokio::test]
async fn an_append_over_several_streams_is_named_by_all_of_them() {
    let ids = ids(1);
    let case = StreamName::Case(CaseRef { workflow: literal("desk"), case: ids.case() });
    let effects: [EffectId; 2] = [ids.effect(), ids.effect()];
    let effects = effects.map(StreamName::Effect);
    let mut entries =
        vec![entry(&ids, &case, EntryKind::CaseCommand), entry(&ids, &case, EntryKind::CaseEvent)];
    entries.extend(effects.iter().map(|it| entry(&ids, it, EntryKind::EffectRequested)));
    let expected = [case].into_iter().chain(effects).map(|stream| (stream, Version::NONE));
    let append = Append {
        account: literal("acme"),
        entries,
        expected: expected.collect(),
        keys: Vec::new(),
        marks: Vec::new(),
    };
    assert_eq!(
        name_of(&append),
        "case: case.command, case.event; effect: effect.requested; effect: effect.requested"
    );
}

#[tokio::test]
async fn a_crash_commits_exactly_what_stands_before_its_side_of_the_boundary() {
    let clean = faulty(&Arc::new(MemoryLedger::new()), FaultPlan::none());
    scenario(&clean).await;
    let mut coverage = Coverage::of(&clean.enumerated());
    let mut committed_by_run = Vec::new();
    for point in coverage.points().to_vec() {
        let inner = Arc::new(MemoryLedger::new());
        let ledger = faulty(&inner, point.plan());
        assert!(scenario(&ledger).now_or_never().is_none(), "{point}: the process lives on");
        assert!(ledger.switch.crashed().now_or_never().is_some(), "{point}");
        assert_eq!(ledger.unhit(), [], "{point}");
        assert_eq!(ledger.crashed_at().as_ref(), Some(&point));
        coverage.note(ledger.crashed_at());
        // The next start is a fresh handle over the same inner ledger.
        let next = faulty(&inner, FaultPlan::none());
        committed_by_run.push((committed(&next, "a").await, committed(&next, "b").await));
    }
    assert_eq!(coverage.unhit(), Vec::<&CrashPoint>::new());
    let (accepted, reduced) = ("turn.accepted", "turn.reduced");
    assert_eq!(
        committed_by_run,
        [
            (vec![], vec![]),
            (vec![accepted], vec![]),
            (vec![accepted], vec![]),
            (vec![accepted, reduced], vec![]),
            (vec![accepted, reduced], vec![]),
            (vec![accepted, reduced], vec![accepted]),
        ]
    );
}

#[tokio::test]
async fn a_dead_handle_answers_nothing_any_more() {
    let inner = Arc::new(MemoryLedger::new());
    let ledger = faulty(&inner, FaultPlan::none().with(1, Crash::After));
    assert!(scenario(&ledger).now_or_never().is_none());
    let account: AccountId = literal("acme");
    let partition = PartitionId::of(&account);
    let stream = conversation("a");
    assert!(committed(&ledger, "a").now_or_never().is_none());
    assert!(ledger.read_stream_back(&account, &stream, None, 1).now_or_never().is_none());
    assert!(ledger.read_partition(partition, Position::START, 1, None).now_or_never().is_none());
    assert!(ledger.head(partition).now_or_never().is_none());
    let key = KeyName::new("k").expect("key");
    assert!(ledger.find_key(&account, &key).now_or_never().is_none());
    let turns = MarkQuery::of(turnframe_ledger::MarkKind::Turn);
    assert!(ledger.marks(turns).now_or_never().is_none());
    let ids = ids(2);
    let later = vec![append(&ids, "b", 0, EntryKind::TurnAccepted)];
    assert!(ledger.append(later).now_or_never().is_none());
    assert_eq!(ledger.enumerated().len(), 1, "a dead process reaches no boundary");
    assert_eq!(committed(inner.as_ref(), "b").await, [""; 0]);
}

#[tokio::test]
async fn a_fault_that_is_no_crash_strikes_one_append_and_spares_its_neighbours() {
    let inner = Arc::new(MemoryLedger::new());
    let unavailable = AppendError::Unavailable { reason: "disk full".to_owned() };
    let plan = FaultPlan::none()
        .with("conversation: turn.reduced", LedgerFault::Answer(unavailable.clone()));
    let ledger = faulty(&inner, plan);
    let answers = scenario(&ledger).await;
    assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
    assert_eq!(answers[1], Err(unavailable));
    assert_eq!(committed(&ledger, "a").await, ["turn.accepted"]);
    assert_eq!(committed(&ledger, "b").await, ["turn.accepted"]);
    assert_eq!(ledger.crashed_at(), None);
}

#[tokio::test]
async fn a_lost_acknowledgement_commits_and_says_that_it_does_not_know() {
    let inner = Arc::new(MemoryLedger::new());
    let ledger = faulty(&inner, FaultPlan::none().with(2, LedgerFault::LostAck));
    let answers = scenario(&ledger).await;
    assert!(matches!(answers[1], Err(AppendError::OutcomeUnknown { .. })), "{answers:?}");
    assert!(answers[2].is_ok(), "{answers:?}");
    assert_eq!(committed(&ledger, "a").await, ["turn.accepted", "turn.reduced"]);
}

#[tokio::test]
async fn a_feigned_conflict_writes_nothing_and_the_second_try_goes_through() {
    let inner = Arc::new(MemoryLedger::new());
    let ledger = faulty(&inner, FaultPlan::none().with(1, LedgerFault::Conflict));
    let ids = ids(1);
    let refused = ledger.append(vec![append(&ids, "a", 0, EntryKind::TurnAccepted)]).await;
    let (stream, expected, actual) = (conversation("a"), Version(0), Version(1));
    assert_eq!(refused, [Err(AppendError::Conflict { stream, expected, actual })]);
    assert_eq!(committed(&ledger, "a").await, [""; 0]);
    let again = ledger.append(vec![append(&ids, "a", 0, EntryKind::TurnAccepted)]).await;
    assert!(again[0].is_ok(), "{again:?}");
}

#[tokio::test]
async fn a_plan_that_the_run_does_not_reach_is_told() {
    let plan =
        FaultPlan::none().with(9, Crash::Before).with(("case: card.opened", 2), Crash::After);
    let ledger = faulty(&Arc::new(MemoryLedger::new()), plan);
    scenario(&ledger).await;
    assert_eq!(ledger.unhit(), [Place::from(9), Place::from(("case: card.opened", 2))]);
}
