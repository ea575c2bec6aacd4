//! Blocks as clients see them.

use serde::Serialize;
use turnframe_core::block::{ArtifactView, Author, NoticeSeverity, ResponseBlock, ServerNotice};
use turnframe_core::canonical::Digest;
use turnframe_core::id::{CaseRef, CaseRevision, EntryId, InteractionId, OptionId};
use turnframe_core::interaction::{InteractionKind, InteractionView, OptionView};
use turnframe_core::plan::ActId;
use turnframe_core::policy::{ClaimMode, RiskClass};
use turnframe_core::receipt::{OperationalReceipt, ReceiptSeverity, ReceiptStatus};

use super::Words;

/// Blocks in order.
#[must_use]
pub fn blocks(blocks: &[ResponseBlock]) -> Vec<BlockView<'_>> {
    blocks.iter().map(BlockView::from).collect()
}

/// A part of a reply.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum BlockView<'a> {
    /// An answer to a question.
    Answer(WordsView<'a>),
    /// Words between other blocks.
    Transition(WordsView<'a>),
    /// Something happened.
    Receipt(ReceiptView<'a>),
    /// Something did not, or waits.
    Notice(NoticeView<'a>),
    /// A card that is persisted.
    Interaction(CardView<'a>),
    /// A file.
    Artifact(FileView<'a>),
}

impl<'a> From<&'a ResponseBlock> for BlockView<'a> {
    fn from(block: &'a ResponseBlock) -> Self {
        match block {
            ResponseBlock::Answer { text, author } => Self::Answer(WordsView::of(text, *author)),
            ResponseBlock::Transition { text, author } => {
                Self::Transition(WordsView::of(text, *author))
            }
            ResponseBlock::Receipt(receipt) => Self::Receipt(receipt.into()),
            ResponseBlock::Notice(notice) => Self::Notice(notice.into()),
            ResponseBlock::Interaction(card) => Self::Interaction(card.into()),
            ResponseBlock::Artifact(artifact) => Self::Artifact(artifact.into()),
        }
    }
}

/// Words that claim nothing.
#[derive(Debug, Serialize)]
pub struct WordsView<'a> {
    /// The words.
    pub text: Words<'a>,
    /// Who wrote them.
    pub author: Author,
}

impl<'a> WordsView<'a> {
    const fn of(text: &'a turnframe_core::text::Text, author: Author) -> Self {
        Self { text: Words(text), author }
    }
}

/// A receipt.
#[derive(Debug, Serialize)]
pub struct ReceiptView<'a> {
    /// Repeats for the same events.
    pub id: &'a str,
    /// The case it is about.
    pub case: &'a CaseRef,
    /// The revision that was committed.
    pub revision: CaseRevision,
    /// The status of what it is about.
    pub status: &'a ReceiptStatus,
    /// How it is meant.
    pub severity: ReceiptSeverity,
    /// What is read first.
    pub title: Words<'a>,
    /// What exactly happened.
    pub body: Words<'a>,
    /// The committed events that authorise it (I16).
    pub event_ids: &'a [EntryId],
    /// What an external system calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_reference: Option<&'a str>,
    /// What else may be said of it.
    pub claim_mode: ClaimMode,
}

impl<'a> From<&'a OperationalReceipt> for ReceiptView<'a> {
    fn from(receipt: &'a OperationalReceipt) -> Self {
        let draft = &receipt.draft;
        Self {
            id: &receipt.id,
            case: &receipt.case,
            revision: receipt.revision,
            status: &draft.status,
            severity: draft.severity,
            title: Words(&draft.title),
            body: Words(&draft.body),
            event_ids: &draft.event_ids,
            external_reference: draft.external_reference.as_deref(),
            claim_mode: draft.claim_mode,
        }
    }
}

/// A notice.
#[derive(Debug, Serialize)]
pub struct NoticeView<'a> {
    /// A stable code.
    pub code: &'a str,
    /// How it is meant.
    pub severity: NoticeSeverity,
    /// The words.
    pub text: Words<'a>,
    /// The act it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub act: Option<ActId>,
    /// The card it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction: Option<InteractionId>,
}

impl<'a> From<&'a ServerNotice> for NoticeView<'a> {
    fn from(notice: &'a ServerNotice) -> Self {
        Self {
            code: &notice.code,
            severity: notice.severity,
            text: Words(&notice.text),
            act: notice.act,
            interaction: notice.interaction,
        }
    }
}

/// A card.
#[derive(Debug, Serialize)]
pub struct CardView<'a> {
    /// Names the card in an answer.
    pub id: InteractionId,
    /// What it asks for.
    pub kind: InteractionKind,
    /// What is read first.
    pub title: Words<'a>,
    /// What exactly is decided.
    pub lines: Vec<Words<'a>>,
    /// What can be answered.
    pub options: Vec<ChoiceView<'a>>,
    /// Goes back with the answer.
    pub expected_revision: CaseRevision,
    /// How bad a wrong answer is.
    pub risk: RiskClass,
}

impl<'a> From<&'a InteractionView> for CardView<'a> {
    fn from(card: &'a InteractionView) -> Self {
        Self {
            id: card.id,
            kind: card.kind,
            title: Words(&card.title),
            lines: card.lines.iter().map(Words).collect(),
            options: card.options.iter().map(ChoiceView::from).collect(),
            expected_revision: card.expected_revision,
            risk: card.risk,
        }
    }
}

/// An option of a card.
#[derive(Debug, Serialize)]
pub struct ChoiceView<'a> {
    /// Names the option in an answer.
    pub id: &'a OptionId,
    /// What is read.
    pub label: Words<'a>,
    /// The longest value that may come with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<u32>,
}

impl<'a> From<&'a OptionView> for ChoiceView<'a> {
    fn from(option: &'a OptionView) -> Self {
        Self { id: &option.id, label: Words(&option.label), max_chars: option.max_chars }
    }
}

/// A file that can be fetched.
#[derive(Debug, Serialize)]
pub struct FileView<'a> {
    /// What it is called.
    pub name: Words<'a>,
    /// The digest of its content.
    pub digest: Digest,
    /// The committed events that say it is available.
    pub event_ids: &'a [EntryId],
}

impl<'a> From<&'a ArtifactView> for FileView<'a> {
    fn from(artifact: &'a ArtifactView) -> Self {
        Self {
            name: Words(&artifact.name),
            digest: artifact.digest,
            event_ids: &artifact.event_ids,
        }
    }
}
