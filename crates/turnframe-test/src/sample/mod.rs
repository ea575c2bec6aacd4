//! A small but complete workflow beside the sample domain: a library desk that orders books from an office.
//!
//! It is what tests run when they need a second workflow, or one that is not about anything else. It has one of
//! each: a command that words authorise ([`DeskCommand::Note`]), one that needs a click ([`DeskCommand::Withdraw`]),
//! one that asks for an external effect ([`DeskCommand::Order`], at [`DESK_OFFICE`]), a phase that the user owns with
//! the card that it requires, a personal value, and receipts. It speaks English only.
//!
//! **Guarantees:** its states are finite for a finite vocabulary, so that an exploration of it ends.

mod command;
mod decide;
mod offer;
mod receipts;
mod state;
mod view;

use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{EffectId, Locale, SubjectId, TopicKey, WorkflowKey};
use turnframe_core::operation::{OperationSpec, TopicSpec};
use turnframe_core::plan::Rejection;
use turnframe_core::policy::{CommandPolicy, ConfirmationPolicy, RiskClass};
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft};
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::view::{Projection, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct, Workflow};

pub use command::{DeskCommand, DeskEvent, OrderOutcome};
pub use decide::{REJECTIONS, TEXT_MAX_CHARS};
pub use state::{DeskState, ORDERS_MAX, Order, Stage};
pub use view::BRANCHES;

use crate::literal;

/// The workflow's key.
pub const DESK: &str = "desk";
/// The destination that orders go to.
pub const DESK_OFFICE: &str = "desk-office";
/// The operation that the destination is asked for.
pub const DESK_OFFICE_ORDER: &str = "order";

/// The library desk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeskWorkflow;

impl Workflow for DeskWorkflow {
    type State = DeskState;
    type Command = DeskCommand;
    type Event = DeskEvent;

    fn key(&self) -> WorkflowKey {
        literal(DESK)
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        offer::operations()
    }

    fn topics(&self) -> Vec<TopicSpec> {
        offer::topics()
    }

    fn initial(&self) -> DeskState {
        DeskState::default()
    }

    fn decide(
        &self,
        state: &DeskState,
        command: &DeskCommand,
        _: Timestamp,
    ) -> Result<Decision<DeskEvent>, Rejection> {
        decide::decide(state, command)
    }

    fn evolve(&self, state: DeskState, event: &DeskEvent) -> DeskState {
        state.evolve(event)
    }

    fn project(&self, state: &DeskState, _: &Locale) -> Projection<DeskCommand> {
        view::project(state)
    }

    fn compile(&self, _: &DeskState, act: &OperationAct<'_>) -> Result<DeskCommand, CompileError> {
        offer::compile(act)
    }

    fn fill(
        &self,
        command: DeskCommand,
        value: &str,
        _: &SubjectId,
    ) -> Result<DeskCommand, Rejection> {
        match command {
            DeskCommand::ChooseBranch { .. } => {
                Ok(DeskCommand::ChooseBranch { branch: value.trim().to_owned() })
            }
            DeskCommand::Open { .. }
            | DeskCommand::Note { .. }
            | DeskCommand::Order
            | DeskCommand::Withdraw
            | DeskCommand::RecordOutcome { .. } => Err(Rejection::new("value_not_taken")),
        }
    }

    fn policy(&self, _: &DeskState, command: &DeskCommand) -> CommandPolicy {
        match command {
            DeskCommand::Open { .. }
            | DeskCommand::Note { .. }
            | DeskCommand::ChooseBranch { .. } => CommandPolicy::direct(),
            DeskCommand::Order => CommandPolicy::external(),
            DeskCommand::Withdraw => CommandPolicy {
                risk: RiskClass::Medium,
                confirmation: ConfirmationPolicy::Click,
                ..CommandPolicy::strictest()
            },
            DeskCommand::RecordOutcome { .. } => CommandPolicy::strictest(),
        }
    }

    fn confirmation(&self, state: &DeskState, command: &DeskCommand, _: &Locale) -> Confirmation {
        view::confirmation(state, command)
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<DeskEvent>],
        view: &WorkflowView,
        _: &Locale,
    ) -> Vec<ReceiptDraft> {
        events.iter().map(|event| receipts::receipt(event, view)).collect()
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<DeskCommand> {
        Some(DeskCommand::RecordOutcome { effect, outcome: conclusion.into() })
    }

    fn answer(&self, _: &TopicKey, view: &WorkflowView, _: &Locale) -> Option<Text> {
        let projection = &view.projection;
        let name = projection.label.clone();
        Some(name.plain(" is ").plain(projection.phase.key.replace('_', " ")).plain("."))
    }

    fn rejection(&self, rejection: &Rejection, _: &Locale) -> Text {
        receipts::rejection(rejection)
    }

    fn forbidden_phrases(&self, _: &Locale) -> Vec<String> {
        ["has been ordered", "was ordered", "is ordered"].map(str::to_owned).to_vec()
    }
}

#[cfg(test)]
mod tests;
