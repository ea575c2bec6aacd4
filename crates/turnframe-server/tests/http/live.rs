//! A client's side of a live stream: events as they come over the wire.

use reqwest::Response;

use crate::host::PATIENCE;

/// A live stream as a client reads it.
pub(crate) struct Following {
    response: Response,
    buffer: String,
}

/// An event as it came over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LiveEvent {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) data: String,
}

impl Following {
    pub(crate) const fn of(response: Response) -> Self {
        Self { response, buffer: String::new() }
    }

    /// The next message, one that only carries an id included; none where the stream has ended.
    pub(crate) async fn message(&mut self) -> Option<LiveEvent> {
        loop {
            if let Some((message, rest)) = self.buffer.split_once("\n\n") {
                let message = read(message);
                self.buffer = rest.to_owned();
                return Some(message);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("in time").expect("a chunk")?;
            self.buffer.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    /// The next event that a client would show.
    pub(crate) async fn event(&mut self) -> LiveEvent {
        loop {
            let message = self.message().await.expect("the stream goes on");
            if !message.data.is_empty() {
                return message;
            }
        }
    }

    /// Events up to the first of a kind, that one included.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<LiveEvent> {
        let mut events = Vec::new();
        loop {
            events.push(self.event().await);
            if events.last().is_some_and(|event| event.kind == kind) {
                return events;
            }
        }
    }
}

fn read(message: &str) -> LiveEvent {
    let mut event = LiveEvent { id: 0, kind: String::new(), data: String::new() };
    for line in message.lines() {
        match line.split_once(": ") {
            Some(("id", id)) => event.id = id.parse().expect("a position"),
            Some(("event", kind)) => event.kind = kind.to_owned(),
            Some(("data", data)) => event.data.push_str(data),
            Some(_) | None => {}
        }
    }
    event
}
