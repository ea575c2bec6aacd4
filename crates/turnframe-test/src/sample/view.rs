//! A loan as it is shown, and the cards it asks with.

use turnframe_core::id::OperationKey;
use turnframe_core::interaction::{
    FreeformRule, InteractionKind, InteractionPayload, OptionMeaning, StoredOption,
};
use turnframe_core::policy::RiskClass;
use turnframe_core::text::Text;
use turnframe_core::view::{Fact, Obligation, Phase, PhaseOwner, Projection};
use turnframe_core::workflow::Confirmation;

use super::command::{DeskCommand, OrderOutcome};
use super::state::{DeskPhase, DeskState};
use crate::literal;

/// The branches that the card offers.
pub const BRANCHES: [&str; 2] = ["north", "south"];
/// The longest name of another branch, in characters.
const BRANCH_MAX_CHARS: u32 = 60;

/// The view of a loan.
pub(super) fn project(state: &DeskState) -> Projection<DeskCommand> {
    let (key, owner) = phase(state.phase());
    let needs_branch = state.phase() == DeskPhase::ChoosingBranch;
    let obligation = || Obligation { key: "branch".to_owned(), parameter: "pick_up".to_owned() };
    Projection {
        phase: Phase { key: key.to_owned(), owner },
        obligations: needs_branch.then(obligation).into_iter().collect(),
        label: label(state),
        aliases: Vec::new(),
        facts: facts(state),
        operations: operations(state.phase()),
        required: needs_branch.then(branch_card),
    }
}

const fn phase(phase: DeskPhase) -> (&'static str, PhaseOwner) {
    match phase {
        DeskPhase::New => ("new", PhaseOwner::Anyone),
        DeskPhase::ChoosingBranch => ("choosing_branch", PhaseOwner::User),
        DeskPhase::Ready => ("ready", PhaseOwner::Anyone),
        DeskPhase::Ordered => ("ordered", PhaseOwner::External),
        DeskPhase::Unresolved => ("unresolved", PhaseOwner::External),
        DeskPhase::Fulfilled => ("fulfilled", PhaseOwner::Closed),
        DeskPhase::Withdrawn => ("withdrawn", PhaseOwner::Closed),
    }
}

fn operations(phase: DeskPhase) -> Vec<OperationKey> {
    let keys: &[&str] = match phase {
        DeskPhase::New => &["open"],
        DeskPhase::ChoosingBranch => &["note", "choose_branch", "withdraw"],
        DeskPhase::Ready => &["note", "choose_branch", "order", "withdraw"],
        DeskPhase::Ordered | DeskPhase::Unresolved => &["note"],
        DeskPhase::Fulfilled | DeskPhase::Withdrawn => &[],
    };
    keys.iter().map(|key| literal(key)).collect()
}

/// What the loan is called: by its book.
fn label(state: &DeskState) -> Text {
    state.title.as_deref().unwrap_or("new loan").into()
}

fn facts(state: &DeskState) -> Vec<Fact> {
    let fact = |name: &str, value: Text| Fact { name: name.to_owned(), value };
    let reference = state.order.as_ref().and_then(|order| match &order.outcome {
        Some(OrderOutcome::Accepted { reference }) => Some(reference.as_str()),
        Some(
            OrderOutcome::Rejected { .. }
            | OrderOutcome::Unknown
            | OrderOutcome::ReconciliationRequired,
        )
        | None => None,
    });
    [
        state.reader.as_ref().map(|reader| fact("reader", Text::new().personal(reader))),
        state.branch.as_deref().map(|branch| fact("branch", branch.into())),
        state.note.as_ref().map(|note| fact("note", Text::new().personal(note))),
        reference.map(|reference| fact("reference", reference.into())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The card of the phase that the user owns.
fn branch_card() -> InteractionPayload<DeskCommand> {
    let choose = |branch: &str| DeskCommand::ChooseBranch { branch: branch.to_owned() };
    let option = |branch: &str| StoredOption {
        id: literal(branch),
        label: branch.into(),
        meaning: OptionMeaning::Execute(choose(branch)),
        freeform: None,
    };
    let elsewhere = StoredOption {
        id: literal("elsewhere"),
        label: "Another branch".into(),
        meaning: OptionMeaning::Fill(choose("")),
        freeform: Some(FreeformRule { max_chars: BRANCH_MAX_CHARS }),
    };
    InteractionPayload {
        kind: InteractionKind::SingleSelect,
        requirement: Some("branch".to_owned()),
        operation: None,
        continuation: None,
        title: "Where will the book be picked up?".into(),
        lines: Vec::new(),
        options: BRANCHES.iter().map(|branch| option(branch)).chain([elsewhere]).collect(),
        risk: RiskClass::Low,
        independent: false,
    }
}

/// What the card of a command says. It shows every value of the command.
pub(super) fn confirmation(state: &DeskState, command: &DeskCommand) -> Confirmation {
    let (title, lines): (&str, Vec<Text>) = match command {
        DeskCommand::Open { title, reader } => {
            let reader = reader.as_ref().map(|reader| Text::new().personal(reader));
            let lines = [title.as_str().into()].into_iter().chain(reader).collect();
            ("Open this loan?", lines)
        }
        DeskCommand::Note { note } => ("Write this note?", vec![Text::new().personal(note)]),
        DeskCommand::ChooseBranch { branch } => ("Pick it up there?", vec![branch.as_str().into()]),
        DeskCommand::Order => {
            let branch = state.branch.as_deref().map(Text::from);
            ("Order this book from the office?", [label(state)].into_iter().chain(branch).collect())
        }
        DeskCommand::Withdraw => ("Call this loan off for good?", vec![label(state)]),
        DeskCommand::RecordOutcome { effect, .. } => {
            ("Record what became of the order?", vec![effect.to_string().into()])
        }
    };
    Confirmation { title: title.into(), lines, confirm: "Yes".into(), decline: "No".into() }
}
