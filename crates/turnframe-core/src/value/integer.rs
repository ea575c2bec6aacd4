//! Whole numbers: digits in the locale's grouping, and the words for small ones.

use super::ValueError;
use super::language::Language;
use super::token::{Token, tokens};
use crate::target::fold;

/// White space and the like that typographers put between groups of digits.
const THIN: [char; 3] = ['\u{a0}', '\u{2009}', '\u{202f}'];

/// Reads a whole number.
pub(super) fn read(words: &str, language: Option<&Language>) -> Result<i64, ValueError> {
    let words = words.trim();
    let number = digits(words, language).or_else(|| in_words(words, language?));
    number.ok_or(ValueError::Unreadable)
}

/// `1200`, `-5`, `1,200` in English, `1.200` in German. A decimal is no whole number.
fn digits(words: &str, language: Option<&Language>) -> Option<i64> {
    let (negative, plain) = match words.strip_prefix(['-', '−']) {
        Some(plain) => (true, plain),
        None => (false, words.strip_prefix('+').unwrap_or(words)),
    };
    let is_grouping = |mark: char| {
        language.is_some_and(|language| mark == language.grouping || THIN.contains(&mark))
    };
    let mut groups = plain.split(is_grouping);
    // Folded one by one: folding the whole would turn a thin space into an ordinary one.
    let mut number = fold(groups.next()?);
    let is_grouped = plain.contains(is_grouping);
    if is_grouped && !(1..=3).contains(&number.len()) {
        return None;
    }
    for group in groups {
        let group = fold(group);
        if group.len() != 3 {
            return None;
        }
        number.push_str(&group);
    }
    let all_digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let sign = if negative { "-" } else { "" };
    all_digits.then(|| format!("{sign}{number}").parse().ok()).flatten()
}

fn in_words(words: &str, language: &Language) -> Option<i64> {
    let tokens = tokens(words)?;
    let is_phrase = |phrase: &&[&str]| {
        phrase.len() == tokens.len()
            && tokens.iter().zip(*phrase).all(|(token, word)| token.is_word(&[word]))
    };
    match tokens.as_slice() {
        [token] => small(token, language),
        [minus, number] if minus.is_word(&[language.minus]) => {
            let number = small(number, language).or_else(|| number.number().map(|(n, _)| n.into()));
            number.map(|number| -number)
        }
        _ => language.one_more.iter().any(is_phrase).then_some(1),
    }
}

/// A small number in words.
pub(super) fn small(token: &Token, language: &Language) -> Option<i64> {
    match token {
        Token::Word(word) => {
            language.numbers.iter().find(|(name, _)| name == word).map(|(_, number)| *number)
        }
        Token::Digits(_) | Token::Mark(_) => None,
    }
}
