//! One way of laying a pattern over the words of a clause, and what it is worth.

use super::fit::{Fill, Fit, Fitted, Owner, Reader};
use super::form::Form;
use super::lexicon::Class;
use super::pattern::{Opening, Part, PartKind, Pattern, Place};
use super::scan::{Break, JointKind, Lexeme};
use super::score;

/// Words of a phrase, laid over words of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    /// Which part.
    pub(super) part: usize,
    /// The first token.
    pub(super) start: usize,
    /// One past the last token.
    pub(super) end: usize,
    /// In which form its words stand.
    pub(super) form: Form,
}

/// What generic words said around the phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// It is not to be.
    pub(super) is_negated: bool,
    /// It is wondered about.
    pub(super) is_hypothetical: bool,
    /// It depends on something.
    pub(super) is_conditional: bool,
    /// It is told of.
    pub(super) is_reported: bool,
    /// It is asked for politely.
    pub(super) is_requested: bool,
    /// A verb in `-ing` is wanted.
    pub(super) wants_gerund: bool,
    /// It takes the place of what was said before.
    pub(super) replaces: bool,
    /// It adds to what was said before.
    pub(super) adds: bool,
    /// Any object is meant, or none was said.
    pub(super) is_of_anything: bool,
}

/// Words that are part of nothing, by where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LeftOver {
    /// How many before the first word of the phrase.
    pub(super) before: usize,
    /// How many between its words.
    pub(super) between: usize,
    /// How many after a value.
    pub(super) after: usize,
    /// All of them, as ranges of tokens.
    pub(super) ranges: Vec<(usize, usize)>,
}

/// A pattern laid over words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    /// How much it is worth.
    pub(super) score: i32,
    /// The values.
    pub(super) fills: Vec<Fill>,
    /// What generic words said.
    pub(super) flags: Flags,
    /// What is left.
    pub(super) left_over: LeftOver,
    /// How many mandatory places have no words.
    pub(super) missing: usize,
    /// How many values stand after words that introduce them.
    pub(super) introduced: usize,
    /// In which form the first word of the phrase stands.
    pub(super) head: Form,
}

/// Where words stand that no place takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Before,
    Between,
    After,
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
    /// Whether the mandatory words were said before: the clause names values only.
    pub(super) is_fragment: bool,
}

/// Words between two anchors.
#[derive(Debug, Clone, Copy)]
struct Gap {
    start: usize,
    end: usize,
    /// The anchor before it; none before the first.
    after: Option<usize>,
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
            introduced: 0,
            head: self.head(&sorted),
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
        leaf.score += self.crossings(&leaf) + self.swallowed(&leaf, &sorted);
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
        let vocabulary = &self.reader.language.vocabulary;
        let is_function = part.cues.iter().all(|cue| vocabulary.is_function(*cue));
        let word = if is_function { score::FUNCTION_WORD } else { score::WORD };
        if anchor.form == Form::Exact { word } else { word + score::INFLECTED }
    }

    fn head(&self, sorted: &[Anchor]) -> Form {
        let of_head =
            |anchor: &&Anchor| self.pattern.parts[anchor.part].cues.contains(&self.pattern.head);
        sorted.iter().find(of_head).map_or(Form::Exact, |anchor| anchor.form)
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
                None => *leads || self.is_fragment,
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
        let mut at = fitted.rest;
        while at < end {
            at = self.step(leaf, at, end, Area::After);
        }
    }

    /// The words of a gap that may be a value: without politeness at their edges, and without a negation, which
    /// speaks of the whole.
    fn trimmed(&self, gap: Gap, part: &Part, flags: &mut Flags) -> (usize, usize) {
        let (mut start, mut end) = (gap.start, gap.end);
        if gap.after.is_none() && !self.is_fragment {
            start = self.after_opening(gap, part);
        }
        let scan = self.reader.scan;
        while let Some(lexeme) = scan.lexeme_from(start, end) {
            if !self.is_edge(lexeme, end - start) || self.is_counted(lexeme, part) {
                break;
            }
            note(lexeme.class, flags);
            start = lexeme.end;
        }
        while let Some(lexeme) = scan.lexeme_to(start, end) {
            let joins = Class::CONNECTIVE.or(Class::DETERMINER);
            let is_whole = end - start == lexeme.end - lexeme.start;
            let hangs = lexeme.class.has(joins)
                && (!is_whole || !lexeme.class.has(Class::DETERMINER.or(Class::PRONOUN)));
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

    /// Whether a lexeme before a number counts: "another copy".
    fn is_counted(&self, lexeme: Lexeme, part: &Part) -> bool {
        lexeme.class.has(Class::ONE) && part.openings.len() > 1
    }

    /// Where the value begins in the words before the first anchor: after the generic words that open a clause. A
    /// value of a closed form is looked for from the end, since it may consist of such words.
    fn after_opening(&self, gap: Gap, part: &Part) -> usize {
        let mut opened = gap.start;
        let mut ignored = Leaf::empty();
        while opened < gap.end {
            let before = ignored.left_over.before;
            let next = self.step(&mut ignored, opened, gap.end, Area::Before);
            if ignored.left_over.before > before {
                break;
            }
            opened = next;
        }
        if opened < gap.end {
            return opened;
        }
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
    fn pass(&self, leaf: &mut Leaf, gap: Gap, gaps: usize) {
        let area = match gap.after {
            None => Area::Before,
            Some(anchor) if anchor + 2 < gaps => Area::Between,
            Some(_) => Area::After,
        };
        let mut at = gap.start;
        while at < gap.end {
            at = self.step(leaf, at, gap.end, area);
        }
    }

    /// Passes over one lexeme and notes what it says. What says nothing generic is left over.
    fn step(&self, leaf: &mut Leaf, at: usize, end: usize, area: Area) -> usize {
        let scan = self.reader.scan;
        let Some(lexeme) = scan.lexeme_from(at, end) else { return end };
        if !self.is_passed(lexeme, end, area) {
            let words = lexeme.end - lexeme.start;
            match area {
                Area::Before => leaf.left_over.before += words,
                Area::Between => leaf.left_over.between += words,
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
        let denies = class.has(Class::NEGATION) && !(class.has(Class::NO) && pauses);
        let here = match area {
            Area::Before => class.has(Class::CONNECTIVE),
            Area::Between => class.has(Class::PRONOUN.or(Class::AUXILIARY)),
            Area::After => {
                let is_question = self.owner.operation.is_none();
                class.has(Class::PRONOUN.or(Class::STRONG).or(Class::REMARK).or(Class::WEAK))
                    || (is_question && class.has(Class::AUXILIARY))
            }
        };
        let is_of_records = self.is_fragment
            && (class.has(Class::ONE) || self.reader.is_noun(self.owner.workflow, lexeme.start));
        denies || class.has(anywhere) || here || is_of_records
    }

    fn count_missing(&self, leaf: &mut Leaf, owners: &[Option<usize>], displaced: Option<usize>) {
        if self.is_fragment {
            return;
        }
        for (index, part) in self.pattern.parts.iter().enumerate() {
            let is_open =
                part.group == 0 && !owners.contains(&Some(index)) && displaced != Some(index);
            // Which record is meant need not be said.
            let is_wanted = |it: &&Opening| !it.is_optional && it.place != Place::Target;
            if is_open {
                leaf.missing += part.openings.iter().filter(is_wanted).count();
            }
        }
        leaf.score += score::MISSING * i32::try_from(leaf.missing).unwrap_or(i32::MAX);
    }

    /// Whether an introducing word stands again within a value, after "and" or a comma: "to Ada and to Bob" is
    /// two values, and no place takes two.
    fn repeats_an_introduction(&self, leaf: &Leaf, sorted: &[Anchor]) -> bool {
        let scan = self.reader.scan;
        let resumes = |at: usize| {
            let turns = Class::CONNECTIVE.or(Class::CORRECTION);
            let before = scan.lexeme_to(self.start, at);
            scan.tokens[at].before != Break::None || before.is_some_and(|it| it.class.has(turns))
        };
        let within = |at: usize| leaf.fills.iter().any(|fill| (fill.start..fill.end).contains(&at));
        sorted.iter().any(|anchor| {
            let part = &self.pattern.parts[anchor.part];
            if part.kind != PartKind::Introduced || anchor.start == anchor.end {
                return false;
            }
            let again = scan.hits(part.cues[0], self.start, self.end).iter();
            again
                .filter(|hit| hit.at != anchor.start && within(hit.at))
                .any(|hit| resumes(hit.at.max(anchor.start)))
        })
    }

    /// What speaks against text that holds a word which would have introduced another value.
    fn swallowed(&self, leaf: &Leaf, sorted: &[Anchor]) -> i32 {
        let is_text = |fill: &&Fill| matches!(fill.fit, Fit::Text | Fit::Mention);
        let is_open = |(index, part): &(usize, &Part)| {
            part.kind == PartKind::Introduced && !sorted.iter().any(|it| it.part == *index)
        };
        let open: Vec<_> = self.pattern.parts.iter().enumerate().filter(is_open).collect();
        let hits = |fill: &Fill| {
            let of_part = |(_, part): &(usize, &Part)| {
                self.reader.scan.hits(part.cues[0], fill.start, fill.end).len()
            };
            open.iter().map(of_part).sum::<usize>()
        };
        let count = leaf.fills.iter().filter(is_text).map(hits).sum::<usize>();
        score::INTRODUCTION
            .saturating_neg()
            .saturating_mul(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// What speaks against one clause: ends of clauses between its parts.
    fn crossings(&self, leaf: &Leaf) -> i32 {
        let joints = self.reader.scan.joints_within(self.start, self.end);
        let within = |at: usize| leaf.fills.iter().any(|fill| fill.start < at && at < fill.end);
        let cost = |kind: JointKind| match kind {
            JointKind::Hard => score::IMPOSSIBLE,
            JointKind::Soft | JointKind::Word => score::COMMA_BETWEEN,
            JointKind::Cue => 0,
        };
        joints.iter().filter(|joint| !within(joint.at)).map(|joint| cost(joint.kind)).sum()
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

impl Leaf {
    fn empty() -> Self {
        Self {
            score: 0,
            fills: Vec::new(),
            flags: Flags::default(),
            left_over: LeftOver::default(),
            missing: 0,
            introduced: 0,
            head: Form::Exact,
        }
    }
}
