//! Between rows and entries. What cannot be decoded is `Corrupt`, and never skipped.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, EntryId, SubjectId, TurnId};
use turnframe_core::personal::{Part, PartContent, Sealed};
use turnframe_core::source::Timestamp;
use uuid::Uuid;

use crate::append::{AppendError, KeyRecord};
use crate::entry::{Entry, EntryRef};
use crate::ledger::{PAGE_MAX, ReadError};
use crate::mark::{Backlog, Mark, MarkKind, MarkQuery};
use crate::stream::{PartitionId, Position, StreamName, Version};

/// Positions per partition: room for a million a second for twelve days, or for what disks hold today.
const POSITION_BITS: u32 = 40;
const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;

/// Where an entry's row lies. A position beyond all others reads as the end of its partition.
pub(crate) fn place(partition: PartitionId, position: Position) -> i64 {
    let position = position.0.min(POSITION_MAX).cast_signed();
    i64::from(partition.number()) << POSITION_BITS | position
}

pub(crate) fn partition_and_position(place: i64) -> Option<(PartitionId, Position)> {
    let partition = u16::try_from(place >> POSITION_BITS).ok().and_then(PartitionId::new)?;
    Some((partition, Position(place.cast_unsigned() & POSITION_MAX)))
}

/// A version as a database holds it; no stream reaches the end of its numbers.
pub(crate) fn version(version: Version) -> i64 {
    i64::try_from(version.0).unwrap_or(i64::MAX)
}

pub(crate) fn stored_version(row: &impl Columns, column: usize) -> Result<Version, Fault> {
    Ok(Version(u64::try_from(row.integer(column)?).map_err(|_| Fault::shape("version"))?))
}

/// A row, whatever database it comes from.
pub(crate) trait Columns {
    fn optional_integer(&self, column: usize) -> Result<Option<i64>, Fault>;

    fn integer(&self, column: usize) -> Result<i64, Fault> {
        self.optional_integer(column)?.ok_or_else(|| Fault::shape("number"))
    }

    fn text(&self, column: usize) -> Result<Option<&str>, Fault>;
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, Fault>;
}

// Unchecked: what type a column has is settled by the statement on PostgreSQL and by STRICT tables on SQLite, and asking
// again for every value takes as long as reading it.
macro_rules! columns {
    ($($row:ty),+) => {
        $(impl Columns for $row {
            fn optional_integer(&self, column: usize) -> Result<Option<i64>, Fault> {
                Ok(self.try_get_unchecked(column)?)
            }

            fn text(&self, column: usize) -> Result<Option<&str>, Fault> {
                Ok(self.try_get_unchecked(column)?)
            }

            fn bytes(&self, column: usize) -> Result<Option<&[u8]>, Fault> {
                Ok(self.try_get_unchecked(column)?)
            }
        })+
    };
}

columns!(SqliteRow, PgRow);

/// What is wrong with a row.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Fault(String);

impl Fault {
    fn shape(what: &str) -> Self {
        Self(format!("the {what} has another shape"))
    }

    pub(crate) fn at(self, place: String) -> ReadError {
        ReadError::Corrupt { place, reason: self.0 }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

/// Why a batch could not be written, for an operator.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(pub(crate) String);

impl Trouble {
    pub(crate) fn new(what: &str) -> Self {
        Self(what.to_owned())
    }

    /// What an append is told whose batch ran into it, with nothing written.
    pub(crate) fn unavailable(&self) -> AppendError {
        AppendError::Unavailable { reason: self.to_string() }
    }

    pub(crate) fn from_error(error: &sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        Self::from_error(&error)
    }
}

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self(fault.to_string())
    }
}

macro_rules! entry_columns_with {
    ($account:literal, $stream:literal) => {
        concat!(
            "e.place, ",
            $account,
            ", ",
            $stream,
            ", e.version, e.id, e.kind, e.schema, e.recorded_at, e.turn, \
             e.causation, e.commitment, e.chain, e.parts, e.facts"
        )
    };
}
pub(crate) use entry_columns_with;

/// The columns of [`entry`], with the account and the stream as names.
macro_rules! entry_columns {
    () => {
        $crate::stored::rows::entry_columns_with!("a.name", "s.name")
    };
}
pub(crate) use entry_columns;

/// The columns of [`entries`], with the account and the stream as interned.
macro_rules! interned_entry_columns {
    () => {
        $crate::stored::rows::entry_columns_with!("e.account", "e.stream")
    };
}
pub(crate) use interned_entry_columns;

/// The columns of [`Names::of`].
macro_rules! name_columns {
    () => {
        "s.id, a.id, a.name, s.name"
    };
}
pub(crate) use name_columns;

/// Decodes a row of [`entry_columns`].
pub(crate) fn entry(row: &impl Columns) -> Result<Entry, ReadError> {
    decode(row, |row| Ok((text(row, 1, "account")?, text(row, 2, "stream")?)))
}

/// Decodes rows of [`interned_entry_columns`].
pub(crate) fn entries<R: Columns>(rows: &[R], names: &Names) -> Result<Vec<Entry>, ReadError> {
    let named = |row: &R| names.get(row.integer(1)?, row.integer(2)?);
    rows.iter().map(|row| decode(row, named)).collect()
}

/// The streams that rows of [`interned_entry_columns`] speak of.
pub(crate) fn streams_of<R: Columns>(rows: &[R]) -> Vec<i64> {
    // What has no stream is a fault of its row, and told where that is decoded.
    let mut streams: Vec<_> = rows.iter().filter_map(|row| row.integer(2).ok()).collect();
    streams.sort_unstable();
    streams.dedup();
    streams
}

/// The names of a page's streams and of their accounts. A page has few streams and many entries: to join each entry
/// with its names, and to parse them again, takes longer than all else.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<i64, (i64, AccountId, StreamName)>);

impl Names {
    /// Decodes rows of [`name_columns`].
    pub(crate) fn of<R: Columns>(rows: &[R]) -> Result<Self, ReadError> {
        let decoded = |row: &R| {
            let names = (row.integer(1)?, text(row, 2, "account")?, text(row, 3, "stream")?);
            Ok((row.integer(0)?, names))
        };
        let names: Result<_, Fault> = rows.iter().map(decoded).collect();
        names.map(Self).map_err(|fault| fault.at("a stream's name".to_owned()))
    }

    fn get(&self, account: i64, stream: i64) -> Result<(AccountId, StreamName), Fault> {
        match self.0.get(&stream) {
            Some((owner, name, stream)) if *owner == account => Ok((name.clone(), stream.clone())),
            Some(_) => Err(Fault("the stream is another account's".to_owned())),
            None => Err(Fault("the stream has no name".to_owned())),
        }
    }
}

/// Decodes an entry whose account and stream are found out in some way.
fn decode<R: Columns>(
    row: &R,
    names: impl FnOnce(&R) -> Result<(AccountId, StreamName), Fault>,
) -> Result<Entry, ReadError> {
    let place = row.integer(0).map_err(|fault| fault.at("an entry".to_owned()))?;
    let Some((partition, position)) = partition_and_position(place) else {
        return Err(Fault::shape("place").at(format!("row {place}")));
    };
    let at = || format!("partition {}, position {}", partition.number(), position.0);
    let decoded = || {
        let (account, stream) = names(row)?;
        decode_named(row, account, stream, partition, position)
    };
    decoded().map_err(|fault: Fault| fault.at(at()))
}

fn decode_named(
    row: &impl Columns,
    account: AccountId,
    stream: StreamName,
    partition: PartitionId,
    position: Position,
) -> Result<Entry, Fault> {
    let parts = row.bytes(12)?.map_or_else(|| Ok(Vec::new()), parts_from_json)?;
    let facts = row.bytes(13)?.ok_or_else(|| Fault::shape("facts"))?.to_vec();
    Ok(Entry {
        account,
        stream,
        version: stored_version(row, 3)?,
        partition,
        position,
        id: entry_id(row, 4)?,
        kind: text(row, 5, "kind")?,
        schema: row.integer(6)?.try_into().map_err(|_| Fault::shape("schema"))?,
        recorded_at: Timestamp::from_micros(row.integer(7)?),
        turn: optional_text::<TurnId>(row, 8, "turn id")?,
        causation: optional_entry_id(row, 9)?,
        body: Sealed { facts, parts },
        commitment: digest(row, 10)?,
        chain: digest(row, 11)?,
    })
}

/// The columns of [`key_record`].
macro_rules! key_columns {
    () => {
        "s.name, k.version, k.entry, k.digest"
    };
}
pub(crate) use key_columns;

/// Decodes a row of [`key_columns`] that start at a column.
pub(crate) fn key_record(row: &impl Columns, first: usize) -> Result<KeyRecord, ReadError> {
    let decoded = || {
        let stream = text(row, first, "stream")?;
        let (version, id) = (stored_version(row, first + 1)?, entry_id(row, first + 2)?);
        let digest = digest(row, first + 3)?;
        Ok(KeyRecord { entry: EntryRef { stream, version, id }, digest })
    };
    decoded().map_err(|fault: Fault| fault.at("an idempotency key".to_owned()))
}

/// Decodes an account's name that stands alone.
pub(crate) fn account(row: &impl Columns) -> Result<AccountId, ReadError> {
    text(row, 0, "account").map_err(|fault| fault.at("an effect's account".to_owned()))
}

/// Decodes a mark of a kind from its account, key, stream and due time.
pub(crate) fn mark(row: &impl Columns, kind: MarkKind) -> Result<Mark, ReadError> {
    let decoded = || {
        Ok(Mark {
            account: text(row, 0, "account")?,
            kind,
            key: row.text(1)?.ok_or_else(|| Fault::shape("key"))?.to_owned(),
            stream: text(row, 2, "stream")?,
            due: Timestamp::from_micros(row.integer(3)?),
        })
    };
    decoded().map_err(|fault: Fault| fault.at(format!("a mark of kind {}", kind.as_str())))
}

/// Decodes a mark that is due first of its group, and how many there are.
pub(crate) fn backlog(row: &impl Columns, kind: MarkKind) -> Result<Backlog, ReadError> {
    let first = mark(row, kind)?;
    let count = || usize::try_from(row.integer(4)?).map_err(|_| Fault::shape("count"));
    let count = count().map_err(|fault| fault.at("a count of marks".to_owned()))?;
    Ok(Backlog { first, count })
}

fn text<T: std::str::FromStr>(row: &impl Columns, column: usize, what: &str) -> Result<T, Fault> {
    optional_text(row, column, what)?.ok_or_else(|| Fault::shape(what))
}

fn optional_text<T: std::str::FromStr>(
    row: &impl Columns,
    column: usize,
    what: &str,
) -> Result<Option<T>, Fault> {
    let text = row.text(column)?;
    text.map(|text| text.parse().map_err(|_| Fault::shape(what))).transpose()
}

fn entry_id(row: &impl Columns, column: usize) -> Result<EntryId, Fault> {
    optional_entry_id(row, column)?.ok_or_else(|| Fault::shape("entry id"))
}

fn optional_entry_id(row: &impl Columns, column: usize) -> Result<Option<EntryId>, Fault> {
    let uuid = row.bytes(column)?.map(Uuid::from_slice).transpose();
    Ok(uuid.map_err(|_| Fault::shape("entry id"))?.map(EntryId::from_uuid))
}

fn digest(row: &impl Columns, column: usize) -> Result<Digest, Fault> {
    optional_digest(row, column)?.ok_or_else(|| Fault::shape("digest"))
}

pub(crate) fn optional_digest(row: &impl Columns, column: usize) -> Result<Option<Digest>, Fault> {
    let digest = row.bytes(column)?.map(|bytes| bytes.try_into().map(Digest::from_bytes));
    digest.transpose().map_err(|_| Fault::shape("digest"))
}

/// How many rows a page may have.
pub(crate) fn page(limit: usize) -> i64 {
    bound(limit.min(PAGE_MAX))
}

/// A bound as a database takes it.
pub(crate) fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Up to when a mark may be due.
pub(crate) fn due_by(query: &MarkQuery) -> i64 {
    query.due_by.map_or(i64::MAX, Timestamp::as_micros)
}

/// A part as it is stored. The fields stand in the order of canonical JSON.
#[derive(Serialize, Deserialize)]
struct StoredPart<C> {
    commitment: Digest,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    content: Option<C>,
    subject: SubjectId,
}

/// The canonical JSON array of the parts; none where there are no parts.
pub(crate) fn parts_to_json(parts: &[Part]) -> Result<Option<Vec<u8>>, serde_json::Error> {
    if parts.is_empty() {
        return Ok(None);
    }
    let stored = parts.iter().map(|part| StoredPart {
        commitment: part.commitment,
        content: part.content.as_ref(),
        subject: part.subject.clone(),
    });
    let stored: Vec<_> = stored.collect();
    serde_json::to_vec(&stored).map(Some)
}

fn parts_from_json(bytes: &[u8]) -> Result<Vec<Part>, Fault> {
    let parts: Vec<StoredPart<PartContent>> =
        serde_json::from_slice(bytes).map_err(|error| Fault(format!("personal parts: {error}")))?;
    let part = |stored: StoredPart<PartContent>| Part {
        subject: stored.subject,
        commitment: stored.commitment,
        content: stored.content,
    };
    Ok(parts.into_iter().map(part).collect())
}
