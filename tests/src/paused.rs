//! A process that can be stopped between looking at its lease and sending: where no epoch fences it.
//!
//! Its way to the airline has a gate. When a send comes to it, the lease was looked at; the gate is a connection to
//! whoever tests, on which the send says that it is there and waits to be let go on.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use turnframe_core::id::DestinationKey;
use turnframe_core::source::IdSource;
use turnframe_ledger::EventLedger;
use turnframe_ledger::open::open;
use turnframe_ledger::postgres::NodeOptions;
use turnframe_runtime::port::{
    Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};
use turnframe_test::sources::SeededEntropy;
use turnframe_travel::AirlineDestination;
use uuid::Uuid;

use crate::world::{Backend, World};

/// The leases of the processes here.
const LEASE: Duration = Duration::from_secs(1);
/// Longer than a process is ever stopped here: what is late is late by the lease alone.
const TIMEOUT: Duration = Duration::from_secs(600);

/// One of several worlds on a database, whose airline is reached over HTTP. Its clock stands still.
///
/// # Panics
/// When the ledger or the airline cannot be used.
pub async fn world(url: &str, airline: &str, number: u64) -> World {
    let mut world = World::desk(Backend::Memory);
    // Ids of its own.
    world.ids = IdSource::new(world.clock.clone(), Arc::new(SeededEntropy::new(number)));
    let address = format!("http://127.0.0.1:{number}");
    let node = NodeOptions {
        lease: LEASE,
        ..NodeOptions::new(Uuid::from_u64_pair(number, number), address)
    };
    let ledger: Arc<dyn EventLedger> = open(url, Some(node)).await.expect("a ledger").ledger;
    world.ledger = Some(ledger);
    let airline = AirlineDestination::new(airline).expect("an airline").with_profile(profile());
    world.destination = Some(Arc::new(airline));
    world
}

/// One that is looked up before anything is sent again.
#[must_use]
pub fn profile() -> DestinationProfile {
    let resending = Resending::Never;
    DestinationProfile { timeout: TIMEOUT, resending, ..DestinationProfile::default() }
}

/// A way to a destination with a gate before each send.
pub struct Gated {
    inner: Arc<dyn Destination>,
    gate: String,
}

impl Gated {
    /// A gate at an address.
    #[must_use]
    pub fn new(inner: Arc<dyn Destination>, gate: String) -> Self {
        Self { inner, gate }
    }

    async fn pass(&self, delivery: &Delivery) -> std::io::Result<()> {
        let mut gate = BufReader::new(TcpStream::connect(&self.gate).await?);
        gate.get_mut().write_all(format!("{}\n", delivery.effect).as_bytes()).await?;
        gate.read_line(&mut String::new()).await?;
        Ok(())
    }
}

#[async_trait]
impl Destination for Gated {
    fn key(&self) -> DestinationKey {
        self.inner.key()
    }

    fn profile(&self) -> DestinationProfile {
        self.inner.profile()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        self.pass(delivery).await.expect("the gate");
        self.inner.dispatch(delivery).await
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        self.inner.reconcile(delivery).await
    }
}

/// A send that waits at a gate.
pub struct AtGate {
    /// Of which effect.
    pub effect: String,
    send: TcpStream,
}

impl AtGate {
    /// Waits for a send to come to the gate.
    ///
    /// # Panics
    /// When none can.
    pub async fn arrive(gate: &TcpListener) -> Self {
        let (send, _) = gate.accept().await.expect("a send");
        let mut send = BufReader::new(send);
        let mut line = String::new();
        send.read_line(&mut line).await.expect("an effect");
        Self { effect: line.trim().to_owned(), send: send.into_inner() }
    }

    /// Lets it go on.
    ///
    /// # Panics
    /// When it is gone.
    pub async fn open(mut self) {
        self.send.write_all(b"go\n").await.expect("the send waits");
    }
}
