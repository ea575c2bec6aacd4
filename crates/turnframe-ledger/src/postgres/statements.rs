//! The statements of an append.
//!
//! A batch is one statement, one of [`APPENDS`], and so one transaction that needs no `BEGIN`: it locks the partitions in order of id,
//! takes positions from those whose epoch is still ours, and writes the rows of exactly those. Rows come as arrays.
//! What is fenced is left out by the statement itself, so that no round trip lies between taking positions and
//! committing, and no lock is ever held while somebody waits for this process.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sqlx::AssertSqlSafe;
use sqlx::postgres::{PgConnection, PgRow};
use turnframe_core::id::EntryId;

use super::tenure::Epochs;
use crate::admission::{Admission, Head};
use crate::append::{KeyName, KeyRecord};
use crate::stored::known::StreamRecord;
use crate::stored::names::{Ids, Looked, NewNames, StreamKey};
use crate::stored::rows::{self, Columns, Trouble, key_columns};
use crate::stream::{PartitionId, PartitionSet, Position};

/// The tables that a batch may have rows for, as `append.sql` names its parts.
const TABLES: [&str; 6] = ["accounts", "streams", "entries", "keys", "cleared", "marked"];

/// The statement of each set of tables, by the set's bits. A server takes longer to get ready for a table than to write
/// a row to it: a batch names only those that it has rows for.
pub(super) static APPENDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let parts = || include_str!("append.sql").split("--: ").map(|part| part.split_once('\n'));
    let of = |tables: usize| {
        let is_kept = |name: &str| match TABLES.iter().position(|table| *table == name) {
            Some(bit) => tables & (1 << bit) != 0,
            None => true,
        };
        parts().flatten().filter(|(name, _)| is_kept(name)).map(|(_, body)| body).collect()
    };
    (0..1 << TABLES.len()).map(of).collect()
});

pub(super) const LOOK_UP_STREAMS: &str = "SELECT a.id, s.id, e.version, e.chain \
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS j (account, stream, nth) \
    LEFT JOIN tf_account a ON a.name = j.account \
    LEFT JOIN tf_stream s ON s.account = a.id AND s.name = j.stream \
    LEFT JOIN LATERAL (SELECT version, chain FROM tf_entry WHERE stream = s.id \
        ORDER BY version DESC LIMIT 1) e ON true \
    ORDER BY j.nth";

pub(super) const LOOK_UP_KEYS: &str = concat!(
    "SELECT j.nth, ",
    key_columns!(),
    " FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS j (account, key, nth) \
     JOIN tf_key k ON k.account = j.account AND k.key = j.key \
     JOIN tf_stream s ON s.id = k.stream"
);

pub(super) const STILL_OWNED: &str = "SELECT p.id \
    FROM unnest($1::smallint[], $2::bigint[]) AS a (id, epoch) \
    JOIN tf_partition p ON p.id = a.id AND p.epoch = a.epoch";

/// Looks up streams and their ends; the answers stand in the order of the question.
pub(super) async fn look_up_streams(
    connection: &mut PgConnection,
    streams: &[StreamKey<'_>],
) -> Result<Vec<Looked>, sqlx::Error> {
    let accounts: Vec<_> = streams.iter().map(|(account, _)| account.as_str()).collect();
    let names: Vec<_> = streams.iter().map(|(_, stream)| stream.to_string()).collect();
    let query = sqlx::query(LOOK_UP_STREAMS).bind(accounts).bind(names);
    let rows = query.fetch_all(connection).await?;
    let looked = |row: &PgRow| {
        let head = match rows::optional_digest(row, 3)? {
            Some(chain) => Head { version: rows::stored_version(row, 2)?, chain },
            None => Head::EMPTY,
        };
        let stream = row.optional_integer(1)?.map(|id| StreamRecord { id, head });
        Ok(Looked { account: row.optional_integer(0)?, stream })
    };
    let looked: Result<Vec<_>, rows::Fault> = rows.iter().map(looked).collect();
    match looked {
        Ok(looked) if looked.len() == streams.len() => Ok(looked),
        Ok(_) => Err(sqlx::Error::RowNotFound),
        Err(fault) => Err(sqlx::Error::Decode(fault.into())),
    }
}

/// The keys of a batch that were claimed before, by their place in the question.
pub(super) async fn look_up_keys(
    connection: &mut PgConnection,
    keys: &[(i64, &KeyName)],
) -> Result<Vec<(usize, KeyRecord)>, sqlx::Error> {
    let accounts: Vec<_> = keys.iter().map(|(account, _)| *account).collect();
    let names: Vec<_> = keys.iter().map(|(_, key)| key.as_str()).collect();
    let query = sqlx::query(LOOK_UP_KEYS).bind(accounts).bind(names);
    let rows = query.fetch_all(connection).await?;
    let found = |row: &PgRow| {
        let nth = row.integer(0).map_err(|fault| sqlx::Error::Decode(fault.into()))?;
        let index = usize::try_from(nth - 1).unwrap_or(usize::MAX);
        let record = rows::key_record(row, 1).map_err(|error| sqlx::Error::Decode(error.into()))?;
        Ok((index, record))
    };
    rows.iter().map(found).collect()
}

/// Which of these partitions are still at the epochs given.
pub(super) async fn still_owned(
    connection: &mut PgConnection,
    asked: PartitionSet,
    epochs: &Epochs,
) -> Result<PartitionSet, sqlx::Error> {
    let numbers: Vec<_> = asked.iter().map(|id| id.number().cast_signed()).collect();
    let at: Vec<_> = asked.iter().map(|id| epochs.of(id)).collect();
    let rows = sqlx::query(STILL_OWNED).bind(numbers).bind(at).fetch_all(connection).await?;
    let owned = |row: &PgRow| sqlx::Row::try_get::<i16, _>(row, 0);
    let owned: Result<Vec<_>, _> = rows.iter().map(owned).collect();
    Ok(owned?.into_iter().filter_map(|id| PartitionId::new(id.cast_unsigned())).collect())
}

/// Everything that a batch writes, as the arrays of [`APPENDS`]. A slot is the place of a row's partition among
/// those asked, from 1.
#[derive(Debug, Default)]
pub(super) struct Rows<'a> {
    asked: Vec<PartitionId>,
    epochs: Vec<i64>,
    counts: Vec<i64>,
    accounts: AccountRows<'a>,
    streams: StreamRows,
    entries: EntryRows<'a>,
    keys: KeyRows<'a>,
    cleared: ClearedRows<'a>,
    marks: MarkRows<'a>,
}

#[derive(Debug, Default)]
struct AccountRows<'a> {
    slot: Vec<i32>,
    id: Vec<i64>,
    name: Vec<&'a str>,
}

#[derive(Debug, Default)]
struct StreamRows {
    slot: Vec<i32>,
    id: Vec<i64>,
    account: Vec<i64>,
    name: Vec<String>,
}

#[derive(Debug, Default)]
struct EntryRows<'a> {
    slot: Vec<i32>,
    offset: Vec<i64>,
    account: Vec<i64>,
    stream: Vec<i64>,
    version: Vec<i64>,
    recorded_at: Vec<i64>,
    schema: Vec<i32>,
    id: Vec<Vec<u8>>,
    kind: Vec<&'static str>,
    turn: Vec<Option<&'a str>>,
    causation: Vec<Option<Vec<u8>>>,
    commitment: Vec<Vec<u8>>,
    chain: Vec<Vec<u8>>,
    parts: Vec<Option<Vec<u8>>>,
    facts: Vec<&'a [u8]>,
}

#[derive(Debug, Default)]
struct KeyRows<'a> {
    slot: Vec<i32>,
    account: Vec<i64>,
    stream: Vec<i64>,
    version: Vec<i64>,
    key: Vec<&'a str>,
    entry: Vec<Vec<u8>>,
    digest: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct ClearedRows<'a> {
    slot: Vec<i32>,
    account: Vec<i64>,
    kind: Vec<&'static str>,
    key: Vec<&'a str>,
}

#[derive(Debug, Default)]
struct MarkRows<'a> {
    slot: Vec<i32>,
    account: Vec<i64>,
    stream: Vec<i64>,
    due: Vec<i64>,
    kind: Vec<&'static str>,
    key: Vec<&'a str>,
}

impl<'a> Rows<'a> {
    /// The rows of the appends that were admitted. An `Err` is a bug: a name that was not interned.
    pub(super) fn of(
        admission: &Admission<'a>,
        ids: &Ids<'a>,
        new: &NewNames<'a>,
        epochs: &Epochs,
    ) -> Result<Self, Trouble> {
        let mut rows = Self::default();
        for (partition, count) in admission.demand() {
            rows.asked.push(partition);
            rows.epochs.push(epochs.of(partition));
            rows.counts.push(count.cast_signed());
        }
        rows.add_names(new);
        rows.add_entries(admission, ids)?;
        rows.add_marks(admission, ids)?;
        Ok(rows)
    }

    fn slot(&self, partition: PartitionId) -> i32 {
        let index = self.asked.partition_point(|asked| *asked < partition);
        i32::try_from(index + 1).unwrap_or(i32::MAX)
    }

    fn add_names(&mut self, new: &NewNames<'a>) {
        for (id, account) in &new.accounts {
            self.accounts.slot.push(self.slot(PartitionId::of(account)));
            self.accounts.id.push(*id);
            self.accounts.name.push(account.as_str());
        }
        for stream in &new.streams {
            self.streams.slot.push(self.slot(PartitionId::of(stream.account)));
            self.streams.id.push(stream.id);
            self.streams.account.push(stream.account_id);
            self.streams.name.push(stream.name.to_string());
        }
    }

    fn add_entries(&mut self, admission: &Admission<'a>, ids: &Ids<'a>) -> Result<(), Trouble> {
        let mut offsets = vec![0; self.asked.len()];
        for admitted in admission.admitted() {
            let account = &admitted.append.account;
            let (slot, account_id) = (self.slot(admitted.partition), ids.account(account)?);
            let offset = &mut offsets[usize::try_from(slot - 1).unwrap_or_default()];
            let turns = admitted.append.entries.iter();
            self.entries.turn.extend(turns.map(|new| new.turn.as_ref().map(|turn| turn.as_str())));
            for (entry, link) in admitted.entries() {
                let rows = &mut self.entries;
                rows.slot.push(slot);
                rows.offset.push(*offset);
                *offset += 1;
                rows.account.push(account_id);
                rows.stream.push(ids.stream(account, &entry.stream)?);
                rows.version.push(rows::version(link.version));
                rows.recorded_at.push(entry.recorded_at.as_micros());
                rows.schema.push(i32::from(entry.schema));
                rows.id.push(bytes(entry.id));
                rows.kind.push(entry.kind.as_str());
                rows.causation.push(entry.causation.map(bytes));
                rows.commitment.push(link.commitment.as_bytes().to_vec());
                rows.chain.push(link.chain.as_bytes().to_vec());
                rows.parts.push(rows::parts_to_json(&entry.body.parts)?);
                rows.facts.push(&entry.body.facts);
            }
            for (key, record) in admitted.keys() {
                let rows = &mut self.keys;
                rows.slot.push(slot);
                rows.account.push(account_id);
                rows.stream.push(ids.stream(account, &record.entry.stream)?);
                rows.version.push(rows::version(record.entry.version));
                rows.key.push(key.as_str());
                rows.entry.push(bytes(record.entry.id));
                rows.digest.push(record.digest.as_bytes().to_vec());
            }
        }
        Ok(())
    }

    fn add_marks(&mut self, admission: &Admission<'a>, ids: &Ids<'a>) -> Result<(), Trouble> {
        for ((account, kind, key), target) in admission.marks() {
            let (slot, account_id) = (self.slot(PartitionId::of(account)), ids.account(account)?);
            match target {
                None => {
                    self.cleared.slot.push(slot);
                    self.cleared.account.push(account_id);
                    self.cleared.kind.push(kind.as_str());
                    self.cleared.key.push(key);
                }
                Some((stream, due)) => {
                    self.marks.slot.push(slot);
                    self.marks.account.push(account_id);
                    self.marks.stream.push(ids.stream(account, stream)?);
                    self.marks.due.push(due.as_micros());
                    self.marks.kind.push(kind.as_str());
                    self.marks.key.push(key);
                }
            }
        }
        Ok(())
    }

    fn statement(&self) -> &'static str {
        let has_rows = [
            !self.accounts.id.is_empty(),
            !self.streams.id.is_empty(),
            !self.entries.id.is_empty(),
            !self.keys.key.is_empty(),
            !self.cleared.key.is_empty(),
            !self.marks.key.is_empty(),
        ];
        let bits = has_rows.iter().rev().fold(0, |bits, has| bits << 1 | usize::from(*has));
        &APPENDS[bits]
    }

    /// Writes the rows of every partition that is still ours, and answers with the first position of each.
    pub(super) async fn write(
        self,
        connection: &mut PgConnection,
    ) -> Result<BTreeMap<PartitionId, Position>, sqlx::Error> {
        let (statement, asked) = (self.statement(), self.asked);
        let numbers: Vec<_> = asked.iter().map(|id| id.number().cast_signed()).collect();
        let query =
            sqlx::query(AssertSqlSafe(statement)).bind(numbers).bind(self.epochs).bind(self.counts);
        let query = query.bind(self.accounts.slot).bind(self.accounts.id).bind(self.accounts.name);
        let query = query.bind(self.streams.slot).bind(self.streams.id);
        let query = query.bind(self.streams.account).bind(self.streams.name);
        let rows = self.entries;
        let query = query.bind(rows.slot).bind(rows.offset).bind(rows.account).bind(rows.stream);
        let query = query.bind(rows.version).bind(rows.recorded_at).bind(rows.schema).bind(rows.id);
        let query = query.bind(rows.kind).bind(rows.turn).bind(rows.causation);
        let query = query.bind(rows.commitment).bind(rows.chain).bind(rows.parts).bind(rows.facts);
        let rows = self.keys;
        let query = query.bind(rows.slot).bind(rows.account).bind(rows.stream).bind(rows.version);
        let query = query.bind(rows.key).bind(rows.entry).bind(rows.digest);
        let rows = self.cleared;
        let query = query.bind(rows.slot).bind(rows.account).bind(rows.kind).bind(rows.key);
        let rows = self.marks;
        let query = query.bind(rows.slot).bind(rows.account).bind(rows.stream).bind(rows.due);
        let query = query.bind(rows.kind).bind(rows.key);
        let firsts: Vec<Option<i64>> = {
            let row = query.fetch_one(connection).await?;
            sqlx::Row::try_get(&row, 0)?
        };
        let granted = asked.into_iter().zip(firsts);
        let granted = granted.filter_map(|(partition, first)| Some((partition, first?)));
        Ok(granted.map(|(id, first)| (id, Position(first.unsigned_abs()))).collect())
    }
}

fn bytes(id: EntryId) -> Vec<u8> {
    id.as_uuid().as_bytes().to_vec()
}
