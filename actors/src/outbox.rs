//! The outbox of a destination: dispatches, concludes, marks unknown, looks up by key.
//!
//! What to do next is decided by `turnframe_runtime::effect`. An attempt is appended before it is sent, under the
//! key that every attempt of the effect shares; its conclusion is appended after. Killed in between, the
//! next start finds the attempt and concludes it as unknown (I15): it is looked up, never blindly sent again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::id::{AccountId, EffectId};
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::{AppendError, Mark, MarkChange, MarkKind, PartitionId, StreamName, Version};
use turnframe_runtime::breaker::{Breaker, Pace};
use turnframe_runtime::effect::{
    EffectRecord, EffectStep, SETTLING_MARGIN, append_of, next, not_sent_while_down, record_of,
    record_of_lookup, stands_beside,
};
use turnframe_runtime::fold::effect::{EffectFold, EffectStatus};
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile, Dispatched, Reconciled};
use turnframe_runtime::record::ConclusionSource;

use crate::shared::Shared;
use crate::sweeper::Duty;

/// The outbox of one destination.
pub(crate) struct Outbox {
    destination: Arc<dyn Destination>,
    profile: DestinationProfile,
    breaker: Mutex<Breaker>,
    pace: Option<Mutex<Pace>>,
}

impl Outbox {
    pub(crate) fn new(destination: Arc<dyn Destination>) -> Self {
        let profile = destination.profile();
        let burst = u32::try_from(profile.concurrency).unwrap_or(u32::MAX);
        Self {
            breaker: Mutex::new(Breaker::new(profile.failures_max, profile.failures_pause)),
            pace: profile.rate.map(|rate| Mutex::new(Pace::new(rate, burst))),
            destination,
            profile,
        }
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the destination's pace allows one more attempt.
    async fn keep_pace(&self, now: Timestamp) {
        let Some(pace) = &self.pace else { return };
        let wait = pace.lock().unwrap_or_else(PoisonError::into_inner).next(now);
        tokio::time::sleep(wait).await;
    }

    /// Notes how an attempt ended. Says whether the destination is left alone from now on.
    fn note(&self, now: Timestamp, dispatched: &Dispatched) -> bool {
        let failed = matches!(dispatched, Dispatched::NotSent { .. } | Dispatched::Unknown { .. });
        let opened = self.breaker().end(now, failed);
        if opened {
            let destination = self.destination.key();
            tracing::error!(
                counter.turnframe.outbox.opened = 1,
                %destination,
                pause = ?self.profile.failures_pause,
                "a destination fails again and again, and is left alone for a while"
            );
        }
        opened
    }
}

#[async_trait]
impl Duty for Outbox {
    fn kind(&self) -> MarkKind {
        MarkKind::Effect
    }

    fn prefix(&self) -> String {
        format!("{}/", self.destination.key())
    }

    fn concurrency(&self) -> usize {
        self.profile.concurrency
    }

    fn nudges(&self, shared: &Shared) -> watch::Receiver<()> {
        shared.nudges.effects.subscribe()
    }

    fn closed_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.breaker().closed_until(now)
    }

    /// No attempt is on its way yet: one that was recorded is over, and nobody knows how (I15).
    async fn take_over(&self, shared: &Shared, mark: &Mark) {
        let StreamName::Effect(effect) = mark.stream else { return };
        let work = Work { outbox: self, shared, account: &mark.account, effect };
        if let Err(error) = work.take_over().await {
            tracing::warn!(%effect, %error, "an attempt that was left has to wait until it is due");
        }
    }

    async fn work(&self, shared: &Shared, mark: &Mark) -> Option<Timestamp> {
        let StreamName::Effect(effect) = mark.stream else { return None };
        let work = Work { outbox: self, shared, account: &mark.account, effect };
        work.go_on().await.unwrap_or_else(|error| {
            tracing::warn!(%effect, %error, "an effect has to wait for the next look");
            None
        })
    }
}

/// An attempt that the breaker let begin. Where it is dropped before it was made, the breaker is told so.
struct Begun<'a> {
    outbox: &'a Outbox,
    ids: &'a IdSource,
    ended: bool,
}

impl Begun<'_> {
    /// Notes how the attempt ended. Says whether the destination is left alone from now on.
    fn end(mut self, dispatched: &Dispatched) -> bool {
        self.ended = true;
        self.outbox.note(self.ids.now(), dispatched)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.outbox.breaker().abandon(self.ids.now());
        }
    }
}

struct Work<'a> {
    outbox: &'a Outbox,
    shared: &'a Shared,
    account: &'a AccountId,
    effect: EffectId,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;
/// When the effect's mark is due after what was appended.
type Outcome = Result<Option<Timestamp>, Failure>;

impl Work<'_> {
    async fn take_over(&self) -> Outcome {
        match self.fold().await? {
            Some(fold) if matches!(fold.status, EffectStatus::Dispatched { .. }) => {
                self.conclude_unknown(&fold).await
            }
            Some(_) | None => Ok(None),
        }
    }

    async fn go_on(&self) -> Outcome {
        let Some(fold) = self.known_fold().await? else { return Ok(None) };
        let profile = &self.outbox.profile;
        match next(&fold, profile) {
            EffectStep::Rest => Ok(None),
            EffectStep::Dispatch { attempt } => self.dispatch(fold, attempt).await,
            EffectStep::ConcludeUnknown { .. } => self.conclude_unknown(&fold).await,
            EffectStep::LookUp { attempt, dispatched_at } => {
                let found = self.look_up(&fold, attempt).await;
                let (step, now) = ((attempt, dispatched_at), self.shared.ids().now());
                let record = record_of_lookup(step, found, &fold, profile, now);
                match record.dispatched() {
                    Some(attempt) => self.dispatch(fold, attempt).await,
                    None => self.append_finding(&fold, &record).await,
                }
            }
            EffectStep::Park { reason } => {
                tracing::error!(effect = %self.effect, ?reason, "an effect was parked for an operator");
                let attempt = fold.attempts;
                let parked = EffectRecord::Parked { attempt, reason, by: None };
                self.append(&fold, &parked).await
            }
        }
    }

    async fn conclude_unknown(&self, fold: &EffectFold) -> Outcome {
        tracing::warn!(
            counter.turnframe.external.outcome_unknown = 1,
            effect = %self.effect,
            "an attempt was left without a conclusion"
        );
        let (attempt, conclusion) = (fold.attempts, EffectConclusion::Unknown);
        let source = ConclusionSource::Answer;
        self.append(fold, &EffectRecord::Concluded { attempt, conclusion, source }).await
    }

    /// Records the attempt, sends it, records what came of it; or leaves the destination alone.
    async fn dispatch(&self, mut fold: EffectFold, attempt: u32) -> Outcome {
        let (outbox, ids) = (self.outbox, self.shared.ids());
        // Once the one before it is over it is found first, after at most as long again as it has waited, and a sweep.
        if outbox.profile.in_order
            && !self.shared.is_first(self.account, self.effect, &fold).await?
        {
            return Ok(None);
        }
        if let Some(until) = outbox.breaker().closed_until(ids.now()) {
            return Ok(Some(until));
        }
        outbox.keep_pace(ids.now()).await;
        let longest = outbox.profile.timeout + SETTLING_MARGIN;
        if let Err(until) = outbox.breaker().begin(ids.now(), longest) {
            return Ok(Some(until));
        }
        let begun = Begun { outbox, ids, ended: false };
        self.append(&fold, &EffectRecord::Dispatched { attempt }).await?;
        fold.version = fold.version.plus(1);
        let delivery = self.delivery(&fold, attempt);
        // No epoch fences a request to the outside world. Between this line and the socket the process can still
        // be stopped past its lease: then two owners send, and the key they share is what answers it.
        if !self.shared.ledger.ownership().holds(PartitionId::of(self.account)) {
            tracing::warn!(effect = %self.effect, "the lease ended before the request was sent");
            return Ok(None);
        }
        let sent = self.outbox.destination.dispatch(&delivery);
        let dispatched = match tokio::time::timeout(self.outbox.profile.timeout, sent).await {
            Ok(dispatched) => dispatched,
            Err(_) => Dispatched::Unknown { reason: "the attempt timed out".to_owned() },
        };
        let is_down = begun.end(&dispatched);
        if let Dispatched::Unknown { reason } = &dispatched {
            tracing::warn!(
                counter.turnframe.external.outcome_unknown = 1,
                effect = %self.effect,
                %reason,
                "nobody knows what became of an attempt"
            );
        }
        // A callback may have come before the answer: it stands, and the next look finds nothing left to do.
        let record = if is_down && matches!(dispatched, Dispatched::NotSent { .. }) {
            not_sent_while_down(&fold, &outbox.profile, attempt, ids.now())
        } else {
            record_of(attempt, dispatched)
        };
        self.append(&fold, &record).await
    }

    async fn look_up(&self, fold: &EffectFold, attempt: u32) -> Reconciled {
        let delivery = self.delivery(fold, attempt);
        let asked = self.outbox.destination.reconcile(&delivery);
        match tokio::time::timeout(self.outbox.profile.timeout, asked).await {
            Ok(found) => found,
            Err(_) => Reconciled::StillUnknown { reason: "the look-up timed out".to_owned() },
        }
    }

    fn delivery(&self, fold: &EffectFold, attempt: u32) -> Delivery {
        Delivery {
            effect: self.effect,
            attempt,
            operation: fold.requested.operation.clone(),
            payload: fold.requested.payload.clone(),
        }
    }

    async fn fold(&self) -> Result<Option<EffectFold>, Failure> {
        let entries = self.shared.effect(self.account, self.effect).await?;
        Ok(EffectFold::of(&entries)?)
    }

    /// As it stood when this process last appended to it. Whatever is done next is appended at that version first.
    async fn known_fold(&self) -> Result<Option<EffectFold>, Failure> {
        let entries = self.shared.effect_up_to(self.account, self.effect, Version::NONE).await?;
        Ok(EffectFold::of(&entries)?)
    }

    /// Appends what a look-up found, also where an operator has parked or nudged the effect meanwhile: what the receiver
    /// was asked for and has said is not lost with that.
    async fn append_finding(&self, fold: &EffectFold, record: &EffectRecord) -> Outcome {
        let appended = self.append(fold, record).await;
        if let Err(error) = &appended
            && let Some(AppendError::Conflict { .. }) = error.downcast_ref()
            && let Some(fold) = self.fold().await?
            && stands_beside(record, &fold)
        {
            return self.append(&fold, record).await;
        }
        appended
    }

    /// Appends what happened. A conclusion is worth some patience: without it the attempt counts as unknown.
    async fn append(&self, fold: &EffectFold, record: &EffectRecord) -> Outcome {
        let (profile, ids) = (&self.outbox.profile, self.shared.ids());
        let append = append_of(self.account, self.effect, fold, profile, record, ids)?;
        let due = append.marks.iter().find_map(|change| match change {
            MarkChange::Set { kind: MarkKind::Effect, due, .. } => Some(*due),
            MarkChange::Set { .. } | MarkChange::Clear { .. } => None,
        });
        self.shared.append(&append).await?;
        if matches!(record, EffectRecord::Concluded { .. } | EffectRecord::Parked { .. }) {
            self.shared.nudges.facts.send_replace(());
        }
        Ok(due)
    }
}
