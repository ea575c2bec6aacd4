//! Between rows and entries. What cannot be decoded is `Corrupt`, and never skipped.

use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, EntryId, SubjectId, TurnId};
use turnframe_core::personal::{Part, PartContent, Sealed};
use turnframe_core::source::Timestamp;
use uuid::Uuid;

use crate::append::KeyRecord;
use crate::entry::{Entry, EntryRef};
use crate::ledger::ReadError;
use crate::stream::{PartitionId, Position, StreamName, Version};

/// Positions per partition: room for a million a second for twelve days, or for what disks hold today.
const POSITION_BITS: u32 = 40;
const POSITION_MAX: u64 = (1 << POSITION_BITS) - 1;

/// Where an entry's row lies. A position beyond all others reads as the end of its partition.
pub(super) fn place(partition: PartitionId, position: Position) -> i64 {
    let position = position.0.min(POSITION_MAX).cast_signed();
    i64::from(partition.number()) << POSITION_BITS | position
}

fn partition_and_position(place: i64) -> Option<(PartitionId, Position)> {
    let partition = u16::try_from(place >> POSITION_BITS).ok().and_then(PartitionId::new)?;
    Some((partition, Position(place.cast_unsigned() & POSITION_MAX)))
}

/// A version as SQLite holds it; no stream reaches the end of its numbers.
pub(super) fn version(version: Version) -> i64 {
    i64::try_from(version.0).unwrap_or(i64::MAX)
}

pub(super) fn stored_version(row: &SqliteRow, column: usize) -> Result<Version, Fault> {
    let number: i64 = row.try_get(column)?;
    Ok(Version(u64::try_from(number).map_err(|_| Fault::shape("version"))?))
}

/// What is wrong with a row.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Fault(String);

impl Fault {
    fn shape(what: &str) -> Self {
        Self(format!("the {what} has another shape"))
    }

    pub(super) fn at(self, place: String) -> ReadError {
        ReadError::Corrupt { place, reason: self.0 }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

/// The columns of [`entry`], with the account and the stream as names.
macro_rules! entry_columns {
    () => {
        "e.place, a.name, s.name, e.version, e.id, e.kind, e.schema, e.recorded_at, e.turn, \
         e.causation, e.commitment, e.chain, e.parts, e.facts"
    };
}
pub(super) use entry_columns;

/// Decodes a row of [`entry_columns`].
pub(super) fn entry(row: &SqliteRow) -> Result<Entry, ReadError> {
    let place: i64 =
        row.try_get(0).map_err(|error| Fault::from(error).at("an entry".to_owned()))?;
    let Some((partition, position)) = partition_and_position(place) else {
        return Err(Fault::shape("place").at(format!("row {place}")));
    };
    let named = || format!("partition {}, position {}", partition.number(), position.0);
    decode(row, partition, position).map_err(|fault| fault.at(named()))
}

fn decode(row: &SqliteRow, partition: PartitionId, position: Position) -> Result<Entry, Fault> {
    let parts: Option<&[u8]> = row.try_get(12)?;
    let parts = parts.map_or_else(|| Ok(Vec::new()), parts_from_json)?;
    let facts: Vec<u8> = row.try_get(13)?;
    Ok(Entry {
        account: text::<AccountId>(row, 1, "account")?,
        stream: text::<StreamName>(row, 2, "stream")?,
        version: stored_version(row, 3)?,
        partition,
        position,
        id: entry_id(row, 4)?,
        kind: text(row, 5, "kind")?,
        schema: row.try_get(6)?,
        recorded_at: Timestamp::from_micros(row.try_get(7)?),
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
pub(super) use key_columns;

/// Decodes a row of [`key_columns`] that start at a column.
pub(super) fn key_record(row: &SqliteRow, first: usize) -> Result<KeyRecord, ReadError> {
    let decoded = || {
        let stream = text(row, first, "stream")?;
        let (version, id) = (stored_version(row, first + 1)?, entry_id(row, first + 2)?);
        let digest = digest(row, first + 3)?;
        Ok(KeyRecord { entry: EntryRef { stream, version, id }, digest })
    };
    decoded().map_err(|fault: Fault| fault.at("an idempotency key".to_owned()))
}

pub(super) fn text<T: std::str::FromStr>(
    row: &SqliteRow,
    column: usize,
    what: &str,
) -> Result<T, Fault> {
    row.try_get::<&str, _>(column)?.parse().map_err(|_| Fault::shape(what))
}

fn optional_text<T: std::str::FromStr>(
    row: &SqliteRow,
    column: usize,
    what: &str,
) -> Result<Option<T>, Fault> {
    let text: Option<&str> = row.try_get(column)?;
    text.map(|text| text.parse().map_err(|_| Fault::shape(what))).transpose()
}

fn entry_id(row: &SqliteRow, column: usize) -> Result<EntryId, Fault> {
    optional_entry_id(row, column)?.ok_or_else(|| Fault::shape("entry id"))
}

fn optional_entry_id(row: &SqliteRow, column: usize) -> Result<Option<EntryId>, Fault> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let uuid = bytes.map(Uuid::from_slice).transpose().map_err(|_| Fault::shape("entry id"))?;
    Ok(uuid.map(EntryId::from_uuid))
}

fn digest(row: &SqliteRow, column: usize) -> Result<Digest, Fault> {
    optional_digest(row, column)?.ok_or_else(|| Fault::shape("digest"))
}

pub(super) fn optional_digest(row: &SqliteRow, column: usize) -> Result<Option<Digest>, Fault> {
    let bytes: Option<&[u8]> = row.try_get(column)?;
    let digest = bytes.map(|bytes| bytes.try_into().map(Digest::from_bytes)).transpose();
    digest.map_err(|_| Fault::shape("digest"))
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
pub(super) fn parts_to_json(parts: &[Part]) -> Result<Option<Vec<u8>>, serde_json::Error> {
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
