//! The statements of an append: a handful for the whole batch, never one a row.

use std::collections::{BTreeMap, HashMap};

use sqlx::error::BoxDynError;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Row, SqliteConnection};
use turnframe_core::id::{AccountId, EntryId};

use super::insert::Insert;
use crate::admission::{Head, Link};
use crate::append::{KeyName, KeyRecord, NewEntry};
use crate::mark::MarkKind;
use crate::stored::known::StreamRecord;
use crate::stored::names::{Looked, NewStream, StreamKey};
use crate::stored::rows::{self, Trouble, key_columns};
use crate::stream::{PartitionId, Position};

const LOOK_UP_STREAMS: &str = "SELECT a.id, s.id, e.version, e.chain FROM json_each(?1) j \
    LEFT JOIN tf_account a ON a.name = j.value ->> 0 \
    LEFT JOIN tf_stream s ON s.account = a.id AND s.name = j.value ->> 1 \
    LEFT JOIN tf_entry e ON e.stream = s.id \
        AND e.version = (SELECT max(version) FROM tf_entry WHERE stream = s.id) \
    ORDER BY j.key";

const LOOK_UP_KEYS: &str = concat!(
    "SELECT j.key, ",
    key_columns!(),
    " FROM json_each(?1) j \
     CROSS JOIN tf_key k ON k.account = j.value ->> 0 AND k.key = j.value ->> 1 \
     CROSS JOIN tf_stream s ON s.id = k.stream"
);

const TAKE_POSITIONS: &str = "UPDATE tf_partition SET next_position = next_position + asked.count \
    FROM (SELECT value ->> 0 AS id, value ->> 1 AS count, value ->> 2 AS epoch \
          FROM json_each(?1)) AS asked \
    WHERE tf_partition.id = asked.id AND tf_partition.epoch = asked.epoch \
    RETURNING id, next_position";

const CLEAR_MARKS: &str = "DELETE FROM tf_mark WHERE (account, kind, key) IN \
    (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1))";

/// The statements that find rows for a whole batch.
#[cfg(test)]
pub(super) const LOOK_UPS: &[&str] = &[LOOK_UP_STREAMS, LOOK_UP_KEYS, TAKE_POSITIONS, CLEAR_MARKS];

/// Looks up streams and their ends; the answers stand in the order of the question.
pub(super) async fn look_up_streams(
    connection: &mut SqliteConnection,
    streams: &[StreamKey<'_>],
) -> Result<Vec<Looked>, Trouble> {
    let names: Vec<_> =
        streams.iter().map(|(account, stream)| (account.as_str(), stream.to_string())).collect();
    let names = serde_json::to_string(&names)?;
    let rows = sqlx::query(LOOK_UP_STREAMS).bind(names).fetch_all(connection).await?;
    if rows.len() != streams.len() {
        return Err(Trouble(format!("{} rows answer for {} streams", rows.len(), streams.len())));
    }
    let looked = |row: &SqliteRow| {
        let head = match rows::optional_digest(row, 3)? {
            Some(chain) => Head { version: rows::stored_version(row, 2)?, chain },
            None => Head::EMPTY,
        };
        let stream = row.try_get::<Option<i64>, _>(1)?.map(|id| StreamRecord { id, head });
        Ok(Looked { account: row.try_get(0)?, stream })
    };
    rows.iter().map(looked).collect()
}

/// The keys of a batch that were claimed before, by their place in the question.
pub(super) async fn look_up_keys(
    connection: &mut SqliteConnection,
    keys: &[(i64, &KeyName)],
) -> Result<Vec<(usize, KeyRecord)>, Trouble> {
    let names: Vec<_> = keys.iter().map(|(account, key)| (account, key.as_str())).collect();
    let names = serde_json::to_string(&names)?;
    let rows = sqlx::query(LOOK_UP_KEYS).bind(names).fetch_all(connection).await?;
    let found = |row| {
        let index: i64 = sqlx::Row::try_get(row, 0)?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        Ok((index, rows::key_record(row, 1).map_err(|error| Trouble(error.to_string()))?))
    };
    rows.iter().map(found).collect()
}

/// Takes positions from every partition that is still owned at its epoch: the first one of each.
pub(super) async fn take_positions(
    connection: &mut SqliteConnection,
    demand: &BTreeMap<PartitionId, u64>,
    epochs: &HashMap<PartitionId, i64>,
) -> Result<BTreeMap<PartitionId, Position>, Trouble> {
    let asked = |(partition, count): (&PartitionId, &u64)| {
        (partition.number(), *count, epochs.get(partition).copied())
    };
    let asked: Vec<_> = demand.iter().map(asked).collect();
    let asked = serde_json::to_string(&asked)?;
    let mut granted = BTreeMap::new();
    for row in sqlx::query(TAKE_POSITIONS).bind(asked).fetch_all(connection).await? {
        let (number, next): (u16, i64) = (row.try_get(0)?, row.try_get(1)?);
        let partition = PartitionId::new(number);
        let Some((partition, count)) = partition.and_then(|id| demand.get_key_value(&id)) else {
            return Err(Trouble(format!("partition {number} granted positions unasked")));
        };
        granted.insert(*partition, Position(next.unsigned_abs() - count));
    }
    Ok(granted)
}

/// An entry as it is inserted.
pub(super) struct EntryRow<'a> {
    pub(super) place: i64,
    pub(super) account: i64,
    pub(super) stream: i64,
    pub(super) entry: &'a NewEntry,
    pub(super) link: Link,
}

/// A key as it is inserted.
pub(super) struct KeyRow<'a> {
    pub(super) account: i64,
    pub(super) key: &'a KeyName,
    pub(super) stream: i64,
    pub(super) record: KeyRecord,
}

/// A mark as it is set.
pub(super) struct MarkRow<'a> {
    pub(super) account: i64,
    pub(super) kind: MarkKind,
    pub(super) key: &'a str,
    pub(super) partition: PartitionId,
    pub(super) stream: i64,
    pub(super) due: i64,
}

/// The prepared texts of all inserts.
#[derive(Debug)]
pub(super) struct Inserts {
    accounts: Insert,
    streams: Insert,
    entries: Insert,
    keys: Insert,
    marks: Insert,
}

impl Inserts {
    pub(super) fn new() -> Self {
        // A batch that fails is rolled back as a whole: no statement needs to keep what it changes, as it would to undo
        // itself alone.
        const ENTRY: &str = "INSERT OR FAIL INTO tf_entry (place, account, stream, version, id, kind, schema, \
            recorded_at, turn, causation, commitment, chain, parts, facts)";
        const MARK: &str =
            "INSERT OR FAIL INTO tf_mark (account, kind, key, partition, stream, due)";
        const MOVE: &str = "ON CONFLICT (account, kind, key) \
            DO UPDATE SET stream = excluded.stream, due = excluded.due";
        let key = "INSERT OR FAIL INTO tf_key (account, key, stream, version, entry, digest)";
        Self {
            accounts: Insert::new("INSERT OR FAIL INTO tf_account (id, name, partition)", 3, ""),
            streams: Insert::new("INSERT OR FAIL INTO tf_stream (id, account, name)", 3, ""),
            entries: Insert::new(ENTRY, 14, ""),
            keys: Insert::new(key, 6, ""),
            marks: Insert::new(MARK, 6, MOVE),
        }
    }

    pub(super) async fn accounts(
        &self,
        connection: &mut SqliteConnection,
        rows: &[(i64, &AccountId)],
    ) -> Result<u64, sqlx::Error> {
        let bind = |(id, account): &(i64, &AccountId), row: &mut SqliteArguments| {
            add(row, *id)?;
            add(row, account.as_str())?;
            add(row, i64::from(PartitionId::of(account).number()))
        };
        self.accounts.run(connection, rows, bind).await
    }

    pub(super) async fn streams(
        &self,
        connection: &mut SqliteConnection,
        rows: &[NewStream<'_>],
    ) -> Result<u64, sqlx::Error> {
        let bind = |stream: &NewStream<'_>, row: &mut SqliteArguments| {
            add(row, stream.id)?;
            add(row, stream.account_id)?;
            add(row, stream.name.to_string())
        };
        self.streams.run(connection, rows, bind).await
    }

    pub(super) async fn entries(
        &self,
        connection: &mut SqliteConnection,
        rows: &[EntryRow<'_>],
    ) -> Result<u64, sqlx::Error> {
        self.entries.run(connection, rows, bind_entry).await
    }

    pub(super) async fn keys(
        &self,
        connection: &mut SqliteConnection,
        rows: &[KeyRow<'_>],
    ) -> Result<u64, sqlx::Error> {
        let bind = |key: &KeyRow<'_>, row: &mut SqliteArguments| {
            add(row, key.account)?;
            add(row, key.key.as_str())?;
            add(row, key.stream)?;
            add(row, rows::version(key.record.entry.version))?;
            add(row, uuid(key.record.entry.id))?;
            add(row, key.record.digest.as_bytes().to_vec())
        };
        self.keys.run(connection, rows, bind).await
    }

    pub(super) async fn marks(
        &self,
        connection: &mut SqliteConnection,
        rows: &[MarkRow<'_>],
    ) -> Result<u64, sqlx::Error> {
        let bind = |mark: &MarkRow<'_>, row: &mut SqliteArguments| {
            add(row, mark.account)?;
            add(row, mark.kind.as_str())?;
            add(row, mark.key)?;
            add(row, i64::from(mark.partition.number()))?;
            add(row, mark.stream)?;
            add(row, mark.due)
        };
        self.marks.run(connection, rows, bind).await
    }
}

fn bind_entry(row: &EntryRow<'_>, arguments: &mut SqliteArguments) -> Result<(), BoxDynError> {
    let entry = row.entry;
    add(arguments, row.place)?;
    add(arguments, row.account)?;
    add(arguments, row.stream)?;
    add(arguments, rows::version(row.link.version))?;
    add(arguments, uuid(entry.id))?;
    add(arguments, entry.kind.as_str())?;
    add(arguments, i64::from(entry.schema))?;
    add(arguments, entry.recorded_at.as_micros())?;
    add(arguments, entry.turn.as_ref().map(|turn| turn.as_str().to_owned()))?;
    add(arguments, entry.causation.map(uuid))?;
    add(arguments, row.link.commitment.as_bytes().to_vec())?;
    add(arguments, row.link.chain.as_bytes().to_vec())?;
    add(arguments, rows::parts_to_json(&entry.body.parts)?)?;
    add(arguments, entry.body.facts.clone())
}

fn uuid(id: EntryId) -> Vec<u8> {
    id.as_uuid().as_bytes().to_vec()
}

fn add<'t, T>(arguments: &mut SqliteArguments, value: T) -> Result<(), BoxDynError>
where
    T: sqlx::Encode<'t, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    sqlx::Arguments::add(arguments, value)
}

/// Clears marks; those that are not set are passed over.
pub(super) async fn clear_marks(
    connection: &mut SqliteConnection,
    marks: &[(i64, &str, &str)],
) -> Result<u64, Trouble> {
    if marks.is_empty() {
        return Ok(0);
    }
    sqlx::query(CLEAR_MARKS).bind(serde_json::to_string(marks)?).execute(connection).await?;
    Ok(1)
}
