//! How long the airline may take to decide on a rebooking before its traveller is told that it has not.
//!
//! A domain actor: a timer for each rebooking that is requested, taken back once the airline has decided. It asks
//! for a command and decides nothing; a trip whose rebooking was decided on meanwhile stays as it is.

use std::time::Duration;

use async_trait::async_trait;
use turnframe_core::id::{DomainActorKey, TimerName};
use turnframe_runtime::port::{DomainActor, EventOf, ReactError, Reaction};

use crate::key::literal;
use crate::trip::{RebookingStatus, TripCommand, TripEvent, TripWorkflow};

/// How long an airline may take unless a deployment says otherwise.
pub const ANSWER_DEADLINE: Duration = Duration::from_secs(10 * 60);

/// Tells travellers of decisions that are overdue.
#[derive(Debug, Clone, Copy)]
pub struct AnswerDeadline {
    after: Duration,
}

impl Default for AnswerDeadline {
    fn default() -> Self {
        Self::after(ANSWER_DEADLINE)
    }
}

impl AnswerDeadline {
    /// A decision is overdue after this long, in whole seconds.
    #[must_use]
    pub const fn after(after: Duration) -> Self {
        Self { after }
    }
}

fn timer() -> TimerName {
    literal("answer")
}

#[async_trait]
impl DomainActor for AnswerDeadline {
    type Workflow = TripWorkflow;

    fn key(&self) -> DomainActorKey {
        literal("answer-deadline")
    }

    fn workflow(&self) -> &TripWorkflow {
        &TripWorkflow
    }

    async fn react(&self, event: &EventOf<Self>) -> Result<Vec<Reaction>, ReactError> {
        Ok(match &event.event {
            TripEvent::RebookingRequested { .. } => {
                vec![Reaction::Wake { timer: timer(), at: event.recorded_at.plus(self.after) }]
            }
            TripEvent::RebookingOutcomeRecorded { outcome, .. }
                if RebookingStatus::from(outcome.clone()).is_final() =>
            {
                vec![Reaction::Cancel { timer: timer() }]
            }
            TripEvent::RebookingOutcomeRecorded { .. }
            | TripEvent::OutcomeAnomalyRecorded { .. }
            | TripEvent::RebookingOverdue { .. }
            | TripEvent::TripOpened { .. }
            | TripEvent::TripRenamed { .. }
            | TripEvent::DestinationSet { .. }
            | TripEvent::DateSet { .. }
            | TripEvent::DepartureSet { .. }
            | TripEvent::DepartureCleared
            | TripEvent::TravellerAdded { .. }
            | TripEvent::ExtraAdded { .. }
            | TripEvent::PayerSet { .. }
            | TripEvent::ExtraRemoved { .. }
            | TripEvent::LegProtected { .. }
            | TripEvent::TripWithdrawn => Vec::new(),
        })
    }

    async fn fire(
        &self,
        _timer: &TimerName,
        event: &EventOf<Self>,
    ) -> Result<Vec<Reaction>, ReactError> {
        let TripEvent::RebookingRequested { rebooking, .. } = event.event else {
            return Ok(Vec::new());
        };
        let seconds = self.after.as_secs();
        let command = TripCommand::RecordRebookingOverdue { rebooking, seconds };
        Ok(vec![Reaction::run::<TripWorkflow>(event.case.clone(), &command)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::airline::RebookingOrder;
    use crate::testing::{committed, effect};
    use crate::trip::RebookingOutcome;

    const DEADLINE: AnswerDeadline = AnswerDeadline::after(Duration::from_secs(60));

    fn requested(rebooking: u32) -> EventOf<AnswerDeadline> {
        let order = RebookingOrder {
            destination: "Lisbon".to_owned(),
            date: None,
            departure: None,
            travellers: Vec::new(),
            protected_legs: Vec::new(),
        };
        event(TripEvent::RebookingRequested { rebooking, order })
    }

    fn event(event: TripEvent) -> EventOf<AnswerDeadline> {
        committed(&TripWorkflow, [event]).remove(0)
    }

    async fn reactions(event: EventOf<AnswerDeadline>) -> Vec<Reaction> {
        DomainActor::react(&DEADLINE, &event).await.expect("it reacts")
    }

    #[tokio::test]
    async fn a_request_sets_a_timer_that_only_a_decision_takes_back() {
        let request = requested(1);
        let at = request.recorded_at.plus(Duration::from_secs(60));
        assert_eq!(reactions(request).await, [Reaction::Wake { timer: timer(), at }]);
        let reference = || "R-1".to_owned();
        for (outcome, is_final) in [
            (RebookingOutcome::Submitted { reference: reference() }, false),
            (RebookingOutcome::Unknown, false),
            (RebookingOutcome::ReconciliationRequired, false),
            (RebookingOutcome::Accepted { reference: reference() }, true),
            (RebookingOutcome::Rejected { code: "full".to_owned() }, true),
        ] {
            let effect = effect(1);
            let said = TripEvent::RebookingOutcomeRecorded { effect, outcome, sequence: None };
            let expected = is_final.then(|| Reaction::Cancel { timer: timer() });
            assert_eq!(reactions(event(said)).await, Vec::from_iter(expected));
        }
    }

    #[tokio::test]
    async fn a_timer_that_runs_out_names_its_rebooking() {
        let request = requested(3);
        let fired = DomainActor::fire(&DEADLINE, &timer(), &request).await.expect("it fires");
        let command = TripCommand::RecordRebookingOverdue { rebooking: 3, seconds: 60 };
        let expected = Reaction::run::<TripWorkflow>(request.case, &command).expect("JSON");
        assert_eq!(fired, [expected]);
    }
}
