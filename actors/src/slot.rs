//! The slot protocol: at most one live holder of a name, and no message lost between two of them.
//!
//! A name's slot is absent, starting, active or draining. Whoever finds it absent starts the actor; everybody
//! else waits for the slot to change. An idle actor does not stop by itself: its slot is marked draining, the
//! actor drains, and the slot is freed only by the generation that held it. A sender whose message is
//! refused keeps it and waits. Whatever slips through, the append's expected version decides.
//!
//! The transitions are plain functions over one slot, so that a model checker can drive them.

use std::hash::Hash;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use tokio::sync::watch;

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
    changed: watch::Sender<Option<StartFailure>>,
}

/// What [`SlotTable::claim`] found, with what to wait on.
pub(crate) enum Found<A> {
    Active(A, watch::Receiver<Option<StartFailure>>),
    Start(Generation, watch::Receiver<Option<StartFailure>>),
    Wait(watch::Receiver<Option<StartFailure>>),
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
            .or_insert_with(|| Held { slot: None, changed: watch::Sender::new(None) });
        let changed = held.changed.subscribe();
        match Slot::claim(&mut held.slot, fresh) {
            Claim::Active(_, address) => Found::Active(address, changed),
            Claim::Start(generation) => Found::Start(generation, changed),
            Claim::Wait => Found::Wait(changed),
        }
    }

    pub(crate) fn activate(&self, key: &K, generation: Generation, address: A) -> bool {
        let Some(mut held) = self.slots.get_mut(key) else { return false };
        let own = Slot::activate(&mut held.slot, generation, address);
        held.changed.send_replace(None);
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
            held.get().changed.send_replace(failure);
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

    /// The active holders, one shard at a time.
    pub(crate) fn active(&self) -> Vec<(K, Generation, A)> {
        let active = |held: dashmap::mapref::multiple::RefMulti<'_, K, Held<A>>| match &held.slot {
            Some(Slot::Active(generation, address)) => {
                Some((held.key().clone(), *generation, address.clone()))
            }
            Some(Slot::Starting(_) | Slot::Draining(_)) | None => None,
        };
        self.slots.iter().filter_map(active).collect()
    }
}
