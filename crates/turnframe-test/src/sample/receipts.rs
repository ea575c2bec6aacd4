//! What a loan says of what happened, and of what it refused.

use turnframe_core::event::CommittedEvent;
use turnframe_core::plan::Rejection;
use turnframe_core::policy::ClaimMode;
use turnframe_core::receipt::{ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::text::Text;
use turnframe_core::view::WorkflowView;

use super::command::{DeskEvent, OrderOutcome};

struct Words {
    status: ReceiptStatus,
    severity: ReceiptSeverity,
    title: &'static str,
    body: Text,
    reference: Option<String>,
}

/// The receipt of one committed event.
pub(super) fn receipt(event: &CommittedEvent<DeskEvent>, view: &WorkflowView) -> ReceiptDraft {
    let label = || view.projection.label.clone();
    let words = match &event.event {
        DeskEvent::Opened { title, .. } => recorded("Loan opened", title.as_str().into()),
        DeskEvent::Noted { note } => recorded("Note written", Text::new().personal(note)),
        DeskEvent::BranchChosen { branch } => recorded("Branch chosen", branch.as_str().into()),
        DeskEvent::OrderRequested => Words {
            status: ReceiptStatus::Prepared,
            severity: ReceiptSeverity::Info,
            ..recorded("Order on its way to the office", label())
        },
        DeskEvent::OutcomeRecorded { outcome, .. } => of_outcome(outcome, label()),
        DeskEvent::OutcomeAnomalyRecorded { .. } => Words {
            status: ReceiptStatus::Domain("anomaly".to_owned()),
            severity: ReceiptSeverity::Warning,
            ..recorded("The office said something that does not fit", label())
        },
        DeskEvent::Withdrawn => recorded("Loan called off", label()),
    };
    ReceiptDraft {
        status: words.status,
        severity: words.severity,
        title: words.title.into(),
        body: words.body,
        event_ids: vec![event.id],
        external_reference: words.reference,
        claim_mode: ClaimMode::ServerReceiptOnly,
    }
}

const fn recorded(title: &'static str, body: Text) -> Words {
    let (status, severity) = (ReceiptStatus::Recorded, ReceiptSeverity::Success);
    Words { status, severity, title, body, reference: None }
}

fn of_outcome(outcome: &OrderOutcome, label: Text) -> Words {
    let (status, severity, title) = match outcome {
        OrderOutcome::Accepted { .. } => {
            (ReceiptStatus::Accepted, ReceiptSeverity::Success, "The office accepted the order")
        }
        OrderOutcome::Rejected { .. } => {
            (ReceiptStatus::Rejected, ReceiptSeverity::Failure, "The office refused the order")
        }
        OrderOutcome::Unknown => {
            (ReceiptStatus::Unknown, ReceiptSeverity::Warning, "Nobody knows about the order yet")
        }
        OrderOutcome::ReconciliationRequired => (
            ReceiptStatus::ReconciliationRequired,
            ReceiptSeverity::Warning,
            "Somebody has to ask the office",
        ),
    };
    let reference = match outcome {
        OrderOutcome::Accepted { reference } => Some(reference.clone()),
        OrderOutcome::Rejected { .. }
        | OrderOutcome::Unknown
        | OrderOutcome::ReconciliationRequired => None,
    };
    Words { status, severity, title, body: label, reference }
}

/// Words a rejection.
pub(super) fn rejection(rejection: &Rejection) -> Text {
    let words = match rejection.code.as_str() {
        "already_open" => "This loan is open already.",
        "not_open" => "There is no such loan yet.",
        "closed" => "This loan is closed.",
        "branch_missing" => "Choose a branch first.",
        "order_under_way" => "The office has not answered the order yet.",
        "too_many_orders" => "This loan was ordered as often as it can be.",
        "unchanged" | "nothing_to_do" => "It is so already.",
        "blank" => "Some words are needed.",
        "too_long" => "That is too long.",
        "erased" => "What was said has been erased.",
        _ => "That cannot be done.",
    };
    words.into()
}
