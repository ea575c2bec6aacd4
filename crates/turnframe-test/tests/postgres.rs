//! The throwaway PostgreSQL does what tests rely on.

use sqlx::{Connection, PgConnection};
use turnframe_test::postgres::{Database, shared};

async fn connect(database: &Database) -> PgConnection {
    PgConnection::connect(&database.url()).await.expect("a connection")
}

async fn run(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.expect("a statement");
}

async fn text(connection: &mut PgConnection, sql: &'static str) -> String {
    sqlx::query_scalar(sql).fetch_one(connection).await.expect("a row")
}

#[tokio::test]
async fn a_commit_is_on_disk_before_it_is_acknowledged() {
    let database = shared().database().await;
    let mut connection = connect(&database).await;
    for setting in ["SHOW fsync", "SHOW synchronous_commit", "SHOW full_page_writes"] {
        assert_eq!(text(&mut connection, setting).await, "on", "{setting}");
    }
    assert_eq!(text(&mut connection, "SHOW server_encoding").await, "UTF8");
    assert_eq!(text(&mut connection, "SHOW lc_collate").await, "C");
}

#[tokio::test]
async fn two_databases_do_not_see_each_other() {
    let (one, other) = (shared().database().await, shared().database().await);
    assert_ne!(one.name(), other.name());
    run(&mut connect(&one).await, "CREATE TABLE fact (id int)").await;
    let mut elsewhere = connect(&other).await;
    let seen = text(&mut elsewhere, "SELECT coalesce(to_regclass('fact')::text, 'none')").await;
    assert_eq!(seen, "none");
}
