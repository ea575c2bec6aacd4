//! Words of a language that belong to no domain: politeness, negation, correction, conditions, references.
//!
//! **Absent on purpose:** every word that a workflow would declare. A test looks for them.

mod de;
mod en;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::form::Inflection;

/// What generic words do in a message. Words may do several things; where they stand decides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Class(u32);

impl Class {
    /// Says nothing, and is no part of a value at whose edge it stands: "please".
    pub(super) const FILLER: Self = Self(1);
    /// Says nothing between the words of a phrase: "I would like to".
    pub(super) const GLUE: Self = Self(1 << 1);
    /// Precedes a noun and names nothing: "the", "my", "this".
    pub(super) const DETERMINER: Self = Self(1 << 2);
    /// Stands for something said before.
    pub(super) const PRONOUN: Self = Self(1 << 3);
    /// Joins clauses.
    pub(super) const CONNECTIVE: Self = Self(1 << 4);
    /// Joins alternatives.
    pub(super) const OR: Self = Self(1 << 5);
    /// Says no to what follows, or in German to what stands before.
    pub(super) const NEGATION: Self = Self(1 << 6);
    /// Any object, or none: "anything", "nothing".
    pub(super) const ANYTHING: Self = Self(1 << 7);
    /// Wonders.
    pub(super) const HYPOTHETICAL: Self = Self(1 << 8);
    /// Makes what is said depend on something.
    pub(super) const CONDITION: Self = Self(1 << 9);
    /// Tells of what was done, or is known.
    pub(super) const REPORT: Self = Self(1 << 10);
    /// Asks for something politely: a question mark after it asks nothing.
    pub(super) const REQUEST: Self = Self(1 << 11);
    /// Wants a verb in `-ing` after it.
    pub(super) const GERUND: Self = Self(1 << 12);
    /// Puts right what was said before.
    pub(super) const CORRECTION: Self = Self(1 << 13);
    /// A correction that takes back what was said before, whatever follows.
    pub(super) const STRONG: Self = Self(1 << 14);
    /// Calls something off when it stands alone.
    pub(super) const CANCELLATION: Self = Self(1 << 15);
    /// Says yes.
    pub(super) const YES: Self = Self(1 << 16);
    /// Says yes only when nothing else is said: "ok".
    pub(super) const WEAK: Self = Self(1 << 17);
    /// Declines.
    pub(super) const NO: Self = Self(1 << 18);
    /// A greeting, thanks, a farewell.
    pub(super) const REMARK: Self = Self(1 << 19);
    /// Adds to what was said before.
    pub(super) const ADDITIVE: Self = Self(1 << 20);
    /// Sends something out of the house.
    pub(super) const SUBMISSION: Self = Self(1 << 21);
    /// Changes something.
    pub(super) const CHANGE: Self = Self(1 << 22);
    /// Introduces a place, a time or a person.
    pub(super) const PREPOSITION: Self = Self(1 << 23);
    /// A preposition that a date can do without: "on 3 May", "3 May".
    pub(super) const DATE_PREPOSITION: Self = Self(1 << 24);
    /// Stands for the thing that was asked for before: "and one for Bob".
    pub(super) const ONE: Self = Self(1 << 25);
    /// Asks.
    pub(super) const QUESTION: Self = Self(1 << 26);
    /// Is, has, does: of no domain either.
    pub(super) const AUXILIARY: Self = Self(1 << 27);

    /// What either does.
    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Wants nothing to be done, for now.
    pub(super) const HALT: Self = Self(1 << 28);

    /// Whether the two have something in common.
    pub(super) const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Words that tell two operations apart as little as "to" does.
    pub(super) const FUNCTION: Self = Self(
        Self::FILLER.0
            | Self::GLUE.0
            | Self::DETERMINER.0
            | Self::PRONOUN.0
            | Self::CONNECTIVE.0
            | Self::NEGATION.0
            | Self::CONDITION.0
            | Self::PREPOSITION.0
            | Self::QUESTION.0
            | Self::AUXILIARY.0
            | Self::ADDITIVE.0,
    );
}

/// Lists of phrases, separated by commas, and what they do.
type Entries = &'static [(Class, &'static str)];

/// A language as its file declares it.
struct Source {
    inflection: Inflection,
    /// Whether a request may end in its verb, and a verb may be cut in two.
    is_verb_final: bool,
    entries: Entries,
    /// Written as one word, read as two.
    contractions: &'static [(&'static str, &'static str, &'static str)],
    /// What a verb may be cut into.
    particles: &'static [&'static str],
    /// Words that keep a capital within a sentence.
    capitals: &'static [&'static str],
    /// Words whose dot ends no sentence.
    abbreviations: &'static [&'static str],
}

/// The generic words of a language.
#[derive(Debug)]
pub(super) struct Lexicon {
    /// How words inflect.
    pub(super) inflection: Inflection,
    /// Whether a request may end in its verb, and a verb may be cut in two.
    pub(super) is_verb_final: bool,
    /// Whether there are words at all: without them nothing left over can be judged.
    pub(super) is_known: bool,
    by_first: HashMap<&'static str, Vec<Entry>>,
    contractions: HashMap<&'static str, [&'static str; 2]>,
    particles: &'static [&'static str],
    capitals: &'static [&'static str],
    abbreviations: &'static [&'static str],
}

#[derive(Debug)]
struct Entry {
    words: Vec<&'static str>,
    class: Class,
}

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&en::SOURCE));
static GERMAN: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(&de::SOURCE));
static NONE: LazyLock<Lexicon> = LazyLock::new(|| Lexicon {
    inflection: Inflection::Unknown,
    is_verb_final: false,
    is_known: false,
    by_first: HashMap::new(),
    contractions: HashMap::new(),
    particles: &[],
    capitals: &[],
    abbreviations: &[],
});

impl Lexicon {
    /// The words of a language, in lower case; none of a language without a file.
    pub(super) fn of(language: &str) -> &'static Self {
        match language {
            "en" => &ENGLISH,
            "de" => &GERMAN,
            _ => &NONE,
        }
    }

    fn new(source: &Source) -> Self {
        let mut by_first: HashMap<&'static str, Vec<Entry>> = HashMap::new();
        for (class, phrases) in source.entries {
            for phrase in phrases.split(',') {
                let words: Vec<&'static str> = phrase.split_whitespace().collect();
                let Some(first) = words.first() else { continue };
                let entries = by_first.entry(first).or_default();
                match entries.iter_mut().find(|entry| entry.words == words) {
                    Some(entry) => entry.class = entry.class.or(*class),
                    None => entries.push(Entry { words, class: *class }),
                }
            }
        }
        for entries in by_first.values_mut() {
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.words.len()));
        }
        let contractions = source.contractions.iter().map(|(one, a, b)| (*one, [*a, *b]));
        Self {
            inflection: source.inflection,
            is_verb_final: source.is_verb_final,
            is_known: true,
            by_first,
            contractions: contractions.collect(),
            particles: source.particles,
            capitals: source.capitals,
            abbreviations: source.abbreviations,
        }
    }

    /// The longest phrase that the words begin with: how many words it has, and what it does.
    pub(super) fn longest<'w>(&self, words: impl Fn(usize) -> Option<&'w str>) -> (usize, Class) {
        let unknown = (1, Class::default());
        let Some(entries) = words(0).and_then(|first| self.by_first.get(first)) else {
            return unknown;
        };
        let begins = |entry: &&Entry| {
            entry.words.iter().enumerate().skip(1).all(|(at, word)| words(at) == Some(*word))
        };
        entries.iter().find(begins).map_or(unknown, |entry| (entry.words.len(), entry.class))
    }

    /// What a word does by itself.
    pub(super) fn class(&self, word: &str) -> Class {
        self.longest(|at| (at == 0).then_some(word)).1
    }

    /// The two words that a contraction stands for.
    pub(super) fn contraction(&self, word: &str) -> Option<[&'static str; 2]> {
        self.contractions.get(word).copied()
    }

    /// Whether a verb may be cut before this word.
    pub(super) fn is_particle(&self, word: &str) -> bool {
        self.particles.contains(&word)
    }

    /// Whether a word keeps its capital within a sentence, and is no name for that.
    pub(super) fn keeps_capital(&self, word: &str) -> bool {
        self.capitals.contains(&word)
    }

    /// Whether the dot after a word ends no sentence.
    pub(super) fn is_abbreviation(&self, word: &str) -> bool {
        self.abbreviations.contains(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_wins() {
        let lexicon = Lexicon::of("en");
        let read = |text: &str| {
            let words: Vec<&str> = text.split(' ').collect();
            lexicon.longest(|at| words.get(at).copied())
        };
        let (length, class) = read("what would happen if it");
        assert_eq!((length, class.has(Class::HYPOTHETICAL)), (4, true));
        let (length, class) = read("could you lend");
        assert_eq!((length, class.has(Class::REQUEST)), (2, true));
        let (length, class) = read("could i lend");
        assert_eq!((length, class.has(Class::HYPOTHETICAL)), (2, true));
        assert_eq!(read("zeppelin"), (1, Class::default()));
    }

    #[test]
    fn every_entry_is_folded_and_said_as_it_is_scanned() {
        for language in ["en", "de"] {
            let lexicon = Lexicon::of(language);
            for entry in lexicon.by_first.values().flatten() {
                for word in &entry.words {
                    assert_eq!(*word, super::super::form::fold(word));
                    assert!(lexicon.contraction(word).is_none(), "{word} is read as two words");
                }
            }
        }
    }
}
