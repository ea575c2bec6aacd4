//! One server for all tests of a run.
//!
//! `cargo test` starts one test executable after another, nextest a process per test. Whichever first needs the server
//! starts it under a lock; who comes later finds it running. Each holds a shared lock on a file as long as it lives,
//! and the server's keeper ends the server when for [`LINGER`] nobody has. See `keeper.sh` for why nobody is handed a
//! server that is about to end.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use super::account::Account;
use super::cluster::{Cluster, SETTINGS};
use super::database::Lifetime;
use super::error::{PostgresError, or_fail};
use super::installation::Installation;
use super::keeper;
use super::port::ReservedPort;
use super::server::Server;
use crate::place;

/// How long the server stays when nobody uses it: from one test executable to the next.
const LINGER: Duration = Duration::from_secs(15);

/// How often a folder may be removed by a keeper while it is being opened.
const OPEN_ATTEMPTS: usize = 100;

/// The server that all tests of a run use, each with a [`Server::database`] of its own.
///
/// The first call of a run takes a second or two. Checkouts, users and versions of PostgreSQL each have their own.
///
/// # Panics
/// When PostgreSQL is not installed or does not start.
#[must_use]
pub fn shared() -> &'static Server {
    static MEMBERSHIP: OnceLock<Membership> = OnceLock::new();
    &MEMBERSHIP.get_or_init(|| or_fail(Shared::of_run().and_then(|shared| shared.join()))).server
}

/// Where a shared server is, or will be.
#[derive(Debug, Clone)]
struct Shared {
    account: Account,
    installation: Installation,
    home: PathBuf,
    linger: Duration,
}

/// The use of a shared server, until it is dropped or its process ends.
#[derive(Debug)]
struct Membership {
    server: Server,
    _users: File,
}

impl Shared {
    /// The server of this checkout, user and version.
    fn of_run() -> Result<Self, PostgresError> {
        let (account, installation) = (Account::find()?, Installation::find()?);
        let mut hasher = DefaultHasher::new();
        (env!("CARGO_MANIFEST_DIR"), installation.folder(), SETTINGS).hash(&mut hasher);
        let name = format!("turnframe-postgres-{}-{:016x}", account.runner(), hasher.finish());
        // The name by which its processes know it: a temporary directory may be reached over a link.
        let place = fs::canonicalize(place::throwaway())
            .map_err(PostgresError::io("find a place for the server"))?;
        Ok(Self { account, installation, home: place.join(name), linger: LINGER })
    }

    /// Uses the server, which is started when it does not run.
    fn join(&self) -> Result<Membership, PostgresError> {
        let _lock = self.lock()?;
        let users = self.open("users")?;
        users.lock_shared().map_err(PostgresError::io("register as a user of the server"))?;
        self.ensure_keeper()?;
        let port = match self.running()? {
            Some(port) => port,
            None => self.start()?,
        };
        Ok(Membership { server: Server::new(port, Lifetime::Own), _users: users })
    }

    /// Takes the lock under which servers start and end, in a folder that is there.
    fn lock(&self) -> Result<File, PostgresError> {
        for _ in 0..OPEN_ATTEMPTS {
            self.ensure_home()?;
            let lock = match self.open("lock") {
                Err(PostgresError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                    continue;
                }
                opened => opened?,
            };
            lock.lock().map_err(PostgresError::io("take the server's lock"))?;
            // Who held it before may have been a keeper, which removes the file in the end.
            if is_at(&lock, &self.home.join("lock")) {
                return Ok(lock);
            }
        }
        Err(PostgresError::Vanishing { path: self.home.clone() })
    }

    fn ensure_home(&self) -> Result<(), PostgresError> {
        let doing = || PostgresError::io(format!("make the folder {}", self.home.display()));
        match DirBuilder::new().mode(0o700).create(&self.home) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(doing()(error)),
            Ok(()) | Err(_) => {}
        }
        match fs::symlink_metadata(&self.home) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(doing()(error)),
            Ok(found) if found.is_dir() && self.account.knows(found.uid()) => Ok(()),
            Ok(_) => Err(PostgresError::Foreign { path: self.home.clone() }),
        }
    }

    /// A file of the folder, which is made when it is not there.
    fn open(&self, name: &str) -> Result<File, PostgresError> {
        let path = self.home.join(name);
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        open.map_err(PostgresError::io(format!("open {}", path.display())))
    }

    /// Sees that somebody will end the server. Only under the lock, where no keeper is about to leave.
    fn ensure_keeper(&self) -> Result<(), PostgresError> {
        let kept = self.open("keeper")?;
        for path in [
            self.home.clone(),
            self.home.join("lock"),
            self.home.join("users"),
            self.home.join("keeper"),
        ] {
            self.account.own(&path)?;
        }
        match kept.try_lock() {
            Ok(()) => {
                drop(kept);
                keeper::keep_shared(self.account, &self.installation, &self.home, self.linger)
            }
            Err(fs::TryLockError::WouldBlock) => Ok(()),
            Err(fs::TryLockError::Error(error)) => {
                Err(PostgresError::io("look for a keeper")(error))
            }
        }
    }

    /// Where the server listens, if it runs.
    fn running(&self) -> Result<Option<u16>, PostgresError> {
        let clusters = Cluster::all(self.account, &self.installation, &self.home)?;
        let ready =
            clusters.iter().filter_map(Cluster::postmaster).find(|postmaster| postmaster.ready);
        Ok(ready.map(|postmaster| postmaster.port))
    }

    /// Starts it anew, and removes what a power cut or a killed process left.
    fn start(&self) -> Result<u16, PostgresError> {
        for stale in Cluster::all(self.account, &self.installation, &self.home)? {
            stale.discard()?;
        }
        let port = ReservedPort::new()?;
        let number = port.number();
        Cluster::create(self.account, &self.installation, &self.home, number, &[])?.start()?;
        Ok(number)
    }
}

/// Whether a path still leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(opened), Ok(found)) => (opened.dev(), opened.ino()) == (found.dev(), found.ino()),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;
    use std::sync::Barrier;
    use std::thread;
    use std::time::Instant;

    use super::*;

    /// How long a keeper may take to notice, to stop a server and to remove its folder.
    const END_LIMIT: Duration = Duration::from_secs(60);

    /// After how long the users of a server come back to it: while nobody has noticed that they left, and at the stages
    /// of its end.
    const PAUSES_MILLIS: [u64; 10] = [0, 1, 2, 3, 4, 6, 20, 50, 100, 0];

    /// How long they stay; a server that was about to end has ended by then.
    const STAY: Duration = Duration::from_millis(50);

    /// A shared server of the test's own, which ends as soon as nobody uses it.
    fn unshared(temporary: &Path) -> Shared {
        let run = Shared::of_run().expect("PostgreSQL");
        // The server's account must be able to reach its folder.
        run.account.own(temporary).expect("root may");
        Shared { home: temporary.join("home"), linger: Duration::ZERO, ..run }
    }

    fn wait_until_gone(home: &Path) {
        let deadline = Instant::now() + END_LIMIT;
        while home.exists() {
            assert!(Instant::now() < deadline, "{} is still there", home.display());
            thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn answers(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    }

    #[test]
    fn two_users_have_one_server_and_the_last_of_them_ends_it() {
        let temporary = tempfile::tempdir().expect("a folder");
        let shared = unshared(temporary.path());
        let (one, other) = (shared.join().expect("a server"), shared.join().expect("a server"));
        let port = one.server.port();
        assert_eq!(other.server.port(), port);
        drop(one);
        assert!(answers(port), "one of its users is still there");
        drop(other);
        wait_until_gone(&shared.home);
        assert!(!answers(port));
    }

    #[test]
    fn who_comes_while_the_server_ends_gets_one_that_runs() {
        let temporary = tempfile::tempdir().expect("a folder");
        let shared = unshared(temporary.path());
        let together = Barrier::new(3);
        // Asserts nothing before its end: the others would wait for it.
        let use_in_rounds = || {
            PAUSES_MILLIS.map(|pause| {
                let member = shared.join();
                // All are there, and have looked at their server, before the first one goes.
                together.wait();
                thread::park_timeout(STAY);
                let port = member.as_ref().map(|member| member.server.port());
                let found =
                    port.map(|port| answers(port).then_some(port)).map_err(ToString::to_string);
                together.wait();
                drop(member);
                thread::park_timeout(Duration::from_millis(pause));
                found
            })
        };
        let found = thread::scope(|scope| {
            let users = [0; 3].map(|_| scope.spawn(use_in_rounds));
            users.map(|user| user.join().expect("a user asserts nothing"))
        });
        assert!(found[0].iter().all(|round| matches!(round, Ok(Some(_)))), "{:?}", found[0]);
        assert!(found.iter().all(|rounds| *rounds == found[0]), "all have the same: {found:?}");
        wait_until_gone(&shared.home);
    }

    #[test]
    fn what_a_power_cut_left_is_replaced() {
        let temporary = tempfile::tempdir().expect("a folder");
        let shared = unshared(temporary.path());
        let stale = shared.home.join("data-stale");
        fs::create_dir_all(&stale).expect("a folder");
        // The number of a process that runs, and is another.
        let own = std::process::id();
        fs::write(stale.join("postmaster.pid"), format!("{own}\n/\n1\n1\n\n\n\nready\n"))
            .expect("a file");
        let member = shared.join().expect("a server");
        assert!(answers(member.server.port()));
        assert!(!stale.exists());
        drop(member);
        wait_until_gone(&shared.home);
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_used() {
        let temporary = tempfile::tempdir().expect("a folder");
        let shared = unshared(temporary.path());
        // A link may lead anywhere.
        std::os::unix::fs::symlink(temporary.path(), &shared.home).expect("a link");
        assert!(matches!(shared.join(), Err(PostgresError::Foreign { .. })));
    }
}
