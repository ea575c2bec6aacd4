//! A server that runs.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};

use super::USER;
use super::database::{Database, Lifetime};
use super::error::{PostgresError, or_fail};
use super::private::PrivateServer;

/// The database that every server has, and that nothing is written to here.
const MAINTENANCE: &str = "postgres";

/// How long one session may take to end.
const TERMINATE_LIMIT_MILLIS: i64 = 10_000;

/// A PostgreSQL that runs on a port of 127.0.0.1.
///
/// # Panics
/// Whatever is asked of it fails the test when it cannot be had.
#[derive(Debug, Clone)]
pub struct Server {
    port: u16,
    lifetime: Lifetime,
}

impl Server {
    pub(super) fn new(port: u16, lifetime: Lifetime) -> Self {
        Self { port, lifetime }
    }

    /// A server of one test, with settings of its own, such as `("max_connections", "20")`.
    pub async fn private(settings: &[(&str, &str)]) -> PrivateServer {
        PrivateServer::start_new(settings).await
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A new, empty database that nobody else uses. On a shared server it is dropped with what is returned.
    pub async fn database(&self) -> Database {
        or_fail(self.create_database().await)
    }

    async fn create_database(&self) -> Result<Database, PostgresError> {
        let mut connection = connect(self.port, MAINTENANCE).await?;
        let failed = || PostgresError::sql("create a database");
        // A number of the server is taken once, whoever asks, from whatever process.
        let number: String = sqlx::query_scalar("SELECT pg_current_xact_id()::text")
            .fetch_one(&mut connection)
            .await
            .map_err(failed())?;
        let name = format!("turnframe_{number}");
        // Nobody can be connected to template0, so that no creation waits for another one.
        let create = format!("CREATE DATABASE {name} TEMPLATE template0");
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut connection).await.map_err(failed())?;
        connection.close().await.map_err(failed())?;
        Ok(Database::new(self.port, name, self.lifetime))
    }
}

/// Drops a database, whoever uses it.
pub(super) async fn drop_database(port: u16, name: &str) -> Result<(), PostgresError> {
    let failed = || PostgresError::sql("drop a database");
    let mut connection = connect(port, MAINTENANCE).await?;
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut connection).await.map_err(failed())?;
    connection.close().await.map_err(failed())
}

/// Ends the sessions of clients in one database or in all, and waits for each; returns how many there were.
///
/// Sessions in [`MAINTENANCE`] are those of this module.
pub(super) async fn terminate(port: u16, database: Option<&str>) -> Result<u64, PostgresError> {
    let failed = || PostgresError::sql("end the sessions of clients");
    let mut connection = connect(port, MAINTENANCE).await?;
    let ended: i64 = sqlx::query_scalar(
        "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, $2)) FROM pg_stat_activity \
         WHERE backend_type = 'client backend' AND datname <> current_database() \
         AND datname = coalesce($1, datname)",
    )
    .bind(database)
    .bind(TERMINATE_LIMIT_MILLIS)
    .fetch_one(&mut connection)
    .await
    .map_err(failed())?;
    connection.close().await.map_err(failed())?;
    Ok(ended.unsigned_abs())
}

/// Ends the sessions of a database and drops all schemas that tests have in it.
pub(super) async fn empty(port: u16, name: &str) -> Result<(), PostgresError> {
    const EMPTY: &str =
        "DROP SCHEMA IF EXISTS tf_views CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public";
    terminate(port, Some(name)).await?;
    let failed = || PostgresError::sql("empty a database");
    let mut connection = connect(port, name).await?;
    sqlx::raw_sql(EMPTY).execute(&mut connection).await.map_err(failed())?;
    connection.close().await.map_err(failed())
}

async fn connect(port: u16, database: &str) -> Result<PgConnection, PostgresError> {
    let options = PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .username(USER)
        .database(database);
    options.connect().await.map_err(PostgresError::sql(format!("connect to port {port}")))
}
