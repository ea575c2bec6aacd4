//! The writer: one batch, one statement, one commit.
//!
//! What the writer remembers (interned ids, ends of streams) is true as long as nobody else writes to its partitions,
//! and that is what the epoch of each partition proves, in the statement that writes. Keys are not looked up before a
//! batch that has nothing against it: the unique index looks anyway, and where it objects the batch is judged again
//! with everything read afresh.
//!
//! Where the database says that the statement failed, nothing was written: `Unavailable`. Where its answer does not
//! come, the statement may have been committed, or may still be running. The writer then reconnects, raises the
//! epochs of its partitions, which waits for a statement that runs and fences one that has not begun,
//! and looks for what it wrote. Only where that fails too is the answer `OutcomeUnknown`. No further batch is
//! written before the epochs are raised: what was decided after a look at the ledger never meets a
//! statement that lands late.
//!
//! After any error the connection is closed, and with it everything that the writer remembers is dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, Row};

use super::statements::{self, Rows};
use super::tenure::{Epochs, Tenure};
use crate::admission::{Admission, Admitted, Answers, Ground, Intake, NewHeads, Plan};
use crate::append::{Append, AppendError};
use crate::stored::Counters;
use crate::stored::known::Known;
use crate::stored::names::{self, Ids, LastIds};
use crate::stored::recent::Recent;
use crate::stored::rows::{self, Trouble};
use crate::stream::{PartitionId, PartitionSet, Position};

/// How many ids of names a process takes at a time: the increment of `tf_name_block`.
const NAME_BLOCK: i64 = 1 << 20;

/// Writes batches, one after another.
#[derive(Debug)]
pub(super) struct Writer {
    options: PgConnectOptions,
    tenure: Arc<Tenure>,
    /// The epochs of a statement that may be running yet.
    unsettled: Option<Epochs>,
    /// Absent at first, after an error, and while a batch is under way: whatever interrupts a batch leaves
    /// the next one to start afresh.
    session: Option<Session>,
}

/// A connection and what was learned through it.
#[derive(Debug)]
struct Session {
    connection: PgConnection,
    known: Known,
    last: LastIds,
    /// The last id of the block that names take theirs from.
    block_end: i64,
}

/// Why a statement was not answered as it should be.
enum Failure {
    /// Nothing was written.
    Nothing(Trouble),
    /// A unique index objected, and nothing was written.
    Taken(Trouble),
    /// It may have been committed, or may be yet.
    Unknown(Trouble),
}

impl Failure {
    /// Of a statement that writes.
    fn of(error: sqlx::Error) -> Self {
        let trouble = Trouble::from_error(&error);
        match error.as_database_error().and_then(|error| error.code()).as_deref() {
            Some("23505") => Self::Taken(trouble),
            // A server that shuts down, and errors that say themselves that they do not know.
            Some(code) if code.starts_with("57P") || code.starts_with("08") || code == "40003" => {
                Self::Unknown(trouble)
            }
            Some(_) => Self::Nothing(trouble),
            None => Self::Unknown(trouble),
        }
    }
}

fn unavailable(trouble: &Trouble) -> AppendError {
    AppendError::Unavailable { reason: trouble.to_string() }
}

/// How one attempt at a batch ended.
enum Ended<'a> {
    Cleanly(Answers, NewHeads),
    /// What is remembered does not fit what is there.
    Stale(Trouble),
    Failed(Answers),
    Unknown(Admission<'a>, Trouble),
}

impl Writer {
    pub(super) fn new(options: PgConnectOptions, tenure: Arc<Tenure>) -> Self {
        Self { options, tenure, unsettled: None, session: None }
    }

    pub(super) async fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }

    /// Writes a batch. Answers also with the new end of every partition that was written to.
    pub(super) async fn append(
        &mut self,
        batch: &[Append],
        counters: &Counters,
        recent: &Recent,
    ) -> (Answers, NewHeads) {
        let mut session = match self.session().await {
            Ok(session) => session,
            Err(trouble) => return (withdraw(batch, &trouble), Vec::new()),
        };
        let (epochs, fresh) = self.tenure.look();
        if !fresh.is_empty() {
            session.known.forget(fresh);
        }
        // Taken back below, unless whoever runs this is cut short.
        self.unsettled = Some(epochs.clone());
        let mut attempt = session.attempt(batch, &epochs, counters, recent, Care::Trusting).await;
        if let Ended::Stale(trouble) = &attempt {
            tracing::debug!(%trouble, "a batch is judged again with everything read afresh");
            session.known = Known::default();
            attempt = session.attempt(batch, &epochs, counters, recent, Care::Careful).await;
        }
        match attempt {
            Ended::Cleanly(answers, heads) => {
                self.unsettled = None;
                self.session = Some(session);
                (answers, heads)
            }
            Ended::Failed(answers) => {
                self.unsettled = None;
                session.close().await;
                (answers, Vec::new())
            }
            Ended::Stale(trouble) => {
                self.unsettled = None;
                session.close().await;
                (withdraw(batch, &trouble), Vec::new())
            }
            Ended::Unknown(admission, trouble) => {
                // Not waited for: a server that does not answer does not say goodbye either.
                drop(session);
                self.settle(admission, &trouble, counters, recent).await
            }
        }
    }

    /// The session, new where there is none, once nothing of an earlier one can land any more.
    async fn session(&mut self) -> Result<Session, Trouble> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.options).await?,
        };
        if let Some(epochs) = &self.unsettled {
            session.raise(epochs, &self.tenure).await?;
            self.unsettled = None;
        }
        Ok(session)
    }

    /// Finds out what became of a statement whose answer did not come.
    async fn settle(
        &mut self,
        admission: Admission<'_>,
        trouble: &Trouble,
        counters: &Counters,
        recent: &Recent,
    ) -> (Answers, NewHeads) {
        tracing::error!(%trouble, "a commit was not acknowledged; looking for what became of it");
        match self.look_behind(&admission).await {
            Ok(Some(granted)) => {
                let plan = admission.place(&granted);
                counters.committed(plan.entries());
                finish(plan, recent)
            }
            Ok(None) => (admission.withdraw(&unavailable(trouble)), Vec::new()),
            Err(again) => {
                let reason = format!("{trouble}; then {again}");
                (admission.withdraw(&AppendError::OutcomeUnknown { reason }), Vec::new())
            }
        }
    }

    /// Where the batch is in the ledger, for good: the first position of each partition. `None` where it is not, and
    /// never will be.
    async fn look_behind(
        &mut self,
        admission: &Admission<'_>,
    ) -> Result<Option<BTreeMap<PartitionId, Position>>, Trouble> {
        let mut session = self.session().await?;
        let mut firsts = BTreeMap::new();
        for admitted in admission.admitted() {
            firsts.entry(admitted.partition).or_insert(admitted);
        }
        let firsts: Vec<_> = firsts.into_values().collect();
        let mut granted = session.find(&firsts).await?;
        self.session = Some(session);
        if granted.is_empty() && !firsts.is_empty() {
            return Ok(None);
        }
        // Partitions that only refused took no position, and were ours: nobody raised their epoch before us.
        let refused = admission.demand().into_iter().filter(|(_, count)| *count == 0);
        granted.extend(refused.map(|(partition, _)| (partition, Position::START)));
        Ok(Some(granted))
    }
}

fn withdraw(batch: &[Append], trouble: &Trouble) -> Answers {
    Intake::new(batch).withdraw(&unavailable(trouble))
}

/// The batch is committed: it may be read from memory too.
fn finish(plan: Plan<'_>, recent: &Recent) -> (Answers, NewHeads) {
    recent.keep(&plan);
    let mut heads = BTreeMap::new();
    for placed in plan.placed() {
        heads.insert(placed.partition, placed.last());
    }
    (plan.answers(), heads.into_iter().collect())
}

/// Whether a batch is judged by what is remembered, or with its keys looked up as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    Trusting,
    Careful,
}

impl Session {
    async fn open(options: &PgConnectOptions) -> Result<Self, Trouble> {
        let mut connection = options.connect().await?;
        let block = sqlx::query("SELECT nextval('tf_name_block')");
        let block: i64 = block.fetch_one(&mut connection).await?.try_get(0)?;
        let last = LastIds { account: block, stream: block };
        Ok(Self { connection, known: Known::default(), last, block_end: block + NAME_BLOCK - 1 })
    }

    /// Raises the epochs of partitions that are still ours: whatever ran under the old ones is over, or comes
    /// too late.
    async fn raise(&mut self, epochs: &Epochs, tenure: &Tenure) -> Result<(), Trouble> {
        const RAISE: &str = "WITH owned AS MATERIALIZED (\
                SELECT p.id FROM unnest($1::smallint[], $2::bigint[]) AS a (id, epoch) \
                JOIN tf_partition p ON p.id = a.id AND p.epoch = a.epoch ORDER BY p.id FOR UPDATE OF p\
            ) UPDATE tf_partition p SET epoch = p.epoch + 1 FROM owned o WHERE p.id = o.id \
            RETURNING p.id, p.epoch";
        let owned = epochs.owned();
        let numbers: Vec<_> = owned.iter().map(|id| id.number().cast_signed()).collect();
        let at: Vec<_> = owned.iter().map(|id| epochs.of(id)).collect();
        let raised = sqlx::query(RAISE).bind(numbers).bind(at).fetch_all(&mut self.connection);
        for row in raised.await? {
            let (number, epoch): (i16, i64) = (row.try_get(0)?, row.try_get(1)?);
            if let Some(partition) = PartitionId::new(number.cast_unsigned()) {
                tenure.take(partition, epoch);
            }
        }
        Ok(())
    }

    /// The positions of the first entries of these appends, as far as they are in the ledger.
    async fn find(
        &mut self,
        appends: &[&Admitted<'_>],
    ) -> Result<BTreeMap<PartitionId, Position>, Trouble> {
        const FIND: &str = "SELECT e.place \
            FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) \
                AS l (account, stream, version, id) \
            JOIN tf_account a ON a.name = l.account \
            JOIN tf_stream s ON s.account = a.id AND s.name = l.stream \
            JOIN tf_entry e ON e.stream = s.id AND e.version = l.version AND e.id = l.id";
        let (mut accounts, mut streams) = (Vec::new(), Vec::new());
        let (mut versions, mut ids) = (Vec::new(), Vec::new());
        for admitted in appends {
            let Some((entry, link)) = admitted.entries().next() else { continue };
            accounts.push(admitted.append.account.as_str());
            streams.push(entry.stream.to_string());
            versions.push(link.version.0.cast_signed());
            ids.push(entry.id.as_uuid().as_bytes().to_vec());
        }
        let query = sqlx::query(FIND).bind(accounts).bind(streams).bind(versions).bind(ids);
        let mut found = BTreeMap::new();
        for row in query.fetch_all(&mut self.connection).await? {
            found.extend(rows::partition_and_position(row.try_get(0)?));
        }
        Ok(found)
    }

    async fn close(self) {
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the writer's connection did not close by itself");
        }
    }

    async fn attempt<'a>(
        &mut self,
        batch: &'a [Append],
        epochs: &Epochs,
        counters: &Counters,
        recent: &Recent,
        care: Care,
    ) -> Ended<'a> {
        let (admission, mut ids) = match self.judge(batch, counters, care).await {
            Ok(judged) => judged,
            Err(error) => return Ended::Failed(withdraw(batch, &Trouble::from_error(&error))),
        };
        if admission.demand().is_empty() {
            return Ended::Cleanly(admission.place(&BTreeMap::new()).answers(), Vec::new());
        }
        if admission.admitted().next().is_none() {
            return self.refuse(batch, admission, epochs, counters).await;
        }
        let appends = admission.admitted().map(|admitted| admitted.append);
        let new = names::intern(appends, &mut ids, &mut self.last);
        let rows = match self.rows_of(&admission, &ids, &new, epochs) {
            Ok(rows) => rows,
            Err(trouble) => return Ended::Failed(admission.withdraw(&unavailable(&trouble))),
        };
        counters.sent(1);
        let granted = match rows.write(&mut self.connection).await.map_err(Failure::of) {
            Ok(granted) => granted,
            Err(Failure::Taken(trouble)) => return Ended::Stale(trouble),
            Err(Failure::Nothing(trouble)) => {
                return Ended::Failed(admission.withdraw(&unavailable(&trouble)));
            }
            Err(Failure::Unknown(trouble)) => return Ended::Unknown(admission, trouble),
        };
        let plan = admission.place(&granted);
        counters.committed(plan.entries());
        names::remember(&mut self.known, &plan, &ids);
        let (answers, heads) = finish(plan, recent);
        Ended::Cleanly(answers, heads)
    }

    /// Nothing is to be written. The refusals rest on what is remembered of partitions that may be lost by now.
    async fn refuse<'a>(
        &mut self,
        batch: &'a [Append],
        admission: Admission<'a>,
        epochs: &Epochs,
        counters: &Counters,
    ) -> Ended<'a> {
        let asked: PartitionSet = admission.demand().into_keys().collect();
        counters.sent(1);
        match statements::still_owned(&mut self.connection, asked, epochs).await {
            Ok(owned) => {
                let granted = owned.iter().map(|partition| (partition, Position::START)).collect();
                Ended::Cleanly(admission.place(&granted).answers(), Vec::new())
            }
            Err(error) => Ended::Failed(withdraw(batch, &Trouble::from_error(&error))),
        }
    }

    fn rows_of<'a>(
        &self,
        admission: &Admission<'a>,
        ids: &Ids<'a>,
        new: &names::NewNames<'a>,
        epochs: &Epochs,
    ) -> Result<Rows<'a>, Trouble> {
        if self.last.account.max(self.last.stream) > self.block_end {
            return Err(Trouble::new(
                "the block of names is used up; the next session takes another",
            ));
        }
        Rows::of(admission, ids, new, epochs)
    }

    /// Judges a batch. A refusal is only ever given with the keys looked up: they are checked before the versions.
    async fn judge<'a>(
        &mut self,
        batch: &'a [Append],
        counters: &Counters,
        care: Care,
    ) -> Result<(Admission<'a>, Ids<'a>), sqlx::Error> {
        let intake = Intake::new(batch);
        let (mut ids, cold) = names::recall(&mut self.known, &intake);
        if !cold.is_empty() {
            counters.sent(1);
            let found = statements::look_up_streams(&mut self.connection, &cold).await?;
            names::learn(&mut self.known, &mut ids, cold, found);
        }
        let heads = names::heads(&intake, &ids);
        if care == Care::Trusting {
            let ground = Ground { heads: heads.clone(), ..Ground::default() };
            let admission = intake.admit(ground);
            if !admission.has_refusals() {
                return Ok((admission, ids));
            }
        }
        let intake = Intake::new(batch);
        let mut ground = Ground { heads, ..Ground::default() };
        // An account that is new has no keys.
        let of_known = |(account, key)| Some((account, *ids.accounts.get(account)?, key));
        let keys: Vec<_> = intake.keys().filter_map(of_known).collect();
        if !keys.is_empty() {
            counters.sent(1);
            let question: Vec<_> = keys.iter().map(|(_, id, key)| (*id, *key)).collect();
            let found = statements::look_up_keys(&mut self.connection, &question).await?;
            for (index, record) in found {
                if let Some((account, _, key)) = keys.get(index) {
                    ground.keys.insert((account, key), record);
                }
            }
        }
        Ok((intake.admit(ground), ids))
    }
}
