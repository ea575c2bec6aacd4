//! Whether a process runs, stands still, or is dead.

use tokio::sync::watch;

use crate::fault::CrashSwitch;

/// The state of one process, which everything that it has to do with the outside world goes through.
#[derive(Debug)]
pub(super) struct Pulse {
    switch: CrashSwitch,
    stopped: watch::Sender<bool>,
}

impl Pulse {
    pub(super) fn new(switch: CrashSwitch) -> Self {
        Self { switch, stopped: watch::Sender::new(false) }
    }

    pub(super) fn switch(&self) -> &CrashSwitch {
        &self.switch
    }

    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    pub(super) fn go_on(&self) {
        self.stopped.send_replace(false);
    }

    /// Work that begins while the process runs, and whose outcome it learns while it runs. The dead learn nothing.
    pub(super) async fn through<T>(&self, work: impl Future<Output = T>) -> T {
        let work = async {
            self.running().await;
            let outcome = work.await;
            self.running().await;
            outcome
        };
        self.switch.alive(work).await
    }

    async fn running(&self) {
        if *self.stopped.borrow() {
            // The sender lives in `self`, so the wait ends with the process going on and not before.
            let _ = self.stopped.subscribe().wait_for(|stopped| !*stopped).await;
        }
    }
}
