//! A step as it is printed: what was said or clicked, what became of each act, what is on the ledger for it, and
//! what is shown.

use std::fmt::Write as _;
use std::io;

use serde::Serialize;
use turnframe_core::block::ResponseBlock;
use turnframe_core::id::EntryId;
use turnframe_core::interaction::{InteractionResponse, InteractionView};
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::{Entry, EntryKind, Position, StreamName};
use turnframe_server::view::{ActView, BlockView, OutcomeView, blocks};
use turnframe_travel::airline::AirlineBook;

use super::stage::{Done, Scene, Shown};
use crate::exit::CliError;
use crate::output::Output;

#[derive(Serialize)]
struct SceneObject<'a> {
    step: usize,
    about: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clicked: Option<&'a InteractionResponse>,
    acts: Vec<ActView<'a>>,
    entries: Vec<EntryObject<'a>>,
    blocks: Vec<BlockView<'a>>,
}

#[derive(Serialize)]
struct EntryObject<'a> {
    position: Position,
    stream: &'a StreamName,
    kind: EntryKind,
    entry: EntryId,
}

impl<'a> From<&'a Entry> for EntryObject<'a> {
    fn from(entry: &'a Entry) -> Self {
        let (position, stream, kind) = (entry.position, &entry.stream, entry.kind);
        Self { position, stream, kind, entry: entry.id }
    }
}

#[derive(Serialize)]
struct BookObject {
    airline_requests: usize,
    airline_rebookings: usize,
}

/// Prints a step.
pub(super) fn scene(output: Output, scene: &Scene) -> Result<(), CliError> {
    output.object(&object(scene))?;
    output.text(&text(scene))?;
    Ok(())
}

/// Prints what the airline's own book says.
pub(super) fn airline(output: Output, book: &AirlineBook) -> io::Result<()> {
    let (airline_requests, airline_rebookings) = (book.received_total(), book.rebookings());
    output.object(&BookObject { airline_requests, airline_rebookings })?;
    output.text(&format!(
        "The airline's own book: asked to rebook {airline_requests} times, took {airline_rebookings} rebookings on."
    ))
}

fn object(scene: &Scene) -> SceneObject<'_> {
    let (said, clicked) = match &scene.done {
        Done::Said(words) => (Some(*words), None),
        Done::Clicked { response, .. } => (None, Some(response)),
        Done::Waited => (None, None),
    };
    let acts = match &scene.shown {
        Shown::Answer(answer) => answer.acts.iter().map(ActView::from).collect(),
        Shown::Update(_) => Vec::new(),
    };
    SceneObject {
        step: scene.number,
        about: scene.about,
        said,
        clicked,
        acts,
        entries: scene.entries.iter().map(EntryObject::from).collect(),
        blocks: blocks(scene.blocks()),
    }
}

fn text(scene: &Scene) -> String {
    let mut text = format!("{}. {}\n\n", scene.number, scene.about);
    let mut line = |label: &str, line: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "   {label:<8} {line}");
    };
    match &scene.done {
        Done::Said(words) => line("you", words),
        Done::Clicked { number, title, label, .. } => {
            line("you", &format!("click [{label}] on card {number}, {title:?}"));
        }
        Done::Waited => line("you", "(wait)"),
    }
    if let Shown::Answer(answer) = &scene.shown {
        for act in &answer.acts {
            let operation = act.operation.as_ref().map_or("card".to_owned(), ToString::to_string);
            let result = OutcomeView::from(&act.outcome);
            let revision = result.revision.map(|revision| format!(" ({revision})"));
            let revision = revision.unwrap_or_default();
            line("act", &format!("{} {operation}: {}{revision}", act.id, result.result));
        }
    }
    for entry in &scene.entries {
        line("ledger", &format!("{:<19} {}", entry.kind.as_str(), entry.id));
    }
    let mut numbers = scene.new_cards.iter();
    for shown in scene.blocks() {
        let number = match shown {
            ResponseBlock::Interaction(_) => numbers.next(),
            ResponseBlock::Answer { .. }
            | ResponseBlock::Transition { .. }
            | ResponseBlock::Receipt(_)
            | ResponseBlock::Notice(_)
            | ResponseBlock::Artifact(_) => None,
        };
        let label = number.map_or("shown".to_owned(), |number| format!("card {number}"));
        for (index, words) in block(shown).lines().enumerate() {
            line(if index == 0 { &label } else { "" }, words);
        }
    }
    text
}

/// A block in words.
pub(super) fn block(block: &ResponseBlock) -> String {
    match block {
        ResponseBlock::Answer { text, .. } | ResponseBlock::Transition { text, .. } => {
            text.to_string()
        }
        ResponseBlock::Receipt(receipt) => {
            let draft = &receipt.draft;
            let cited: Vec<_> = draft.event_ids.iter().map(ToString::to_string).collect();
            let (status, cited) = (status(&draft.status), cited.join(", "));
            format!("receipt: {} [{status}]\n{}\nby {cited}", draft.title, draft.body)
        }
        ResponseBlock::Notice(notice) => format!("notice: {}", notice.text),
        ResponseBlock::Interaction(view) => card(view),
        ResponseBlock::Artifact(file) => format!("file: {}", file.name),
    }
}

fn card(card: &InteractionView) -> String {
    let lines = card.lines.iter().map(ToString::to_string);
    let options = card.options.iter().map(|option| format!("[{}]", option.label));
    let options = options.collect::<Vec<_>>().join(" ");
    let all = std::iter::once(card.title.to_string()).chain(lines).chain([options]);
    all.collect::<Vec<_>>().join("\n")
}

/// A receipt's status by its stored name.
pub(super) fn status(status: &ReceiptStatus) -> String {
    match serde_json::to_value(status) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other["domain"].as_str().unwrap_or_default().to_owned(),
        Err(_) => String::new(),
    }
}
