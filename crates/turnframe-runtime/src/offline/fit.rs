//! Which of the words at a place are its value.
//!
//! A value of a closed form (a number, a date, a choice) is the longest run of words that has that form, from the
//! first word on; what follows is left over. Any words are text.

use super::grammar::Shape;
use super::lexicon::Class;
use super::pattern::{Opening, Place};
use super::reader::{Owner, Reader};
use super::scan::JointKind;
use super::score;
use super::token::Break;

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
                Fitted::one(opening.place, start, end, Fit::Pronoun, -score::PRONOUN)
            }
            None => {
                let score = score::MISFIT + self.lost_sign(start);
                Fitted::one(opening.place, start, end, Fit::Misfit, score)
            }
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

    /// What speaks against words being one value: function words and ends of clauses within them.
    pub(super) fn doubts(&self, start: usize, end: usize) -> i32 {
        let is_plain = |at: &usize| !self.scan.tokens[*at].is_quoted;
        let function = Class::DETERMINER.or(Class::PREPOSITION);
        let words = (start..end).filter(is_plain).filter(|at| self.scan.class(*at).has(function));
        let words = i32::try_from(words.count()).unwrap_or(i32::MAX);
        let turns = Class::CORRECTION.or(Class::CANCELLATION).or(Class::HYPOTHETICAL);
        let is_joined = |at: usize| self.scan.tokens[at].before == Break::None;
        let turn = |at: usize| match self.scan.class(at) {
            class if class.has(Class::CONDITION) => score::IMPOSSIBLE,
            class if class.has(Class::CORRECTION) && !is_joined(at) => score::IMPOSSIBLE,
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
        let sign = self.lost_sign(start);
        let words = score::FUNCTION_WORD_WITHIN.saturating_mul(words);
        words.max(score::FUNCTION_WORDS_WITHIN_MIN) + joints.sum::<i32>() + told + sign
    }

    /// Rules out words whose sign is not among them: a pointer to the `5` of `-5` says something else.
    fn lost_sign(&self, start: usize) -> i32 {
        if self.is_signed(start) { score::IMPOSSIBLE } else { 0 }
    }
}

impl Fitted {
    pub(super) fn one(place: Place, start: usize, end: usize, fit: Fit, score: i32) -> Self {
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
