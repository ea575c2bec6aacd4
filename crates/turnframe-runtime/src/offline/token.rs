//! The words of a message one by one, and what stands between them.
//!
//! A contraction is two tokens of one word. Words in quotation marks are a value and nothing else: no word of a
//! phrase is seen in them, no negation and no end of a clause.

use turnframe_core::words::Message;

use super::form::fold;
use super::lexicon::{Class, Lexicon};

/// What stands between a token and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// Nothing that separates.
    None,
    /// A comma and its like.
    Soft,
    /// The end of a sentence.
    Hard,
}

/// A word of the message, or half of a contraction.
#[derive(Debug)]
pub(super) struct Token {
    /// Which word.
    pub(super) word: u32,
    /// Folded.
    pub(super) fold: String,
    /// Whether the word starts here.
    pub(super) starts_word: bool,
    /// What stands before it.
    pub(super) before: Break,
    /// Whether a question mark follows.
    pub(super) asks: bool,
    /// Whether it stands in quotation marks.
    pub(super) is_quoted: bool,
    /// Whether a phrase may begin with it.
    pub(super) opens: bool,
    /// Whether its capital makes a name of it.
    pub(super) is_name: bool,
    /// The lexeme it belongs to.
    pub(super) lexeme: usize,
    /// What it does by itself, where its lexeme is cut.
    pub(super) alone: Class,
}

/// The tokens of a message.
pub(super) fn tokens(message: &Message, lexicon: &Lexicon) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(message.len() + 4);
    let mut end = 0;
    for (index, word) in message.words().enumerate() {
        let span = message.span(index).unwrap_or_default();
        let between = &message.text()[end..span.start];
        end = span.end;
        let before = match tokens.last_mut() {
            None => Break::Hard,
            Some(last) if numbers_a_line(last, between) => Break::Hard,
            Some(last) => between_tokens(between, last, lexicon),
        };
        let folded = fold(word);
        let halves = lexicon.contraction(&folded);
        let mut push = |fold: String, starts_word: bool, before: Break| {
            let word = u32::try_from(index).unwrap_or(u32::MAX);
            tokens.push(Token {
                word,
                fold,
                starts_word,
                before,
                asks: false,
                is_quoted: false,
                opens: false,
                is_name: false,
                lexeme: 0,
                alone: Class::default(),
            });
        };
        match halves {
            Some([first, second]) => {
                push(first.to_owned(), true, before);
                push(second.to_owned(), false, Break::None);
            }
            None => push(folded, true, before),
        }
    }
    let rest = &message.text()[end..];
    if let Some(last) = tokens.last_mut() {
        between_tokens(rest, last, lexicon);
    }
    tokens
}

/// Whether a token is the number of a line, as in `1. renew it`.
pub(super) fn numbers_a_line(token: &Token, after: &str) -> bool {
    let is_number = token.fold.len() <= 2 && token.fold.bytes().all(|it| it.is_ascii_digit());
    is_number && token.before == Break::Hard && matches!(after, ". " | ") " | ".) ")
}

/// What the characters between two tokens come to.
fn between_tokens(between: &str, last: &mut Token, lexicon: &Lexicon) -> Break {
    let mut found = Break::None;
    let is_ordinal = last.fold.len() <= 2 && last.fold.bytes().all(|it| it.is_ascii_digit());
    let closes_nothing =
        is_ordinal || last.fold.chars().count() == 1 || lexicon.is_abbreviation(&last.fold);
    // What stands before a closing quotation mark is of the quotation.
    let touching = between.find(char::is_whitespace).unwrap_or(between.len());
    let closed = between[..touching].rfind(['"', '“', '”', '»', '’']);
    let outside = closed.map_or(between, |at| between[at..].trim_start_matches(is_quotation_mark));
    for character in outside.chars() {
        let kind = match character {
            '?' | '？' => {
                last.asks = true;
                Break::Hard
            }
            '!' | ';' | '\n' | '…' | '！' | '。' => Break::Hard,
            '.' if closes_nothing => Break::None,
            '.' => Break::Hard,
            ',' | ':' | '(' | ')' | '–' | '—' => Break::Soft,
            // A dash with a space before it separates; one within a word joins.
            '-' if between.starts_with(' ') => Break::Soft,
            mark if is_quotation_mark(mark) => Break::None,
            // Joins pictures.
            '\u{200d}' | '\u{fe0f}' => Break::None,
            // Pictures stand where people would otherwise put a comma.
            picture if !picture.is_ascii() && !picture.is_whitespace() => Break::Soft,
            _ => Break::None,
        };
        found = found.max(kind);
    }
    found
}

fn is_quotation_mark(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '«' | '»' | '‘' | '’')
}

/// Marks the tokens in quotation marks and those of lines that quote another message, unless that is all of them.
pub(super) fn quote(message: &Message, tokens: &mut [Token]) {
    const PAIRS: [(char, &[char]); 4] =
        [('"', &['"']), ('“', &['”']), ('„', &['“', '”', '"']), ('«', &['»'])];
    let mut quoted = vec![false; tokens.len()];
    let mut open: Option<(&[char], usize)> = None;
    let mut end = 0;
    for (index, token) in tokens.iter().enumerate() {
        let span = message.span(token.word as usize).unwrap_or_default();
        let between = message.text().get(end..span.start).unwrap_or_default();
        end = span.end;
        open = turn_quotes(between, open, index, &mut quoted);
        let line = message.text()[..span.start].rsplit('\n').next().unwrap_or_default();
        quoted[index] |= line.trim_start().starts_with('>');
    }
    turn_quotes(&message.text()[end..], open, tokens.len(), &mut quoted);
    if quoted.iter().any(|is_quoted| !is_quoted) {
        for (token, is_quoted) in tokens.iter_mut().zip(quoted) {
            token.is_quoted = is_quoted;
        }
    }

    fn turn_quotes<'q>(
        between: &str,
        mut open: Option<(&'q [char], usize)>,
        index: usize,
        quoted: &mut [bool],
    ) -> Option<(&'q [char], usize)>
    where
        'static: 'q,
    {
        for character in between.chars() {
            match open {
                Some((closing, start)) if closing.contains(&character) => {
                    quoted[start..index].fill(true);
                    open = None;
                }
                Some(_) => {}
                None => {
                    let pair = PAIRS.iter().find(|(opening, _)| *opening == character);
                    open = pair.map(|(_, closing)| (*closing, index));
                }
            }
        }
        open
    }
}
