//! The way to the airline: deliveries take their time, get lost, and arrive after their sender died.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile, Dispatched, Reconciled};
use turnframe_test::script::ScriptedDestination;
use turnframe_test::simulated::{Chance, SimulatedLedger};

/// How often what goes wrong on the way. Probabilities are from 0 to 1, for each call by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RemoteFaults {
    /// The longest that a delivery, and its answer, are under way. What an airline still receives after its sender
    /// gave up is bounded by the settling margin of the outbox.
    pub latency_max: Duration,
    /// There is no connection.
    pub not_sent: f64,
    /// The delivery gets lost.
    pub lost: f64,
    /// The answer gets lost.
    pub lost_answer: f64,
    /// A look-up has no answer.
    pub lookup_unanswered: f64,
}

impl RemoteFaults {
    /// Half of all attempts go well.
    #[must_use]
    pub const fn rough() -> Self {
        Self {
            latency_max: Duration::from_secs(2),
            not_sent: 0.15,
            lost: 0.15,
            lost_answer: 0.2,
            lookup_unanswered: 0.2,
        }
    }
}

/// One process's way to a remote that outlives it.
pub struct Remote {
    remote: Arc<ScriptedDestination>,
    node: Arc<SimulatedLedger>,
    chance: Arc<Chance>,
    faults: RemoteFaults,
}

impl Remote {
    /// A way that stands still and dies with a node.
    #[must_use]
    pub fn new(
        remote: Arc<ScriptedDestination>,
        node: Arc<SimulatedLedger>,
        chance: Arc<Chance>,
        faults: RemoteFaults,
    ) -> Self {
        Self { remote, node, chance, faults }
    }

    async fn send(&self, delivery: &Delivery) -> Dispatched {
        let key = delivery.idempotency_key();
        let mut draw = self.chance.of("dispatch", &[key.as_bytes()]);
        let unknown = || Dispatched::Unknown { reason: "the connection broke".to_owned() };
        if draw.happens(self.faults.not_sent) {
            return Dispatched::NotSent { reason: "no connection".to_owned() };
        }
        let (there, back) =
            (draw.within(self.faults.latency_max), draw.within(self.faults.latency_max));
        if draw.happens(self.faults.lost) {
            tokio::time::sleep(there).await;
            return unknown();
        }
        // It is on its way, whatever becomes of the process.
        let (remote, delivery) = (self.remote.clone(), delivery.clone());
        let arrived = tokio::spawn(async move {
            tokio::time::sleep(there).await;
            remote.dispatch(&delivery).await
        });
        let answer = arrived.await.unwrap_or_else(|_| unknown());
        tokio::time::sleep(back).await;
        if draw.happens(self.faults.lost_answer) { unknown() } else { answer }
    }

    async fn ask(&self, delivery: &Delivery) -> Reconciled {
        let key = delivery.idempotency_key();
        let mut draw = self.chance.of("reconcile", &[key.as_bytes()]);
        tokio::time::sleep(draw.within(self.faults.latency_max)).await;
        if draw.happens(self.faults.lookup_unanswered) {
            return Reconciled::StillUnknown { reason: "no answer".to_owned() };
        }
        self.remote.reconcile(delivery).await
    }
}

#[async_trait]
impl Destination for Remote {
    fn key(&self) -> DestinationKey {
        self.remote.key()
    }

    fn profile(&self) -> DestinationProfile {
        self.remote.profile()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        self.node.through(self.send(delivery)).await
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        self.node.through(self.ask(delivery)).await
    }
}
