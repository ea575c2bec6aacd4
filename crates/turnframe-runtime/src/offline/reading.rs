//! What a clause may be read as, before clauses are put together.

use turnframe_core::id::{InteractionId, OptionId};
use turnframe_core::understanding::ProhibitionScope;

use super::fit::Fill;
use super::leaf::Flags;

/// What a clause is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    /// Generic words that say nothing by themselves.
    Filler,
    /// A greeting, thanks, a farewell.
    Remark,
    /// An operation.
    Operation(Operating),
    /// Something that must not be done.
    Prohibition(ProhibitionScope),
    /// A question.
    Question(Asking),
    /// Something is called off.
    Cancellation,
    /// What was said before is taken back, and what should take its place cannot be read.
    TakenBack,
    /// Yes.
    Yes {
        /// Whether it means yes only when nothing else is said.
        is_weak: bool,
    },
    /// No.
    No,
    /// The words of an option of an open card.
    Choice {
        /// The card, where only one has such an option.
        card: Option<InteractionId>,
        /// The option.
        option: OptionId,
    },
    /// Nothing.
    Unread,
}

/// How a clause that names an operation relates to what was said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// Not at all.
    New,
    /// It names values only, for one more of the same.
    OneMore,
    /// It puts right what was said before, where it is about the same.
    Corrects,
    /// It takes the place of what was said before.
    Replaces,
    /// It names values only, which take the place of those said before.
    Amends,
}

/// An operation as a clause names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operating {
    /// Which, by its index in the offer.
    pub(super) operation: usize,
    /// Its workflow, by index.
    pub(super) workflow: usize,
    /// Its values.
    pub(super) fills: Vec<Fill>,
    /// What generic words said.
    pub(super) flags: Flags,
    /// The token of the phrase's first word, which another phrase may share.
    pub(super) head_at: Option<usize>,
    /// Words within the clause that are part of nothing.
    pub(super) left_over: Vec<(usize, usize)>,
    /// How it relates to what was said before.
    pub(super) relation: Relation,
}

/// A question as a clause asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asking {
    /// The topic, by its index in the offer.
    pub(super) topic: usize,
    /// Its workflow, by index.
    pub(super) workflow: usize,
    /// Its values; only the words that name a record count.
    pub(super) fills: Vec<Fill>,
    /// Words within the clause that are part of nothing.
    pub(super) left_over: Vec<(usize, usize)>,
}

/// A stretch of the message with what it is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// The first token.
    pub(super) start: usize,
    /// One past the last token.
    pub(super) end: usize,
    /// What it is read as.
    pub(super) reading: Reading,
    /// How much that is worth.
    pub(super) score: i32,
}
