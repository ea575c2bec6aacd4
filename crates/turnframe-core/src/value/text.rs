//! Text: the words as they are, without the space and the quotation marks around them.

use super::ValueError;

/// Marks that open and close a quotation.
const QUOTES: [(char, char); 9] = [
    ('"', '"'),
    ('\'', '\''),
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('„', '”'),
    ('‚', '‘'),
    ('«', '»'),
    ('»', '«'),
];

/// Reads a text.
pub(super) fn read(words: &str) -> Result<String, ValueError> {
    let text = unquoted(words.trim()).trim();
    if text.is_empty() { Err(ValueError::Missing) } else { Ok(text.to_owned()) }
}

fn unquoted(words: &str) -> &str {
    let inner = |(open, close): &(char, char)| {
        let inner = words.strip_prefix(*open)?.strip_suffix(*close)?;
        // `"a" and "b"` is not one quotation.
        (!inner.contains([*open, *close])).then_some(inner)
    };
    QUOTES.iter().find_map(inner).unwrap_or(words)
}
