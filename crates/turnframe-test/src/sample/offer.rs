//! What a loan offers to be asked for, and how an act becomes a command.

use std::collections::BTreeMap;

use turnframe_core::id::{Locale, SlotName};
use turnframe_core::operation::{
    Choice, OperationSpec, Phrase, SlotKind, SlotSpec, SlotValue, TopicSpec,
};
use turnframe_core::personal::Personal;
use turnframe_core::value::ValueError;
use turnframe_core::workflow::{CompileError, OperationAct};

use super::command::DeskCommand;
use super::view::BRANCHES;
use crate::literal;

/// Every operation, in English.
pub(super) fn operations() -> Vec<OperationSpec> {
    vec![
        OperationSpec {
            creates: true,
            ..operation(
                "open",
                "open a loan",
                &["(open|start) a loan of {title} [for {reader}]"],
                vec![slot("title", SlotKind::Text, true), slot("reader", SlotKind::Text, false)],
            )
        },
        operation(
            "note",
            "note",
            &["note {note}", "note on {target} {note}"],
            vec![slot("note", SlotKind::Text, true)],
        ),
        operation(
            "choose_branch",
            "choose a branch",
            &["pick it up (at|in) {branch}", "pick {target} up (at|in) {branch}"],
            vec![slot("branch", branches(), true)],
        ),
        operation("order", "order", &["order it", "order {target}"], Vec::new()),
        operation("withdraw", "withdraw", &["withdraw it", "withdraw {target}"], Vec::new()),
    ]
}

/// The one question it answers.
pub(super) fn topics() -> Vec<TopicSpec> {
    let phrases = said(&["where is it", "where is {target}", "what about {target}"]);
    vec![TopicSpec { key: literal("status"), phrases }]
}

/// Turns an act into a command.
pub(super) fn compile(act: &OperationAct<'_>) -> Result<DeskCommand, CompileError> {
    let values = act.values;
    let personal = |words: String| Personal::known(act.speaker.clone(), words);
    match act.operation.as_str() {
        "open" => Ok(DeskCommand::Open {
            title: required(values, "title")?,
            reader: text(values, "reader").map(personal),
        }),
        "note" => Ok(DeskCommand::Note { note: personal(required(values, "note")?) }),
        "choose_branch" => Ok(DeskCommand::ChooseBranch { branch: required(values, "branch")? }),
        "order" => Ok(DeskCommand::Order),
        "withdraw" => Ok(DeskCommand::Withdraw),
        _ => Err(CompileError::NotOnOffer),
    }
}

fn required(values: &BTreeMap<SlotName, SlotValue>, slot: &str) -> Result<String, CompileError> {
    let missing = || CompileError::Incomplete { slot: literal(slot), why: ValueError::Missing };
    text(values, slot).ok_or_else(missing)
}

fn text(values: &BTreeMap<SlotName, SlotValue>, slot: &str) -> Option<String> {
    let found = values.iter().find(|(name, _)| name.as_str() == slot);
    match found?.1 {
        SlotValue::Text(words) | SlotValue::Choice(words) => Some(words.clone()),
        SlotValue::Integer(_) | SlotValue::Date(_) | SlotValue::Moment { .. } => None,
    }
}

fn operation(key: &str, name: &str, phrases: &[&str], slots: Vec<SlotSpec>) -> OperationSpec {
    OperationSpec {
        key: literal(key),
        creates: false,
        slots,
        phrases: said(phrases),
        names: said(&[name]),
    }
}

fn slot(name: &str, kind: SlotKind, required: bool) -> SlotSpec {
    SlotSpec { name: literal(name), kind, required }
}

fn branches() -> SlotKind {
    let choice = |branch: &str| Choice { value: branch.to_owned(), words: said(&[branch]) };
    SlotKind::Choice(BRANCHES.map(choice).to_vec())
}

fn said(phrases: &[&str]) -> Vec<Phrase> {
    let english: Locale = literal("en");
    phrases.iter().map(|words| Phrase::new(&english, *words)).collect()
}
