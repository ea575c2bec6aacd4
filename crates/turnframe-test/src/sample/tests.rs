use turnframe_core::canonical::Json;
use turnframe_core::operation::{SlotSpec, SlotValue};
use turnframe_core::personal::Personal;
use turnframe_core::value::ValueError;
use turnframe_core::workflow::EffectRequest;

use super::*;
use crate::given::{Given, given};
use crate::sources::{START, ids};

fn opened() -> DeskEvent {
    DeskEvent::Opened { title: "Emma".to_owned(), reader: None }
}

fn branch(branch: &str) -> DeskEvent {
    DeskEvent::BranchChosen { branch: branch.to_owned() }
}

fn choose(branch: &str) -> DeskCommand {
    DeskCommand::ChooseBranch { branch: branch.to_owned() }
}

fn words(words: &str) -> Personal<String> {
    Personal::known(literal("actor:ada"), words.to_owned())
}

fn ready(more: impl IntoIterator<Item = DeskEvent>) -> Given<'static, DeskWorkflow> {
    given(&DeskWorkflow, [opened(), branch("north")].into_iter().chain(more))
}

fn accepted() -> OrderOutcome {
    OrderOutcome::Accepted { reference: "R-1".to_owned() }
}

fn rejected() -> OrderOutcome {
    OrderOutcome::Rejected { code: "out_of_print".to_owned() }
}

fn says(effect: EffectId, outcome: OrderOutcome) -> DeskCommand {
    DeskCommand::RecordOutcome { effect, outcome }
}

fn recorded(effect: EffectId, outcome: OrderOutcome) -> DeskEvent {
    DeskEvent::OutcomeRecorded { effect, outcome }
}

fn anomaly(effect: EffectId, outcome: OrderOutcome) -> DeskEvent {
    DeskEvent::OutcomeAnomalyRecorded { effect, outcome }
}

#[test]
fn a_loan_is_opened_once_and_by_something() {
    let open = |title: &str| DeskCommand::Open { title: title.to_owned(), reader: None };
    given(&DeskWorkflow, []).when(open("Emma")).then([opened()]).then_effects([]);
    given(&DeskWorkflow, []).when(open(" ")).then_rejected("blank");
    let long = "x".repeat(TEXT_MAX_CHARS + 1);
    given(&DeskWorkflow, []).when(open(&long)).then_rejected("too_long");
    given(&DeskWorkflow, [opened()]).when(open("Emma")).then_rejected("already_open");
}

#[test]
fn a_note_is_words_that_somebody_can_still_read() {
    let note = |note| DeskCommand::Note { note };
    let noted = DeskEvent::Noted { note: words("signed") };
    ready([]).when(note(words("signed"))).then([noted.clone()]);
    ready([noted]).when(note(words("signed"))).then_rejected("unchanged");
    let erased = Personal::Erased { subject: literal("actor:ada") };
    ready([]).when(note(erased)).then_rejected("erased");
    given(&DeskWorkflow, []).when(note(words("x"))).then_rejected("not_open");
    ready([DeskEvent::Withdrawn]).when(note(words("x"))).then_rejected("closed");
}

#[test]
fn an_order_needs_a_branch_and_asks_the_office() {
    given(&DeskWorkflow, [opened()]).when(DeskCommand::Order).then_rejected("branch_missing");
    let payload = serde_json::json!({ "title": "Emma", "branch": "north" });
    let request = EffectRequest {
        destination: literal(DESK_OFFICE),
        operation: DESK_OFFICE_ORDER.to_owned(),
        payload: Json::of(&payload).expect("JSON"),
    };
    ready([]).when(DeskCommand::Order).then([DeskEvent::OrderRequested]).then_effects([request]);
}

#[test]
fn what_the_office_was_sent_does_not_change_until_it_has_answered() {
    let ordered = || ready([DeskEvent::OrderRequested]);
    for command in [choose("south"), DeskCommand::Order, DeskCommand::Withdraw] {
        ordered().when(command).then_rejected("order_under_way");
    }
    let note = DeskCommand::Note { note: words("urgent") };
    ordered().when(note).then([DeskEvent::Noted { note: words("urgent") }]);
}

#[test]
fn an_outcome_is_recorded_once_and_what_is_certain_never_changes() {
    let (effect, other) = (ids(1).effect(), ids(2).effect());
    let ordered = |said: &[OrderOutcome]| {
        let said = said.iter().cloned().map(|it| recorded(effect, it));
        ready([DeskEvent::OrderRequested].into_iter().chain(said))
    };
    let unknown = || OrderOutcome::Unknown;
    ordered(&[]).when(says(effect, accepted())).then([recorded(effect, accepted())]);
    ordered(&[unknown()]).when(says(effect, accepted())).then([recorded(effect, accepted())]);
    ordered(&[accepted()]).when(says(effect, accepted())).then_nothing();
    ordered(&[accepted()]).when(says(effect, unknown())).then([anomaly(effect, unknown())]);
    let parked = || OrderOutcome::ReconciliationRequired;
    ordered(&[parked()]).when(says(effect, unknown())).then([anomaly(effect, unknown())]);
    ordered(&[unknown()]).when(says(other, rejected())).then([anomaly(other, rejected())]);
    given(&DeskWorkflow, []).when(says(effect, accepted())).then([anomaly(effect, accepted())]);
}

#[test]
fn a_refused_order_can_be_repeated_as_often_as_the_limit_says() {
    let (first, second) = (ids(1).effect(), ids(2).effect());
    let refused = [DeskEvent::OrderRequested, recorded(first, rejected())];
    let again = ready(refused.clone()).when(DeskCommand::Order);
    again.then([DeskEvent::OrderRequested]);
    let twice = [DeskEvent::OrderRequested, recorded(second, rejected())];
    let twice = || ready(refused.iter().chain(&twice).cloned());
    twice().when(DeskCommand::Order).then_rejected("too_many_orders");
    twice().when(says(first, accepted())).then([anomaly(first, accepted())]);
}

#[test]
fn policy_tells_words_from_clicks_and_submissions() {
    let state = DeskState::default();
    let policy = |command| DeskWorkflow.policy(&state, &command);
    assert!(!policy(choose("north")).requires_click());
    assert!(policy(DeskCommand::Withdraw).requires_click());
    assert!(!policy(DeskCommand::Withdraw).is_submission());
    assert!(policy(DeskCommand::Order).is_submission());
}

#[test]
fn every_rejection_has_words_of_its_own() {
    let locale = literal("en");
    let words = |code: &str| DeskWorkflow.rejection(&Rejection::new(code), &locale).to_string();
    let fallback = words("no_such_code");
    for code in REJECTIONS.iter().filter(|code| **code != "value_not_taken") {
        assert_ne!(words(code), fallback, "{code}");
    }
}

#[test]
fn every_declared_operation_becomes_a_command_and_no_other_does() {
    let speaker = literal("actor:ada");
    let compile = |operation: &OperationSpec| {
        let value = |slot: &SlotSpec| (slot.name.clone(), SlotValue::Text("north".to_owned()));
        let act = OperationAct {
            operation: &operation.key,
            values: &operation.slots.iter().map(value).collect(),
            fresh: ids(1).uuid(),
            speaker: &speaker,
            now: START,
        };
        DeskWorkflow.compile(&DeskState::default(), &act)
    };
    let mut operations = DeskWorkflow.operations();
    let commands: Vec<_> = operations.iter().map(compile).collect();
    let (title, reader) = ("north".to_owned(), Some(words("north")));
    let expected = [
        DeskCommand::Open { title, reader },
        DeskCommand::Note { note: words("north") },
        choose("north"),
        DeskCommand::Order,
        DeskCommand::Withdraw,
    ];
    assert_eq!(commands, expected.map(Ok));
    operations[1].slots.clear();
    let (slot, why) = (literal("note"), ValueError::Missing);
    assert_eq!(compile(&operations[1]), Err(CompileError::Incomplete { slot, why }));
    operations[1].key = literal("burn");
    assert_eq!(compile(&operations[1]), Err(CompileError::NotOnOffer));
}
