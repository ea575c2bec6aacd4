//! Whatever is said, the proposal is of the offer and of the user's words, and no word is lost.

use proptest::prelude::*;
use turnframe_core::understanding::{Brief, Intent, ProposedTarget, Understanding};
use turnframe_core::words::WordRange;

use super::library::Desk;
use crate::offline::OfflineInterpreter;
use crate::offline::lexicon::{Class, Lexicon};
use crate::offline::scan::Scan;

/// Clauses that mean something, and some that do not.
const CLAUSES: [&str; 46] = [
    "lend Dune to Ada",
    "lend it to Bob",
    "check out the book Dune until 3 May",
    "renew Emma",
    "renew it",
    "renew anything",
    "don't renew anything yet",
    "do not submit",
    "change nothing",
    "return Ulysses",
    "Emma and Ulysses",
    "cancel that",
    "never mind",
    "no",
    "yes",
    "ok",
    "no wait",
    "sorry",
    "make that until 4 May",
    "to Bob",
    "and Emma to Bob",
    "instead",
    "if Ada agrees",
    "unless",
    "or",
    "and",
    "what if I renew Emma?",
    "could you",
    "when is Emma due?",
    "what about it",
    "add 2 stamps",
    "with a card",
    "another",
    "hello Ada",
    "thanks",
    "please",
    "the weather",
    "by -3 weeks",
    "\"renew",
    "Emma\"",
    "👩‍👩‍👧",
    "1.",
    "Lend it",
    "reserve it for her",
    "don't",
    "change my address to 5 Hill Road",
];

const GERMAN: [&str; 22] = [
    "verleihe Dune an Ada",
    "leih Dune aus",
    "Dune an Ada ausleihen",
    "Emma verlängern",
    "verlängere es",
    "verlängere nichts",
    "noch nicht",
    "nicht",
    "nein",
    "ja",
    "an Bob",
    "stattdessen",
    "wenn Ada kommt",
    "oder",
    "und",
    "was wäre wenn ich",
    "wann ist Emma fällig?",
    "vergiss es",
    "bitte",
    "hallo",
    "um 3 Wochen",
    "„Emma“",
];

const JOINTS: [&str; 8] = [" ", ", ", ". ", " and ", "\n", "? ", " - ", "! "];

fn said(clauses: &'static [&'static str]) -> impl Strategy<Value = String> {
    let clause = (proptest::sample::select(clauses), proptest::sample::select(&JOINTS[..]));
    proptest::collection::vec(clause, 1..9).prop_map(|clauses| {
        clauses.into_iter().flat_map(|(clause, joint)| [clause, joint]).collect()
    })
}

fn desk(tag: &'static str) -> Desk {
    let desk = Desk::speaking(tag);
    desk.with_card(&[("confirm", "Lend it"), ("decline", "Leave it")])
}

fn interpreter(brief: &Brief) -> OfflineInterpreter {
    OfflineInterpreter::new(brief.operations.clone(), brief.topics.clone()).expect("grammar")
}

/// Words that are part of something that was read, or said to be unread.
fn covered(understanding: &Understanding) -> Vec<WordRange> {
    let acts = understanding.acts.iter().map(|it| it.source);
    let questions = understanding.questions.iter().map(|it| it.source);
    let prohibitions = understanding.prohibitions.iter().map(|it| it.source);
    let rest = understanding.remarks.iter().chain(&understanding.unread).copied();
    acts.chain(questions).chain(prohibitions).chain(rest).collect()
}

/// Words that are part of nothing and not of the generic kind that says nothing.
fn lost(brief: &Brief, understanding: &Understanding) -> Vec<String> {
    let language = brief.locale.language().to_owned();
    let lexicon = Lexicon::of(&language);
    let vocabulary = crate::offline::vocabulary::Vocabulary::new(lexicon);
    let scan = Scan::new(&brief.message, lexicon, &vocabulary);
    let covered = covered(understanding);
    let says_nothing = Class::FILLER
        .or(Class::GLUE)
        .or(Class::CONNECTIVE)
        .or(Class::REQUEST)
        .or(Class::HYPOTHETICAL);
    let is_lost = |(at, token): &(usize, &crate::offline::token::Token)| {
        let within = |it: &WordRange| (it.start..it.end).contains(&token.word);
        !covered.iter().any(within) && !scan.class(*at).or(token.alone).has(says_nothing)
    };
    scan.tokens.iter().enumerate().filter(is_lost).map(|(_, token)| token.fold.clone()).collect()
}

fn holds(tag: &'static str, text: &str) -> Result<(), TestCaseError> {
    let brief = desk(tag).brief(text);
    let interpreter = interpreter(&brief);
    let understanding = interpreter.read(&brief);
    prop_assert_eq!(understanding.check(&brief), Ok(()), "{:?}", understanding);
    prop_assert_eq!(&interpreter.read(&brief), &understanding, "read twice");
    let lost = lost(&brief, &understanding);
    prop_assert!(lost.is_empty(), "{lost:?} of {text:?}: {understanding:?}");
    Ok(())
}

/// Clauses with words and without quotation marks.
fn quotable() -> Vec<&'static str> {
    let is_quotable =
        |clause: &&str| !clause.contains('"') && clause.contains(char::is_alphanumeric);
    CLAUSES.into_iter().filter(is_quotable).collect()
}

/// A quoted range of words has no part in any act but as a value.
fn pointers(understanding: &Understanding) -> Vec<WordRange> {
    let mut pointers = Vec::new();
    for act in &understanding.acts {
        if let Intent::Operate { target, arguments, .. } = &act.intent {
            pointers.extend(arguments.iter().map(|it| it.pointer.words));
            if let ProposedTarget::Mention(pointer) = target {
                pointers.push(pointer.words);
            }
        }
    }
    pointers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn i9_any_text_is_read_into_a_proposal_that_passes_its_check(text in "\\PC{1,80}") {
        prop_assume!(!text.trim().is_empty());
        for tag in ["en", "de", "fr"] {
            holds(tag, &text)?;
        }
    }

    #[test]
    fn i9_any_english_clauses_are_read_into_a_proposal_that_passes_its_check(text in said(&CLAUSES)) {
        holds("en", &text)?;
    }

    #[test]
    fn i9_any_german_clauses_are_read_into_a_proposal_that_passes_its_check(text in said(&GERMAN)) {
        holds("de", &text)?;
    }

    #[test]
    fn quoted_words_ask_for_nothing(clause in proptest::sample::select(quotable())) {
        let text = format!("lend “{clause}” to Ada");
        let brief = desk("en").brief(&text);
        let understanding = interpreter(&brief).read(&brief);
        prop_assert_eq!(understanding.acts.len(), 1, "{}: {:?}", text, understanding);
        prop_assert_eq!(pointers(&understanding).len(), 2);
    }
}

#[test]
fn the_longest_messages_are_read_in_bounded_time_and_number() {
    for clause in ["renew Emma, ", "to ", "renew ", "and ", "lend Dune to Ada until 3 May ", "no, "]
    {
        let most = 1_999 / clause.split_whitespace().count();
        let text = clause.repeat(most.min(16_000 / clause.len()));
        let brief = desk("en").brief(&text);
        let understanding = interpreter(&brief).read(&brief);
        assert_eq!(understanding.check(&brief), Ok(()), "{clause}");
    }
}
