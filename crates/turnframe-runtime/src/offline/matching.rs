//! Finds the best way of laying a pattern over the words of a clause.
//!
//! A depth-first search over the places where its words stand, cut off where what is left cannot beat what was
//! found. Two different ways of equal weight are no way: the words are ambiguous, and nothing is guessed.

use turnframe_core::target::fold;

use super::fit::Fit;
use super::form::Form;
use super::grammar::{Meaning, Rule};
use super::layout::{Layout, Said};
use super::leaf::{Anchor, Leaf};
use super::lexicon::Class;
use super::pattern::{PARTS_MAX, Part, PartKind, Pattern, Place};
use super::reader::{Owner, Reader};
use super::score;

/// The most layouts that are weighed for a pattern and a clause.
const LAYOUTS_MAX: usize = 64;
/// The most words after which a date is one.
const DATE_START_WORDS_MAX: usize = 3;
/// The most places where the words of a part are looked for.
const OCCURRENCES_MAX: usize = 4;

/// The best layout of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    /// The layout.
    pub(super) leaf: Leaf,
    /// Whether another of equal weight has other values.
    pub(super) is_ambiguous: bool,
}

struct Search<'s> {
    rule: &'s Rule,
    layout: Layout<'s>,
    anchors: Vec<Anchor>,
    /// Per group, whether it was said; unknown until its first part is reached.
    groups: Vec<Option<bool>>,
    /// The most that each part can add.
    hopes: [i32; PARTS_MAX],
    /// The sum of these.
    all: i32,
    /// What a layout has to weigh at least.
    floor: i32,
    best: Option<Match>,
    weighed: usize,
}

/// How far a search has come.
#[derive(Clone, Copy)]
struct Progress {
    /// The next part.
    part: usize,
    /// Where the next word of the phrase itself may stand.
    ordered: usize,
    /// The most that the parts left out could have added.
    lost: i32,
}

impl Reader<'_> {
    /// Lays a rule's pattern over a clause. A layout that weighs less than `floor` is none.
    pub(super) fn lay(&self, rule: &Rule, start: usize, end: usize, floor: i32) -> Option<Match> {
        let said = Said::Nothing;
        self.is_said(rule, start, end).then(|| self.search(rule, (start, end), said, floor))?
    }

    /// Whether all mandatory words of a rule stand in a range.
    pub(super) fn is_said(&self, rule: &Rule, start: usize, end: usize) -> bool {
        let said = |cue| !self.scan.hits(cue, start, end).is_empty();
        start < end && rule.pattern.required.iter().all(|cue| said(*cue))
    }

    /// Lays a rule's pattern over words that name values only, its mandatory words having been said before.
    pub(super) fn lay_values(&self, rule: &Rule, start: usize, end: usize) -> Option<Match> {
        (start < end).then(|| self.search(rule, (start, end), Said::Words, 1))?
    }

    /// Lays a rule's pattern over words that go on after its first one, which was said before.
    pub(super) fn lay_rest(&self, rule: &Rule, start: usize, end: usize) -> Option<Match> {
        let mut rest = rule.pattern.required.iter().skip(1);
        let is_said = start < end && rest.all(|cue| !self.scan.hits(*cue, start, end).is_empty());
        is_said.then(|| self.search(rule, (start, end), Said::Head, score::ACCEPTED_MIN))?
    }

    /// The most that a rule can be worth over a range.
    pub(super) fn hope(&self, rule: &Rule, start: usize, end: usize) -> i32 {
        let hope = |part: &Part| self.hope_of(rule, part, start, end);
        rule.pattern.parts.iter().map(hope).fold(0, i32::saturating_add)
    }

    fn search(
        &self,
        rule: &Rule,
        (start, end): (usize, usize),
        said: Said,
        floor: i32,
    ) -> Option<Match> {
        let operation = match rule.meaning {
            Meaning::Operation(operation) => Some(operation),
            Meaning::Name(_) | Meaning::Topic(_) => None,
        };
        let owner = Owner { operation, workflow: rule.workflow };
        let pattern = &rule.pattern;
        let layout = Layout { reader: *self, pattern, owner, start, end, said };
        let mut search = Search {
            rule,
            layout,
            anchors: Vec::with_capacity(pattern.parts.len()),
            groups: vec![None; pattern.groups],
            hopes: [0; PARTS_MAX],
            all: 0,
            floor,
            best: None,
            weighed: 0,
        };
        for (hope, part) in search.hopes.iter_mut().zip(&pattern.parts) {
            *hope = self.hope_of(rule, part, start, end);
            search.all = search.all.saturating_add(*hope);
        }
        search.groups[0] = Some(true);
        search.place(Progress { part: 0, ordered: start, lost: 0 });
        // What was not looked at may be as good.
        let is_cut_off = search.weighed >= LAYOUTS_MAX;
        let best = search.best?;
        Some(Match { is_ambiguous: best.is_ambiguous || is_cut_off, ..best })
    }

    /// The most that a part can add to the worth of a rule over a range.
    fn hope_of(&self, rule: &Rule, part: &Part, start: usize, end: usize) -> i32 {
        let is_said = |cue| !self.scan.hits(cue, start, end).is_empty();
        let is_date = || self.takes_bare_date(rule, part);
        if !part.cues.iter().all(|cue| is_said(*cue)) && !is_date() {
            return 0;
        }
        let value = |place: Place| match (place, rule.meaning) {
            (Place::Target, _) => score::KNOWN_WORD * self.names.words_max().max(1),
            (Place::Slot(slot), Meaning::Operation(operation)) => {
                let is_text = self.grammar.shape(operation, slot).is_text();
                if is_text { score::TEXT } else { score::CLOSED }
            }
            (Place::Slot(_) | Place::Ignored, _) => score::TEXT,
        };
        let values: i32 = part.openings.iter().map(|opening| value(opening.place)).sum();
        let words = match part.kind {
            PartKind::Words if part.group == 0 => score::WORD,
            PartKind::Words => score::OPTIONAL_WORD,
            PartKind::Introduced => score::INTRODUCTION,
            PartKind::Bare { .. } => 0,
        };
        values.saturating_add(words)
    }

    /// Whether a part is a date that can do without the word before it.
    fn takes_bare_date(&self, rule: &Rule, part: &Part) -> bool {
        let ([opening], [cue]) = (part.openings.as_slice(), part.cues.as_slice()) else {
            return false;
        };
        match (opening.place, rule.meaning) {
            (Place::Slot(slot), Meaning::Operation(operation)) => {
                self.grammar.shape(operation, slot).is_date()
                    && self.language.vocabulary.introduces_dates(*cue)
            }
            (Place::Slot(_) | Place::Target | Place::Ignored, _) => false,
        }
    }
}

impl<'s> Search<'s> {
    /// Places the parts that are left.
    fn place(&mut self, at: Progress) {
        if self.weighed >= LAYOUTS_MAX || self.is_hopeless(at) {
            return;
        }
        let pattern: &'s Pattern = self.layout.pattern;
        let Some(part) = pattern.parts.get(at.part) else { return self.weigh() };
        let next = Progress { part: at.part + 1, ..at };
        let without = Progress { lost: at.lost.saturating_add(self.hopes[at.part]), ..next };
        let was_said = part.group == 0
            && match self.layout.said {
                Said::Nothing => false,
                Said::Head => at.part == 0,
                Said::Words => true,
            };
        match (&part.kind, self.groups[part.group]) {
            (PartKind::Bare { .. }, _) => self.place(next),
            (_, Some(false)) => self.place(without),
            (PartKind::Words, Some(true)) if was_said => self.place(without),
            (PartKind::Words, Some(true)) => self.place_at_each(part, at),
            (PartKind::Introduced, Some(true)) => {
                self.place_at_each(part, at);
                if part.group == 0 {
                    self.place_without_words(part, at);
                    self.place(without);
                }
            }
            (PartKind::Words | PartKind::Introduced, None) => {
                self.groups[part.group] = Some(true);
                self.place_at_each(part, at);
                self.place_without_words(part, at);
                self.groups[part.group] = Some(false);
                self.place(without);
                self.groups[part.group] = None;
            }
        }
    }

    /// Whether even the best of what is left stays behind what was found.
    fn is_hopeless(&self, at: Progress) -> bool {
        let found = self.best.as_ref().map_or(self.floor, |best| best.leaf.score);
        self.all.saturating_sub(at.lost) < found
    }

    fn place_at_each(&mut self, part: &Part, at: Progress) {
        let from = if part.is_ordered { at.ordered } else { self.layout.start };
        let scan = self.layout.reader.scan;
        let hits = scan.hits(part.cues[0], from, self.layout.end);
        for hit in hits.iter().take(OCCURRENCES_MAX) {
            let Some((end, form)) = self.follow(part, hit.at, hit.form) else { continue };
            let overlaps = |other: &Anchor| other.start < end && hit.at < other.end;
            if self.anchors.iter().any(overlaps) {
                continue;
            }
            self.anchors.push(Anchor { part: at.part, start: hit.at, end, form });
            let ordered = if part.is_ordered { end } else { at.ordered };
            self.place(Progress { part: at.part + 1, ordered, ..at });
            self.anchors.pop();
        }
    }

    /// Where the words of a part end that begin at a token. An article may stand between them.
    fn follow(&self, part: &Part, at: usize, form: Form) -> Option<(usize, Form)> {
        let Layout { reader, end, .. } = self.layout;
        let skipped = Class::DETERMINER.or(Class::FILLER);
        let (mut next, mut form) = (at + 1, form);
        for cue in &part.cues[1..] {
            let hit = |at: usize| {
                (at < end).then(|| reader.scan.hits(*cue, at, at + 1).first().copied()).flatten()
            };
            let after = || (next < end && reader.scan.class(next).has(skipped)).then_some(next + 1);
            let found = hit(next).or_else(|| after().and_then(hit))?;
            next = found.at + 1;
            form = form.max(found.form);
        }
        Some((next, form))
    }

    /// Places a date whose preposition was left out: "lend Dune tomorrow". Only where one place of the phrase can
    /// be meant.
    fn place_without_words(&mut self, part: &Part, at: Progress) {
        let Layout { reader, pattern, start, end, .. } = self.layout;
        let is_date = |part: &Part| reader.takes_bare_date(self.rule, part);
        let is_introduced = || !reader.scan.hits(part.cues[0], start, end).is_empty();
        if !is_date(part) || is_introduced() {
            return;
        }
        if pattern.parts.iter().filter(|other| is_date(other)).count() != 1 {
            return;
        }
        for date in reader.dates().iter().copied().filter(|date| (start + 1..end).contains(date)) {
            let covers = |other: &Anchor| other.start <= date && date < other.end;
            if self.anchors.iter().any(covers) {
                continue;
            }
            let (start, end) = (date, date);
            self.anchors.push(Anchor { part: at.part, start, end, form: Form::Exact });
            self.place(Progress { part: at.part + 1, ..at });
            self.anchors.pop();
        }
    }

    fn weigh(&mut self) {
        self.weighed += 1;
        let floor = self.floor;
        let leaf = self.layout.weigh(&self.anchors).filter(|leaf| leaf.score >= floor);
        let Some(leaf) = leaf else { return };
        match &mut self.best {
            Some(best) if leaf.score < best.leaf.score => {}
            Some(best) if leaf.score == best.leaf.score => {
                best.is_ambiguous |= !self.layout.reader.means_the_same(&best.leaf, &leaf);
            }
            _ => self.best = Some(Match { leaf, is_ambiguous: false }),
        }
    }
}

impl Reader<'_> {
    /// Whether two layouts have the same values.
    pub(super) fn means_the_same(&self, one: &Leaf, other: &Leaf) -> bool {
        let value = |leaf: &Leaf, place: Place| {
            let fill = leaf.fills.iter().find(|fill| fill.place == place);
            fill.map(|fill| fold(self.scan.text(fill.start, fill.end)))
        };
        let places = one.fills.iter().chain(&other.fills).map(|fill| fill.place);
        places.into_iter().all(|place| value(one, place) == value(other, place))
            && one.flags.is_negated == other.flags.is_negated
    }

    /// Where in the message a date begins.
    fn dates(&self) -> &[usize] {
        self.memo.dates.get_or_init(|| {
            let end = self.scan.tokens.len();
            let shape = super::grammar::Shape::date();
            let begins = |at: &usize| {
                let longest = end.min(*at + DATE_START_WORDS_MAX);
                (*at + 1..=longest).any(|to| self.fits(&shape, *at, to))
            };
            let mut dates: Vec<usize> = Vec::new();
            for at in (0..end).filter(|at| !self.scan.tokens[*at].is_quoted).filter(begins) {
                // "3 May 2027" also holds a date from "May" on.
                if dates.last().is_none_or(|last| *last + 1 < at) {
                    dates.push(at);
                }
            }
            dates
        })
    }
}

impl Match {
    /// Whether a value fits so well that it speaks for the phrase by itself.
    pub(super) fn has_evidence(&self) -> bool {
        let fits = |fit: Fit| matches!(fit, Fit::Closed | Fit::Known);
        self.leaf.fills.iter().any(|fill| fits(fill.fit))
    }

    /// Whether words name the record that is meant.
    pub(super) fn names_record(&self) -> bool {
        let names = |fit: Fit| matches!(fit, Fit::Known | Fit::Mention);
        self.leaf.fills.iter().any(|fill| fill.place == Place::Target && names(fill.fit))
    }

    /// Whether a value does not have the form that its place wants.
    pub(super) fn has_misfit(&self) -> bool {
        self.leaf.fills.iter().any(|fill| fill.fit == Fit::Misfit)
    }
}
