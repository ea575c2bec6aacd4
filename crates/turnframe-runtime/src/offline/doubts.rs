//! What speaks against a way of laying a pattern over words.

use super::fit::{Fill, Fit};
use super::layout::Layout;
use super::leaf::{Anchor, Leaf};
use super::lexicon::Class;
use super::pattern::{Part, PartKind};
use super::scan::JointKind;
use super::score;
use super::token::{Break, Token};

impl Layout<'_> {
    /// Whether an introducing word stands again within a value, after "and" or a comma: "to Ada and to Bob" is
    /// two values, and no place takes two.
    pub(super) fn repeats_an_introduction(&self, leaf: &Leaf, sorted: &[Anchor]) -> bool {
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
    pub(super) fn swallowed(&self, leaf: &Leaf, sorted: &[Anchor]) -> i32 {
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

    /// What speaks against an introducing word that is followed by a verb: "to renew it" is no place.
    pub(super) fn infinitives(&self, sorted: &[Anchor]) -> i32 {
        let is_verb = |at: usize| {
            let opens = |token: &Token| token.opens && !token.is_name;
            let is_content = |cue| !self.reader.language.vocabulary.is_function(cue);
            at < self.end
                && self.reader.scan.tokens.get(at).is_some_and(opens)
                && self.reader.scan.cues_at(at).any(is_content)
        };
        let is_place = |anchor: &&Anchor| {
            self.pattern.parts[anchor.part].kind == PartKind::Introduced && is_verb(anchor.end)
        };
        let count = sorted.iter().filter(is_place).count();
        score::INFINITIVE.saturating_mul(i32::try_from(count).unwrap_or(i32::MAX))
    }

    /// What speaks against one clause: ends of clauses between its parts.
    pub(super) fn crossings(&self, leaf: &Leaf) -> i32 {
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
