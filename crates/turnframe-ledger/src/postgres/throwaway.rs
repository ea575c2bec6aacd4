//! Databases for a bench or an experiment: made, used and dropped beside those that somebody keeps.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use turnframe_core::id::AccountId;

use super::OpenError;

/// A database of a name of its own on a server.
#[derive(Debug)]
pub struct Throwaway {
    server: PgConnectOptions,
    name: AccountId,
}

impl Throwaway {
    /// Makes a database on the server of a URL, whose user must be allowed to. The name has letters, digits,
    /// `-`, `_` and `.` only.
    ///
    /// # Errors
    /// [`OpenError`] where there is such a database already, or it cannot be made.
    pub async fn create(url: &str, name: AccountId) -> Result<Self, OpenError> {
        let server: PgConnectOptions = url.parse().map_err(OpenError::Address)?;
        let throwaway = Self { server, name };
        throwaway.execute("CREATE DATABASE", "ENCODING 'UTF8' TEMPLATE template0").await?;
        Ok(throwaway)
    }

    /// The database's URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.server.clone().database(self.name.as_str()).to_url_lossy().to_string()
    }

    /// Drops the database, with whoever is connected to it.
    ///
    /// # Errors
    /// [`OpenError`] where it is still there.
    pub async fn remove(self) -> Result<(), OpenError> {
        self.execute("DROP DATABASE", "WITH (FORCE)").await
    }

    async fn execute(&self, before: &str, after: &str) -> Result<(), OpenError> {
        // An id has no character that ends a quoted name.
        let statement = AssertSqlSafe(format!("{before} \"{}\" {after}", self.name));
        let mut connection = self.server.connect().await?;
        sqlx::query(statement).execute(&mut connection).await?;
        connection.close().await?;
        Ok(())
    }
}
