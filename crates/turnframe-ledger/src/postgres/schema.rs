//! What has to hold before the first append: the server's settings and the layout.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{PgConnection, Row, SqlSafeStr};

use super::OpenError;
use crate::stream::PARTITION_HASH;

const FORMAT: &str = "1";

/// Refuses a database that does not keep text as it is, and says where the server is set to lose what it committed.
pub(super) async fn check_server(connection: &mut PgConnection) -> Result<(), OpenError> {
    let setting = async |connection: &mut PgConnection, name: &'static str| {
        let row =
            sqlx::query("SELECT current_setting($1)").bind(name).fetch_one(connection).await?;
        row.try_get::<String, _>(0)
    };
    let encoding = setting(connection, "server_encoding").await?;
    if encoding != "UTF8" {
        return Err(OpenError::Foreign { name: "encoding", found: encoding, expected: "UTF8" });
    }
    for name in ["fsync", "full_page_writes"] {
        if setting(connection, name).await? == "off" {
            tracing::error!(
                setting = name,
                "the server runs with this setting off: what is committed may be lost with its power"
            );
        }
    }
    Ok(())
}

/// Brings the layout up to date, under the migrator's own lock. Each migration is a transaction, so a crash
/// leaves none half done.
pub(super) async fn migrate(connection: &mut PgConnection) -> Result<(), OpenError> {
    let ledger = include_str!("../../../../migrations/postgres/0001_ledger.sql").into_sql_str();
    let effects = include_str!("../../../../migrations/postgres/0002_effects.sql").into_sql_str();
    let cursor = include_str!("../../../../migrations/postgres/0003_cursor.sql").into_sql_str();
    let backlog = include_str!("../../../../migrations/postgres/0004_backlog.sql").into_sql_str();
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
    connection: &mut PgConnection,
    name: &'static str,
    expected: &'static str,
) -> Result<(), OpenError> {
    sqlx::query("INSERT INTO tf_meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(name)
        .bind(expected)
        .execute(&mut *connection)
        .await?;
    let row = sqlx::query("SELECT value FROM tf_meta WHERE name = $1").bind(name);
    let found: String = row.fetch_one(connection).await?.try_get(0)?;
    if found == expected { Ok(()) } else { Err(OpenError::Foreign { name, found, expected }) }
}
