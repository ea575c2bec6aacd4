//! Why a test could not have its server.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What went wrong between a test and its server.
#[derive(Debug, Error)]
pub(super) enum PostgresError {
    #[error(
        "PostgreSQL is not installed, and this test needs it: no folder with `postgres`, `initdb` and `pg_ctl` among \
         {looked}. Install it (on Debian the package `postgresql`; no server needs to run), or set \
         TURNFRAME_POSTGRES_BIN to the folder of its programs"
    )]
    NotInstalled { looked: String },
    #[error(
        "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor a user `nobody` to run it as"
    )]
    NoAccount,
    #[error("{path} belongs to somebody else: remove it, or set TMPDIR to a folder of your own")]
    Foreign { path: PathBuf },
    #[error("`{setting}` would weaken the durability that these tests are there to prove")]
    Durability { setting: String },
    #[error("`{command}` failed:\n{output}")]
    Program { command: String, output: String },
    #[error("could not {doing}: {source}")]
    Io { doing: String, source: io::Error },
    #[error("could not {doing}: {source}")]
    Sql { doing: String, source: sqlx::Error },
    #[error("the server does not run, so that nothing can be done to it")]
    NotRunning,
    #[error("the processes {pids:?} of the server did not stand still in time")]
    Unsettled { pids: Vec<u32> },
    #[error("the folder {path} was removed again and again while it was being opened")]
    Vanishing { path: PathBuf },
}

impl PostgresError {
    /// Wraps what the operating system said, with what was attempted.
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Io { doing, source }
    }

    /// Wraps what the database said, with what was attempted.
    pub(super) fn sql(doing: impl Into<String>) -> impl FnOnce(sqlx::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Sql { doing, source }
    }
}

/// Fails the test that asked, loudly.
#[track_caller]
#[expect(
    clippy::panic,
    reason = "a test without the server that it needs fails, it is not skipped"
)]
pub(super) fn or_fail<T>(result: Result<T, PostgresError>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}
