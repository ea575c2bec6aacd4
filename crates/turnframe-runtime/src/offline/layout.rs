//! One way of laying a pattern over the words of a clause: which place takes which words, and what that is worth.

use super::edges::Area;
use super::fit::{Fill, Fit, Fitted};
use super::form::Form;
use super::leaf::{Anchor, Flags, Leaf, LeftOver};
use super::lexicon::Class;
use super::pattern::{Opening, Part, PartKind, Pattern, Place};
use super::reader::{Owner, Reader};
use super::score;

/// How much of a phrase was said before a clause that goes on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing: the clause says it all.
    Nothing,
    /// Its first word: "change the address to … and the name to …".
    Head,
    /// All its mandatory words: the clause names values only.
    Words,
}

/// A pattern being laid over the tokens of a clause.
#[derive(Clone, Copy)]
pub(super) struct Layout<'l> {
    /// What it is read with.
    pub(super) reader: Reader<'l>,
    /// The pattern.
    pub(super) pattern: &'l Pattern,
    /// Whose pattern it is.
    pub(super) owner: Owner,
    /// The first token of the clause.
    pub(super) start: usize,
    /// One past its last token.
    pub(super) end: usize,
    /// What of the phrase was said before the clause.
    pub(super) said: Said,
}

/// Words between two anchors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The anchor before it; none before the first.
    pub(super) after: Option<usize>,
}

impl Layout<'_> {
    /// Weighs anchors. None where they contradict each other.
    pub(super) fn weigh(&self, anchors: &[Anchor]) -> Option<Leaf> {
        let mut sorted: Vec<Anchor> = anchors.to_vec();
        sorted.sort_unstable_by_key(|anchor| (anchor.start, anchor.end));
        let gaps = self.gaps(&sorted);
        let mut leaf = Leaf {
            score: sorted.iter().map(|anchor| self.weight(anchor)).sum(),
            fills: Vec::new(),
            flags: Flags::default(),
            left_over: LeftOver::default(),
            missing: 0,
            is_unnamed: false,
            is_vague: self.is_vague(&sorted),
            introduced: 0,
            head: self.head(&sorted).map_or(Form::Exact, |anchor| anchor.form),
            head_at: self.head(&sorted).map(|anchor| anchor.start),
        };
        let owners = self.owners(&sorted, &gaps);
        let displaced = self.displaced(&owners, &gaps);
        for (index, (gap, owner)) in gaps.iter().zip(&owners).enumerate() {
            match owner {
                Some(part) => {
                    let after = displaced.filter(|(at, _)| *at == index).map(|(_, part)| part);
                    self.take(&mut leaf, *gap, *part, after)?;
                }
                None => self.pass(&mut leaf, *gap, gaps.len()),
            }
        }
        self.count_missing(&mut leaf, &owners, displaced.map(|(_, part)| part));
        if self.repeats_an_introduction(&leaf, &sorted) {
            return None;
        }
        leaf.score +=
            self.crossings(&leaf) + self.swallowed(&leaf, &sorted) + self.infinitives(&sorted);
        (leaf.score > score::IMPOSSIBLE / 2).then_some(leaf)
    }

    fn gaps(&self, sorted: &[Anchor]) -> Vec<Gap> {
        let ends = sorted.iter().map(|anchor| anchor.end);
        let starts = sorted.iter().map(|anchor| anchor.start).chain([self.end]);
        let after = std::iter::once(None).chain((0..sorted.len()).map(Some));
        let bounds = std::iter::once(self.start).chain(ends).zip(starts).zip(after);
        bounds.map(|((start, end), after)| Gap { start, end: end.max(start), after }).collect()
    }

    fn weight(&self, anchor: &Anchor) -> i32 {
        let part = &self.pattern.parts[anchor.part];
        if part.kind == PartKind::Introduced {
            let is_bare = anchor.start == anchor.end;
            return if is_bare { score::BARE_DATE } else { score::INTRODUCTION };
        }
        if part.group != 0 {
            return score::OPTIONAL_WORD;
        }
        let word = if self.is_function(anchor) { score::FUNCTION_WORD } else { score::WORD };
        if anchor.form == Form::Exact { word } else { word + score::INFLECTED }
    }

    /// Whether the words that were said are of no domain: of "is" and "starts" only the one is.
    fn is_function(&self, anchor: &Anchor) -> bool {
        let is_generic = |at: usize| self.reader.scan.tokens[at].alone.has(Class::FUNCTION);
        (anchor.start..anchor.end).all(is_generic)
    }

    /// Whether nothing that had to be said is of a domain.
    fn is_vague(&self, sorted: &[Anchor]) -> bool {
        let is_mandatory = |anchor: &&Anchor| {
            let part = &self.pattern.parts[anchor.part];
            part.group == 0 && part.kind == PartKind::Words
        };
        sorted.iter().filter(is_mandatory).all(|anchor| self.is_function(anchor))
    }

    fn head<'a>(&self, sorted: &'a [Anchor]) -> Option<&'a Anchor> {
        let of_head =
            |anchor: &&Anchor| self.pattern.parts[anchor.part].cues.contains(&self.pattern.head);
        sorted.iter().find(of_head)
    }

    /// Which part takes the words of each gap.
    fn owners(&self, sorted: &[Anchor], gaps: &[Gap]) -> Vec<Option<usize>> {
        let parts = &self.pattern.parts;
        let introduced = |gap: &Gap| {
            let part = sorted[gap.after?].part;
            (parts[part].kind == PartKind::Introduced).then_some(part)
        };
        let mut owners: Vec<Option<usize>> = gaps.iter().map(introduced).collect();
        for (index, part) in parts.iter().enumerate() {
            let PartKind::Bare { after, leads } = &part.kind else { continue };
            let is_said = |anchor: &Anchor| parts[anchor.part].group == part.group;
            if part.group != 0 && !sorted.iter().any(is_said) {
                continue;
            }
            let follows = |gap: &Gap| match gap.after {
                None => *leads || self.said != Said::Nothing,
                Some(anchor) => after.contains(&sorted[anchor].part),
            };
            let free = |at: &usize| owners[*at].is_none() && follows(&gaps[*at]);
            let has_words = |at: &usize| {
                let (start, end) = self.trimmed(gaps[*at], part, &mut Flags::default());
                start < end
            };
            let taken = (0..gaps.len()).rev().filter(free).find(has_words);
            if let Some(gap) = taken {
                owners[gap] = Some(index);
            }
        }
        owners
    }

    /// A place without words that found none where it looks for them, and the gap whose closed value they follow:
    /// "lend until Friday Dune".
    fn displaced(&self, owners: &[Option<usize>], gaps: &[Gap]) -> Option<(usize, usize)> {
        let parts = &self.pattern.parts;
        let is_open = |(index, part): &(usize, &Part)| {
            matches!(part.kind, PartKind::Bare { .. })
                && part.group == 0
                && !owners.contains(&Some(*index))
        };
        let (bare, _) = parts.iter().enumerate().find(is_open)?;
        let fits = |gap: &usize| {
            let Some(part) = owners[*gap].map(|part| &parts[part]) else { return false };
            let openings = [part.openings.as_slice(), &parts[bare].openings].concat();
            let (start, end) = self.trimmed(gaps[*gap], part, &mut Flags::default());
            let fitted = self.reader.divide(self.owner, &openings, start, end);
            let closed = |fill: &Fill| fill.fit == Fit::Closed;
            part.kind == PartKind::Introduced
                && fitted.is_some_and(|it| {
                    it.fills.len() == openings.len() && it.fills.first().is_some_and(closed)
                })
        };
        (0..gaps.len()).find(fits).map(|gap| (gap, bare))
    }

    /// Lets a part take the words of a gap, and a displaced one what it leaves.
    fn take(&self, leaf: &mut Leaf, gap: Gap, part: usize, displaced: Option<usize>) -> Option<()> {
        let part = &self.pattern.parts[part];
        let (start, end) = self.trimmed(gap, part, &mut leaf.flags);
        if gap.after.is_none() {
            self.pass(leaf, Gap { end: start, ..gap }, usize::MAX);
        }
        let after = displaced.map_or(&[] as &[Opening], |it| &self.pattern.parts[it].openings);
        let openings = [part.openings.as_slice(), after].concat();
        let Some(fitted) = self.reader.divide(self.owner, &openings, start, end) else {
            // Introduced by nothing after it: these words introduce something else.
            return part.openings.iter().all(|opening| opening.is_optional).then_some(());
        };
        let misfits = |fill: &Fill| fill.fit == Fit::Misfit;
        if gap.after.is_none() && fitted.fills.iter().any(misfits) {
            // Nothing says that words before the phrase are a value at all.
            return None;
        }
        let is_bare_date = part.kind == PartKind::Introduced && gap.start == gap.end;
        if is_bare_date && fitted.fills.iter().any(|fill| fill.fit != Fit::Closed) {
            return None;
        }
        leaf.introduced += usize::from(part.kind == PartKind::Introduced);
        self.collect(leaf, fitted, end);
        Some(())
    }

    fn collect(&self, leaf: &mut Leaf, fitted: Fitted, end: usize) {
        leaf.score += fitted.score;
        for fill in &fitted.fills {
            leaf.flags.is_of_anything |= fill.fit == Fit::Anything;
            let denies = fill.fit == Fit::Anything
                && (fill.start..fill.end).any(|at| self.reader.scan.class(at).has(Class::NEGATION));
            leaf.flags.is_negated |= denies;
        }
        leaf.fills.extend(fitted.fills);
        let known = leaf.left_over.ranges.len();
        let mut at = fitted.rest;
        while at < end {
            at = self.step(leaf, at, end, Area::After);
        }
        // What is left after a value is one piece, with the generic words within.
        let ranges = leaf.left_over.ranges.split_off(known);
        if let (Some((start, _)), Some((_, end))) = (ranges.first(), ranges.last()) {
            leaf.left_over.ranges.push((*start, *end));
        }
    }

    fn count_missing(&self, leaf: &mut Leaf, owners: &[Option<usize>], displaced: Option<usize>) {
        if self.said == Said::Words {
            return;
        }
        for (index, part) in self.pattern.parts.iter().enumerate() {
            let is_open =
                part.group == 0 && !owners.contains(&Some(index)) && displaced != Some(index);
            if !is_open {
                continue;
            }
            for opening in part.openings.iter().filter(|it| !it.is_optional) {
                // Which record is meant need not be said, though it is where a word asks for it.
                let is_record = opening.place == Place::Target;
                leaf.missing += usize::from(!is_record);
                leaf.is_unnamed |= is_record;
                let is_asked_for = is_record && part.kind == PartKind::Introduced;
                leaf.score += if is_asked_for { score::UNNAMED } else { 0 };
            }
        }
        leaf.score += score::MISSING * i32::try_from(leaf.missing).unwrap_or(i32::MAX);
    }
}
