//! What the ledger is measured against: a client that inserts the same rows into the same tables and does nothing else.
//!
//! It judges nothing, fences nothing and remembers nothing; its rows are prepared before the clock starts. A batch is
//! one transaction under the same durability: on PostgreSQL one statement of `UNNEST` arrays, on SQLite multi-row
//! `VALUES`. For benches only: what it writes is no ledger, because nobody checked it.

use std::collections::HashMap;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous,
};
use sqlx::{Arguments, AssertSqlSafe, ConnectOptions, Connection, Row};
use turnframe_core::id::AccountId;

use crate::admission::{Ground, Head, Intake};
use crate::append::Append;
use crate::open::{OpenError, open};
use crate::sqlite::SqliteOptions;
use crate::stored::rows::{parts_to_json, place, version};
use crate::stream::{PartitionId, Position, StreamName};

/// How many rows one statement has on SQLite.
const VALUES_MAX: usize = 128;

const INSERT_POSTGRES: &str = "WITH entries AS (\
        INSERT INTO tf_entry (place, account, stream, version, recorded_at, schema, id, kind, turn, \
            commitment, chain, parts, facts) \
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::int[], \
            $7::bytea[], $8::text[], $9::text[], $10::bytea[], $11::bytea[], $12::bytea[], $13::bytea[])\
    ), keys AS (\
        INSERT INTO tf_key (account, stream, version, key, entry, digest) \
        SELECT * FROM unnest($14::bigint[], $15::bigint[], $16::bigint[], $17::text[], $18::bytea[], $19::bytea[])\
    ), cleared AS (\
        DELETE FROM tf_mark m USING unnest($20::bigint[], $21::text[], $22::text[]) AS r (account, kind, key) \
        WHERE m.account = r.account AND m.kind = r.kind AND m.key = r.key\
    ) INSERT INTO tf_mark (account, stream, due, partition, kind, key) \
    SELECT * FROM unnest($23::bigint[], $24::bigint[], $25::bigint[], $26::smallint[], $27::text[], $28::text[])";

/// The client could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum YardstickError {
    /// The tables could not be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database refused.
    #[error("the database refused")]
    Database(#[from] sqlx::Error),
    /// A row could not be prepared.
    #[error("a row could not be prepared: {0}")]
    Row(String),
}

/// The client and its one connection.
#[derive(Debug)]
pub struct Yardstick {
    connection: Client,
    /// How many bare rows were written.
    bare: i64,
}

#[derive(Debug)]
enum Client {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

impl Yardstick {
    /// Makes the ledger's tables in a database of its own, `sqlite:PATH` or `postgres://…`, and connects to it.
    ///
    /// # Errors
    /// [`YardstickError`].
    pub async fn open(address: &str) -> Result<Self, YardstickError> {
        const BARE: &str =
            "CREATE TABLE tf_bare (id bigint NOT NULL PRIMARY KEY, data bytea NOT NULL)";
        open(address, None).await?.ledger.close().await;
        let connection = match address.strip_prefix("sqlite:") {
            Some(path) => Client::Sqlite(Box::new(connect_sqlite(path).await?)),
            None => {
                let options: PgConnectOptions = address.parse()?;
                // What the ledger's own writer has: young tables have no statistics that a plan could rest on.
                let options = options.disable_statement_logging().options([
                    ("jit", "off"),
                    ("synchronous_commit", "on"),
                    ("plan_cache_mode", "force_generic_plan"),
                    ("enable_seqscan", "off"),
                    ("enable_hashjoin", "off"),
                    ("enable_mergejoin", "off"),
                ]);
                let mut connection = options.connect().await?;
                sqlx::query(BARE).execute(&mut connection).await?;
                Client::Postgres(Box::new(connection))
            }
        };
        Ok(Self { connection, bare: 0 })
    }

    /// Inserts the rows of a batch in one transaction.
    ///
    /// # Errors
    /// [`YardstickError`]; nothing was written.
    pub async fn insert(&mut self, rows: &Rows) -> Result<(), YardstickError> {
        match &mut self.connection {
            Client::Postgres(connection) => Ok(rows.insert_postgres(connection).await?),
            Client::Sqlite(connection) => {
                let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
                rows.insert_sqlite(&mut transaction).await?;
                Ok(transaction.commit().await?)
            }
        }
    }

    /// Commits this many rows of this size to a table with a key and nothing else, on PostgreSQL.
    ///
    /// # Errors
    /// [`YardstickError`]; nothing was written.
    pub async fn commit_bare(&mut self, rows: usize, bytes: usize) -> Result<(), YardstickError> {
        const COMMIT: &str = "INSERT INTO tf_bare SELECT * FROM unnest($1::bigint[], $2::bytea[])";
        let Client::Postgres(connection) = &mut self.connection else { return Ok(()) };
        let next = self.bare;
        self.bare += i64::try_from(rows).unwrap_or_default();
        let ids: Vec<i64> = (next..self.bare).collect();
        let data = vec![vec![0x5a_u8; bytes]; rows];
        sqlx::query(COMMIT).bind(ids).bind(data).execute(&mut **connection).await?;
        Ok(())
    }

    /// The database's version and the settings that figures depend on.
    ///
    /// # Errors
    /// [`YardstickError`].
    pub async fn settings(&mut self) -> Result<Vec<String>, YardstickError> {
        const SETTINGS: &str = "SELECT name || ' ' || current_setting(name) FROM unnest(ARRAY['server_version', \
            'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size']) AS name";
        let settings = match &mut self.connection {
            Client::Postgres(connection) => {
                let rows = sqlx::query(SETTINGS).fetch_all(&mut **connection).await?;
                rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?
            }
            Client::Sqlite(connection) => {
                let row = sqlx::query("SELECT sqlite_version()").fetch_one(&mut **connection);
                vec![
                    format!("version {}", row.await?.try_get::<String, _>(0)?),
                    "WAL, synchronous FULL".to_owned(),
                ]
            }
        };
        Ok(settings)
    }

    /// Closes the connection.
    ///
    /// # Errors
    /// [`YardstickError`]; it is closed all the same.
    pub async fn close(self) -> Result<(), YardstickError> {
        match self.connection {
            Client::Sqlite(connection) => Ok(connection.close().await?),
            Client::Postgres(connection) => Ok(connection.close().await?),
        }
    }
}

async fn connect_sqlite(path: &str) -> Result<SqliteConnection, sqlx::Error> {
    let SqliteOptions { writer_cache_kib, checkpoint_pages, .. } = SqliteOptions::default();
    let options = SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("cache_size", format!("-{writer_cache_kib}"))
        .pragma("wal_autocheckpoint", checkpoint_pages.to_string())
        .disable_statement_logging();
    options.connect().await
}

/// Gives out numbers for names and positions, so that rows can be prepared.
#[derive(Debug, Default)]
pub struct Preparer {
    accounts: HashMap<AccountId, i64>,
    streams: HashMap<(AccountId, StreamName), i64>,
    positions: HashMap<PartitionId, u64>,
}

impl Preparer {
    /// The rows that the ledger would write for a batch.
    ///
    /// # Errors
    /// [`YardstickError::Row`] for a batch that the ledger would refuse.
    pub fn rows(&mut self, batch: &[Append]) -> Result<Rows, YardstickError> {
        let mut ground = Ground::default();
        for append in batch {
            for (stream, version) in &append.expected {
                let head = Head { version: *version, ..Head::EMPTY };
                ground.heads.entry((&append.account, stream)).or_insert(head);
            }
        }
        let admission = Intake::new(batch).admit(ground);
        if admission.has_refusals() {
            return Err(YardstickError::Row("the batch would be refused".to_owned()));
        }
        let mut rows = Rows::default();
        for admitted in admission.admitted() {
            let account = &admitted.append.account;
            for (entry, link) in admitted.entries() {
                let position = self.positions.entry(admitted.partition).or_default();
                *position += 1;
                let place = place(admitted.partition, Position(*position));
                let (account, stream) = self.numbers(account, &entry.stream);
                let parts = parts_to_json(&entry.body.parts);
                rows.entries.push(EntryRow {
                    place,
                    account,
                    stream,
                    version: version(link.version),
                    recorded_at: entry.recorded_at.as_micros(),
                    schema: i32::from(entry.schema),
                    id: entry.id.as_uuid().as_bytes().to_vec(),
                    kind: entry.kind.as_str(),
                    turn: entry.turn.as_ref().map(|turn| turn.as_str().to_owned()),
                    commitment: link.commitment.as_bytes().to_vec(),
                    chain: link.chain.as_bytes().to_vec(),
                    parts: parts.map_err(|error| YardstickError::Row(error.to_string()))?,
                    facts: entry.body.facts.clone(),
                });
            }
            for (key, record) in admitted.keys() {
                let (account, stream) = self.numbers(account, &record.entry.stream);
                rows.keys.push(KeyRow {
                    account,
                    stream,
                    version: version(record.entry.version),
                    key: key.as_str().to_owned(),
                    entry: record.entry.id.as_uuid().as_bytes().to_vec(),
                    digest: record.digest.as_bytes().to_vec(),
                });
            }
        }
        for ((account, kind, key), target) in admission.marks() {
            let (kind, key) = (kind.as_str(), key.to_owned());
            match target {
                None => rows.cleared.push((self.account(account), kind, key)),
                Some((stream, due)) => {
                    let partition = PartitionId::of(account).number().cast_signed();
                    let (account, stream) = self.numbers(account, stream);
                    let due = due.as_micros();
                    rows.marks.push(MarkRow { account, stream, due, partition, kind, key });
                }
            }
        }
        rows.entries.sort_unstable_by_key(|row| row.place);
        rows.keys.sort_unstable_by(|one, other| {
            (one.account, &one.key).cmp(&(other.account, &other.key))
        });
        Ok(rows)
    }

    fn account(&mut self, account: &AccountId) -> i64 {
        let next = self.accounts.len() as i64 + 1;
        *self.accounts.entry(account.clone()).or_insert(next)
    }

    fn numbers(&mut self, account: &AccountId, stream: &StreamName) -> (i64, i64) {
        let next = self.streams.len() as i64 + 1;
        let stream = *self.streams.entry((account.clone(), stream.clone())).or_insert(next);
        (self.account(account), stream)
    }
}

/// The rows of a batch: entries by place, keys by account, marks as they stand after it.
#[derive(Debug, Default)]
pub struct Rows {
    entries: Vec<EntryRow>,
    keys: Vec<KeyRow>,
    cleared: Vec<(i64, &'static str, String)>,
    marks: Vec<MarkRow>,
}

#[derive(Debug)]
struct EntryRow {
    place: i64,
    account: i64,
    stream: i64,
    version: i64,
    recorded_at: i64,
    schema: i32,
    id: Vec<u8>,
    kind: &'static str,
    turn: Option<String>,
    commitment: Vec<u8>,
    chain: Vec<u8>,
    parts: Option<Vec<u8>>,
    facts: Vec<u8>,
}

#[derive(Debug)]
struct KeyRow {
    account: i64,
    stream: i64,
    version: i64,
    key: String,
    entry: Vec<u8>,
    digest: Vec<u8>,
}

#[derive(Debug)]
struct MarkRow {
    account: i64,
    stream: i64,
    due: i64,
    partition: i16,
    kind: &'static str,
    key: String,
}

impl Rows {
    /// How many entries there are.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    async fn insert_postgres(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        macro_rules! bind {
            ($query:expr, $rows:expr, $row:ident: $($column:expr),+) => {
                $query$(.bind($rows.iter().map(|$row| $column).collect::<Vec<_>>()))+
            };
        }
        let query = sqlx::query(INSERT_POSTGRES);
        let query = bind!(query, self.entries, row: row.place, row.account, row.stream, row.version,
            row.recorded_at, row.schema, row.id.as_slice(), row.kind, row.turn.as_deref(),
            row.commitment.as_slice(), row.chain.as_slice(), row.parts.as_deref(), row.facts.as_slice());
        let query = bind!(query, self.keys, row: row.account, row.stream, row.version, row.key.as_str(),
            row.entry.as_slice(), row.digest.as_slice());
        let query = bind!(query, self.cleared, row: row.0, row.1, row.2.as_str());
        let query = bind!(query, self.marks, row: row.account, row.stream, row.due, row.partition, row.kind,
            row.key.as_str());
        query.execute(connection).await?;
        Ok(())
    }

    async fn insert_sqlite(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        macro_rules! values {
            ($head:expr, $rows:expr, $row:ident: $($column:expr),+) => {
                for rows in $rows.chunks(VALUES_MAX) {
                    let mut arguments = SqliteArguments::default();
                    for $row in rows {
                        $(arguments.add($column).map_err(sqlx::Error::Encode)?;)+
                    }
                    values(connection, $head, rows.len(), [$(stringify!($column)),+].len(), arguments).await?;
                }
            };
        }
        const ENTRIES: &str = "INSERT INTO tf_entry (place, account, stream, version, id, kind, schema, recorded_at, \
            turn, commitment, chain, parts, facts) VALUES";
        const KEYS: &str =
            "INSERT INTO tf_key (account, key, stream, version, entry, digest) VALUES";
        const MARKS: &str =
            "INSERT INTO tf_mark (account, kind, key, partition, stream, due) VALUES";
        const CLEARED: &str = "DELETE FROM tf_mark WHERE (account, kind, key) IN (VALUES";
        values!(ENTRIES, self.entries, row: row.place, row.account, row.stream, row.version, row.id.as_slice(),
            row.kind, row.schema, row.recorded_at, row.turn.as_deref(), row.commitment.as_slice(),
            row.chain.as_slice(), row.parts.as_deref(), row.facts.as_slice());
        values!(KEYS, self.keys, row: row.account, row.key.as_str(), row.stream, row.version,
            row.entry.as_slice(), row.digest.as_slice());
        values!(CLEARED, self.cleared, row: row.0, row.1, row.2.as_str());
        values!(MARKS, self.marks, row: row.account, row.kind, row.key.as_str(), row.partition, row.stream,
            row.due);
        Ok(())
    }
}

/// One statement of so many rows. Where the head opens a bracket, it is closed behind them.
async fn values(
    connection: &mut SqliteConnection,
    head: &str,
    rows: usize,
    columns: usize,
    arguments: SqliteArguments,
) -> Result<(), sqlx::Error> {
    let row = format!("({})", vec!["?"; columns].join(","));
    let tail = if head.ends_with("(VALUES") { ")" } else { "" };
    let statement = format!("{head} {}{tail}", vec![row; rows].join(","));
    sqlx::query_with(AssertSqlSafe(statement), arguments).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{account, append, conversation, ids};

    async fn writes_what_the_ledger_would_write(address: &str) {
        let (ids, acme, stream) = (ids(1), account("acme"), conversation("c"));
        let mut yardstick = Yardstick::open(address).await.expect("opened");
        let mut preparer = Preparer::default();
        for before in [0, 3] {
            let batch = vec![append(&ids, &acme, &stream, before, 3)];
            let rows = preparer.rows(&batch).expect("rows");
            assert_eq!(rows.entries(), 3);
            yardstick.insert(&rows).await.expect("inserted");
        }
        yardstick.commit_bare(2, 400).await.expect("committed");
        assert!(!yardstick.settings().await.expect("settings").is_empty());
        yardstick.close().await.expect("closed");
        let ledger = open(address, None).await.expect("opened").ledger;
        assert_eq!(ledger.head(PartitionId::of(&acme)).await.expect("a head"), Position::START);
        ledger.close().await;
    }

    #[tokio::test]
    async fn a_client_on_sqlite_only_inserts() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().join("plain.db");
        writes_what_the_ledger_would_write(&format!("sqlite:{}", path.display())).await;
    }

    #[tokio::test]
    async fn a_client_on_postgresql_only_inserts() {
        let database = turnframe_test::postgres::shared().database().await;
        writes_what_the_ledger_would_write(&database.url()).await;
    }
}
