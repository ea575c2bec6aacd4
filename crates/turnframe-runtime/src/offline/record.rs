//! Words that name a record, or stand for one.
//!
//! A name of a record in view is recognised where it stands alone, without its article, or between words that the
//! workflow itself has for its records. Nothing is matched half: what is no name as a whole is passed on as it is,
//! and whether it names anything is for the turn to say (I8).

use super::fit::{Fill, Fit, Fitted};
use super::leaf::{Leaf, LeftOver};
use super::lexicon::Class;
use super::pattern::Place;
use super::reader::Reader;
use super::scan::{JointKind, Lexeme};
use super::score;

impl Reader<'_> {
    /// Words that name a record, or stand for one.
    pub(super) fn record(&self, workflow: usize, start: usize, end: usize) -> Fitted {
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
        let all_nouns = (bare..end).all(|at| self.is_record_noun(workflow, at));
        if all_nouns && !self.scan.tokens[bare].is_quoted {
            // "the loan" names none by itself.
            return one(start, end, Fit::Pronoun, score::PRONOUN);
        }
        let joints = self.scan.joints_within(bare, end).iter();
        let commas = joints.filter(|joint| joint.kind == JointKind::Soft).count();
        let commas = i32::try_from(commas).unwrap_or(i32::MAX);
        let doubts = self.doubts(bare, end).saturating_add(score::COMMA_WITHIN_NAME * commas);
        one(bare, end, Fit::Mention, score::TEXT + doubts)
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

    /// Whether a token is what the workflow calls its records.
    fn is_record_noun(&self, workflow: usize, at: usize) -> bool {
        self.scan.cues_at(at).any(|cue| self.language.vocabulary.names_records(cue, workflow))
    }

    pub(super) fn is_pronoun(&self, start: usize, end: usize) -> bool {
        let lexeme = self.scan.lexeme_from(start, end);
        lexeme.is_some_and(|it| it.end == end && it.class.has(Class::PRONOUN))
    }

    pub(super) fn is_anything(&self, start: usize, end: usize) -> bool {
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

    /// Finds the name of a record in view at the end of a text, or in what is left after a value, where the phrase has a place for a record and none
    /// was said: "change the address to 5 Hill Road for Emma".
    pub(super) fn part_record(&self, workflow: usize, leaf: &mut Leaf) {
        if leaf.fills.iter().any(|fill| fill.place == Place::Target) {
            return;
        }
        let Leaf { fills, left_over, .. } = leaf;
        let name = |at: usize, end: usize| {
            let introduces = self.scan.class(at).has(Class::PREPOSITION);
            introduces.then(|| self.known(workflow, at + 1, end)).flatten()
        };
        if let [(at, end)] = left_over.ranges[..]
            && let Some((start, end)) = name(at, end)
        {
            *left_over = LeftOver::default();
            fills.push(Fill { place: Place::Target, start, end, fit: Fit::Known });
            return;
        }
        let is_text = |fill: &&mut Fill| fill.fit == Fit::Text;
        let Some(text) = fills.iter_mut().filter(is_text).max_by_key(|fill| fill.end) else {
            return;
        };
        let end = text.end;
        let places = text.start + 1..end.saturating_sub(1);
        if let Some((at, (start, end))) = places.clone().find_map(|at| Some((at, name(at, end)?))) {
            text.end = at;
            fills.push(Fill { place: Place::Target, start, end, fit: Fit::Known });
            return;
        }
        // "for the Atlas loan": a record by the workflow's own word for it, though none in view.
        let is_noun = |at: usize| self.is_record_noun(workflow, at);
        let introduces = |at: &usize| {
            self.scan.class(*at).has(Class::PREPOSITION)
                && self.scan.class(*at + 1).has(Class::DETERMINER)
        };
        if let Some(at) = places.filter(introduces).find(|_| is_noun(end - 1)) {
            text.end = at;
            fills.extend(self.record(workflow, at + 1, end).fills);
        }
    }
}
