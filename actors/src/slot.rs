//! The slot protocol: at most one live holder of a name, and no message lost between two of them.
//!
//! A name's slot is absent, starting, active or draining. Whoever finds it absent starts the actor; everybody
//! else waits for the slot to change. An idle actor does not stop by itself: its slot is marked draining, the
//! actor drains, and the slot is freed only by the generation that held it. A sender whose message is
//! refused keeps it and waits. Whatever slips through, the append's expected version decides.
//!
//! The transitions are plain functions over one slot, so that a model checker can drive them.

use std::hash::Hash;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use tokio::sync::Notify;

/// Tells two holders of a name apart.
pub type Generation = u64;

/// A name's holder.
#[derive(Debug)]
pub enum Slot<A> {
    /// The actor is being started.
    Starting(Generation),
    /// The actor takes messages.
    Active(Generation, A),
    /// The actor finishes what it accepted.
    Draining(Generation),
}

/// What a claim found.
#[derive(Debug, PartialEq, Eq)]
pub enum Claim<A> {
    /// Send here.
    Active(Generation, A),
    /// Start the actor, then [`Slot::activate`] it.
    Start(Generation),
    /// Somebody else is starting or draining it.
    Wait,
}

impl<A: Clone> Slot<A> {
    /// Looks a slot up, and takes it where it is absent.
    pub fn claim(slot: &mut Option<Self>, fresh: Generation) -> Claim<A> {
        match slot {
            None => {
                *slot = Some(Self::Starting(fresh));
                Claim::Start(fresh)
            }
            Some(Self::Active(generation, address)) => Claim::Active(*generation, address.clone()),
            Some(Self::Starting(_) | Self::Draining(_)) => Claim::Wait,
        }
    }

    /// The actor that this generation started takes messages from now on. Says whether the slot was its own.
    pub fn activate(slot: &mut Option<Self>, generation: Generation, address: A) -> bool {
        match slot {
            Some(Self::Starting(own)) if *own == generation => {
                *slot = Some(Self::Active(generation, address));
                true
            }
            Some(Self::Starting(_) | Self::Active(..) | Self::Draining(_)) | None => false,
        }
    }

    /// The actor of this generation may drain. Says whether the slot was its own and active.
    pub fn drain(slot: &mut Option<Self>, generation: Generation) -> bool {
        match slot {
            Some(Self::Active(own, _)) if *own == generation => {
                *slot = Some(Self::Draining(generation));
                true
            }
            Some(Self::Starting(_) | Self::Active(..) | Self::Draining(_)) | None => false,
        }
    }

    /// The actor of this generation is gone. Says whether the slot was its own.
    pub fn free(slot: &mut Option<Self>, generation: Generation) -> bool {
        let own = match slot {
            Some(Self::Starting(own) | Self::Active(own, _) | Self::Draining(own)) => *own,
            None => return false,
        };
        if own == generation {
            *slot = None;
        }
        own == generation
    }
}

/// Why an actor could not be started, told to everybody who waits for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct StartFailure {
    pub(crate) reason: String,
    /// Whether it may well start later. A corrupt stream stays corrupt.
    pub(crate) is_transient: bool,
}

struct Held<A> {
    slot: Option<Slot<A>>,
    changes: Arc<Changes>,
}

/// Wakes those who wait for a slot to change, in the order in which they came. One stands beside every live actor, so
/// it is small.
#[derive(Default)]
struct Changes {
    last: Mutex<Change>,
    notify: Notify,
}

/// The last change of a slot: its number, and the reason where it is a start that failed.
#[derive(Default)]
struct Change {
    number: u64,
    failure: Option<StartFailure>,
}

impl Changes {
    fn last(&self) -> MutexGuard<'_, Change> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, failure: Option<StartFailure>) {
        let mut last = self.last();
        *last = Change { number: last.number + 1, failure };
        drop(last);
        self.notify.notify_waiters();
    }
}

/// What somebody who found a slot taken waits on.
pub(crate) struct NextChange {
    changes: Arc<Changes>,
    seen: u64,
}

impl NextChange {
    fn of(changes: &Arc<Changes>) -> Self {
        let seen = changes.last().number;
        Self { changes: changes.clone(), seen }
    }

    /// Waits for a change after the slot was looked at. The reason, where it is a start that failed.
    pub(crate) async fn come(self) -> Option<StartFailure> {
        let mut woken = pin!(self.changes.notify.notified());
        // In line from here on: a change after the look below wakes it.
        woken.as_mut().enable();
        if self.changes.last().number == self.seen {
            woken.await;
        }
        self.changes.last().failure.clone()
    }
}

/// What [`SlotTable::claim`] found, with what to wait on.
pub(crate) enum Found<A> {
    Active(A, NextChange),
    Start(Generation, NextChange),
    Wait(NextChange),
}

/// The slots of all names. No guard is held across an await.
pub(crate) struct SlotTable<K: Eq + Hash, A> {
    slots: DashMap<K, Held<A>>,
    generations: std::sync::atomic::AtomicU64,
}

impl<K: Eq + Hash + Clone, A: Clone> SlotTable<K, A> {
    pub(crate) fn new() -> Self {
        Self { slots: DashMap::new(), generations: std::sync::atomic::AtomicU64::new(1) }
    }

    pub(crate) fn claim(&self, key: &K) -> Found<A> {
        let fresh = self.generations.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut held = self
            .slots
            .entry(key.clone())
            .or_insert_with(|| Held { slot: None, changes: Arc::default() });
        let next = NextChange::of(&held.changes);
        match Slot::claim(&mut held.slot, fresh) {
            Claim::Active(_, address) => Found::Active(address, next),
            Claim::Start(generation) => Found::Start(generation, next),
            Claim::Wait => Found::Wait(next),
        }
    }

    pub(crate) fn activate(&self, key: &K, generation: Generation, address: A) -> bool {
        let Some(mut held) = self.slots.get_mut(key) else { return false };
        let own = Slot::activate(&mut held.slot, generation, address);
        held.changes.announce(None);
        own
    }

    pub(crate) fn drain(&self, key: &K, generation: Generation) -> bool {
        let held = self.slots.get_mut(key);
        held.is_some_and(|mut held| Slot::drain(&mut held.slot, generation))
    }

    /// Frees the slot and wakes everybody who waits for it, with the reason where the start failed.
    pub(crate) fn free(&self, key: &K, generation: Generation, failure: Option<StartFailure>) {
        let Entry::Occupied(mut held) = self.slots.entry(key.clone()) else { return };
        if Slot::free(&mut held.get_mut().slot, generation) {
            held.get().changes.announce(failure);
            held.remove();
        }
    }

    /// Whether any of these names is held.
    pub(crate) fn holds_any(&self, of: impl Fn(&K) -> bool) -> bool {
        self.slots.iter().any(|held| of(held.key()))
    }

    /// How many names are held.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The active holders, the eldest first.
    pub(crate) fn active(&self) -> Vec<(K, Generation, A)> {
        let active = |held: dashmap::mapref::multiple::RefMulti<'_, K, Held<A>>| match &held.slot {
            Some(Slot::Active(generation, address)) => {
                Some((held.key().clone(), *generation, address.clone()))
            }
            Some(Slot::Starting(_) | Slot::Draining(_)) | None => None,
        };
        let mut active: Vec<_> = self.slots.iter().filter_map(active).collect();
        active.sort_unstable_by_key(|(_, generation, _)| *generation);
        active
    }
}
