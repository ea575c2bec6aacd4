//! What a pattern laid over words comes to.

use super::fit::Fill;
use super::form::Form;

/// Words of a phrase, laid over words of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    /// Which part.
    pub(super) part: usize,
    /// The first token.
    pub(super) start: usize,
    /// One past the last token.
    pub(super) end: usize,
    /// In which form its words stand.
    pub(super) form: Form,
}

/// What generic words said around the phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// It is not to be.
    pub(super) is_negated: bool,
    /// It is wondered about.
    pub(super) is_hypothetical: bool,
    /// It depends on something.
    pub(super) is_conditional: bool,
    /// It is told of.
    pub(super) is_reported: bool,
    /// It is asked for politely.
    pub(super) is_requested: bool,
    /// A verb in `-ing` is wanted.
    pub(super) wants_gerund: bool,
    /// It takes the place of what was said before.
    pub(super) replaces: bool,
    /// It adds to what was said before.
    pub(super) adds: bool,
    /// Any object is meant, or none was said.
    pub(super) is_of_anything: bool,
}

/// Words that are part of nothing, by where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LeftOver {
    /// How many before the first word of the phrase.
    pub(super) before: usize,
    /// How many between its words.
    pub(super) between: usize,
    /// How many after a word of the phrase that ends it.
    pub(super) after_word: usize,
    /// How many after a value.
    pub(super) after: usize,
    /// All of them, as ranges of tokens.
    pub(super) ranges: Vec<(usize, usize)>,
}

/// A pattern laid over words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    /// How much it is worth.
    pub(super) score: i32,
    /// The values.
    pub(super) fills: Vec<Fill>,
    /// What generic words said.
    pub(super) flags: Flags,
    /// What is left.
    pub(super) left_over: LeftOver,
    /// How many mandatory places have no words.
    pub(super) missing: usize,
    /// Whether the phrase has a place for a record and none was named.
    pub(super) is_unnamed: bool,
    /// Whether all mandatory words that were said are of no domain, so that the values have to speak for it.
    pub(super) is_vague: bool,
    /// How many values stand after words that introduce them.
    pub(super) introduced: usize,
    /// In which form the first word of the phrase stands.
    pub(super) head: Form,
    /// At which token, where it stands in the clause as the phrase has it.
    pub(super) head_at: Option<usize>,
}

impl Leaf {
    pub(super) fn empty() -> Self {
        Self {
            score: 0,
            fills: Vec::new(),
            flags: Flags::default(),
            left_over: LeftOver::default(),
            missing: 0,
            is_unnamed: false,
            is_vague: false,
            introduced: 0,
            head: Form::Exact,
            head_at: None,
        }
    }
}
