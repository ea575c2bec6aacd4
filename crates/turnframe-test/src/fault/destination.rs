//! The destination double that enumerates dispatch boundaries and strikes at them.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::{
    Callbacks, Delivery, Destination, DestinationProfile, Dispatched, Reconciled,
};

use super::boundary::{Boundary, Crash, CrashPoint};
use super::plan::{Boundaries, FaultPlan, Place};
use super::switch::CrashSwitch;

/// What can befall a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DispatchFault {
    /// The process dies before it sends, or after it sent and before the answer.
    Crash(Crash),
    /// Nothing is sent, and this is answered.
    Answer(Dispatched),
    /// It is sent, and its answer gets lost.
    LostAnswer,
}

impl From<Crash> for DispatchFault {
    fn from(crash: Crash) -> Self {
        Self::Crash(crash)
    }
}

/// A process's way to a destination that outlives it.
///
/// Every send is a [`Boundary`] called `destination: operation`; a look-up changes nothing outside and is none. Once
/// the switch is thrown, nothing here returns.
pub struct FaultDestination {
    inner: Arc<dyn Destination>,
    boundaries: Boundaries<DispatchFault>,
    switch: CrashSwitch,
}

impl fmt::Debug for FaultDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FaultDestination").field(&self.boundaries).finish()
    }
}

impl FaultDestination {
    /// A way that follows a plan and dies with a switch.
    #[must_use]
    pub fn new(
        inner: Arc<dyn Destination>,
        plan: FaultPlan<DispatchFault>,
        switch: CrashSwitch,
    ) -> Self {
        Self { inner, boundaries: Boundaries::new(plan), switch }
    }

    /// The boundaries that the run has come by, in order.
    #[must_use]
    pub fn enumerated(&self) -> Vec<Boundary> {
        self.boundaries.enumerated()
    }

    /// The places of the plan that the run has not come by.
    #[must_use]
    pub fn unhit(&self) -> Vec<Place> {
        self.boundaries.unhit()
    }

    /// Where the run died, if it died here.
    #[must_use]
    pub fn crashed_at(&self) -> Option<CrashPoint> {
        self.boundaries.crashed_at()
    }

    async fn pass(&self, delivery: &Delivery) -> Dispatched {
        let name = format!("{}: {}", self.inner.key(), delivery.operation);
        let (boundary, fault) = self.boundaries.pass(name);
        match fault {
            None => self.inner.dispatch(delivery).await,
            Some(DispatchFault::Answer(answer)) => answer,
            Some(DispatchFault::LostAnswer) => {
                self.inner.dispatch(delivery).await;
                Dispatched::Unknown { reason: "the answer was lost".to_owned() }
            }
            Some(DispatchFault::Crash(crash)) => {
                if crash == Crash::After {
                    self.inner.dispatch(delivery).await;
                }
                self.boundaries.note_crash(CrashPoint { boundary, crash });
                self.switch.crash();
                std::future::pending().await
            }
        }
    }
}

#[async_trait]
impl Destination for FaultDestination {
    fn key(&self) -> DestinationKey {
        self.inner.key()
    }

    fn profile(&self) -> DestinationProfile {
        self.inner.profile()
    }

    fn callbacks(&self) -> Option<&dyn Callbacks> {
        self.inner.callbacks()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        self.switch.alive(self.pass(delivery)).await
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        self.switch.alive(self.inner.reconcile(delivery)).await
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use turnframe_ledger::EventLedger;
    use turnframe_ledger::memory::MemoryLedger;

    use super::super::ledger::FaultLedger;
    use super::*;
    use crate::script::{ScriptedDestination, delivery};

    fn office() -> Arc<ScriptedDestination> {
        Arc::new(ScriptedDestination::accepting("desk-office"))
    }

    fn way(
        to: &Arc<ScriptedDestination>,
        plan: FaultPlan<DispatchFault>,
        switch: &CrashSwitch,
    ) -> FaultDestination {
        FaultDestination::new(to.clone(), plan, switch.clone())
    }

    #[tokio::test]
    async fn a_crash_before_the_send_leaves_the_remotes_book_empty_and_one_after_it_does_not() {
        for (crash, performed) in [(Crash::Before, 0), (Crash::After, 1)] {
            let (office, switch) = (office(), CrashSwitch::new());
            let plan = FaultPlan::none().with("desk-office: order", crash);
            let way = way(&office, plan, &switch);
            let order = delivery("order", 1);
            assert!(way.dispatch(&order).now_or_never().is_none());
            assert!(switch.is_dead());
            assert_eq!(office.performed(&order.idempotency_key()), performed);
            assert_eq!(way.crashed_at().map(|point| point.crash), Some(crash));
            assert!(way.reconcile(&order).now_or_never().is_none(), "the dead look nothing up");
        }
    }

    #[tokio::test]
    async fn a_crash_at_a_send_takes_the_ledger_of_the_process_with_it() {
        let (office, switch) = (office(), CrashSwitch::new());
        let inner = Arc::new(MemoryLedger::new());
        let ledger = FaultLedger::new(inner, FaultPlan::none(), switch.clone());
        let way = way(&office, FaultPlan::none().with(1, Crash::Before), &switch);
        assert!(way.dispatch(&delivery("order", 1)).now_or_never().is_none());
        let partition = turnframe_ledger::PartitionId::all().next().expect("partition");
        assert!(ledger.head(partition).now_or_never().is_none());
        assert_eq!(ledger.crashed_at(), None, "it died elsewhere");
    }

    #[tokio::test]
    async fn a_lost_answer_is_unknown_though_the_remote_acted() {
        let (office, switch) = (office(), CrashSwitch::new());
        let plan = FaultPlan::none()
            .with(1, DispatchFault::LostAnswer)
            .with(2, DispatchFault::Answer(Dispatched::rejected("closed")))
            .with(9, Crash::After);
        let way = way(&office, plan, &switch);
        let order = delivery("order", 1);
        assert!(matches!(way.dispatch(&order).await, Dispatched::Unknown { .. }));
        assert_eq!(office.performed(&order.idempotency_key()), 1);
        let other = delivery("order", 2);
        let refused = Dispatched::rejected("closed");
        assert_eq!(way.dispatch(&other).await, refused);
        assert_eq!(office.performed(&other.idempotency_key()), 0);
        let names: Vec<_> = way.enumerated().iter().map(ToString::to_string).collect();
        let name = "desk-office: order (occurrence";
        assert_eq!(names, [format!("1 {name} 1)"), format!("2 {name} 2)")]);
        assert_eq!(way.unhit(), [Place::from(9)]);
    }
}
