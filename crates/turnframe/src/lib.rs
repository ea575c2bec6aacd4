//! Conversations that change real records, on an event ledger: what an adopter installs.
//!
//! > Models propose meaning. Deterministic reducers decide effects. Committed events decide claims.
//!
//! A domain is a [`Workflow`](prelude::Workflow): pure functions from state and command to events, from events to
//! state, and from both to what is shown. A deployment is a [`System`]: it is started with a ledger, the domain's
//! workflows and the ports to the world outside, is posted turns, and keeps the promises.
//!
//! - **What you write**: a workflow, all of whose names are in [`prelude`]; where something leaves the house, a
//!   [`Destination`](runtime::port::Destination), or the declaration of one that is there ([`destinations`], features
//!   `http` and `smtp`); where something is to happen later or because of something else, a
//!   [`DomainActor`](runtime::port::DomainActor); where an actor may not address every case it opened, a
//!   [`CaseDirectory`](runtime::port::CaseDirectory).
//! - **What you choose**: a ledger ([`ledger::open`]), an interpreter (the
//!   [`OfflineInterpreter`](runtime::offline::OfflineInterpreter) needs no model), and
//!   [`Limits`].
//! - **What you get**: every act of a message has one explicit result; what needs a click has a persisted card;
//!   an effect is sent under a key, and what became of it is known, or said to be unknown; every receipt cites
//!   the committed events that it rests on; a process that is killed at any line goes on at its next start.
//!
//! The crate's own test, `tests/adopter.rs`, is a whole adopter in one file: a workflow, a system, and turns.
//!
//! **Absent on purpose:** anything of its own. Each layer stands whole behind its name.

#[doc(inline)]
pub use turnframe_actors::{Limits, PostError, StartError, System, SystemParts, TurnInput};

/// The actors: who serialises what, and who survives whom.
pub use turnframe_actors as actors;
/// Types and pure functions: meaning, decision and claim.
pub use turnframe_core as core;
/// Ways to the outside world: HTTP, mail, and the signatures of webhooks.
pub use turnframe_destinations as destinations;
/// The EventLedger, its backends, snapshots and verification.
pub use turnframe_ledger as ledger;
/// The stages of a turn, and the ports that a deployment plugs into them.
pub use turnframe_runtime as runtime;

/// Every name that a workflow is written with.
pub mod prelude {
    pub use turnframe_core::canonical::Json;
    pub use turnframe_core::context::ActorContext;
    pub use turnframe_core::event::CommittedEvent;
    pub use turnframe_core::id::{
        AccountId, ActorId, CaseId, CaseRef, CaseRevision, ConversationId, DestinationKey,
        EffectId, EntryId, IdError, InteractionId, Locale, OperationKey, OperationRef, OptionId,
        SlotName, SubjectId, TopicKey, TurnId, WorkflowKey,
    };
    pub use turnframe_core::interaction::{
        FreeformRule, InteractionKind, InteractionPayload, InteractionResponse, OptionMeaning,
        StoredOption,
    };
    pub use turnframe_core::operation::{
        Choice, OperationSpec, Phrase, SlotKind, SlotSpec, SlotValue, TopicSpec,
    };
    pub use turnframe_core::personal::Personal;
    pub use turnframe_core::plan::Rejection;
    pub use turnframe_core::policy::{ClaimMode, CommandPolicy, ConfirmationPolicy, RiskClass};
    pub use turnframe_core::receipt::{
        EffectConclusion, ReceiptDraft, ReceiptSeverity, ReceiptStatus,
    };
    pub use turnframe_core::registry::WorkflowRegistry;
    pub use turnframe_core::source::{Clock, Entropy, IdSource, Timestamp};
    pub use turnframe_core::text::Text;
    pub use turnframe_core::value::ValueError;
    pub use turnframe_core::view::{Fact, Obligation, Phase, PhaseOwner, Projection, WorkflowView};
    pub use turnframe_core::workflow::{
        CompileError, Confirmation, Decision, EffectRequest, OperationAct, Workflow,
    };
}
