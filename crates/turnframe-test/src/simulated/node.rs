//! One process's ledger on the shared database.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::sync::{RwLock, watch};
use tokio::task::AbortHandle;
use turnframe_core::id::{AccountId, DomainActorKey, EffectId};
use turnframe_ledger::admission::Intake;
use turnframe_ledger::ledger::LedgerStatistics;
use turnframe_ledger::stream::PARTITIONS;
use turnframe_ledger::{
    Append, AppendError, Backlog, Entry, EventLedger, KeyName, KeyRecord, Mark, MarkQuery, Owner,
    Ownership, PartitionId, PartitionSet, Position, ReadError, StreamName, Version,
};

use super::database::{Answer, Database, Writer, locked, pass, unknown};
use super::keeper;
use super::lease::{Epochs, NodeId};
use super::pulse::Pulse;
use crate::fault::CrashSwitch;

const CLOSED: &str = "the ledger was closed";

/// What a process knows of itself: shared by its ledger, and by the task that keeps its leases.
pub(super) struct Node {
    pub(super) id: NodeId,
    pub(super) database: Arc<Database>,
    pub(super) ownership: Ownership,
    pub(super) pulse: Pulse,
    epochs: Mutex<Arc<Epochs>>,
    hints: Vec<watch::Sender<Position>>,
    statistics: Mutex<LedgerStatistics>,
    /// Read by every append for as long as it runs; set once none runs any more.
    is_closed: RwLock<bool>,
}

impl Node {
    pub(super) fn new(id: NodeId, database: Arc<Database>, switch: CrashSwitch) -> Self {
        Self {
            id,
            database,
            ownership: Ownership::none(),
            pulse: Pulse::new(switch),
            epochs: Mutex::default(),
            hints: (0..PARTITIONS).map(|_| watch::Sender::new(Position::START)).collect(),
            statistics: Mutex::default(),
            is_closed: RwLock::default(),
        }
    }

    /// Writes under these epochs from now on.
    pub(super) fn know(&self, epochs: Epochs) {
        *locked(&self.epochs) = Arc::new(epochs);
    }

    /// The epochs it writes under.
    pub(super) fn epochs(&self) -> Arc<Epochs> {
        locked(&self.epochs).clone()
    }

    pub(super) fn hint(&self, partition: PartitionId, head: Position) {
        self.hints[usize::from(partition.number())].send_if_modified(|known| {
            let is_newer = *known < head;
            *known = head.max(*known);
            is_newer
        });
    }

    pub(super) fn count(&self, entries: u64) {
        let mut statistics = locked(&self.statistics);
        statistics.commits += u64::from(entries > 0);
        statistics.entries += entries;
    }

    fn writer(self: &Arc<Self>) -> Writer {
        Writer { node: Arc::downgrade(self), id: self.id, epochs: self.epochs() }
    }

    /// Was told that partitions are somebody else's by now, unless it has taken them again since it asked.
    fn note_fenced(&self, answers: &[Answer], asked_under: &Epochs) {
        let mut fenced = PartitionSet::NONE;
        for answer in answers {
            if let Err(AppendError::Fenced { partition }) = answer {
                fenced.insert(*partition);
            }
        }
        let now_under = self.epochs();
        for partition in fenced.iter() {
            if now_under.get(&partition) == asked_under.get(&partition) {
                self.ownership.lose(partition);
            }
        }
    }

    /// A read on its way there and back.
    async fn read<T>(
        &self,
        call: &str,
        about: &[&[u8]],
        look: impl Future<Output = Result<T, ReadError>>,
    ) -> Result<T, ReadError> {
        let look = async {
            if *self.is_closed.read().await {
                return Err(ReadError::Unavailable { reason: CLOSED.to_owned() });
            }
            let faults = self.database.faults();
            let mut draw = self.database.draw(self.id, call, about);
            pass(draw.within(faults.latency_max)).await;
            let answer = if draw.happens(faults.unreadable) {
                self.database.note(|it| it.unreadable += 1);
                Err(ReadError::Unavailable { reason: "the connection broke".to_owned() })
            } else {
                look.await
            };
            pass(draw.within(faults.latency_max)).await;
            answer
        };
        self.pulse.through(look).await
    }
}

/// One process's ledger on a [`SimulatedDatabase`](super::SimulatedDatabase).
///
/// It takes leases as a backend of several processes does: it renews them again and again, shares the partitions
/// evenly with the other nodes that live, gives those up that are too many once nobody here acts for them, and takes
/// what is free or has lapsed, under a new epoch.
pub struct SimulatedLedger {
    node: Arc<Node>,
    keeper: AbortHandle,
}

impl fmt::Debug for SimulatedLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.node.ownership.held().borrow().partitions();
        f.debug_struct("SimulatedLedger").field("node", &self.node.id).field("held", &held).finish()
    }
}

impl Drop for SimulatedLedger {
    /// Its leases lapse.
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl SimulatedLedger {
    pub(super) fn start(node: Arc<Node>) -> Self {
        for partition in PartitionId::all() {
            let head = node.database.ledger.hints(partition);
            node.hint(partition, *head.borrow());
        }
        let keeper = tokio::spawn(keeper::keep(node.clone())).abort_handle();
        Self { node, keeper }
    }

    /// As SIGSTOP: from now on the process sends nothing, is told nothing and renews nothing. What is under way
    /// arrives. Code of the process that needs nobody else goes on, which a signal would not let it do.
    pub fn pause(&self) {
        self.node.pulse.stop();
    }

    /// As SIGCONT.
    pub fn resume(&self) {
        self.node.pulse.go_on();
    }

    /// As SIGKILL: no call of the process ever returns again. What is under way may land.
    pub fn crash(&self) {
        self.node.pulse.switch().crash();
    }

    /// The switch that everything of the process ends with.
    #[must_use]
    pub fn switch(&self) -> &CrashSwitch {
        self.node.pulse.switch()
    }

    /// What else the process does with the outside world, so that it stands still and dies with its ledger.
    pub async fn through<T>(&self, work: impl Future<Output = T>) -> T {
        self.node.pulse.through(work).await
    }

    /// Waits until the process holds at least these partitions.
    pub async fn holding(&self, partitions: PartitionSet) {
        let mut held = self.node.ownership.held();
        // The sender lives in `self`.
        let _ = held.wait_for(|held| partitions.without(held.partitions()).is_empty()).await;
    }
}

#[async_trait]
impl EventLedger for SimulatedLedger {
    async fn append(&self, batch: Vec<Append>) -> Vec<Answer> {
        let (node, database) = (&self.node, &self.node.database);
        let appends = batch.len();
        let sent = async {
            let is_closed = node.is_closed.read().await;
            let writer = node.writer();
            let asked_under = writer.epochs.clone();
            if *is_closed {
                let closed = AppendError::Unavailable { reason: CLOSED.to_owned() };
                return (Intake::new(&batch).withdraw(&closed), asked_under);
            }
            let first = batch.first().and_then(|append| append.entries.first());
            let first = first.map(|entry| entry.id.to_string()).unwrap_or_default();
            let mut draw = database.draw(node.id, "append", &[first.as_bytes()]);
            let latency_max = database.faults().latency_max;
            pass(draw.within(latency_max)).await;
            let back = draw.within(latency_max);
            // It has left the process: whether anybody waits for it makes no difference to it any more.
            let carried = tokio::spawn(database.clone().carry_out(writer, batch, draw));
            let answers = carried.await.unwrap_or_else(|_| vec![Err(unknown()); appends]);
            pass(back).await;
            (answers, asked_under)
        };
        let (answers, asked_under) = node.pulse.through(sent).await;
        node.note_fenced(&answers, &asked_under);
        answers
    }

    async fn read_stream(
        &self,
        account: &AccountId,
        stream: &StreamName,
        after: Version,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let name = stream.to_string();
        let about = [account.as_str().as_bytes(), name.as_bytes(), &after.0.to_be_bytes()];
        let look = self.node.database.ledger.read_stream(account, stream, after, limit);
        self.node.read("read_stream", &about, look).await
    }

    async fn read_stream_back(
        &self,
        account: &AccountId,
        stream: &StreamName,
        before: Option<Version>,
        limit: usize,
    ) -> Result<Vec<Entry>, ReadError> {
        let name = stream.to_string();
        let about = [account.as_str().as_bytes(), name.as_bytes()];
        let look = self.node.database.ledger.read_stream_back(account, stream, before, limit);
        self.node.read("read_stream_back", &about, look).await
    }

    async fn read_partition(
        &self,
        partition: PartitionId,
        after: Position,
        limit: usize,
        account: Option<&AccountId>,
    ) -> Result<Vec<Entry>, ReadError> {
        let about: [&[u8]; 2] = [&partition.number().to_be_bytes(), &after.0.to_be_bytes()];
        let look = self.node.database.ledger.read_partition(partition, after, limit, account);
        self.node.read("read_partition", &about, look).await
    }

    async fn head(&self, partition: PartitionId) -> Result<Position, ReadError> {
        let about: [&[u8]; 1] = [&partition.number().to_be_bytes()];
        self.node.read("head", &about, self.node.database.ledger.head(partition)).await
    }

    async fn find_key(
        &self,
        account: &AccountId,
        key: &KeyName,
    ) -> Result<Option<KeyRecord>, ReadError> {
        let about = [account.as_str().as_bytes(), key.as_str().as_bytes()];
        self.node.read("find_key", &about, self.node.database.ledger.find_key(account, key)).await
    }

    async fn account_of_effect(&self, effect: EffectId) -> Result<Option<AccountId>, ReadError> {
        let name = effect.to_string();
        let about: [&[u8]; 1] = [name.as_bytes()];
        let look = self.node.database.ledger.account_of_effect(effect);
        self.node.read("account_of_effect", &about, look).await
    }

    async fn marks(&self, query: MarkQuery) -> Result<Vec<Mark>, ReadError> {
        let prefix = query.prefix.clone();
        let about = [query.kind.as_str().as_bytes(), prefix.as_bytes()];
        self.node.read("marks", &about, self.node.database.ledger.marks(query)).await
    }

    async fn cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
    ) -> Result<Position, ReadError> {
        let about = [follower.as_str().as_bytes(), &partition.number().to_be_bytes()];
        let look = self.node.database.ledger.cursor(follower, partition);
        self.node.read("cursor", &about, look).await
    }

    async fn keep_cursor(
        &self,
        follower: &DomainActorKey,
        partition: PartitionId,
        position: Position,
    ) -> Result<(), ReadError> {
        let about = [follower.as_str().as_bytes(), &partition.number().to_be_bytes()];
        let keep = self.node.database.ledger.keep_cursor(follower, partition, position);
        self.node.read("keep_cursor", &about, keep).await
    }

    async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        self.node.read("backlog", &[], self.node.database.ledger.backlog()).await
    }

    fn hints(&self, partition: PartitionId) -> watch::Receiver<Position> {
        self.node.hints[usize::from(partition.number())].subscribe()
    }

    fn ownership(&self) -> &Ownership {
        &self.node.ownership
    }

    async fn owner(&self, partition: PartitionId) -> Result<Option<Owner>, ReadError> {
        let about: [&[u8]; 1] = [&partition.number().to_be_bytes()];
        let database = &self.node.database;
        let look = async {
            let owner = database.leases().owner(partition, tokio::time::Instant::now());
            let known = owner.and_then(|id| Some((id, database.address_of(id)?)));
            Ok(known.map(|(id, address)| Owner { address, is_here: id == self.node.id }))
        };
        self.node.read("owner", &about, look).await
    }

    async fn close(&self) {
        let node = &self.node;
        node.ownership.hold(PartitionSet::NONE);
        let closing = async {
            let mut is_closed = node.is_closed.write().await;
            self.keeper.abort();
            if !std::mem::replace(&mut *is_closed, true) {
                // Where this is lost, the leases run out.
                let _ = keeper::resign(node).await;
            }
        };
        node.pulse.switch().alive(closing).await;
    }

    fn statistics(&self) -> LedgerStatistics {
        *locked(&self.node.statistics)
    }
}
