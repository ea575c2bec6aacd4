//! What is known of a loan: the fold of its events.

use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;

use super::command::{DeskEvent, OrderOutcome};

/// The most orders of one loan, refused ones included.
pub const ORDERS_MAX: usize = 2;

/// Where a loan is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It does not exist yet.
    #[default]
    New,
    /// It is being looked after.
    Open,
    /// It was called off.
    Withdrawn,
}

/// An order at the office.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The effect that carries it, once something was said of it.
    pub effect: Option<EffectId>,
    /// What became of it; none while it is under way.
    pub outcome: Option<OrderOutcome>,
}

/// A loan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeskState {
    /// Where it is in its life.
    pub stage: Stage,
    /// What the book is called.
    pub title: Option<String>,
    /// Who will read it.
    pub reader: Option<Personal<String>>,
    /// The latest note.
    pub note: Option<Personal<String>>,
    /// Where it will be picked up.
    pub branch: Option<String>,
    /// The latest order.
    pub order: Option<Order>,
    /// The effects of the orders before it.
    pub past_orders: Vec<EffectId>,
}

/// Whose move it is, and in what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeskPhase {
    New,
    ChoosingBranch,
    Ready,
    Ordered,
    Unresolved,
    Fulfilled,
    Withdrawn,
}

impl DeskState {
    /// The one phase the loan is in.
    pub(super) fn phase(&self) -> DeskPhase {
        match self.stage {
            Stage::New => DeskPhase::New,
            Stage::Withdrawn => DeskPhase::Withdrawn,
            Stage::Open if self.branch.is_none() => DeskPhase::ChoosingBranch,
            Stage::Open => match self.order.as_ref().map(|order| &order.outcome) {
                None | Some(Some(OrderOutcome::Rejected { .. })) => DeskPhase::Ready,
                Some(None) => DeskPhase::Ordered,
                Some(Some(OrderOutcome::Accepted { .. })) => DeskPhase::Fulfilled,
                Some(Some(OrderOutcome::Unknown | OrderOutcome::ReconciliationRequired)) => {
                    DeskPhase::Unresolved
                }
            },
        }
    }

    /// The state after an event.
    pub(super) fn evolve(mut self, event: &DeskEvent) -> Self {
        match event {
            DeskEvent::Opened { title, reader } => {
                self.stage = Stage::Open;
                self.title = Some(title.clone());
                self.reader.clone_from(reader);
            }
            DeskEvent::Noted { note } => self.note = Some(note.clone()),
            DeskEvent::BranchChosen { branch } => self.branch = Some(branch.clone()),
            DeskEvent::OrderRequested => {
                let before = self.order.replace(Order::default());
                self.past_orders.extend(before.and_then(|order| order.effect));
            }
            DeskEvent::OutcomeRecorded { effect, outcome } => {
                let (effect, outcome) = (Some(*effect), Some(outcome.clone()));
                self.order = Some(Order { effect, outcome });
            }
            DeskEvent::OutcomeAnomalyRecorded { .. } => {}
            DeskEvent::Withdrawn => self.stage = Stage::Withdrawn,
        }
        self
    }
}
