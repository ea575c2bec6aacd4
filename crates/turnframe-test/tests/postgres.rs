//! The throwaway PostgreSQL does what tests rely on.

use std::env;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use turnframe_test::postgres::{Database, Server, Wire, shared};

/// Tells a run of this executable that a test of another run wants something of it.
const TASK: &str = "TURNFRAME_TEST_TASK";

/// How long a process may take for what it was started or ended for.
const PROCESS_LIMIT: Duration = Duration::from_secs(60);

/// How long an answer is waited for that must not come.
const SILENCE: Duration = Duration::from_millis(300);

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("a connection")
}

async fn run(connection: &mut PgConnection, sql: &'static str) {
    sqlx::raw_sql(sql).execute(connection).await.expect("a statement");
}

async fn text(connection: &mut PgConnection, sql: &'static str) -> String {
    sqlx::query_scalar(sql).fetch_one(connection).await.expect("a row")
}

/// A table of numbers, and a connection to its database.
async fn numbers(database: &Database) -> PgConnection {
    let mut connection = connect(&database.url()).await;
    run(&mut connection, "CREATE TABLE number (n bigint PRIMARY KEY)").await;
    connection
}

async fn insert(connection: &mut PgConnection, number: i64) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query("INSERT INTO number VALUES ($1)").bind(number).execute(&mut *transaction).await?;
    transaction.commit().await
}

async fn inserted(database: &Database) -> Vec<i64> {
    let mut connection = connect(&database.url()).await;
    let query = sqlx::query_scalar("SELECT n FROM number ORDER BY n");
    query.fetch_all(&mut connection).await.expect("rows")
}

/// One test of this executable, in a process of its own.
fn elsewhere(test: &str, task: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("this executable"));
    command.args(["--exact", test]).env(TASK, task).stdout(Stdio::null());
    command
}

async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PROCESS_LIMIT;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} took too long");
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_commit_is_synced_before_it_is_acknowledged() {
    let database = shared().database().await;
    let mut connection = connect(&database.url()).await;
    for setting in ["SHOW fsync", "SHOW synchronous_commit", "SHOW full_page_writes"] {
        assert_eq!(text(&mut connection, setting).await, "on", "{setting}");
    }
    assert_eq!(text(&mut connection, "SHOW server_encoding").await, "UTF8");
    assert_eq!(text(&mut connection, "SHOW lc_collate").await, "C");
}

#[tokio::test]
#[should_panic(expected = "`fsync` would weaken the durability")]
async fn a_server_without_durability_is_refused() {
    Server::private(&[("fsync", "off")]).await;
}

#[tokio::test]
async fn a_private_server_has_the_settings_that_its_test_asks_for() {
    let server = Server::private(&[("max_connections", "20"), ("application_name", "it's")]).await;
    let mut connection = connect(&server.database().await.url()).await;
    assert_eq!(text(&mut connection, "SHOW max_connections").await, "20");
    assert_eq!(text(&mut connection, "SHOW application_name").await, "it's");
}

#[tokio::test]
async fn two_databases_do_not_see_each_other() {
    let (one, other) = (shared().database().await, shared().database().await);
    assert_ne!(one.name(), other.name());
    numbers(&one).await;
    let mut connection = connect(&other.url()).await;
    let seen = text(&mut connection, "SELECT coalesce(to_regclass('number')::text, 'none')").await;
    assert_eq!(seen, "none");
}

#[tokio::test]
async fn a_dropped_database_is_gone_whoever_uses_it() {
    let (watching, dropped) = (shared().database().await, shared().database().await);
    let (name, mut user) = (dropped.name().to_owned(), connect(&dropped.url()).await);
    drop(dropped);
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_database WHERE datname = $1")
        .bind(name)
        .fetch_one(&mut connect(&watching.url()).await)
        .await
        .expect("a row");
    assert_eq!(left, 0);
    assert!(user.ping().await.is_err());
}

#[tokio::test]
async fn many_databases_are_made_at_once() {
    let databases = (0..8).map(|_| tokio::spawn(shared().database()));
    let mut names = Vec::new();
    for database in databases.collect::<Vec<_>>() {
        names.push(database.await.expect("a database").name().to_owned());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 8);
}

#[tokio::test]
async fn a_second_process_uses_the_same_server() {
    const PROOF: &str = "SELECT datname::text FROM pg_database WHERE datname = current_database()";
    // The other process is here too, with the address of a database that this one made.
    if let Ok(url) = env::var(TASK) {
        assert!(url.contains(&format!(":{}/", shared().port())), "{url}");
        let name = text(&mut connect(&url).await, PROOF).await;
        assert!(url.ends_with(&name), "{url} is not {name}");
        return;
    }
    let database = shared().database().await;
    let status = elsewhere("a_second_process_uses_the_same_server", &database.url()).status();
    assert!(status.expect("a process").success());
}

#[tokio::test]
async fn a_restart_keeps_what_was_committed_and_the_port() {
    let server = Server::private(&[]).await;
    let database = server.database().await;
    let mut connection = numbers(&database).await;
    insert(&mut connection, 1).await.expect("a commit");
    server.restart().await;
    assert!(connection.ping().await.is_err(), "a restart ends sessions");
    assert_eq!(inserted(&database).await, [1]);
}

#[tokio::test]
async fn an_immediate_stop_loses_nothing_that_was_acknowledged() {
    let server = Server::private(&[]).await;
    let database = server.database().await;
    let mut connection = numbers(&database).await;
    let (acknowledged, mut acknowledgements) = mpsc::unbounded_channel();
    let writer = tokio::spawn(async move {
        for number in 0.. {
            if insert(&mut connection, number).await.is_err() {
                return;
            }
            acknowledged.send(number).expect("the test listens");
        }
    });
    let mut known = Vec::new();
    for _ in 0..50 {
        known.push(acknowledgements.recv().await.expect("an acknowledgement"));
    }
    server.stop_immediate().await;
    writer.await.expect("the writer ends with its session");
    while let Some(number) = acknowledgements.recv().await {
        known.push(number);
    }
    assert!(PgConnection::connect(&database.url()).await.is_err(), "nobody listens");
    server.start().await;
    let kept = inserted(&database).await;
    // The last commit may have been made and not acknowledged.
    assert!(kept.starts_with(&known) && kept.len() <= known.len() + 1, "{known:?} became {kept:?}");
}

#[tokio::test]
async fn a_paused_server_answers_when_it_is_resumed() {
    let server = Server::private(&[]).await;
    let database = server.database().await;
    let mut connection = numbers(&database).await;
    server.pause().await;
    let mut answer = tokio::spawn(async move { insert(&mut connection, 1).await });
    assert!(timeout(SILENCE, &mut answer).await.is_err(), "nobody can have answered");
    server.resume().await;
    answer.await.expect("the task").expect("a commit");
    assert_eq!(inserted(&database).await, [1]);
}

#[tokio::test]
async fn a_paused_server_is_gone_when_it_is_dropped() {
    let server = Server::private(&[]).await;
    let (home, begun) = (server.home().to_owned(), Instant::now());
    server.pause().await;
    drop(server);
    assert!(!home.exists());
    assert!(begun.elapsed() < Duration::from_secs(5), "its processes were let go first");
}

#[tokio::test]
async fn a_stopped_server_is_gone_when_it_is_dropped() {
    let server = Server::private(&[]).await;
    let home = server.home().to_owned();
    server.stop_immediate().await;
    drop(server);
    assert!(!home.exists());
}

#[tokio::test]
async fn a_private_server_ends_when_the_process_of_its_test_is_killed() {
    // The other process is here too: it has a server until it is killed, or until nobody is left to do so.
    if let Some(file) = env::var_os(TASK) {
        let server = Server::private(&[]).await;
        let (file, written) = (Path::new(&file), server.home().to_string_lossy());
        fs::write(file.with_extension("part"), written.as_bytes()).expect("a file");
        fs::rename(file.with_extension("part"), file).expect("a file");
        std::io::stdin().read_to_end(&mut Vec::new()).expect("no input");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("home");
    let test = "a_private_server_ends_when_the_process_of_its_test_is_killed";
    let mut other = elsewhere(test, &file.to_string_lossy());
    let mut other = other.stdin(Stdio::piped()).spawn().expect("a process");
    wait_until("the other server's start", || file.exists()).await;
    let home = fs::read_to_string(&file).expect("its folder");
    assert!(Path::new(&home).exists());
    other.kill().expect("a signal");
    assert!(!other.wait().expect("a process").success());
    wait_until("the other server's end", || !Path::new(&home).exists()).await;
}

#[tokio::test]
async fn sessions_are_ended_of_one_database_or_of_all() {
    let server = Server::private(&[]).await;
    let (one, other) = (server.database().await, server.database().await);
    let (mut in_one, mut in_other) = (connect(&one.url()).await, connect(&other.url()).await);
    assert_eq!(one.terminate_clients().await, 1);
    assert!(in_one.ping().await.is_err());
    assert!(in_other.ping().await.is_ok());
    assert_eq!(server.terminate_clients().await, 1);
    assert!(in_other.ping().await.is_err());
}

#[tokio::test]
async fn a_commit_is_made_and_its_acknowledgement_is_lost() {
    let (database, wire) = (shared().database().await, Wire::to(shared()).await);
    numbers(&database).await;
    let mut client = connect(&wire.url(&database)).await;
    insert(&mut client, 1).await.expect("an open wire");
    wire.hold_after(b"COMMIT");
    let mut commit = tokio::spawn(async move { insert(&mut client, 2).await });
    wire.held().await;
    assert_eq!(inserted(&database).await, [1, 2], "the server has committed");
    assert!(timeout(SILENCE, &mut commit).await.is_err(), "the client does not know");
    wire.cut();
    assert!(commit.await.expect("the task").is_err(), "the client never learns");
    let mut again = connect(&wire.url(&database)).await;
    insert(&mut again, 3).await.expect("what follows passes");
}

#[tokio::test]
async fn a_commit_that_takes_long_is_acknowledged_late() {
    let (database, wire) = (shared().database().await, Wire::to(shared()).await);
    numbers(&database).await;
    let mut client = connect(&wire.url(&database)).await;
    let mut beside = connect(&wire.url(&database)).await;
    wire.hold_after(b"COMMIT");
    let commit = tokio::spawn(async move { insert(&mut client, 1).await });
    wire.held().await;
    beside.ping().await.expect("another connection passes");
    assert!(!commit.is_finished());
    wire.pass();
    commit.await.expect("the task").expect("a commit");
}

#[tokio::test]
async fn a_wire_that_holds_keeps_every_answer_until_it_passes() {
    let (database, wire) = (shared().database().await, Wire::to(shared()).await);
    let mut client = connect(&wire.url(&database)).await;
    wire.hold();
    let mut answer = tokio::spawn(async move { text(&mut client, "SELECT 'here'").await });
    assert!(timeout(SILENCE, &mut answer).await.is_err());
    wire.held().await;
    wire.pass();
    assert_eq!(answer.await.expect("the task"), "here");
}

#[tokio::test]
async fn a_cut_ends_every_connection_and_the_next_one_passes() {
    let (database, wire) = (shared().database().await, Wire::to(shared()).await);
    let mut clients = [connect(&wire.url(&database)).await, connect(&wire.url(&database)).await];
    wire.cut();
    for client in &mut clients {
        assert!(client.ping().await.is_err());
    }
    connect(&wire.url(&database)).await.ping().await.expect("an answer");
}

#[tokio::test]
async fn a_wire_that_refuses_takes_no_new_connection_and_leaves_the_old_ones() {
    let (database, wire) = (shared().database().await, Wire::to(shared()).await);
    let mut old = connect(&wire.url(&database)).await;
    wire.refuse().await;
    let refused = PgConnection::connect(&wire.url(&database)).await.expect_err("no connection");
    let sqlx::Error::Io(error) = refused else { panic!("{refused}") };
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    old.ping().await.expect("an answer");
    wire.admit().await;
    connect(&wire.url(&database)).await.ping().await.expect("an answer");
}
