//! Watches what waits of effects: a metric at every look, and an alarm where something waits for too long.
//!
//! Every process looks at the whole ledger, whatever it owns: what is in partitions that nobody owns is what nobody else
//! would tell of. It writes nothing. A look that fails or panics is followed by another; killed, the next process looks
//! as soon as it starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use turnframe_core::id::DestinationKey;
use turnframe_core::source::Timestamp;
use turnframe_ledger::ReadError;
use turnframe_runtime::backlog::{BacklogLimits, DestinationBacklog, Waiting, by_destination};

use crate::limits::Limits;
use crate::shared::Shared;

/// What waits of effects at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// The moment.
    pub now: Timestamp,
    /// How long something may wait.
    pub limits: BacklogLimits,
    /// What waits, by destination.
    pub destinations: BTreeMap<String, DestinationBacklog>,
}

/// Looks again and again, as long as the system runs.
pub(crate) async fn watch(shared: Arc<Shared>, known: Vec<DestinationKey>) {
    let known: Arc<[DestinationKey]> = known.into();
    loop {
        let (to_look, known) = (shared.clone(), known.clone());
        // In a task of its own: whatever ends one look does not end the looking.
        let looked = tokio::spawn(async move {
            look(&to_look, known.iter()).await.as_ref().map(tell).map_err(ReadError::clone)
        });
        match looked.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => unseen(&error),
            Err(error) => unseen(&error),
        }
        tokio::time::sleep(shared.limits.backlog_look).await;
    }
}

pub(crate) async fn look(
    shared: &Shared,
    known: impl Iterator<Item = &DestinationKey>,
) -> Result<Backlog, ReadError> {
    let destinations = by_destination(shared.ledger.backlog().await?, known);
    let Limits { overdue_max, parked_max, .. } = shared.limits;
    let limits = BacklogLimits { overdue_max, parked_max };
    Ok(Backlog { now: shared.ids().now(), limits, destinations })
}

/// Whoever is to be alarmed is not, as long as this lasts: that is an alarm too.
fn unseen(error: &dyn std::error::Error) {
    tracing::error!(
        counter.turnframe.outbox.unseen = 1,
        %error,
        "nobody can say what waits of effects"
    );
}

fn tell(backlog: &Backlog) {
    let Backlog { now, limits, destinations } = backlog;
    for (destination, waits) in destinations {
        let (overdue, parked) = (waits.overdue(*now).as_secs(), waits.parked(*now).as_secs());
        tracing::info!(
            gauge.turnframe.outbox.open = count(waits.open.as_ref()),
            gauge.turnframe.outbox.overdue_seconds = overdue,
            gauge.turnframe.outbox.parked = count(waits.parked.as_ref()),
            gauge.turnframe.outbox.parked_seconds = parked,
            %destination,
            "what waits of effects"
        );
        if waits.is_stalled(*now, limits) {
            tracing::error!(
                counter.turnframe.outbox.stalled = 1,
                %destination,
                effect = effect(waits.open.as_ref()),
                overdue_seconds = overdue,
                "effects are overdue, and nobody sees to them"
            );
        }
        if waits.is_undecided(*now, limits) {
            tracing::error!(
                counter.turnframe.outbox.undecided = 1,
                %destination,
                effect = effect(waits.parked.as_ref()),
                parked_seconds = parked,
                "effects are parked, and nobody decides about them"
            );
        }
    }
}

fn count(waiting: Option<&Waiting>) -> u64 {
    waiting.map_or(0, |waiting| waiting.count as u64)
}

/// The first of them: the one to look at.
fn effect(waiting: Option<&Waiting>) -> Option<String> {
    waiting.map(|waiting| waiting.effect.to_string())
}
