//! The shared truth: entries, leases, and what befalls transactions on their way.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use tokio::time::Instant;
use turnframe_ledger::admission::Intake;
use turnframe_ledger::append::Appended;
use turnframe_ledger::memory::MemoryLedger;
use turnframe_ledger::{Append, AppendError, EventLedger, PartitionId, Position};

use super::chance::{Chance, Draw};
use super::faults::{Fate, Faults, Struck};
use super::lease::{Epochs, LeaseTerms, Leases, NodeId};
use super::node::{Node, SimulatedLedger};
use crate::fault::CrashSwitch;

pub(super) type Answer = Result<Appended, AppendError>;

/// A database that several processes share.
///
/// It outlives them: what a dead process had sent may still land, under the epoch that it was sent with.
#[derive(Clone)]
pub struct SimulatedDatabase(Arc<Database>);

impl fmt::Debug for SimulatedDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimulatedDatabase").field(&self.0.faults()).finish()
    }
}

impl SimulatedDatabase {
    /// An empty database, whose faults are those of a seed.
    #[must_use]
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self::with_terms(seed, faults, LeaseTerms::default())
    }

    /// An empty database with leases on other terms.
    #[must_use]
    pub fn with_terms(seed: u64, faults: Faults, terms: LeaseTerms) -> Self {
        Self(Arc::new(Database {
            ledger: MemoryLedger::new(),
            leases: Mutex::new(Leases::new(terms, Instant::now())),
            terms,
            nodes: Mutex::default(),
            addresses: Mutex::default(),
            chance: Chance::new(seed),
            faults: Mutex::new(faults),
            struck: Mutex::default(),
        }))
    }

    /// What goes wrong from now on. Commits that are late by now still land.
    pub fn set_faults(&self, faults: Faults) {
        *locked(&self.0.faults) = faults;
    }

    /// What has gone wrong so far, and how often: a run in which nothing did shows nothing.
    #[must_use]
    pub fn struck(&self) -> Struck {
        *locked(&self.0.struck)
    }

    /// A process's ledger on this database, with an address that it advertises. It owns nothing yet, and sets out
    /// to own its share; an earlier process at this address cannot be running if this one is, so that its leases end.
    /// Everything of the process ends with the switch. Asked for within a runtime.
    #[must_use]
    pub fn node(&self, address: &str, switch: CrashSwitch) -> SimulatedLedger {
        let id = self.0.enlist(address);
        let node = Arc::new(Node::new(id, self.0.clone(), switch));
        let mut nodes = locked(&self.0.nodes);
        nodes.retain(|node| node.strong_count() > 0);
        nodes.push(Arc::downgrade(&node));
        drop(nodes);
        SimulatedLedger::start(node)
    }

    /// Everything that is committed at this moment, read past all faults: what a test compares runs by. Appending
    /// to it is left to nodes.
    #[must_use]
    pub fn truth(&self) -> &dyn EventLedger {
        &self.0.ledger
    }
}

pub(super) struct Database {
    pub(super) ledger: MemoryLedger,
    leases: Mutex<Leases>,
    pub(super) terms: LeaseTerms,
    nodes: Mutex<Vec<Weak<Node>>>,
    /// Of every node that there ever was; the n-th is that of node n + 1.
    addresses: Mutex<Vec<String>>,
    chance: Chance,
    faults: Mutex<Faults>,
    struck: Mutex<Struck>,
}

/// Who writes: a transaction is judged by the epochs that its sender knew when it was sent.
#[derive(Clone)]
pub(super) struct Writer {
    pub(super) node: Weak<Node>,
    pub(super) id: NodeId,
    pub(super) epochs: Arc<Epochs>,
}

impl Database {
    pub(super) fn faults(&self) -> Faults {
        *locked(&self.faults)
    }

    pub(super) fn draw(&self, node: NodeId, call: &str, about: &[&[u8]]) -> Draw {
        let node = node.to_be_bytes();
        let mut parts: Vec<&[u8]> = vec![&node];
        parts.extend(about);
        self.chance.of(call, &parts)
    }

    pub(super) fn leases(&self) -> MutexGuard<'_, Leases> {
        locked(&self.leases)
    }

    pub(super) fn note(&self, strike: impl FnOnce(&mut Struck)) {
        strike(&mut locked(&self.struck));
    }

    /// Gives a process a name of its own, and ends the leases of those before it at its address.
    fn enlist(&self, address: &str) -> NodeId {
        let mut addresses = locked(&self.addresses);
        let before = (1..).zip(addresses.iter()).filter(|(_, other)| *other == address);
        self.leases().end(before.map(|(id, _)| id), Instant::now());
        addresses.push(address.to_owned());
        addresses.len() as NodeId
    }

    pub(super) fn address_of(&self, id: NodeId) -> Option<String> {
        let index = usize::try_from(id).ok()?.checked_sub(1)?;
        locked(&self.addresses).get(index).cloned()
    }

    /// Carries a batch out, in one transaction or torn into two, each with a fate of its own.
    pub(super) async fn carry_out(
        self: Arc<Self>,
        writer: Writer,
        mut batch: Vec<Append>,
        mut draw: Draw,
    ) -> Vec<Answer> {
        let faults = self.faults();
        let rest = faults.tear(&mut draw, batch.len()).map(|at| batch.split_off(at));
        self.note(|it| it.torn += u64::from(rest.is_some()));
        let mut answers = self.transact(&writer, batch, faults.fate(&mut draw)).await;
        if let Some(rest) = rest {
            answers.extend(self.transact(&writer, rest, faults.fate(&mut draw)).await);
        }
        answers
    }

    async fn transact(
        self: &Arc<Self>,
        writer: &Writer,
        batch: Vec<Append>,
        fate: Fate,
    ) -> Vec<Answer> {
        match fate {
            Fate::Refused => {
                self.note(|it| it.refused += 1);
                let reason = "no connection".to_owned();
                Intake::new(&batch).withdraw(&AppendError::Unavailable { reason })
            }
            Fate::Commits { takes, is_acknowledged } => {
                pass(takes).await;
                self.note(|it| it.slow += u64::from(!takes.is_zero()));
                let answers = self.commit(writer, batch);
                self.note(|it| it.lost_acks += u64::from(!is_acknowledged));
                if is_acknowledged { answers } else { answers.into_iter().map(untold).collect() }
            }
            Fate::Late { lands_after } => {
                let told = Intake::new(&batch).withdraw(&unknown());
                if let Some(lands_after) = lands_after {
                    let (database, writer) = (self.clone(), writer.clone());
                    tokio::spawn(async move {
                        pass(lands_after).await;
                        // Nobody listens any more.
                        let answers = database.commit(&writer, batch);
                        database.note(|it| match answers.iter().any(Result::is_ok) {
                            true => it.landed_late += 1,
                            false => it.came_too_late += 1,
                        });
                    });
                }
                told
            }
        }
    }

    /// The one moment at which a transaction happens: appends to partitions that are not the writer's are fenced, the
    /// others are judged and written.
    fn commit(&self, writer: &Writer, batch: Vec<Append>) -> Vec<Answer> {
        let leases = self.leases();
        let fence = |append: &Append| {
            let partition = PartitionId::of(&append.account);
            let is_open = leases.admits(writer.id, &writer.epochs, partition);
            (!is_open && append.check().is_ok()).then_some(partition)
        };
        let fences: Vec<Option<PartitionId>> = batch.iter().map(fence).collect();
        let open = batch.into_iter().zip(&fences);
        let open: Vec<Append> =
            open.filter(|(_, fence)| fence.is_none()).map(|(append, _)| append).collect();
        // The ledger in memory never waits, so nothing comes between the fence and the commit.
        let written = self.ledger.append(open).now_or_never().unwrap_or_default();
        drop(leases);
        self.tell(writer, &written);
        self.note(|it| it.fenced += fences.iter().flatten().count() as u64);
        let mut written = written.into_iter();
        let answer = |fence| match fence {
            Some(partition) => Err(AppendError::Fenced { partition }),
            None => written.next().unwrap_or_else(|| Err(unknown())),
        };
        fences.into_iter().map(answer).collect()
    }

    /// Counts what was written for its writer, and hints at it to every node.
    fn tell(&self, writer: &Writer, answers: &[Answer]) {
        let written = answers.iter().filter_map(|answer| answer.as_ref().ok());
        if let Some(node) = writer.node.upgrade() {
            let entries = written.clone().map(|appended| appended.entries.len() as u64).sum();
            node.count(entries);
        }
        let hint_lost = self.faults().hint_lost;
        let nodes: Vec<Arc<Node>> = locked(&self.nodes).iter().filter_map(Weak::upgrade).collect();
        for appended in written {
            let head = Position(appended.first_position.0 + appended.entries.len() as u64 - 1);
            let at = [appended.partition.number().to_be_bytes().as_slice(), &head.0.to_be_bytes()]
                .concat();
            for node in &nodes {
                if self.draw(node.id, "hint", &[&at]).happens(hint_lost) {
                    self.note(|it| it.hints_lost += 1);
                } else {
                    node.hint(appended.partition, head);
                }
            }
        }
    }
}

/// What the sender hears of a transaction whose acknowledgement was lost. What was refused beside it wrote nothing,
/// but its reason may be an append that nobody was told of.
fn untold(answer: Answer) -> Answer {
    match answer {
        Ok(_) => Err(unknown()),
        Err(AppendError::Refused(reason)) => Err(AppendError::Refused(reason)),
        Err(_) => Err(AppendError::Unavailable {
            reason: "refused beside a batch whose acknowledgement was lost".to_owned(),
        }),
    }
}

pub(super) fn unknown() -> AppendError {
    AppendError::OutcomeUnknown { reason: "the connection broke".to_owned() }
}

/// Lets time pass, and nothing where there is none.
pub(super) async fn pass(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is written under a lock here is written at once.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
