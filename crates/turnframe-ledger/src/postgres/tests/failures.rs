//! Every way in which a write can fail or be fenced on a server that stays, and what the ledger says then.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, execute, is_unavailable, options, until};
use crate::append::AppendError;
use crate::ledger::EventLedger;
use crate::postgres::writer::Writer;
use crate::postgres::{PostgresOptions, writing};
use crate::stored::Counters;
use crate::stored::recent::Recent;
use crate::stream::{PartitionId, Position};
use crate::subscription::Subscription;
use crate::testing::{account, append};
use turnframe_test::postgres;

/// A trigger that does something when rows of entries are written, or when that is committed.
fn trigger(when: &str, act: &str) -> String {
    format!(
        "CREATE FUNCTION foreign_act() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN {act}; RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER foreign_trigger AFTER INSERT ON tf_entry \
             DEFERRABLE INITIALLY {when} FOR EACH ROW EXECUTE FUNCTION foreign_act()"
    )
}

const NO_TRIGGER: &str = "DROP FUNCTION foreign_act CASCADE";

/// Locks the partition of acme until the transaction ends.
const LOCK: &str = "BEGIN; SELECT FROM tf_partition WHERE id = 32 FOR UPDATE";

impl Bench {
    /// Waits until so many of the ledger's statements wait for somebody's lock.
    pub(super) async fn until_waiting(&self, count: i64) {
        let mut foreign = self.foreign().await;
        let waiting = "SELECT count(*) FROM pg_stat_activity \
            WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let waits = async || super::number(&mut foreign, waiting).await >= count;
        until("waiting for a lock", waits).await;
    }

    async fn epoch(&self) -> i64 {
        self.number("SELECT epoch FROM tf_partition WHERE id = 32").await
    }
}

#[tokio::test]
async fn l14_a_lost_epoch_refuses_that_partition_alone_and_is_noticed() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let before = *bench.ledger.ownership().held().borrow();
    bench.execute("UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 32").await;
    let batch = vec![bench.append(1, 1), bench.elsewhere("demo", 0), bench.append(9, 1)];
    let answers = bench.ledger.append(batch).await;
    let partition = bench.partition();
    assert_eq!(partition.number(), 32);
    assert_eq!(answers[0], Err(AppendError::Fenced { partition }));
    assert!(answers[1].is_ok(), "{answers:?}");
    assert_eq!(answers[2], Err(AppendError::Fenced { partition }));
    // Whoever acted for it stops, and it is taken again under an epoch of its own.
    until("taking it again", async || bench.ledger.ownership().holds(partition)).await;
    let after = *bench.ledger.ownership().held().borrow();
    assert_eq!(before.ended(&after), [partition].into_iter().collect());
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn l14_an_append_that_waited_for_a_partition_that_was_taken_meanwhile_is_fenced() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut other = bench.foreign().await;
    execute(&mut other, "BEGIN; UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 32").await;
    let batch = vec![bench.append(1, 1), bench.elsewhere("demo", 0)];
    let taken = async {
        bench.until_waiting(1).await;
        execute(&mut other, "COMMIT").await;
    };
    let (answers, ()) = tokio::join!(bench.ledger.append(batch), taken);
    assert_eq!(answers[0], Err(AppendError::Fenced { partition: bench.partition() }));
    assert!(answers[1].is_ok(), "{answers:?}");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_refusal_is_not_given_for_a_partition_that_was_lost() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    bench.execute("UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 32").await;
    let fenced = AppendError::Fenced { partition: bench.partition() };
    assert_eq!(bench.commit(bench.append(9, 1)).await, Err(fenced));
}

#[tokio::test]
async fn a_name_that_only_a_fenced_append_brought_is_not_remembered() {
    let bench = Bench::new().await;
    let demo = PartitionId::of(&account("demo"));
    bench.execute("UPDATE tf_partition SET epoch = epoch + 1 WHERE id = 4").await;
    let batch = vec![bench.elsewhere("demo", 0), bench.append(0, 1)];
    let answers = bench.ledger.append(batch).await;
    assert_eq!(answers[0], Err(AppendError::Fenced { partition: demo }));
    assert!(answers[1].is_ok(), "the session goes on");
    until("taking it again", async || bench.ledger.ownership().holds(demo)).await;
    bench.commit(bench.elsewhere("demo", 0)).await.expect("appended");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn a_statement_past_its_time_is_unavailable_and_nothing_is_written() {
    let database = postgres::shared().database().await;
    let url = database.url();
    let limited = PostgresOptions { statement_timeout: Duration::from_millis(100), ..options(1) };
    let bench = Bench::at(database, &url, limited).await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut foreign = bench.foreign().await;
    execute(&mut foreign, LOCK).await;
    let answers = bench.ledger.append(vec![bench.append(1, 1), bench.append(9, 1)]).await;
    assert!(answers.iter().all(is_unavailable), "{answers:?}");
    assert_eq!(bench.read().await.len(), 1, "reading goes on");
    execute(&mut foreign, "ROLLBACK").await;
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}

/// The server's own words for a disk that is full, at either moment: that they come as an answer shows that
/// nothing was committed. A log that cannot be written ends the server instead, and that is an unknown outcome.
#[tokio::test]
async fn a_full_disk_is_unavailable_and_nothing_is_written() {
    for when in ["IMMEDIATE", "DEFERRED"] {
        let bench = Bench::new().await;
        bench.commit(bench.append(0, 1)).await.expect("appended");
        let full = "RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'";
        bench.execute(&trigger(when, full)).await;
        let batch = vec![bench.keyed(1, "k"), bench.append(0, 1), bench.elsewhere("demo", 0)];
        let answers = bench.ledger.append(batch).await;
        // The conflict is taken back too: it was judged beside an append that is not there.
        assert!(answers.iter().all(is_unavailable), "{when}: {answers:?}");
        assert_eq!(bench.read().await.len(), 1);
        bench.execute(NO_TRIGGER).await;
        let appended = bench.commit(bench.keyed(1, "k")).await.expect("space again");
        assert_eq!(appended.first_position, Position(2), "no position was lost");
        bench.assert_intact(2).await;
    }
}

#[tokio::test]
async fn sessions_that_an_operator_ends_are_opened_again() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    assert!(bench.database.terminate_clients().await >= 2, "the writer and the keeper");
    let answer = bench.commit(bench.append(1, 1)).await;
    assert!(is_unavailable(&answer), "nothing was written: {answer:?}");
    assert_eq!(bench.read().await.len(), 1);
    // And in the middle of a batch.
    let mut foreign = bench.foreign().await;
    let waiting = "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    bench.commit(bench.append(1, 1)).await.expect("appended");
    execute(&mut foreign, LOCK).await;
    let ended = async {
        bench.until_waiting(1).await;
        assert_eq!(bench.number(waiting).await, 1);
        execute(&mut foreign, "COMMIT").await;
    };
    let (answer, ()) = tokio::join!(bench.commit(bench.append(2, 1)), ended);
    assert!(is_unavailable(&answer), "nothing was written: {answer:?}");
    bench.commit(bench.append(2, 1)).await.expect("appended");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn a_database_that_is_read_only_is_unavailable_for_as_long() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut foreign = bench.foreign().await;
    let name = bench.database.name();
    let set = |value| format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
    execute(&mut foreign, &set("on")).await;
    // Sessions that there are keep their settings. What the first batch finds is the end of its own, and no epoch can
    // be raised to know for certain.
    bench.database.terminate_clients().await;
    let answer = bench.commit(bench.append(1, 1)).await;
    assert!(super::is_unknown(&answer), "{answer:?}");
    for _ in 0..2 {
        let answer = bench.commit(bench.append(1, 1)).await;
        assert!(is_unavailable(&answer), "{answer:?}");
        assert_eq!(bench.read().await.len(), 1, "reading goes on");
    }
    let mut foreign = bench.foreign().await;
    execute(&mut foreign, "SET default_transaction_read_only = off").await;
    execute(&mut foreign, &set("off")).await;
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(2).await;
}

#[tokio::test]
async fn an_old_statement_that_arrives_late_is_fenced_once_the_next_batch_was_written() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    // Somebody with the epochs of before: a statement that is still on its way.
    let (epochs, _) = bench.ledger.shared.tenure.look();
    let old = Arc::new(crate::postgres::tenure::Tenure::default());
    epochs.owned().iter().for_each(|partition| old.take(partition, epochs.of(partition)));
    let connecting = bench.database.url().parse().expect("a URL");
    let limit = Duration::from_secs(30);
    let mut late = Writer::new(writing(&connecting, &options(1)), limit, old);
    // The batch that it belongs to was cut short.
    bench.ledger.writer.lock().await.unsettled = Some(epochs);
    let before = bench.epoch().await;
    bench.commit(bench.elsewhere("demo", 0)).await.expect("the next batch, elsewhere");
    assert_eq!(bench.epoch().await, before + 1);
    let batch = [bench.append(1, 1)];
    let (answers, _) = late.append(&batch, &Counters::default(), &Recent::default()).await;
    assert_eq!(answers, [Err(AppendError::Fenced { partition: bench.partition() })]);
    bench.commit(bench.append(1, 1)).await.expect("appended");
    bench.assert_intact(3).await;
}

#[tokio::test]
async fn l1_l2_while_a_commit_takes_its_time_nothing_is_skipped() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let mut foreign = bench.foreign().await;
    execute(&mut foreign, "SELECT pg_advisory_lock(7)").await;
    bench.execute(&trigger("DEFERRED", "PERFORM pg_advisory_xact_lock(7)")).await;
    let partition = bench.partition();
    // Of the same partition, over a connection of its own: the writer itself would wait for its answer.
    let mut names = (0..).map(|number| account(&format!("account-{number}")));
    let neighbour = names.find(|name| PartitionId::of(name) == partition).expect("an account");
    let connecting = bench.database.url().parse().expect("a URL");
    let tenure = Arc::clone(&bench.ledger.shared.tenure);
    let limit = Duration::from_secs(30);
    let mut second = Writer::new(writing(&connecting, &options(1)), limit, tenure);
    let batch = [append(&bench.ids, &neighbour, &bench.stream, 0, 1)];

    let slow = bench.commit(bench.append(1, 2));
    let overtaking = async {
        bench.until_waiting(1).await;
        second.append(&batch, &Counters::default(), &Recent::default()).await.0.remove(0)
    };
    let reading = async {
        bench.until_waiting(2).await;
        let mut read = Subscription::new(bench.reading().await, partition, Position::START, None);
        assert_eq!(read.next().await.expect("entry").position, Position(1));
        for _ in 0..50 {
            assert!(read.try_next().await.expect("read").is_none());
        }
        execute(&mut foreign, "SELECT pg_advisory_unlock(7)").await;
        for position in 2..=4 {
            assert_eq!(read.next().await.expect("entry").position, Position(position));
        }
    };
    let (slow, overtaking, ()) = tokio::join!(slow, overtaking, reading);
    assert_eq!(slow.expect("appended").first_position, Position(2));
    assert_eq!(overtaking.expect("appended").first_position, Position(4));
    bench.assert_intact(4).await;
}

impl Bench {
    /// The ledger as a process sees it that only reads.
    async fn reading(&self) -> Arc<dyn EventLedger> {
        let url = self.database.url();
        let ledger = crate::postgres::PostgresLedger::open(&url, PostgresOptions::default()).await;
        Arc::new(ledger.expect("open"))
    }
}
