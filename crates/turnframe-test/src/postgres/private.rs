//! A server of one test, for what befalls servers.

use std::fmt;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use super::account::Account;
use super::cluster::{Cluster, Shutdown};
use super::database::Lifetime;
use super::error::{PostgresError, or_fail};
use super::installation::Installation;
use super::keeper::Keeper;
use super::port::ReservedPort;
use super::server::{Server, terminate};

/// A server that belongs to one test, which may do to it what happens to servers.
///
/// Its port stays its own while it is stopped. It ends when it is dropped, and when the process of the test dies.
///
/// # Panics
/// Whatever is asked of it fails the test when it cannot be done.
pub struct PrivateServer {
    server: Server,
    cluster: Cluster,
    home: PathBuf,
    _port: ReservedPort,
    _keeper: Keeper,
}

impl fmt::Debug for PrivateServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateServer")
            .field("port", &self.port())
            .field("home", &self.home)
            .finish()
    }
}

impl Deref for PrivateServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl PrivateServer {
    pub(super) async fn start_new(settings: &[(&str, &str)]) -> Self {
        let settings: Vec<(String, String)> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let started = blocking(move || {
            let settings: Vec<(&str, &str)> =
                settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            start_new(&settings)
        });
        or_fail(started.await)
    }

    /// The folder that holds everything of it, and that is gone when it has ended.
    #[must_use]
    pub fn home(&self) -> &std::path::Path {
        &self.home
    }

    /// Stops it as if the machine had died: no checkpoint, no farewell to clients. [`Self::start`] recovers.
    pub async fn stop_immediate(&self) {
        self.on_cluster(|cluster| cluster.stop(Shutdown::Immediate)).await;
    }

    /// Starts it after a stop, on the same port; returns when it takes connections.
    pub async fn start(&self) {
        self.on_cluster(Cluster::start).await;
    }

    /// Stops it in good order, with its clients disconnected, and starts it again on the same port.
    pub async fn restart(&self) {
        self.on_cluster(|cluster| cluster.stop(Shutdown::Fast).and_then(|()| cluster.start()))
            .await;
    }

    /// Freezes all its processes; when this returns, none of them moves. Connections stay open, and nobody answers.
    pub async fn pause(&self) {
        self.on_cluster(Cluster::pause).await;
    }

    /// Lets it go on after a [`Self::pause`].
    pub async fn resume(&self) {
        self.on_cluster(Cluster::resume).await;
    }

    /// Ends the sessions of all clients, as an operator would, and waits until they are gone; returns how many there
    /// were.
    pub async fn terminate_clients(&self) -> u64 {
        or_fail(terminate(self.port(), None).await)
    }

    async fn on_cluster(
        &self,
        act: impl FnOnce(&Cluster) -> Result<(), PostgresError> + Send + 'static,
    ) {
        let cluster = self.cluster.clone();
        or_fail(blocking(move || act(&cluster)).await);
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // A server that stands still would have to be waited for; one that was stopped needs nothing.
        let _ = self.cluster.resume();
    }
}

fn start_new(settings: &[(&str, &str)]) -> Result<PrivateServer, PostgresError> {
    let (account, installation) = (Account::find()?, Installation::find()?);
    let home = tempfile::Builder::new()
        .prefix("turnframe-postgres-")
        .tempdir()
        .map_err(PostgresError::io("make a temporary folder"))?
        .keep();
    // The name by which its processes know it: a temporary directory may be reached over a link.
    let home = fs::canonicalize(home).map_err(PostgresError::io("find a temporary folder"))?;
    account.own(&home)?;
    // The keeper first: whatever is started from here on has somebody to end it.
    let keeper = Keeper::of_private(account, &installation, &home)?;
    let port = ReservedPort::new()?;
    let cluster = Cluster::create(account, &installation, &home, port.number(), settings)?;
    cluster.start()?;
    let server = Server::new(port.number(), Lifetime::OfServer);
    Ok(PrivateServer { server, cluster, home, _port: port, _keeper: keeper })
}

/// Does what waits for processes beside the runtime, whose other tasks go on meanwhile.
async fn blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, PostgresError> + Send + 'static,
) -> Result<T, PostgresError> {
    tokio::task::spawn_blocking(act).await.expect("nothing panics in there")
}
