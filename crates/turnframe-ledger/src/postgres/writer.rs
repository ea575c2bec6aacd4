//! The writer: one batch, one statement, one commit.
//!
//! What the writer remembers (interned ids, ends of streams) is true as long as nobody else writes to its partitions,
//! and that is what the epoch of each partition proves, in the statement that writes. Keys are not looked up before a
//! batch that has nothing against it: the unique index looks anyway, and where it objects the batch is judged again
//! with everything read afresh.
//!
//! Where the database says that the statement failed, nothing was written: `Unavailable`. Where its answer does not
//! come, or comes with the end of the session, the statement may have been committed, or may still be running. The
//! writer then reconnects, raises the epochs of its partitions, which waits for a statement that runs and fences
//! one that has not begun, and looks for what it wrote. Only where that fails too is the answer `OutcomeUnknown`. No
//! further batch is written before the epochs are raised: what was decided after a look at the ledger never meets
//! a statement that lands late.
//!
//! After any error the connection is closed, and with it everything that the writer remembers is dropped. No answer
//! is waited for without end: a network may lose one and never say so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;

use super::session::{Care, Ended, Session, answered, withdraw};
use super::tenure::{Epochs, Tenure};
use crate::admission::{Admission, Answers, NewHeads};
use crate::append::{Append, AppendError};
use crate::stored::known::Known;
use crate::stored::recent::Recent;
use crate::stored::rows::Trouble;
use crate::stored::{Counters, finish};
use crate::stream::{PartitionId, PartitionSet, Position};

/// How much longer than the server's own limit an answer is waited for.
const ANSWER_GRACE: Duration = Duration::from_secs(5);

/// Writes batches, one after another.
#[derive(Debug)]
pub(super) struct Writer {
    options: PgConnectOptions,
    /// How long an answer is waited for.
    pub(super) patience: Duration,
    tenure: Arc<Tenure>,
    is_closed: bool,
    /// The epochs of a statement that may be running yet.
    pub(super) unsettled: Option<Epochs>,
    /// Absent at first, after an error, and while a batch is under way: whatever interrupts a batch leaves
    /// the next one to start afresh.
    pub(super) session: Option<Session>,
}

impl Writer {
    /// A writer whose statements the server gives up after a time, as the options tell it.
    pub(super) fn new(options: PgConnectOptions, limit: Duration, tenure: Arc<Tenure>) -> Self {
        let patience = limit + ANSWER_GRACE;
        Self { options, patience, tenure, is_closed: false, unsettled: None, session: None }
    }

    /// Writes nothing any more.
    pub(super) async fn close(&mut self) {
        self.is_closed = true;
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
            Ok((session, _)) => session,
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
        let (answers, heads) = match attempt {
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
        };
        for answer in &answers {
            if let Err(AppendError::Fenced { partition }) = answer {
                self.tenure.fenced(*partition, epochs.of(*partition));
            }
        }
        (answers, heads)
    }

    /// The session, new where there is none, once nothing of an earlier one can land any more: with the partitions
    /// of which that had to be seen to, and that were ours all the while.
    async fn session(&mut self) -> Result<(Session, PartitionSet), Trouble> {
        if self.is_closed {
            return Err(Trouble::new("the ledger is closed"));
        }
        let mut session = match self.session.take() {
            Some(session) => session,
            None => answered(self.patience, Session::open(&self.options, self.patience)).await?,
        };
        let Some(epochs) = &self.unsettled else { return Ok((session, PartitionSet::NONE)) };
        let raised = session.raise(epochs, &self.tenure).await?;
        self.unsettled = None;
        Ok((session, raised))
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
            Ok(None) => (admission.withdraw(&trouble.unavailable()), Vec::new()),
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
        let (mut session, ours) = self.session().await?;
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
        // Partitions that only refused took no position; whether they were ours is for us to say.
        let refused = admission.demand().into_iter();
        let refused = refused.filter(|(id, count)| *count == 0 && ours.contains(*id));
        granted.extend(refused.map(|(partition, _)| (partition, Position::START)));
        Ok(Some(granted))
    }
}
