//! What is checked of one state, one command, one commit.

use std::collections::BTreeSet;

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnframe_core::block::ResponseBlock;
use turnframe_core::canonical::Json;
use turnframe_core::claim::{self, Evidence};
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{CaseRef, CaseRevision, EntryId, Locale, OperationKey, SubjectId};
use turnframe_core::personal::{SealError, Sealed};
use turnframe_core::receipt::OperationalReceipt;
use turnframe_core::source::IdSource;
use turnframe_core::view::{Projection, WorkflowView};
use turnframe_core::workflow::{Confirmation, Workflow};

use super::Exploration;
use super::report::Broken;
use super::walk::{Node, Walk};
use crate::sources::START;

/// Checks a state and gives its projection in the first language.
pub(super) fn state<W: Workflow>(
    walk: &Walk<'_, '_, W>,
    node: &Node<W>,
) -> Result<Projection<W::Command>, Broken> {
    let workflow = walk.exploration.workflow;
    let projection = view(walk.exploration, &node.state)?;
    projection.check()?;
    replays(workflow, node)?;
    let erased = erased(workflow, &node.events, &walk.ids)?;
    survives_json("the state without its persons", &erased)?;
    view(walk.exploration, &erased)?.check().map_err(Broken::ErasedView)?;
    Ok(projection)
}

/// The projection of a state, which is the same when it is made again, and in every language but for its words.
fn view<W: Workflow>(
    exploration: &Exploration<'_, W>,
    state: &W::State,
) -> Result<Projection<W::Command>, Broken> {
    let Exploration { workflow, locales, .. } = exploration;
    let first = &locales[0];
    let projection = workflow.project(state, first);
    for locale in locales {
        let other = workflow.project(state, locale);
        if workflow.project(state, locale) != other {
            return Err(Broken::UnstableView);
        }
        let same = other.phase == projection.phase
            && other.obligations == projection.obligations
            && other.operations == projection.operations;
        if !same {
            return Err(Broken::ViewOfLanguage(first.clone(), locale.clone()));
        }
        is_declared(&workflow.operations().into_iter().map(|it| it.key).collect(), &other)?;
    }
    Ok(projection)
}

/// Only declared operations are on offer, and no option hides behind another.
fn is_declared<C>(
    declared: &BTreeSet<OperationKey>,
    projection: &Projection<C>,
) -> Result<(), Broken> {
    if let Some(key) = projection.operations.iter().find(|key| !declared.contains(*key)) {
        return Err(Broken::UndeclaredOperation(key.clone()));
    }
    let mut seen = BTreeSet::new();
    let mut options = projection.required.iter().flat_map(|card| &card.options);
    match options.find(|option| !seen.insert(&option.id)) {
        Some(twice) => Err(Broken::RepeatedOption(twice.id.clone())),
        None => Ok(()),
    }
}

/// The stored events come to the very state that the live ones came to.
fn replays<W: Workflow>(workflow: &W, node: &Node<W>) -> Result<(), Broken> {
    let mut replayed = workflow.initial();
    for event in &node.events {
        let stored = survives_json("the event", event)?;
        let read = workflow.upcast(workflow.event_schema(), &stored).map_err(Broken::Replay)?;
        replayed = workflow.evolve(replayed, &read);
    }
    if replayed == node.state { Ok(()) } else { Err(Broken::Replay(text(&replayed))) }
}

/// The state of the same history once everybody in it was erased.
fn erased<W: Workflow>(
    workflow: &W,
    events: &[W::Event],
    ids: &IdSource,
) -> Result<W::State, Broken> {
    let mut state = workflow.initial();
    for event in events {
        let forgotten = forget(event, ids).map_err(|error| Broken::RoundTrip {
            what: "the event without its persons",
            reason: error.to_string(),
        })?;
        state = workflow.evolve(state, &forgotten);
    }
    Ok(state)
}

/// An event as the ledger keeps it after all its persons were erased.
fn forget<E: Serialize + DeserializeOwned>(event: &E, ids: &IdSource) -> Result<E, SealError> {
    let mut sealed = Sealed::seal(event, ids)?;
    let subjects: BTreeSet<SubjectId> =
        sealed.parts.iter().map(|part| part.subject.clone()).collect();
    for subject in &subjects {
        sealed.erase(subject);
    }
    sealed.open()
}

/// A command that needs a click has a card with words in every language.
pub(super) fn confirmation<W: Workflow>(
    exploration: &Exploration<'_, W>,
    state: &W::State,
    command: &W::Command,
) -> Result<(), Broken> {
    let Exploration { workflow, locales, .. } = exploration;
    if !workflow.policy(state, command).requires_click() {
        return Ok(());
    }
    let is_wordless = |locale: &&Locale| {
        let Confirmation { title, confirm, decline, .. } =
            workflow.confirmation(state, command, locale);
        title.is_empty() || confirm.is_empty() || decline.is_empty()
    };
    match locales.iter().find(is_wordless) {
        Some(locale) => {
            Err(Broken::WordlessConfirmation { command: text(command), locale: locale.clone() })
        }
        None => Ok(()),
    }
}

/// The receipts of a commit cite every one of its events and nothing else (I16).
pub(super) fn receipts<W: Workflow>(
    walk: &Walk<'_, '_, W>,
    after: &W::State,
    revision: u64,
    events: &[W::Event],
    command: &Json,
) -> Result<(), Broken> {
    let workflow = walk.exploration.workflow;
    let case = CaseRef { workflow: workflow.key(), case: walk.ids.case() };
    let revision = CaseRevision(revision);
    let committed: Vec<_> = events
        .iter()
        .map(|event| CommittedEvent {
            id: walk.ids.entry(),
            case: case.clone(),
            revision,
            recorded_at: START,
            event: event.clone(),
        })
        .collect();
    let ids: BTreeSet<EntryId> = committed.iter().map(|event| event.id).collect();
    for locale in &walk.exploration.locales {
        let projection = stored(workflow.project(after, locale))?;
        let view = WorkflowView { case: case.clone(), revision, projection };
        let drafts = workflow.receipts(&committed, &view, locale);
        let cited: BTreeSet<_> = drafts.iter().flat_map(|draft| &draft.event_ids).collect();
        if let Some(event) = ids.iter().find(|id| !cited.contains(id)) {
            let command = command.as_str().to_owned();
            return Err(Broken::Uncited { command, event: *event });
        }
        let block =
            |draft| ResponseBlock::Receipt(OperationalReceipt::of(case.clone(), revision, draft));
        let blocks: Vec<_> = drafts.into_iter().map(block).collect();
        let evidence = Evidence { events: ids.clone(), cards: BTreeSet::new() };
        claim::check(&blocks, &evidence).map_err(|source| Broken::Claim {
            command: command.as_str().to_owned(),
            locale: locale.clone(),
            source,
        })?;
    }
    Ok(())
}

/// The projection as the runtime hands it on: with its commands as JSON.
fn stored<C: Serialize>(projection: Projection<C>) -> Result<Projection, Broken> {
    let Projection { phase, obligations, label, aliases, facts, operations, required } = projection;
    let json = |command: C| Json::of(&command).map_err(|error| lost("the command", &error));
    let required = required.map(|card| card.try_map(json)).transpose()?;
    Ok(Projection { phase, obligations, label, aliases, facts, operations, required })
}

/// The JSON of a value, which reads back equal.
pub(super) fn survives_json<T: Serialize + DeserializeOwned + PartialEq>(
    what: &'static str,
    value: &T,
) -> Result<Json, Broken> {
    let json = Json::of(value).map_err(|error| lost(what, &error))?;
    let read: T = json.read().map_err(|error| lost(what, &error))?;
    if read == *value {
        return Ok(json);
    }
    let reason = format!("{} reads back as another value", json.as_str());
    Err(Broken::RoundTrip { what, reason })
}

fn lost(what: &'static str, error: &dyn std::fmt::Display) -> Broken {
    Broken::RoundTrip { what, reason: error.to_string() }
}

/// A value as it would be stored, for a message.
pub(super) fn text<T: Serialize>(value: &T) -> String {
    match Json::of(value) {
        Ok(json) => json.as_str().to_owned(),
        Err(error) => format!("({error})"),
    }
}
