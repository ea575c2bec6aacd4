//! Domain actors of tests: they follow trips, and do what a closure says.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{CaseRef, DomainActorKey, TimerName};
use turnframe_core::source::Timestamp;
use turnframe_runtime::port::{DomainActor, ReactError, Reaction};
use turnframe_test::literal;
use turnframe_travel::TripWorkflow;
use turnframe_travel::trip::{TripCommand, TripEvent};

/// An event of a trip.
pub type Seen = CommittedEvent<TripEvent>;
/// What a domain actor answers.
pub type Reacted = Result<Vec<Reaction>, ReactError>;

type Fire = dyn Fn(&TimerName, &Seen) -> Reacted + Send + Sync;

/// Follows trips, and does what its closures say.
pub struct Scripted {
    name: &'static str,
    react: Box<dyn Fn(&Seen) -> Reacted + Send + Sync>,
    fire: Box<Fire>,
    /// Never answers to these.
    stalls: Box<dyn Fn(&TripEvent) -> bool + Send + Sync>,
    seen: Mutex<Vec<TripEvent>>,
}

impl Scripted {
    /// Reacts like this, and has no timers.
    pub fn new(
        name: &'static str,
        react: impl Fn(&Seen) -> Reacted + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            react: Box::new(react),
            fire: Box::new(|_, _| Ok(Vec::new())),
            stalls: Box::new(|_| false),
            seen: Mutex::default(),
        }
    }

    /// The same with timers.
    #[must_use]
    pub fn firing(
        self,
        fire: impl Fn(&TimerName, &Seen) -> Reacted + Send + Sync + 'static,
    ) -> Self {
        Self { fire: Box::new(fire), ..self }
    }

    /// The same, which never answers to some.
    #[must_use]
    pub fn stalling(self, stalls: impl Fn(&TripEvent) -> bool + Send + Sync + 'static) -> Self {
        Self { stalls: Box::new(stalls), ..self }
    }

    /// What it was shown, in order, again where it was shown again.
    pub fn seen(&self) -> Vec<TripEvent> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl DomainActor for Scripted {
    type Workflow = TripWorkflow;

    fn key(&self) -> DomainActorKey {
        literal(self.name)
    }

    fn workflow(&self) -> &TripWorkflow {
        &TripWorkflow
    }

    async fn react(&self, event: &Seen) -> Reacted {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(event.event.clone());
        if (self.stalls)(&event.event) {
            std::future::pending::<()>().await;
        }
        (self.react)(event)
    }

    async fn fire(&self, timer: &TimerName, event: &Seen) -> Reacted {
        (self.fire)(timer, event)
    }
}

/// Has a trip protect a leg of this name: a command that is refused where it is repeated.
#[must_use]
pub fn protect(case: &CaseRef, leg: &str) -> Reaction {
    let command = TripCommand::ProtectLeg { leg: leg.to_owned() };
    Reaction::run::<TripWorkflow>(case.clone(), &command).expect("JSON")
}

/// Has a timer fire at a moment.
#[must_use]
pub fn wake(timer: &str, at: Timestamp) -> Reaction {
    Reaction::Wake { timer: literal(timer), at }
}
