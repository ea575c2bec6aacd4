//! What a command to a loan comes to.

use turnframe_core::canonical::Json;
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::workflow::{Decision, EffectRequest};

use super::command::{DeskCommand, DeskEvent, OrderOutcome};
use super::state::{DeskPhase, DeskState, ORDERS_MAX};
use super::{DESK_OFFICE, DESK_OFFICE_ORDER};
use crate::literal;

/// The longest title, note or name, in characters.
pub const TEXT_MAX_CHARS: usize = 200;

/// Every code that a command can be refused with.
pub const REJECTIONS: [&str; 11] = [
    "already_open",
    "not_open",
    "closed",
    "branch_missing",
    "order_under_way",
    "too_many_orders",
    "unchanged",
    "blank",
    "too_long",
    "erased",
    "value_not_taken",
];

type Decided = Result<Decision<DeskEvent>, Rejection>;

/// Decides a command.
pub(super) fn decide(state: &DeskState, command: &DeskCommand) -> Decided {
    match command {
        DeskCommand::Open { title, reader } => open(state, title, reader.as_ref()),
        DeskCommand::Note { note } => write_note(state, note),
        DeskCommand::ChooseBranch { branch } => choose_branch(state, branch),
        DeskCommand::Order => order(state),
        DeskCommand::Withdraw => {
            unsent(state)?;
            one(DeskEvent::Withdrawn)
        }
        DeskCommand::RecordOutcome { effect, outcome } => {
            Ok(Decision::events(judge(state, *effect, outcome)))
        }
    }
}

fn open(state: &DeskState, title: &str, reader: Option<&Personal<String>>) -> Decided {
    if state.phase() != DeskPhase::New {
        return refuse("already_open");
    }
    check_text(title)?;
    reader.map(known).transpose()?;
    one(DeskEvent::Opened { title: title.to_owned(), reader: reader.cloned() })
}

fn write_note(state: &DeskState, note: &Personal<String>) -> Decided {
    live(state)?;
    let words = known(note)?;
    let current = state.note.as_ref().and_then(Personal::value);
    if current.map(String::as_str) == Some(words) {
        return refuse("unchanged");
    }
    one(DeskEvent::Noted { note: note.clone() })
}

fn choose_branch(state: &DeskState, branch: &str) -> Decided {
    unsent(state)?;
    check_text(branch)?;
    if state.branch.as_deref() == Some(branch) {
        return refuse("unchanged");
    }
    one(DeskEvent::BranchChosen { branch: branch.to_owned() })
}

fn order(state: &DeskState) -> Decided {
    unsent(state)?;
    let (Some(title), Some(branch)) = (&state.title, &state.branch) else {
        return refuse("branch_missing");
    };
    let before = state.past_orders.len() + usize::from(state.order.is_some());
    if before >= ORDERS_MAX {
        return refuse("too_many_orders");
    }
    let payload = serde_json::json!({ "title": title, "branch": branch });
    let effect = EffectRequest {
        destination: literal(DESK_OFFICE),
        operation: DESK_OFFICE_ORDER.to_owned(),
        payload: Json::of(&payload).expect("an object of texts is JSON"),
    };
    Ok(Decision::events([DeskEvent::OrderRequested]).with_effect(effect))
}

/// What a statement of the office comes to: news, nothing new, or an anomaly.
fn judge(state: &DeskState, effect: EffectId, outcome: &OrderOutcome) -> Option<DeskEvent> {
    let ours = state.order.as_ref().filter(|order| {
        !state.past_orders.contains(&effect) && order.effect.is_none_or(|it| it == effect)
    });
    let outcome = outcome.clone();
    match ours.map(|order| order.outcome.as_ref()) {
        Some(Some(recorded)) if *recorded == outcome => None,
        Some(recorded) if recorded.is_none_or(|recorded| is_newer(recorded, &outcome)) => {
            Some(DeskEvent::OutcomeRecorded { effect, outcome })
        }
        Some(_) | None => Some(DeskEvent::OutcomeAnomalyRecorded { effect, outcome }),
    }
}

/// Whether a statement goes on from the one that is recorded. What is certain never changes again.
const fn is_newer(recorded: &OrderOutcome, said: &OrderOutcome) -> bool {
    match recorded {
        OrderOutcome::Unknown => true,
        OrderOutcome::ReconciliationRequired => {
            matches!(said, OrderOutcome::Accepted { .. } | OrderOutcome::Rejected { .. })
        }
        OrderOutcome::Accepted { .. } | OrderOutcome::Rejected { .. } => false,
    }
}

/// A loan that is neither new nor closed.
fn live(state: &DeskState) -> Result<(), Rejection> {
    match state.phase() {
        DeskPhase::ChoosingBranch
        | DeskPhase::Ready
        | DeskPhase::Ordered
        | DeskPhase::Unresolved => Ok(()),
        DeskPhase::New => Err(Rejection::new("not_open")),
        DeskPhase::Fulfilled | DeskPhase::Withdrawn => Err(Rejection::new("closed")),
    }
}

/// A live loan with no order under way: what the office was sent does not change until it has answered.
fn unsent(state: &DeskState) -> Result<(), Rejection> {
    live(state)?;
    match state.phase() {
        DeskPhase::Ordered | DeskPhase::Unresolved => Err(Rejection::new("order_under_way")),
        DeskPhase::New
        | DeskPhase::ChoosingBranch
        | DeskPhase::Ready
        | DeskPhase::Fulfilled
        | DeskPhase::Withdrawn => Ok(()),
    }
}

fn known(words: &Personal<String>) -> Result<&str, Rejection> {
    let words = words.value().ok_or_else(|| Rejection::new("erased"))?;
    check_text(words)?;
    Ok(words)
}

fn check_text(words: &str) -> Result<(), Rejection> {
    if words.trim().is_empty() {
        return Err(Rejection::new("blank"));
    }
    if words.chars().count() > TEXT_MAX_CHARS {
        return Err(Rejection::new("too_long").with(TEXT_MAX_CHARS.to_string()));
    }
    Ok(())
}

fn refuse(code: &str) -> Decided {
    Err(Rejection::new(code))
}

fn one(event: DeskEvent) -> Decided {
    Ok(Decision::events([event]))
}
