//! The writer: one batch, one transaction.
//!
//! Where a batch fails before its `COMMIT` was sent, nothing was written: `Unavailable`. Where the `COMMIT`
//! itself fails, SQLite's own answer does not say whether its frames may still be found after a crash. The
//! writer then reconnects, looks for the batch's first entry, and commits a counter behind it, which
//! overwrites whatever the failed commit left in the WAL. Only where that fails too is the answer
//! `OutcomeUnknown`.
//!
//! After any error the connection is closed, and with it everything that the writer remembers is dropped.

use std::collections::HashMap;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use turnframe_core::id::DomainActorKey;

use super::batch::{Batch, Ended};
use super::checkpoint::ASK_AFTER;
use super::schema::Claim;
use super::statements::Inserts;
use crate::admission::{Answers, Intake, NewHeads, Plan};
use crate::append::AppendError;
use crate::ledger::ReadError;
use crate::stored::known::Known;
use crate::stored::names::LastIds;
use crate::stored::recent::Recent;
use crate::stored::rows::{self, Trouble};
use crate::stored::{Counters, finish};
use crate::stream::{PartitionId, Position};

/// Writes batches, one after another.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) options: SqliteConnectOptions,
    /// The epochs at which this process took the partitions over. Never read again: a writer that is
    /// fenced stays fenced.
    epochs: HashMap<PartitionId, i64>,
    inserts: Inserts,
    /// Absent at first, after an error, and while a batch is under way: whatever interrupts a batch leaves
    /// the next one to start afresh.
    pub(super) session: Option<Session>,
    /// How much was written since the length of the WAL was asked for: entries, and commits without any.
    unasked: u64,
}

/// A connection and what was learned through it.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) connection: SqliteConnection,
    pub(super) known: Known,
    pub(super) last: LastIds,
}

impl Writer {
    pub(super) fn new(options: SqliteConnectOptions, claims: &[Claim]) -> Self {
        let epochs = claims.iter().map(|claim| (claim.partition, claim.epoch)).collect();
        Self { options, epochs, inserts: Inserts::new(), session: None, unasked: 0 }
    }

    pub(super) async fn close(&mut self) {
        if let Some(session) = self.session.take() {
            session.close().await;
        }
    }

    /// Whether so much was written since this was last so that the WAL may have become long.
    pub(super) fn wal_may_be_long(&mut self) -> bool {
        let may_be = self.unasked >= ASK_AFTER;
        if may_be {
            self.unasked = 0;
        }
        may_be
    }

    /// Writes a batch. Answers also with the new end of every partition that was written to.
    pub(super) async fn append(
        &mut self,
        intake: Intake<'_>,
        counters: &Counters,
        recent: &Recent,
    ) -> (Answers, NewHeads) {
        let session = match self.session.take() {
            Some(session) => Ok(session),
            None => Session::open(&self.options).await,
        };
        let mut session = match session {
            Ok(session) => session,
            Err(trouble) => return (intake.withdraw(&trouble.unavailable()), Vec::new()),
        };
        let batch = Batch { epochs: &self.epochs, inserts: &self.inserts, counters };
        match batch.run(&mut session, intake).await {
            Ended::Cleanly(plan) => {
                self.session = Some(session);
                self.unasked += plan.entries();
                finish(plan, recent)
            }
            Ended::Failed(answers) => {
                session.close().await;
                (answers, Vec::new())
            }
            Ended::InCommit(plan, trouble) => {
                session.close().await;
                self.settle(plan, &trouble, counters, recent).await
            }
        }
    }

    /// Keeps a cursor, in a transaction of its own.
    pub(super) async fn keep_cursor(
        &mut self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        const KEEP: &str = "INSERT INTO tf_cursor (follower, partition, position) VALUES (?1, ?2, ?3) \
            ON CONFLICT (follower, partition) DO UPDATE SET position = max(position, excluded.position)";
        let failed = |trouble: Trouble| ReadError::Unavailable { reason: trouble.to_string() };
        let session = match self.session.take() {
            Some(session) => Ok(session),
            None => Session::open(&self.options).await,
        };
        let mut session = session.map_err(failed)?;
        let keep = sqlx::query(KEEP)
            .bind(follower.as_str())
            .bind(i64::from(partition.number()))
            .bind(position.0.cast_signed());
        if let Err(error) = keep.execute(&mut session.connection).await {
            session.close().await;
            return Err(failed(error.into()));
        }
        self.session = Some(session);
        self.unasked += 1;
        Ok(())
    }

    /// Finds out what became of a commit that failed.
    async fn settle(
        &mut self,
        plan: Plan<'_>,
        trouble: &Trouble,
        counters: &Counters,
        recent: &Recent,
    ) -> (Answers, NewHeads) {
        tracing::error!(%trouble, "a commit failed; looking for what became of it");
        match self.look_behind(&plan).await {
            Ok(true) => {
                counters.committed(plan.entries());
                finish(plan, recent)
            }
            Ok(false) => (plan.withdraw(&trouble.unavailable()), Vec::new()),
            Err(again) => {
                let reason = format!("{trouble}; then {again}");
                (plan.withdraw(&AppendError::OutcomeUnknown { reason }), Vec::new())
            }
        }
    }

    /// Whether the batch is in the ledger, for good.
    pub(super) async fn look_behind(&mut self, plan: &Plan<'_>) -> Result<bool, Trouble> {
        const LOOK: &str = "SELECT 1 FROM tf_entry WHERE place = ?1 AND id = ?2";
        const OVERWRITE: &str = "INSERT INTO tf_meta (name, value) VALUES ('settled', '1') \
            ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1";
        let mut session = Session::open(&self.options).await?;
        let first = plan.placed().next().and_then(|placed| {
            let (position, entry, _) = placed.entries().next()?;
            Some((rows::place(placed.partition, position), entry.id))
        });
        let Some((place, id)) = first else { return Ok(false) };
        let mut transaction = session.connection.begin_with("BEGIN IMMEDIATE").await?;
        let look = sqlx::query(LOOK).bind(place).bind(id.as_uuid().as_bytes().to_vec());
        let landed = look.fetch_optional(&mut *transaction).await?.is_some();
        sqlx::query(OVERWRITE).execute(&mut *transaction).await?;
        transaction.commit().await?;
        self.session = Some(session);
        Ok(landed)
    }
}

impl Session {
    async fn open(options: &SqliteConnectOptions) -> Result<Self, Trouble> {
        const LAST: &str = "SELECT coalesce((SELECT max(id) FROM tf_account), 0), \
            coalesce((SELECT max(id) FROM tf_stream), 0)";
        let mut connection = options.connect().await?;
        let row = sqlx::query(LAST).fetch_one(&mut connection).await?;
        let last = LastIds { account: row.try_get(0)?, stream: row.try_get(1)? };
        Ok(Self { connection, known: Known::default(), last })
    }

    async fn close(self) {
        if let Err(error) = self.connection.close().await {
            tracing::warn!(%error, "the writer's connection did not close by itself");
        }
    }
}
