//! Forms of words: folding, and the few inflections that are cheap to see through.
//!
//! A stem is no linguistics: it is what two forms of one word have in common often enough. Two words of one
//! stem are a weaker match than two equal words, and in English a verb in another form is no request.

use turnframe_core::target;

/// The shortest word that is inflected, in characters.
const INFLECTED_MIN: usize = 3;
/// The shortest stem, in characters.
const STEM_MIN: usize = 3;

/// How a language inflects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inflection {
    /// Not known: words match as they are.
    Unknown,
    /// Plurals, and verbs in `-ed` and `-ing`.
    English,
    /// Endings, umlauts, and imperatives that change their vowel.
    German,
}

/// How a word of the message relates to a word of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The very word.
    Exact,
    /// Another ending.
    Inflected,
    /// A verb that tells rather than asks: `renewed`, `renewing`.
    Telling,
}

/// A word as it is compared: case and width folded, one kind of apostrophe.
pub(super) fn fold(word: &str) -> String {
    if word.is_ascii() { word.to_ascii_lowercase() } else { target::fold(word).replace('’', "'") }
}

impl Inflection {
    /// The stem of a folded word; none for a word too short to have one.
    pub(super) fn stem(self, word: &str) -> Option<String> {
        match self {
            Self::Unknown => None,
            Self::English => (word.chars().count() >= INFLECTED_MIN).then(|| english(word)),
            Self::German => german(word),
        }
    }

    /// In which form a word of the message stands that shares a stem with a word of a phrase.
    pub(super) fn form(self, word: &str) -> Form {
        let tells = self == Self::English && (word.ends_with("ed") || word.ends_with("ing"));
        if tells { Form::Telling } else { Form::Inflected }
    }
}

fn english(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let long = |base: &&str| base.chars().count() >= STEM_MIN;
    let hisses =
        |base: &&str| ["s", "x", "z", "ch", "sh"].iter().any(|ending| base.ends_with(ending));
    for ending in ["ies", "ied"] {
        if let Some(base) = word.strip_suffix(ending).filter(long) {
            return format!("{base}y");
        }
    }
    let base = ["ing", "ed"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(long))
        .or_else(|| word.strip_suffix("es").filter(hisses))
        .or_else(|| word.strip_suffix('s').filter(|base| !base.ends_with('s')).filter(long))
        .unwrap_or(word);
    undoubled(base.strip_suffix('e').filter(long).unwrap_or(base)).to_owned()
}

/// `cancell` of `cancelled`; `call` likewise, so that both sides lose the same letter.
fn undoubled(base: &str) -> &str {
    let mut letters = base.chars().rev();
    match (letters.next(), letters.next()) {
        (Some(last), Some(before)) if last == before && !"aeiou".contains(last) => {
            &base[..base.len() - last.len_utf8()]
        }
        _ => base,
    }
}

/// Imperatives that change their vowel, as grammars list them.
const VOWEL_CHANGES: [(&str, &str); 14] = [
    ("gib", "geb"),
    ("nimm", "nehm"),
    ("brich", "brech"),
    ("sprich", "sprech"),
    ("hilf", "helf"),
    ("wirf", "werf"),
    ("triff", "treff"),
    ("tritt", "tret"),
    ("lies", "les"),
    ("sieh", "seh"),
    ("stiehl", "stehl"),
    ("vergiss", "vergess"),
    ("miss", "mess"),
    ("iss", "ess"),
];

/// The stem of a German imperative whose vowel changes, or the word.
pub(super) fn infinitive_stem(word: &str) -> &str {
    VOWEL_CHANGES.iter().find(|(imperative, _)| *imperative == word).map_or(word, |(_, stem)| stem)
}

fn german(word: &str) -> Option<String> {
    let word = infinitive_stem(word);
    let mut plain = String::with_capacity(word.len());
    for letter in word.chars() {
        match letter {
            'ä' => plain.push('a'),
            'ö' => plain.push('o'),
            'ü' => plain.push('u'),
            'ß' => plain.push_str("ss"),
            // Where a keyboard has no umlauts: `verlaengern`.
            'e' if plain.ends_with(['a', 'o', 'u']) => {}
            other => plain.push(other),
        }
    }
    if plain.chars().count() < STEM_MIN {
        return None;
    }
    let long = |base: &&str| base.chars().count() >= STEM_MIN;
    let endings = ["en", "em", "es", "et", "st", "te", "n", "e", "t", "s"];
    let base = endings.iter().find_map(|ending| plain.strip_suffix(ending).filter(long));
    Some(base.map_or_else(|| plain.clone(), ToOwned::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_a_stem(inflection: Inflection, words: &[&str]) {
        let stems: Vec<_> = words.iter().map(|word| inflection.stem(word)).collect();
        assert!(stems[0].is_some(), "{words:?}");
        assert!(stems.iter().all(|stem| *stem == stems[0]), "{words:?} have {stems:?}");
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for words in [
            ["renew", "renewed", "renewing"],
            ["cancel", "cancelled", "cancels"],
            ["reserve", "reserving", "reserved"],
            ["carry", "carries", "carried"],
            ["call", "calls", "calling"],
            ["box", "box's", "boxes"],
        ]
        .map(|words| words.map(|word| if word == "box" { "boxes" } else { word }))
        {
            share_a_stem(Inflection::English, &words);
        }
        for words in [
            ["verlängere", "verlängern", "verlaengert"],
            ["leihe", "leihen", "leihst"],
            ["füge", "fügen", "fuege"],
            ["gib", "geben", "gebe"],
            ["öffne", "öffnen", "öffnet"],
        ] {
            share_a_stem(Inflection::German, &words);
        }
    }

    #[test]
    fn words_of_different_stems_stay_apart() {
        for (left, right) in [("renew", "return"), ("lend", "land"), ("this", "thing")] {
            assert_ne!(Inflection::English.stem(left), Inflection::English.stem(right));
        }
        assert_eq!(Inflection::English.stem("is"), None);
        assert_eq!(Inflection::Unknown.stem("renewed"), None);
    }

    #[test]
    fn folding_knows_one_apostrophe() {
        assert_eq!(fold("DON’T"), "don't");
        assert_eq!(fold("ＲＥＮＥＷ"), "renew");
    }
}
