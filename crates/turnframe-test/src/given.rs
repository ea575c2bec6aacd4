//! Given, when, then: a decision tested by the history it meets and the events it comes to.
//!
//! ```
//! use turnframe_test::given::given;
//! use turnframe_test::sample::{DeskCommand, DeskEvent, DeskWorkflow};
//!
//! let opened = DeskEvent::Opened { title: "Emma".to_owned(), reader: None };
//! given(&DeskWorkflow, [opened])
//!     .when(DeskCommand::ChooseBranch { branch: "north".to_owned() })
//!     .then([DeskEvent::BranchChosen { branch: "north".to_owned() }])
//!     .then_effects([]);
//! ```
//!
//! The state is the fold of the history by the workflow's own `evolve`. A failed expectation shows the difference
//! line by line, in the JSON that would be stored.

use serde::Serialize;
use turnframe_core::canonical::Json;
use turnframe_core::plan::Rejection;
use turnframe_core::source::Timestamp;
use turnframe_core::workflow::{Decision, EffectRequest, Workflow};

use crate::sources::START;

/// A case with a history.
#[derive(Debug)]
pub struct Given<'w, W: Workflow> {
    workflow: &'w W,
    state: W::State,
    now: Timestamp,
}

/// A case that these events have happened to, in this order; at [`START`] until another moment is given.
pub fn given<W: Workflow>(
    workflow: &W,
    history: impl IntoIterator<Item = W::Event>,
) -> Given<'_, W> {
    let evolve = |state, event| workflow.evolve(state, &event);
    let state = history.into_iter().fold(workflow.initial(), evolve);
    Given { workflow, state, now: START }
}

impl<'w, W: Workflow> Given<'w, W> {
    /// The same case at another moment.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// The state that the history comes to.
    #[must_use]
    pub const fn state(&self) -> &W::State {
        &self.state
    }

    /// Decides a command in that state.
    #[must_use]
    pub fn when(self, command: W::Command) -> When<'w, W> {
        let decided = self.workflow.decide(&self.state, &command, self.now);
        When { given: self, command, decided }
    }
}

/// A command that was decided.
pub struct When<'w, W: Workflow> {
    given: Given<'w, W>,
    command: W::Command,
    decided: Result<Decision<W::Event>, Rejection>,
}

impl<W: Workflow> std::fmt::Debug for When<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text(&self.command))
    }
}

#[expect(clippy::missing_panics_doc, reason = "a failed expectation is what a test is for")]
#[expect(clippy::return_self_not_must_use, reason = "an expectation may be the last word")]
impl<W: Workflow> When<'_, W> {
    /// It comes to exactly these events.
    #[track_caller]
    pub fn then(self, expected: impl IntoIterator<Item = W::Event>) -> Self {
        let expected: Vec<_> = expected.into_iter().collect();
        let found = &self.decision().events;
        let lines = |events: &[W::Event]| events.iter().map(text).collect::<Vec<_>>();
        assert!(*found == expected, "{}", self.differs("events", &lines(&expected), &lines(found)));
        self
    }

    /// It comes to no event at all.
    #[track_caller]
    pub fn then_nothing(self) -> Self {
        self.then([])
    }

    /// It asks for exactly these effects.
    #[track_caller]
    pub fn then_effects(self, expected: impl IntoIterator<Item = EffectRequest>) -> Self {
        let expected: Vec<_> = expected.into_iter().collect();
        let found = &self.decision().effects;
        let lines = |effects: &[EffectRequest]| effects.iter().map(effect).collect::<Vec<_>>();
        assert!(
            *found == expected,
            "{}",
            self.differs("effects", &lines(&expected), &lines(found))
        );
        self
    }

    /// It is refused with this code.
    #[track_caller]
    pub fn then_rejected(self, code: &str) -> Self {
        let other = match &self.decided {
            Err(rejection) if rejection.code == code => None,
            Err(rejection) => Some(format!("the rejection {}", text(rejection))),
            Ok(decision) => Some(format!("the events {}", text(&decision.events))),
        };
        assert!(
            other.is_none(),
            "given {}\nwhen {}\n  expected the rejection {code:?}\n  got {}",
            text(&self.given.state),
            text(&self.command),
            other.unwrap_or_default()
        );
        self
    }

    /// The state after the events; as it was, where the command was refused.
    #[must_use]
    pub fn after(&self) -> W::State {
        let evolve = |state, event| self.given.workflow.evolve(state, event);
        let events = self.decided.iter().flat_map(|decision| &decision.events);
        events.fold(self.given.state.clone(), evolve)
    }

    /// The refusal, where it was refused.
    #[must_use]
    pub fn rejection(&self) -> Option<&Rejection> {
        self.decided.as_ref().err()
    }

    #[track_caller]
    fn decision(&self) -> &Decision<W::Event> {
        let refused = self.rejection();
        assert!(
            refused.is_none(),
            "given {}\nwhen {}\n  expected a decision\n  got the rejection {}",
            text(&self.given.state),
            text(&self.command),
            refused.map(text).unwrap_or_default()
        );
        self.decided.as_ref().expect("what is not refused is decided")
    }

    fn differs(&self, what: &str, expected: &[String], found: &[String]) -> String {
        let difference = difference(expected, found);
        format!(
            "given {}\nwhen {}\n  other {what} than expected (- expected, + got):\n{difference}",
            text(&self.given.state),
            text(&self.command)
        )
    }
}

/// A value as it would be stored.
fn text<T: Serialize>(value: &T) -> String {
    match Json::of(value) {
        Ok(json) => json.as_str().to_owned(),
        Err(error) => format!("({error})"),
    }
}

/// An effect as it would be stored.
fn effect(request: &EffectRequest) -> String {
    let EffectRequest { destination, operation, payload } = request;
    text(&serde_json::json!({
        "destination": destination,
        "operation": operation,
        "payload": payload,
    }))
}

/// What differs between two lists, with what is the same before and after it.
fn difference(expected: &[String], found: &[String]) -> String {
    let same = |(one, other): &(&String, &String)| one == other;
    let before = expected.iter().zip(found).take_while(same).count();
    let (expected, found) = (&expected[before..], &found[before..]);
    let after = expected.iter().rev().zip(found.iter().rev()).take_while(same).count();
    let kept = &expected[expected.len() - after..];
    let missing = &expected[..expected.len() - after];
    let surplus = &found[..found.len() - after];
    let unchanged = if before > 0 { vec![format!("    ({before} as expected)")] } else { vec![] };
    let line = |sign: &'static str| move |item: &String| format!("  {sign} {item}");
    unchanged
        .into_iter()
        .chain(missing.iter().map(line("-")))
        .chain(surplus.iter().map(line("+")))
        .chain(kept.iter().map(line(" ")))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::literal;
    use crate::sample::{DESK_OFFICE, DeskCommand, DeskEvent, DeskWorkflow};

    fn opened() -> DeskEvent {
        DeskEvent::Opened { title: "Emma".to_owned(), reader: None }
    }

    fn branch(branch: &str) -> DeskEvent {
        DeskEvent::BranchChosen { branch: branch.to_owned() }
    }

    fn complaint(expectation: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(expectation)).expect_err("it must not hold");
        panic.downcast_ref::<String>().expect("a message").clone()
    }

    fn ordered() -> When<'static, DeskWorkflow> {
        given(&DeskWorkflow, [opened(), branch("north")]).when(DeskCommand::Order)
    }

    #[test]
    fn what_holds_passes_and_can_be_gone_on_with() {
        let payload = serde_json::json!({"title": "Emma", "branch": "north"});
        let request = EffectRequest {
            destination: literal(DESK_OFFICE),
            operation: "order".to_owned(),
            payload: Json::of(&payload).expect("JSON"),
        };
        let when = ordered().then([DeskEvent::OrderRequested]).then_effects([request]);
        assert!(when.after().order.is_some());
        let refused = given(&DeskWorkflow, []).when(DeskCommand::Order).then_rejected("not_open");
        assert_eq!(refused.rejection().map(|it| it.code.as_str()), Some("not_open"));
        assert_eq!(refused.after(), *given(&DeskWorkflow, []).state());
    }

    #[test]
    fn other_events_than_expected_are_shown_beside_each_other() {
        let expected = [DeskEvent::OrderRequested, DeskEvent::Withdrawn];
        let complaint = complaint(|| drop(ordered().then(expected)));
        assert!(complaint.contains("(1 as expected)\n  - \"withdrawn\""), "{complaint}");
        assert!(complaint.contains("when \"order\""), "{complaint}");
        assert!(complaint.contains("\"branch\":\"north\""), "{complaint}");
    }

    #[test]
    fn a_missing_effect_is_shown() {
        let complaint = complaint(|| drop(ordered().then_effects([])));
        assert!(complaint.contains("  + {\"destination\":\"desk-office\""), "{complaint}");
    }

    #[test]
    fn a_decision_instead_of_a_rejection_is_shown_and_the_other_way_round() {
        let decided = complaint(|| drop(ordered().then_rejected("not_open")));
        assert!(decided.contains("got the events [\"order_requested\"]"), "{decided}");
        let refused = || given(&DeskWorkflow, []).when(DeskCommand::Order);
        let rejected = complaint(|| drop(refused().then_nothing()));
        assert!(rejected.contains("got the rejection {\"code\":\"not_open\"}"), "{rejected}");
        let otherwise = complaint(|| drop(refused().then_rejected("unchanged")));
        assert!(otherwise.contains("expected the rejection \"unchanged\""), "{otherwise}");
    }

    #[test]
    fn the_difference_keeps_what_is_the_same_at_both_ends() {
        let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        let shown = difference(&lines("abcd"), &lines("axyd"));
        assert_eq!(shown, "    (1 as expected)\n  - b\n  - c\n  + x\n  + y\n    d");
        assert_eq!(difference(&lines("aa"), &lines("a")), "    (1 as expected)\n  - a");
    }
}
