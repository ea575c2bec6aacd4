//! What clients are shown: stored blocks and items with their texts as plain strings.
//!
//! One rendering serves a turn's answer, the transcript and the live stream, so that what was streamed and what
//! is reloaded are the same bytes. A text's personal runs are written out, and read `[erased]` where a person
//! was forgotten; the markers by which the ledger finds them never leave. Fields are written in a fixed order.
//! Nothing here adds a word to what was stored.

mod block;
mod item;
mod outcome;

pub use block::{BlockView, CardView, blocks};
pub use item::{CardClosedView, CardOpenedView, EntryView, ItemView};
pub use outcome::{ActView, OutcomeView};

use serde::{Serialize, Serializer};
use turnframe_core::block::AssistantTurn;
use turnframe_core::id::TurnId;
use turnframe_core::personal::Personal;
use turnframe_core::text::{ERASED, Text};

/// A turn's answer.
#[derive(Debug, Serialize)]
pub struct AnswerView<'a> {
    /// The turn it answers.
    pub turn: &'a TurnId,
    /// Every act with its one result.
    pub acts: Vec<ActView<'a>>,
    /// What is shown, in order.
    pub blocks: Vec<BlockView<'a>>,
}

impl<'a> From<&'a AssistantTurn> for AnswerView<'a> {
    fn from(answer: &'a AssistantTurn) -> Self {
        Self {
            turn: &answer.turn,
            acts: answer.acts.iter().map(ActView::from).collect(),
            blocks: blocks(&answer.blocks),
        }
    }
}

/// A text as a plain string.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a>(pub &'a Text);

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

/// A person's words as a plain string.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a>(pub &'a Personal<String>);

impl Serialize for Said<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.value().map_or(ERASED, String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use turnframe_core::block::{ActReport, NoticeSeverity, ResponseBlock, ServerNotice};
    use turnframe_core::id::{CaseId, CaseRef, SubjectId, WorkflowKey};
    use turnframe_core::plan::{ActId, ActOutcome, Rejection};

    fn subject() -> SubjectId {
        SubjectId::new("s-ada").expect("subject")
    }

    fn about(person: &Personal<String>) -> Text {
        Text::new().plain("Hello, ").personal(person).plain("!")
    }

    fn notice(text: Text) -> ResponseBlock {
        ResponseBlock::Notice(ServerNotice {
            code: "greeting".to_owned(),
            severity: NoticeSeverity::Info,
            text,
            act: None,
            interaction: None,
        })
    }

    fn rendered(block: &ResponseBlock) -> Value {
        serde_json::to_value(BlockView::from(block)).expect("JSON")
    }

    #[test]
    fn a_person_is_written_out_until_they_are_forgotten() {
        let known = notice(about(&Personal::known(subject(), "Ada".to_owned())));
        assert_eq!(rendered(&known)["text"], "Hello, Ada!");
        let erased = notice(about(&Personal::Erased { subject: subject() }));
        assert_eq!(rendered(&erased)["text"], "Hello, [erased]!");
        let said = serde_json::to_value(Said(&Personal::Erased { subject: subject() }));
        assert_eq!(said.expect("JSON"), "[erased]");
    }

    #[test]
    fn what_an_act_was_refused_with_is_plain_text_too() {
        let workflow = WorkflowKey::new("loan").expect("workflow");
        let id: CaseId = "01890000-0000-7000-8000-000000000001".parse().expect("case");
        let case = CaseRef { workflow, case: id };
        let person = Personal::known(subject(), "Ada".to_owned());
        let rejection = Rejection::new("unknown_reader").with(about(&person));
        let outcome = ActOutcome::Rejected { case: case.clone(), rejection };
        let act = ActReport { id: ActId(1), source: None, operation: None, outcome };
        let expected = json!({
            "id": 1,
            "result": "rejected",
            "case": { "workflow": "loan", "case": id },
            "code": "unknown_reader",
            "details": ["Hello, Ada!"],
        });
        assert_eq!(serde_json::to_value(ActView::from(&act)).expect("JSON"), expected);
    }

    #[test]
    fn an_empty_text_is_an_empty_string_and_no_list() {
        assert_eq!(rendered(&notice(Text::new()))["text"], "");
    }
}
