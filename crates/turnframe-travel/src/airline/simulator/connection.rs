//! Connections that a handler can drop.
//!
//! HTTP servers answer every request that a handler returns from. To drop a connection without an answer, the
//! handler marks the stream beneath it as broken and never returns: the next poll of the stream fails, the
//! server gives the connection up, and the socket closes with nothing written.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use super::{Never, lock};

/// A listener whose connections can be dropped.
pub(super) struct Listener(pub(super) TcpListener);

impl axum::serve::Listener for Listener {
    type Io = Stream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Stream, SocketAddr) {
        let (stream, address) = axum::serve::Listener::accept(&mut self.0).await;
        (Stream { stream, connection: Connection::default() }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// A handler's hold on the connection its request came by.
#[derive(Debug, Clone, Default)]
pub(super) struct Connection(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    is_broken: AtomicBool,
    reader: Mutex<Option<Waker>>,
}

impl Connection {
    /// Drops the connection. The server drops the caller with it, so that nothing after this runs.
    pub(super) async fn drop_it(&self) -> Never {
        self.0.is_broken.store(true, Ordering::SeqCst);
        if let Some(reader) = lock(&self.0.reader).take() {
            reader.wake();
        }
        std::future::pending().await
    }

    fn check(&self) -> io::Result<()> {
        if self.0.is_broken.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        Ok(())
    }
}

impl Connected<IncomingStream<'_, Listener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, Listener>) -> Self {
        stream.io().connection.clone()
    }
}

/// A TCP stream that fails once its connection was dropped.
pub(super) struct Stream {
    stream: TcpStream,
    connection: Connection,
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // Registered before the check: a drop in between wakes, a drop before is seen.
        *lock(&self.connection.0.reader) = Some(context.waker().clone());
        self.connection.check()?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.connection.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
