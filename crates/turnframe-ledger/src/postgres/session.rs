//! A session of the writer: one connection, and what was learned through it.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgDatabaseError, PgSeverity};
use sqlx::{ConnectOptions, Connection, PgConnection, Row};

use super::statements::{self, Rows};
use super::tenure::{Epochs, Tenure};
use crate::admission::{Admission, Admitted, Answers, Ground, Intake, NewHeads};
use crate::append::Append;
use crate::stored::known::Known;
use crate::stored::names::{self, Ids, LastIds};
use crate::stored::recent::Recent;
use crate::stored::rows::{self, Trouble};
use crate::stored::{Counters, finish};
use crate::stream::{PartitionId, PartitionSet, Position};

/// How many ids of names a process takes at a time: the increment of `tf_name_block`.
const NAME_BLOCK: i64 = 1 << 20;

/// How long the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(1);

/// Raises the epochs of partitions that are still at those given.
pub(super) const RAISE: &str = "WITH owned AS MATERIALIZED (\
        SELECT p.id FROM unnest($1::smallint[], $2::bigint[]) AS a (id, epoch) \
        JOIN tf_partition p ON p.id = a.id AND p.epoch = a.epoch ORDER BY p.id FOR UPDATE OF p\
    ) UPDATE tf_partition p SET epoch = p.epoch + 1 FROM owned o WHERE p.id = o.id \
    RETURNING p.id, p.epoch";

/// The places of entries, as far as they are in the ledger.
pub(super) const FIND: &str = "SELECT e.place \
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) \
        AS l (account, stream, version, id) \
    JOIN tf_account a ON a.name = l.account \
    JOIN tf_stream s ON s.account = a.id AND s.name = l.stream \
    JOIN tf_entry e ON e.stream = s.id AND e.version = l.version AND e.id = l.id";

/// A connection and what was learned through it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) connection: PgConnection,
    patience: Duration,
    pub(super) known: Known,
    last: LastIds,
    /// The last id of the block that names take theirs from.
    block_end: i64,
}

/// How one attempt at a batch ended.
pub(super) enum Ended<'a> {
    Cleanly(Answers, NewHeads),
    /// What is remembered does not fit what is there.
    Stale(Trouble),
    Failed(Answers),
    Unknown(Admission<'a>, Trouble),
}

/// Whether a batch is judged by what is remembered, or with its keys looked up as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    Trusting,
    Careful,
}

impl Session {
    pub(super) async fn open(
        options: &PgConnectOptions,
        patience: Duration,
    ) -> Result<Self, sqlx::Error> {
        let mut connection = options.connect().await?;
        let block = sqlx::query("SELECT nextval('tf_name_block')");
        let block: i64 = block.fetch_one(&mut connection).await?.try_get(0)?;
        let last = LastIds { account: block, stream: block };
        let block_end = block + NAME_BLOCK - 1;
        Ok(Self { connection, patience, known: Known::default(), last, block_end })
    }

    /// Raises the epochs of partitions that are still ours: whatever ran under the old ones is over, or comes
    /// too late. Answers with those that were.
    pub(super) async fn raise(
        &mut self,
        epochs: &Epochs,
        tenure: &Tenure,
    ) -> Result<PartitionSet, Trouble> {
        let owned = epochs.owned();
        let numbers: Vec<_> = owned.iter().map(|id| id.number().cast_signed()).collect();
        let at: Vec<_> = owned.iter().map(|id| epochs.of(id)).collect();
        let raise = sqlx::query(RAISE).bind(numbers).bind(at).fetch_all(&mut self.connection);
        let mut raised = PartitionSet::NONE;
        for row in answered(self.patience, raise).await? {
            let (number, epoch): (i16, i64) = (row.try_get(0)?, row.try_get(1)?);
            if let Some(partition) = PartitionId::new(number.cast_unsigned()) {
                tenure.take(partition, epoch);
                raised.insert(partition);
            }
        }
        Ok(raised)
    }

    /// The positions of the first entries of these appends, as far as they are in the ledger.
    pub(super) async fn find(
        &mut self,
        appends: &[&Admitted<'_>],
    ) -> Result<BTreeMap<PartitionId, Position>, Trouble> {
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
        let rows = answered(self.patience, query.fetch_all(&mut self.connection));
        let mut found = BTreeMap::new();
        for row in rows.await? {
            found.extend(rows::partition_and_position(row.try_get(0)?));
        }
        Ok(found)
    }

    pub(super) async fn close(self) {
        if let Err(error) = answered(FAREWELL, self.connection.close()).await {
            tracing::warn!(%error, "the writer's connection did not close by itself");
        }
    }

    pub(super) async fn attempt<'a>(
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
        if admission.admitted().next().is_none() {
            return self.refuse(batch, admission, epochs, counters).await;
        }
        let appends = admission.admitted().map(|admitted| admitted.append);
        let new = names::intern(appends, &mut ids, &mut self.last);
        let rows = match self.rows_of(&admission, &ids, &new, epochs) {
            Ok(rows) => rows,
            Err(trouble) => return Ended::Failed(admission.withdraw(&trouble.unavailable())),
        };
        counters.sent(1);
        let granted = match answered(self.patience, rows.write(&mut self.connection))
            .await
            .map_err(Failure::of)
        {
            Ok(granted) => granted,
            Err(Failure::Taken(trouble)) => return Ended::Stale(trouble),
            Err(Failure::Nothing(trouble)) => {
                return Ended::Failed(admission.withdraw(&trouble.unavailable()));
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
        if asked.is_empty() {
            return Ended::Cleanly(admission.place(&BTreeMap::new()).answers(), Vec::new());
        }
        counters.sent(1);
        let owned = statements::still_owned(&mut self.connection, asked, epochs);
        match answered(self.patience, owned).await {
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
            let found = statements::look_up_streams(&mut self.connection, &cold);
            let found = answered(self.patience, found).await?;
            names::learn(&mut self.known, &mut ids, cold, found);
        }
        if care == Care::Trusting {
            let ground = Ground { heads: names::heads(&intake, &ids), ..Ground::default() };
            let admission = intake.admit(ground);
            if !admission.has_refusals() {
                return Ok((admission, ids));
            }
        }
        let intake = Intake::new(batch);
        let mut ground = Ground { heads: names::heads(&intake, &ids), ..Ground::default() };
        let keys = names::keys(&intake, &ids);
        if !keys.is_empty() {
            counters.sent(1);
            let question: Vec<_> = keys.iter().map(|(_, id, key)| (*id, *key)).collect();
            let found = statements::look_up_keys(&mut self.connection, &question);
            for (index, record) in answered(self.patience, found).await? {
                if let Some((account, _, key)) = keys.get(index) {
                    ground.keys.insert((account, key), record);
                }
            }
        }
        Ok((intake.admit(ground), ids))
    }
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
        let answer = error.as_database_error().and_then(|error| error.try_downcast_ref());
        let Some(answer): Option<&PgDatabaseError> = answer else { return Self::Unknown(trouble) };
        // What ends the session may come after the commit: a server that shuts down, or one that cannot write its log.
        if matches!(answer.severity(), PgSeverity::Fatal | PgSeverity::Panic) {
            return Self::Unknown(trouble);
        }
        match answer.code() {
            "23505" => Self::Taken(trouble),
            // These say themselves that they do not know, and so does whatever stands between us and the server.
            code if code.starts_with("57P") || code.starts_with("08") || code == "40003" => {
                Self::Unknown(trouble)
            }
            _ => Self::Nothing(trouble),
        }
    }
}

pub(super) fn withdraw(batch: &[Append], trouble: &Trouble) -> Answers {
    Intake::new(batch).withdraw(&trouble.unavailable())
}

/// An answer, or that none came in time.
pub(super) async fn answered<T>(
    patience: Duration,
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()));
    tokio::time::timeout(patience, answer).await.unwrap_or_else(late)
}
