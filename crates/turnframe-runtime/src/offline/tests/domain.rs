//! The interpreter knows no word of a domain: not of this one, and so of none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use turnframe_core::words::Message;

use super::library;
use crate::offline::form::{fold, infinitive_stem};
use crate::offline::lexicon::{Class, Lexicon};

/// Every word that the desk's phrases and choices are made of, in a language.
fn words(tag: &str) -> BTreeSet<String> {
    use turnframe_core::operation::SlotKind;
    let (operations, topics) = library::offer();
    let choices =
        operations.iter().flat_map(|it| &it.spec.slots).flat_map(|slot| match &slot.kind {
            SlotKind::Choice(choices) => choices.iter().flat_map(|it| &it.words).collect(),
            SlotKind::Text | SlotKind::Integer | SlotKind::Date | SlotKind::Moment => Vec::new(),
        });
    let asked = operations.iter().flat_map(|it| it.spec.phrases.iter().chain(&it.spec.names));
    let phrases = asked.chain(topics.iter().flat_map(|it| &it.spec.phrases)).chain(choices);
    let mut words = BTreeSet::new();
    for phrase in phrases.filter(|it| it.locale.language() == tag) {
        let text: String =
            phrase.words.split('{').map(|it| it.split('}').next_back().unwrap_or(it)).collect();
        let message = Message::new(text).expect("phrase");
        words.extend(message.words().map(fold));
    }
    words
}

fn is_generic(lexicon: &Lexicon, word: &str) -> bool {
    lexicon.class(word) != Class::default()
        || lexicon.contraction(word).is_some()
        || lexicon.is_particle(word)
}

#[test]
fn the_lexicon_has_only_those_words_of_the_desk_that_every_domain_has() {
    let generic = |tag: &str| {
        let lexicon = Lexicon::of(tag);
        let words = words(tag).into_iter().filter(|word| is_generic(lexicon, word));
        words.collect::<Vec<_>>().join(" ")
    };
    let english = "a about an another anything at by cancel change do for how i is my of on out the to until what \
                   what's when where with";
    assert_eq!(generic("en"), english);
    let german = "am an auf aus bis das den die eine einen für hinzu ich ist meine meinen mit um von wann was wie wo zu \
                  zurück ändere";
    assert_eq!(generic("de"), german);
}

#[test]
fn no_source_file_has_a_word_of_the_desk_in_its_strings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/offline");
    let mut domain: BTreeSet<String> = BTreeSet::new();
    let lexicons = ["en", "de"].map(Lexicon::of);
    for tag in ["en", "de"] {
        // Grammars list the verbs that change their vowel.
        let is_listed = |word: &String| infinitive_stem(word) != word;
        let is_own = |word: &String| lexicons.iter().all(|lexicon| !is_generic(lexicon, word));
        let own = words(tag).into_iter().filter(is_own);
        domain.extend(own.filter(|word| !is_listed(word)));
    }
    assert!(domain.len() > 30, "the desk has words: {domain:?}");
    let sources = sources(&root);
    assert!(sources.len() > 20, "{sources:?}");
    for path in sources {
        let text = std::fs::read_to_string(&path).expect("source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        // Idioms such as "hold on" are generic although a word of theirs may be of a domain.
        let phrases = code.split('"').skip(1).step_by(2).flat_map(|string| string.split(','));
        for phrase in phrases {
            let phrase = fold(phrase.trim());
            assert!(!domain.contains(&phrase), "{phrase:?} in {}", path.display());
        }
    }
}

/// The source files, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
