//! An order, which is a saga: it is charged, and shipped once the charge is accepted; where the shipper refuses it, the
//! charge is refunded.
//!
//! Forward, the case itself goes on: the acceptance of one effect requests the next in one append. Backward, a domain
//! actor asks for the compensation, as a command of its own that the case decides.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{DomainActorKey, EffectId, Locale, WorkflowKey};
use turnframe_core::operation::OperationSpec;
use turnframe_core::plan::Rejection;
use turnframe_core::policy::{ClaimMode, CommandPolicy};
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::source::Timestamp;
use turnframe_core::text::Text;
use turnframe_core::view::{Phase, PhaseOwner, Projection, WorkflowView};
use turnframe_core::workflow::{
    CompileError, Confirmation, Decision, EffectRequest, OperationAct, Workflow,
};
use turnframe_runtime::port::{DomainActor, EventOf, ReactError, Reaction};
use turnframe_test::literal;
use turnframe_test::script::{Behaviour, ScriptedDestination, ScriptedInterpreter, means, propose};

use crate::world::{Backend, World};

/// What the user says.
pub const ORDER: &str = "order a lamp";

/// What is asked of the outside, one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// The customer is charged.
    Charge,
    /// The parcel is sent.
    Ship,
    /// The customer gets the money back.
    Refund,
}

impl Leg {
    /// What the remote is asked to do.
    #[must_use]
    pub const fn operation(self) -> &'static str {
        match self {
            Self::Charge => "charge",
            Self::Ship => "ship",
            Self::Refund => "refund",
        }
    }

    fn request(self) -> EffectRequest {
        let (destination, operation) = (literal("airline"), self.operation().to_owned());
        EffectRequest { destination, operation, payload: Json::default() }
    }
}

/// What the outside said of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Yes.
    Accepted,
    /// No.
    Refused,
    /// Nobody knows.
    Unknown,
}

/// An order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The leg that is under way or was last, and what was said of it.
    pub leg: Option<(Leg, Option<Said>)>,
    /// The effects of legs that are over.
    pub over: Vec<EffectId>,
}

/// A command to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderCommand {
    /// Orders.
    Place,
    /// Gives the money back.
    Refund,
    /// Records what was said.
    Record(EffectId, Said),
}

/// What happened to an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderEvent {
    /// A leg is to begin.
    Requested(Leg),
    /// Something was said of a leg.
    Recorded(Leg, EffectId, Said),
}

/// The workflow of orders.
pub struct OrderWorkflow;

impl OrderWorkflow {
    fn record(order: &Order, effect: EffectId, said: Said) -> Decision<OrderEvent> {
        let Some((leg, known)) = order.leg.filter(|_| !order.over.contains(&effect)) else {
            return Decision::events([]);
        };
        if known == Some(said) || matches!(known, Some(Said::Accepted | Said::Refused)) {
            return Decision::events([]);
        }
        let recorded = OrderEvent::Recorded(leg, effect, said);
        if (leg, said) == (Leg::Charge, Said::Accepted) {
            let next = OrderEvent::Requested(Leg::Ship);
            return Decision::events([recorded, next]).with_effect(Leg::Ship.request());
        }
        Decision::events([recorded])
    }
}

impl Workflow for OrderWorkflow {
    type State = Order;
    type Command = OrderCommand;
    type Event = OrderEvent;

    fn key(&self) -> WorkflowKey {
        literal("order")
    }

    fn version(&self) -> u16 {
        1
    }

    fn operations(&self) -> Vec<OperationSpec> {
        vec![OperationSpec {
            key: literal("place"),
            creates: true,
            slots: Vec::new(),
            phrases: Vec::new(),
            names: Vec::new(),
        }]
    }

    fn initial(&self) -> Order {
        Order::default()
    }

    fn decide(
        &self,
        order: &Order,
        command: &OrderCommand,
        _now: Timestamp,
    ) -> Result<Decision<OrderEvent>, Rejection> {
        let begin =
            |leg: Leg| Decision::events([OrderEvent::Requested(leg)]).with_effect(leg.request());
        match (command, order.leg) {
            (OrderCommand::Place, None) => Ok(begin(Leg::Charge)),
            (OrderCommand::Refund, Some((Leg::Ship, Some(Said::Refused)))) => {
                Ok(begin(Leg::Refund))
            }
            (OrderCommand::Record(effect, said), _) => Ok(Self::record(order, *effect, *said)),
            (OrderCommand::Place | OrderCommand::Refund, _) => Err(Rejection::new("not_now")),
        }
    }

    fn evolve(&self, mut order: Order, event: &OrderEvent) -> Order {
        match event {
            OrderEvent::Requested(leg) => order.leg = Some((*leg, None)),
            OrderEvent::Recorded(leg, effect, said) => {
                order.leg = Some((*leg, Some(*said)));
                if *said != Said::Unknown {
                    order.over.push(*effect);
                }
            }
        }
        order
    }

    fn project(&self, order: &Order, _: &Locale) -> Projection<OrderCommand> {
        let phase = match order.leg {
            None => "new",
            Some((leg, None)) => leg.operation(),
            Some((_, Some(Said::Unknown))) => "unknown",
            Some((_, Some(Said::Accepted | Said::Refused))) => "over",
        };
        Projection {
            phase: Phase { key: phase.to_owned(), owner: PhaseOwner::Anyone },
            obligations: Vec::new(),
            label: "the order".into(),
            aliases: Vec::new(),
            facts: Vec::new(),
            operations: order.leg.is_none().then(|| literal("place")).into_iter().collect(),
            required: None,
        }
    }

    fn compile(&self, _: &Order, _: &OperationAct<'_>) -> Result<OrderCommand, CompileError> {
        Ok(OrderCommand::Place)
    }

    fn policy(&self, _: &Order, command: &OrderCommand) -> CommandPolicy {
        match command {
            OrderCommand::Place => CommandPolicy::direct(),
            OrderCommand::Refund | OrderCommand::Record(..) => CommandPolicy::strictest(),
        }
    }

    fn confirmation(&self, _: &Order, _: &OrderCommand, _: &Locale) -> Confirmation {
        Confirmation {
            title: "Really?".into(),
            lines: Vec::new(),
            confirm: "Yes".into(),
            decline: "No".into(),
        }
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<OrderEvent>],
        _: &WorkflowView,
        _: &Locale,
    ) -> Vec<ReceiptDraft> {
        let receipt = |event: &CommittedEvent<OrderEvent>| {
            let (status, leg) = match event.event {
                OrderEvent::Requested(leg) => (ReceiptStatus::Prepared, leg),
                OrderEvent::Recorded(leg, _, Said::Accepted) => (ReceiptStatus::Accepted, leg),
                OrderEvent::Recorded(leg, _, Said::Refused) => (ReceiptStatus::Rejected, leg),
                OrderEvent::Recorded(leg, _, Said::Unknown) => (ReceiptStatus::Unknown, leg),
            };
            ReceiptDraft {
                status,
                severity: ReceiptSeverity::Info,
                title: leg.operation().into(),
                body: "the order".into(),
                event_ids: vec![event.id],
                external_reference: None,
                claim_mode: ClaimMode::ServerReceiptOnly,
            }
        };
        events.iter().map(receipt).collect()
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<OrderCommand> {
        let said = match conclusion {
            EffectConclusion::Accepted { .. } => Said::Accepted,
            EffectConclusion::Rejected { .. } => Said::Refused,
            EffectConclusion::Unknown | EffectConclusion::ReconciliationRequired => Said::Unknown,
        };
        Some(OrderCommand::Record(effect, said))
    }

    fn rejection(&self, _: &Rejection, _: &Locale) -> Text {
        "Not now.".into()
    }
}

/// Asks for the refund of an order that the shipper refused.
pub struct Compensation;

#[async_trait]
impl DomainActor for Compensation {
    type Workflow = OrderWorkflow;

    fn key(&self) -> DomainActorKey {
        literal("compensation")
    }

    fn workflow(&self) -> &OrderWorkflow {
        &OrderWorkflow
    }

    async fn react(&self, event: &EventOf<Self>) -> Result<Vec<Reaction>, ReactError> {
        let OrderEvent::Recorded(Leg::Ship, _, Said::Refused) = event.event else {
            return Ok(Vec::new());
        };
        let refund = Reaction::run::<OrderWorkflow>(event.case.clone(), &OrderCommand::Refund)?;
        Ok(vec![refund])
    }
}

/// A world with orders, whose remote does this at each leg.
#[must_use]
pub fn world(backend: Backend, meets: fn(&str) -> Behaviour) -> World {
    let interpreter = ScriptedInterpreter::new()
        .on(ORDER, means(|brief| propose(brief).act("order a lamp", "order.place").creating()));
    let remote = ScriptedDestination::new("airline", move |delivery| meets(&delivery.operation));
    let world = World::new(backend, Arc::new(interpreter), Arc::new(remote));
    let registry = WorkflowRegistry::new().with(OrderWorkflow).expect("one name");
    world.with_registry(registry).followed_by(vec![Arc::new(Compensation)])
}
