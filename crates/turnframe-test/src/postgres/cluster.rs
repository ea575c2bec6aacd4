//! A data directory and the server on it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::USER;
use super::account::Account;
use super::error::PostgresError;
use super::installation::Installation;
use super::process;

/// How the folders of data directories begin; a keeper looks for it too.
const PREFIX: &str = "data-";

/// How many seconds a server gets to start or to stop.
const LIMIT_SECONDS: &str = "60";

/// How much of a server's log is shown when it does not start.
const LOG_LINES: usize = 20;

/// What every server is set to. Durability is left as PostgreSQL has it.
pub(super) const SETTINGS: [(&str, &str); 3] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    // Many tests at once, each with a pool.
    ("max_connections", "400"),
];

/// What no test may touch.
const DURABILITY: [&str; 3] = ["fsync", "synchronous_commit", "full_page_writes"];

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shutdown {
    /// Clients are disconnected, and all is written out.
    Fast,
    /// As if the machine had died: the next start recovers.
    Immediate,
}

/// A data directory and the server on it.
#[derive(Debug, Clone)]
pub(super) struct Cluster {
    account: Account,
    installation: Installation,
    data: PathBuf,
}

/// What a running server says of itself in its directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Postmaster {
    /// The first of its processes.
    pub(super) pid: u32,
    /// Where it listens.
    pub(super) port: u16,
    /// Whether it takes connections.
    pub(super) ready: bool,
}

impl Cluster {
    /// Makes one, in a new folder of `home`. It is not started.
    pub(super) fn create(
        account: Account,
        installation: &Installation,
        home: &Path,
        port: u16,
        settings: &[(&str, &str)],
    ) -> Result<Self, PostgresError> {
        refuse_weaker(settings)?;
        // A new name every time: what a killed process left running may still write under an old one.
        let data = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(home)
            .map_err(PostgresError::io(format!("make a folder in {}", home.display())))?
            .keep();
        account.own(&data)?;
        let cluster = Self { account, installation: installation.clone(), data };
        cluster.initialise()?;
        cluster.configure(port, settings)?;
        Ok(cluster)
    }

    /// The clusters that a folder holds, in whatever state.
    pub(super) fn all(
        account: Account,
        installation: &Installation,
        home: &Path,
    ) -> Result<Vec<Self>, PostgresError> {
        let entries = fs::read_dir(home)
            .map_err(PostgresError::io(format!("read the folder {}", home.display())))?;
        let is_data = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
        };
        let paths = entries.flatten().map(|entry| entry.path()).filter(is_data);
        Ok(paths.map(|data| Self { account, installation: installation.clone(), data }).collect())
    }

    /// Its running server.
    pub(super) fn postmaster(&self) -> Option<Postmaster> {
        let file = fs::read_to_string(self.data.join("postmaster.pid")).ok()?;
        let postmaster = parse(&file)?;
        // The file outlives a power cut, and then its process is gone or another.
        process::runs_in(postmaster.pid, &self.data).then_some(postmaster)
    }

    /// Starts it and waits until it takes connections.
    pub(super) fn start(&self) -> Result<(), PostgresError> {
        self.pg_ctl(&["-l", "server.log", "start"])
    }

    /// Stops it and waits until it has gone.
    pub(super) fn stop(&self, shutdown: Shutdown) -> Result<(), PostgresError> {
        let mode = match shutdown {
            Shutdown::Fast => "fast",
            Shutdown::Immediate => "immediate",
        };
        self.pg_ctl(&["-m", mode, "stop"])
    }

    /// Stops what runs on it and removes it.
    pub(super) fn discard(&self) -> Result<(), PostgresError> {
        if self.postmaster().is_some() {
            self.stop(Shutdown::Immediate)?;
        }
        // Who still writes into it, left behind by a killed process, may keep it from going: the keeper tries again.
        let _ = fs::remove_dir_all(&self.data);
        Ok(())
    }

    /// Freezes all its processes.
    pub(super) fn pause(&self) -> Result<(), PostgresError> {
        process::pause(self.postmaster().ok_or(PostgresError::NotRunning)?.pid)
    }

    /// Lets them go on.
    pub(super) fn resume(&self) -> Result<(), PostgresError> {
        process::resume(self.postmaster().ok_or(PostgresError::NotRunning)?.pid)
    }

    fn initialise(&self) -> Result<(), PostgresError> {
        let mut command = self.command("initdb");
        command.args(["--username", USER, "--auth", "trust", "--encoding", "UTF8"]);
        // The files that it begins with need not outlive a power cut; whatever the server then writes is synced.
        command.args(["--locale", "C", "--no-instructions", "--no-sync"]);
        run(command, String::new)
    }

    fn configure(&self, port: u16, settings: &[(&str, &str)]) -> Result<(), PostgresError> {
        let port = port.to_string();
        // The last word on a setting counts, and a port is not for a test to choose.
        let lines: String = SETTINGS
            .iter()
            .chain(settings)
            .chain([&("port", port.as_str())])
            .map(|(name, value)| format!("{name} = '{}'\n", value.replace('\'', "''")))
            .collect();
        OpenOptions::new()
            .append(true)
            .open(self.data.join("postgresql.conf"))
            .and_then(|mut file| file.write_all(lines.as_bytes()))
            .map_err(PostgresError::io("configure the server"))
    }

    fn pg_ctl(&self, arguments: &[&str]) -> Result<(), PostgresError> {
        let mut command = self.command("pg_ctl");
        command.args(["-w", "-t", LIMIT_SECONDS]).args(arguments);
        run(command, || self.end_of_log())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.account.command(self.installation.program(program), &self.data);
        command.arg("-D").arg(&self.data);
        command
    }

    fn end_of_log(&self) -> String {
        let log = fs::read_to_string(self.data.join("server.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
    }
}

fn refuse_weaker(settings: &[(&str, &str)]) -> Result<(), PostgresError> {
    match settings.iter().find(|(name, _)| DURABILITY.contains(&name.to_lowercase().as_str())) {
        Some((name, _)) => Err(PostgresError::Durability { setting: (*name).to_owned() }),
        None => Ok(()),
    }
}

/// Reads `postmaster.pid`: the process in the first line, the port in the fourth, the state in the eighth.
fn parse(file: &str) -> Option<Postmaster> {
    let lines: Vec<&str> = file.lines().map(str::trim).collect();
    Some(Postmaster {
        pid: lines.first()?.parse().ok()?,
        port: lines.get(3)?.parse().ok()?,
        ready: lines.get(7) == Some(&"ready"),
    })
}

/// Runs a program to its end; when it fails, its output is the error, and what else is known.
fn run(mut command: Command, known: impl FnOnce() -> String) -> Result<(), PostgresError> {
    let shown = format!("{command:?}");
    let output = command.output().map_err(PostgresError::io(format!("run {shown}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let output = format!("{}{}", String::from_utf8_lossy(&said), known());
    Err(PostgresError::Program { command: shown, output })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_own_word_on_itself_is_read() {
        let file = "21085\n/data\n1795994077\n23456\n\n127.0.0.1\n 10018842         8\nready   \n";
        assert_eq!(parse(file), Some(Postmaster { pid: 21_085, port: 23_456, ready: true }));
        let starting = file.replace("ready   ", "starting");
        assert_eq!(parse(&starting).map(|postmaster| postmaster.ready), Some(false));
        assert_eq!(parse("21085\n"), None);
    }

    #[test]
    fn durability_is_not_for_a_test_to_give_up() {
        assert!(refuse_weaker(&[("work_mem", "8MB")]).is_ok());
        assert!(refuse_weaker(&[("work_mem", "8MB"), ("FSYNC", "off")]).is_err());
    }
}
