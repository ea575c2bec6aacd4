//! The database's files, and the lock that keeps a second process out.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::OpenError;

/// The real path of a database that may not exist yet: two names of one file must find one lock.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, OpenError> {
    let failed = |source| OpenError::Path { path: path.to_owned(), source };
    if path.exists() {
        return path.canonicalize().map_err(failed);
    }
    let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Ok(directory.canonicalize().map_err(failed)?.join(name))
}

/// A path beside the database: its name and a suffix.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// Held as long as the ledger is open. The operating system releases it when the process ends, however it
/// ends, so the file may stay behind.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn acquire(database: &Path) -> Result<Self, OpenError> {
        let path = beside(database, ".lock");
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let file = file.map_err(|source| OpenError::Path { path: path.clone(), source })?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: database.to_owned() }),
            Err(TryLockError::Error(source)) => Err(OpenError::Path { path, source }),
        }
    }
}
