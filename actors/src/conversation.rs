//! The conversation actor: serialises turns, and alone appends to its conversation's stream.
//!
//! A turn's arrival is durable before anything is made of it, so arrival order is on the ledger. Turns run one
//! after another; the running one is a child task that hands its stages back here, so that this actor can go on
//! answering. Killed at any point, the next start finds the unfinished turns in the fold and resumes the first
//! of them. It never reads words and never decides what a turn comes to.

mod post;
mod run;

pub(crate) use run::CaseRoutes;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ractor::{Actor, ActorProcessingErr, ActorRef};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use turnframe_core::block::AssistantTurn;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, CaseRef, ConversationId, EntryId, TurnId};
use turnframe_core::interaction::Interaction;
use turnframe_ledger::{Append, AppendError, StreamName, Version};
use turnframe_runtime::fold::conversation::ConversationFold;
use turnframe_runtime::record::{FactKey, TurnAccepted, UpdatePosted};
use turnframe_runtime::turn::{RecordError, TurnError, TurnRecord, append_of};

use crate::error::PostError;
use crate::registry::Spawned;
use crate::shared::{ConversationKey, Registries, Root, Shared};
use crate::slot::{Generation, StartFailure};

/// The answer of a turn, shared by all who wait for it.
pub(crate) type TurnReply = oneshot::Sender<Result<Arc<AssistantTurn>, PostError>>;

/// What a conversation actor is told.
pub(crate) enum ConversationMessage {
    /// Bring the conversation into being.
    Open(Box<ActorContext>, oneshot::Sender<Result<(), PostError>>),
    /// A turn arrived.
    Post(Box<Posted>, TurnReply),
    /// The running turn hands a stage over.
    Record(TurnId, TurnRecord, oneshot::Sender<Result<(), RecordError>>),
    /// The running turn came to its end.
    Finished(TurnId, Box<Result<AssistantTurn, TurnError>>),
    /// Carry news from a case.
    Update(Box<UpdatePosted>, FactKey, oneshot::Sender<Result<(), RecordError>>),
    /// Say which cases and choices the conversation holds.
    Describe(oneshot::Sender<Result<Option<ConversationHolds>, RecordError>>),
    /// Look around: is a turn unfinished that does not run?
    Resume,
    /// Be passivated if idle.
    RestIfIdle,
}

/// A turn as it arrived.
#[derive(Clone)]
pub(crate) struct Posted {
    pub(crate) turn: TurnId,
    pub(crate) accepted: TurnAccepted,
    /// It is known to have been accepted before.
    pub(crate) is_repeated: bool,
}

/// What a conversation holds.
pub(crate) struct ConversationHolds {
    pub(crate) touched: Vec<CaseRef>,
    pub(crate) choices: Vec<Interaction>,
}

/// Starts the actor of a conversation.
pub(crate) async fn spawn(
    key: ConversationKey,
    generation: Generation,
    shared: Arc<Shared>,
    registries: Registries,
    root: Root,
) -> Result<Spawned<ConversationMessage>, StartFailure> {
    let (fold, saved_at) = shared.load_conversation(&key.0, &key.1).await?;
    let unfinished = Arc::new(AtomicBool::new(!fold.unfinished.is_empty()));
    let state = ConversationState {
        fold,
        unsent: None,
        is_in_doubt: false,
        saved_at,
        running: None,
        waiting: HashMap::new(),
        tries: 0,
        failures: 0,
        has_held_news: false,
        is_retired: false,
    };
    let shell =
        ConversationActor { key, generation, shared, registries, unfinished: unfinished.clone() };
    let (actor, ended) = Actor::spawn_linked(None, shell, state, root.get_cell()).await?;
    Ok(Spawned { actor, ended, unfinished })
}

struct ConversationActor {
    key: ConversationKey,
    generation: Generation,
    shared: Arc<Shared>,
    registries: Registries,
    /// Seen by the registry: an actor that ends with this set is started again.
    unfinished: Arc<AtomicBool>,
}

/// The turn that runs, ended with its actor.
struct Running {
    turn: TurnId,
    task: AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct ConversationState {
    /// What is on the ledger, and what is about to be with the next append.
    fold: ConversationFold,
    /// The arrival of a turn that needs no model, folded already: it goes with whatever is appended next, which is its
    /// own plan unless something comes between. Nobody was told of it.
    unsent: Option<Append>,
    /// Nobody knows what became of an append, which may land yet. Until another one goes in behind the same version,
    /// the ledger is asked before anything is made of the fold.
    is_in_doubt: bool,
    saved_at: Version,
    running: Option<Running>,
    waiting: HashMap<TurnId, Vec<TurnReply>>,
    /// How often the first unfinished turn stopped.
    tries: u32,
    /// How often it failed in a way that will not pass.
    failures: u32,
    /// News came while a turn was at work on its case; the relay is nudged when the turn is answered.
    has_held_news: bool,
    /// The slot is draining: what arrives now goes back to its sender, who finds the next holder.
    is_retired: bool,
}

impl Actor for ConversationActor {
    type Msg = ConversationMessage;
    type State = ConversationState;
    type Arguments = ConversationState;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        mut state: ConversationState,
    ) -> Result<Self::State, ActorProcessingErr> {
        self.run_next(&myself, &mut state);
        Ok(state)
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: Self::Msg,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        // Boxed: an actor at rest holds a pointer, and not the room for all that a message can lead to.
        Box::pin(self.receive(myself, message, state)).await;
        Ok(())
    }
}

impl ConversationActor {
    async fn receive(
        &self,
        myself: ActorRef<ConversationMessage>,
        message: ConversationMessage,
        state: &mut ConversationState,
    ) {
        use ConversationMessage as M;
        // A reply is dropped where whoever asked is gone; the ledger has what was done.
        match message {
            M::Open(actor, reply) => drop(reply.send(self.open(*actor, state).await)),
            // A dropped reply tells the sender to ask again; a turn is accepted once however often it is posted.
            M::Post(..) if state.is_retired => return,
            M::Post(posted, reply) => self.post(*posted, reply, state).await,
            M::Record(turn, record, reply) => {
                drop(reply.send(self.record(&turn, record, state).await));
            }
            M::Finished(turn, result) => self.finished(&myself, turn, *result, state).await,
            M::Update(update, fact, reply) => {
                drop(reply.send(self.update(update, fact, state).await));
            }
            M::Describe(reply) => drop(reply.send(self.describe(state).await)),
            M::Resume => {}
            M::RestIfIdle => self.rest(&myself, state).await,
        }
        self.run_next(&myself, state);
    }

    fn account(&self) -> &AccountId {
        &self.key.0
    }

    fn conversation(&self) -> &ConversationId {
        &self.key.1
    }

    fn stream(&self) -> StreamName {
        StreamName::Conversation(self.key.1.clone())
    }

    /// Builds a stage's append on the present fold.
    fn stage(
        &self,
        fold: &ConversationFold,
        actor: &ActorContext,
        turn: Option<(&TurnId, Option<EntryId>)>,
        record: TurnRecord,
    ) -> Result<(Append, ConversationFold), RecordError> {
        append_of(fold, self.conversation(), actor, turn, record, self.shared.ids())
            .map_err(RecordError::refused)
    }

    async fn reload(&self, state: &mut ConversationState) -> Result<(), RecordError> {
        let loaded = self.shared.load_conversation(self.account(), self.conversation()).await;
        let (fold, saved_at) = loaded.map_err(RecordError::away)?;
        (state.fold, state.saved_at, state.unsent) = (fold, saved_at, None);
        self.note_unfinished(state);
        Ok(())
    }

    /// Appends what was staged on the present fold, together with what was not sent yet. After any other refusal than
    /// a key that was taken, the caller loads the fold again.
    async fn send(
        &self,
        append: Append,
        after: ConversationFold,
        state: &mut ConversationState,
    ) -> Result<(), AppendError> {
        let unsent = state.unsent.take();
        let append = match unsent.clone() {
            Some(unsent) => unsent.then(append),
            None => append,
        };
        match self.shared.append(&append).await {
            Ok(_) => {
                (state.fold, state.is_in_doubt) = (after, false);
                self.note_unfinished(state);
                Ok(())
            }
            Err(error @ AppendError::OutcomeUnknown { .. }) => {
                state.is_in_doubt = true;
                Err(error)
            }
            // Nothing was written and nothing is out of date: the arrival goes with the next append.
            Err(error @ (AppendError::DuplicateKey { .. } | AppendError::Refused(_))) => {
                state.unsent = unsent;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    async fn make_sure(&self, state: &mut ConversationState) -> Result<(), RecordError> {
        if state.is_in_doubt { self.reload(state).await } else { Ok(()) }
    }

    async fn describe(
        &self,
        state: &mut ConversationState,
    ) -> Result<Option<ConversationHolds>, RecordError> {
        self.make_sure(state).await?;
        Ok(describe(&state.fold))
    }

    fn note_unfinished(&self, state: &ConversationState) {
        self.unfinished.store(!state.fold.unfinished.is_empty(), Ordering::Release);
    }

    /// A stage of the running turn. Durable when this says yes.
    async fn record(
        &self,
        turn: &TurnId,
        record: TurnRecord,
        state: &mut ConversationState,
    ) -> Result<(), RecordError> {
        let runs = state.running.as_ref().is_some_and(|running| running.turn == *turn);
        let unfinished = state.fold.unfinished.iter().find(|it| it.turn == *turn);
        let Some(unfinished) = unfinished.filter(|_| runs) else {
            return Err(RecordError::away("the turn does not run here any more"));
        };
        if unfinished.reduced.is_some() && matches!(record, TurnRecord::Reduced(_)) {
            // Its append was in doubt and landed after all. What was planned first is what is carried out.
            return Err(RecordError::away("the turn has a plan on the ledger"));
        }
        let (actor, causation) = (unfinished.accepted.actor.clone(), unfinished.accepted_by);
        let of_turn = Some((turn, Some(causation)));
        let (append, after) = self.stage(&state.fold, &actor, of_turn, record)?;
        match self.send(append, after, state).await {
            Ok(()) => Ok(()),
            // Nothing was written, and the arrival that was to go with it goes by itself.
            Err(error @ AppendError::Refused(_)) => Err(RecordError::refused(error)),
            // Whether it landed is on the ledger; the turn is resumed from there.
            Err(error) => {
                self.reload(state).await?;
                Err(RecordError::away(error))
            }
        }
    }

    /// News from a case. The same news twice is posted once, and never before the answer of a turn that is at
    /// work on the case: the transcript reads in the order in which things came about.
    async fn update(
        &self,
        update: Box<UpdatePosted>,
        fact: FactKey,
        state: &mut ConversationState,
    ) -> Result<(), RecordError> {
        self.make_sure(state).await?;
        let plans = state.fold.unfinished.iter().filter_map(|turn| turn.reduced.as_ref());
        let mut at_work = plans.flat_map(|reduced| &reduced.plan.cases);
        if at_work.any(|expected| expected.case == update.case) {
            state.has_held_news = true;
            return Err(RecordError::away("a turn is at work on the case"));
        }
        let actor = self.server_actor()?;
        for _ in 0..self.shared.limits.append_attempts_max {
            let record = TurnRecord::Updated { update: update.clone(), carries: fact };
            let (append, after) = self.stage(&state.fold, &actor, None, record)?;
            match self.send(append, after, state).await {
                Ok(()) => return Ok(()),
                Err(AppendError::DuplicateKey { .. }) => return Ok(()),
                Err(AppendError::Conflict { .. } | AppendError::OutcomeUnknown { .. }) => {
                    self.reload(state).await?;
                }
                Err(error) => return Err(RecordError::away(error)),
            }
        }
        Err(RecordError::away("the update did not go through"))
    }

    /// Whom the server's own entries of this conversation name.
    fn server_actor(&self) -> Result<ActorContext, RecordError> {
        let id = |error: turnframe_core::id::IdError| RecordError::refused(error);
        Ok(ActorContext {
            account: self.account().clone(),
            actor: turnframe_core::id::ActorId::new("server").map_err(id)?,
            locale: turnframe_core::id::Locale::new("en").map_err(id)?,
            time_zone: "UTC".to_owned(),
        })
    }

    /// A running or waiting turn is not idle.
    async fn rest(&self, myself: &ActorRef<ConversationMessage>, state: &mut ConversationState) {
        let idle = state.running.is_none() && state.fold.unfinished.is_empty();
        if !idle || !self.registries.conversations.retire(&self.key, self.generation) {
            return;
        }
        state.is_retired = true;
        self.save(state, self.shared.limits.snapshot_entries_min).await;
        drop(myself.drain());
    }

    /// Keeps a snapshot where enough was folded since the last one. A fold with unfinished turns has none.
    async fn save(&self, state: &mut ConversationState, entries_min: u64) {
        let entries = state.fold.version.0.saturating_sub(state.saved_at.0);
        if entries >= entries_min
            && let Some(saved) = state.fold.save()
        {
            let version = state.fold.version;
            self.shared.save(self.account(), &self.stream(), version, 0, &saved).await;
            state.saved_at = version;
        }
    }
}

fn describe(fold: &ConversationFold) -> Option<ConversationHolds> {
    fold.exists().then(|| ConversationHolds {
        touched: fold.touched.clone(),
        choices: fold.choices.values().cloned().collect(),
    })
}
