//! The way between a client and a server, which loses what it is told to lose.
//!
//! An acknowledgement that never arrives:
//!
//! ```no_run
//! # async fn example() {
//! use turnframe_test::postgres::{Wire, shared};
//!
//! let database = shared().database().await;
//! let wire = Wire::to(shared()).await;
//! let url = wire.url(&database); // for the client
//! wire.hold_after(b"COMMIT");
//! // … the client commits, and meanwhile:
//! wire.held().await; // the server has answered: it is committed
//! wire.cut(); // the client never learns; its next connection passes
//! # }
//! ```
//!
//! With [`Wire::pass`] in place of [`Wire::cut`] it is a commit that takes long. What was held back is then passed on;
//! a wire never changes, reorders or invents a byte.

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::database::Database;
use super::error::or_fail;
use super::port::ReservedPort;
use super::server::Server;

/// How many bytes are carried at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// A port of 127.0.0.1 that leads to a server. Its connections are cut when it is dropped.
#[derive(Debug)]
pub struct Wire {
    port: ReservedPort,
    server: u16,
    orders: Orders,
    /// Accepts connections; none while they are refused.
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl Wire {
    /// A wire that passes everything.
    ///
    /// # Panics
    /// When no port is to be had.
    pub async fn to(server: &Server) -> Self {
        let wire = Self {
            port: or_fail(ReservedPort::new()),
            server: server.port(),
            orders: Arc::new(watch::Sender::default()),
            accepting: Mutex::default(),
        };
        wire.admit().await;
        wire
    }

    /// How a client reaches a database of the server over this wire.
    #[must_use]
    pub fn url(&self, database: &Database) -> String {
        database.url_at(self.port.number())
    }

    /// Passes everything on, and what was held back first. A pattern is forgotten.
    pub fn pass(&self) {
        self.orders.send_modify(|orders| {
            *orders = Order { cuts: orders.cuts, ..Order::default() };
        });
    }

    /// From now on holds back what the server sends, on every connection.
    pub fn hold(&self) {
        self.orders.send_modify(|orders| orders.holding = true);
    }

    /// Holds back what the server sends to the client that next sends these bytes, from before it gets them.
    ///
    /// That is done once: the pattern is then forgotten, and other connections pass.
    pub fn hold_after(&self, pattern: &[u8]) {
        self.orders.send_modify(|orders| orders.pattern = Some(pattern.to_vec()));
    }

    /// Returns when something is held back: the server has answered, and the client does not know.
    pub async fn held(&self) {
        self.watch(|orders| !orders.keeping.is_empty()).await;
    }

    /// Cuts every connection, with what was held back on it.
    pub fn cut(&self) {
        self.orders.send_modify(|orders| {
            orders.cuts += 1;
            // Which connections were struck stays: between this and its end, one must not pass on what it held back.
            orders.keeping.clear();
        });
    }

    /// Refuses new connections, as a machine does on which no server runs. Those that there are go on.
    pub async fn refuse(&self) {
        let accepting = self.accepting.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(accepting) = accepting {
            accepting.abort();
            // The port is closed when the task is gone; that it was aborted is no news.
            let _ = accepting.await;
        }
    }

    /// Takes new connections again.
    ///
    /// # Panics
    /// When its port was taken by something that does not keep to the rules of ports.
    pub async fn admit(&self) {
        let mut accepting = self.accepting.lock().unwrap_or_else(PoisonError::into_inner);
        if accepting.is_none() {
            let listener = or_fail(self.port.listen());
            *accepting =
                Some(tokio::spawn(accept(listener, self.server, Arc::clone(&self.orders))));
        }
    }

    async fn watch(&self, condition: impl FnMut(&Order) -> bool) {
        let mut orders = self.orders.subscribe();
        orders.wait_for(condition).await.map(drop).expect("the sender is in this wire");
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let accepting = self.accepting.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(accepting) = accepting {
            accepting.abort();
        }
        self.cut();
    }
}

/// What the connections of a wire go by.
type Orders = Arc<watch::Sender<Order>>;

#[derive(Debug, Default)]
struct Order {
    /// Every connection holds back.
    holding: bool,
    /// What a client has to send so that its connection holds back.
    pattern: Option<Vec<u8>>,
    /// The connections that hold back since a client sent it.
    struck: BTreeSet<u64>,
    /// The connections that have something to hold back.
    keeping: BTreeSet<u64>,
    /// How often all connections were cut.
    cuts: u64,
}

impl Order {
    fn holds(&self, connection: u64) -> bool {
        self.holding || self.struck.contains(&connection)
    }
}

async fn accept(listener: TcpListener, server: u16, orders: Orders) {
    static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
    // A client that went away while it was accepted is no reason to accept no other.
    loop {
        if let Ok((client, _)) = listener.accept().await {
            let number = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
            let cuts = orders.borrow().cuts;
            let connection = Connection { number, cuts, orders: Arc::clone(&orders) };
            tokio::spawn(connection.carry(client, server));
        }
    }
}

/// A client's connection and its continuation to the server.
struct Connection {
    number: u64,
    /// The cuts that were made before it.
    cuts: u64,
    orders: Orders,
}

impl Connection {
    /// Carries until both sides are done, one fails, or it is cut.
    async fn carry(self, client: TcpStream, server: u16) {
        let mut orders = self.orders.subscribe();
        tokio::select! {
            // What went wrong shows at both ends: both are closed.
            _ = self.both_ways(client, server) => {}
            _ = orders.wait_for(|orders| orders.cuts > self.cuts) => {}
        }
    }

    async fn both_ways(&self, client: TcpStream, server: u16) -> io::Result<()> {
        let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await?;
        // Each message goes on as it came.
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        tokio::try_join!(self.forth(from_client, to_server), self.back(from_server, to_client))
            .map(drop)
    }

    /// Carries from the client to the server, and looks for the pattern.
    async fn forth(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut recent = Vec::new();
        loop {
            let bytes = match from.read(&mut chunk).await? {
                0 => return to.shutdown().await,
                count => &chunk[..count],
            };
            recent.extend_from_slice(bytes);
            self.strike(&mut recent);
            to.write_all(bytes).await?;
        }
    }

    /// Carries from the server to the client, as soon as nothing is held back.
    async fn back(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> io::Result<()> {
        let mut orders = self.orders.subscribe();
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let count = from.read(&mut chunk).await?;
            if self.keeps() {
                // The sender is in this connection.
                let _ = orders.wait_for(|orders| !orders.holds(self.number)).await;
            }
            match count {
                0 => return to.shutdown().await,
                count => to.write_all(&chunk[..count]).await?,
            }
        }
    }

    /// Begins to hold back if the pattern is in what was sent; keeps of that what may be the beginning of one.
    fn strike(&self, recent: &mut Vec<u8>) {
        let mut beginning = 0;
        self.orders.send_if_modified(|orders| {
            let Some(pattern) = orders.pattern.as_deref().filter(|pattern| !pattern.is_empty())
            else {
                return false;
            };
            beginning = pattern.len() - 1;
            let found = recent.windows(pattern.len()).any(|window| window == pattern);
            if found {
                orders.pattern = None;
                orders.struck.insert(self.number);
            }
            found
        });
        let tail = recent.split_off(recent.len().saturating_sub(beginning));
        drop(mem::replace(recent, tail));
    }

    /// Whether what the server sent is to be held back; if so, that it is becomes known.
    fn keeps(&self) -> bool {
        let mut keeps = false;
        self.orders.send_if_modified(|orders| {
            keeps = orders.holds(self.number);
            // A connection that was cut keeps nothing, even if its task does not know yet.
            keeps && orders.cuts == self.cuts && orders.keeping.insert(self.number)
        });
        keeps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        Connection { number: 7, cuts: 0, orders: Arc::default() }
    }

    fn sent(connection: &Connection, chunks: &[&[u8]]) -> bool {
        let mut recent = Vec::new();
        for chunk in chunks {
            recent.extend_from_slice(chunk);
            connection.strike(&mut recent);
        }
        connection.orders.borrow().holds(7)
    }

    #[test]
    fn a_pattern_is_found_over_the_edge_of_two_chunks() {
        let connection = connection();
        connection.orders.send_modify(|orders| orders.pattern = Some(b"COMMIT".to_vec()));
        assert!(!sent(&connection, &[b"COM", b"IT", b"MIT"]));
        assert!(sent(&connection, &[b"Q\0COM", b"M", b"IT\0"]));
        assert_eq!(connection.orders.borrow().pattern, None);
    }

    #[test]
    fn a_connection_that_was_cut_still_holds_back_and_no_longer_counts() {
        let connection = connection();
        connection.orders.send_modify(|orders| {
            orders.struck.insert(7);
            orders.cuts += 1;
        });
        assert!(connection.keeps());
        assert!(connection.orders.borrow().keeping.is_empty());
    }
}
