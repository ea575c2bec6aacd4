//! The crash matrix: a scenario once without faults, and once more for each boundary and each side of it.
//!
//! Boundaries are appends and sends. Dying after a remote's answer and before its conclusion is dying before the append
//! of the conclusion.
//!
//! At every crash the process state is thrown away with its runtime, a new process starts on the same ledger, and
//! the client posts its turn again under the same id. At the end stands what stands without the crash.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use turnframe_actors::{ResolveError, TurnInput};
use turnframe_core::interaction::InteractionView;
use turnframe_runtime::effect::OperatorDecision;
use turnframe_test::fault::{Boundary, Coverage, CrashPoint, CrashSwitch, FaultPlan};

use turnframe_travel::airline::Standing;

use crate::world::{Process, World, clicked, has_attempt_on_its_way, said};

/// How long a process may take to die of an append that is on the ledger.
const DYING: Duration = Duration::from_secs(5);

/// What the user does next.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Says this.
    Say(&'static str),
    /// Clicks this option of the only open card.
    Click(&'static str),
    /// Clicks this option of the card that an earlier step (by number, from 0) clicked.
    ClickAgain(usize, &'static str),
    /// The airline calls back to say this of the first effect, as its statement of this number.
    CallBack(fn() -> Standing, u32),
    /// An operator decides this about the first effect.
    Decide(fn() -> OperatorDecision),
    /// Lets time pass, so that look-ups come due.
    Wait(Duration),
}

/// What stands at the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Transcript, cards and views, with ids renamed.
    pub state: String,
    /// How often the remote acted, in all.
    pub performed: usize,
    /// Whether the process died while an attempt was on its way: then nobody knows what became of it, and the run
    /// has to say so until a look-up finds out.
    pub left_an_attempt: bool,
}

/// What a boundary lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touches {
    /// The process and its ledger.
    Ledger,
    /// The process and a remote.
    Remote,
}

/// Runs a scenario clean, and then once per crash point. Says how many sends the clean run came by.
///
/// # Panics
/// When a run ends otherwise than the clean one, a key was acted on twice, or a boundary was never struck.
pub fn play(
    make: impl Fn() -> World,
    steps: &[Step],
    compare: impl Fn(&CrashPoint, &End, &End),
) -> usize {
    let world = make();
    let clean = Run::new(&world, steps).run_to_the_end(None);
    world.leave();
    assert!(clean.appends.len() > steps.len(), "a scenario has boundaries");
    for (touches, boundaries) in
        [(Touches::Ledger, &clean.appends), (Touches::Remote, &clean.sends)]
    {
        let mut coverage = Coverage::of(boundaries);
        for point in coverage.points().to_vec() {
            let world = make();
            let crashed = Run::new(&world, steps).run_to_the_end(Some((touches, &point)));
            assert!(world.airline.repeated().is_empty(), "{point}: an effect happened twice");
            coverage.note(crashed.struck.clone());
            compare(&point, &clean.end, &crashed.end);
            world.leave();
        }
        assert!(coverage.unhit().is_empty(), "never struck: {:?}", coverage.unhit());
    }
    clean.sends.len()
}

/// The end is the same, whatever died in between.
///
/// # Panics
/// When it is not.
pub fn same(point: &CrashPoint, clean: &End, crashed: &End) {
    if let Some(difference) = first_difference(&clean.state, &crashed.state) {
        panic!("after a crash {point}:\n{difference}");
    }
    assert_eq!(clean.performed, crashed.performed, "after a crash {point}");
}

/// Where two states part, with the lines before.
fn first_difference(clean: &str, crashed: &str) -> Option<String> {
    const LINES_BEFORE: usize = 12;
    let (clean, crashed): (Vec<_>, Vec<_>) = (clean.lines().collect(), crashed.lines().collect());
    let longest = clean.len().max(crashed.len());
    let at = (0..longest).find(|line| clean.get(*line) != crashed.get(*line))?;
    let before = clean[at.saturating_sub(LINES_BEFORE)..at].join("\n");
    let line = |lines: &[&str]| lines.get(at).copied().unwrap_or("(the end)").to_owned();
    Some(format!("{before}\n- {}\n+ {}", line(&clean), line(&crashed)))
}

struct Finished {
    end: End,
    appends: Vec<Boundary>,
    sends: Vec<Boundary>,
    struck: Option<CrashPoint>,
}

struct Run<'a> {
    world: &'a World,
    steps: &'a [Step],
    done: usize,
    /// What was posted for each step: a client that posts again posts the same.
    posted: BTreeMap<usize, TurnInput>,
    cards: BTreeMap<usize, InteractionView>,
}

impl<'a> Run<'a> {
    fn new(world: &'a World, steps: &'a [Step]) -> Self {
        Self { world, steps, done: 0, posted: BTreeMap::new(), cards: BTreeMap::new() }
    }

    fn run_to_the_end(mut self, point: Option<(Touches, &CrashPoint)>) -> Finished {
        let mut struck = None;
        if let Some((touches, point)) = point {
            let runtime = runtime();
            let finished = runtime.block_on(self.until_the_crash(touches, point));
            runtime.shutdown_background();
            match finished {
                Some(crashed_at) => struck = Some(crashed_at),
                None => panic!("the run never came by {point}"),
            }
        }
        let runtime = runtime();
        let (end, appends, sends) = runtime.block_on(async {
            let opened = self.world.open().await;
            let left_an_attempt = has_attempt_on_its_way(opened.ledger.as_ref()).await;
            let (appends, sends) = (FaultPlan::none(), FaultPlan::none());
            let switch = CrashSwitch::new();
            let process = self.world.start_on(opened, appends, sends, switch).await;
            self.steps(&process).await;
            let performed =
                self.world.airline.book().values().map(|it| it.performed as usize).sum();
            let end = End { state: process.end_state().await, performed, left_an_attempt };
            let (appends, sends) = (process.faults.enumerated(), process.remote.enumerated());
            process.system.shutdown().await;
            (end, appends, sends)
        });
        Finished { end, appends, sends, struck }
    }

    async fn until_the_crash(
        &mut self,
        touches: Touches,
        point: &CrashPoint,
    ) -> Option<CrashPoint> {
        let switch = CrashSwitch::new();
        let (appends, sends) = match touches {
            Touches::Ledger => (point.plan(), FaultPlan::none()),
            Touches::Remote => (FaultPlan::none(), point.plan()),
        };
        let process = self.world.start_with(appends, sends, switch.clone()).await;
        tokio::select! {
            biased;
            () = switch.crashed() => process.faults.crashed_at().or(process.remote.crashed_at()),
            // The last append of a run can be seen before its process has died of it.
            () = async {
                self.steps(&process).await;
                drop(tokio::time::timeout(DYING, switch.crashed()).await);
            } => process.faults.crashed_at().or(process.remote.crashed_at()),
        }
    }

    async fn steps(&mut self, process: &Process) {
        process.begin().await;
        process.rest().await;
        while self.done < self.steps.len() {
            self.step(process, self.done).await;
            process.rest().await;
            // Ids are ordered by time: what comes in another step comes at another time.
            self.world.clock.advance(Duration::from_secs(1));
            self.done += 1;
        }
    }

    async fn step(&mut self, process: &Process, index: usize) {
        if let Step::Decide(decision) = self.steps[index] {
            return self.decide(process, &decision()).await;
        }
        if let Step::CallBack(standing, sequence) = self.steps[index] {
            let effect = process.effects().await[0];
            let (id, says) = (format!("w{index}"), (effect, standing(), sequence));
            process.call_back(&id, says).await.expect("heard");
            return;
        }
        if !self.posted.contains_key(&index) {
            let input = match self.steps[index] {
                Step::Say(text) => said(text),
                Step::Click(option) => {
                    let card = process.card().await;
                    self.cards.insert(index, card.clone());
                    clicked(&card, option)
                }
                Step::ClickAgain(earlier, option) => clicked(&self.cards[&earlier], option),
                Step::Wait(time) => return self.world.clock.advance(time),
                Step::CallBack(..) | Step::Decide(_) => unreachable!("nothing is posted"),
            };
            self.posted.insert(index, input);
        }
        let input = self.posted[&index].clone();
        process.post(&format!("t{index}"), input).await.expect("answered");
    }
}

impl Run<'_> {
    /// Decides once that is possible: what a crash took away is done later.
    async fn decide(&self, process: &Process, decision: &OperatorDecision) {
        const LOOKS_MAX: usize = 100;
        const LATER: Duration = Duration::from_secs(60);
        // Time has passed since the step before: what came due by that comes first, in every run.
        process.rest().await;
        let effect = process.effects().await[0];
        for _ in 0..LOOKS_MAX {
            match process.decide(effect, decision.clone()).await {
                Err(ResolveError::NotParked) => {
                    self.world.clock.advance(LATER);
                    process.rest().await;
                }
                // Decided before the crash, it stands.
                Ok(()) | Err(ResolveError::Concluded | ResolveError::Parked) => return,
                Err(error) => panic!("{error}"),
            }
        }
        panic!("it is never parked");
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}
