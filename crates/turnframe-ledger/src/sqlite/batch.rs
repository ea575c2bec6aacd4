//! One batch in one transaction: load what it is judged against, judge it, write what was admitted.
//!
//! What the writer remembers changes only after the commit.

use std::collections::HashMap;

use sqlx::{Connection, SqliteConnection};

use super::statements::{self, EntryRow, Inserts, KeyRow, MarkRow};
use super::writer::Session;
use crate::admission::{Answers, Ground, Intake, Plan};
use crate::stored::Counters;
use crate::stored::known::Known;
use crate::stored::names::{self, Ids, LastIds};
use crate::stored::rows::{self, Trouble};
use crate::stream::PartitionId;

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
            Err(error) => {
                return Ended::Failed(intake.withdraw(&Trouble::from(error).unavailable()));
            }
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
                Err(error) => Ended::Failed(plan.withdraw(&Trouble::from(error).unavailable())),
            };
        }
        if let Err(error) = transaction.commit().await {
            return Ended::InCommit(plan, error.into());
        }
        self.counters.committed(plan.entries());
        *last = last_ids;
        names::remember(known, &plan, &ids);
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
            Err(trouble) => return Err(intake.withdraw(&trouble.unavailable())),
        };
        let admission = intake.admit(ground);
        let demand = admission.demand();
        self.counters.sent(1);
        let granted = match statements::take_positions(connection, &demand, self.epochs).await {
            Ok(granted) => granted,
            Err(trouble) => return Err(admission.withdraw(&trouble.unavailable())),
        };
        let plan = admission.place(&granted);
        match self.write(connection, &plan, &mut ids, last).await {
            Ok(()) => Ok((plan, ids)),
            Err(trouble) => Err(plan.withdraw(&trouble.unavailable())),
        }
    }

    async fn load<'a>(
        &self,
        connection: &mut SqliteConnection,
        known: &mut Known,
        intake: &Intake<'a>,
    ) -> Result<(Ground<'a>, Ids<'a>), Trouble> {
        let (mut ids, cold) = names::recall(known, intake);
        if !cold.is_empty() {
            self.counters.sent(1);
            let found = statements::look_up_streams(connection, &cold).await?;
            names::learn(known, &mut ids, cold, found);
        }
        let mut ground = Ground { heads: names::heads(intake, &ids), ..Ground::default() };
        let keys = names::keys(intake, &ids);
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
        let new = names::intern(plan.placed().map(|placed| placed.append), ids, last);
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

/// The entries in the order in which their rows lie.
fn entry_rows<'a>(plan: &Plan<'a>, ids: &Ids<'a>) -> Result<Vec<EntryRow<'a>>, Trouble> {
    let mut entries = Vec::with_capacity(usize::try_from(plan.entries()).unwrap_or_default());
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
