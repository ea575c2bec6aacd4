//! HTTP/1.1 by hand: what a server reads and writes, so that it can also do what no server does.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Reads a request to its last byte. `None` where the other side leaves before.
pub(crate) async fn read(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|length| *length > 0)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        let before = headers.insert(name.to_ascii_lowercase(), value.to_owned());
        assert_eq!(before, None, "a header twice");
    }
    let length = headers.get("content-length").map_or(Ok(0), |length| length.parse()).ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { method, path, headers, body })
}

/// An answer with a JSON body, after which the connection closes.
pub(crate) fn json(status: u16, body: &str) -> String {
    with_headers(status, "content-type: application/json\r\n", body)
}

pub(crate) fn with_headers(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

/// A server that gives every request the same bytes, and keeps what it read.
pub(crate) struct Canned {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    task: JoinHandle<()>,
}

impl Canned {
    pub(crate) async fn new(answer: impl Into<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (requests, answer) = (Arc::<Mutex<Vec<Request>>>::default(), answer.into());
        let kept = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let mut stream = BufReader::new(stream);
                let Some(request) = read(&mut stream).await else { continue };
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(request);
                // Whoever has read enough may have left.
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { address, requests, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Canned {
    fn drop(&mut self) {
        self.task.abort();
    }
}
