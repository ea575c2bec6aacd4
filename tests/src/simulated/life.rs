//! One process after another: each lives for a while, stands still for a while, and is killed or shut down.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use turnframe_ledger::EventLedger;
use turnframe_test::fault::CrashSwitch;
use turnframe_test::simulated::{Draw, SimulatedLedger};

use super::{Running, Simulation};

/// How long a process that will die lives after it owns something, at most.
const LIFE_MAX: Duration = Duration::from_secs(5);
/// How long until somebody starts the next one, at most.
const DOWN_MAX: Duration = Duration::from_secs(3);
/// How often a process is stopped for a while before it ends.
const STANDS_STILL: f64 = 0.3;
/// For how long, at most: long enough for its leases to run out.
const STILL_MAX: Duration = Duration::from_secs(14);
/// How often a process that ends is asked to.
const SHUT_DOWN: f64 = 0.25;
/// How often the next process starts at another address, and has to wait for the leases of the one before.
const ELSEWHERE: f64 = 0.5;

impl Simulation {
    /// Lets processes live and die, and leaves the last ones up.
    pub async fn live(self: Arc<Self>) {
        let mut lanes = JoinSet::new();
        for lane in 0..self.scenario.processes {
            lanes.spawn(self.clone().one_after_another(lane));
        }
        lanes.join_all().await;
    }

    async fn one_after_another(self: Arc<Self>, lane: usize) {
        let about = [lane.to_be_bytes()];
        let about: [&[u8]; 1] = [&about[0]];
        let deaths = self.chance.of("deaths", &about).below(self.scenario.deaths_max + 1);
        for life in 0.. {
            let mut draw = self.chance.of("life", &about);
            let number = lane + self.scenario.processes * life;
            let is_elsewhere = draw.happens(ELSEWHERE);
            let address = format!("http://process-{}", if is_elsewhere { number } else { lane });
            let death = (life < deaths).then(|| Death {
                after: draw.within(LIFE_MAX),
                stands_still: draw.happens(STANDS_STILL).then(|| stillness(&mut draw)),
                is_shut_down: draw.happens(SHUT_DOWN),
            });
            if self.begin(number, &address, death).await {
                return;
            }
            tokio::time::sleep(draw.within(DOWN_MAX)).await;
        }
    }

    /// Starts a process, and waits for its death where it has one before it. Says whether it is up.
    async fn begin(&self, number: usize, address: &str, death: Option<Death>) -> bool {
        let switch = CrashSwitch::new();
        let node = self.node(address, switch.clone());
        if let Some(death) = death {
            tokio::spawn(death.strike(node.clone()));
        }
        let running = match switch.until_crash(self.start(number, node.clone())).await {
            Some(Ok(running)) => running,
            // It ends, and another one is started.
            Some(Err(_)) | None => {
                node.crash();
                return false;
            }
        };
        self.begins(running.clone());
        if let Some(death) = death {
            death.come(running).await;
            self.ends(number);
        }
        death.is_none()
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
    /// What befalls a process from outside.
    async fn strike(self, node: Arc<SimulatedLedger>) {
        owning(&node).await;
        if let Some((after, still)) = self.stands_still {
            tokio::time::sleep(after).await;
            node.pause();
            tokio::time::sleep(still).await;
            node.resume();
        }
        if !self.is_shut_down {
            tokio::time::sleep(self.after).await;
            node.crash();
        }
    }

    /// Waits until the process is no more, and ends it where it is asked to end.
    async fn come(self, running: Running) {
        let Running { node, system, .. } = running;
        if self.is_shut_down {
            let end = async {
                owning(&node).await;
                tokio::time::sleep(self.after).await;
                system.shutdown().await;
                node.close().await;
            };
            end.await;
            node.crash();
        }
        node.switch().crashed().await;
    }
}

/// Waits until a process has something to lose.
async fn owning(node: &SimulatedLedger) {
    let mut held = node.ownership().held();
    // The sender lives in the node.
    let _ = held.wait_for(|held| !held.partitions().is_empty()).await;
}
