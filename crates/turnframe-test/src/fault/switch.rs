//! The one switch that everything of a process shares.

use std::sync::Arc;

use tokio::sync::watch;

/// Whether a process lives. Its ledger, its destinations and the test share one; a crash cannot be undone.
#[derive(Debug, Clone)]
pub struct CrashSwitch(Arc<watch::Sender<bool>>);

impl Default for CrashSwitch {
    fn default() -> Self {
        Self::new()
    }
}

impl CrashSwitch {
    /// The switch of a process that lives.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Ends the process: from now on nothing that is guarded by this switch returns.
    pub fn crash(&self) {
        self.0.send_replace(true);
    }

    /// Whether the process has crashed.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves once the process has crashed.
    pub async fn crashed(&self) {
        // The sender lives in `self`, so the wait ends with the crash and not before.
        let _ = self.0.subscribe().wait_for(|dead| *dead).await;
    }

    /// What the work comes to, unless the process crashes first. The work stops where it stands, and is dropped: how
    /// a test runs a scenario that may die.
    pub async fn until_crash<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.crashed() => None,
            outcome = work => Some(outcome),
        }
    }

    /// What the work comes to, while the process lives; after a crash its outcome is never heard of. How everything
    /// that a process has is guarded.
    pub async fn alive<T>(&self, work: impl Future<Output = T>) -> T {
        match self.until_crash(work).await {
            Some(outcome) => outcome,
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn work_returns_while_the_process_lives_and_never_after_its_crash() {
        let switch = CrashSwitch::new();
        assert_eq!(switch.alive(async { 7 }).now_or_never(), Some(7));
        assert_eq!(switch.until_crash(async { 7 }).now_or_never(), Some(Some(7)));
        assert!(switch.crashed().now_or_never().is_none());
        switch.clone().crash();
        assert!(switch.is_dead());
        assert!(switch.crashed().now_or_never().is_some());
        assert_eq!(switch.alive(async { 7 }).now_or_never(), None);
        assert_eq!(switch.until_crash(async { 7 }).now_or_never(), Some(None));
    }

    #[tokio::test]
    async fn a_crash_stops_work_that_is_under_way() {
        let switch = CrashSwitch::new();
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let mut work = Box::pin(switch.alive(receiver));
        assert!(futures::poll!(&mut work).is_pending());
        switch.crash();
        assert!(futures::poll!(&mut work).is_pending());
        assert!(sender.is_closed(), "the work was dropped where it stood");
    }
}
