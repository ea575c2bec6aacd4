//! One process after another: each lives for a while, stands still for a while, and is killed or shut down.

use std::sync::Arc;
use std::time::Duration;

use turnframe_ledger::EventLedger;
use turnframe_test::fault::CrashSwitch;
use turnframe_test::simulated::{Draw, SimulatedLedger};

use super::{Running, Simulation};

/// How long a process that will die lives after it owns its partitions, at most.
const LIFE_MAX: Duration = Duration::from_secs(5);
/// How long until somebody starts the next one, at most.
const DOWN_MAX: Duration = Duration::from_secs(3);
/// How often a process is stopped for a while before it ends.
const STANDS_STILL: f64 = 0.3;
/// For how long, at most: long enough for its leases to run out.
const STILL_MAX: Duration = Duration::from_secs(15);
/// How often a process that ends is asked to.
const SHUT_DOWN: f64 = 0.25;

impl Simulation {
    /// Lets processes live and die, and leaves the last one up.
    pub async fn live(self: Arc<Self>) {
        let deaths = self.chance.of("deaths", &[]).below(self.scenario.deaths_max + 1);
        let mut life = 0;
        loop {
            let mut draw = self.chance.of("life", &[]);
            let switch = CrashSwitch::new();
            if life >= deaths {
                if self.begin(life, switch, None).await {
                    return;
                }
            } else {
                let death = Death {
                    after: draw.within(LIFE_MAX),
                    stands_still: draw.happens(STANDS_STILL).then(|| stillness(&mut draw)),
                    is_shut_down: draw.happens(SHUT_DOWN),
                };
                self.begin(life, switch, Some(death)).await;
                tokio::time::sleep(draw.within(DOWN_MAX)).await;
            }
            life += 1;
        }
    }

    /// Starts a process, and waits for its death where it has one before it. Says whether it is up.
    async fn begin(&self, life: usize, switch: CrashSwitch, death: Option<Death>) -> bool {
        let node = self.node(switch.clone()).await;
        if let Some(death) = death {
            tokio::spawn(death.strike(node.clone(), switch.clone()));
        }
        let running = match switch.until_crash(self.start(life, node.clone())).await {
            Some(Ok(running)) => running,
            // It ends, and another one is started.
            Some(Err(_)) | None => {
                node.crash();
                return false;
            }
        };
        self.up.send_replace(Some(running.clone()));
        if let Some(death) = death {
            self.wait_for(death, &running, &switch).await;
            self.up.send_replace(None);
        }
        death.is_none()
    }

    async fn wait_for(&self, death: Death, running: &Running, switch: &CrashSwitch) {
        if death.is_shut_down {
            let end = async {
                tokio::time::sleep(death.after).await;
                running.system.clone().shutdown().await;
                running.node.close().await;
            };
            switch.until_crash(end).await;
            running.node.crash();
        }
        switch.crashed().await;
    }
}

/// When a process first stands still, and for how long.
fn stillness(draw: &mut Draw) -> (Duration, Duration) {
    (draw.within(LIFE_MAX), draw.within(STILL_MAX))
}

/// How a process comes to its end.
#[derive(Debug, Clone, Copy)]
struct Death {
    after: Duration,
    stands_still: Option<(Duration, Duration)>,
    is_shut_down: bool,
}

impl Death {
    async fn strike(self, node: Arc<SimulatedLedger>, switch: CrashSwitch) {
        if let Some((after, still)) = self.stands_still {
            tokio::time::sleep(after).await;
            node.pause();
            tokio::time::sleep(still).await;
            node.resume();
        }
        if !self.is_shut_down {
            tokio::time::sleep(self.after).await;
            switch.crash();
        }
    }
}
