//! Receipts of committed events: which events one receipt speaks of, and how it is meant (ADR-005).
//!
//! The words are the languages'; status, severity and claim mode are decided here, once. A rebooking goes
//! through stages that stay distinct: prepared, submitted, accepted or rejected, unknown, to be reconciled.

use turnframe_core::event::CommittedEvent;
use turnframe_core::id::Locale;
use turnframe_core::policy::ClaimMode;
use turnframe_core::receipt::{ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::view::WorkflowView;

use super::copy::words;
use super::event::TripEvent;
use super::rebooking::{Anomaly, RebookingOutcome};

/// The status of a statement that was recorded and changed nothing.
pub const STATUS_ANOMALY: &str = "outcome_anomaly";
/// The status of a rebooking that the airline has not decided on in time, whatever else is known of it.
pub const STATUS_OVERDUE: &str = "answer_overdue";

/// Renders receipts. Together they cite every event, each exactly once.
pub(super) fn receipts(
    events: &[CommittedEvent<TripEvent>],
    view: &WorkflowView,
    locale: &Locale,
) -> Vec<ReceiptDraft> {
    let words = words(locale);
    let mut drafts: Vec<ReceiptDraft> = Vec::new();
    let mut lead: Option<&CommittedEvent<TripEvent>> = None;
    for event in events {
        let said = words.receipt(&event.event);
        match (lead, drafts.last_mut()) {
            (Some(lead), Some(draft)) if belongs_to(event, lead) => {
                draft.body = std::mem::take(&mut draft.body).plain(" ").text(&said.sentence);
                draft.event_ids.push(event.id);
            }
            _ => {
                lead = Some(event);
                let standing = Standing::of(&event.event);
                drafts.push(ReceiptDraft {
                    status: standing.status,
                    severity: standing.severity,
                    title: said.title,
                    body: view.projection.label.clone().plain(": ").text(&said.sentence),
                    event_ids: vec![event.id],
                    external_reference: standing.reference.map(str::to_owned),
                    claim_mode: standing.claim,
                });
            }
        }
    }
    drafts
}

/// Whether an event only completes what the one before it says.
fn belongs_to(event: &CommittedEvent<TripEvent>, lead: &CommittedEvent<TripEvent>) -> bool {
    let completes = matches!(
        (&lead.event, &event.event),
        (TripEvent::TripOpened { .. }, TripEvent::TravellerAdded { .. })
            | (TripEvent::DateSet { .. }, TripEvent::DepartureCleared)
    );
    completes && lead.case == event.case && lead.revision == event.revision
}

/// How a receipt is meant, whatever the language.
struct Standing<'a> {
    status: ReceiptStatus,
    severity: ReceiptSeverity,
    claim: ClaimMode,
    reference: Option<&'a str>,
}

impl<'a> Standing<'a> {
    fn of(event: &'a TripEvent) -> Self {
        match event {
            TripEvent::TripOpened { .. }
            | TripEvent::TripRenamed { .. }
            | TripEvent::DestinationSet { .. }
            | TripEvent::DateSet { .. }
            | TripEvent::DepartureSet { .. }
            | TripEvent::DepartureCleared
            | TripEvent::TravellerAdded { .. }
            | TripEvent::ExtraAdded { .. }
            | TripEvent::PayerSet { .. }
            | TripEvent::ExtraRemoved { .. }
            | TripEvent::LegProtected { .. } => Self {
                status: ReceiptStatus::Recorded,
                severity: ReceiptSeverity::Success,
                claim: ClaimMode::EventReferencedParaphrase,
                reference: None,
            },
            TripEvent::TripWithdrawn => {
                Self::external(ReceiptStatus::Recorded, ReceiptSeverity::Success)
            }
            TripEvent::RebookingRequested { .. } => {
                Self::external(ReceiptStatus::Prepared, ReceiptSeverity::Info)
            }
            TripEvent::RebookingOutcomeRecorded { outcome, .. } => Self::of_outcome(outcome),
            TripEvent::RebookingOverdue { .. } => {
                let overdue = ReceiptStatus::Domain(STATUS_OVERDUE.to_owned());
                Self::external(overdue, ReceiptSeverity::Warning)
            }
            TripEvent::OutcomeAnomalyRecorded { anomaly, .. } => {
                let status = match anomaly {
                    Anomaly::Contradiction => ReceiptStatus::ReconciliationRequired,
                    Anomaly::UnknownEffect | Anomaly::EarlierRebooking | Anomaly::OlderStatus => {
                        ReceiptStatus::Domain(STATUS_ANOMALY.to_owned())
                    }
                };
                Self::external(status, ReceiptSeverity::Warning)
            }
        }
    }

    fn of_outcome(outcome: &'a RebookingOutcome) -> Self {
        use ReceiptSeverity as Severity;
        use ReceiptStatus as Status;
        match outcome {
            RebookingOutcome::Submitted { reference } => {
                Self::external(Status::Submitted, Severity::Info).under(reference)
            }
            RebookingOutcome::Accepted { reference } => {
                Self::external(Status::Accepted, Severity::Success).under(reference)
            }
            RebookingOutcome::Rejected { .. } => {
                Self::external(Status::Rejected, Severity::Failure)
            }
            RebookingOutcome::Unknown => Self::external(Status::Unknown, Severity::Warning),
            RebookingOutcome::ReconciliationRequired => {
                Self::external(Status::ReconciliationRequired, Severity::Warning)
            }
        }
    }

    const fn external(status: ReceiptStatus, severity: ReceiptSeverity) -> Self {
        Self { status, severity, claim: ClaimMode::ServerReceiptOnly, reference: None }
    }

    fn under(self, reference: &'a str) -> Self {
        Self { reference: Some(reference), ..self }
    }
}
