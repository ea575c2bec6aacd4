//! Whom a server runs as: PostgreSQL refuses root.

use std::env;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::error::PostgresError;

/// Whom root runs a server as: the first that exists.
const FOR_ROOT: [&str; 2] = ["postgres", "nobody"];

/// The user that a server and its keeper run as, and that its folder belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    /// Who runs the tests.
    runner: u32,
    /// User and group that root hands over to; nobody else needs to.
    other: Option<(u32, u32)>,
}

impl Account {
    /// The runner of the tests, or somebody in root's place.
    pub(super) fn find() -> Result<Self, PostgresError> {
        // Whoever makes a file owns it: that says who runs this, without a call that is not safe.
        let runner = tempfile::tempfile()
            .and_then(|file| file.metadata())
            .map_err(PostgresError::io("make a temporary file"))?
            .uid();
        let other = match runner {
            0 => Some(FOR_ROOT.into_iter().find_map(of_name).ok_or(PostgresError::NoAccount)?),
            _ => None,
        };
        Ok(Self { runner, other })
    }

    /// The user id of whoever runs the tests.
    pub(super) fn runner(&self) -> u32 {
        self.runner
    }

    /// Whether a file's owner is the runner or this account.
    pub(super) fn knows(&self, owner: u32) -> bool {
        owner == self.runner || self.other.is_some_and(|(user, _)| owner == user)
    }

    /// Makes a file the account's; may be repeated.
    pub(super) fn own(&self, path: &Path) -> Result<(), PostgresError> {
        let Some((user, group)) = self.other else { return Ok(()) };
        chown(path, Some(user), Some(group))
            .map_err(PostgresError::io(format!("hand {} over", path.display())))
    }

    /// A program to run as the account, in a folder, untouched by settings meant for other servers.
    pub(super) fn command(&self, program: impl AsRef<Path>, folder: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(folder);
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some((user, group)) = self.other {
            command.uid(user).gid(group);
        }
        command
    }
}

fn of_name(name: &str) -> Option<(u32, u32)> {
    let id = |what: &str| {
        let output = Command::new("id").args([what, name]).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    Some((id("-u")?, id("-g")?))
}
