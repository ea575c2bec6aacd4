//! Everything that a message is read with.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use turnframe_core::id::Locale;
use turnframe_core::target::fold;
use turnframe_core::understanding::Handle;

use super::grammar::{Grammar, LanguageGrammar, Shape};
use super::scan::Scan;

/// Everything that a message is read with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'r> {
    /// The message.
    pub(super) scan: &'r Scan<'r>,
    /// The offer.
    pub(super) grammar: &'r Grammar,
    /// The phrases of the actor's language.
    pub(super) language: &'r LanguageGrammar,
    /// The actor's language.
    pub(super) locale: &'r Locale,
    /// The records in view.
    pub(super) names: &'r Names<'r>,
    /// What was found out before.
    pub(super) memo: &'r Memo,
}

/// What was found out about a message while it was read.
#[derive(Debug, Default)]
pub(super) struct Memo {
    /// Which tokens are a value of which shape.
    fits: RefCell<HashMap<(u32, usize, usize), bool>>,
    /// Where dates begin.
    pub(super) dates: OnceCell<Vec<usize>>,
}

/// Whose places are filled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    /// The operation, where it is one.
    pub(super) operation: Option<usize>,
    /// The workflow.
    pub(super) workflow: usize,
}

/// The names of the records in view, folded when the first is asked for.
#[derive(Debug)]
pub(super) struct Names<'b> {
    handles: &'b [Handle],
    folded: OnceCell<HashSet<(usize, String)>>,
    words_max: OnceCell<i32>,
}

impl<'b> Names<'b> {
    /// The names of these records.
    pub(super) fn new(handles: &'b [Handle]) -> Self {
        Self { handles, folded: OnceCell::new(), words_max: OnceCell::new() }
    }

    /// The most words that a name has.
    pub(super) fn words_max(&self) -> i32 {
        let words = |name: &String| name.split([' ', '-', '/', '·']).count();
        let count = || {
            let names = self.handles.iter().flat_map(|handle| &handle.names);
            i32::try_from(names.map(words).max().unwrap_or_default()).unwrap_or(i32::MAX)
        };
        *self.words_max.get_or_init(count)
    }

    /// Whether words are the name of a record of a workflow.
    pub(super) fn knows(&self, grammar: &Grammar, workflow: usize, words: &str) -> bool {
        let folded = || {
            let of = |handle: &'b Handle| {
                let at = grammar.workflows.iter().position(|known| *known == handle.workflow);
                handle.names.iter().filter_map(move |name| Some((at?, fold(name))))
            };
            self.handles.iter().flat_map(of).collect()
        };
        self.folded.get_or_init(folded).contains(&(workflow, fold(words)))
    }
}

impl Reader<'_> {
    /// Whether words have the form of a value, and stand for what they say.
    pub(super) fn fits(&self, shape: &Shape, start: usize, end: usize) -> bool {
        if shape.is_text() {
            return true;
        }
        if end - start > shape.words_max {
            return false;
        }
        let key = (shape.key, start, end);
        if let Some(fits) = self.memo.fits.borrow().get(&key) {
            return *fits;
        }
        let is_whole = self.scan.tokens[start].starts_word && self.ends_word(end);
        let fits = is_whole
            && shape.fits(self.scan.text(start, end), self.locale)
            && !self.is_signed(start);
        self.memo.fits.borrow_mut().insert(key, fits);
        fits
    }

    /// Whether a sign stands before a token that its word does not hold: the words of `-5` are `5`.
    pub(super) fn is_signed(&self, start: usize) -> bool {
        let word = self.scan.tokens[start].word as usize;
        let at = self.scan.message.span(word).unwrap_or_default().start;
        let before = &self.scan.message.text()[..at];
        let sign = before.strip_suffix(['-', '−']);
        sign.is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
    }

    fn ends_word(&self, end: usize) -> bool {
        self.scan.tokens.get(end).is_none_or(|token| token.starts_word)
    }
}
