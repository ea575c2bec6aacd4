//! The mini language of declared phrases, documented at [`turnframe_core::operation::Phrase`].
//!
//! A phrase is parsed once, when the grammar is compiled. Alternatives of single words stay together;
//! alternatives that hold more are multiplied out, so that what follows sees plain sequences.

use turnframe_core::words::Message;

use super::form::fold;
use super::lexicon::Lexicon;

/// The most plain sequences that a phrase may stand for.
pub(super) const VARIANTS_MAX: usize = 64;
/// How deep groups may be nested.
const DEPTH_MAX: usize = 8;

/// Why a phrase cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhraseFault {
    /// A bracket has no partner, or stands where none may.
    #[error("brackets do not match")]
    Brackets,
    /// An alternative, an optional part or the whole has nothing in it.
    #[error("a part is empty")]
    Empty,
    /// Groups are nested too deep, or multiply out to too many sequences.
    #[error("more than {VARIANTS_MAX} ways of reading, or nested deeper than {DEPTH_MAX}")]
    TooMany,
    /// There is no word that must be said, so that any words would do.
    #[error("no word is mandatory")]
    NoWord,
    /// A slot is not the operation's.
    #[error("there is no slot {0}")]
    Slot(String),
    /// Two slots follow each other and nothing tells where one ends.
    #[error("nothing tells where {0} ends")]
    Adjacent(String),
}

/// A part of a plain sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    /// One of these words, folded.
    Word(Vec<String>),
    /// A place for a value, or for the words that name a record.
    Place(String),
    /// What may be missing.
    Optional(Vec<Self>),
}

/// A part of a phrase as it is written.
enum Raw {
    Word(String),
    Place(String),
    Group(Vec<Vec<Self>>),
    Optional(Vec<Vec<Self>>),
}

/// Every plain sequence that a phrase stands for.
pub(super) fn parse(phrase: &str, lexicon: &Lexicon) -> Result<Vec<Vec<Node>>, PhraseFault> {
    let mut parser = Parser { rest: phrase, lexicon };
    let alternatives = parser.alternatives(0)?;
    if !parser.rest.is_empty() {
        return Err(PhraseFault::Brackets);
    }
    let mut sequences = Vec::new();
    for alternative in &alternatives {
        sequences.extend(multiply(alternative)?);
    }
    sequences.dedup();
    let too_many = sequences.len() > VARIANTS_MAX;
    if too_many { Err(PhraseFault::TooMany) } else { Ok(sequences) }
}

struct Parser<'p> {
    rest: &'p str,
    lexicon: &'p Lexicon,
}

impl Parser<'_> {
    /// Reads up to the bracket that closes this level, or to the end.
    fn alternatives(&mut self, depth: usize) -> Result<Vec<Vec<Raw>>, PhraseFault> {
        if depth > DEPTH_MAX {
            return Err(PhraseFault::TooMany);
        }
        let mut alternatives = vec![Vec::new()];
        loop {
            self.rest = self.rest.trim_start();
            match self.rest.chars().next() {
                None | Some(')' | ']') => break,
                Some('|') => {
                    self.rest = &self.rest[1..];
                    alternatives.push(Vec::new());
                }
                Some('(') => {
                    let group = Raw::Group(self.bracketed(')', depth)?);
                    push(&mut alternatives, group);
                }
                Some('[') => {
                    let group = Raw::Optional(self.bracketed(']', depth)?);
                    push(&mut alternatives, group);
                }
                Some('{') => {
                    let (name, rest) =
                        self.rest[1..].split_once('}').ok_or(PhraseFault::Brackets)?;
                    push(&mut alternatives, Raw::Place(name.trim().to_owned()));
                    self.rest = rest;
                }
                Some(_) => self.words(&mut alternatives),
            }
        }
        let empty = alternatives.iter().any(Vec::is_empty);
        if empty { Err(PhraseFault::Empty) } else { Ok(alternatives) }
    }

    fn bracketed(&mut self, closing: char, depth: usize) -> Result<Vec<Vec<Raw>>, PhraseFault> {
        self.rest = &self.rest[1..];
        let alternatives = self.alternatives(depth + 1)?;
        self.rest = self.rest.strip_prefix(closing).ok_or(PhraseFault::Brackets)?;
        Ok(alternatives)
    }

    /// Words as a message has them, so that `what's` and `check-in` match what is said.
    fn words(&mut self, alternatives: &mut [Vec<Raw>]) {
        let end = self.rest.find(['(', ')', '[', ']', '{', '|']).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        let Ok(message) = Message::new(text) else { return };
        for word in message.words().map(fold) {
            match self.lexicon.contraction(&word) {
                Some(words) => {
                    for word in words {
                        push(alternatives, Raw::Word(word.to_owned()));
                    }
                }
                None => push(alternatives, Raw::Word(word)),
            }
        }
    }
}

fn push(alternatives: &mut [Vec<Raw>], raw: Raw) {
    if let Some(last) = alternatives.last_mut() {
        last.push(raw);
    }
}

/// The plain sequences of a sequence with groups.
fn multiply(sequence: &[Raw]) -> Result<Vec<Vec<Node>>, PhraseFault> {
    let mut products: Vec<Vec<Node>> = vec![Vec::new()];
    for raw in sequence {
        let choices: Vec<Vec<Node>> = match raw {
            Raw::Word(word) => vec![vec![Node::Word(vec![word.clone()])]],
            Raw::Place(name) => vec![vec![Node::Place(name.clone())]],
            Raw::Group(alternatives) => choices(alternatives)?,
            Raw::Optional(alternatives) => {
                choices(alternatives)?.into_iter().map(|it| vec![Node::Optional(it)]).collect()
            }
        };
        let extend = |product: &Vec<Node>| {
            let product = product.clone();
            choices.iter().map(move |choice| [product.as_slice(), choice.as_slice()].concat())
        };
        products = products.iter().flat_map(extend).collect();
        if products.len() > VARIANTS_MAX {
            return Err(PhraseFault::TooMany);
        }
    }
    Ok(products)
}

/// Alternatives of one word become one node, all others a sequence each.
fn choices(alternatives: &[Vec<Raw>]) -> Result<Vec<Vec<Node>>, PhraseFault> {
    let mut words = Vec::new();
    let mut choices = Vec::new();
    for alternative in alternatives {
        match alternative.as_slice() {
            [Raw::Word(word)] => words.push(word.clone()),
            longer => choices.extend(multiply(longer)?),
        }
    }
    if !words.is_empty() {
        choices.insert(0, vec![Node::Word(words)]);
    }
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(nodes: &[Node]) -> String {
        let node = |node: &Node| match node {
            Node::Word(words) => words.join("/"),
            Node::Place(name) => format!("{{{name}}}"),
            Node::Optional(nodes) => format!("[{}]", shown(nodes)),
        };
        nodes.iter().map(node).collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn check(phrase: &str, expected: &[&str]) {
        let sequences = parse(phrase, Lexicon::of("en")).expect("phrase");
        let sequences: Vec<_> = sequences.iter().map(|nodes| shown(nodes)).collect();
        assert_eq!(sequences, expected, "{phrase}");
    }

    #[test]
    fn alternatives_of_single_words_stay_together_and_longer_ones_multiply() {
        check("(lend|loan) [a] book {title}", &["lend/loan [a] book {title}"]);
        check("(lend|check out) {title}", &["lend {title}", "check out {title}"]);
        check("add [a|another|{count}] copy", &["add [a/another] copy", "add [{count}] copy"]);
        check("renew it | extend it", &["renew it", "extend it"]);
        check("(what is|what's) due", &["what is due"]);
        check("Check-in [on {date} [at {time}]]", &["check in [on {date} [at {time}]]"]);
    }

    #[test]
    fn malformed_phrases_are_refused() {
        for phrase in ["(a", "a)", "[a", "a]", "{a", "(a]", "[b|c"] {
            let fault = parse(phrase, Lexicon::of("en"));
            assert_eq!(fault, Err(PhraseFault::Brackets), "{phrase}");
        }
        for phrase in ["", "()", "a (|b)", "[ ] a", "| a", "…"] {
            assert_eq!(parse(phrase, Lexicon::of("en")), Err(PhraseFault::Empty), "{phrase}");
        }
        let wide = "(a b|c d) ".repeat(7);
        assert_eq!(parse(&wide, Lexicon::of("en")), Err(PhraseFault::TooMany));
        let deep = format!("{}a{}", "[".repeat(20), "]".repeat(20));
        assert_eq!(parse(&deep, Lexicon::of("en")), Err(PhraseFault::TooMany));
    }
}
