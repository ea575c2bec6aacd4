//! Every size, wait and queue of the HTTP face, by name.

use std::time::Duration;

/// Limits of a server. Past each of them the answer is a problem that says what to do next.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// The longest body, in bytes. It leaves room for the longest message with some of it escaped.
    pub body_max_bytes: usize,
    /// How long a body may take to arrive.
    pub body_wait: Duration,
    /// How long a request waits for its turn's answer before it is told that the turn goes on.
    pub turn_wait: Duration,
    /// How long a request for an account of another process waits to be served by its owner, while the account changes
    /// hands: longer than a turn may take.
    pub owner_wait: Duration,
    /// How many requests for accounts of other processes may be on their way at once.
    pub forwards_max: usize,
    /// How many verified callbacks may be on their way to the ledger at once.
    pub callbacks_max: usize,
    /// How many live streams one process serves.
    pub streams_max: usize,
    /// How long a live stream is silent before it says where it stands.
    pub keep_alive: Duration,
    /// How soon a client should reconnect a live stream.
    pub reconnect: Duration,
    /// How long the ledger may take to say whether it is there, or whether a turn was accepted.
    pub ledger_wait: Duration,
    /// How long a shutdown waits for requests that are being answered.
    pub shutdown: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_max_bytes: 64 * 1024,
            body_wait: Duration::from_secs(10),
            turn_wait: Duration::from_secs(60),
            owner_wait: Duration::from_secs(65),
            forwards_max: 4_096,
            callbacks_max: 1_024,
            streams_max: 1_024,
            keep_alive: Duration::from_secs(15),
            reconnect: Duration::from_secs(1),
            ledger_wait: Duration::from_secs(2),
            shutdown: Duration::from_secs(20),
        }
    }
}
