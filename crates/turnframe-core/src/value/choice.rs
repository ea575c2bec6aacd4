//! Values of a closed list, by the words that mean them.

use super::ValueError;
use super::language::Language;
use crate::id::Locale;
use crate::operation::{Choice, Phrase};
use crate::target::fold;

/// Reads a choice: by its words in the actor's language, and where none match, in any.
pub(super) fn read(choices: &[Choice], words: &str, locale: &Locale) -> Result<String, ValueError> {
    let said = Said { words, locale };
    let own = |phrase: &Phrase| phrase.locale.language().eq_ignore_ascii_case(locale.language());
    let mut found: Vec<&Choice> = said.among(choices, own);
    if found.is_empty() {
        found = said.among(choices, |_| true);
    }
    match found.as_slice() {
        [] => Err(ValueError::Unreadable),
        [choice] => Ok(choice.value.clone()),
        several => {
            let label = |choice: &&Choice| {
                let words = choice.words.iter().find(|phrase| own(phrase));
                words.map_or_else(|| choice.value.clone(), |phrase| phrase.words.clone())
            };
            Err(ValueError::Ambiguous(several.iter().map(label).collect()))
        }
    }
}

struct Said<'a> {
    words: &'a str,
    locale: &'a Locale,
}

impl Said<'_> {
    fn among<'c>(
        &self,
        choices: &'c [Choice],
        counts: impl Fn(&Phrase) -> bool,
    ) -> Vec<&'c Choice> {
        let means =
            |choice: &&Choice| choice.words.iter().any(|phrase| counts(phrase) && self.is(phrase));
        choices.iter().filter(means).collect()
    }

    fn is(&self, phrase: &Phrase) -> bool {
        let same = |said: &str, known: &str| !said.is_empty() && said == known;
        let (said, known) = (fold(self.words), fold(&phrase.words));
        same(&said, &known)
            || same(without_article(&said, self.locale), without_article(&known, &phrase.locale))
            || same(without_article(&said, &phrase.locale), &known)
    }
}

fn without_article<'w>(words: &'w str, locale: &Locale) -> &'w str {
    let Some(language) = Language::of(locale) else { return words };
    match words.split_once(' ') {
        Some((first, rest)) if language.articles.contains(&first) => rest,
        Some(_) | None => words,
    }
}
