//! What must not be done.
//!
//! A prohibition is read generously: a word that is not understood makes no request, but it does not unmake a
//! prohibition either. Without an object it forbids every operation that its verb may mean.

use turnframe_core::id::OperationRef;
use turnframe_core::understanding::ProhibitionScope;

use super::clause::{Candidate, ClauseReader};
use super::fit::Fit;
use super::grammar::Meaning;
use super::lexicon::Class;
use super::reading::Reading;
use super::score;

/// The most words before or between the words of a phrase that are not understood.
const LEFT_OVER_MAX: usize = 3;
/// How far below the best another operation may be and still be meant.
const NEAR: i32 = 5;

impl ClauseReader<'_> {
    /// What a clause forbids.
    pub(super) fn prohibition(&self, start: usize, end: usize) -> Option<(Reading, i32)> {
        if !self.lexemes(start, end).any(|it| self.denies(it)) {
            return None;
        }
        let operations = self.forbidden(start, end);
        let broad = self.broad(start, end);
        // "don't send anything to the printer" forbids more than the one operation that sends things there.
        let is_of_anything = self.lexemes(start, end).any(|it| it.class.has(Class::ANYTHING));
        let (scope, score) = match (operations, broad) {
            (Some(operations), Some(broad)) if is_of_anything => {
                (broad.0, broad.1.max(operations.1))
            }
            (Some(operations), Some(broad)) if operations.1 >= broad.1 => operations,
            (_, Some(broad)) => broad,
            (operations, None) => operations?,
        };
        Some((Reading::Prohibition(scope), score))
    }

    /// The operations that are denied.
    fn forbidden(&self, start: usize, end: usize) -> Option<(ProhibitionScope, i32)> {
        let candidates = self.candidates(start, end);
        let denied: Vec<&Candidate<'_>> = candidates.iter().filter(|it| is_denied(it)).collect();
        let best = denied.iter().map(|it| weight(it)).max()?;
        let has_object = |it: &&Candidate<'_>| {
            let names = |fit: Fit| !matches!(fit, Fit::Anything | Fit::Pronoun);
            it.found.leaf.fills.iter().any(|fill| names(fill.fit))
        };
        let is_specific = denied.iter().any(has_object)
            && !denied.iter().any(|it| it.found.leaf.flags.is_of_anything);
        let near: Vec<_> = denied.iter().copied().filter(|it| weight(it) + NEAR >= best).collect();
        let mut operations: Vec<usize> =
            near.iter().filter_map(|it| operation(it.rule.meaning)).collect();
        if !is_specific {
            operations.extend(self.with_verb_of(&near, start, end));
        }
        operations.sort_unstable();
        operations.dedup();
        let offered = operations.iter().map(|index| &self.reader.grammar.operations[*index]);
        let names = offered.map(|it| OperationRef {
            workflow: it.workflow.clone(),
            operation: it.spec.key.clone(),
        });
        Some((ProhibitionScope::Operations(names.collect()), best))
    }

    /// Every operation that is asked for with the verb alone of one that is denied.
    fn with_verb_of(&self, denied: &[&Candidate<'_>], start: usize, end: usize) -> Vec<usize> {
        let scan = self.reader.scan;
        let is_verb_alone = |it: &&&Candidate<'_>| it.rule.pattern.required.len() == 1;
        let heads = denied.iter().filter(is_verb_alone).map(|it| it.rule.pattern.head);
        let verbs: Vec<usize> =
            heads.flat_map(|head| scan.hits(head, start, end).iter().map(|hit| hit.at)).collect();
        let has_verb = |head| scan.hits(head, start, end).iter().any(|hit| verbs.contains(&hit.at));
        let rules = self.reader.language.rules.iter().filter(|rule| !rule.pattern.is_vague);
        let same_verb = rules.filter(|rule| has_verb(rule.pattern.head));
        same_verb.filter_map(|rule| operation(rule.meaning)).collect()
    }

    /// "Don't send anything", "don't change anything".
    fn broad(&self, start: usize, end: usize) -> Option<(ProhibitionScope, i32)> {
        if self.reader.scan.tokens[end - 1].asks {
            return None;
        }
        let expected = Class::NEGATION
            .or(Class::ANYTHING)
            .or(Class::SUBMISSION)
            .or(Class::CHANGE)
            .or(Class::FUNCTION)
            .or(Class::REQUEST);
        let others = self.lexemes(start, end).filter(|it| !it.class.has(expected));
        let left_over: usize = others.map(|it| it.end - it.start).sum();
        let says = |class: Class| self.lexemes(start, end).any(|it| it.class.has(class));
        let anything = says(Class::ANYTHING);
        let mut denied = anything || self.reader.language.lexicon.is_verb_final;
        let mut changes = false;
        for lexeme in self.lexemes(start, end) {
            denied |= self.denies(lexeme);
            // The "do" of "don't" by itself changes nothing.
            changes |= denied && lexeme.class.has(Class::CHANGE);
        }
        let bonus = if anything { score::WORD / 2 } else { 0 };
        let cost = score::LEFT_OVER.saturating_mul(i32::try_from(left_over).unwrap_or(i32::MAX));
        let score = score::BROAD_PROHIBITION + bonus + cost;
        if says(Class::SUBMISSION) && left_over <= LEFT_OVER_MAX {
            return Some((ProhibitionScope::Submissions, score));
        }
        let everything = changes && left_over == 0;
        everything.then_some((ProhibitionScope::Everything, score))
    }
}

fn operation(meaning: Meaning) -> Option<usize> {
    match meaning {
        Meaning::Operation(operation) | Meaning::Name(operation) => Some(operation),
        Meaning::Topic(_) => None,
    }
}

fn is_denied(candidate: &Candidate<'_>) -> bool {
    let Candidate { rule, found } = candidate;
    let left_over = &found.leaf.left_over;
    operation(rule.meaning).is_some()
        && found.leaf.flags.is_negated
        && !found.leaf.flags.is_reported
        && left_over.before + left_over.between <= LEFT_OVER_MAX
        && left_over.after_word == 0
        && (!found.leaf.is_vague || found.has_evidence())
}

/// A missing value takes nothing from a prohibition.
fn weight(candidate: &Candidate<'_>) -> i32 {
    let missing = i32::try_from(candidate.found.leaf.missing).unwrap_or(i32::MAX);
    candidate.found.leaf.score - score::MISSING.saturating_mul(missing)
}
