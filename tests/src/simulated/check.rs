//! What must stand at the end of a run, whatever went wrong in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, TurnId};
use turnframe_ledger::snapshot::SnapshotStore;
use turnframe_ledger::verify::verify;
use turnframe_ledger::{
    Entry, EntryKind, MarkKind, MarkQuery, PartitionId, PartitionSet, Position, StreamName,
};
use turnframe_runtime::record::TurnAnswered;
use turnframe_test::fault::{CrashSwitch, FaultDestination, FaultLedger, FaultPlan};
use turnframe_test::sources::{ManualClock, START};

use turnframe_test::literal;

use super::client::{Client, Told};
use super::{Running, Simulation};
use crate::claims;
use crate::world::Process;

/// How long the work that is left may take once nothing goes wrong any more.
const QUIET_MAX: Duration = Duration::from_secs(3_600);
const LOOK_AGAIN: Duration = Duration::from_millis(500);

impl Simulation {
    /// Waits until nothing is owed: no turn, no effect, no fact on its way, no timer, nothing that was not followed.
    ///
    /// # Panics
    /// When something stays owed for good.
    pub async fn quiet(&self) {
        let quiet = async {
            loop {
                let owed = self.owed().await;
                if owed.is_empty() && self.is_followed().await {
                    return;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        if tokio::time::timeout(QUIET_MAX, quiet).await.is_err() {
            panic!("still owed: {:#?}", self.owed().await);
        }
    }

    async fn owed(&self) -> Vec<turnframe_ledger::Mark> {
        let mut owed = Vec::new();
        for kind in [MarkKind::Turn, MarkKind::Effect, MarkKind::Relay, MarkKind::Timer] {
            owed.extend(self.database.truth().marks(MarkQuery::of(kind)).await.expect("marks"));
        }
        owed
    }

    /// Whether the domain actor has seen to everything.
    async fn is_followed(&self) -> bool {
        let (truth, deadline) = (self.database.truth(), literal("answer-deadline"));
        for partition in PartitionId::all() {
            let cursor = truth.cursor(&deadline, partition).await.expect("a cursor");
            if cursor < truth.head(partition).await.expect("a head") {
                return false;
            }
        }
        true
    }

    /// Every entry there is, partition by partition.
    ///
    /// # Panics
    /// When they cannot be read.
    pub async fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for partition in PartitionId::all() {
            let mut after = Position::START;
            loop {
                let truth = self.database.truth();
                let page = truth.read_partition(partition, after, usize::MAX, None).await;
                let page = page.expect("entries");
                let Some(last) = page.last() else { break };
                after = last.position;
                entries.extend(page);
            }
        }
        entries
    }

    /// The place and the chain hash of every entry: equal exactly where the ledgers are, to the byte.
    pub async fn chain(&self) -> Vec<(PartitionId, Position, Digest)> {
        let entries = self.entries().await;
        entries.iter().map(|entry| (entry.partition, entry.position, entry.chain)).collect()
    }

    /// The chains fit, and no key was acted on twice.
    ///
    /// # Panics
    /// When it is otherwise.
    pub async fn check_record(&self) {
        let report = verify(self.database.truth(), PartitionId::all(), |_| {}).await;
        assert!(report.is_intact(), "{:?}", report.faults);
        assert_eq!(self.airline.repeated(), Vec::<String>::new(), "an effect happened twice");
        let requested = self.entries().await.into_iter().filter_map(|entry| match entry.stream {
            StreamName::Effect(effect) => Some(effect.to_string()),
            StreamName::Conversation(_) | StreamName::Case(_) | StreamName::Domain(..) => None,
        });
        let requested: BTreeSet<String> = requested.collect();
        for key in self.airline.book().keys() {
            assert!(requested.iter().any(|effect| key.contains(effect)), "nobody asked for {key}");
        }
    }

    /// Every turn has one answer, which is what its client was told, and all came in the order in which they arrived.
    ///
    /// # Panics
    /// When it is otherwise.
    pub async fn check_turns(&self, client: &Client, clients: &[Vec<Told>]) {
        let stream = StreamName::Conversation(client.conversation.clone());
        let entries = self.entries_of(&client.actor.account, &stream).await;
        let turns = |kind| -> Vec<TurnId> {
            let of_kind = entries.iter().filter(|entry| entry.kind == kind);
            of_kind.map(|entry| entry.turn.clone().expect("a turn's")).collect()
        };
        let accepted = turns(EntryKind::TurnAccepted);
        assert_eq!(
            turns(EntryKind::TurnReduced),
            accepted,
            "each has one plan, in order of arrival"
        );
        assert_eq!(turns(EntryKind::TurnAnswered), accepted, "in order of arrival, once each");
        let unique: BTreeSet<&TurnId> = accepted.iter().collect();
        assert_eq!(unique.len(), accepted.len(), "a turn was accepted twice: {accepted:?}");
        assert_eq!(accepted.len(), clients.iter().map(Vec::len).sum::<usize>());
        let answers = entries.iter().filter(|entry| entry.kind == EntryKind::TurnAnswered);
        let answers = answers.map(|it| it.body.open::<TurnAnswered>().expect("an answer").answer);
        let stored: BTreeMap<TurnId, _> = answers.map(|it| (it.turn.clone(), it)).collect();
        for told in clients {
            for Told { turn, answer } in told {
                assert_eq!(stored.get(turn), Some(answer.as_ref()), "what {turn} was told");
            }
            let own: BTreeSet<&TurnId> = told.iter().map(|told| &told.turn).collect();
            let arrived: Vec<&TurnId> = accepted.iter().filter(|it| own.contains(it)).collect();
            assert_eq!(arrived, told.iter().map(|told| &told.turn).collect::<Vec<_>>());
        }
    }

    async fn entries_of(&self, account: &AccountId, stream: &StreamName) -> Vec<Entry> {
        let mut entries = self.entries().await;
        entries.retain(|entry| entry.account == *account && entry.stream == *stream);
        entries
    }

    /// What was said is what is on record; and a process that folds everything anew, from the ledger alone, shows
    /// what the live one shows, and writes nothing.
    ///
    /// # Panics
    /// When it is otherwise.
    pub async fn check_replay(&self, clients: &[&Client]) {
        let mut live = Vec::new();
        for client in clients {
            let process = self.process(&self.serving(&client.actor.account).await, client);
            claims::check(&process).await;
            live.push(process.state().await);
        }
        for running in self.running().await {
            running.node.crash();
            self.ends(running.number);
        }
        SnapshotStore::clear(self.snapshots.as_ref()).await.expect("cleared");
        let before = self.chain().await;
        let node = self.node("http://anew", CrashSwitch::new());
        node.holding(PartitionSet::ALL).await;
        let replayed = self.start(usize::MAX, node).await.expect("the system starts");
        for (client, live) in clients.iter().zip(live) {
            let state = self.process(&replayed, client).state().await;
            assert_eq!(state, live, "{}: replayed is not live", client.conversation);
        }
        self.quiet().await;
        assert_eq!(self.chain().await, before, "a replay writes nothing");
    }

    /// A running process as the rest of the harness reads it.
    fn process(&self, running: &Running, client: &Client) -> Process {
        let (ledger, switch) = (running.node.clone(), running.node.switch().clone());
        let faults = FaultLedger::new(ledger, FaultPlan::none(), switch.clone());
        let remote = FaultDestination::new(self.airline.clone(), FaultPlan::none(), switch);
        Process {
            system: running.system.clone(),
            faults: Arc::new(faults),
            remote: Arc::new(remote),
            snapshots: self.snapshots.clone(),
            clock: Arc::new(ManualClock::new(START)),
            followers: Vec::new(),
            actor: client.actor.clone(),
            conversation: client.conversation.clone(),
        }
    }
}
