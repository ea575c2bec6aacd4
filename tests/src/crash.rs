//! Processes that die, and processes that come after them, each with a runtime of its own to be thrown away.

use tokio::runtime::{Builder, Runtime};
use turnframe_test::fault::{CrashSwitch, DispatchFault, FaultPlan, LedgerFault};

use crate::world::{Backend, Process, World};

/// Runs a test on every backend, side by side: one waits for a file, another for a server, and none for one another.
///
/// # Panics
/// When it fails on one, after it has run on all.
pub fn on_every_backend(test: impl Fn(Backend) + Sync) {
    std::thread::scope(|scope| {
        let running = Backend::ALL.map(|backend| {
            let test = &test;
            let named = std::thread::Builder::new().name(format!("{backend:?}"));
            named.spawn_scoped(scope, move || test(backend)).expect("a thread")
        });
        let ended = running.map(|it| it.join());
        if let Some(failed) = ended.into_iter().find_map(Result::err) {
            std::panic::resume_unwind(failed);
        }
    });
}

/// Runs a test on every backend, each in a runtime of its own.
///
/// # Panics
/// When it fails on one.
pub fn everywhere<F: Future<Output = ()>>(test: impl Fn(Backend) -> F + Sync) {
    on_every_backend(|backend| runtime().block_on(test(backend)));
}

/// Runs work in a process that dies at a fault of the plans, and throws away what the process was.
///
/// # Panics
/// When the work comes to its end and the process still lives.
pub fn until_the_crash<F: Future<Output = ()>>(
    world: &World,
    appends: FaultPlan<LedgerFault>,
    dispatches: FaultPlan<DispatchFault>,
    work: impl FnOnce(Process) -> F,
) {
    let runtime = runtime();
    let died = runtime.block_on(async {
        let switch = CrashSwitch::new();
        let process = world.start_with(appends, dispatches, switch.clone()).await;
        switch.until_crash(work(process)).await.is_none()
    });
    runtime.shutdown_background();
    assert!(died, "the process did not come by the place where it was to die");
}

/// Runs work in a process that starts on what is there, and shuts it down.
pub fn in_a_process<T, F: Future<Output = T>>(world: &World, work: impl FnOnce(Process) -> F) -> T {
    let runtime = runtime();
    let outcome = runtime.block_on(async {
        let process = world.start().await;
        let outcome = work(process.clone()).await;
        process.system.shutdown().await;
        outcome
    });
    runtime.shutdown_background();
    outcome
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}
