//! Virtual actors: callers name a conversation or a case, never an actor.
//!
//! The registry starts actors on demand and passivates idle ones; a million idle conversations cost disk, not
//! memory. An actor that dies by panic frees its slot, so that the next message starts it again from the ledger;
//! where it left work unfinished, it is started again at once, after a pause.

use std::future::Future;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use ractor::concurrency::JoinHandle;
use ractor::{ActorRef, MessagingErr};
use turnframe_core::source::{IdSource, Timestamp};

use crate::slot::{Found, Generation, SlotTable, StartFailure};

/// How often a message is offered before its sender is told to try again.
const SEND_ATTEMPTS_MAX: u32 = 64;
/// How long a sender waits for a slot to change before it looks again.
const SLOT_WAIT: Duration = Duration::from_secs(5);
/// The pause before an actor that died with unfinished work is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(200);
/// How often a shutdown looks whether everybody is done.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// A message could not be delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    /// The actor could not be started.
    #[error("{0}")]
    Start(StartFailure),
    /// The slot kept changing.
    #[error("the actor is busy restarting")]
    Busy,
}

impl SendError {
    /// Whether trying again may well work.
    pub(crate) const fn is_transient(&self) -> bool {
        match self {
            Self::Start(failure) => failure.is_transient,
            Self::Busy => true,
        }
    }
}

/// A live actor, and what its registry and its actor share of it.
pub(crate) struct Address<M> {
    actor: ActorRef<M>,
    used_at: Arc<AtomicI64>,
    pub(crate) unfinished: Arc<AtomicBool>,
}

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Self {
            actor: self.actor.clone(),
            used_at: self.used_at.clone(),
            unfinished: self.unfinished.clone(),
        }
    }
}

/// What a spawner makes.
pub(crate) struct Spawned<M> {
    pub(crate) actor: ActorRef<M>,
    pub(crate) ended: JoinHandle<()>,
    /// Set by the actor while it has work that must not wait for the next message.
    pub(crate) unfinished: Arc<AtomicBool>,
}

/// Starts the actor of a name. It is handed the registry, which the actor asks to be passivated.
type Spawner<K, M> = dyn Fn(Registry<K, M>, K, Generation) -> BoxFuture<'static, Result<Spawned<M>, StartFailure>>
    + Send
    + Sync;

type Serves<K> = dyn Fn(&K) -> bool + Send + Sync;

/// The actors of a kind by their names.
pub(crate) struct Registry<K: Eq + Hash, M> {
    table: Arc<SlotTable<K, Address<M>>>,
    spawner: Arc<Spawner<K, M>>,
    wake: fn() -> M,
    /// Whether work may be taken up here.
    serves: Arc<Serves<K>>,
    ids: IdSource,
    /// Set at shutdown: nothing is started any more.
    is_closed: Arc<AtomicBool>,
}

impl<K: Eq + Hash, M> Clone for Registry<K, M> {
    fn clone(&self) -> Self {
        Self {
            table: self.table.clone(),
            spawner: self.spawner.clone(),
            wake: self.wake,
            serves: self.serves.clone(),
            ids: self.ids.clone(),
            is_closed: self.is_closed.clone(),
        }
    }
}

impl<K, M> Registry<K, M>
where
    K: Eq + Hash + Clone + Send + Sync + 'static,
    M: ractor::Message + Send,
{
    /// A registry that starts actors with a spawner; `wake` makes the message that asks one to look around.
    pub(crate) fn new<F>(
        spawner: impl Fn(Self, K, Generation) -> F + Send + Sync + 'static,
        wake: fn() -> M,
        serves: impl Fn(&K) -> bool + Send + Sync + 'static,
        ids: IdSource,
    ) -> Self
    where
        F: Future<Output = Result<Spawned<M>, StartFailure>> + Send + 'static,
    {
        let spawner = move |registry, key, generation| {
            Box::pin(spawner(registry, key, generation)) as BoxFuture<'static, _>
        };
        Self {
            table: Arc::new(SlotTable::new()),
            spawner: Arc::new(spawner),
            wake,
            serves: Arc::new(serves),
            ids,
            is_closed: Arc::default(),
        }
    }

    /// Delivers a message to the actor of a name, started where it is not there.
    pub(crate) async fn send(&self, key: &K, message: M) -> Result<(), SendError> {
        let mut message = message;
        if self.is_closed.load(Ordering::Acquire) {
            return Err(SendError::Busy);
        }
        for _ in 0..SEND_ATTEMPTS_MAX {
            let next = match self.table.claim(key) {
                Found::Active(address, next) => {
                    address.used_at.store(self.ids.now().as_micros(), Ordering::Relaxed);
                    match address.actor.send_message(message) {
                        Ok(()) => return Ok(()),
                        Err(MessagingErr::SendErr(refused)) => message = refused,
                        Err(_) => return Err(SendError::Busy),
                    }
                    next
                }
                Found::Start(generation, next) => {
                    // In a task of its own: a caller that goes away must not leave the slot starting for good.
                    tokio::spawn(self.clone().start(key.clone(), generation));
                    next
                }
                Found::Wait(next) => next,
            };
            if let Ok(Some(failure)) = tokio::time::timeout(SLOT_WAIT, next.come()).await {
                return Err(SendError::Start(failure));
            }
        }
        Err(SendError::Busy)
    }

    /// Starts the actor of a name, so that it finishes what the ledger says is unfinished. Where another process
    /// owns it, that is the other one's to do.
    pub(crate) async fn wake(&self, key: &K) -> Result<(), SendError> {
        if (self.serves)(key) { self.send(key, (self.wake)()).await } else { Ok(()) }
    }

    /// Boxed: starting again what ended with unfinished work goes through the same code.
    fn start(self, key: K, generation: Generation) -> BoxFuture<'static, ()> {
        Box::pin(self.start_and_watch(key, generation))
    }

    async fn start_and_watch(self, key: K, generation: Generation) {
        // Loading runs code of a workflow: a panic there must not leave the slot starting for good.
        let starting = async { (self.spawner)(self.clone(), key.clone(), generation).await };
        let started = AssertUnwindSafe(starting).catch_unwind().await;
        let panicked = |_| {
            tracing::error!("an actor's loading panicked; an operator has to look at it");
            let reason = "the record's loading panicked".to_owned();
            Err(StartFailure { reason, is_transient: false })
        };
        match started.unwrap_or_else(panicked) {
            Err(failure) => self.table.free(&key, generation, Some(failure)),
            Ok(Spawned { actor, ended, unfinished }) => {
                let used_at = Arc::new(AtomicI64::new(self.ids.now().as_micros()));
                let address = Address { actor, used_at, unfinished: unfinished.clone() };
                self.table.activate(&key, generation, address);
                let ended = ended.await;
                self.table.free(&key, generation, None);
                let is_closed = self.is_closed.load(Ordering::Acquire);
                if unfinished.load(Ordering::Acquire) && !is_closed {
                    tracing::warn!(clean = ended.is_ok(), "an actor ended with unfinished work");
                    tokio::time::sleep(RESTART_PAUSE).await;
                    // Boxed: every live actor is watched by one of these, and few ever come here.
                    if let Err(error) = Box::pin(self.wake(&key)).await {
                        tracing::error!(%error, "unfinished work could not be taken up again");
                    }
                }
            }
        }
    }

    /// Marks an idle actor's slot as draining. The actor may drain when this says yes.
    pub(crate) fn retire(&self, key: &K, generation: Generation) -> bool {
        self.table.drain(key, generation)
    }

    /// Asks the actors that were not used since a moment to be passivated.
    pub(crate) fn ask_idle(&self, since: Timestamp, message: impl Fn() -> M) {
        for (_, _, address) in self.table.active() {
            if address.used_at.load(Ordering::Relaxed) < since.as_micros() {
                // One that has just ended needs no asking.
                let _ = address.actor.send_message(message());
            }
        }
    }

    /// Waits until no actor of these names has unfinished work.
    pub(crate) async fn finish(&self, of: impl Fn(&K) -> bool) {
        let works = |address: &Address<M>| address.unfinished.load(Ordering::Acquire);
        while self.table.active().iter().any(|(key, _, address)| of(key) && works(address)) {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Ends the actors of these names: those that do not end by themselves within the patience are killed, at
    /// whatever they wait for. What they had not finished is on the ledger, and is not started again here.
    pub(crate) async fn evict(&self, of: impl Fn(&K) -> bool, patience: Duration) {
        let start = tokio::time::Instant::now();
        let mut draining = Vec::new();
        while self.table.holds_any(&of) {
            let active = self.table.active().into_iter().filter(|(key, ..)| of(key));
            for (key, generation, address) in active {
                if self.table.drain(&key, generation) {
                    // It may have ended meanwhile.
                    drop(address.actor.drain());
                }
                draining.push(address.actor);
            }
            if start.elapsed() >= patience {
                draining.drain(..).for_each(|actor| actor.kill());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Starts nothing any more, lets every actor handle what it accepted, and ends it.
    pub(crate) async fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        while self.table.len() > 0 {
            for (key, generation, address) in self.table.active() {
                if self.table.drain(&key, generation) {
                    // It may have ended meanwhile.
                    drop(address.actor.drain());
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// How many actors are live.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
}
