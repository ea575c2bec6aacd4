//! The destination's contract, against a shop that honours the key and one that does not, and cannot be asked.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::json;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use turnframe_core::id::EffectId;
use turnframe_destinations::http::{HEADER_KEY, LookUp, Operation, When};
use turnframe_runtime::port::{Delivery, Destination, Resending};
use turnframe_test::destination::{Meeting, Receiver};

use crate::{builder, delivery, profile, reading, wire};

turnframe_test::destination_contract!(
    mod honours_the_key,
    Shop::open(Resending::IdempotentByKey).await
);
turnframe_test::destination_contract!(mod acts_each_time, Shop::open(Resending::Never).await);

/// A shop that takes orders over HTTP.
struct Shop {
    address: SocketAddr,
    /// Whether it honours the key, and can be asked.
    resending: Resending,
    desk: Arc<Desk>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Desk {
    meetings: Mutex<VecDeque<Meeting>>,
    book: watch::Sender<Book>,
    honours_the_key: bool,
}

#[derive(Debug, Clone, Default)]
struct Book {
    requests: BTreeMap<String, usize>,
    records: BTreeMap<String, usize>,
}

impl Shop {
    async fn open(resending: Resending) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let honours_the_key = resending == Resending::IdempotentByKey;
        let desk = Arc::new(Desk { honours_the_key, ..Desk::default() });
        let listening = tokio::spawn(listen(listener, Arc::clone(&desk)));
        Self { address, resending, desk, listening: Mutex::new(Some(listening)) }
    }
}

#[async_trait]
impl Receiver for Shop {
    fn destination(&self) -> Arc<dyn Destination> {
        let mut place = Operation::post("/orders", reading())
            .accepted(When::status(201))
            .rejected(When::status(422));
        if self.has_look_up() {
            let look_up = LookUp::get("/orders/{key}", reading())
                .accepted(When::status(200))
                .not_found(When::status(404).with_field("/code", "unknown_key"));
            place = place.looked_up_by(look_up);
        }
        let orders = builder(&format!("http://{}", self.address)).operation("place", place);
        Arc::new(orders.profile(profile(self.resending)).build().expect("a declaration"))
    }

    fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery {
        Delivery { effect, attempt, ..delivery(&json!({"lamps": 2})) }
    }

    fn meet_next(&self, meeting: Meeting) {
        self.desk.meetings.lock().unwrap_or_else(PoisonError::into_inner).push_back(meeting);
    }

    fn requests(&self, key: &str) -> usize {
        self.desk.book.borrow().requests.get(key).copied().unwrap_or_default()
    }

    fn requests_total(&self) -> usize {
        self.desk.book.borrow().requests.values().sum()
    }

    fn records(&self, key: &str) -> usize {
        self.desk.book.borrow().records.get(key).copied().unwrap_or_default()
    }

    fn has_look_up(&self) -> bool {
        self.desk.honours_the_key
    }

    async fn until_requested(&self, key: &str) {
        let mut book = self.desk.book.subscribe();
        book.wait_for(|book| book.requests.contains_key(key)).await.expect("the shop is there");
    }

    async fn go_away(&self) {
        let listening = self.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        let listening = listening.expect("it goes away once");
        listening.abort();
        // The port is closed once the task is gone.
        let _ = listening.await;
    }
}

async fn listen(listener: TcpListener, desk: Arc<Desk>) {
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        if desk.next_if(Meeting::DropUnread) {
            continue;
        }
        tokio::spawn(serve(BufReader::new(stream), Arc::clone(&desk)));
    }
}

async fn serve(mut stream: BufReader<TcpStream>, desk: Arc<Desk>) {
    let Some(request) = wire::read(&mut stream).await else { return };
    let answer = match request.path.strip_prefix("/orders/") {
        Some(key) => desk.look_up(key),
        None => {
            let key = request.headers.get(HEADER_KEY).expect("a key").clone();
            desk.book.send_modify(|book| *book.requests.entry(key.clone()).or_default() += 1);
            match desk.meet(&key) {
                Met::Answer(answer) => answer,
                Met::Dropped => return,
                Met::Stalled => std::future::pending().await,
            }
        }
    };
    // The other side may have given up.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

enum Met {
    Answer(String),
    Dropped,
    Stalled,
}

impl Desk {
    fn next_if(&self, meeting: Meeting) -> bool {
        let mut meetings = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        meetings.pop_front_if(|next| *next == meeting).is_some()
    }

    fn meet(&self, key: &str) -> Met {
        let next = self.meetings.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        match next.unwrap_or(Meeting::Take) {
            Meeting::Take => Met::Answer(self.take(key)),
            Meeting::Refuse => Met::Answer(wire::json(422, r#"{"code":"sold_out"}"#)),
            Meeting::DropAfterCommit => {
                self.take(key);
                Met::Dropped
            }
            Meeting::DropUnread | Meeting::DropAfterRead => Met::Dropped,
            Meeting::Stall => Met::Stalled,
            Meeting::PointElsewhere => {
                let elsewhere = "location: /orders\r\n";
                Met::Answer(wire::with_headers(307, elsewhere, ""))
            }
        }
    }

    fn take(&self, key: &str) -> String {
        self.book.send_modify(|book| {
            let records = book.records.entry(key.to_owned()).or_default();
            *records = if self.honours_the_key { 1 } else { *records + 1 };
        });
        wire::json(201, &json!({"id": format!("R-{key}")}).to_string())
    }

    fn look_up(&self, key: &str) -> String {
        if self.book.borrow().records.contains_key(key) {
            wire::json(200, &json!({"id": format!("R-{key}")}).to_string())
        } else {
            wire::json(404, r#"{"code":"unknown_key"}"#)
        }
    }
}
