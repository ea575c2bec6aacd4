//! Every way in which a write can fail, and what the ledger says then.

use std::collections::BTreeMap;
use std::sync::{Arc, mpsc};

use sqlx::Row;
use sqlx::sqlite::SqliteConnectOptions;

use super::Bench;
use crate::admission::{Ground, Intake};
use crate::append::AppendError;
use crate::ledger::EventLedger;
use crate::sqlite::{OpenError, SqliteLedger};
use crate::stream::{PartitionId, Position, Version};
use crate::subscription::Subscription;
use crate::testing::{account, append, keyed};

impl Bench {
    /// Lets a function decide whether the writer's next commit goes through.
    async fn on_commit(&self, decide: impl FnMut() -> bool + Send + 'static) {
        let mut writer = self.ledger.writer.lock().await;
        let session = writer.session.as_mut().expect("a batch was written before");
        let mut handle = session.connection.lock_handle().await.expect("handle");
        handle.set_commit_hook(decide);
    }
}

#[tokio::test]
async fn a_second_opening_is_told_that_the_ledger_is_in_use() {
    let bench = Bench::new().await;
    let second = SqliteLedger::open(bench.path(), Bench::options()).await;
    assert!(matches!(second, Err(OpenError::InUse { .. })), "{second:?}");
    // The same file under another name is the same file.
    let link = bench.directory.path().join("link.db");
    std::os::unix::fs::symlink(bench.path(), &link).expect("link");
    let second = SqliteLedger::open(&link, Bench::options()).await;
    assert!(matches!(second, Err(OpenError::InUse { .. })), "{second:?}");
    let path = bench.path();
    bench.ledger.close().await;
    drop(bench.ledger);
    SqliteLedger::open(path, Bench::options()).await.expect("open again");
}

#[tokio::test]
async fn a_ledger_of_another_format_is_refused() {
    for (change, name) in [
        ("UPDATE tf_meta SET value = '2' WHERE name = 'format'", "format"),
        ("UPDATE tf_meta SET value = 'other' WHERE name = 'partition_hash'", "partition_hash"),
    ] {
        let bench = Bench::new().await;
        bench.execute(change).await;
        let path = bench.path();
        bench.ledger.close().await;
        drop(bench.ledger);
        let again = SqliteLedger::open(path, Bench::options()).await;
        assert!(matches!(&again, Err(OpenError::Foreign { name: found, .. }) if *found == name));
    }
}

#[tokio::test]
async fn the_writer_commits_durably() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut writer = bench.ledger.writer.lock().await;
    let connection = &mut writer.session.as_mut().expect("session").connection;
    let row = sqlx::query("SELECT * FROM pragma_journal_mode, pragma_synchronous");
    let row = row.fetch_one(connection).await.expect("pragmas");
    assert_eq!(row.get::<String, _>(0), "wal");
    assert_eq!(row.get::<i64, _>(1), 2, "FULL");
}

#[tokio::test]
async fn l14_a_lost_epoch_refuses_that_partition_alone() {
    let bench = Bench::new().await;
    let demo = account("demo");
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.execute("UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 32").await;
    let elsewhere = append(&bench.ids, &demo, &bench.stream, 0, 1);
    let answers =
        bench.ledger.append(vec![bench.append(1, 1), elsewhere, bench.append(9, 1)]).await;
    let partition = PartitionId::of(&bench.acme);
    assert_eq!(partition.number(), 32);
    assert_eq!(answers[0], Err(AppendError::Fenced { partition }));
    assert!(answers[1].is_ok());
    assert_eq!(answers[2], Err(AppendError::Fenced { partition }));
    // It stays fenced, and what was admitted before is not written later.
    assert_eq!(bench.commit(bench.append(1, 1)).await, Err(AppendError::Fenced { partition }));
    assert_eq!(bench.read().await.len(), 1);
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_new_owner_fences_the_old_one() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    // Whoever removes the lock file gets around the lock, and not around the epoch.
    std::fs::remove_file(bench.directory.path().join("ledger.db.lock")).expect("removed");
    let new = SqliteLedger::open(bench.path(), Bench::options()).await.expect("open");
    let partition = PartitionId::of(&bench.acme);
    assert_eq!(bench.commit(bench.append(1, 1)).await, Err(AppendError::Fenced { partition }));
    assert!(new.append(vec![bench.append(1, 1)]).await[0].is_ok());
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_database_that_is_locked_by_others_is_unavailable_for_as_long() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut foreign = bench.foreign().await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut foreign).await.expect("begun");
    let answer = bench.commit(bench.append(1, 1)).await;
    assert!(matches!(answer, Err(AppendError::Unavailable { .. })), "{answer:?}");
    assert_eq!(bench.read().await.len(), 1, "reading goes on");
    sqlx::query("ROLLBACK").execute(&mut foreign).await.expect("rolled back");
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_full_disk_is_unavailable_and_nothing_is_written() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    {
        let mut writer = bench.ledger.writer.lock().await;
        let connection = &mut writer.session.as_mut().expect("session").connection;
        let limit = sqlx::query("PRAGMA max_page_count = 1");
        limit.execute(connection).await.expect("limited to the pages there are");
    }
    let batch = vec![keyed(bench.append(1, 200), "k", "content"), bench.append(0, 1)];
    let answers = bench.ledger.append(batch).await;
    // The conflict is taken back too: it was judged beside an append that is not there.
    for answer in &answers {
        assert!(matches!(answer, Err(AppendError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!(bench.read().await.len(), 1);
    bench.commit(keyed(bench.append(1, 200), "k", "content")).await.expect("space again");
    bench.assert_intact(201).await;
}

#[tokio::test]
async fn a_commit_that_provably_failed_is_unavailable() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.on_commit(|| false).await;
    let answers = bench.ledger.append(vec![bench.append(1, 2), bench.append(1, 1)]).await;
    for answer in &answers {
        assert!(matches!(answer, Err(AppendError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!(bench.read().await.len(), 1);
    let appended = bench.commit(bench.append(1, 2)).await.expect("appended");
    assert_eq!(appended.first_position, Position(2));
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn a_failed_commit_that_nobody_can_look_behind_has_an_unknown_outcome() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.on_commit(|| false).await;
    let gone = SqliteConnectOptions::new().filename(bench.directory.path().join("no/such.db"));
    let options = std::mem::replace(&mut bench.ledger.writer.lock().await.options, gone);
    let answers = bench.ledger.append(vec![bench.append(1, 2), bench.append(1, 1)]).await;
    assert!(matches!(answers[0], Err(AppendError::OutcomeUnknown { .. })), "{:?}", answers[0]);
    assert!(matches!(answers[1], Err(AppendError::Unavailable { .. })), "{:?}", answers[1]);
    let meanwhile = bench.commit(bench.append(1, 1)).await;
    assert!(matches!(meanwhile, Err(AppendError::Unavailable { .. })), "{meanwhile:?}");
    bench.ledger.writer.lock().await.options = options;
    bench.commit(bench.append(1, 2)).await.expect("re-read and appended");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn looking_behind_a_failed_commit_tells_what_landed_from_what_did_not() {
    let bench = Bench::new().await;
    let (landed, lost) = ([bench.append(0, 2)], [bench.append(0, 2)]);
    let appended = bench.commit(landed[0].clone()).await.expect("appended");
    let granted = BTreeMap::from([(appended.partition, appended.first_position)]);
    let mut writer = bench.ledger.writer.lock().await;
    for (batch, expected) in [(&landed, true), (&lost, false)] {
        let plan = Intake::new(batch).admit(Ground::default()).place(&granted);
        assert_eq!(writer.look_behind(&plan).await.expect("looked"), expected);
    }
}

#[tokio::test]
async fn a_head_that_a_foreign_writer_moved_is_read_again_and_never_written_over() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench
        .execute(
            "INSERT INTO tf_entry SELECT place + 100, account, stream, version + 1, id, kind, schema, \
             recorded_at, turn, causation, commitment, chain, parts, facts FROM tf_entry",
        )
        .await;
    let first = bench.commit(bench.append(1, 1)).await;
    assert!(matches!(first, Err(AppendError::Unavailable { .. })), "{first:?}");
    let conflict = AppendError::Conflict {
        stream: bench.stream.clone(),
        expected: Version(1),
        actual: Version(2),
    };
    assert_eq!(bench.commit(bench.append(1, 1)).await, Err(conflict));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l2_while_a_commit_takes_its_time_nothing_is_skipped() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let (reached, at_commit) = tokio::sync::oneshot::channel();
    let (release, released) = mpsc::channel::<()>();
    let mut reached = Some(reached);
    bench
        .on_commit(move || {
            // Only the first commit waits; the sender's end releases all that follow.
            if let Some(reached) = reached.take() {
                reached.send(()).expect("the test waits");
                released.recv().expect("released");
            }
            true
        })
        .await;
    let partition = PartitionId::of(&bench.acme);
    let Bench { ids, acme, stream, ledger, directory } = bench;
    let ledger: Arc<dyn EventLedger> = Arc::new(ledger);
    let commit = |expected, count| {
        let (ledger, append) = (Arc::clone(&ledger), append(&ids, &acme, &stream, expected, count));
        tokio::spawn(async move { ledger.append(vec![append]).await.remove(0) })
    };
    let slow = commit(1, 2);
    at_commit.await.expect("the commit is under way");
    let waiting = commit(3, 1);

    let mut subscription = Subscription::new(Arc::clone(&ledger), partition, Position::START, None);
    assert_eq!(subscription.next().await.expect("entry").position, Position(1));
    for _ in 0..50 {
        assert!(subscription.try_next().await.expect("read").is_none());
        assert_eq!(ledger.head(partition).await.expect("read"), Position(1));
    }
    release.send(()).expect("the commit waits");
    for position in 2..=4 {
        assert_eq!(subscription.next().await.expect("entry").position, Position(position));
    }
    slow.await.expect("task").expect("appended");
    waiting.await.expect("task").expect("appended");
    drop(directory);
}
