//! What the port cannot show: failing commits, lost answers, leases, foreign writers, tampering, and how rows are
//! found.

mod duplicates;
mod failures;
mod leases;
mod outages;
mod plans;
mod settings;
mod tampering;

use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row};
use turnframe_core::id::AccountId;
use turnframe_core::source::IdSource;
use turnframe_test::postgres::{self, Database};
use uuid::Uuid;

use super::{NodeOptions, PostgresLedger, PostgresOptions};
use crate::append::{Append, AppendError, Appended};
use crate::entry::Entry;
use crate::ledger::EventLedger;
use crate::stream::{PartitionId, StreamName, Version};
use crate::testing::{account, append, conversation, ids, keyed};
use crate::verify::{VerifyReport, verify};

/// How long anything may take to come about that a test waits for.
const LIMIT: Duration = Duration::from_secs(20);

/// How often a test looks whether it has.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

/// A ledger in a database of its own, with one stream of one account to write to.
struct Bench {
    ledger: PostgresLedger,
    database: Database,
    ids: IdSource,
    acme: AccountId,
    stream: StreamName,
}

impl Bench {
    async fn new() -> Self {
        let database = postgres::shared().database().await;
        let url = database.url();
        Self::at(database, &url, options(1)).await
    }

    /// A bench whose ledger reaches the database in its own way.
    async fn at(database: Database, url: &str, options: PostgresOptions) -> Self {
        let ledger = PostgresLedger::open(url, options).await.expect("open");
        let (acme, stream) = (account("acme"), conversation("c"));
        Self { ledger, database, ids: ids(1), acme, stream }
    }

    /// A connection that knows nothing of the ledger's rules.
    async fn foreign(&self) -> PgConnection {
        connect(&self.database.url()).await
    }

    async fn execute(&self, statements: &str) {
        execute(&mut self.foreign().await, statements).await;
    }

    async fn number(&self, query: &str) -> i64 {
        number(&mut self.foreign().await, query).await
    }

    fn append(&self, expected: u64, count: u64) -> Append {
        append(&self.ids, &self.acme, &self.stream, expected, count)
    }

    /// An append of one entry, to the stream of that name of an account of its own.
    fn elsewhere(&self, name: &str, expected: u64) -> Append {
        append(&self.ids, &account(name), &self.stream, expected, 1)
    }

    fn keyed(&self, expected: u64, key: &str) -> Append {
        keyed(self.append(expected, 1), key, "content")
    }

    fn partition(&self) -> PartitionId {
        PartitionId::of(&self.acme)
    }

    async fn commit(&self, append: Append) -> Result<Appended, AppendError> {
        self.ledger.append(vec![append]).await.remove(0)
    }

    /// The stream as the database has it.
    async fn read(&self) -> Vec<Entry> {
        let read = self.ledger.reader.read_stream(&self.acme, &self.stream, Version::NONE, 999);
        read.await.expect("read")
    }

    async fn verify(&self) -> VerifyReport {
        verify(&self.ledger, PartitionId::all(), |_| {}).await
    }

    async fn assert_intact(&self, entries: u64) {
        let report = self.verify().await;
        assert!(report.is_intact(), "{:?}", report.faults);
        assert_eq!(report.entries, entries);
        let orphans = "SELECT count(*) FROM tf_entry e LEFT JOIN tf_account a ON a.id = e.account \
            LEFT JOIN tf_stream s ON s.id = e.stream AND s.account = a.id WHERE s.id IS NULL";
        assert_eq!(self.number(orphans).await, 0, "every entry has its account and its stream");
    }
}

/// How a process opens the ledger.
fn options(node: u64) -> PostgresOptions {
    let address = format!("http://127.0.0.1:{node}");
    let node = NodeOptions::new(Uuid::from_u64_pair(0, node), address);
    PostgresOptions { node: Some(node), ..PostgresOptions::default() }
}

async fn connect(url: &str) -> PgConnection {
    let options: PgConnectOptions = url.parse().expect("a URL");
    options.disable_statement_logging().connect().await.expect("connection")
}

async fn execute(connection: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))
        .execute(connection)
        .await
        .expect("executed");
}

async fn number(connection: &mut PgConnection, query: &str) -> i64 {
    let row = sqlx::query(AssertSqlSafe(query.to_owned())).fetch_one(connection).await;
    row.expect("answered").get(0)
}

/// Waits until something has come about.
async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !condition().await {
        assert!(Instant::now() < deadline, "{what} did not come about");
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
}

fn is_unavailable(answer: &Result<Appended, AppendError>) -> bool {
    matches!(answer, Err(AppendError::Unavailable { .. }))
}

fn is_unknown(answer: &Result<Appended, AppendError>) -> bool {
    matches!(answer, Err(AppendError::OutcomeUnknown { .. }))
}
