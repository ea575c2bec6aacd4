//! What has to hold before the first append: SQLite's own version, the layout, and the ownership of the
//! partitions.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Row, SqlSafeStr, SqliteConnection};

use super::OpenError;
use crate::stream::{PARTITION_HASH, PartitionId, Position};

/// Older versions can corrupt a WAL that several connections reset at once.
const SQLITE_VERSION_MIN: (u32, u32, u32) = (3, 51, 3);

const FORMAT: &str = "1";

/// A partition as its owner finds it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Claim {
    pub(super) partition: PartitionId,
    pub(super) epoch: i64,
    pub(super) head: Position,
}

/// Refuses a SQLite that is too old.
pub(super) async fn check_version(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let row = sqlx::query("SELECT sqlite_version()").fetch_one(connection).await?;
    let found: String = row.try_get(0)?;
    if version(&found) < SQLITE_VERSION_MIN { Err(OpenError::TooOld { found }) } else { Ok(()) }
}

fn version(text: &str) -> (u32, u32, u32) {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap_or_default());
    let mut next = || numbers.next().unwrap_or_default();
    (next(), next(), next())
}

/// Brings the layout up to date. Each migration is a transaction, so a crash leaves none half done.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    let ledger = include_str!("../../../../migrations/sqlite/0001_ledger.sql").into_sql_str();
    let effects = include_str!("../../../../migrations/sqlite/0002_effects.sql").into_sql_str();
    let cursor = include_str!("../../../../migrations/sqlite/0003_cursor.sql").into_sql_str();
    let backlog = include_str!("../../../../migrations/sqlite/0004_backlog.sql").into_sql_str();
    let mut migrator = Migrator::with_migrations(vec![
        Migration::new(1, "ledger".into(), MigrationType::Simple, ledger, false),
        Migration::new(2, "effects".into(), MigrationType::Simple, effects, false),
        Migration::new(3, "cursor".into(), MigrationType::Simple, cursor, false),
        Migration::new(4, "backlog".into(), MigrationType::Simple, backlog, false),
    ]);
    migrator.dangerous_set_table_name("tf_migration");
    migrator.run_direct(None, connection, false).await?;
    for (name, expected) in [("format", FORMAT), ("partition_hash", PARTITION_HASH)] {
        keep(connection, name, expected).await?;
    }
    Ok(())
}

/// Writes a fact about the ledger at its creation, and refuses a ledger where it is another.
async fn keep(
    connection: &mut SqliteConnection,
    name: &'static str,
    expected: &'static str,
) -> Result<(), OpenError> {
    sqlx::query("INSERT INTO tf_meta (name, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
        .bind(name)
        .bind(expected)
        .execute(&mut *connection)
        .await?;
    let row = sqlx::query("SELECT value FROM tf_meta WHERE name = ?1").bind(name);
    let found: String = row.fetch_one(connection).await?.try_get(0)?;
    if found == expected { Ok(()) } else { Err(OpenError::Foreign { name, found, expected }) }
}

/// Takes all partitions over: a writer that still believes to own one is fenced from here on.
pub(super) async fn claim(connection: &mut SqliteConnection) -> Result<Vec<Claim>, OpenError> {
    let claimed =
        "UPDATE tf_partition SET epoch = epoch + 1 RETURNING id, epoch, next_position - 1";
    let mut claims = Vec::new();
    for row in sqlx::query(claimed).fetch_all(connection).await? {
        let (number, head): (u16, i64) = (row.try_get(0)?, row.try_get(2)?);
        let partition = PartitionId::new(number).ok_or_else(|| OpenError::Foreign {
            name: "partition",
            found: number.to_string(),
            expected: "0 to 63",
        })?;
        let head = Position(head.unsigned_abs());
        claims.push(Claim { partition, epoch: row.try_get(1)?, head });
    }
    Ok(claims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sqlite_that_can_corrupt_a_wal_is_too_old() {
        for old in ["3.51.2", "3.7.17", "2.99.99", "3", ""] {
            assert!(version(old) < SQLITE_VERSION_MIN, "{old:?}");
        }
        for new in ["3.51.3", "3.51.10", "3.54.1", "4.0"] {
            assert!(version(new) >= SQLITE_VERSION_MIN, "{new:?}");
        }
    }
}
