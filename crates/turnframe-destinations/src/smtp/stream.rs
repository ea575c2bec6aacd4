//! A stream of which nothing is read ahead.
//!
//! After `STARTTLS` the rest of the dialogue is believed because it is encrypted. `lettre` reads through a buffer that it
//! keeps across the change: what somebody in between puts behind the server's permission, in the clear, would be read as
//! the server's encrypted answers, "250" for a mail that it never took among them. Read byte by byte, the buffer is empty
//! when TLS begins, and what was put there breaks the handshake.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connection that gives one byte to each read.
#[derive(Debug)]
pub(super) struct OneByOne(pub(super) TcpStream);

impl AsyncTokioStream for OneByOne {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }
}

impl AsyncRead for OneByOne {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut byte = [0];
        let length = buffer.remaining().min(byte.len());
        let mut one = ReadBuf::new(&mut byte[..length]);
        ready!(Pin::new(&mut self.0).poll_read(context, &mut one))?;
        buffer.put_slice(one.filled());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for OneByOne {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
