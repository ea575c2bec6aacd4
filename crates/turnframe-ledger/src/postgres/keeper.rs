//! The keeper of the lease: takes partitions for this process, keeps them, shares them, gives them back.
//!
//! A process holds its partitions as long as it renews its lease, by the database's clock. It runs round by
//! round: renew; see what is still ours; give up what is more than a fair share, once nobody here acts for it
//! any more; take what is free. A partition whose owner let its lease run out is free. Taking one raises its epoch,
//! which fences whatever its last owner still sends.
//!
//! A round that fails changes nothing: the lease runs on until it runs out, here a little before it does
//! in the database. A crash leaves a lease to run out; a restart at the same address does not wait for it.

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::Shared;
use crate::stored::rows::Trouble;
use crate::stream::{PARTITIONS, PartitionId, PartitionSet, Position};

/// How many rounds a lease outlives.
const ROUNDS_PER_LEASE: u32 = 4;

/// A process as the others see it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) id: Vec<u8>,
    pub(super) address: String,
    pub(super) lease: Duration,
    pub(super) handover: Duration,
}

/// Runs until it is dropped.
pub(super) struct Keeper {
    pub(super) node: Node,
    pub(super) options: PgConnectOptions,
    pub(super) connection: Option<PgConnection>,
    pub(super) shared: Arc<Shared>,
    /// Somebody was fenced: look at once.
    pub(super) nudge: Arc<Notify>,
}

impl Keeper {
    pub(super) async fn run(mut self) {
        loop {
            let pause = self.node.lease / ROUNDS_PER_LEASE;
            // A nudge that comes while a round runs is kept.
            let _ = tokio::time::timeout(pause, self.nudge.notified()).await;
            let limit = self.node.lease;
            match tokio::time::timeout(limit, self.round()).await {
                Ok(Ok(())) => {}
                Ok(Err(trouble)) => {
                    tracing::warn!(%trouble, "the lease was not renewed");
                    self.connection = None;
                }
                Err(_) => {
                    tracing::warn!("the lease was not renewed: the database does not answer");
                    self.connection = None;
                }
            }
            if !self.shared.ownership.lasts() {
                // Whoever acts here stops; the next round says what is left.
                self.shared.ownership.hold(PartitionSet::NONE);
            }
        }
    }

    /// One round. Another process that started or ended is noticed in the round after.
    pub(super) async fn round(&mut self) -> Result<(), Trouble> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.options.connect().await?,
        };
        let sent = Instant::now();
        let live = self.renew(&mut connection).await?;
        let mine = self.still_mine(&mut connection).await?;
        self.shared.ownership.renewed(sent, self.node.lease);
        let share = usize::from(PARTITIONS).div_ceil(live.max(1));
        let surplus: PartitionSet = mine.iter().skip(share).collect();
        if surplus.is_empty() {
            let taken = self.take(&mut connection, share - mine.len()).await?;
            self.shared.ownership.hold(mine.union(taken));
        } else {
            self.shared.ownership.hold(mine);
            self.shared.ownership.hand_over(surplus, self.node.handover).await;
            self.give_up(&mut connection, surplus).await?;
        }
        self.connection = Some(connection);
        Ok(())
    }

    /// Renews the lease, and counts who is alive.
    async fn renew(&self, connection: &mut PgConnection) -> Result<usize, Trouble> {
        const RENEW: &str = "INSERT INTO tf_node AS n (id, address, lease_until) \
            VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond') \
            ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until";
        const ALIVE: &str =
            "SELECT count(*) FROM tf_node WHERE lease_until > clock_timestamp() OR id = $1";
        let lease = i64::try_from(self.node.lease.as_micros()).unwrap_or(i64::MAX);
        let renew = sqlx::query(RENEW).bind(&self.node.id).bind(&self.node.address).bind(lease);
        renew.execute(&mut *connection).await?;
        let row = sqlx::query(ALIVE).bind(&self.node.id).fetch_one(connection).await?;
        Ok(usize::try_from(row.try_get::<i64, _>(0)?).unwrap_or(usize::MAX))
    }

    /// What this process owns; what it believed to own and does not is lost.
    async fn still_mine(&self, connection: &mut PgConnection) -> Result<PartitionSet, Trouble> {
        let query = sqlx::query("SELECT id FROM tf_partition WHERE owner = $1").bind(&self.node.id);
        let rows = query.fetch_all(connection).await?;
        let mine: Result<PartitionSet, sqlx::Error> = rows
            .iter()
            .filter_map(|row| row.try_get::<i16, _>(0).map(partition).transpose())
            .collect();
        let (mine, believed) = (mine?, self.shared.tenure.owned());
        believed.without(mine).iter().for_each(|lost| self.shared.tenure.lose(lost));
        // Of what is ours without an epoch to write under, the answer to the taking was lost.
        Ok(mine.intersection(believed))
    }

    /// Takes up to `count` partitions that nobody owns, those first whose taking was not answered.
    async fn take(
        &self,
        connection: &mut PgConnection,
        count: usize,
    ) -> Result<PartitionSet, Trouble> {
        const TAKE: &str = "WITH free AS MATERIALIZED (\
                SELECT p.id FROM tf_partition p \
                WHERE p.id <> ALL ($3) AND NOT EXISTS (SELECT FROM tf_node n \
                    WHERE n.id = p.owner AND n.id <> $1 AND n.lease_until > clock_timestamp()) \
                ORDER BY p.id LIMIT $2 FOR UPDATE OF p SKIP LOCKED\
            ) UPDATE tf_partition p SET owner = $1, epoch = p.epoch + 1 FROM free WHERE p.id = free.id \
            RETURNING p.id, p.epoch, p.next_position - 1";
        if count == 0 {
            return Ok(PartitionSet::NONE);
        }
        let held: Vec<_> =
            self.shared.tenure.owned().iter().map(|id| id.number().cast_signed()).collect();
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let take = sqlx::query(TAKE).bind(&self.node.id).bind(count).bind(held);
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
        let numbers: Vec<_> = partitions.iter().map(|id| id.number().cast_signed()).collect();
        sqlx::query("UPDATE tf_partition SET owner = NULL WHERE owner = $1 AND id = ANY ($2)")
            .bind(&self.node.id)
            .bind(numbers)
            .execute(connection)
            .await?;
        tracing::info!(partitions = partitions.len(), "partitions were given up");
        Ok(())
    }
}

fn partition(number: i16) -> Option<PartitionId> {
    PartitionId::new(number.cast_unsigned())
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

/// Ends this process's own lease: what it owned is free at once.
pub(super) async fn resign(connection: &mut PgConnection, id: &[u8]) -> Result<(), sqlx::Error> {
    sqlx::query("DELETE FROM tf_node WHERE id = $1").bind(id).execute(connection).await?;
    Ok(())
}
