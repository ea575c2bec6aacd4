//! An office on loopback, and the destination that leads there: one HTTP request an effect, on connections that are kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use turnframe_core::canonical::Json;
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile, Dispatched};

use crate::error::BenchError;
use crate::tally::OFFICE;

/// How many deliveries are in flight at once.
pub(crate) const IN_FLIGHT: usize = 64;

/// Somebody who takes whatever comes.
pub(crate) struct Office {
    url: String,
    taken: Arc<AtomicUsize>,
    is_open: watch::Sender<bool>,
    taking: JoinHandle<()>,
}

impl Drop for Office {
    fn drop(&mut self) {
        self.taking.abort();
    }
}

impl Office {
    /// Opens on a free port. The doors are closed: whoever comes waits.
    pub(crate) async fn begin() -> Result<Self, BenchError> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/filings", listener.local_addr()?);
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = taken.clone();
        let taking = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let counted = counted.clone();
                // It ends when whoever came goes away.
                tokio::spawn(async move { answer(stream, &counted).await.ok() });
            }
        });
        Ok(Self { url, taken, is_open: watch::Sender::new(false), taking })
    }

    pub(crate) fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// How many deliveries were taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn destination(&self) -> Result<Arc<dyn Destination>, BenchError> {
        let client = Client::builder().pool_max_idle_per_host(IN_FLIGHT).no_proxy().build()?;
        let key = DestinationKey::new(OFFICE)?;
        let (url, is_open) = (self.url.clone(), self.is_open.subscribe());
        Ok(Arc::new(WayToTheOffice { key, client, url, is_open }))
    }
}

/// Reads requests and takes them. One is counted before it is answered: whoever heard the answer finds it counted.
async fn answer(mut stream: TcpStream, taken: &AtomicUsize) -> std::io::Result<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 201 Created\r\ncontent-length: 12\r\n\r\n{\"id\":\"F-1\"}";
    let (mut request, mut buffer) = (Vec::new(), [0; 4_096]);
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..read]);
        if is_whole(&request) {
            request.clear();
            taken.fetch_add(1, Ordering::Relaxed);
            stream.write_all(ANSWER).await?;
        }
    }
}

/// Whether a request has come with all of its body.
fn is_whole(request: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(request) else { return false };
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or_default()
}

struct WayToTheOffice {
    key: DestinationKey,
    client: Client,
    url: String,
    is_open: watch::Receiver<bool>,
}

#[async_trait]
impl Destination for WayToTheOffice {
    fn key(&self) -> DestinationKey {
        self.key.clone()
    }

    fn profile(&self) -> DestinationProfile {
        let timeout = Duration::from_secs(60);
        DestinationProfile { concurrency: IN_FLIGHT, timeout, ..DestinationProfile::default() }
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        // The office is there as long as the bench.
        let _ = self.is_open.clone().wait_for(|is_open| *is_open).await;
        let request = self.client.post(&self.url).json(&delivery.payload);
        let request = request.header("idempotency-key", delivery.idempotency_key());
        let sent = async {
            let answer = request.send().await?;
            let status = answer.status();
            // What is read to its end leaves a connection that can be used again.
            answer.bytes().await.map(|_| status)
        };
        match sent.await {
            Ok(StatusCode::CREATED) => {
                let reference = delivery.idempotency_key();
                Dispatched::Accepted { reference, details: Json::default() }
            }
            Ok(status) => Dispatched::Unknown { reason: status.to_string() },
            Err(error) if error.is_connect() => Dispatched::NotSent { reason: error.to_string() },
            Err(error) => Dispatched::Unknown { reason: error.to_string() },
        }
    }
}
