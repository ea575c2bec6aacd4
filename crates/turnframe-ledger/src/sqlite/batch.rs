//! One batch in one transaction: load what it is judged against, judge it, write what was admitted.
//!
//! What the writer remembers changes only after the commit.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::{Connection, SqliteConnection};
use turnframe_core::id::AccountId;

use super::known::{Known, StreamRecord};
use super::rows;
use super::statements::{self, EntryRow, Inserts, KeyRow, MarkRow, StreamKey, Trouble};
use super::writer::{Counters, Session};
use crate::admission::{Answers, Ground, Head, Intake, Plan};
use crate::append::AppendError;
use crate::mark::MarkChange;
use crate::stream::{PartitionId, StreamName};

pub(super) fn unavailable(trouble: &Trouble) -> AppendError {
    AppendError::Unavailable { reason: trouble.to_string() }
}

/// The last interned ids that were given out.
#[derive(Debug, Clone, Copy)]
pub(super) struct LastIds {
    pub(super) account: i64,
    pub(super) stream: i64,
}

/// How a transaction ended.
pub(super) enum Ended<'a> {
    /// Committed, or nothing was to be written.
    Cleanly(Plan<'a>),
    /// Nothing was written.
    Failed(Answers),
    /// The commit failed.
    InCommit(Plan<'a>, Trouble),
}

/// What a batch is written with.
pub(super) struct Batch<'w> {
    pub(super) epochs: &'w HashMap<PartitionId, i64>,
    pub(super) inserts: &'w Inserts,
    pub(super) counters: &'w Counters,
}

impl Batch<'_> {
    pub(super) async fn run<'a>(&self, session: &mut Session, intake: Intake<'a>) -> Ended<'a> {
        let Session { connection, known, last } = session;
        let mut transaction = match connection.begin_with("BEGIN IMMEDIATE").await {
            Ok(transaction) => transaction,
            Err(error) => return Ended::Failed(intake.withdraw(&unavailable(&error.into()))),
        };
        self.counters.sent(2);
        let mut last_ids = *last;
        let (plan, ids) =
            match self.judge_and_write(&mut transaction, known, &mut last_ids, intake).await {
                Ok(written) => written,
                Err(answers) => return Ended::Failed(answers),
            };
        if plan.placed().next().is_none() {
            return match transaction.rollback().await {
                Ok(()) => Ended::Cleanly(plan),
                Err(error) => Ended::Failed(plan.withdraw(&unavailable(&error.into()))),
            };
        }
        if let Err(error) = transaction.commit().await {
            return Ended::InCommit(plan, error.into());
        }
        self.counters.committed(plan.entries());
        *last = last_ids;
        remember(known, &plan, &ids);
        Ended::Cleanly(plan)
    }

    /// Everything between `BEGIN` and `COMMIT`. An `Err` holds the answers of a batch that failed.
    async fn judge_and_write<'a>(
        &self,
        connection: &mut SqliteConnection,
        known: &mut Known,
        last: &mut LastIds,
        intake: Intake<'a>,
    ) -> Result<(Plan<'a>, Ids<'a>), Answers> {
        let loaded = self.load(connection, known, &intake).await;
        let (ground, mut ids) = match loaded {
            Ok(loaded) => loaded,
            Err(trouble) => return Err(intake.withdraw(&unavailable(&trouble))),
        };
        let admission = intake.admit(ground);
        let demand = admission.demand();
        if demand.is_empty() {
            return Ok((admission.place(&BTreeMap::new()), ids));
        }
        self.counters.sent(1);
        let granted = match statements::take_positions(connection, &demand, self.epochs).await {
            Ok(granted) => granted,
            Err(trouble) => return Err(admission.withdraw(&unavailable(&trouble))),
        };
        let plan = admission.place(&granted);
        match self.write(connection, &plan, &mut ids, last).await {
            Ok(()) => Ok((plan, ids)),
            Err(trouble) => Err(plan.withdraw(&unavailable(&trouble))),
        }
    }

    async fn load<'a>(
        &self,
        connection: &mut SqliteConnection,
        known: &mut Known,
        intake: &Intake<'a>,
    ) -> Result<(Ground<'a>, Ids<'a>), Trouble> {
        let (mut ids, cold) = recall(known, intake);
        if !cold.is_empty() {
            self.counters.sent(1);
            let found = statements::look_up_streams(connection, &cold).await?;
            for ((account, stream), looked) in cold.into_iter().zip(found) {
                if let Some(id) = looked.account {
                    ids.accounts.insert(account, id);
                    known.accounts.insert(account.clone(), id);
                }
                if let Some(record) = looked.stream {
                    ids.streams.insert((account, stream), record);
                    known.streams.insert((account.clone(), stream.clone()), record);
                }
            }
        }
        let mut ground = Ground::default();
        for stream in intake.streams() {
            if let Some(record) = ids.streams.get(&stream) {
                ground.heads.insert(stream, record.head);
            }
        }
        // An account that is new has no keys.
        let of_known = |(account, key)| Some((account, *ids.accounts.get(account)?, key));
        let keys: Vec<_> = intake.keys().filter_map(of_known).collect();
        if !keys.is_empty() {
            self.counters.sent(1);
            let question: Vec<_> = keys.iter().map(|(_, id, key)| (*id, *key)).collect();
            for (index, record) in statements::look_up_keys(connection, &question).await? {
                if let Some((account, _, key)) = keys.get(index) {
                    ground.keys.insert((account, key), record);
                }
            }
        }
        Ok((ground, ids))
    }

    async fn write<'a>(
        &self,
        connection: &mut SqliteConnection,
        plan: &Plan<'a>,
        ids: &mut Ids<'a>,
        last: &mut LastIds,
    ) -> Result<(), Trouble> {
        let new = intern(plan, ids, last);
        let (entries, keys) = (entry_rows(plan, ids)?, key_rows(plan, ids)?);
        let (cleared, set) = mark_rows(plan, ids)?;
        let mut sent = self.inserts.accounts(connection, &new.accounts).await?;
        sent += self.inserts.streams(connection, &new.streams).await?;
        sent += self.inserts.entries(connection, &entries).await?;
        sent += self.inserts.keys(connection, &keys).await?;
        sent += statements::clear_marks(connection, &cleared).await?;
        sent += self.inserts.marks(connection, &set).await?;
        self.counters.sent(sent);
        Ok(())
    }
}

/// The ids of what a batch names.
#[derive(Debug, Default)]
struct Ids<'a> {
    accounts: HashMap<&'a AccountId, i64>,
    streams: HashMap<StreamKey<'a>, StreamRecord>,
}

impl Ids<'_> {
    fn account(&self, account: &AccountId) -> Result<i64, Trouble> {
        let id = self.accounts.get(account).copied();
        id.ok_or_else(|| Trouble(format!("the account {account} was not interned")))
    }

    fn stream(&self, account: &AccountId, stream: &StreamName) -> Result<i64, Trouble> {
        let record = self.streams.get(&(account, stream));
        record.map(|record| record.id).ok_or_else(|| Trouble(format!("{stream} was not interned")))
    }
}

/// What the writer remembers of a batch's names, and which streams it does not.
fn recall<'a>(known: &mut Known, intake: &Intake<'a>) -> (Ids<'a>, Vec<StreamKey<'a>>) {
    let (mut ids, mut cold) = (Ids::default(), Vec::new());
    let mut asked = HashSet::new();
    for (account, stream) in intake.streams().chain(intake.marked_streams()) {
        if !asked.insert((account, stream)) {
            continue;
        }
        if let Some(id) = known.accounts.get(account) {
            ids.accounts.insert(account, id);
        }
        match known.streams.get(&(account.clone(), stream.clone())) {
            Some(record) => drop(ids.streams.insert((account, stream), record)),
            None => cold.push((account, stream)),
        }
    }
    (ids, cold)
}

/// Names that a batch brings into the ledger.
#[derive(Debug, Default)]
struct NewNames<'a> {
    accounts: Vec<(i64, &'a AccountId)>,
    streams: Vec<(i64, i64, &'a StreamName)>,
}

/// Gives an id to every name that has none yet.
fn intern<'a>(plan: &Plan<'a>, ids: &mut Ids<'a>, last: &mut LastIds) -> NewNames<'a> {
    let mut new = NewNames::default();
    for append in plan.placed().map(|placed| placed.append) {
        let account = *ids.accounts.entry(&append.account).or_insert_with(|| {
            last.account += 1;
            new.accounts.push((last.account, &append.account));
            last.account
        });
        let written = append.entries.iter().map(|entry| &entry.stream);
        let marked = append.marks.iter().filter_map(MarkChange::stream);
        for stream in written.chain(marked) {
            ids.streams.entry((&append.account, stream)).or_insert_with(|| {
                last.stream += 1;
                new.streams.push((last.stream, account, stream));
                StreamRecord { id: last.stream, head: Head::EMPTY }
            });
        }
    }
    new
}

/// The entries in the order in which their rows lie.
fn entry_rows<'a>(plan: &Plan<'a>, ids: &Ids<'a>) -> Result<Vec<EntryRow<'a>>, Trouble> {
    let mut entries = Vec::new();
    for placed in plan.placed() {
        let account = &placed.append.account;
        let account_id = ids.account(account)?;
        for (position, entry, link) in placed.entries() {
            let place = rows::place(placed.partition, position);
            let stream = ids.stream(account, &entry.stream)?;
            entries.push(EntryRow { place, account: account_id, stream, entry, link });
        }
    }
    entries.sort_unstable_by_key(|row| row.place);
    Ok(entries)
}

fn key_rows<'a>(plan: &Plan<'a>, ids: &Ids<'a>) -> Result<Vec<KeyRow<'a>>, Trouble> {
    let mut keys = Vec::new();
    for placed in plan.placed() {
        let account = &placed.append.account;
        let account_id = ids.account(account)?;
        for (key, record) in placed.keys() {
            let stream = ids.stream(account, &record.entry.stream)?;
            keys.push(KeyRow { account: account_id, key, stream, record });
        }
    }
    keys.sort_unstable_by_key(|row| (row.account, row.key));
    Ok(keys)
}

type ClearedMark<'a> = (i64, &'static str, &'a str);

fn mark_rows<'a>(
    plan: &Plan<'a>,
    ids: &Ids<'a>,
) -> Result<(Vec<ClearedMark<'a>>, Vec<MarkRow<'a>>), Trouble> {
    let (mut cleared, mut set) = (Vec::new(), Vec::new());
    for ((account, kind, key), target) in plan.marks() {
        let account_id = ids.account(account)?;
        match target {
            None => cleared.push((account_id, kind.as_str(), key)),
            Some((stream, due)) => set.push(MarkRow {
                account: account_id,
                kind,
                key,
                partition: PartitionId::of(account),
                stream: ids.stream(account, stream)?,
                due: due.as_micros(),
            }),
        }
    }
    Ok((cleared, set))
}

/// Keeps what a committed batch taught.
fn remember(known: &mut Known, plan: &Plan<'_>, ids: &Ids<'_>) {
    for (account, id) in &ids.accounts {
        known.accounts.insert((*account).clone(), *id);
    }
    for placed in plan.placed() {
        let account = &placed.append.account;
        for (_, entry, link) in placed.entries() {
            if let Some(record) = ids.streams.get(&(account, &entry.stream)) {
                let head = Head { version: link.version, chain: link.chain };
                let key = (account.clone(), entry.stream.clone());
                known.streams.insert(key, StreamRecord { id: record.id, head });
            }
        }
    }
}
