//! Processes as `/proc` shows them, and signals to them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::error::PostgresError;

/// How long processes get to stand still: one that waits for the disk does so only afterwards.
const STILL_LIMIT: Duration = Duration::from_secs(30);

/// How long to wait before looking again.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// A process, at the moment it was looked at.
struct Process {
    state: char,
    parent: u32,
}

impl Process {
    /// The process of this id; none when it is gone.
    fn look(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is a name in brackets that may itself hold spaces and brackets.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        Some(Self { state: fields.next()?.chars().next()?, parent: fields.next()?.parse().ok()? })
    }

    /// Stopped, or dead and not yet waited for.
    fn is_still(&self) -> bool {
        matches!(self.state, 'T' | 't' | 'Z' | 'X')
    }
}

/// Whether a process runs in this folder: a number alone may meanwhile be somebody else's.
pub(super) fn runs_in(pid: u32, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder)
}

/// Stops a process and its children where they are; returns once each stands still.
pub(super) fn pause(parent: u32) -> Result<(), PostgresError> {
    // The parent first: after that it has no new children.
    signal("STOP", &[parent])?;
    wait_until_still(&[parent])?;
    let children = children(parent);
    signal("STOP", &children)?;
    wait_until_still(&children)
}

/// Lets them go on.
pub(super) fn resume(parent: u32) -> Result<(), PostgresError> {
    signal("CONT", &children(parent))?;
    signal("CONT", &[parent])
}

fn children(parent: u32) -> Vec<u32> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| Process::look(*pid).is_some_and(|process| process.parent == parent))
        .collect()
}

/// Sends a signal. Who has gone already needs none, so a refusal is no error.
fn signal(name: &str, pids: &[u32]) -> Result<(), PostgresError> {
    if pids.is_empty() {
        return Ok(());
    }
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$@\" 2>/dev/null", "sh", name]);
    command.args(pids.iter().map(u32::to_string));
    command.status().map(drop).map_err(PostgresError::io("run sh"))
}

fn wait_until_still(pids: &[u32]) -> Result<(), PostgresError> {
    let deadline = Instant::now() + STILL_LIMIT;
    loop {
        let moves = |pid: &u32| Process::look(*pid).is_some_and(|process| !process.is_still());
        let moving: Vec<u32> = pids.iter().copied().filter(moves).collect();
        match moving {
            none if none.is_empty() => return Ok(()),
            pids if Instant::now() > deadline => return Err(PostgresError::Unsettled { pids }),
            _ => thread::park_timeout(LOOK_INTERVAL),
        }
    }
}
