//! What has to hold before the first append, on whatever server.

use sqlx::Row;
use turnframe_test::postgres;

use super::{Bench, connect, execute, options};
use crate::append::AppendError;
use crate::ledger::EventLedger;
use crate::postgres::{OpenError, PostgresLedger, PostgresOptions};
use crate::testing::{account, append, conversation, ids};

#[tokio::test]
async fn the_writer_commits_durably_whatever_the_database_is_set_to() {
    let bench = Bench::new().await;
    let name = bench.database.name();
    bench
        .execute(&format!(
            "ALTER DATABASE {name} SET synchronous_commit = off; \
             ALTER DATABASE {name} SET jit = on; \
             ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
        ))
        .await;
    bench.database.terminate_clients().await;
    let ledger = PostgresLedger::open(&bench.database.url(), options(1)).await.expect("open");
    let answers = ledger.append(vec![bench.append(0, 1)]).await;
    assert!(answers[0].is_ok(), "{answers:?}");
    let mut writer = ledger.writer.lock().await;
    let connection = &mut writer.session.as_mut().expect("session").connection;
    for (name, expected) in [
        ("synchronous_commit", "on"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("statement_timeout", "30s"),
        ("plan_cache_mode", "force_generic_plan"),
        ("jit", "off"),
        // An append that waited for a partition looks at what it is by then.
        ("default_transaction_isolation", "read committed"),
    ] {
        let row = sqlx::query("SELECT current_setting($1)").bind(name).fetch_one(&mut *connection);
        assert_eq!(row.await.expect("a setting").get::<String, _>(0), expected, "{name}");
    }
}

#[tokio::test]
async fn a_ledger_of_another_format_is_refused() {
    for name in ["format", "partition_hash"] {
        let bench = Bench::new().await;
        bench.execute(&format!("UPDATE tf_meta SET value = 'other' WHERE name = '{name}'")).await;
        let again = PostgresLedger::open(&bench.database.url(), options(2)).await;
        let Err(OpenError::Foreign { name: found, .. }) = again else {
            panic!("a ledger of another {name}: {again:?}")
        };
        assert_eq!(found, name);
    }
}

#[tokio::test]
async fn a_layout_of_another_program_is_refused() {
    let bench = Bench::new().await;
    bench.execute("UPDATE tf_migration SET checksum = '\\x00'").await;
    let again = PostgresLedger::open(&bench.database.url(), options(2)).await;
    assert!(matches!(again, Err(OpenError::Migration(_))), "{again:?}");
}

#[tokio::test]
async fn a_database_that_does_not_keep_text_as_it_is_is_refused() {
    let server = postgres::shared();
    let database = server.database().await;
    let name = format!("{}_latin1", database.name());
    let mut foreign = connect(&database.url()).await;
    let create = format!("CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    execute(&mut foreign, &create).await;
    let url = database.url().replace(database.name(), &name);
    let opened = PostgresLedger::open(&url, options(1)).await;
    execute(&mut foreign, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
    let Err(OpenError::Foreign { name: "encoding", found, .. }) = opened else {
        panic!("another encoding: {opened:?}")
    };
    assert_eq!(found, "LATIN1");
}

#[tokio::test]
async fn processes_that_open_an_empty_database_at_once_all_succeed() {
    let database = postgres::shared().database().await;
    let url = database.url();
    let open = |node| PostgresLedger::open(&url, options(node));
    let (first, second, third) = tokio::join!(open(1), open(2), open(3));
    let ledgers = [first.expect("open"), second.expect("open"), third.expect("open")];
    let (ids, stream) = (ids(1), conversation("c"));
    let mut written = 0;
    for ledger in &ledgers {
        let answers = ledger.append(vec![append(&ids, &account("acme"), &stream, 0, 1)]).await;
        written += usize::from(answers[0].is_ok());
    }
    assert_eq!(written, 1, "one of them owns the account's partition");
}

#[tokio::test]
async fn without_a_node_a_ledger_is_only_read() {
    let bench = Bench::new().await;
    bench.commit(bench.append(0, 1)).await.expect("appended");
    let url = bench.database.url();
    let reading = PostgresLedger::open(&url, PostgresOptions::default()).await.expect("open");
    let answers = reading.append(vec![bench.append(1, 1)]).await;
    let partition = bench.partition();
    assert_eq!(answers, [Err(AppendError::Fenced { partition })]);
    assert_eq!(reading.head(partition).await.expect("read").0, 1);
    bench.commit(bench.append(1, 1)).await.expect("the owner is not disturbed");
    bench.assert_intact(2).await;
}
