//! The process that ends a server when its users are gone, however they went.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::account::Account;
use super::error::PostgresError;
use super::installation::Installation;

/// A shell is on every machine; a program of our own would have to be built and found first.
const SCRIPT: &str = include_str!("keeper.sh");

/// The keeper of a private server; it ends the server when this is dropped, or dies.
#[derive(Debug)]
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts one for the servers in a folder.
    pub(super) fn of_private(
        account: Account,
        installation: &Installation,
        home: &Path,
    ) -> Result<Self, PostgresError> {
        let mut command = command(account, installation, home, "private", Duration::ZERO);
        command.stdin(Stdio::piped()).spawn().map(Self).map_err(PostgresError::io("start a keeper"))
    }

    /// Ends the server and waits until its folder is gone.
    pub(super) fn end(&mut self) -> io::Result<()> {
        drop(self.0.stdin.take());
        self.0.wait().map(drop)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // A keeper that was ended by hand leaves nothing to wait for.
        let _ = self.end();
    }
}

/// Starts a keeper of a shared server, which outlives this process. A second one of the same folder ends at once.
pub(super) fn keep_shared(
    account: Account,
    installation: &Installation,
    home: &Path,
    linger: Duration,
) -> Result<(), PostgresError> {
    require_flock()?;
    let mut command = command(account, installation, home, "shared", linger);
    command.stdin(Stdio::null()).spawn().map(drop).map_err(PostgresError::io("start a keeper"))
}

fn command(
    account: Account,
    installation: &Installation,
    home: &Path,
    mode: &str,
    linger: Duration,
) -> Command {
    // Its folder is not the server's: it removes that.
    let mut command = account.command("sh", Path::new("/"));
    command.args(["-c", SCRIPT, "keeper", mode]);
    command.arg(home).arg(installation.program("pg_ctl")).arg(linger.as_secs().to_string());
    // Output that stays open would keep whoever reads the tests' output waiting; a group of its own outlives theirs.
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command
}

fn require_flock() -> Result<(), PostgresError> {
    let doing = "run flock, which ends shared servers (on Debian the package `util-linux`)";
    Command::new("flock").arg("--version").output().map(drop).map_err(PostgresError::io(doing))
}
