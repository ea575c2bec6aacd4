//! The destination's contract, against a post office that keeps a book by the mails' `Message-ID`.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use turnframe_core::id::EffectId;
use turnframe_runtime::port::{Delivery, Destination};
use turnframe_test::destination::{Meeting, Receiver};

use crate::wire::{At, Says, speak};
use crate::{delivery, destination, mail};

turnframe_test::destination_contract!(mod post_office, PostOffice::open().await);

struct PostOffice {
    address: SocketAddr,
    desk: Arc<Desk>,
    listening: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Desk {
    meetings: Mutex<VecDeque<Meeting>>,
    book: watch::Sender<Book>,
}

#[derive(Debug, Clone, Default)]
struct Book {
    requests: BTreeMap<String, usize>,
    records: BTreeMap<String, usize>,
}

impl PostOffice {
    async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let desk = Arc::<Desk>::default();
        let listening = tokio::spawn(listen(listener, Arc::clone(&desk)));
        Self { address, desk, listening: Mutex::new(Some(listening)) }
    }
}

#[async_trait]
impl Receiver for PostOffice {
    fn destination(&self) -> Arc<dyn Destination> {
        Arc::new(destination(self.address))
    }

    fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery {
        Delivery { effect, attempt, ..delivery(&mail(&["ada@ferri.example"])) }
    }

    fn meet_next(&self, meeting: Meeting) {
        self.desk.meetings.lock().unwrap_or_else(PoisonError::into_inner).push_back(meeting);
    }

    fn lacks(&self) -> &[Meeting] {
        &[Meeting::PointElsewhere]
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

    async fn until_requested(&self, key: &str) {
        let mut book = self.desk.book.subscribe();
        book.wait_for(|book| book.requests.contains_key(key)).await.expect("the office is there");
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
        let next = desk.meetings.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let meeting = next.unwrap_or(Meeting::Take);
        if meeting != Meeting::DropUnread {
            tokio::spawn(serve(stream, meeting, Arc::clone(&desk)));
        }
    }
}

async fn serve(stream: TcpStream, meeting: Meeting, desk: Arc<Desk>) {
    let key = Mutex::<Option<String>>::default();
    let says = |at| match at {
        At::Recipient(_) if meeting == Meeting::Refuse => Some(Says::Line("550 5.1.1 Unknown")),
        At::Content => {
            let key = key.lock().unwrap_or_else(PoisonError::into_inner).clone();
            desk.meet(&key.expect("a mail has an id"), meeting)
        }
        At::Greeting
        | At::Hello
        | At::Authentication
        | At::Sender
        | At::Recipient(_)
        | At::Data => None,
    };
    let hears = |line: &str| {
        let id = line.strip_prefix("Message-ID: <").and_then(|line| line.split('@').next());
        if let Some(id) = id {
            *key.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
        }
    };
    // However it ends, the book says what came of it.
    let _ = speak(stream, says, hears).await;
}

impl Desk {
    /// Meets a mail that was read to its end.
    fn meet(&self, key: &str, meeting: Meeting) -> Option<Says> {
        let takes = matches!(meeting, Meeting::Take | Meeting::DropAfterCommit);
        self.book.send_modify(|book| {
            *book.requests.entry(key.to_owned()).or_default() += 1;
            *book.records.entry(key.to_owned()).or_default() += usize::from(takes);
        });
        match meeting {
            Meeting::Take => None,
            Meeting::Stall => Some(Says::Stalls),
            Meeting::DropAfterRead | Meeting::DropAfterCommit => Some(Says::Leaves),
            Meeting::Refuse | Meeting::DropUnread | Meeting::PointElsewhere => {
                unreachable!("met before the content")
            }
        }
    }
}
