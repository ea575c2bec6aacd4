//! What is acknowledged outlives the process.

use turnframe_core::id::DomainActorKey;
use turnframe_ledger::{
    AppendError, Entry, EventLedger, MarkKind, MarkQuery, PartitionId, Position, Version,
};

use super::Backend;
use super::build::{Bench, account, clear, conversation, key, set};

async fn everything(ledger: &dyn EventLedger) -> Vec<String> {
    let mut all = Vec::new();
    for partition in PartitionId::all() {
        let page = ledger.read_partition(partition, Position::START, usize::MAX, None).await;
        all.extend(page.expect("read").iter().map(|entry: &Entry| format!("{entry:?}")));
        let head = ledger.head(partition).await.expect("read");
        assert_eq!(*ledger.hints(partition).borrow(), head, "the hint starts at the head");
    }
    all
}

/// Entries to the byte, keys, marks and heads are there again.
pub async fn a_restart_keeps_everything(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    let mut first = bench.keyed(&stream, 0, "k", "content");
    first.marks = vec![set(MarkKind::Turn, "a", &stream, 1), set(MarkKind::Turn, "b", &stream, 2)];
    let second = bench.marking(&stream, 1, vec![clear(MarkKind::Turn, "a")]);
    let third = bench.append_of(&account("demo"), &stream, 0, 3);
    bench.must_commit(vec![first, second, third]).await;
    let before = everything(&*bench.ledger).await;
    let found = bench.ledger.find_key(&bench.acme, &key("k")).await.expect("read");
    let marks = bench.ledger.marks(MarkQuery::of(MarkKind::Turn)).await.expect("read");
    assert_eq!((before.len(), marks.len()), (5, 1));

    let again = Bench::on(backend.reopen(bench.ledger).await);
    assert_eq!(everything(&*again.ledger).await, before);
    assert_eq!(again.ledger.find_key(&again.acme, &key("k")).await.expect("read"), found);
    let kept = again.ledger.marks(MarkQuery::of(MarkKind::Turn)).await.expect("read");
    assert_eq!(kept, marks);
    assert_eq!(again.verified().await, 5);
}

/// Versions, keys and positions go on where they were, and stale expectations are still stale.
pub async fn after_a_restart_appends_are_judged_by_what_was_kept(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let stream = conversation("c");
    bench.must_commit(vec![bench.keyed(&stream, 0, "k", "content")]).await;

    let again = Bench::on(backend.reopen(bench.ledger).await);
    let answers = again
        .commit(vec![
            again.append(&stream, 0, 1),
            again.keyed(&stream, 1, "k", "content"),
            again.append(&stream, 1, 2),
            again.append(&conversation("new"), 0, 1),
        ])
        .await;
    assert!(matches!(answers[0], Err(AppendError::Conflict { actual: Version(1), .. })));
    assert!(matches!(answers[1], Err(AppendError::DuplicateKey { same_content: true, .. })));
    let appended = answers[2].as_ref().expect("appended");
    assert_eq!(appended.first_position, Position(2));
    assert_eq!(appended.entries[1].version, Version(3));
    assert!(answers[3].is_ok());
    assert_eq!(again.verified().await, 4);
}

/// A follower goes on where it was.
pub async fn a_restart_keeps_cursors(backend: &dyn Backend) {
    let bench = Bench::new(backend).await;
    let follower = DomainActorKey::new("follower").expect("a name");
    let partition = PartitionId::of(&bench.acme);
    bench.ledger.keep_cursor(&follower, partition, Position(9)).await.expect("kept");
    let again = Bench::on(backend.reopen(bench.ledger).await);
    let kept = again.ledger.cursor(&follower, partition).await.expect("read");
    assert_eq!(kept, Position(9));
}
