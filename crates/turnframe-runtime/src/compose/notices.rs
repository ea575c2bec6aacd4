//! The notice of an act that was not applied. Every outcome has one, but for those a receipt or another act
//! speaks for.

use turnframe_core::block::{ActReport, NoticeSeverity, ServerNotice};
use turnframe_core::id::{CaseRef, InteractionId, OperationRef};
use turnframe_core::interaction::InteractionStatus;
use turnframe_core::plan::ActOutcome;
use turnframe_core::text::Text;
use turnframe_core::value::ValueError;

use super::ComposeInput;
use super::words::{self, NoticeCode, NoticeDetails};

/// The notice of an act, where it gets one.
pub(super) fn of_act(input: &ComposeInput<'_>, act: &ActReport) -> Option<ServerNotice> {
    use NoticeSeverity::{Failure, Info, Warning};
    let mut details = NoticeDetails {
        it: act.operation.as_ref().and_then(|operation| name_of(input, operation)),
        case: case_of(&act.outcome).and_then(|case| label(input, case)),
        ..NoticeDetails::default()
    };
    let (code, severity) = match &act.outcome {
        // The receipt speaks for it, or the act that was called off.
        ActOutcome::Applied { .. } | ActOutcome::Cancels { .. } => return None,
        ActOutcome::Rejected { case, rejection } => {
            let workflow = input.registry.get(&case.workflow)?;
            details.tail = workflow.rejection(rejection, input.locale);
            (NoticeCode::Rejected, Warning)
        }
        ActOutcome::RevisionConflict { case, .. } => {
            details.tail = facts(input, case);
            (NoticeCode::RevisionConflict, Warning)
        }
        ActOutcome::AwaitingConfirmation { .. } => (NoticeCode::AwaitingConfirmation, Info),
        ActOutcome::Waiting { .. } => (NoticeCode::Waiting, Info),
        ActOutcome::WaitingElsewhere => (NoticeCode::WaitingElsewhere, Info),
        ActOutcome::CardClosed { status, .. } => (closed(*status), Info),
        ActOutcome::AlreadyResolved { status, .. } => (resolved_before(*status), Info),
        ActOutcome::StaleCard { .. } => (NoticeCode::StaleCard, Warning),
        ActOutcome::NeedsClick { .. } => (NoticeCode::NeedsClick, Warning),
        ActOutcome::AmbiguousCard { .. } => (NoticeCode::AmbiguousCard, Warning),
        ActOutcome::NoCard => (NoticeCode::NoCard, Warning),
        ActOutcome::Prohibited => (NoticeCode::Prohibited, Info),
        ActOutcome::Cancelled { .. } => (NoticeCode::Cancelled, Info),
        ActOutcome::Superseded { .. } => (NoticeCode::Superseded, Info),
        ActOutcome::AmbiguousTarget { .. } => (NoticeCode::AmbiguousTarget, Warning),
        ActOutcome::TargetMissing => (NoticeCode::TargetMissing, Warning),
        ActOutcome::NotExecuted { .. } => (NoticeCode::NotExecuted, Warning),
        ActOutcome::Hypothetical => (NoticeCode::Hypothetical, Info),
        ActOutcome::NotOnOffer { .. } => (NoticeCode::NotOnOffer, Warning),
        ActOutcome::Incomplete { slot, why } => {
            details.slot = Some(slot.as_str().replace('_', " "));
            (incomplete(why, &mut details), Warning)
        }
        ActOutcome::WordsUnread { .. } => (NoticeCode::WordsUnread, Warning),
        ActOutcome::Unreported => (NoticeCode::Unreported, Failure),
        ActOutcome::Failed { .. } => (NoticeCode::Failed, Failure),
    };
    Some(ServerNotice {
        code: code.as_str().to_owned(),
        severity,
        text: words::notice(code, &details, input.locale),
        act: Some(act.id),
        interaction: cards_of(&act.outcome).first().copied().filter(|card| is_open(input, *card)),
    })
}

/// The open cards that an outcome speaks of.
pub(super) fn cards_of(outcome: &ActOutcome) -> Vec<InteractionId> {
    match outcome {
        ActOutcome::AwaitingConfirmation { card }
        | ActOutcome::Waiting { card }
        | ActOutcome::NeedsClick { card }
        | ActOutcome::WordsUnread { card }
        | ActOutcome::AmbiguousTarget { card } => vec![*card],
        ActOutcome::StaleCard { fresh, .. } => fresh.iter().copied().collect(),
        ActOutcome::AmbiguousCard { cards } => cards.clone(),
        ActOutcome::Applied { .. }
        | ActOutcome::Rejected { .. }
        | ActOutcome::RevisionConflict { .. }
        | ActOutcome::WaitingElsewhere
        | ActOutcome::CardClosed { .. }
        | ActOutcome::AlreadyResolved { .. }
        | ActOutcome::NoCard
        | ActOutcome::Prohibited
        | ActOutcome::Cancelled { .. }
        | ActOutcome::Superseded { .. }
        | ActOutcome::Cancels { .. }
        | ActOutcome::TargetMissing
        | ActOutcome::NotExecuted { .. }
        | ActOutcome::Hypothetical
        | ActOutcome::NotOnOffer { .. }
        | ActOutcome::Incomplete { .. }
        | ActOutcome::Unreported
        | ActOutcome::Failed { .. } => Vec::new(),
    }
}

fn is_open(input: &ComposeInput<'_>, card: InteractionId) -> bool {
    input.open_cards().any(|open| open.id == card)
}

fn closed(status: InteractionStatus) -> NoticeCode {
    match status {
        InteractionStatus::Resolved => NoticeCode::CardResolved,
        InteractionStatus::Dismissed => NoticeCode::CardDismissed,
        InteractionStatus::Declined
        | InteractionStatus::Active
        | InteractionStatus::Resolving
        | InteractionStatus::Invalidated
        | InteractionStatus::Expired
        | InteractionStatus::Failed => NoticeCode::CardDeclined,
    }
}

fn resolved_before(status: InteractionStatus) -> NoticeCode {
    match status {
        InteractionStatus::Declined | InteractionStatus::Dismissed => NoticeCode::AlreadyDeclined,
        InteractionStatus::Invalidated | InteractionStatus::Expired => NoticeCode::StaleCard,
        InteractionStatus::Resolved
        | InteractionStatus::Active
        | InteractionStatus::Resolving
        | InteractionStatus::Failed => NoticeCode::AlreadyResolved,
    }
}

fn incomplete(why: &ValueError, details: &mut NoticeDetails) -> NoticeCode {
    match why {
        ValueError::Missing => NoticeCode::Incomplete,
        ValueError::Unreadable => NoticeCode::Unreadable,
        ValueError::Ambiguous(readings) => {
            details.tail = Text::from(readings.join(" / "));
            NoticeCode::AmbiguousValue
        }
        ValueError::Gap => NoticeCode::TimeGap,
        ValueError::Overlap => NoticeCode::TimeOverlap,
    }
}

/// The case that a notice names.
fn case_of(outcome: &ActOutcome) -> Option<&CaseRef> {
    if let ActOutcome::Rejected { case, .. }
    | ActOutcome::RevisionConflict { case, .. }
    | ActOutcome::NotOnOffer { case } = outcome
    {
        Some(case)
    } else {
        None
    }
}

/// The fresh view in a line: the record's label and what is known of it.
fn facts(input: &ComposeInput<'_>, case: &CaseRef) -> Text {
    let Some(after) = input.cases.get(case) else { return Text::new() };
    let projection = &after.view.projection;
    projection.facts.iter().fold(projection.label.clone(), |line, fact| {
        line.plain(format!("; {}: ", fact.name)).text(&fact.value)
    })
}

fn label(input: &ComposeInput<'_>, case: &CaseRef) -> Option<Text> {
    let label = &input.cases.get(case)?.view.projection.label;
    (!label.is_empty()).then(|| label.clone())
}

fn name_of(input: &ComposeInput<'_>, operation: &OperationRef) -> Option<String> {
    let workflow = input.registry.get(&operation.workflow)?;
    let spec = workflow.operations().iter().find(|spec| spec.key == operation.operation)?;
    let language = input.locale.language();
    let own = spec.names.iter().find(|name| name.locale.language() == language);
    own.or(spec.names.first()).map(|name| name.words.clone())
}
