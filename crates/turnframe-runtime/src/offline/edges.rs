//! Generic words at the edges of values and between the words of a phrase: what they say, and what is left over.

use super::fit::Fit;
use super::layout::{Gap, Layout, Said};
use super::leaf::{Flags, Leaf};
use super::lexicon::Class;
use super::pattern::{Opening, Part, Place};
use super::scan::Lexeme;
use super::score;
use super::token::Break;

/// Where words stand that no place takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Area {
    Before,
    Between,
    AfterWord,
    After,
}

impl Layout<'_> {
    /// The words of a gap that may be a value: without politeness at their edges, and without a negation, which
    /// speaks of the whole.
    pub(super) fn trimmed(&self, gap: Gap, part: &Part, flags: &mut Flags) -> (usize, usize) {
        let (mut start, mut end) = (gap.start, gap.end);
        if gap.after.is_none() && self.said == Said::Nothing {
            start = self.after_opening(gap, part);
        }
        let scan = self.reader.scan;
        while let Some(lexeme) = scan.lexeme_from(start, end) {
            // "and one to Bob"
            let stands_for = self.said == Said::Words && lexeme.class.has(Class::ONE);
            let is_edge = stands_for || self.is_edge(lexeme, end - start);
            if !is_edge || self.is_counted(lexeme, part) {
                break;
            }
            note(lexeme.class, flags);
            start = lexeme.end;
        }
        while let Some(lexeme) = scan.lexeme_to(start, end) {
            let joins = Class::CONNECTIVE.or(Class::DETERMINER);
            let is_whole = end - start == lexeme.end - lexeme.start;
            let stands_alone = lexeme.class.has(Class::PRONOUN) || self.takes_article(part);
            let hangs = lexeme.class.has(joins) && (!is_whole || !stands_alone);
            if !self.is_edge(lexeme, end - start) && !hangs {
                break;
            }
            note(lexeme.class, flags);
            end = lexeme.start;
        }
        (start, end)
    }

    /// Whether a lexeme at the edge of a value is none of it.
    fn is_edge(&self, lexeme: Lexeme, words: usize) -> bool {
        let class = lexeme.class;
        let is_whole = lexeme.end - lexeme.start == words;
        if class.has(Class::ANYTHING) {
            // "nothing" is the object, and the negation.
            return false;
        }
        // "what the due date of it is"
        let is_verb = self.owner.operation.is_none() && class.has(Class::AUXILIARY);
        (is_verb && !is_whole)
            || class.has(Class::FILLER.or(Class::NEGATION).or(Class::STRONG))
            || (class.has(Class::REMARK.or(Class::ADDITIVE)) && !is_whole)
    }

    /// Whether an article may be a value: "a" is a number.
    fn takes_article(&self, part: &Part) -> bool {
        let is_closed = |opening: &Opening| match (opening.place, self.owner.operation) {
            (Place::Slot(slot), Some(operation)) => {
                !self.reader.grammar.shape(operation, slot).is_text()
            }
            (Place::Slot(_) | Place::Target | Place::Ignored, _) => false,
        };
        part.openings.iter().any(is_closed)
    }

    /// Whether a lexeme before a number counts: "another copy".
    fn is_counted(&self, lexeme: Lexeme, part: &Part) -> bool {
        lexeme.class.has(Class::ONE) && part.openings.len() > 1
    }

    /// Where the value begins in the words before the first anchor: after the generic words that open a clause. A
    /// value of a closed form is looked for from the end, since it may consist of such words.
    fn after_opening(&self, gap: Gap, part: &Part) -> usize {
        let mut at = gap.start;
        // An article belongs to what follows it.
        let mut opened = gap.start;
        let mut ignored = Leaf::empty();
        while at < gap.end {
            let before = ignored.left_over.before;
            let is_article = self.reader.scan.class(at).has(Class::DETERMINER);
            let next = self.step(&mut ignored, at, gap.end, Area::Before);
            if ignored.left_over.before > before {
                return opened;
            }
            opened = if is_article { opened } else { next };
            at = next;
        }
        let opened = gap.end;
        let closed = |start: &usize| {
            let fitted = self.reader.divide(self.owner, &part.openings, *start, gap.end);
            fitted.is_some_and(|it| {
                it.rest == gap.end && it.fills.iter().all(|fill| fill.fit == Fit::Closed)
            })
        };
        let from = gap.start.max(gap.end.saturating_sub(4));
        (from..gap.end).find(closed).unwrap_or(opened)
    }

    /// Passes over words that no place takes.
    pub(super) fn pass(&self, leaf: &mut Leaf, gap: Gap, gaps: usize) {
        let area = match gap.after {
            None => Area::Before,
            Some(anchor) if anchor + 2 < gaps => Area::Between,
            Some(_) => Area::AfterWord,
        };
        let mut at = gap.start;
        while at < gap.end {
            at = self.step(leaf, at, gap.end, area);
        }
    }

    /// Passes over one lexeme and notes what it says. What says nothing generic is left over.
    pub(super) fn step(&self, leaf: &mut Leaf, at: usize, end: usize, area: Area) -> usize {
        let scan = self.reader.scan;
        let Some(lexeme) = scan.lexeme_from(at, end) else { return end };
        if !self.is_passed(lexeme, end, area) {
            let words = lexeme.end - lexeme.start;
            match area {
                Area::Before => leaf.left_over.before += words,
                Area::Between => leaf.left_over.between += words,
                Area::AfterWord => leaf.left_over.after_word += words,
                Area::After => leaf.left_over.after += words,
            }
            leaf.score += score::LEFT_OVER * i32::try_from(words).unwrap_or(i32::MAX);
            leaf.left_over.ranges.push((lexeme.start, lexeme.end));
            return lexeme.end;
        }
        note(lexeme.class, &mut leaf.flags);
        leaf.flags.is_of_anything |= lexeme.class.has(Class::ANYTHING);
        lexeme.end
    }

    fn is_passed(&self, lexeme: Lexeme, end: usize, area: Area) -> bool {
        let class = lexeme.class;
        let anywhere = Class::FILLER
            .or(Class::GLUE)
            .or(Class::DETERMINER)
            .or(Class::REQUEST)
            .or(Class::REPORT)
            .or(Class::ADDITIVE)
            .or(Class::HYPOTHETICAL)
            .or(Class::CONDITION)
            .or(Class::ANYTHING);
        // "no," answers something; "no copies" denies something.
        let pauses = self.reader.scan.tokens.get(lexeme.end);
        let pauses = lexeme.end < end && pauses.is_some_and(|next| next.before != Break::None);
        // After a value only a last word denies the whole: "by 2 weeks, not 3" does not.
        let is_last = || lexeme.end == end;
        let denies = class.has(Class::NEGATION)
            && !(class.has(Class::CORRECTION) && pauses)
            && (area != Area::After || is_last());
        let here = match area {
            Area::Before => class.has(Class::CONNECTIVE),
            Area::Between => class.has(Class::PRONOUN.or(Class::AUXILIARY)),
            Area::AfterWord | Area::After => {
                let is_question = self.owner.operation.is_none();
                class.has(Class::PRONOUN.or(Class::STRONG).or(Class::REMARK).or(Class::WEAK))
                    || (is_question && class.has(Class::AUXILIARY))
            }
        };
        let is_of_records = self.said == Said::Words
            && (class.has(Class::ONE) || self.reader.is_noun(self.owner.workflow, lexeme.start));
        if class.has(Class::NEGATION) && !class.has(Class::ANYTHING) {
            return denies;
        }
        denies || class.has(anywhere) || here || is_of_records
    }
}

fn note(class: Class, flags: &mut Flags) {
    flags.is_negated |= class.has(Class::NEGATION);
    flags.is_hypothetical |= class.has(Class::HYPOTHETICAL);
    flags.is_conditional |= class.has(Class::CONDITION);
    flags.is_reported |= class.has(Class::REPORT);
    flags.is_requested |= class.has(Class::REQUEST);
    flags.wants_gerund |= class.has(Class::GERUND);
    flags.replaces |= class.has(Class::STRONG);
    flags.adds |= class.has(Class::ADDITIVE);
}
