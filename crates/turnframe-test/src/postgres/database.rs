//! A database of one test.

use std::thread;
use std::time::Duration;

use tokio::runtime;

use super::USER;
use super::error::or_fail;
use super::server::{drop_database, empty, terminate};

/// How long a database may take to be dropped; after that it stays until its server goes.
const DROP_LIMIT: Duration = Duration::from_secs(30);

/// How long the databases of a server are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    /// Until each is dropped: the server goes on.
    Own,
    /// Until the server goes, which belongs to the same test.
    OfServer,
}

/// A database that no other test sees.
#[derive(Debug)]
pub struct Database {
    port: u16,
    name: String,
    lifetime: Lifetime,
}

impl Database {
    pub(super) fn new(port: u16, name: String, lifetime: Lifetime) -> Self {
        Self { port, name, lifetime }
    }

    /// How a client reaches it: `postgres://turnframe@127.0.0.1:PORT/NAME`.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// Its name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Ends every session of it, as an operator would, and waits until they are gone; returns how many there
    /// were.
    ///
    /// # Panics
    /// When the server cannot be reached.
    pub async fn terminate_clients(&self) -> u64 {
        or_fail(terminate(self.port, Some(&self.name)).await)
    }

    /// Ends every session of it and takes out all that is in it: quicker than another database, which the server copies
    /// and writes to its disk.
    ///
    /// # Panics
    /// When the server cannot be reached.
    pub async fn empty(&self) {
        or_fail(empty(self.port, &self.name).await);
    }

    pub(super) fn url_at(&self, port: u16) -> String {
        format!("postgres://{USER}@127.0.0.1:{port}/{}", self.name)
    }
}

impl Drop for Database {
    /// Drops it, whoever still uses it. That is waited for, so that many tests one after another need the room of one.
    fn drop(&mut self) {
        if self.lifetime == Lifetime::OfServer {
            return;
        }
        let (port, name) = (self.port, std::mem::take(&mut self.name));
        // The test's own runtime may be the one that drops this, and cannot be waited on.
        let dropping = thread::spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            let dropped =
                async { tokio::time::timeout(DROP_LIMIT, drop_database(port, &name)).await };
            std::io::Result::Ok(runtime.block_on(dropped))
        });
        // What could not be dropped goes with its server.
        let _ = dropping.join();
    }
}
