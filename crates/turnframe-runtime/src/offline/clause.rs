//! Reads one clause in every way there is and keeps the weightiest.
//!
//! An operation is accepted only where its mandatory words were said, where nothing stands before them that is
//! not understood ("refuse to renew it" is no request), and where no other operation fits as well. Everything
//! else is left unread, and the user is told.

use turnframe_core::id::{InteractionId, OptionId};
use turnframe_core::target::fold;
use turnframe_core::understanding::CardInView;

use super::fit::{Fit, Reader};
use super::form::{Form, Inflection};
use super::grammar::{Meaning, Rule};
use super::lexicon::Class;
use super::matching::Match;
use super::reading::{Asking, Clause, Operating, Reading, Relation};
use super::scan::{Break, Lexeme};
use super::score;

/// The most words between the words of a phrase that are part of nothing.
const BETWEEN_MAX: usize = 1;
/// The most words after a value that are part of nothing.
const AFTER_MAX: usize = 3;
/// The most words before a question that are part of nothing: a question changes nothing.
const BEFORE_QUESTION_MAX: usize = 2;
/// The most words of whom a greeting greets.
const ADDRESSEE_MAX: usize = 2;

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
        keep(self.prohibition(core, end));
        let marker = self.marker(core, end);
        if let Some(marker) = marker {
            let relation = if marker.is_strong { Relation::Replaces } else { Relation::Corrects };
            keep(self.phrases(marker.end, end, relation, last));
            keep(self.prohibition(marker.end, end));
            if let Some(last) = last {
                keep(self.amendment(marker.end, end, last));
                keep(self.taken_back(marker, end));
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
        lexeme.class.has(Class::NEGATION) && !(lexeme.class.has(Class::NO) && pauses)
    }

    /// Where the words of a class end that a range begins with.
    pub(super) fn after(&self, start: usize, end: usize, class: Class) -> usize {
        let mut at = start;
        while let Some(lexeme) = self.lexeme(at, end).filter(|it| it.class.has(class)) {
            at = lexeme.end;
        }
        at
    }

    fn lexeme(&self, at: usize, end: usize) -> Option<Lexeme> {
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

    /// Readings of a clause as a whole, by its generic words.
    fn short(&self, start: usize, end: usize, last: Option<&Operating>) -> Option<Reading> {
        if start == end {
            return Some(Reading::Filler);
        }
        if let Some((card, option)) = self.option(start, end) {
            return Some(Reading::Choice { card, option });
        }
        let beside = Class::FILLER.or(Class::CONNECTIVE).or(Class::REMARK);
        let all = |class: Class| self.lexemes(start, end).all(|it| it.class.has(class.or(beside)));
        let any = |class: Class| self.lexemes(start, end).any(|it| it.class.has(class));
        let is_all = |class: Class| all(class) && any(class);
        if is_all(Class::CANCELLATION) {
            // "cancel it" may also be what a workflow calls an operation, where there is nothing to call off.
            let is_weak = self.lexemes(start, end).all(|it| {
                it.class.has(Class::WEAK.or(Class::FILLER)) || !it.class.has(Class::CANCELLATION)
            });
            let is_free = last.is_none() && self.cards.is_empty();
            let names_another = || self.phrases(start, end, Relation::New, last).is_some();
            if !(is_weak && is_free && names_another()) {
                return Some(Reading::Cancellation);
            }
        }
        let is_filler =
            |it: Lexeme| it.class.has(Class::FILLER.or(Class::GLUE).or(Class::CONNECTIVE));
        if is_all(Class::YES) {
            let is_weak = |it: &Lexeme| it.class.has(Class::WEAK) || !it.class.has(Class::YES);
            return Some(Reading::Yes { is_weak: self.lexemes(start, end).all(|it| is_weak(&it)) });
        }
        if is_all(Class::NO) {
            return Some(Reading::No);
        }
        if self.is_remark(start, end) {
            return Some(Reading::Remark);
        }
        self.lexemes(start, end).all(is_filler).then_some(Reading::Filler)
    }

    /// A greeting, and perhaps whom it greets.
    fn is_remark(&self, start: usize, end: usize) -> bool {
        let Some(first) = self.lexeme(start, end).filter(|it| it.class.has(Class::REMARK)) else {
            return false;
        };
        let said = Class::REMARK.or(Class::FILLER).or(Class::GLUE).or(Class::CONNECTIVE);
        let others = self.lexemes(first.end, end).filter(|it| !it.class.has(said));
        let is_plain =
            |it: &Lexeme| it.class == Class::default() || it.class.has(Class::DETERMINER);
        let others: Vec<Lexeme> = others.collect();
        others.len() <= ADDRESSEE_MAX
            && others.iter().all(is_plain)
            && !others.iter().any(|it| self.reader.scan.tokens[it.start].opens)
    }

    /// The option whose words a clause is.
    fn option(&self, start: usize, end: usize) -> Option<(Option<InteractionId>, OptionId)> {
        if self.cards.is_empty() {
            return None;
        }
        let said = fold(self.reader.scan.text(start, end));
        let bare = self.without_edges(start, end);
        let bare = bare.map(|(start, end)| fold(self.reader.scan.text(start, end)));
        let mut found: Vec<(InteractionId, &OptionId)> = Vec::new();
        for card in self.cards {
            let is_label = |label: &str| {
                let label = fold(label.trim_matches(|it: char| !it.is_alphanumeric()));
                let is = |label: &str| label == said || bare.as_deref() == Some(label);
                let lexicon = self.reader.language.lexicon;
                let article = label.split_once(' ');
                let article =
                    article.filter(|(first, _)| lexicon.class(first).has(Class::DETERMINER));
                is(&label) || article.is_some_and(|(_, rest)| is(rest))
            };
            let named = card.options.iter().filter(|(_, label)| is_label(label));
            found.extend(named.map(|(option, _)| (card.id, option)));
        }
        match found.as_slice() {
            [(card, option)] => Some((Some(*card), (*option).clone())),
            [(_, option), others @ ..] if others.iter().all(|(_, other)| other == option) => {
                Some((None, (*option).clone()))
            }
            _ => None,
        }
    }

    fn without_edges(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let start = self.after(start, end, Class::FILLER.or(Class::DETERMINER));
        let mut end = end;
        while let Some(lexeme) = self.reader.scan.lexeme_to(start, end) {
            if !lexeme.class.has(Class::FILLER) {
                break;
            }
            end = lexeme.start;
        }
        (start < end).then_some((start, end))
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
    fn phrases(
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
            let Some(found) = self.reader.lay(rule, start, end, floor) else { continue };
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
        Some((reading_of(&best, relation)?, best.found.leaf.score))
    }

    fn mean_the_same(&self, one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
        one.rule.meaning == other.rule.meaning
            && self.reader.means_the_same(&one.found.leaf, &other.found.leaf)
    }

    /// Whether a phrase was said well enough to be acted upon.
    fn accepts(&self, candidate: &Candidate<'_>, range: (usize, usize), asks: bool) -> bool {
        let Candidate { rule, found } = candidate;
        let leaf = &found.leaf;
        let is_known = self.reader.language.lexicon.is_known;
        // A word between the words of a phrase may name another record than the one that is not named.
        let creates = |operation: usize| self.reader.grammar.operations[operation].spec.creates;
        let between = match rule.meaning {
            Meaning::Operation(operation) if is_known && creates(operation) => BETWEEN_MAX,
            Meaning::Topic(_) if is_known => BETWEEN_MAX,
            Meaning::Operation(_) | Meaning::Name(_) | Meaning::Topic(_) => 0,
        };
        let after = if is_known { AFTER_MAX } else { 0 };
        let is_covered = leaf.left_over.between <= between && leaf.left_over.after <= after;
        let is_weighty = leaf.score >= score::ACCEPTED_MIN;
        let speaks = !rule.pattern.is_vague || self.speaks_for_itself(candidate, range, asks);
        if !is_covered || !is_weighty || !speaks {
            return false;
        }
        match rule.meaning {
            Meaning::Operation(_) => {
                let misses = if rule.pattern.is_head_first { 1 } else { 0 };
                let flags = leaf.flags;
                let wonders = flags.is_hypothetical || flags.is_conditional;
                let is_free = wonders || (asks && !flags.is_requested) || flags.wants_gerund;
                leaf.left_over.before == 0
                    && leaf.missing <= misses
                    && !flags.is_negated
                    && !flags.is_reported
                    && (is_free || self.asks_for(leaf.head))
            }
            Meaning::Topic(_) => {
                let before = if is_known { BEFORE_QUESTION_MAX } else { 0 };
                leaf.left_over.before <= before
            }
            Meaning::Name(_) => false,
        }
    }

    /// Whether the form of a verb asks for something: "renew it" does, "renewed it" does not.
    fn asks_for(&self, head: Form) -> bool {
        self.reader.language.lexicon.inflection != Inflection::English || head == Form::Exact
    }

    /// Whether the values of a phrase that has only generic words leave no doubt.
    fn speaks_for_itself(
        &self,
        candidate: &Candidate<'_>,
        (start, _): (usize, usize),
        asks: bool,
    ) -> bool {
        let Candidate { rule, found } = candidate;
        let knows = found.leaf.fills.iter().any(|fill| fill.fit == Fit::Known);
        match rule.meaning {
            Meaning::Operation(_) => {
                found.has_evidence() && !found.has_misfit() && found.leaf.missing == 0
            }
            Meaning::Topic(_) => {
                let opens = self.reader.scan.class(start).has(Class::QUESTION.or(Class::AUXILIARY));
                found.leaf.missing == 0 && (knows || asks && (start == 0 || opens))
            }
            Meaning::Name(_) => false,
        }
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
    fn taken_back(&self, marker: Marker, end: usize) -> Option<(Reading, i32)> {
        let is_clear = marker.is_strong && marker.pauses && marker.end < end;
        let score = self.unread_score(marker.end, end) + score::SHORT_ACT / 2;
        is_clear.then_some((Reading::TakenBack, score))
    }
}

fn short_score(reading: &Reading, follows_act: bool) -> i32 {
    match reading {
        // After an act a no belongs to what follows it, if anything does.
        Reading::No if follows_act => -score::SHORT_ACT / 4,
        Reading::Choice { .. } => 2 * score::SHORT_ACT,
        Reading::Cancellation | Reading::Yes { .. } | Reading::No => score::SHORT_ACT,
        Reading::Remark => score::REMARK,
        Reading::Filler
        | Reading::Unread
        | Reading::TakenBack
        | Reading::Operation(_)
        | Reading::Question(_)
        | Reading::Prohibition(_) => 0,
    }
}

fn reading_of(candidate: &Candidate<'_>, relation: Relation) -> Option<Reading> {
    let Candidate { rule, found } = candidate;
    let (workflow, leaf) = (rule.workflow, &found.leaf);
    let (fills, left_over) = (leaf.fills.clone(), leaf.left_over.ranges.clone());
    match rule.meaning {
        Meaning::Operation(operation) => {
            let relation = if leaf.flags.replaces { Relation::Replaces } else { relation };
            let flags = leaf.flags;
            let said = Operating { operation, workflow, fills, flags, left_over, relation };
            Some(Reading::Operation(said))
        }
        Meaning::Topic(topic) => {
            Some(Reading::Question(Asking { topic, workflow, fills, left_over }))
        }
        Meaning::Name(_) => None,
    }
}
