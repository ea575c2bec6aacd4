//! What this crate's tests are written in: given events, when a command, then events or a refusal.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use turnframe_core::canonical::Json;
use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{CaseId, CaseRef, CaseRevision, EffectId, EntryId, Locale, SubjectId};
use turnframe_core::operation::{OperationSpec, Phrase, SlotKind};
use turnframe_core::plan::Rejection;
use turnframe_core::source::Timestamp;
use turnframe_core::target::fold;
use turnframe_core::text::Text;
use turnframe_core::view::{Projection, WorkflowView};
use turnframe_core::workflow::{Decision, EffectRequest, Workflow};
use uuid::Uuid;

/// The moment of every decision in tests.
pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
/// The subject whose words the tests speak.
pub(crate) const SPEAKER: &str = "actor:kim";

pub(crate) fn subject(name: &str) -> SubjectId {
    SubjectId::new(name).expect("subject")
}

pub(crate) fn effect(number: u128) -> EffectId {
    EffectId::from_uuid(Uuid::from_u128(number))
}

/// A case that has lived through events.
pub(crate) struct Given<W: Workflow> {
    workflow: W,
    pub(crate) state: W::State,
}

/// A case that was given a command.
pub(crate) struct When<W: Workflow> {
    workflow: W,
    before: W::State,
    outcome: Result<Decision<W::Event>, Rejection>,
}

/// A case after these events.
pub(crate) fn given<W: Workflow>(
    workflow: W,
    events: impl IntoIterator<Item = W::Event>,
) -> Given<W> {
    let initial = workflow.initial();
    let state = events.into_iter().fold(initial, |state, event| workflow.evolve(state, &event));
    Given { workflow, state }
}

impl<W: Workflow> Given<W> {
    pub(crate) fn when(self, command: &W::Command) -> When<W> {
        let outcome = self.workflow.decide(&self.state, command, NOW);
        When { workflow: self.workflow, before: self.state, outcome }
    }
}

impl<W: Workflow> When<W>
where
    W::Event: Debug,
{
    /// Exactly these events and no effect. Returns the state after them.
    #[track_caller]
    pub(crate) fn then(self, events: impl IntoIterator<Item = W::Event>) -> W::State {
        self.then_with_effects(events, &[])
    }

    /// Exactly these events and these effects.
    #[track_caller]
    pub(crate) fn then_with_effects(
        self,
        events: impl IntoIterator<Item = W::Event>,
        effects: &[EffectRequest],
    ) -> W::State {
        let expected: Vec<W::Event> = events.into_iter().collect();
        let decision = self.outcome.expect("the command was refused");
        assert_eq!(decision.events, expected);
        assert_eq!(decision.effects, effects);
        let evolve = |state, event: &W::Event| self.workflow.evolve(state, event);
        expected.iter().fold(self.before, evolve)
    }

    /// Refused with this code.
    #[track_caller]
    pub(crate) fn then_refused(self, code: &str) {
        let rejection = self.outcome.map(|decision| decision.events).expect_err("it was decided");
        assert_eq!(rejection.code, code);
    }
}

/// The events as if one append had committed them.
pub(crate) fn committed<E>(
    workflow: &impl Workflow<Event = E>,
    events: impl IntoIterator<Item = E>,
) -> Vec<CommittedEvent<E>> {
    let case = case_of(workflow);
    let committed = |(index, event): (usize, E)| CommittedEvent {
        id: EntryId::from_uuid(Uuid::from_u128(index as u128 + 1)),
        case: case.clone(),
        revision: CaseRevision(1),
        recorded_at: NOW,
        event,
    };
    events.into_iter().enumerate().map(committed).collect()
}

/// The view of a state at revision 1.
pub(crate) fn view<W: Workflow>(workflow: &W, state: &W::State, locale: &Locale) -> WorkflowView {
    let Projection { phase, obligations, label, aliases, facts, operations, required } =
        workflow.project(state, locale);
    let required =
        required.map(|card| card.try_map(|command| Json::of(&command)).expect("a command is JSON"));
    WorkflowView {
        case: case_of(workflow),
        revision: CaseRevision(1),
        projection: Projection { phase, obligations, label, aliases, facts, operations, required },
    }
}

fn case_of(workflow: &impl Workflow) -> CaseRef {
    CaseRef { workflow: workflow.key(), case: CaseId::from_uuid(Uuid::from_u128(9)) }
}

/// Asserts that a value reads back equal from its canonical JSON.
#[track_caller]
pub(crate) fn assert_round_trip<T: Serialize + DeserializeOwned + PartialEq>(value: &T) {
    let json = Json::of(value).expect("a value is JSON");
    let read: T = json.read().expect("the JSON reads back");
    assert!(read == *value, "{} reads back as something else", json.as_str());
}

/// The same value with every personal value erased, as it reads after an erasure on the ledger.
pub(crate) fn forgotten<T: Serialize + DeserializeOwned>(value: &T) -> T {
    fn forget(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                if let Some(serde_json::Value::Object(inner)) = map.get_mut("$personal") {
                    inner.remove("value");
                } else {
                    map.values_mut().for_each(forget);
                }
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(forget),
            serde_json::Value::Null
            | serde_json::Value::Bool(_)
            | serde_json::Value::Number(_)
            | serde_json::Value::String(_) => {}
        }
    }
    let mut json = serde_json::to_value(value).expect("a value is JSON");
    forget(&mut json);
    serde_json::from_value(json).expect("an erased value reads")
}

/// Whether words speak of anything as "done" or in its German likeness.
pub(crate) fn says_done(text: &Text) -> bool {
    let folded = fold(&text.to_string());
    let mut words = folded.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| ["done", "erledigt", "fertig"].contains(&word))
}

/// Asserts the mini language: groups close, do not nest and are not empty; places are declared.
#[track_caller]
pub(crate) fn every_phrase_is_well_formed(phrases: &[Phrase], places: &[&str]) {
    for phrase in phrases {
        let words = &phrase.words;
        let mut open: Option<char> = None;
        let mut place: Option<String> = None;
        let mut last = ' ';
        for letter in words.chars() {
            match (letter, &mut place) {
                ('{', None) => place = Some(String::new()),
                ('}', Some(name)) => {
                    assert!(places.contains(&name.as_str()), "{words:?} has no place {name:?}");
                    place = None;
                }
                (_, Some(name)) => name.push(letter),
                ('(' | '[', None) => assert!(open.replace(letter).is_none(), "{words:?} nests"),
                (')', None) => assert_eq!(open.take(), Some('('), "{words:?}"),
                (']', None) => assert_eq!(open.take(), Some('['), "{words:?}"),
                ('|', None) => assert!(open.is_some(), "{words:?} has a bare alternative"),
                (_, None) => {}
            }
            let is_empty = "([|".contains(last) && ")]|".contains(letter);
            assert!(!is_empty, "{words:?} has an empty group");
            last = letter;
        }
        assert!(open.is_none() && place.is_none(), "{words:?} is left open");
        assert_eq!(fold(words).split(' ').count(), words.split(' ').count(), "{words:?}");
    }
}

/// Asserts that no words of a choice mean two of its values.
#[track_caller]
pub(crate) fn every_choice_is_told_apart(spec: &OperationSpec) {
    for slot in &spec.slots {
        let SlotKind::Choice(choices) = &slot.kind else { continue };
        let mut meanings: BTreeMap<(String, String), &str> = BTreeMap::new();
        for choice in choices {
            for phrase in &choice.words {
                let words = (phrase.locale.to_string(), fold(&phrase.words));
                let before = meanings.insert(words, &choice.value);
                assert_eq!(before, None, "{:?} stands twice", phrase.words);
            }
        }
    }
}
