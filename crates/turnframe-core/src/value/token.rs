//! Words of a value as numbers, names and marks.

use crate::target::fold;

/// The most tokens a value has: a longer one is text, whatever its slot wants.
pub(super) const TOKENS_MAX: usize = 24;

/// A piece of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A run of digits, as it stands.
    Digits(String),
    /// A run of letters, folded.
    Word(String),
    /// Anything else but white space.
    Mark(char),
}

impl Token {
    pub(super) fn is_word(&self, among: &[&str]) -> bool {
        matches!(self, Self::Word(word) if among.contains(&word.as_str()))
    }

    pub(super) fn is_mark(&self, among: &[char]) -> bool {
        matches!(self, Self::Mark(mark) if among.contains(mark))
    }

    /// The number and how many digits say it; none beyond nine digits.
    pub(super) fn number(&self) -> Option<(u32, usize)> {
        match self {
            Self::Digits(digits) if digits.len() <= 9 => Some((digits.parse().ok()?, digits.len())),
            Self::Digits(_) | Self::Word(_) | Self::Mark(_) => None,
        }
    }
}

/// Cuts words into tokens. Digits and letters that touch are two tokens: `3rd`, `2:30pm`, `25T02`.
pub(super) fn tokens(words: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut touches = false;
    for character in fold(words).chars() {
        let extends = touches.then(|| tokens.last_mut()).flatten();
        touches = true;
        match (character, extends) {
            ('0'..='9', Some(Token::Digits(run))) => run.push(character),
            ('0'..='9', _) => tokens.push(Token::Digits(character.to_string())),
            (letter, Some(Token::Word(run))) if letter.is_alphabetic() => run.push(letter),
            (letter, _) if letter.is_alphabetic() => tokens.push(Token::Word(letter.to_string())),
            (space, _) if space.is_whitespace() => touches = false,
            (mark, _) => tokens.push(Token::Mark(mark)),
        }
        if tokens.len() > TOKENS_MAX {
            return None;
        }
    }
    Some(tokens)
}

/// The rest after a phrase of words, where the tokens begin with it. Dots and apostrophes within are skipped:
/// `p.m.`, `o'clock`.
pub(super) fn after_words<'t>(tokens: &'t [Token], phrase: &[&str]) -> Option<&'t [Token]> {
    let mut rest = tokens;
    for word in phrase {
        let (first, after) = rest.split_first()?;
        if !first.is_word(&[word]) {
            return None;
        }
        rest = skip_mark(after, &['.', '\'', '’']);
    }
    Some(rest)
}

/// The rest after a leading word, where there is one.
pub(super) fn skip_word<'t>(tokens: &'t [Token], among: &[&str]) -> &'t [Token] {
    match tokens {
        [first, rest @ ..] if first.is_word(among) => rest,
        _ => tokens,
    }
}

/// The rest after a leading mark, where there is one.
pub(super) fn skip_mark<'t>(tokens: &'t [Token], among: &[char]) -> &'t [Token] {
    match tokens {
        [first, rest @ ..] if first.is_mark(among) => rest,
        _ => tokens,
    }
}
