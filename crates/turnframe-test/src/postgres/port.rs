//! A port that stays a test's own while nobody listens on it.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

use super::error::PostgresError;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 1024;

/// A port of 127.0.0.1 that the system gives to nobody else.
///
/// A socket is bound to it and never listens. On Linux another socket may listen there meanwhile if both allow to
/// share the address, and PostgreSQL's does; but the system picks the port neither for another server nor for the near
/// end of a connection. So a server that was stopped comes back on its port, and nobody is connected to who is not it.
#[derive(Debug)]
pub(super) struct ReservedPort {
    _bound: TcpSocket,
    number: u16,
}

impl ReservedPort {
    /// A port that was free.
    pub(super) fn new() -> Result<Self, PostgresError> {
        let reserve = || {
            let bound = bound(0)?;
            let number = bound.local_addr()?.port();
            Ok(Self { _bound: bound, number })
        };
        reserve().map_err(PostgresError::io("reserve a port of 127.0.0.1"))
    }

    /// Its number.
    pub(super) fn number(&self) -> u16 {
        self.number
    }

    /// Listens on it, within a runtime.
    pub(super) fn listen(&self) -> Result<TcpListener, PostgresError> {
        bound(self.number)
            .and_then(|socket| socket.listen(BACKLOG))
            .map_err(PostgresError::io(format!("listen on port {}", self.number)))
    }
}

fn bound(port: u16) -> std::io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    Ok(socket)
}
