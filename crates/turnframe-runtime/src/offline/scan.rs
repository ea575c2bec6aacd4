//! A message as words with what is known of each: its generic meaning, the words of phrases it matches, and
//! where a clause may begin.
//!
//! A contraction is two tokens of one word. Words in quotation marks are a value and nothing else: no word of a
//! phrase is seen in them, no negation and no end of a clause.

use turnframe_core::words::{Message, Pointer, WordRange};

use super::form::{Form, fold};
use super::lexicon::{Class, Lexicon};
use super::vocabulary::{CueId, Vocabulary};

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
    /// The lexeme it belongs to.
    pub(super) lexeme: usize,
    /// What it does by itself, where its lexeme is cut.
    pub(super) alone: Class,
}

/// Tokens that mean something together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme {
    /// The first token.
    pub(super) start: usize,
    /// One past the last.
    pub(super) end: usize,
    /// What they do.
    pub(super) class: Class,
}

/// A word of a phrase, found in the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// Which.
    pub(super) cue: CueId,
    /// At which token.
    pub(super) at: usize,
    /// In which form.
    pub(super) form: Form,
}

/// Why a clause may begin at a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JointKind {
    /// The sentence before it has ended.
    Hard,
    /// A comma or its like.
    Soft,
    /// A word that joins clauses.
    Word,
    /// A word that often begins a clause.
    Cue,
}

/// A place where a clause may begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Joint {
    /// Before this token.
    pub(super) at: usize,
    /// Why.
    pub(super) kind: JointKind,
}

/// A message, scanned.
#[derive(Debug)]
pub(super) struct Scan<'m> {
    /// The message.
    pub(super) message: &'m Message,
    /// Its tokens.
    pub(super) tokens: Vec<Token>,
    /// What they mean together; they cover all tokens in order.
    pub(super) lexemes: Vec<Lexeme>,
    /// Every word of a phrase, in order of the word and of where it stands.
    hits: Vec<Hit>,
    /// The same in the order of the tokens.
    cues: Vec<(usize, CueId)>,
    /// Where clauses may begin, in order; the first token is none.
    pub(super) joints: Vec<Joint>,
}

impl<'m> Scan<'m> {
    /// Scans a message.
    pub(super) fn new(message: &'m Message, lexicon: &Lexicon, vocabulary: &Vocabulary) -> Self {
        let mut tokens = tokens(message, lexicon);
        quote(message, &mut tokens);
        let lexemes = lexemes(message, &mut tokens, lexicon);
        let mut hits = Vec::new();
        for (at, token) in tokens.iter_mut().enumerate().filter(|(_, token)| !token.is_quoted) {
            vocabulary.find(&token.fold, |cue, form| {
                token.opens |= vocabulary.opens(cue);
                hits.push(Hit { cue, at, form });
            });
        }
        let cues = hits.iter().map(|hit: &Hit| (hit.at, hit.cue)).collect();
        hits.sort_unstable();
        let mut scan = Self { message, tokens, lexemes, hits, cues, joints: Vec::new() };
        scan.joints = scan.find_joints();
        scan
    }

    /// Where a word of a phrase stands among the tokens from `start` to `end`.
    pub(super) fn hits(&self, cue: CueId, start: usize, end: usize) -> &[Hit] {
        let from = self.hits.partition_point(|hit| (hit.cue, hit.at) < (cue, start));
        let to = self.hits[from..].partition_point(|hit| (hit.cue, hit.at) < (cue, end));
        &self.hits[from..from + to]
    }

    /// The words of phrases that a token is.
    pub(super) fn cues_at(&self, at: usize) -> impl Iterator<Item = CueId> {
        let from = self.cues.partition_point(|(token, _)| *token < at);
        self.cues[from..].iter().take_while(move |(token, _)| *token == at).map(|(_, cue)| *cue)
    }

    /// The words of tokens.
    pub(super) fn words(&self, start: usize, end: usize) -> WordRange {
        WordRange { start: self.tokens[start].word, end: self.tokens[end - 1].word + 1 }
    }

    /// A pointer to the words of tokens.
    pub(super) fn pointer(&self, start: usize, end: usize) -> Option<Pointer> {
        self.message.pointer(self.words(start, end))
    }

    /// The text of tokens.
    pub(super) fn text(&self, start: usize, end: usize) -> &str {
        self.message.slice(self.words(start, end)).unwrap_or_default()
    }

    /// What a token's lexeme does.
    pub(super) fn class(&self, token: usize) -> Class {
        self.lexemes[self.tokens[token].lexeme].class
    }

    /// The lexeme that begins at a token within a range; a token of a lexeme that is cut stands for itself.
    pub(super) fn lexeme_from(&self, token: usize, end: usize) -> Option<Lexeme> {
        let known = self.tokens.get(token).filter(|_| token < end)?;
        let lexeme = self.lexemes[known.lexeme];
        let is_whole = lexeme.start == token && lexeme.end <= end;
        let alone = Lexeme { start: token, end: token + 1, class: known.alone };
        Some(if is_whole { lexeme } else { alone })
    }

    /// The lexeme that ends before a token within a range; a token of a lexeme that is cut stands for itself.
    pub(super) fn lexeme_to(&self, start: usize, token: usize) -> Option<Lexeme> {
        let last = token.checked_sub(1).filter(|last| *last >= start)?;
        let known = self.tokens.get(last)?;
        let lexeme = self.lexemes[known.lexeme];
        let is_whole = lexeme.end == token && lexeme.start >= start;
        let alone = Lexeme { start: last, end: token, class: known.alone };
        Some(if is_whole { lexeme } else { alone })
    }

    /// The joints strictly within a range.
    pub(super) fn joints_within(&self, start: usize, end: usize) -> &[Joint] {
        let from = self.joints.partition_point(|joint| joint.at <= start);
        let to = self.joints.partition_point(|joint| joint.at < end);
        &self.joints[from..to.max(from)]
    }

    fn find_joints(&self) -> Vec<Joint> {
        let opens = Class::CORRECTION
            .or(Class::CANCELLATION)
            .or(Class::NEGATION)
            .or(Class::HYPOTHETICAL)
            .or(Class::CONDITION)
            .or(Class::YES)
            .or(Class::REQUEST)
            .or(Class::REMARK)
            .or(Class::QUESTION);
        let kind = |at: usize| {
            let token = &self.tokens[at];
            let lexeme = self.lexemes[token.lexeme];
            if token.is_quoted && at > 0 && self.tokens[at - 1].is_quoted {
                return None;
            }
            match token.before {
                Break::Hard => return Some(JointKind::Hard),
                Break::Soft => return Some(JointKind::Soft),
                Break::None => {}
            }
            let begins = lexeme.start == at && !token.is_quoted;
            if begins && lexeme.class.has(Class::CONNECTIVE) {
                return Some(JointKind::Word);
            }
            let is_cue = begins && lexeme.class.has(opens) || token.opens;
            is_cue.then_some(JointKind::Cue)
        };
        let joint = |at| kind(at).map(|kind| Joint { at, kind });
        (1..self.tokens.len()).filter_map(joint).collect()
    }
}

fn tokens(message: &Message, lexicon: &Lexicon) -> Vec<Token> {
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
fn numbers_a_line(token: &Token, after: &str) -> bool {
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

/// Marks the tokens in quotation marks, unless that is all of them.
fn quote(message: &Message, tokens: &mut [Token]) {
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

/// Cuts the tokens into lexemes, the longest first.
fn lexemes(message: &Message, tokens: &mut [Token], lexicon: &Lexicon) -> Vec<Lexeme> {
    let shouts = message.text().chars().all(|letter| !letter.is_lowercase());
    let mut lexemes = Vec::with_capacity(tokens.len());
    let mut start = 0;
    while start < tokens.len() {
        let first = &tokens[start];
        let span = message.span(first.word as usize).unwrap_or_default();
        let word = &message.text()[span];
        // A capital within a sentence makes a name of any word: "lend Never Let Me Go".
        let is_name = first.before == Break::None
            && first.starts_word
            && !shouts
            && is_titled(word)
            && !lexicon.keeps_capital(&first.fold);
        let first_is_quoted = first.is_quoted;
        let (length, class) = if is_name || first_is_quoted {
            (1, Class::default())
        } else {
            let word = |ahead: usize| {
                let token = tokens.get(start + ahead)?;
                let joins = ahead == 0 || (token.before == Break::None && !token.is_quoted);
                joins.then_some(token.fold.as_str())
            };
            lexicon.longest(word)
        };
        let numbers = tokens.get(start + 1).is_some_and(|next| next.before == Break::Hard)
            && numbers_a_line(&tokens[start], ". ");
        let class = if numbers { Class::FILLER.or(Class::CONNECTIVE) } else { class };
        if !is_name && !first_is_quoted {
            for token in &mut tokens[start..start + length] {
                token.alone = lexicon.class(&token.fold);
            }
        }
        for token in &mut tokens[start..start + length] {
            token.lexeme = lexemes.len();
        }
        lexemes.push(Lexeme { start, end: start + length, class });
        start += length;
    }
    lexemes
}

fn is_titled(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase)
}
