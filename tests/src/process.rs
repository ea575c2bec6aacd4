//! A process: a running system, and the user who talks to it.

use std::sync::Arc;
use std::time::Duration;

use turnframe_actors::{
    CallbackError, Called, PostError, Resolution, ResolveError, System, TurnInput,
};
use turnframe_core::block::AssistantTurn;
use turnframe_core::canonical::Digest;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    CaseRef, ConversationId, DestinationKey, DomainActorKey, EffectId, TurnId,
};
use turnframe_core::interaction::InteractionView;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::snapshot::SnapshotStore;
use turnframe_ledger::{
    Entry, EntryKind, MarkKind, MarkQuery, PartitionId, Position, StreamName, Version,
};
use turnframe_runtime::effect::OperatorDecision;
use turnframe_runtime::port::Incoming;
use turnframe_runtime::transcript::{TranscriptContent, page};
use turnframe_test::fault::{FaultDestination, FaultLedger};
use turnframe_test::literal;
use turnframe_test::sources::ManualClock;
use turnframe_travel::airline::Standing;

use crate::desk;
use crate::world::{clicked, has_attempt_on_its_way, said};

/// A running system, and the user who talks to it.
#[derive(Clone)]
pub struct Process {
    /// The system.
    pub system: System,
    /// Its ledger, which knows the append boundaries.
    pub faults: Arc<FaultLedger>,
    /// Its remote, which knows the dispatch boundaries.
    pub remote: Arc<FaultDestination>,
    /// Its snapshots.
    pub snapshots: Arc<dyn SnapshotStore>,
    /// The clock of its world.
    pub clock: Arc<ManualClock>,
    /// Its domain actors.
    pub followers: Vec<DomainActorKey>,
    /// Who talks.
    pub actor: ActorContext,
    /// Where.
    pub conversation: ConversationId,
}

impl Process {
    /// The same process with somebody else talking, somewhere else.
    #[must_use]
    pub fn talking(&self, actor: ActorContext, conversation: &str) -> Self {
        Self { actor, conversation: literal(conversation), ..self.clone() }
    }

    /// Opens the conversation.
    pub async fn begin(&self) {
        self.system
            .open_conversation(&self.actor, &self.conversation)
            .await
            .expect("the conversation opens");
    }

    /// Posts a turn.
    ///
    /// # Errors
    /// What the system refuses it with.
    pub async fn post(
        &self,
        turn: &str,
        input: TurnInput,
    ) -> Result<Arc<AssistantTurn>, PostError> {
        let turn: TurnId = literal(turn);
        self.system.post(&self.actor, &self.conversation, &turn, input).await
    }

    /// Says something, and waits until what it sets off has come to rest.
    pub async fn say(&self, turn: &str, text: &str) -> Arc<AssistantTurn> {
        let answer = self.post(turn, said(text)).await.expect("answered");
        self.rest().await;
        answer
    }

    /// Clicks, and waits until what it sets off has come to rest.
    pub async fn click(
        &self,
        turn: &str,
        card: &InteractionView,
        option: &str,
    ) -> Arc<AssistantTurn> {
        let answer = self.post(turn, clicked(card, option)).await.expect("answered");
        self.rest().await;
        answer
    }

    /// The effects of the account, in order.
    pub async fn effects(&self) -> Vec<EffectId> {
        let requested = self.entries().await.into_iter();
        let requested = requested.filter(|entry| entry.kind == EntryKind::EffectRequested);
        let effect = |entry: Entry| match entry.stream {
            StreamName::Effect(effect) => Some(effect),
            StreamName::Conversation(_) | StreamName::Case(_) | StreamName::Domain(..) => None,
        };
        requested.filter_map(effect).collect()
    }

    /// The airline calls back, signed now.
    ///
    /// # Errors
    /// What the system refuses it with.
    pub async fn call_back(
        &self,
        id: &str,
        says: (EffectId, Standing, u32),
    ) -> Result<Called, CallbackError> {
        self.hear(&desk::callback(id, self.system.ids().now(), says)).await
    }

    /// An operator decides about an effect.
    ///
    /// # Errors
    /// What the system refuses it with.
    pub async fn decide(
        &self,
        effect: EffectId,
        decision: OperatorDecision,
    ) -> Result<(), ResolveError> {
        let resolution = Resolution {
            account: self.actor.account.clone(),
            effect,
            operator: literal("grace"),
            reason: "asked them on the phone".to_owned(),
            decision,
        };
        self.system.resolve_effect(&resolution).await
    }

    /// A request comes that claims to be the airline's.
    ///
    /// # Errors
    /// What the system refuses it with.
    pub async fn hear(&self, incoming: &Incoming) -> Result<Called, CallbackError> {
        let airline: DestinationKey = literal("airline");
        let callback = self.system.hear_callback(&airline, incoming).await?;
        self.system.record_callback(&callback).await
    }

    /// The open cards.
    pub async fn cards(&self) -> Vec<InteractionView> {
        self.system.cards(&self.actor, &self.conversation).await.expect("cards")
    }

    /// The only open card.
    pub async fn card(&self) -> InteractionView {
        let mut cards = self.cards().await;
        assert_eq!(cards.len(), 1, "open cards: {cards:#?}");
        cards.remove(0)
    }

    /// Waits until no turn is unfinished, no fact is on its way, and no effect is due.
    pub async fn rest(&self) {
        const LOOKS_MAX: usize = 20_000;
        const LOOKS_BEFORE_TIME_PASSES: usize = 50;
        const PAUSE_MAX: Duration = Duration::from_secs(5);
        let mut pause = Duration::from_millis(25);
        for look in 1..=LOOKS_MAX {
            if self.is_at_rest().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
            // Work that had to wait is taken up after a pause, each one longer, and the clock stands still.
            if look % LOOKS_BEFORE_TIME_PASSES == 0 {
                self.clock.advance(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
        panic!("the system does not come to rest");
    }

    /// Work flows in circles, from an effect to its case and on to the next effect: the answers hold together only where
    /// nothing was appended between the first question and the last.
    async fn is_at_rest(&self) -> bool {
        let head = self.head().await;
        for kind in [MarkKind::Turn, MarkKind::Effect, MarkKind::Timer, MarkKind::Relay] {
            if self.has_due(kind).await {
                return false;
            }
        }
        !has_attempt_on_its_way(self.system.ledger().as_ref()).await
            && self.have_followed(head).await
            && self.head().await == head
    }

    /// Whether every domain actor has seen to all that the account did until then.
    async fn have_followed(&self, head: Position) -> bool {
        let (ledger, partition) = (self.system.ledger(), PartitionId::of(&self.actor.account));
        for follower in &self.followers {
            if ledger.cursor(follower, partition).await.expect("a cursor") < head {
                return false;
            }
        }
        true
    }

    async fn head(&self) -> Position {
        let partition = PartitionId::of(&self.actor.account);
        self.system.ledger().head(partition).await.expect("a head")
    }

    async fn has_due(&self, kind: MarkKind) -> bool {
        let due_by = Some(self.system.ids().now());
        let query = MarkQuery { due_by, ..MarkQuery::of(kind) };
        !self.system.ledger().marks(query).await.expect("marks").is_empty()
    }

    /// Lets time pass until nobody was used for long, and waits until every actor has gone to rest.
    pub async fn passivate(&self) {
        const LOOKS_MAX: usize = 10_000;
        for _ in 0..LOOKS_MAX {
            if self.system.live_actors() == (0, 0) {
                return;
            }
            self.clock.advance(Duration::from_millis(1));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("some actors do not go to rest: {:?}", self.system.live_actors());
    }

    /// What the user reads on reload, as JSON: every turn, answer and update, without places and times.
    pub async fn transcript(&self) -> Vec<serde_json::Value> {
        let ledger = self.system.ledger();
        let account = &self.actor.account;
        let page = page(ledger.as_ref(), account, &self.conversation, Version::NONE, 200).await;
        let page = page.expect("a transcript").expect("a conversation");
        let shown = |content| match content {
            TranscriptContent::Turn { turn, text, click, .. } => {
                serde_json::json!({"turn": turn, "text": text, "click": click})
            }
            TranscriptContent::Answer(answer) => serde_json::json!({"answer": answer}),
            TranscriptContent::Update(update) => serde_json::json!({"update": update}),
        };
        page.items.into_iter().map(|item| shown(item.content)).collect()
    }

    /// Waits for rest: the last that the conversation was told is a receipt of this status, and every claim holds.
    pub async fn assert_told(&self, status: ReceiptStatus) {
        self.rest().await;
        let transcript = self.transcript().await;
        let last = transcript.last().expect("an item");
        let status = serde_json::to_value(&status).expect("JSON");
        assert_eq!(last["update"]["blocks"][0]["status"], status, "{transcript:#?}");
        crate::claims::check(self).await;
    }

    /// Everything that is true at the end, with ids renamed.
    pub async fn end_state(&self) -> String {
        crate::canonical::rename(&self.state().await)
    }

    /// Everything that can be seen: transcript, cards, and the view of every case.
    pub async fn state(&self) -> String {
        let mut views = Vec::new();
        for case in self.cases().await {
            views.push(
                self.system.view(&self.actor, &self.conversation, &case).await.expect("a view"),
            );
        }
        let end = serde_json::json!({
            "transcript": self.transcript().await,
            "cards": self.cards().await,
            "views": views,
        });
        serde_json::to_string_pretty(&end).expect("JSON")
    }

    /// The cases of the account that have entries, in order of their ids.
    pub async fn cases(&self) -> Vec<CaseRef> {
        let mut cases: Vec<CaseRef> = Vec::new();
        for entry in self.entries().await {
            if let StreamName::Case(case) = entry.stream
                && !cases.contains(&case)
            {
                cases.push(case);
            }
        }
        cases
    }

    /// Every entry of the account in the order of the ledger.
    pub async fn entries(&self) -> Vec<Entry> {
        let account = &self.actor.account;
        let partition = PartitionId::of(account);
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let after = entries.last().map_or(Position::START, |entry| entry.position);
            let ledger = self.system.ledger();
            let page = ledger.read_partition(partition, after, 1_000, Some(account)).await;
            let page = page.expect("entries");
            if page.is_empty() {
                return entries;
            }
            entries.extend(page);
        }
    }

    /// The place and the chain hash of every entry of the account: equal exactly where nothing was written.
    pub async fn chain(&self) -> Vec<(Position, Digest)> {
        self.entries().await.iter().map(|entry| (entry.position, entry.chain)).collect()
    }

    /// The kinds of every entry of the account.
    pub async fn kinds(&self) -> Vec<&'static str> {
        self.entries().await.iter().map(|entry| entry.kind.as_str()).collect()
    }
}
