//! The keeper of the lease: takes partitions for this process, keeps them, shares them, gives them back.
//!
//! A process holds its partitions as long as it renews its lease, by the database's clock. It runs round by
//! round: renew; see what is still ours; give up what is more than a fair share, once nobody here acts for it
//! any more; take what is free. A partition whose owner let its lease run out is free. Taking one raises its epoch,
//! which fences whatever its last owner still sends.
//!
//! Between a renewal and a taking one of the two comes first, by the lock on the row of the process: a lease that is
//! being renewed is not taken to be over, and one that had ended is not renewed but begun anew, with nothing owned.
//!
//! A round that fails changes nothing: the lease runs on until it runs out, here a little before it does
//! in the database. A crash leaves a lease to run out; a restart at the same address does not wait for it.
//!
//! No statement here waits for an append: a partition that is locked is left for the next round.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, PgConnection, Row};
use tokio::sync::{Notify, oneshot, watch};
use tokio::time::Instant;

use super::session::answered;
use super::{NodeOptions, Shared};
use crate::stored::rows::Trouble;
use crate::stream::{PARTITIONS, PartitionId, PartitionSet, Position};

/// How many rounds a lease outlives.
const ROUNDS_PER_LEASE: u32 = 4;

/// The longest that a handover may take, as a part of the lease: nothing is renewed meanwhile.
const HANDOVERS_PER_LEASE: u32 = 2;

/// `greatest`, because a statement whose connection was given up may still come through, after a later one.
pub(super) const RENEW: &str = "UPDATE tf_node \
    SET lease_until = greatest(lease_until, clock_timestamp() + $2 * interval '1 microsecond') \
    WHERE id = $1 AND lease_until > clock_timestamp()";

pub(super) const BEGIN: &str = "INSERT INTO tf_node AS n (id, address, lease_until) \
    VALUES ($1, $3, clock_timestamp() + $2 * interval '1 microsecond') \
    ON CONFLICT (id) DO UPDATE SET lease_until = greatest(n.lease_until, excluded.lease_until)";

/// How many are alive, and how many of them come before this one.
pub(super) const ALIVE: &str = "SELECT count(*), count(*) FILTER (WHERE id < $1) FROM tf_node \
    WHERE lease_until > clock_timestamp() OR id = $1";

pub(super) const MINE: &str = "SELECT id FROM tf_partition WHERE owner = $1";

/// What was taken since this statement began to look has another epoch, and is left alone.
pub(super) const TAKE: &str = "WITH gone AS MATERIALIZED (\
        SELECT id FROM tf_node WHERE id <> $1 AND lease_until <= clock_timestamp() \
        FOR UPDATE SKIP LOCKED\
    ), seen AS MATERIALIZED (\
        SELECT p.id, p.epoch FROM tf_partition p \
        WHERE p.id <> ALL ($3) AND (p.owner = $1 OR p.owner IN (SELECT id FROM gone) \
            OR NOT EXISTS (SELECT FROM tf_node n WHERE n.id = p.owner))\
    ), free AS MATERIALIZED (\
        SELECT p.id FROM seen s JOIN tf_partition p ON p.id = s.id AND p.epoch = s.epoch \
        ORDER BY p.owner IS DISTINCT FROM $1, p.id LIMIT $2 FOR UPDATE OF p SKIP LOCKED\
    ) UPDATE tf_partition p SET owner = $1, epoch = p.epoch + 1 FROM free WHERE p.id = free.id \
    RETURNING p.id, p.epoch, p.next_position - 1";

pub(super) const GIVE_UP: &str = "WITH given AS MATERIALIZED (\
        SELECT p.id FROM tf_partition p WHERE p.owner = $1 AND p.id = ANY ($2) \
        FOR UPDATE OF p SKIP LOCKED\
    ) UPDATE tf_partition p SET owner = NULL FROM given WHERE p.id = given.id";

/// Keeps the lease of one process.
#[derive(Debug)]
pub(super) struct Keeper {
    id: Vec<u8>,
    node: NodeOptions,
    options: PgConnectOptions,
    connection: Option<PgConnection>,
    shared: Arc<Shared>,
    /// Somebody was fenced: look at once.
    nudge: Arc<Notify>,
    /// When the lease ends.
    end: watch::Sender<Instant>,
}

impl Keeper {
    pub(super) fn new(
        node: &NodeOptions,
        options: PgConnectOptions,
        connection: PgConnection,
        shared: Arc<Shared>,
        nudge: Arc<Notify>,
    ) -> Self {
        Self {
            id: node.id.as_bytes().to_vec(),
            node: node.clone(),
            options,
            connection: Some(connection),
            shared,
            nudge,
            end: watch::Sender::new(Instant::now()),
        }
    }

    /// Runs until it is told to stop; the lease then runs out, unless the keeper is asked to [`Self::resign`].
    pub(super) async fn run(mut self, mut stop: oneshot::Receiver<()>) -> Self {
        let pause = self.node.lease / ROUNDS_PER_LEASE;
        loop {
            if !self.shared.ownership.lasts() {
                // Whoever acts here stops; the next round says what is left.
                self.shared.ownership.vacate(PartitionSet::ALL);
                self.shared.ownership.hold(PartitionSet::NONE);
            }
            let lapse = lapse(self.end.subscribe(), self.node.lease);
            let nudge = Arc::clone(&self.nudge);
            let turn = async {
                tokio::select! {
                    // A nudge that comes while a round runs is kept.
                    () = nudge.notified() => {}
                    () = tokio::time::sleep(pause) => {}
                    _ = &mut stop => return Ok(false),
                }
                self.round().await.map(|()| true)
            };
            let turned = tokio::select! {
                turned = turn => turned,
                () = lapse => Err(Trouble::new("the database does not answer")),
            };
            match turned {
                Ok(true) => {}
                Ok(false) => return self,
                Err(trouble) => {
                    tracing::warn!(%trouble, "the lease was not renewed");
                    self.connection = None;
                }
            }
        }
    }

    /// One round. Another process that started or ended is noticed in the round after.
    pub(super) async fn round(&mut self) -> Result<(), Trouble> {
        let mut connection = self.connect().await?;
        let sent = Instant::now();
        let share = self.renew(&mut connection).await?;
        let (mine, unanswered) = self.look(&mut connection).await?;
        self.shared.ownership.hold(mine);
        self.shared.ownership.renewed(sent, self.node.lease);
        self.end.send_replace(sent + self.node.lease);
        let surplus: PartitionSet = mine.iter().skip(share).collect();
        let taken = if surplus.is_empty() {
            self.take(&mut connection, share - mine.len()).await?
        } else {
            let patience = self.node.handover.min(self.node.lease / HANDOVERS_PER_LEASE);
            self.shared.ownership.hand_over(surplus, patience).await;
            PartitionSet::NONE
        };
        if !taken.is_empty() {
            self.shared.ownership.hold(mine.union(taken));
        }
        let left = surplus.union(unanswered.without(taken));
        if !left.is_empty() {
            self.give_up(&mut connection, left).await?;
        }
        self.connection = Some(connection);
        Ok(())
    }

    /// Ends the lease: what is owned is free at once.
    pub(super) async fn resign(mut self) -> Result<(), sqlx::Error> {
        let patience = self.node.lease;
        let resigned = async {
            let mut connection = self.connect().await?;
            let resign = sqlx::query("DELETE FROM tf_node WHERE id = $1").bind(&self.id);
            resign.execute(&mut connection).await?;
            connection.close().await
        };
        answered(patience, resigned).await
    }

    async fn connect(&mut self) -> Result<PgConnection, sqlx::Error> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.options.connect().await,
        }
    }

    /// Renews the lease, and says how many partitions are this process's share.
    async fn renew(&self, connection: &mut PgConnection) -> Result<usize, Trouble> {
        let lease = i64::try_from(self.node.lease.as_micros()).unwrap_or(i64::MAX);
        let renew = sqlx::query(RENEW).bind(&self.id).bind(lease);
        if renew.execute(&mut *connection).await?.rows_affected() == 0 {
            // Others may be taking what was ours: none of it is, until it is taken again.
            PartitionId::all().for_each(|partition| self.shared.tenure.lose(partition));
            let begin = sqlx::query(BEGIN).bind(&self.id).bind(lease).bind(&self.node.address);
            begin.execute(&mut *connection).await?;
        }
        let row = sqlx::query(ALIVE).bind(&self.id).fetch_one(connection).await?;
        let count = |column| {
            let count = row.try_get::<i64, _>(column)?;
            Ok::<_, sqlx::Error>(usize::try_from(count).unwrap_or(usize::MAX))
        };
        Ok(share(count(0)?, count(1)?))
    }

    /// What this process owns, and what it owns without an epoch to write under: the answer to the taking was lost,
    /// or somebody else raised the epoch. What it believed to own and does not is lost.
    async fn look(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(PartitionSet, PartitionSet), Trouble> {
        let rows = sqlx::query(MINE).bind(&self.id).fetch_all(connection).await?;
        let mine: Result<PartitionSet, sqlx::Error> = rows
            .iter()
            .filter_map(|row| row.try_get::<i16, _>(0).map(partition).transpose())
            .collect();
        let (mine, believed) = (mine?, self.shared.tenure.owned());
        believed.without(mine).iter().for_each(|lost| self.shared.tenure.lose(lost));
        Ok((mine.intersection(believed), mine.without(believed)))
    }

    /// Takes up to `count` partitions that nobody owns, those first that are this process's already.
    async fn take(
        &self,
        connection: &mut PgConnection,
        count: usize,
    ) -> Result<PartitionSet, Trouble> {
        if count == 0 {
            return Ok(PartitionSet::NONE);
        }
        let held = numbers(self.shared.tenure.owned());
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let take = sqlx::query(TAKE).bind(&self.id).bind(count).bind(held);
        let mut taken = PartitionSet::NONE;
        let mut ends = Vec::new();
        for row in take.fetch_all(connection).await? {
            let (number, epoch): (i16, i64) = (row.try_get(0)?, row.try_get(1)?);
            let Some(partition) = partition(number) else { continue };
            taken.insert(partition);
            self.shared.tenure.take(partition, epoch);
            ends.push((partition, Position(row.try_get::<i64, _>(2)?.unsigned_abs())));
        }
        self.shared.recent.forget(taken);
        for (partition, end) in ends {
            self.shared.hints.announce(partition, end);
        }
        if !taken.is_empty() {
            tracing::info!(partitions = taken.len(), "partitions were taken");
        }
        Ok(taken)
    }

    async fn give_up(
        &self,
        connection: &mut PgConnection,
        partitions: PartitionSet,
    ) -> Result<(), Trouble> {
        partitions.iter().for_each(|partition| self.shared.tenure.lose(partition));
        let give_up = sqlx::query(GIVE_UP).bind(&self.id).bind(numbers(partitions));
        let given = give_up.execute(connection).await?.rows_affected();
        tracing::info!(partitions = given, "partitions were given up");
        Ok(())
    }
}

/// Returns when the lease has ended, however often it is renewed meanwhile. Without a lease a round may take as long
/// as one.
async fn lapse(mut ends: watch::Receiver<Instant>, lease: Duration) {
    let now = Instant::now();
    let mut end = *ends.borrow_and_update();
    if end <= now {
        end = now + lease;
    }
    while let Ok(Ok(())) = tokio::time::timeout_at(end, ends.changed()).await {
        end = *ends.borrow_and_update();
    }
}

/// The share of a process of so many, by its place among them: no two shares differ by more than one.
fn share(live: usize, before: usize) -> usize {
    let (all, live) = (usize::from(PARTITIONS), live.max(1));
    all / live + usize::from(before < all % live)
}

fn partition(number: i16) -> Option<PartitionId> {
    PartitionId::new(number.cast_unsigned())
}

fn numbers(partitions: PartitionSet) -> Vec<i16> {
    partitions.iter().map(|id| id.number().cast_signed()).collect()
}

/// Ends the lease of an earlier process at this address, which cannot be running if this one is, and forgets
/// processes that have been gone for long.
pub(super) async fn succeed(
    connection: &mut PgConnection,
    address: &str,
) -> Result<(), sqlx::Error> {
    const SUCCEED: &str = "DELETE FROM tf_node \
        WHERE address = $1 OR lease_until < clock_timestamp() - interval '1 day'";
    sqlx::query(SUCCEED).bind(address).execute(connection).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_and_leave_nothing_over() {
        for live in 1..=100 {
            let shares: Vec<_> = (0..live).map(|before| share(live, before)).collect();
            assert_eq!(shares.iter().sum::<usize>(), usize::from(PARTITIONS));
            assert!(shares[0] - shares[live - 1] <= 1, "{shares:?}");
        }
    }
}
