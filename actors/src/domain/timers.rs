//! A domain actor's timers: found by their marks once they are due.
//!
//! A timer's mark is cleared in the append that records that it fired, after all that it led to: killed before, it
//! fires again, and each command finds its key taken. One that fails stays, and rests for longer and longer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::event::CommittedEvent;
use turnframe_core::registry::StoredEvent;
use turnframe_core::source::Timestamp;
use turnframe_ledger::{Mark, MarkKind, StreamName, Version};
use turnframe_runtime::domain::SetTimer;
use turnframe_runtime::record::TimerSet;

use super::{Cause, Domain, Done, Failure};
use crate::shared::Shared;
use crate::sweeper::Duty;

/// How many timers of one actor fire at once.
const TIMERS_AT_ONCE_MAX: usize = 64;

pub(super) struct Timers(pub(super) Arc<Domain>);

#[async_trait]
impl Duty for Timers {
    fn kind(&self) -> MarkKind {
        MarkKind::Timer
    }

    fn prefix(&self) -> String {
        format!("{}/", self.0.key)
    }

    fn concurrency(&self) -> usize {
        TIMERS_AT_ONCE_MAX
    }

    fn nudges(&self, shared: &Shared) -> watch::Receiver<()> {
        shared.nudges.timers.subscribe()
    }

    /// One that fails holds up none of the case's others.
    fn unit(&self, mark: &Mark) -> String {
        mark.key.clone()
    }

    fn rest_max(&self, shared: &Shared) -> Duration {
        shared.limits.reaction_pause.max(shared.limits.sweep)
    }

    /// A timer that was about to fire is due like any other.
    async fn take_over(&self, _shared: &Shared, _mark: &Mark) {}

    async fn work(&self, _shared: &Shared, mark: &Mark) -> Option<Timestamp> {
        if let Err(error) = self.0.fire(mark).await {
            tracing::error!(
                counter.turnframe.domain.failed = 1,
                actor = %self.0.key,
                timer = %mark.key,
                %error,
                "a timer has to wait for the next look"
            );
        }
        None
    }
}

impl Domain {
    async fn fire(&self, mark: &Mark) -> Done {
        let set: SetTimer = mark.key.parse().map_err(|()| "the mark names no timer")?;
        let StreamName::Domain(of) = &mark.stream else {
            return Err("the mark leads to no domain actor's stream".into());
        };
        let payload = self.set_by(mark, &set).await?;
        let applied = self.applied(&mark.account, &of.case, payload.command).await?;
        let (entry, about, fired) = (set.set.entry, set.about, Some(set));
        let cause = Cause { entry, event: payload.event, about, fired };
        let Some(timer) = &payload.timer else {
            self.react(&applied).await?;
            return self.change_timers(&applied.command, &cause, &[]).await;
        };
        let is_it = |event: &&CommittedEvent<StoredEvent>| event.id == payload.event;
        let event = applied.events.iter().find(is_it).ok_or("the command has no such event")?;
        let reactions = self.in_time(self.actor.fire(timer, event)).await?;
        self.carry_out(&applied, &cause, &reactions).await
    }

    /// The entry that set a timer.
    async fn set_by(&self, mark: &Mark, set: &SetTimer) -> Result<TimerSet, Failure> {
        let before = Version(set.set.version.0.saturating_sub(1));
        let read = self.shared.ledger.read_stream(&mark.account, &mark.stream, before, 1);
        let entries = read.await?;
        let entry = entries.first().filter(|entry| entry.id == set.set.entry);
        Ok(entry.ok_or("the timer is not where its mark says")?.body.open()?)
    }
}
