//! Clauses that name values only, for an operation that was said before them in the same message.
//!
//! "no, to Bob" puts a value right; "and Emma to Bob" asks for one more of the same. A value without a word that
//! introduces it is taken only where one place can be meant.

use super::clause::ClauseReader;
use super::fit::{Fill, Fit};
use super::grammar::{Meaning, Rule};
use super::lexicon::Class;
use super::matching::Match;
use super::pattern::Place;
use super::reading::{Operating, Reading, Relation};
use super::scan::Lexeme;
use super::score;

impl ClauseReader<'_> {
    /// Values that take the place of those said before.
    pub(super) fn amendment(
        &self,
        start: usize,
        end: usize,
        last: &Operating,
    ) -> Option<(Reading, i32)> {
        let introduced = self.values(start, end, last, |found| found.leaf.introduced > 0);
        let (fills, score) = match introduced {
            Some(found) => (found.leaf.fills, found.leaf.score),
            None => {
                let fill = self.bare_value(start, end, last)?;
                (vec![fill], score::SHORT_ACT)
            }
        };
        let kept = last.fills.iter().filter(|old| !fills.iter().any(|new| new.place == old.place));
        let fills = kept.chain(&fills).copied().collect();
        Some((said(fills, last, Relation::Amends), score))
    }

    /// Values for one more of the same: introduced as they were before, or of a form that leaves no doubt.
    pub(super) fn one_more(
        &self,
        start: usize,
        end: usize,
        last: &Operating,
    ) -> Option<(Reading, i32)> {
        let is_clear = |fill: &Fill| matches!(fill.fit, Fit::Closed | Fit::Known);
        let stands_for = self.lexemes(start, end).next().is_some_and(|it| {
            it.class.has(Class::ONE) && self.reader.scan.tokens[it.start].starts_word
        });
        let says_enough = |found: &Match| {
            let leaf = &found.leaf;
            // "Prejudice to Ada" after "lend Pride" is no second book: there was nobody to lend the first to.
            let was_said = |fill: &Fill| last.fills.iter().any(|it| it.place == fill.place);
            let is_parallel = leaf.fills.iter().all(was_said);
            let says_more = leaf.introduced > 0 && (leaf.fills.len() > 1 || stands_for);
            let is_all_clear = leaf.fills.iter().all(is_clear) && leaf.fills.iter().any(was_said);
            is_all_clear || (says_more && is_parallel)
        };
        let same = self.values(start, end, last, says_enough);
        let same =
            same.map(|found| (said(found.leaf.fills, last, Relation::OneMore), found.leaf.score));
        let other = self.same_verb(start, end, last);
        same.into_iter().chain(other).max_by_key(|(_, score)| *score)
    }

    /// Another operation that is asked for with the same verb, said once: "change the address to … and the name to
    /// …".
    fn same_verb(&self, start: usize, end: usize, last: &Operating) -> Option<(Reading, i32)> {
        let reader = &self.reader;
        let verb = last.head_at?;
        let has_verb = |rule: &&Rule| {
            let pattern = &rule.pattern;
            let vocabulary = &reader.language.vocabulary;
            let says_more = pattern.required.iter().skip(1).any(|it| !vocabulary.is_function(*it));
            pattern.is_head_first
                && says_more
                && !reader.scan.hits(pattern.head, verb, verb + 1).is_empty()
        };
        let mut best: Option<(Operating, i32)> = None;
        for rule in reader.language.rules.iter().filter(has_verb) {
            let Meaning::Operation(operation) = rule.meaning else { continue };
            let found = reader.lay_rest(rule, start, end);
            let Some(found) = found.filter(|it| is_whole(it) && it.leaf.missing == 0) else {
                continue;
            };
            let score = found.leaf.score;
            if best.as_ref().is_none_or(|(_, best)| score > *best) {
                let (workflow, fills) = (rule.workflow, found.leaf.fills);
                let said = Operating { operation, workflow, fills, ..last.clone() };
                best = Some((said, score));
            }
        }
        let (said, score) = best?;
        let relation = Relation::OneMore;
        Some((Reading::Operation(Operating { left_over: Vec::new(), relation, ..said }), score))
    }

    /// The best way of reading words as values of an operation, with nothing left over.
    fn values(
        &self,
        start: usize,
        end: usize,
        last: &Operating,
        says_enough: impl Fn(&Match) -> bool,
    ) -> Option<Match> {
        let of_last = |rule: &&Rule| rule.meaning == Meaning::Operation(last.operation);
        let mut best: Option<Match> = None;
        for rule in self.reader.language.rules.iter().filter(of_last) {
            let Some(found) = self.reader.lay_values(rule, start, end) else { continue };
            let is_better = best.as_ref().is_none_or(|best| found.leaf.score > best.leaf.score);
            if is_whole(&found) && is_better && says_enough(&found) {
                best = Some(found);
            }
        }
        best
    }

    /// A value that nothing introduces, and the only place where it can belong.
    fn bare_value(&self, start: usize, end: usize, last: &Operating) -> Option<Fill> {
        let (start, end) = self.value_words(start, end)?;
        let reader = &self.reader;
        let spec = &reader.grammar.operations[last.operation].spec;
        let closed = |slot: &usize| {
            let shape = reader.grammar.shape(last.operation, *slot);
            !shape.is_text() && reader.fits(shape, start, end)
        };
        let was_said = |place: Place| last.fills.iter().any(|fill| fill.place == place);
        let fitting: Vec<usize> = (0..spec.slots.len()).filter(closed).collect();
        let said: Vec<usize> =
            fitting.iter().copied().filter(|slot| was_said(Place::Slot(*slot))).collect();
        let fill = |place, fit| Some(Fill { place, start, end, fit });
        match (said.as_slice(), fitting.as_slice()) {
            ([slot], _) | ([], [slot]) => return fill(Place::Slot(*slot), Fit::Closed),
            ([], []) => {}
            _ => return None,
        }
        let is_free = |fill: &&Fill| matches!(fill.fit, Fit::Text | Fit::Known | Fit::Mention);
        let free: Vec<&Fill> = last.fills.iter().filter(is_free).collect();
        match free.as_slice() {
            [one] => fill(one.place, Fit::Mention).map(|fill| match one.place {
                Place::Target => fill,
                Place::Slot(_) | Place::Ignored => Fill { fit: Fit::Text, ..fill },
            }),
            _ => None,
        }
    }

    /// The words of a value without politeness and without what joins them to the clause before.
    fn value_words(&self, start: usize, end: usize) -> Option<(usize, usize)> {
        let edge = Class::FILLER.or(Class::STRONG).or(Class::CONNECTIVE).or(Class::DETERMINER);
        let start = self.after(start, end, edge);
        let mut end = end;
        while let Some(lexeme) = self.reader.scan.lexeme_to(start, end) {
            if !lexeme.class.has(edge) {
                break;
            }
            end = lexeme.start;
        }
        // A clause of its own is no value, and neither is what denies or asks.
        let odd = Class::NEGATION.or(Class::QUESTION).or(Class::HYPOTHETICAL).or(Class::CONDITION);
        let is_odd = |it: Lexeme| {
            it.class.has(odd.or(Class::PRONOUN)) || self.reader.scan.tokens[it.start].opens
        };
        let joints = self.reader.scan.joints_within(start, end);
        let is_value = start < end && joints.is_empty() && !self.lexemes(start, end).any(is_odd);
        is_value.then_some((start, end))
    }
}

/// Whether values were found, and nothing else was said.
fn is_whole(found: &Match) -> bool {
    let flags = found.leaf.flags;
    let is_plain = !flags.is_negated && !flags.is_reported && !flags.is_conditional;
    let fits = !found.has_misfit() && !found.is_ambiguous;
    is_plain && fits && found.leaf.left_over.ranges.is_empty() && !found.leaf.fills.is_empty()
}

fn said(fills: Vec<Fill>, last: &Operating, relation: Relation) -> Reading {
    Reading::Operation(Operating { fills, left_over: Vec::new(), relation, ..last.clone() })
}
