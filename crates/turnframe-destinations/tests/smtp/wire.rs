//! The server's side of SMTP by hand.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Where in the dialogue the server says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum At {
    Greeting,
    Hello,
    Authentication,
    Sender,
    /// From 1.
    Recipient(usize),
    Data,
    Content,
}

/// What it says there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// This line; its end is put to it.
    Line(&'static str),
    /// Nothing, and closes the connection.
    Leaves,
    /// Nothing.
    Stalls,
}

/// A server by a script: what it does not say there, it says as a server does that takes everything.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Scripted {
    pub(crate) async fn new(script: impl IntoIterator<Item = (At, Says)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let script: BTreeMap<_, _> = script.into_iter().collect();
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&heard);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.expect("a connection");
                let says = |at| script.get(&at).copied();
                let hears = |line: &str| {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
                };
                speak(stream, says, hears).await;
            }
        });
        Self { address, heard, task }
    }

    /// The lines that were heard before the content, and those of the content, on all connections.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection, to its end.
pub(crate) async fn speak(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    says: impl Fn(At) -> Option<Says>,
    hears: impl Fn(&str),
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    say(&mut stream, says(At::Greeting), "220 mx.example").await?;
    converse(&mut stream, says, hears).await
}

/// What follows on the greeting, or on TLS.
pub(crate) async fn converse(
    stream: &mut BufReader<impl AsyncRead + AsyncWrite + Unpin>,
    says: impl Fn(At) -> Option<Says>,
    hears: impl Fn(&str),
) -> Option<()> {
    let mut recipients = 0;
    loop {
        let line = hear(stream).await?;
        hears(&line);
        let word = line.split([' ', ':']).next().unwrap_or_default();
        let (at, usual) = match word {
            "EHLO" => (At::Hello, "250 mx.example"),
            "AUTH" => (At::Authentication, "235 2.7.0 Ok"),
            "MAIL" => (At::Sender, "250 2.1.0 Ok"),
            "RCPT" => {
                recipients += 1;
                (At::Recipient(recipients), "250 2.1.5 Ok")
            }
            "DATA" => (At::Data, "354 End with a dot"),
            "QUIT" => return say(stream, None, "221 2.0.0 Bye").await,
            _ => return say(stream, None, "500 5.5.2 What?").await,
        };
        say(stream, says(at), usual).await?;
        if at == At::Data && says(at).is_none() {
            loop {
                let line = hear(stream).await?;
                if line == "." {
                    break;
                }
                hears(line.strip_prefix('.').unwrap_or(&line));
            }
            say(stream, says(At::Content), "250 2.0.0 Ok: queued as 4XYZ").await?;
        }
    }
}

pub(crate) async fn hear(stream: &mut BufReader<impl AsyncRead + Unpin>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    Some(line.strip_suffix("\r\n")?.to_owned())
}

pub(crate) async fn say(
    stream: &mut BufReader<impl AsyncRead + AsyncWrite + Unpin>,
    says: Option<Says>,
    usual: &str,
) -> Option<()> {
    let line = match says {
        None => usual,
        Some(Says::Line(line)) => line,
        Some(Says::Leaves) => return None,
        Some(Says::Stalls) => {
            // Until the other side leaves.
            while hear(stream).await.is_some() {}
            return None;
        }
    };
    stream.write_all(format!("{line}\r\n").as_bytes()).await.ok()
}
