//! What became of acts, flat: a result, and beside it whatever that result is about.

use serde::Serialize;
use turnframe_core::block::ActReport;
use turnframe_core::id::{
    CaseRef, CaseRevision, EffectId, EntryId, InteractionId, OperationRef, SlotName,
};
use turnframe_core::interaction::InteractionStatus;
use turnframe_core::plan::{ActId, ActOutcome};
use turnframe_core::value::ValueError;
use turnframe_core::words::WordRange;

use super::Words;

/// An act of a turn (I11).
#[derive(Debug, Serialize)]
pub struct ActView<'a> {
    /// Which act: 0 is the click.
    pub id: ActId,
    /// The words it was read from; none for a click.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<WordRange>,
    /// The operation, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'a OperationRef>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: OutcomeView<'a>,
}

impl<'a> From<&'a ActReport> for ActView<'a> {
    fn from(act: &'a ActReport) -> Self {
        Self {
            id: act.id,
            source: act.source,
            operation: act.operation.as_ref(),
            outcome: OutcomeView::from(&act.outcome),
        }
    }
}

/// What became of an act. Fields that the result is not about are left out.
#[derive(Debug, Default, Serialize)]
pub struct OutcomeView<'a> {
    /// A stable name of the result.
    pub result: &'static str,
    /// The case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<&'a CaseRef>,
    /// The revision that the act's commit made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<CaseRevision>,
    /// The committed events.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub events: &'a [EntryId],
    /// The external effects that were requested with them.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub effects: &'a [EffectId],
    /// Why the domain refused, or a stable code of what failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<&'a str>,
    /// What the refusal is about, such as a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<Words<'a>>,
    /// The revision the plan was made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<CaseRevision>,
    /// The revision the case is at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<CaseRevision>,
    /// The card it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<InteractionId>,
    /// The fresh card for the same command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<InteractionId>,
    /// The cards it may be about.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub cards: &'a [InteractionId],
    /// Where the card stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<InteractionStatus>,
    /// The act that decides for this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<ActId>,
    /// The value that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<&'a SlotName>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'a ValueError>,
}

impl<'a> OutcomeView<'a> {
    fn of(result: &'static str) -> Self {
        Self { result, ..Self::default() }
    }

    fn about_case(result: &'static str, case: &'a CaseRef) -> Self {
        Self { case: Some(case), ..Self::of(result) }
    }

    fn about_card(result: &'static str, card: InteractionId) -> Self {
        Self { card: Some(card), ..Self::of(result) }
    }

    fn about_act(result: &'static str, act: ActId) -> Self {
        Self { act: Some(act), ..Self::of(result) }
    }

    fn closed(result: &'static str, card: InteractionId, status: InteractionStatus) -> Self {
        Self { status: Some(status), ..Self::about_card(result, card) }
    }
}

impl<'a> From<&'a ActOutcome> for OutcomeView<'a> {
    fn from(outcome: &'a ActOutcome) -> Self {
        use ActOutcome as O;
        match outcome {
            O::Applied { case, revision, events, effects } => {
                let revision = Some(*revision);
                Self { revision, events, effects, ..Self::about_case("applied", case) }
            }
            O::Rejected { case, rejection } => Self {
                code: Some(&rejection.code),
                details: rejection.details.iter().map(Words).collect(),
                ..Self::about_case("rejected", case)
            },
            O::RevisionConflict { case, expected, actual } => Self {
                expected: Some(*expected),
                actual: Some(*actual),
                ..Self::about_case("revision_conflict", case)
            },
            O::AwaitingConfirmation { card } => Self::about_card("awaiting_confirmation", *card),
            O::Waiting { card } => Self::about_card("waiting", *card),
            O::WaitingElsewhere => Self::of("waiting_elsewhere"),
            O::CardClosed { card, status } => Self::closed("card_closed", *card, *status),
            O::AlreadyResolved { card, status } => Self::closed("already_resolved", *card, *status),
            O::StaleCard { card, fresh } => {
                Self { fresh: *fresh, ..Self::about_card("stale_card", *card) }
            }
            O::NeedsClick { card } => Self::about_card("needs_click", *card),
            O::AmbiguousCard { cards } => Self { cards, ..Self::of("ambiguous_card") },
            O::NoCard => Self::of("no_card"),
            O::Prohibited => Self::of("prohibited"),
            O::Cancelled { by } => Self::about_act("cancelled", *by),
            O::Superseded { by } => Self::about_act("superseded", *by),
            O::Cancels { act } => Self::about_act("cancels", *act),
            O::AmbiguousTarget { card } => Self::about_card("ambiguous_target", *card),
            O::TargetMissing => Self::of("target_missing"),
            O::NotExecuted { because } => Self::about_act("not_executed", *because),
            O::Hypothetical => Self::of("hypothetical"),
            O::NotOnOffer { case } => Self::about_case("not_on_offer", case),
            O::Incomplete { slot, why } => {
                Self { slot: Some(slot), why: Some(why), ..Self::of("incomplete") }
            }
            O::WordsUnread { card } => Self::about_card("words_unread", *card),
            O::Unreported => Self::of("unreported"),
            O::Failed { code } => Self { code: Some(code), ..Self::of("failed") },
        }
    }
}
