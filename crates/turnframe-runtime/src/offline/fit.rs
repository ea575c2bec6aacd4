//! Which of the words at a place are its value.
//!
//! A value of a closed form (a number, a date, a choice) is the longest run of words that has that form, from the
//! first word on; what follows is left over. Any words are text. Words that name a record are what is left
//! without article; a name of a record in view is recognised, also between words that the workflow itself has
//! for its records. Nothing is matched half.

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use turnframe_core::id::Locale;
use turnframe_core::target::fold;
use turnframe_core::understanding::Handle;

use super::grammar::{Grammar, LanguageGrammar, Shape};
use super::lexicon::Class;
use super::pattern::{Opening, Place};
use super::scan::{JointKind, Lexeme, Scan};
use super::score;

/// The most words that are tried as a value of a closed form.
const CLOSED_WORDS_MAX: usize = 10;

/// How well the words at a place are what belongs there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// A value of a closed form.
    Closed,
    /// No value of the form that the place wants. The user is told.
    Misfit,
    /// Text.
    Text,
    /// A record in view, by its name.
    Known,
    /// Words that may name a record.
    Mention,
    /// A word that stands for something said before.
    Pronoun,
    /// Any object, or none.
    Anything,
}

/// The words at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fill {
    /// The place.
    pub(super) place: Place,
    /// The first token.
    pub(super) start: usize,
    /// One past the last token.
    pub(super) end: usize,
    /// How well they fit.
    pub(super) fit: Fit,
}

/// What the words at one or several places come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fitted {
    /// The values.
    pub(super) fills: Vec<Fill>,
    /// The first token after them that is part of none.
    pub(super) rest: usize,
    /// How much they speak for the reading.
    pub(super) score: i32,
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

    fn knows(&self, grammar: &Grammar, workflow: usize, words: &str) -> bool {
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

impl Reader<'_> {
    /// Divides words among places, each getting some unless it may be empty. The best division counts.
    pub(super) fn divide(
        &self,
        owner: Owner,
        openings: &[Opening],
        start: usize,
        end: usize,
    ) -> Option<Fitted> {
        let (opening, others) = openings.split_first()?;
        if others.is_empty() {
            return (start < end).then(|| self.fit(owner, *opening, start, end));
        }
        let mut best: Option<Fitted> = None;
        let mut keep = |candidate: Option<Fitted>| {
            let is_better =
                |candidate: &Fitted| best.as_ref().is_none_or(|best| candidate.score > best.score);
            if let Some(candidate) = candidate.filter(is_better) {
                best = Some(candidate);
            }
        };
        if opening.is_optional {
            keep(self.divide(owner, others, start, end));
        }
        if others.iter().all(|other| other.is_optional) {
            keep((start < end).then(|| self.fit(owner, *opening, start, end)));
        }
        for at in start + 1..end.min(start + CLOSED_WORDS_MAX) {
            let first = self.fit(owner, *opening, start, at);
            let rest = self.divide(owner, others, at, end).filter(|_| first.rest == at);
            keep(rest.map(|rest| first.then(rest)));
        }
        best
    }

    fn fit(&self, owner: Owner, opening: Opening, start: usize, end: usize) -> Fitted {
        match opening.place {
            Place::Target => self.record(owner.workflow, start, end).up_to(end),
            Place::Ignored => Fitted::one(opening.place, start, end, Fit::Text, score::TEXT),
            Place::Slot(slot) => match owner.operation {
                Some(operation) => {
                    let shape = self.grammar.shape(operation, slot);
                    self.value(shape, opening, start, end)
                }
                None => Fitted::one(opening.place, start, end, Fit::Text, score::TEXT),
            },
        }
    }

    fn value(&self, shape: &Shape, opening: Opening, start: usize, end: usize) -> Fitted {
        if shape.is_text() {
            return self.text(opening, start, end).up_to(end);
        }
        match self.closed(shape, start, end) {
            Some((start, end)) => {
                Fitted::one(opening.place, start, end, Fit::Closed, score::CLOSED)
            }
            None if self.is_pronoun(start, end) => {
                Fitted::one(opening.place, start, end, Fit::Pronoun, 0)
            }
            None => Fitted::one(opening.place, start, end, Fit::Misfit, score::MISFIT),
        }
    }

    /// The longest run from the first word on that has the form, without its determiner where that helps.
    fn closed(&self, shape: &Shape, start: usize, end: usize) -> Option<(usize, usize)> {
        let longest = |start: usize| {
            let fits = |end: &usize| self.fits(shape, start, *end);
            let most = shape.words_max.min(CLOSED_WORDS_MAX);
            (start + 1..=end.min(start + most)).rev().find(fits).map(|end| (start, end))
        };
        let without = || {
            let is_determiner = self.scan.class(start).has(Class::DETERMINER);
            (is_determiner && start + 1 < end).then(|| longest(start + 1)).flatten()
        };
        longest(start).or_else(without)
    }

    /// Whether words have the form of a value, and stand for what they say: the words of `-5` are `5`.
    pub(super) fn fits(&self, shape: &Shape, start: usize, end: usize) -> bool {
        let is_negative = || {
            let words = self.scan.words(start, end);
            let at = self.scan.message.span(words.start as usize).unwrap_or_default().start;
            let before = &self.scan.message.text()[..at];
            let sign = before.strip_suffix(['-', '−']);
            sign.is_some_and(|before| before.is_empty() || before.ends_with(char::is_whitespace))
        };
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
        let fits =
            is_whole && shape.fits(self.scan.text(start, end), self.locale) && !is_negative();
        self.memo.fits.borrow_mut().insert(key, fits);
        fits
    }

    fn ends_word(&self, end: usize) -> bool {
        self.scan.tokens.get(end).is_none_or(|token| token.starts_word)
    }

    fn text(&self, opening: Opening, start: usize, end: usize) -> Fitted {
        let (start, end) = self.quotation(start, end).unwrap_or((start, end));
        let is_article =
            |at: usize| opening.drops_article && self.scan.class(at).has(Class::DETERMINER);
        let start = if start + 1 < end && is_article(start) { start + 1 } else { start };
        if self.is_pronoun(start, end) {
            return Fitted::one(opening.place, start, end, Fit::Pronoun, score::PRONOUN);
        }
        if self.is_anything(start, end) {
            return Fitted::one(opening.place, start, end, Fit::Anything, score::PRONOUN);
        }
        let score = score::TEXT + self.doubts(start, end);
        Fitted::one(opening.place, start, end, Fit::Text, score)
    }

    /// The only quotation among words that say nothing beside it.
    fn quotation(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let tokens = &self.scan.tokens[start..end];
        let from = tokens.iter().position(|token| token.is_quoted)?;
        let to = tokens.iter().rposition(|token| token.is_quoted)?;
        let mut beside = (start..start + from).chain(start + to + 1..end);
        let says_nothing = |at: usize| self.scan.class(at).has(Class::DETERMINER.or(Class::FILLER));
        let is_one = tokens[from..=to].iter().all(|token| token.is_quoted);
        (is_one && beside.all(says_nothing)).then_some((start + from, start + to + 1))
    }

    /// Words that name a record, or stand for one.
    fn record(&self, workflow: usize, start: usize, end: usize) -> Fitted {
        let one = |start, end, fit, score| Fitted::one(Place::Target, start, end, fit, score);
        if self.is_pronoun(start, end) {
            return one(start, end, Fit::Pronoun, score::PRONOUN);
        }
        if self.is_anything(start, end) {
            return one(start, end, Fit::Anything, score::PRONOUN);
        }
        if let Some((start, end)) = self.known(workflow, start, end) {
            let words = i32::try_from(end - start).unwrap_or(1).min(self.names.words_max());
            return one(start, end, Fit::Known, score::KNOWN_WORD * words);
        }
        let mut bare = start;
        while bare + 1 < end && self.scan.class(bare).has(Class::DETERMINER) {
            bare += 1;
        }
        let all_nouns = (bare..end).all(|at| self.is_noun(workflow, at));
        if all_nouns && !self.scan.tokens[bare].is_quoted {
            // "the loan" names none by itself.
            return one(start, end, Fit::Pronoun, score::PRONOUN);
        }
        one(bare, end, Fit::Mention, score::TEXT + self.doubts(bare, end))
    }

    /// A name of a record in view: the words without determiners, or between the workflow's own words.
    fn known(&self, workflow: usize, start: usize, end: usize) -> Option<(usize, usize)> {
        let may_lead = |at: usize| {
            self.scan.class(at).has(Class::DETERMINER.or(Class::PREPOSITION))
                || self.is_noun(workflow, at)
        };
        let mut from = start;
        loop {
            let mut to = end;
            while from < to {
                let text = self.scan.text(from, to);
                if self.names.knows(self.grammar, workflow, text) {
                    return Some((from, to));
                }
                if !self.is_noun(workflow, to - 1) {
                    break;
                }
                to -= 1;
            }
            if from + 1 >= end || !may_lead(from) {
                return None;
            }
            from += 1;
        }
    }

    /// The names of several records in view, joined: "Emma and Ulysses". None where one of them is not in view, since
    /// the words may then be one name.
    pub(super) fn several(&self, workflow: usize, start: usize, end: usize) -> Vec<(usize, usize)> {
        let joints = self.scan.joints_within(start, end).iter();
        let cuts = joints.filter(|it| matches!(it.kind, JointKind::Soft | JointKind::Word));
        let mut names = Vec::new();
        let mut from = start;
        for to in cuts.map(|joint| joint.at).chain([end]) {
            let joins = |it: &Lexeme| it.class.has(Class::CONNECTIVE);
            while let Some(lexeme) = self.scan.lexeme_from(from, to).filter(joins) {
                from = lexeme.end;
            }
            if from < to {
                match self.known(workflow, from, to) {
                    Some(name) => names.push(name),
                    None => return Vec::new(),
                }
            }
            from = to;
        }
        names
    }

    /// Whether a token is a word of the workflow's own.
    pub(super) fn is_noun(&self, workflow: usize, at: usize) -> bool {
        self.scan.cues_at(at).any(|cue| self.language.vocabulary.is_of(cue, workflow))
    }

    fn is_pronoun(&self, start: usize, end: usize) -> bool {
        let lexeme = self.scan.lexeme_from(start, end);
        lexeme.is_some_and(|it| it.end == end && it.class.has(Class::PRONOUN))
    }

    fn is_anything(&self, start: usize, end: usize) -> bool {
        let mut at = start;
        let mut found = false;
        while let Some(lexeme) = self.scan.lexeme_from(at, end) {
            found |= lexeme.class.has(Class::ANYTHING);
            if !lexeme.class.has(Class::ANYTHING.or(Class::FILLER).or(Class::GLUE)) {
                return false;
            }
            at = lexeme.end;
        }
        found && at == end
    }

    /// What speaks against words being one value: function words and ends of clauses within them.
    fn doubts(&self, start: usize, end: usize) -> i32 {
        let is_plain = |at: &usize| !self.scan.tokens[*at].is_quoted;
        let function = Class::DETERMINER.or(Class::PREPOSITION);
        let words = (start..end).filter(is_plain).filter(|at| self.scan.class(*at).has(function));
        let words = i32::try_from(words.count()).unwrap_or(i32::MAX);
        let turns = Class::CORRECTION.or(Class::CANCELLATION).or(Class::HYPOTHETICAL);
        let turn = |at: usize| match self.scan.class(at) {
            class if class.has(Class::CONDITION) => score::IMPOSSIBLE,
            class if class.has(turns) => score::COMMA_WITHIN,
            _ => 0,
        };
        let joints = self.scan.joints_within(start, end).iter().map(|joint| match joint.kind {
            JointKind::Hard => score::IMPOSSIBLE,
            JointKind::Soft => score::COMMA_WITHIN + turn(joint.at),
            JointKind::Word => score::JOINING_WORD_WITHIN + turn(joint.at + 1),
            JointKind::Cue => turn(joint.at),
        });
        let is_told = |at: &usize| self.scan.class(*at).has(Class::REPORT);
        let told = if (start..end).filter(is_plain).any(|at| is_told(&at)) {
            score::TOLD_WITHIN
        } else {
            0
        };
        score::FUNCTION_WORD_WITHIN * words + joints.sum::<i32>() + told
    }
}

impl Fitted {
    fn one(place: Place, start: usize, end: usize, fit: Fit, score: i32) -> Self {
        Self { fills: vec![Fill { place, start, end, fit }], rest: end, score }
    }

    /// The same, where what follows the value up to a token says nothing of its own.
    fn up_to(self, rest: usize) -> Self {
        Self { rest, ..self }
    }

    fn then(mut self, other: Self) -> Self {
        self.fills.extend(other.fills);
        Self { fills: self.fills, rest: other.rest, score: self.score + other.score }
    }
}
