//! Reads one clause in every way there is and keeps the weightiest.
//!
//! An operation is accepted only where its mandatory words were said, where nothing stands before them that is
//! not understood ("refuse to renew it" is no request), and where no other operation fits as well. Everything
//! else is left unread, and the user is told.

use turnframe_core::understanding::CardInView;

use super::grammar::{Meaning, Rule};
use super::lexicon::Class;
use super::matching::Match;
use super::pattern::Place;
use super::reader::Reader;
use super::reading::{Asking, Clause, Operating, Reading, Relation};
use super::scan::Lexeme;
use super::score;
use super::short::short_score;
use super::token::Break;

/// Reads the clauses of a message.
pub(super) struct ClauseReader<'c> {
    /// What they are read with.
    pub(super) reader: Reader<'c>,
    /// The rules whose words the message has.
    pub(super) rules: Vec<&'c Rule>,
    /// The open cards.
    pub(super) cards: &'c [CardInView],
}

/// A rule and how it lies over a clause.
pub(super) struct Candidate<'c> {
    pub(super) rule: &'c Rule,
    pub(super) found: Match,
}

/// Words that put right what was said before, at the beginning of a clause.
#[derive(Debug, Clone, Copy)]
struct Marker {
    /// Where what they introduce begins.
    end: usize,
    is_strong: bool,
    /// Whether a comma or its like follows them.
    pauses: bool,
}

impl<'c> ClauseReader<'c> {
    /// The weightiest reading of the tokens from `start` to `end`, after an operation said before.
    pub(super) fn read(&self, start: usize, end: usize, last: Option<&Operating>) -> Clause {
        let core = self.after(start, end, Class::CONNECTIVE);
        let joins = core > start;
        let clause = |reading, score| Clause { start, end, reading, score };
        if let Some(reading) = self.short(core, end, last) {
            let score = short_score(&reading, last.is_some());
            return clause(reading, score);
        }
        let mut best = self.unread(start, end);
        let mut keep = |candidate: Option<(Reading, i32)>| {
            if let Some((reading, score)) = candidate.filter(|(_, score)| *score > best.score) {
                best = clause(reading, score);
            }
        };
        keep(self.phrases(core, end, Relation::New, last));
        if joins && self.reader.scan.tokens[end - 1].asks {
            // "and the Emma loan?" may be how a workflow has itself asked.
            keep(self.phrases(start, end, Relation::New, last));
        }
        keep(self.prohibition(core, end));
        let marker = self.marker(core, end);
        if let Some(marker) = marker {
            let relation = if marker.is_strong { Relation::Replaces } else { Relation::Corrects };
            keep(self.phrases(marker.end, end, relation, last));
            keep(self.prohibition(marker.end, end));
            if let Some(last) = last {
                keep(self.amendment(marker.end, end, last));
                keep(self.taken_back(marker, start, end));
            }
        }
        let joins = joins || self.follows_comma(start);
        if let Some(last) = last.filter(|_| joins && marker.is_none()) {
            keep(self.one_more(core, end, last));
        }
        best
    }

    /// A clause that is not read.
    pub(super) fn unread(&self, start: usize, end: usize) -> Clause {
        let score = self.unread_score(start, end);
        Clause { start, end, reading: Reading::Unread, score }
    }

    fn follows_comma(&self, start: usize) -> bool {
        self.reader.scan.tokens[start].before == Break::Soft
    }

    /// Whether a lexeme denies something: the "no" of "no copies", not that of "no, copies".
    pub(super) fn denies(&self, lexeme: Lexeme) -> bool {
        let next = self.reader.scan.tokens.get(lexeme.end);
        let pauses = next.is_none_or(|next| next.before != Break::None);
        lexeme.class.has(Class::NEGATION) && !(lexeme.class.has(Class::CORRECTION) && pauses)
    }

    /// Where the words of a class end that a range begins with.
    pub(super) fn after(&self, start: usize, end: usize, class: Class) -> usize {
        let mut at = start;
        while let Some(lexeme) = self.lexeme(at, end).filter(|it| it.class.has(class)) {
            at = lexeme.end;
        }
        at
    }

    pub(super) fn lexeme(&self, at: usize, end: usize) -> Option<Lexeme> {
        self.reader.scan.lexeme_from(at, end)
    }

    /// The lexemes of a range.
    pub(super) fn lexemes(&self, start: usize, end: usize) -> impl Iterator<Item = Lexeme> {
        let mut at = start;
        std::iter::from_fn(move || {
            let lexeme = self.lexeme(at, end)?;
            at = lexeme.end;
            Some(lexeme)
        })
    }

    fn unread_score(&self, start: usize, end: usize) -> i32 {
        let counts = |it: &Lexeme| !it.class.has(Class::FILLER.or(Class::CONNECTIVE));
        let words = self.lexemes(start, end).filter(counts).map(|it| it.end - it.start);
        score::UNREAD.saturating_mul(i32::try_from(words.sum::<usize>()).unwrap_or(i32::MAX))
    }

    /// Every rule that lies over a range, however little it is worth.
    pub(super) fn candidates(&self, start: usize, end: usize) -> Vec<Candidate<'c>> {
        let lay = |rule: &&'c Rule| {
            let found = self.reader.lay(rule, start, end, i32::MIN);
            found.map(|found| Candidate { rule, found })
        };
        self.rules.iter().filter_map(lay).collect()
    }

    /// The most that any reading of a range can be worth.
    pub(super) fn hope(&self, start: usize, end: usize) -> i32 {
        let said = self.rules.iter().filter(|rule| self.reader.is_said(rule, start, end));
        let phrases = said.map(|rule| self.reader.hope(rule, start, end)).max();
        let least = (2 * score::SHORT_ACT).max(score::BROAD_PROHIBITION + score::WORD / 2);
        phrases.unwrap_or_default().max(least)
    }

    /// The weightiest operation or question that a range asks for.
    pub(super) fn phrases(
        &self,
        start: usize,
        end: usize,
        relation: Relation,
        last: Option<&Operating>,
    ) -> Option<(Reading, i32)> {
        if start >= end {
            return None;
        }
        let asks = self.reader.scan.tokens[end - 1].asks;
        let mut best: Option<Candidate<'c>> = None;
        let mut is_tied = false;
        for rule in &self.rules {
            // Two below the best may still be as good, by what is added below.
            let floor = best.as_ref().map_or(score::ACCEPTED_MIN, |it| it.found.leaf.score - 2);
            let Some(mut found) = self.reader.lay(rule, start, end, floor) else { continue };
            if rule.pattern.has_place(Place::Target) {
                self.reader.part_record(rule.workflow, &mut found.leaf);
            }
            let candidate = Candidate { rule, found };
            if !self.accepts(&candidate, (start, end), asks) {
                continue;
            }
            let weight = |it: &Candidate<'_>| {
                let is_question = matches!(it.rule.meaning, Meaning::Topic(_));
                let is_near = last.is_some_and(|last| last.workflow == it.rule.workflow);
                // What ends in a question mark is rather a question, and what was spoken of is spoken of still.
                it.found.leaf.score + i32::from(asks && is_question) + i32::from(is_near)
            };
            match best.as_ref().map(|best| weight(&candidate).cmp(&weight(best))) {
                None | Some(std::cmp::Ordering::Greater) => {
                    is_tied = candidate.found.is_ambiguous;
                    best = Some(candidate);
                }
                Some(std::cmp::Ordering::Equal) => {
                    let same =
                        best.as_ref().is_some_and(|best| self.mean_the_same(best, &candidate));
                    is_tied |= !same || candidate.found.is_ambiguous;
                }
                Some(std::cmp::Ordering::Less) => {}
            }
        }
        let best = best.filter(|_| !is_tied)?;
        let score = best.found.leaf.score;
        Some((reading_of(best, relation)?, score))
    }

    fn mean_the_same(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        one.rule.meaning == other.rule.meaning
            && self.reader.means_the_same(&one.found.leaf, &other.found.leaf)
    }

    /// Words at the beginning that put right what was said before.
    fn marker(&self, start: usize, end: usize) -> Option<Marker> {
        let beside = Class::FILLER.or(Class::CONNECTIVE).or(Class::NO).or(Class::REMARK);
        let mut marker = Marker { end: start, is_strong: false, pauses: false };
        let mut is_marked = false;
        while let Some(lexeme) = self.lexeme(marker.end, end) {
            let corrects = lexeme.class.has(Class::CORRECTION);
            let goes_on = is_marked && lexeme.class.has(beside);
            if !corrects && !goes_on {
                break;
            }
            is_marked |= corrects;
            marker.is_strong |= lexeme.class.has(Class::STRONG);
            marker.end = lexeme.end;
        }
        let next = self.reader.scan.tokens.get(marker.end);
        marker.pauses = next.is_some_and(|next| next.before != Break::None);
        is_marked.then_some(marker)
    }

    /// A correction that cannot be read still takes back what it corrects: doing what was just taken back would be
    /// worse than doing nothing.
    fn taken_back(&self, marker: Marker, start: usize, end: usize) -> Option<(Reading, i32)> {
        // "…, sorry, …" within a sentence is as clear as "no" after it.
        let is_strong = marker.is_strong || self.follows_comma(start);
        let is_clear = is_strong && marker.pauses && marker.end < end;
        let score = self.unread_score(marker.end, end) + score::SHORT_ACT / 2;
        is_clear.then_some((Reading::TakenBack, score))
    }
}

fn reading_of(candidate: Candidate<'_>, relation: Relation) -> Option<Reading> {
    let Candidate { rule, found } = candidate;
    let (workflow, leaf) = (rule.workflow, found.leaf);
    let (fills, left_over) = (leaf.fills, leaf.left_over.ranges);
    match rule.meaning {
        Meaning::Operation(operation) => {
            let (flags, head_at) = (leaf.flags, leaf.head_at);
            let relation = if flags.replaces { Relation::Replaces } else { relation };
            Some(Reading::Operation(Operating {
                operation,
                workflow,
                fills,
                flags,
                head_at,
                left_over,
                relation,
            }))
        }
        Meaning::Topic(topic) => {
            Some(Reading::Question(Asking { topic, workflow, fills, left_over }))
        }
        Meaning::Name(_) => None,
    }
}
