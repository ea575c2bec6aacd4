//! Reads. Each is one statement over a snapshot of what is committed, and each leads with its account or its
//! partition: what is another's is not found by the same statement that does not find what does not exist. A page is
//! cut where its rows are found: beside names that are still to be looked up, the planner does not see their order.

use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};

#[cfg(test)]
use super::backlog;
use crate::append::{KeyName, KeyRecord};
use crate::entry::Entry;
use crate::ledger::ReadError;
use crate::mark::{Mark, MarkQuery};
use crate::stored::beside;
use crate::stored::rows::{
    self, Names, due_by, entry_columns, interned_entry_columns, key_columns, name_columns, page,
};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// How long an answer is waited for: a network may lose one and never say so.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// The readers' side of the database.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    pool: PgPool,
    /// How often a read is tried where a connection of the pool turns out to be dead: once for each of them, after
    /// the server was restarted, and once more.
    attempts_max: u32,
}

type Bound<'q> = sqlx::query::Query<'q, sqlx::Postgres, PgArguments>;

const CURSOR: &str = "SELECT position FROM tf_cursor WHERE follower = $1 AND partition = $2";

const KEEP_CURSOR: &str = "INSERT INTO tf_cursor (follower, partition, position) VALUES ($1, $2, $3) \
    ON CONFLICT (follower, partition) DO UPDATE SET \
    position = greatest(tf_cursor.position, excluded.position)";

pub(super) const READ_STREAM: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a JOIN tf_stream s ON s.account = a.id JOIN LATERAL (\
         SELECT * FROM tf_entry WHERE stream = s.id AND version > $3 ORDER BY version LIMIT $4\
     ) e ON true WHERE a.name = $1 AND s.name = $2 ORDER BY e.version"
);

pub(super) const READ_STREAM_BACK: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a JOIN tf_stream s ON s.account = a.id JOIN LATERAL (\
         SELECT * FROM tf_entry WHERE stream = s.id AND version < $3 ORDER BY version DESC LIMIT $4\
     ) e ON true WHERE a.name = $1 AND s.name = $2 ORDER BY e.version DESC"
);

pub(super) const READ_PARTITION: &str = concat!(
    "SELECT ",
    interned_entry_columns!(),
    " FROM tf_entry e WHERE e.place > $1 AND e.place <= $2 ORDER BY e.place LIMIT $3"
);

pub(super) const NAMES: &str = concat!(
    "SELECT ",
    name_columns!(),
    " FROM tf_stream s JOIN tf_account a ON a.id = s.account WHERE s.id = ANY ($1)"
);

pub(super) const READ_PARTITION_OF_ACCOUNT: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a JOIN LATERAL (\
         SELECT * FROM tf_entry WHERE account = a.id AND place > $1 AND place <= $2 \
             ORDER BY place LIMIT $3\
     ) e ON true JOIN tf_stream s ON s.id = e.stream WHERE a.name = $4 ORDER BY e.place"
);

pub(super) const FIND_KEY: &str = concat!(
    "SELECT ",
    key_columns!(),
    " FROM tf_account a JOIN tf_key k ON k.account = a.id JOIN tf_stream s ON s.id = k.stream \
     WHERE a.name = $1 AND k.key = $2"
);

/// Along the index of effects alone: the bounds are its own.
pub(super) const ACCOUNT_OF_EFFECT: &str = "SELECT a.name FROM tf_stream s JOIN tf_account a ON a.id = s.account \
    WHERE s.name = $1 AND s.name >= 'effect/' AND s.name < 'effect0' LIMIT 1";

pub(super) const HEAD: &str = "SELECT next_position - 1 FROM tf_partition WHERE id = $1";

pub(super) const OWNER: &str = "SELECT n.address, n.id FROM tf_partition p JOIN tf_node n ON n.id = p.owner \
    WHERE p.id = $1 AND n.lease_until > clock_timestamp()";

pub(super) const MARKS_OF_ACCOUNT: &str = "SELECT a.name, m.key, s.name, m.due \
    FROM tf_account a JOIN LATERAL (\
        SELECT key, stream, due FROM tf_mark WHERE account = a.id AND kind = $1 \
            AND key >= $2 AND key < $3 AND due <= $4 ORDER BY key LIMIT $5\
    ) m ON true JOIN tf_stream s ON s.id = m.stream \
    WHERE a.name = $6 ORDER BY m.key";

/// What is due comes first: along the names it would cost as much as there are accounts.
pub(super) const SWEEP: &str = "WITH due AS MATERIALIZED (\
        SELECT account, key, stream, due FROM tf_mark \
        WHERE kind = $1 AND key >= $2 AND key < $3 AND due <= $4 AND partition = ANY ($8)\
    ), page AS MATERIALIZED (\
        SELECT a.name, d.key, d.stream, d.due FROM due d JOIN tf_account a ON a.id = d.account \
        WHERE (a.name, d.key) > ($6, $7) ORDER BY a.name, d.key LIMIT $5\
    ) SELECT p.name, p.key, s.name, p.due FROM page p JOIN tf_stream s ON s.id = p.stream \
    ORDER BY p.name, p.key";

/// Every statement here.
#[cfg(test)]
pub(super) const STATEMENTS: &[&str] = &[
    READ_STREAM,
    READ_STREAM_BACK,
    READ_PARTITION,
    NAMES,
    READ_PARTITION_OF_ACCOUNT,
    FIND_KEY,
    ACCOUNT_OF_EFFECT,
    MARKS_OF_ACCOUNT,
    SWEEP,
    backlog::OF_EFFECTS,
    backlog::OF_PARKED,
    HEAD,
    OWNER,
];

impl Reader {
    pub(super) fn new(pool: PgPool, connections: u32) -> Self {
        Self { pool, attempts_max: connections.saturating_add(1) }
    }

    /// Runs a read, again where its connection is dead: nothing was changed.
    pub(super) async fn rows<'q>(
        &self,
        query: impl Fn() -> Bound<'q>,
    ) -> Result<Vec<PgRow>, ReadError> {
        let mut attempt = 1;
        loop {
            let mut connection = self.pool.acquire().await.map_err(failed)?;
            let answer = query().fetch_all(&mut *connection);
            let answer = tokio::time::timeout(ANSWER_LIMIT, answer).await;
            if let Ok(Ok(rows)) = answer {
                return Ok(rows);
            }
            // Whatever state it is in, the next read begins with another one.
            drop(connection.detach());
            let Ok(Err(error)) = answer else {
                return Err(ReadError::Unavailable { reason: "no answer came".to_owned() });
            };
            if !is_end_of_connection(&error) || attempt == self.attempts_max {
                return Err(failed(error));
            }
            attempt += 1;
        }
    }

    pub(super) async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let stream = stream.to_string();
        let query = || {
            let query = sqlx::query(READ_STREAM).bind(account.as_str()).bind(&stream);
            query.bind(rows::version(after)).bind(page(limit))
        };
        entries(&self.rows(query).await?)
    }

    pub(super) async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let stream = stream.to_string();
        let query = || {
            let query = sqlx::query(READ_STREAM_BACK).bind(account.as_str()).bind(&stream);
            query.bind(before.map_or(i64::MAX, rows::version)).bind(page(limit))
        };
        let mut entries = entries(&self.rows(query).await?)?;
        entries.reverse();
        Ok(entries)
    }

    pub(super) async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        let query = move |statement| {
            let query = sqlx::query(statement).bind(rows::place(partition, after));
            query.bind(rows::place(partition, Position(u64::MAX))).bind(page(limit))
        };
        if let Some(account) = account {
            let query = || query(READ_PARTITION_OF_ACCOUNT).bind(account.as_str());
            return entries(&self.rows(query).await?);
        }
        let (reader, page) = (self.clone(), move || query(READ_PARTITION));
        let page = async move {
            let page = reader.rows(page).await?;
            let streams = rows::streams_of(&page);
            // Names never change, and stand since before the entries that bear them.
            let names = reader.rows(|| sqlx::query(NAMES).bind(&streams)).await?;
            rows::entries(&page, &Names::of(&names)?)
        };
        beside(page).await
    }

    pub(super) async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        let rows = self.rows(|| sqlx::query(HEAD).bind(partition.number().cast_signed())).await?;
        let row = rows.first().ok_or_else(|| failed(sqlx::Error::RowNotFound))?;
        let head: i64 = row.try_get(0).map_err(failed)?;
        Ok(Position(head.unsigned_abs()))
    }

    /// The address and the id of the process that owns a partition.
    pub(super) async fn owner(
        &self,
        partition: PartitionId,
    ) -> Result<Option<(String, Vec<u8>)>, ReadError> {
        let rows = self.rows(|| sqlx::query(OWNER).bind(partition.number().cast_signed())).await?;
        rows.first().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose().map_err(failed)
    }

    pub(super) async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        let query = || sqlx::query(FIND_KEY).bind(account.as_str()).bind(key.as_str());
        self.rows(query).await?.first().map(|row| rows::key_record(row, 0)).transpose()
    }

    pub(super) async fn account_of_effect(
        &self,
        effect: EffectId,
    ) -> Result<Option<AccountId>, ReadError> {
        let name = StreamName::Effect(effect).to_string();
        let rows = self.rows(|| sqlx::query(ACCOUNT_OF_EFFECT).bind(&name)).await?;
        rows.first().map(rows::account).transpose()
    }

    pub(super) async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        let number = partition.number().cast_signed();
        let query = || sqlx::query(CURSOR).bind(follower.as_str()).bind(number);
        let rows = self.rows(query).await?;
        let kept = rows.first().map(|row| row.try_get::<i64, _>(0)).transpose().map_err(failed)?;
        Ok(Position(kept.unwrap_or_default().unsigned_abs()))
    }

    pub(super) async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        let keep = async {
            // The readers' one write: their connections refuse any other.
            let mut transaction = self.pool.begin_with("BEGIN READ WRITE").await?;
            let keep = sqlx::query(KEEP_CURSOR)
                .bind(follower.as_str())
                .bind(partition.number().cast_signed())
                .bind(position.0.cast_signed());
            keep.execute(&mut *transaction).await?;
            transaction.commit().await
        };
        let late = |_| Err(sqlx::Error::PoolTimedOut);
        tokio::time::timeout(ANSWER_LIMIT, keep).await.unwrap_or_else(late).map_err(failed)
    }

    pub(super) async fn marks(&self, query: &MarkQuery) -> Result<Vec<Mark>, ReadError> {
        let rows = match &query.account {
            Some(account) => self.marks_of_account(query, account).await?,
            None => self.sweep(query).await?,
        };
        rows.iter().map(|row| rows::mark(row, query.kind)).collect()
    }

    async fn marks_of_account(
        &self,
        query: &MarkQuery,
        account: &AccountId,
    ) -> Result<Vec<PgRow>, ReadError> {
        let (Some(end), Some(start)) = (query.prefix_end(), query.first_key(account)) else {
            return Ok(Vec::new());
        };
        let bound = || {
            let bound = sqlx::query(MARKS_OF_ACCOUNT).bind(query.kind.as_str()).bind(&start);
            bound.bind(&end).bind(due_by(query)).bind(page(query.page())).bind(account.as_str())
        };
        self.rows(bound).await
    }

    async fn sweep(&self, query: &MarkQuery) -> Result<Vec<PgRow>, ReadError> {
        let Some(end) = query.prefix_end() else { return Ok(Vec::new()) };
        let (account, key) = match &query.after {
            Some((account, key)) => (account.as_str(), key.as_str()),
            None => ("", ""),
        };
        let partitions: Vec<_> =
            query.partitions.iter().map(|id| id.number().cast_signed()).collect();
        let bound = || {
            let bound = sqlx::query(SWEEP).bind(query.kind.as_str()).bind(&query.prefix);
            let bound = bound.bind(&end).bind(due_by(query)).bind(page(query.page()));
            bound.bind(account).bind(key).bind(&partitions)
        };
        self.rows(bound).await
    }
}

fn entries(rows: &[PgRow]) -> Result<Vec<Entry>, ReadError> {
    rows.iter().map(rows::entry).collect()
}

/// Whether the connection had ended before it was asked, or the server told it to.
fn is_end_of_connection(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(error, sqlx::Error::Io(_)) || code.is_some_and(|code| code.starts_with("57P"))
}

/// Damaged data is an operator's case; everything else may pass.
fn failed(error: sqlx::Error) -> ReadError {
    let code = error.as_database_error().and_then(|error| error.code());
    // data_corrupted and index_corrupted
    if code.is_some_and(|code| code == "XX001" || code == "XX002") {
        let place = "the database".to_owned();
        return ReadError::Corrupt { place, reason: error.to_string() };
    }
    ReadError::Unavailable { reason: error.to_string() }
}
