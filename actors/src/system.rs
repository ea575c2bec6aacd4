//! The system: what a host starts, posts turns to, reads from and shuts down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::future::join_all;
use futures::stream::{self, StreamExt};
use ractor::Actor;
use tokio::sync::{Semaphore, oneshot};
use turnframe_core::block::AssistantTurn;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    AccountId, CaseRef, CaseRevision, ConversationId, DestinationKey, DomainActorKey,
    InteractionId, TurnId,
};
use turnframe_core::interaction::{
    Interaction, InteractionResponse, InteractionView, OptionMeaning,
};
use turnframe_core::personal::Personal;
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_core::view::WorkflowView;
use turnframe_core::words::Message;
use turnframe_ledger::mark::MARK_PAGE_MAX;
use turnframe_ledger::snapshot::SnapshotStore;
use turnframe_ledger::{
    EventLedger, Mark, MarkKind, MarkQuery, Owner, PartitionId, PartitionSet, ReadError, StreamName,
};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::port::{
    CaseDirectory, Destination, ErasedDomainActor, Incoming, Interpreter, Narrator, OriginToken,
};
use turnframe_runtime::record::{ClickRecord, TurnAccepted};
use turnframe_runtime::turn::{Cases, TurnEngine, TurnPorts, find_card};

use crate::backlog::{self, Backlog};
use crate::callback::{self, Callback, Called};
use crate::conversation::{CaseRoutes, ConversationHolds, ConversationMessage, Posted};
use crate::domain;
use crate::error::{CallbackError, PostError, ResolveError};
use crate::limits::Limits;
use crate::operator::{self, Resolution};
use crate::outbox::Outbox;
use crate::registry::{Registry, SendError};
use crate::relay::Relay;
use crate::shared::{Nudges, Registries, Root, Shared};
use crate::supervisor::Supervisor;
use crate::sweeper::{self, Sweeping};
use crate::tenure::{Served, Tenure};
use crate::writer::LedgerWriter;

/// How many conversations are woken at once at start.
const WAKE_AT_ONCE_MAX: usize = 64;
/// How often a turn is offered to its conversation before its sender is told to ask again.
const POST_ATTEMPTS_MAX: u32 = 4;
/// The longest origin reference, in bytes.
const ORIGIN_MAX_BYTES: usize = 512;

/// What a host plugs in.
pub struct SystemParts {
    /// The only source of state.
    pub ledger: Arc<dyn EventLedger>,
    /// Folds kept for later; may be lost at any time.
    pub snapshots: Arc<dyn SnapshotStore>,
    /// The workflows.
    pub registry: WorkflowRegistry,
    /// Proposes what messages mean.
    pub interpreter: Arc<dyn Interpreter>,
    /// Words replies, where a model does.
    pub narrator: Option<Arc<dyn Narrator>>,
    /// Says which cases an actor may address.
    pub directory: Arc<dyn CaseDirectory>,
    /// Where effects go.
    pub destinations: Vec<Arc<dyn Destination>>,
    /// What follows workflows and answers with commands.
    pub domain_actors: Vec<Arc<dyn ErasedDomainActor>>,
    /// Time, randomness and ids.
    pub ids: IdSource,
    /// Every queue, retry and wait.
    pub limits: Limits,
}

/// A turn as a client posts it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnInput {
    /// What was said.
    pub text: Option<String>,
    /// What was clicked.
    pub response: Option<InteractionResponse>,
    /// Where the turn comes from, such as a record's page.
    pub origin: Option<String>,
}

/// The system could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// An actor could not be spawned.
    #[error("an actor could not be started: {0}")]
    Spawn(#[from] ractor::SpawnErr),
    /// Two domain actors have one name, and with it one cursor.
    #[error("two domain actors are called {0}")]
    RepeatedDomainActor(DomainActorKey),
    /// A domain actor's name leaves no room for the prefix that tells it from people.
    #[error("the name of the domain actor {0} is too long")]
    DomainActorName(DomainActorKey),
    /// What a crash left open could not be read.
    #[error("unfinished turns could not be found: {0}")]
    Sweep(#[from] ReadError),
}

/// A running system. Cheap to clone; the last [`System::shutdown`] ends it.
#[derive(Clone)]
pub struct System {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    destinations: BTreeMap<DestinationKey, Arc<dyn Destination>>,
    registries: Registries,
    root: Root,
    in_flight: Arc<Semaphore>,
    sweeping: Arc<[Sweeping]>,
    passivation: tokio::task::AbortHandle,
    following: tokio::task::AbortHandle,
    watching: tokio::task::AbortHandle,
}

impl System {
    /// Starts a system and sweeps what a crash left open: unfinished turns are resumed, attempts without a
    /// conclusion become unknown, facts on their way are carried on. Nobody has to write to a conversation
    /// to wake it.
    ///
    /// # Errors
    /// [`StartError`] when an actor cannot be started or the ledger cannot be read.
    pub async fn start(parts: SystemParts) -> Result<Self, StartError> {
        check_names(&parts.domain_actors)?;
        let (root, _) = Actor::spawn(None, Supervisor, ()).await?;
        let nudges = Nudges::default();
        let commits = nudges.commits.clone();
        let writer = LedgerWriter::start(parts.ledger.clone(), &parts.limits, commits).await?;
        let engine = TurnEngine::new(TurnPorts {
            registry: parts.registry,
            interpreter: parts.interpreter,
            narrator: parts.narrator,
            directory: parts.directory,
            ledger: parts.ledger.clone(),
            ids: parts.ids.clone(),
        });
        let shared = Arc::new(Shared {
            ledger: parts.ledger,
            snapshots: parts.snapshots,
            writer,
            engine,
            limits: parts.limits,
            nudges,
            served: Served::default(),
        });
        let registries = registries(&shared, &root, &parts.ids);
        let served = shared.begin();
        let mut sweeping = Vec::new();
        let by_key = |it: &Arc<dyn Destination>| (it.key(), it.clone());
        let destinations: BTreeMap<_, _> = parts.destinations.iter().map(by_key).collect();
        for destination in parts.destinations {
            sweeping.push(sweeper::start(Outbox::new(destination), shared.clone(), &root));
        }
        sweeping.push(sweeper::start(Relay::new(registries.clone()), shared.clone(), &root));
        for actor in parts.domain_actors {
            sweeping.extend(domain::start(actor, &shared, &registries, &root));
        }
        let sweeping: Arc<[Sweeping]> = sweeping.into();
        let tenure = Tenure {
            shared: shared.clone(),
            registries: registries.clone(),
            sweeping: sweeping.clone(),
        };
        let passivation = tokio::spawn(passivate(shared.clone(), registries.clone()));
        let watching = backlog::watch(shared.clone(), destinations.keys().cloned().collect());
        let watching = tokio::spawn(watching).abort_handle();
        let system = Self {
            inner: Arc::new(Inner {
                in_flight: Arc::new(Semaphore::new(shared.limits.turns_in_flight_max)),
                shared,
                destinations,
                registries,
                root,
                sweeping,
                passivation: passivation.abort_handle(),
                watching,
                following: tokio::spawn(tenure.follow(served)).abort_handle(),
            }),
        };
        let inner = &system.inner;
        let partitions = served.partitions();
        let resumed = resume_unfinished(&inner.shared, &inner.registries, partitions, None).await;
        if let Err(error) = resumed {
            system.shutdown().await;
            return Err(error.into());
        }
        Ok(system)
    }

    /// Opens a conversation, or finds it open.
    ///
    /// # Errors
    /// [`PostError::Unavailable`]: ask again.
    pub async fn open_conversation(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
    ) -> Result<(), PostError> {
        self.here(actor)?;
        let of = actor;
        let actor = Box::new(actor.clone());
        let opened = self
            .ask(conversation, &actor.clone(), |reply| ConversationMessage::Open(actor, reply))
            .await;
        match opened {
            Ok(Ok(())) => Ok(()),
            // Lost meanwhile, it is the next owner's to open.
            Ok(Err(error)) | Err(error) => self.here(of).and(Err(error)),
        }
    }

    /// Posts a turn and waits for its answer. The same turn id with the same content is answered with the
    /// stored answer, however often it is posted; a caller that goes away loses nothing but the waiting.
    ///
    /// # Errors
    /// [`PostError`]; only [`PostError::Unavailable`] leaves open whether the turn was accepted.
    pub async fn post(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        turn: &TurnId,
        input: TurnInput,
    ) -> Result<Arc<AssistantTurn>, PostError> {
        self.here(actor)?;
        let permit = self.inner.in_flight.clone().try_acquire_owned();
        let _in_flight = permit.map_err(|_| PostError::Overloaded)?;
        check_words(&input)?;
        let (is_repeated, admitted) = futures::join!(
            self.is_repeated(actor, conversation, turn, &input),
            self.admit(actor, conversation, &input),
        );
        let is_repeated = is_repeated?;
        if !is_repeated {
            admitted?;
        }
        let accepted = accepted(actor, input)?;
        let posted = Posted { turn: turn.clone(), accepted, is_repeated };
        for _ in 0..POST_ATTEMPTS_MAX {
            let posted = Box::new(posted.clone());
            let message = |reply| ConversationMessage::Post(posted, reply);
            match self.ask(conversation, actor, message).await {
                Ok(Ok(answer)) => return Ok(answer),
                // Lost in the midst of it, it is the next owner's to answer.
                Ok(Err(error @ PostError::Unavailable { .. })) => {
                    return self.here(actor).and(Err(error));
                }
                Ok(Err(error)) => return Err(error),
                // The actor rested or died with the turn in its mailbox: the next one takes it, here or elsewhere.
                Err(PostError::Unavailable { .. }) if !self.inner.in_flight.is_closed() => {
                    self.here(actor)?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(PostError::unavailable("the conversation is being restarted"))
    }

    /// Whether there is a destination of that name that calls back.
    #[must_use]
    pub fn hears_callbacks_of(&self, destination: &DestinationKey) -> bool {
        let known = self.inner.destinations.get(destination);
        known.is_some_and(|known| known.callbacks().is_some())
    }

    /// Verifies and reads a callback, and finds whose effect it is of: that account's owner records it.
    ///
    /// # Errors
    /// [`CallbackError`]; nothing was written.
    pub async fn hear_callback(
        &self,
        destination: &DestinationKey,
        incoming: &Incoming,
    ) -> Result<Callback, CallbackError> {
        let known = self.inner.destinations.get(destination).ok_or(CallbackError::NotFound)?;
        callback::hear(&self.inner.shared, known.as_ref(), incoming).await
    }

    /// Records what a destination called back to say, once however often it is delivered.
    ///
    /// # Errors
    /// [`CallbackError`]; only [`CallbackError::Unavailable`] leaves open whether it was recorded.
    pub async fn record_callback(&self, callback: &Callback) -> Result<Called, CallbackError> {
        let shared = &self.inner.shared;
        if !shared.serves(callback.account()) {
            return Err(CallbackError::NotHere);
        }
        callback::record(shared, callback).await
    }

    /// Records an operator's decision about an effect.
    ///
    /// # Errors
    /// [`ResolveError`]; only [`ResolveError::Unavailable`] leaves open whether it was recorded.
    pub async fn resolve_effect(&self, resolution: &Resolution) -> Result<(), ResolveError> {
        let inner = &self.inner;
        if !inner.shared.serves(&resolution.account) {
            return Err(ResolveError::NotHere);
        }
        let profile_of = |fold: &EffectFold| {
            inner.destinations.get(&fold.requested.destination).map(|known| known.profile())
        };
        operator::resolve(&inner.shared, profile_of, resolution).await
    }

    /// The effects that wait for an operator, of one destination or account or of all, at most a page of them after a
    /// mark by its account and key.
    ///
    /// # Errors
    /// [`ReadError`] when the ledger cannot be read.
    pub async fn parked_effects(
        &self,
        destination: Option<&DestinationKey>,
        account: Option<&AccountId>,
        after: Option<(&AccountId, &str)>,
    ) -> Result<Vec<Mark>, ReadError> {
        self.effects(MarkKind::Parked, destination, account, after).await
    }

    /// The effects that are open, as [`System::parked_effects`] lists those that are not.
    ///
    /// # Errors
    /// [`ReadError`] when the ledger cannot be read.
    pub async fn open_effects(
        &self,
        destination: Option<&DestinationKey>,
        account: Option<&AccountId>,
        after: Option<(&AccountId, &str)>,
    ) -> Result<Vec<Mark>, ReadError> {
        self.effects(MarkKind::Effect, destination, account, after).await
    }

    async fn effects(
        &self,
        kind: MarkKind,
        destination: Option<&DestinationKey>,
        account: Option<&AccountId>,
        after: Option<(&AccountId, &str)>,
    ) -> Result<Vec<Mark>, ReadError> {
        let query = MarkQuery {
            account: account.cloned(),
            prefix: destination.map(|destination| format!("{destination}/")).unwrap_or_default(),
            after: after.map(|(account, key)| (account.clone(), key.to_owned())),
            ..MarkQuery::of(kind)
        };
        self.inner.shared.ledger.marks(query).await
    }

    /// What waits of effects, by destination, in all partitions of the ledger: also in those that nobody owns.
    ///
    /// # Errors
    /// [`ReadError`] when the ledger cannot be read.
    pub async fn backlog(&self) -> Result<Backlog, ReadError> {
        let known = self.inner.destinations.keys();
        backlog::look(&self.inner.shared, known).await
    }

    /// Whether an account's partition is served here.
    fn here(&self, actor: &ActorContext) -> Result<(), PostError> {
        if self.serves(&actor.account) { Ok(()) } else { Err(PostError::NotHere) }
    }

    /// Whether this process takes work for an account; otherwise [`System::owner`] says where to go.
    #[must_use]
    pub fn serves(&self, account: &AccountId) -> bool {
        self.inner.shared.serves(account)
    }

    /// The partitions that this process takes work for.
    #[must_use]
    pub fn partitions(&self) -> PartitionSet {
        self.inner.shared.served.partitions()
    }

    /// Which process takes work for an account at this moment, where there is one.
    ///
    /// # Errors
    /// [`ReadError`] when the ledger cannot be asked.
    pub async fn owner(&self, account: &AccountId) -> Result<Option<Owner>, ReadError> {
        self.inner.shared.ledger.owner(PartitionId::of(account)).await
    }

    /// Whether a turn that needs more than words to be admitted was accepted before. Then it was admitted once, and
    /// what has changed since does not stand between its sender and its answer.
    async fn is_repeated(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        turn: &TurnId,
        input: &TurnInput,
    ) -> Result<bool, PostError> {
        if input.response.is_none() && input.origin.is_none() {
            return Ok(false);
        }
        let key =
            turnframe_runtime::key::turn(conversation, turn).map_err(PostError::unavailable)?;
        let found = self.inner.shared.ledger.find_key(&actor.account, &key).await;
        Ok(found.map_err(PostError::unavailable)?.is_some())
    }

    /// Checks what a turn refers to before anything is written for it.
    async fn admit(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        input: &TurnInput,
    ) -> Result<(), PostError> {
        if let Some(origin) = &input.origin {
            self.admit_origin(actor, origin).await?;
        }
        if let Some(response) = &input.response {
            self.admit_click(actor, conversation, response).await?;
        }
        Ok(())
    }

    async fn admit_origin(&self, actor: &ActorContext, origin: &str) -> Result<(), PostError> {
        if origin.is_empty() || origin.len() > ORIGIN_MAX_BYTES || origin.contains('\0') {
            return Err(PostError::NotFound);
        }
        let token = OriginToken(origin.to_owned());
        let bound = self.inner.shared.engine.directory().resolve_origin(actor, &token).await;
        match bound.map_err(PostError::unavailable)? {
            Some(_) => Ok(()),
            None => Err(PostError::NotFound),
        }
    }

    /// A card that is not this account's, not this conversation's, or on a case this actor may not address is
    /// the same `NotFound` as one that never was.
    async fn admit_click(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        response: &InteractionResponse,
    ) -> Result<(), PostError> {
        let ledger = self.inner.shared.ledger.as_ref();
        let found = find_card(ledger, &actor.account, response.interaction).await;
        let found = found.map_err(PostError::unavailable)?;
        let card = found.ok_or(PostError::NotFound)?;
        if card.conversation != *conversation {
            return Err(PostError::NotFound);
        }
        if let Some(case) = &card.case
            && !self.admits(actor, conversation, case, Some(card.id)).await?
        {
            return Err(PostError::NotFound);
        }
        fits(&card, response)
    }

    /// Whether an actor may address a case. One that does not exist yet is addressed through a card that is open on it.
    async fn admits(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        case: &CaseRef,
        card: Option<InteractionId>,
    ) -> Result<bool, PostError> {
        let directory = self.inner.shared.engine.directory();
        let candidates = directory.candidates(actor, conversation).await;
        if candidates.map_err(PostError::unavailable)?.contains(case) {
            return Ok(true);
        }
        let cases = CaseRoutes(self.inner.registries.cases.clone());
        let open = cases.open(&actor.account, case).await.map_err(PostError::unavailable)?;
        if open.revision == CaseRevision::NONE {
            return Ok(open.cards.iter().any(|open| Some(open.id) == card));
        }
        let authorized = directory.authorize_case(actor, conversation, case).await;
        authorized.map_err(PostError::unavailable)
    }

    /// The cards that are open in a conversation for this actor.
    ///
    /// # Errors
    /// [`PostError::NotFound`] where there is no such conversation.
    pub async fn cards(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
    ) -> Result<Vec<InteractionView>, PostError> {
        self.here(actor)?;
        let holds = self.ask(conversation, actor, ConversationMessage::Describe).await?;
        let holds: Option<ConversationHolds> = holds.map_err(PostError::unavailable)?;
        let ConversationHolds { touched, choices } = holds.ok_or(PostError::NotFound)?;
        let cases = CaseRoutes(self.inner.registries.cases.clone());
        let mut cards = choices;
        for case in touched {
            let open = cases.open(&actor.account, &case).await.map_err(PostError::unavailable)?;
            let here = open.cards.into_iter().filter(|card| card.conversation == *conversation);
            let here: Vec<_> = here.collect();
            if let Some(card) = here.first()
                && self.admits(actor, conversation, &case, Some(card.id)).await?
            {
                cards.extend(here);
            }
        }
        cards.sort_by_key(|card| card.id);
        Ok(cards.iter().map(Interaction::view).collect())
    }

    /// A case as this actor sees it.
    ///
    /// # Errors
    /// [`PostError::NotFound`] where the directory does not admit it.
    pub async fn view(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        case: &CaseRef,
    ) -> Result<WorkflowView, PostError> {
        self.here(actor)?;
        let registry = self.inner.shared.engine.registry();
        let workflow = registry.get(&case.workflow).ok_or(PostError::NotFound)?;
        if !self.admits(actor, conversation, case, None).await? {
            return Err(PostError::NotFound);
        }
        let cases = CaseRoutes(self.inner.registries.cases.clone());
        let open = cases.open(&actor.account, case).await.map_err(PostError::unavailable)?;
        let projection = workflow.project(&open.state, &actor.locale);
        let projection = projection.map_err(PostError::unavailable)?;
        Ok(WorkflowView { case: case.clone(), revision: open.revision, projection })
    }

    /// The ledger the system runs on, to read.
    #[must_use]
    pub fn ledger(&self) -> &Arc<dyn EventLedger> {
        &self.inner.shared.ledger
    }

    /// Where ids and times come from.
    #[must_use]
    pub fn ids(&self) -> &IdSource {
        self.inner.shared.ids()
    }

    /// How many actors are live: conversations and cases.
    #[must_use]
    pub fn live_actors(&self) -> (usize, usize) {
        (self.inner.registries.conversations.len(), self.inner.registries.cases.len())
    }

    /// Shuts down: running turns finish or are left resumable, what waits for the writer is committed.
    pub async fn shutdown(self) {
        let inner = &self.inner;
        inner.in_flight.close();
        inner.passivation.abort();
        inner.watching.abort();
        let patience = inner.shared.limits.shutdown;
        let finished = inner.registries.conversations.finish(|_| true);
        if tokio::time::timeout(patience, finished).await.is_err() {
            tracing::warn!("some turns were left unfinished; the next start resumes them");
        }
        join_all(inner.sweeping.iter().map(|sweeping| sweeping.stop(patience))).await;
        inner.following.abort();
        let closed = async {
            inner.registries.conversations.close().await;
            inner.registries.cases.close().await;
        };
        if tokio::time::timeout(patience, closed).await.is_err() {
            tracing::warn!("some actors did not end in time");
        }
        inner.shared.writer.stop().await;
        inner.root.stop(None);
    }

    async fn ask<T>(
        &self,
        conversation: &ConversationId,
        actor: &ActorContext,
        message: impl FnOnce(oneshot::Sender<T>) -> ConversationMessage,
    ) -> Result<T, PostError> {
        let key = (actor.account.clone(), conversation.clone());
        let (reply, answer) = oneshot::channel();
        let sent = self.inner.registries.conversations.send(&key, message(reply)).await;
        sent.map_err(|error: SendError| PostError::unavailable(error))?;
        answer.await.map_err(|_| PostError::unavailable("the conversation is being restarted"))
    }
}

/// Whether domain actors are told apart, from each other and from people.
fn check_names(actors: &[Arc<dyn ErasedDomainActor>]) -> Result<(), StartError> {
    let mut keys = BTreeSet::new();
    for key in actors.iter().map(|actor| actor.key()) {
        if turnframe_runtime::domain::identity(&key).is_err() {
            return Err(StartError::DomainActorName(key));
        }
        if !keys.insert(key.clone()) {
            return Err(StartError::RepeatedDomainActor(key));
        }
    }
    Ok(())
}

/// Whether there are words or a click, and the words are a message.
fn check_words(input: &TurnInput) -> Result<(), PostError> {
    if input.text.is_none() && input.response.is_none() {
        return Err(PostError::Empty);
    }
    if let Some(text) = &input.text {
        Message::new(text.clone())?;
    }
    Ok(())
}

/// A turn as it is recorded.
fn accepted(actor: &ActorContext, input: TurnInput) -> Result<TurnAccepted, PostError> {
    let subject = actor.subject().map_err(PostError::unavailable)?;
    let known = |value: String| Personal::known(subject.clone(), value);
    let click = input.response.map(|response| ClickRecord {
        interaction: response.interaction,
        option: response.option,
        expected_revision: response.expected_revision,
        value: response.value.map(known),
    });
    let text = input.text.map(known);
    Ok(TurnAccepted { actor: actor.clone(), text, click, origin: input.origin })
}

/// Whether an answer fits its card: a known option, the revision on the card, a value where one is taken.
fn fits(card: &Interaction, response: &InteractionResponse) -> Result<(), PostError> {
    let option = card.payload.option(&response.option).ok_or(PostError::NoSuchOption)?;
    if response.expected_revision != card.revision {
        return Err(PostError::WrongRevision);
    }
    let takes_value = matches!(option.meaning, OptionMeaning::Fill(_));
    match (&response.value, &option.freeform) {
        (None, None) if !takes_value => Ok(()),
        (Some(value), Some(rule)) => {
            let chars = value.chars().count();
            let most = usize::try_from(rule.max_chars).unwrap_or(usize::MAX);
            let fits = (1..=most).contains(&chars) && !value.contains('\0');
            if fits { Ok(()) } else { Err(PostError::WrongValue) }
        }
        (None | Some(_), _) => Err(PostError::WrongValue),
    }
}

fn registries(shared: &Arc<Shared>, root: &Root, ids: &IdSource) -> Registries {
    let (for_cases, root_of_cases) = (shared.clone(), root.clone());
    let cases = Registry::new(
        move |registry, key, generation| {
            let (shared, root) = (for_cases.clone(), root_of_cases.clone());
            crate::case::spawn(key, generation, shared, registry, root)
        },
        || crate::case::CaseMessage::RestIfIdle,
        serves(shared),
        ids.clone(),
    );
    let serves = serves(shared);
    let (shared, root, to_cases) = (shared.clone(), root.clone(), cases.clone());
    let conversations = Registry::new(
        move |registry, key, generation| {
            let (shared, root) = (shared.clone(), root.clone());
            let registries = Registries { conversations: registry, cases: to_cases.clone() };
            crate::conversation::spawn(key, generation, shared, registries, root)
        },
        || ConversationMessage::Resume,
        serves,
        ids.clone(),
    );
    Registries { conversations, cases }
}

/// Whether a record's account is served here.
fn serves<K>(shared: &Arc<Shared>) -> impl Fn(&(AccountId, K)) -> bool + Send + Sync + 'static {
    let shared = shared.clone();
    move |(account, _)| shared.serves(account)
}

/// Asks idle actors to rest, and wakes conversations whose turns were forgotten, again and again.
async fn passivate(shared: Arc<Shared>, registries: Registries) {
    loop {
        tokio::time::sleep(shared.limits.sweep).await;
        let idle = i64::try_from(shared.limits.idle.as_micros()).unwrap_or(i64::MAX);
        let now = shared.ids().now().as_micros();
        let since = Timestamp::from_micros(now.saturating_sub(idle));
        registries.conversations.ask_idle(since, || ConversationMessage::RestIfIdle);
        registries.cases.ask_idle(since, || crate::case::CaseMessage::RestIfIdle);
        let forgotten = i64::try_from(shared.limits.turn_forgotten.as_micros()).unwrap_or(i64::MAX);
        let forgotten = Timestamp::from_micros(now.saturating_sub(forgotten));
        let served = shared.served.partitions();
        let resumed = resume_unfinished(&shared, &registries, served, Some(forgotten)).await;
        if let Err(error) = resumed {
            tracing::warn!(%error, "unfinished turns could not be looked for");
        }
    }
}

/// Wakes every conversation of these partitions that has an unfinished turn; where a moment is given, one that
/// arrived before it.
pub(crate) async fn resume_unfinished(
    shared: &Shared,
    registries: &Registries,
    partitions: PartitionSet,
    arrived_by: Option<Timestamp>,
) -> Result<(), ReadError> {
    let mut query = MarkQuery { partitions, due_by: arrived_by, ..MarkQuery::of(MarkKind::Turn) };
    loop {
        let page = shared.ledger.marks(query.clone()).await?;
        query.after = page.last().map(|last| (last.account.clone(), last.key.clone()));
        let is_last = page.len() < MARK_PAGE_MAX;
        let conversations = page.into_iter().filter_map(|mark| match mark.stream {
            StreamName::Conversation(id) => Some((mark.account, id)),
            StreamName::Case(_) | StreamName::Effect(_) | StreamName::Domain(..) => None,
        });
        let wake = |key| async move {
            if let Err(error) = registries.conversations.wake(&key).await {
                tracing::error!(%error, "an unfinished turn could not be resumed yet");
            }
        };
        stream::iter(conversations).for_each_concurrent(WAKE_AT_ONCE_MAX, wake).await;
        if is_last {
            return Ok(());
        }
    }
}
