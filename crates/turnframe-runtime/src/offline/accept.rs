//! Which phrases were said well enough to be acted upon.

use super::clause::{Candidate, ClauseReader};
use super::fit::Fit;
use super::form::{Form, Inflection};
use super::grammar::{Meaning, Rule};
use super::lexicon::Class;
use super::score;

/// The most words between the words of a phrase that are part of nothing.
const BETWEEN_MAX: usize = 1;
/// The most words after a value that are part of nothing.
const AFTER_MAX: usize = 3;
/// The most words before a question that are part of nothing: a question changes nothing.
const BEFORE_QUESTION_MAX: usize = 2;

impl ClauseReader<'_> {
    /// Whether a phrase was said well enough to be acted upon.
    pub(super) fn accepts(
        &self,
        candidate: &Candidate<'_>,
        range: (usize, usize),
        asks: bool,
    ) -> bool {
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
        let is_covered = is_covered && leaf.left_over.after_word <= between * AFTER_MAX;
        let is_weighty = leaf.score >= score::ACCEPTED_MIN;
        let speaks = !leaf.is_vague || self.speaks_for_itself(candidate, range, asks);
        if !is_covered || !is_weighty || !speaks {
            return false;
        }
        match rule.meaning {
            Meaning::Operation(operation) => {
                let misses = if rule.pattern.is_head_first { 1 } else { 0 };
                let flags = leaf.flags;
                let wonders = flags.is_hypothetical || flags.is_conditional;
                let is_free = wonders || (asks && !flags.is_requested) || flags.wants_gerund;
                // Words that are left may name another record than the one that is not named.
                let names = found.names_record() || creates(operation);
                let is_clear = names || leaf.left_over.after == 0;
                is_clear
                    && leaf.left_over.before == 0
                    && leaf.missing <= misses
                    && !flags.is_negated
                    && !flags.is_reported
                    && (is_free || self.asks_for(rule, leaf.head))
            }
            Meaning::Topic(_) => {
                let before = if is_known { BEFORE_QUESTION_MAX } else { 0 };
                leaf.left_over.before <= before && !leaf.is_unnamed
            }
            Meaning::Name(_) => false,
        }
    }

    /// Whether the form of a verb asks for something: "renew it" does, "renewed it" does not. A phrase that tells
    /// how things are to be may do so of several: "she pays", "they pay".
    fn asks_for(&self, rule: &Rule, head: Form) -> bool {
        let is_statement = !rule.pattern.is_head_first && head == Form::Inflected;
        let inflection = self.reader.language.lexicon.inflection;
        inflection != Inflection::English || head == Form::Exact || is_statement
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
}
