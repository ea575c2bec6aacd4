//! Carrying facts: from an effect to its case, from the case to its conversation.
//!
//! Each fact travels under the id of the entry that states it, so that a crash between any two appends loses
//! and repeats nothing: the append that carries it on also clears its mark. Nothing here decides anything; the
//! domain says which command a conclusion makes and which receipt its events make.

use turnframe_core::block::ResponseBlock;
use turnframe_core::claim::{self, Evidence};
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, EffectId, IdError, InteractionId};
use turnframe_core::interaction::Interaction;
use turnframe_core::personal::SealError;
use turnframe_core::plan::{Action, Step};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::registry::{CorruptJson, WorkflowRegistry};
use turnframe_core::source::Timestamp;
use turnframe_core::view::WorkflowView;
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::{Entry, EntryKind};

use crate::applied::Applied;
use crate::compose::{ComposeError, receipts};
use crate::execute::{CaseJob, JobStep};
use crate::key;
use crate::record::{EffectConcluded, EffectParked, EffectRequested, FactKey, UpdatePosted};

/// Why a fact cannot be carried on. It stays marked, and an operator is told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// The entry is not one that states a fact, or cannot be read.
    #[error("{0} states no fact that could be carried on")]
    NoFact(EntryKind),
    /// The entry cannot be read.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The workflow cannot read it.
    #[error(transparent)]
    Corrupt(#[from] CorruptJson),
    /// The workflow makes no command of a conclusion.
    #[error("the workflow makes no command of the conclusion of {0}")]
    NoCommand(EffectId),
    /// The update does not pass.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// An id cannot be made.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
}

/// The job that brings an effect's conclusion to its case, as a command of origin `ExternalReceipt`.
///
/// # Errors
/// [`RelayError`] when the entry or the workflow cannot make one.
pub fn job_of(
    registry: &WorkflowRegistry,
    account: &AccountId,
    effect: EffectId,
    requested: &EffectRequested,
    fact: &Entry,
    now: Timestamp,
) -> Result<CaseJob, RelayError> {
    let conclusion = if fact.kind == EntryKind::EffectConcluded {
        fact.body.open::<EffectConcluded>()?.conclusion
    } else if fact.kind == EntryKind::EffectParked {
        let EffectParked { .. } = fact.body.open()?;
        EffectConclusion::ReconciliationRequired
    } else {
        return Err(RelayError::NoFact(fact.kind));
    };
    let workflow = registry.get(&requested.case.workflow).ok_or(RelayError::NoCommand(effect))?;
    let command = workflow.conclude(effect, &conclusion)?.ok_or(RelayError::NoCommand(effect))?;
    let actor = ActorContext {
        account: account.clone(),
        actor: requested.actor.clone(),
        locale: requested.locale.clone(),
        time_zone: "UTC".to_owned(),
    };
    let origin = CommandOrigin::ExternalReceipt { effect };
    let action = Action::Run { command, origin, resolves: None };
    let step = JobStep {
        act: None,
        operation: None,
        key: key::relay(fact.id)?,
        act_key: None,
        facts: vec![effect.to_string()],
        step: Step::on(requested.case.clone(), action),
    };
    Ok(CaseJob {
        case: requested.case.clone(),
        conversation: requested.conversation.clone(),
        turn: None,
        causation: Some(fact.id),
        speaker: actor.subject()?,
        actor,
        expected: None,
        now,
        steps: vec![step],
        carries: Some(FactKey { version: fact.version, entry: fact.id }),
    })
}

/// The update that tells a conversation what a command from outside came to: receipts of its events, and the
/// cards that the case drew with them.
///
/// # Errors
/// [`RelayError`] when a receipt cannot be rendered or does not pass the claim guard.
pub fn update_of(
    registry: &WorkflowRegistry,
    applied: &Applied,
    view: &WorkflowView,
    cards: &[Interaction],
) -> Result<UpdatePosted, RelayError> {
    let mut blocks = receipts(registry, view, &applied.events, &applied.locale)?;
    let here = cards.iter().filter(|card| card.conversation == applied.conversation);
    let here: Vec<_> = here.collect();
    blocks.extend(here.iter().map(|card| ResponseBlock::Interaction(card.view())));
    let evidence = Evidence {
        events: applied.events.iter().map(|event| event.id).collect(),
        cards: here
            .iter()
            .map(|card| card.id)
            .collect::<std::collections::BTreeSet<InteractionId>>(),
    };
    claim::check(&blocks, &evidence).map_err(ComposeError::from)?;
    Ok(UpdatePosted { case: view.case.clone(), blocks })
}
