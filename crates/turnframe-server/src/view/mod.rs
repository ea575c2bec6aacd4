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
