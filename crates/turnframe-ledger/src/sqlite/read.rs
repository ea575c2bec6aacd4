//! Reads. Each is one statement over a snapshot of what is committed, and each leads with its account or its
//! partition: what is another's is not found by the same statement that does not find what does not exist.

use serde::Serialize;
use sqlx::Row;
use sqlx::sqlite::{SqliteArguments, SqlitePool, SqliteRow};
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

/// The readers' side of the database.
#[derive(Debug)]
pub(super) struct Reader(SqlitePool);

type Bound<'q> = sqlx::query::Query<'q, sqlx::Sqlite, SqliteArguments>;

// `LIMIT ?4 + 0` is `LIMIT ?4`, and `?1 || ''` is `?1`. A bare value there makes SQLite prepare the statement anew each
// time that one is bound, to plan with it: a limit, or what it compares with the kinds that an index is for.
const READ_STREAM: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a JOIN tf_stream s ON s.account = a.id JOIN tf_entry e ON e.stream = s.id \
     WHERE a.name = ?1 AND s.name = ?2 AND e.version > ?3 ORDER BY e.version LIMIT ?4 + 0"
);

const READ_STREAM_BACK: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a JOIN tf_stream s ON s.account = a.id JOIN tf_entry e ON e.stream = s.id \
     WHERE a.name = ?1 AND s.name = ?2 AND e.version < ?3 ORDER BY e.version DESC LIMIT ?4 + 0"
);

const READ_PARTITION: &str = concat!(
    "SELECT ",
    interned_entry_columns!(),
    " FROM tf_entry e WHERE e.place > ?1 AND e.place <= ?2 ORDER BY e.place LIMIT ?3 + 0"
);

// CROSS JOIN fixes the order of the loops here and below.
const NAMES: &str = concat!(
    "SELECT ",
    name_columns!(),
    " FROM json_each(?1) j CROSS JOIN tf_stream s ON s.id = j.value \
     CROSS JOIN tf_account a ON a.id = s.account"
);

const READ_PARTITION_OF_ACCOUNT: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM tf_account a CROSS JOIN tf_entry e CROSS JOIN tf_stream s ON s.id = e.stream \
     WHERE a.name = ?4 AND e.place > ?1 AND e.place <= ?2 AND e.account = a.id \
     ORDER BY e.place LIMIT ?3 + 0"
);

const FIND_KEY: &str = concat!(
    "SELECT ",
    key_columns!(),
    " FROM tf_account a JOIN tf_key k ON k.account = a.id JOIN tf_stream s ON s.id = k.stream \
     WHERE a.name = ?1 AND k.key = ?2"
);

// Along the index of effects alone: the bounds are its own.
const ACCOUNT_OF_EFFECT: &str = "SELECT a.name FROM tf_stream s CROSS JOIN tf_account a ON a.id = s.account \
     WHERE s.name = ?1 AND s.name >= 'effect/' AND s.name < 'effect0' LIMIT 1";

pub(super) const MARKS_OF_ACCOUNT: &str = "SELECT a.name, m.key, s.name, m.due \
     FROM tf_account a CROSS JOIN tf_mark m ON m.account = a.id \
     CROSS JOIN tf_stream s ON s.id = m.stream \
     WHERE a.name = ?6 AND m.kind = ?1 || '' AND m.key >= ?2 AND m.key < ?3 AND m.due <= ?4 \
     ORDER BY m.key LIMIT ?5 + 0";

// What is due is found and ordered along the index alone; the rest is looked up for a page of it.
pub(super) const SWEEP: &str = "SELECT f.name, f.key, s.name, m.due \
     FROM (SELECT a.name, m.account, m.key FROM tf_mark m CROSS JOIN tf_account a ON a.id = m.account \
         WHERE m.kind = ?1 || '' AND m.partition IN (SELECT value FROM json_each(?8)) \
         AND m.due <= ?4 AND m.key >= ?2 AND m.key < ?3 AND (a.name, m.key) > (?6, ?7) \
         ORDER BY a.name, m.key LIMIT ?5 + 0) f \
     CROSS JOIN tf_mark m ON m.account = f.account AND m.kind = ?1 || '' AND m.key = f.key \
     CROSS JOIN tf_stream s ON s.id = m.stream ORDER BY f.name, f.key";

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
];

/// Those that an index answers in the order asked for.
#[cfg(test)]
pub(super) const ORDERED: &[&str] = &[
    READ_STREAM,
    READ_STREAM_BACK,
    READ_PARTITION,
    READ_PARTITION_OF_ACCOUNT,
    MARKS_OF_ACCOUNT,
    backlog::OF_EFFECTS,
    backlog::OF_PARKED,
];

impl Reader {
    pub(super) fn new(pool: SqlitePool) -> Self {
        Self(pool)
    }

    pub(super) async fn close(&self) {
        self.0.close().await;
    }

    pub(super) async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let query = sqlx::query(READ_STREAM)
            .bind(account.as_str())
            .bind(stream.to_string())
            .bind(rows::version(after))
            .bind(page(limit));
        entries(query.fetch_all(&self.0).await)
    }

    pub(super) async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let query = sqlx::query(READ_STREAM_BACK)
            .bind(account.as_str())
            .bind(stream.to_string())
            .bind(before.map_or(i64::MAX, rows::version))
            .bind(page(limit));
        let mut entries = entries(query.fetch_all(&self.0).await)?;
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
        let query = |statement| {
            let query = sqlx::query(statement).bind(rows::place(partition, after));
            query.bind(rows::place(partition, Position(u64::MAX))).bind(page(limit))
        };
        if let Some(account) = account {
            let query = query(READ_PARTITION_OF_ACCOUNT).bind(account.as_str());
            return entries(query.fetch_all(&self.0).await);
        }
        let (pool, page) = (self.0.clone(), query(READ_PARTITION));
        let page = async move {
            let page = page.fetch_all(&pool).await.map_err(failed)?;
            let streams = json_array(&rows::streams_of(&page))?;
            // Names never change, and stand since before the entries that bear them.
            let names = sqlx::query(NAMES).bind(streams).fetch_all(&pool).await.map_err(failed)?;
            rows::entries(&page, &Names::of(&names)?)
        };
        beside(page).await
    }

    pub(super) async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        let query = sqlx::query("SELECT next_position - 1 FROM tf_partition WHERE id = ?1")
            .bind(i64::from(partition.number()));
        let row = query.fetch_one(&self.0).await.map_err(failed)?;
        let head: i64 = row.try_get(0).map_err(failed)?;
        Ok(Position(head.unsigned_abs()))
    }

    pub(super) async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        let query = sqlx::query(FIND_KEY).bind(account.as_str()).bind(key.as_str());
        let row = query.fetch_optional(&self.0).await.map_err(failed)?;
        row.map(|row| rows::key_record(&row, 0)).transpose()
    }

    pub(super) async fn account_of_effect(
        &self,
        effect: EffectId,
    ) -> Result<Option<AccountId>, ReadError> {
        let query = sqlx::query(ACCOUNT_OF_EFFECT).bind(StreamName::Effect(effect).to_string());
        let row = query.fetch_optional(&self.0).await.map_err(failed)?;
        row.map(|row| rows::account(&row)).transpose()
    }

    pub(super) async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        let query =
            sqlx::query("SELECT position FROM tf_cursor WHERE follower = ?1 AND partition = ?2")
                .bind(follower.as_str())
                .bind(i64::from(partition.number()));
        let row = query.fetch_optional(&self.0).await.map_err(failed)?;
        let kept = row.map(|row| row.try_get::<i64, _>(0)).transpose().map_err(failed)?;
        Ok(Position(kept.unwrap_or_default().unsigned_abs()))
    }

    pub(super) async fn rows<'q>(&self, query: Bound<'q>) -> Result<Vec<SqliteRow>, ReadError> {
        query.fetch_all(&self.0).await.map_err(failed)
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
    ) -> Result<Vec<SqliteRow>, ReadError> {
        let (Some(end), Some(start)) = (query.prefix_end(), query.first_key(account)) else {
            return Ok(Vec::new());
        };
        let query = sqlx::query(MARKS_OF_ACCOUNT)
            .bind(query.kind.as_str())
            .bind(start)
            .bind(end)
            .bind(due_by(query))
            .bind(page(query.page()))
            .bind(account.as_str());
        query.fetch_all(&self.0).await.map_err(failed)
    }

    async fn sweep(&self, query: &MarkQuery) -> Result<Vec<SqliteRow>, ReadError> {
        let Some(end) = query.prefix_end() else { return Ok(Vec::new()) };
        let (account, key) = match &query.after {
            Some((account, key)) => (account.as_str(), key.as_str()),
            None => ("", ""),
        };
        let partitions: Vec<_> = query.partitions.iter().map(PartitionId::number).collect();
        let partitions = json_array(&partitions)?;
        let statement = sqlx::query(SWEEP)
            .bind(query.kind.as_str())
            .bind(&query.prefix)
            .bind(end)
            .bind(due_by(query))
            .bind(page(query.page()))
            .bind(account)
            .bind(key)
            .bind(partitions);
        statement.fetch_all(&self.0).await.map_err(failed)
    }
}

fn entries(rows: sqlx::Result<Vec<SqliteRow>>) -> Result<Vec<Entry>, ReadError> {
    rows.map_err(failed)?.iter().map(rows::entry).collect()
}

/// What `json_each` takes for a table.
fn json_array(values: &[impl Serialize]) -> Result<String, ReadError> {
    serde_json::to_string(values)
        .map_err(|error| ReadError::Unavailable { reason: error.to_string() })
}

/// A damaged file is an operator's case; everything else may pass.
fn failed(error: sqlx::Error) -> ReadError {
    const CORRUPT: &str = "11";
    const NOT_A_DATABASE: &str = "26";
    let code = error.as_database_error().and_then(|error| error.code());
    if code.is_some_and(|code| code == CORRUPT || code == NOT_A_DATABASE) {
        let place = "the database file".to_owned();
        return ReadError::Corrupt { place, reason: error.to_string() };
    }
    ReadError::Unavailable { reason: error.to_string() }
}
