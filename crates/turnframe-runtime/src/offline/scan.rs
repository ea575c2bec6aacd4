//! A message as words with what is known of each: its generic meaning, the words of phrases it matches, and
//! where a clause may begin.

use turnframe_core::words::{Message, Pointer, WordRange};

use super::form::Form;
use super::lexicon::{Class, Lexicon};
use super::token::{Break, Token, numbers_a_line, quote, tokens};
use super::vocabulary::{CueId, Vocabulary};

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
            // "the loan" and "to renew" begin nothing.
            let leans = Class::DETERMINER.or(Class::PREPOSITION);
            let is_verb = token.opens && !self.tokens[at - 1].alone.has(leans);
            let is_cue = begins && lexeme.class.has(opens) || is_verb;
            is_cue.then_some(JointKind::Cue)
        };
        let joint = |at| kind(at).map(|kind| Joint { at, kind });
        (1..self.tokens.len()).filter_map(joint).collect()
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
        tokens[start].is_name = is_name;
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

/// `Dune`, and also `A`: people call things so.
fn is_titled(word: &str) -> bool {
    let mut letters = word.chars();
    let begins = letters.next().is_some_and(char::is_uppercase);
    begins && (letters.as_str().is_empty() || letters.any(char::is_lowercase))
}
