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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_reader_that_waits_hears_that_its_connection_was_dropped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let silent = TcpStream::connect(address).await.expect("a connection");
        let (mut stream, _) = axum::serve::Listener::accept(&mut Listener(listener)).await;
        let connection = stream.connection.clone();
        let reading = tokio::spawn(async move { stream.read_u8().await });
        // On this one thread the reader now runs until it waits for the silent other side.
        tokio::task::yield_now().await;

        let heard = async {
            tokio::select! {
                biased;
                never = connection.drop_it() => match never {},
                read = reading => read.expect("the reader ended by itself"),
            }
        };
        let read = tokio::time::timeout(Duration::from_secs(5), heard).await.expect("it heard");
        assert_eq!(read.map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionAborted));
        drop(silent);
    }
}
