//! Where tests keep what need not outlive the machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A file system that lies in memory, where the machine has one.
const MEMORY: &str = "/dev/shm";

/// How large it has to be: a PostgreSQL alone keeps a gigabyte of its log. Containers have a few megabytes of it.
const SIZE_MIN_BYTES: u64 = 4 << 30;

/// The folder for what tests write and no power cut befalls: in memory where there is room for it, so that nobody waits
/// for a disk, and otherwise the system's temporary directory, as where `TMPDIR` says which that is.
///
/// To a program there is no difference: what it has synced it has waited for, and what a killed process has written
/// stays. What survives the machine is not to be shown there.
#[must_use]
pub fn throwaway() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let chosen = std::env::var_os("TMPDIR").is_some();
        let in_memory = !chosen && size_bytes(MEMORY) >= SIZE_MIN_BYTES && is_writable(MEMORY);
        if in_memory { PathBuf::from(MEMORY) } else { std::env::temp_dir() }
    })
}

/// How large a file system is, however full: all test programs of a run come to the same answer.
fn size_bytes(path: impl AsRef<OsStr>) -> u64 {
    let asked = Command::new("df").args(["--output=size", "--block-size=1"]).arg(path).output();
    let said = asked.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    said.lines().nth(1).and_then(|size| size.trim().parse().ok()).unwrap_or_default()
}

fn is_writable(path: impl AsRef<Path>) -> bool {
    tempfile::tempfile_in(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_where_there_is_one() {
        assert!(size_bytes(std::env::temp_dir()) > 0);
        assert_eq!(size_bytes("/no/such/place"), 0);
        assert!(!is_writable("/no/such/place"));
    }

    #[test]
    fn the_place_can_be_written_to_and_is_the_same_each_time() {
        assert!(is_writable(throwaway()));
        assert_eq!(throwaway(), throwaway());
    }
}
