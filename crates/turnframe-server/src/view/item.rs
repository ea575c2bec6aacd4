//! Entries as clients see them: items of a transcript, and what happens to cards.

use serde::{Serialize, Serializer};
use turnframe_core::id::{
    ActorId, CaseRef, CaseRevision, EntryId, InteractionId, OptionId, TurnId,
};
use turnframe_core::interaction::{InteractionStatus, InteractionView};
use turnframe_core::source::Timestamp;
use turnframe_ledger::{Entry, Position, Version};
use turnframe_runtime::record::{CardClosed, ClickRecord, UpdatePosted};
use turnframe_runtime::transcript::{TranscriptContent, TranscriptItem};

use super::{AnswerView, BlockView, CardView, Said, blocks};

/// An item of a transcript.
#[derive(Debug, Serialize)]
pub struct ItemView<'a> {
    /// Its place in the conversation.
    pub version: Version,
    /// Its place in the live stream.
    pub position: Position,
    /// The entry that is shown.
    pub entry: EntryId,
    /// When it was recorded.
    #[serde(serialize_with = "as_text")]
    pub recorded_at: Timestamp,
    /// What it shows.
    #[serde(flatten)]
    pub content: ContentView<'a>,
}

/// What an item shows.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentView<'a> {
    /// A turn as it arrived.
    Turn {
        /// The turn.
        turn: &'a TurnId,
        /// Who spoke.
        actor: &'a ActorId,
        /// What was said.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<Said<'a>>,
        /// What was clicked.
        #[serde(skip_serializing_if = "Option::is_none")]
        response: Option<ClickView<'a>>,
    },
    /// A turn's answer.
    Answer {
        /// The answer, as it was given to whoever posted the turn.
        answer: AnswerView<'a>,
    },
    /// What the server told later.
    Update {
        /// The case it is about.
        case: &'a CaseRef,
        /// What is shown.
        blocks: Vec<BlockView<'a>>,
    },
}

impl<'a> From<&'a TranscriptItem> for ItemView<'a> {
    fn from(item: &'a TranscriptItem) -> Self {
        Self {
            version: item.version,
            position: item.position,
            entry: item.entry,
            recorded_at: item.recorded_at,
            content: match &item.content {
                TranscriptContent::Turn { turn, actor, text, click } => ContentView::Turn {
                    turn,
                    actor,
                    text: text.as_ref().map(Said),
                    response: click.as_ref().map(ClickView::from),
                },
                TranscriptContent::Answer(answer) => ContentView::Answer { answer: answer.into() },
                TranscriptContent::Update(UpdatePosted { case, blocks: told }) => {
                    ContentView::Update { case, blocks: blocks(told) }
                }
            },
        }
    }
}

/// A click as it arrived.
#[derive(Debug, Serialize)]
pub struct ClickView<'a> {
    /// The card.
    pub interaction: InteractionId,
    /// The option.
    pub option: &'a OptionId,
    /// The revision that the client saw.
    pub expected_revision: CaseRevision,
    /// The value that came with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Said<'a>>,
}

impl<'a> From<&'a ClickRecord> for ClickView<'a> {
    fn from(click: &'a ClickRecord) -> Self {
        Self {
            interaction: click.interaction,
            option: &click.option,
            expected_revision: click.expected_revision,
            value: click.value.as_ref().map(Said),
        }
    }
}

/// That something was recorded, without what it says.
#[derive(Debug, Serialize)]
pub struct EntryView<'a> {
    /// Its place in the live stream.
    pub position: Position,
    /// The entry.
    pub entry: EntryId,
    /// When it was recorded.
    #[serde(serialize_with = "as_text")]
    pub recorded_at: Timestamp,
    /// The turn it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<&'a TurnId>,
}

impl<'a> From<&'a Entry> for EntryView<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self {
            position: entry.position,
            entry: entry.id,
            recorded_at: entry.recorded_at,
            turn: entry.turn.as_ref(),
        }
    }
}

/// A card was persisted.
#[derive(Debug, Serialize)]
pub struct CardOpenedView<'a> {
    #[serde(flatten)]
    entry: EntryView<'a>,
    card: CardView<'a>,
}

impl<'a> CardOpenedView<'a> {
    /// The card of an entry.
    #[must_use]
    pub fn of(entry: &'a Entry, card: &'a InteractionView) -> Self {
        Self { entry: entry.into(), card: card.into() }
    }
}

/// A card reached a terminal status.
#[derive(Debug, Serialize)]
pub struct CardClosedView<'a> {
    #[serde(flatten)]
    entry: EntryView<'a>,
    card: InteractionId,
    status: InteractionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    option: Option<&'a OptionId>,
}

impl<'a> CardClosedView<'a> {
    /// What an entry says of its card.
    #[must_use]
    pub fn of(entry: &'a Entry, closed: &'a CardClosed) -> Self {
        Self {
            entry: entry.into(),
            card: closed.card,
            status: closed.status,
            option: closed.option.as_ref(),
        }
    }
}

fn as_text<S: Serializer>(moment: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(moment)
}
