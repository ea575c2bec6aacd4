//! Whether a process runs, stands still, or is dead.

use super::signal::Signal;
use crate::fault::CrashSwitch;

/// The state of one process, which everything that it has to do with the outside world goes through.
#[derive(Debug)]
pub(super) struct Pulse {
    switch: CrashSwitch,
    is_stopped: Signal<bool>,
}

impl Pulse {
    pub(super) fn new(switch: CrashSwitch) -> Self {
        Self { switch, is_stopped: Signal::new(false) }
    }

    pub(super) fn switch(&self) -> &CrashSwitch {
        &self.switch
    }

    pub(super) fn stop(&self) {
        self.is_stopped.set(true);
    }

    pub(super) fn go_on(&self) {
        self.is_stopped.set(false);
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
        self.is_stopped.until(|is_stopped| (!is_stopped).then_some(())).await;
    }
}
