//! Clauses that are read as a whole by their generic words: greetings, yes and no, what calls something off, and
//! the words of a card's option.

use turnframe_core::id::{InteractionId, OptionId};
use turnframe_core::target::fold;

use super::clause::ClauseReader;
use super::lexicon::Class;
use super::reading::{Operating, Reading, Relation};
use super::scan::Lexeme;
use super::score;

/// The most words of whom a greeting greets.
const ADDRESSEE_MAX: usize = 2;

impl ClauseReader<'_> {
    /// Readings of a clause as a whole, by its generic words.
    pub(super) fn short(
        &self,
        start: usize,
        end: usize,
        last: Option<&Operating>,
    ) -> Option<Reading> {
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
            // "…, no?" wants to hear a yes.
            let asks = self.reader.scan.tokens[end - 1].asks;
            return Some(if asks { Reading::Remark } else { Reading::No });
        }
        if is_all(Class::HALT) {
            return Some(if last.is_some() { Reading::TakenBack } else { Reading::Remark });
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
}

/// How much such a reading is worth.
pub(super) fn short_score(reading: &Reading, follows_act: bool) -> i32 {
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
