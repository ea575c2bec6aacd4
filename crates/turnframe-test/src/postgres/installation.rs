//! Where PostgreSQL's programs are.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::PostgresError;

/// Names the folder of the programs, before all others.
const VARIABLE: &str = "TURNFRAME_POSTGRES_BIN";

/// Where Debian installs each version, in a folder of its own.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The programs that a folder must have.
const PROGRAMS: [&str; 3] = ["postgres", "initdb", "pg_ctl"];

/// The folder of PostgreSQL's programs.
#[derive(Debug, Clone)]
pub(super) struct Installation(PathBuf);

impl Installation {
    /// The folder that is named, or else the first on `PATH`, or else the newest version's.
    pub(super) fn find() -> Result<Self, PostgresError> {
        let folders = match env::var_os(VARIABLE) {
            Some(folder) => vec![PathBuf::from(folder)],
            None => searched(env::var_os("PATH").as_deref(), Path::new(VERSIONS)),
        };
        first_complete(&folders).map(Self).ok_or_else(|| PostgresError::NotInstalled {
            looked: format!("{VARIABLE}, PATH and {VERSIONS}/*/bin; that is {folders:?}"),
        })
    }

    /// The path of a program.
    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }
}

/// The folders of a search path, then the versions' from the newest.
fn searched(path: Option<&OsStr>, versions: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
    let mut numbered: Vec<(u32, PathBuf)> = fs::read_dir(versions)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .collect();
    numbered.sort_by(|(one, _), (other, _)| other.cmp(one));
    folders.extend(numbered.into_iter().map(|(_, folder)| folder));
    folders
}

fn first_complete(folders: &[PathBuf]) -> Option<PathBuf> {
    let complete =
        |folder: &&PathBuf| PROGRAMS.iter().all(|program| folder.join(program).is_file());
    folders.iter().find(complete).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(versions: &Path, number: &str, programs: &[&str]) {
        let folder = versions.join(number).join("bin");
        fs::create_dir_all(&folder).expect("a folder");
        for program in programs {
            fs::write(folder.join(program), "").expect("a file");
        }
    }

    #[test]
    fn the_newest_version_that_is_complete_is_taken_by_number() {
        let versions = tempfile::tempdir().expect("a folder");
        version(versions.path(), "9", &PROGRAMS);
        version(versions.path(), "15", &PROGRAMS);
        version(versions.path(), "17", &["pg_ctl"]);
        let found = first_complete(&searched(None, versions.path()));
        assert_eq!(found, Some(versions.path().join("15/bin")));
    }

    #[test]
    fn a_folder_on_the_path_goes_before_every_version() {
        let versions = tempfile::tempdir().expect("a folder");
        version(versions.path(), "15", &PROGRAMS);
        version(versions.path(), "own", &PROGRAMS);
        let own = versions.path().join("own/bin");
        assert_eq!(first_complete(&searched(Some(own.as_os_str()), versions.path())), Some(own));
    }

    #[test]
    fn what_is_missing_is_said_with_what_to_install() {
        let versions = tempfile::tempdir().expect("a folder");
        assert_eq!(first_complete(&searched(None, versions.path())), None);
        let said = PostgresError::NotInstalled { looked: "PATH".to_owned() }.to_string();
        assert!(said.contains("on Debian the package `postgresql`"), "{said}");
    }
}
