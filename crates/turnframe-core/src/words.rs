//! The user's message as numbered words, and pointers into it (I9).
//!
//! A value that a model proposes is a range of words plus a copy of what stands there. The copy must equal
//! the slice, byte for byte: a model can misread the user, but it cannot put words into their mouth.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_segmentation::UnicodeSegmentation;

/// The longest message, in bytes.
pub const MESSAGE_MAX_BYTES: usize = 16 * 1024;
/// The most words of a message.
pub const MESSAGE_MAX_WORDS: usize = 2_000;

/// Why text cannot be a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// There is nothing but white space.
    #[error("a message must not be blank")]
    Blank,
    /// It is longer than [`MESSAGE_MAX_BYTES`] or [`MESSAGE_MAX_WORDS`].
    #[error("a message has at most {MESSAGE_MAX_BYTES} bytes and {MESSAGE_MAX_WORDS} words")]
    TooLong,
    /// It contains NUL, which not every store can keep.
    #[error("a message must not contain NUL")]
    Nul,
}

/// A half-open range of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordRange {
    /// The first word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
}

impl WordRange {
    /// Whether the ranges share a word.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Words of the message, and a copy of them that must equal the slice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pointer {
    /// Which words.
    pub words: WordRange,
    /// What stands there.
    pub copy: String,
}

/// A user's message. Words follow UAX 29 word boundaries; punctuation and emoji are no words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    text: String,
    spans: Vec<Range<usize>>,
}

impl Message {
    /// Numbers the words of a text.
    ///
    /// # Errors
    /// [`MessageError`] when the text is blank, too long or contains NUL.
    pub fn new(text: impl Into<String>) -> Result<Self, MessageError> {
        let text = text.into();
        if text.len() > MESSAGE_MAX_BYTES {
            return Err(MessageError::TooLong);
        }
        if text.contains('\0') {
            return Err(MessageError::Nul);
        }
        if text.trim().is_empty() {
            return Err(MessageError::Blank);
        }
        let spans: Vec<_> =
            text.unicode_word_indices().map(|(at, word)| at..at + word.len()).collect();
        if spans.len() > MESSAGE_MAX_WORDS {
            return Err(MessageError::TooLong);
        }
        Ok(Self { text, spans })
    }

    /// The text as it was sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no words, as in a message of emoji only.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The words in order.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.spans.iter().map(|span| &self.text[span.clone()])
    }

    /// The bytes of a word in the text.
    #[must_use]
    pub fn span(&self, word: usize) -> Option<Range<usize>> {
        self.spans.get(word).cloned()
    }

    /// What stands in a range of words, with what is between them.
    #[must_use]
    pub fn slice(&self, words: WordRange) -> Option<&str> {
        if words.start >= words.end {
            return None;
        }
        let first = self.spans.get(usize::try_from(words.start).ok()?)?;
        let last = self.spans.get(usize::try_from(words.end).ok()?.checked_sub(1)?)?;
        Some(&self.text[first.start..last.end])
    }

    /// A pointer to a range of words.
    #[must_use]
    pub fn pointer(&self, words: WordRange) -> Option<Pointer> {
        self.slice(words).map(|copy| Pointer { words, copy: copy.to_owned() })
    }

    /// Whether the pointer's copy equals what stands there.
    #[must_use]
    pub fn holds(&self, pointer: &Pointer) -> bool {
        self.slice(pointer.words) == Some(pointer.copy.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u32, end: u32) -> WordRange {
        WordRange { start, end }
    }

    #[test]
    fn case_34_emoji_do_not_shift_words() {
        let message = Message::new("🚀👍🏿 cancel 7").expect("message");
        assert_eq!(message.words().collect::<Vec<_>>(), ["cancel", "7"]);
        assert_eq!(message.slice(range(0, 2)), Some("cancel 7"));
        for start in 0..2 {
            for end in start + 1..=2 {
                let pointer = message.pointer(range(start, end)).expect("pointer");
                assert!(message.holds(&pointer));
            }
        }
    }

    #[test]
    fn a_copy_that_differs_from_its_slice_does_not_hold() {
        let message = Message::new("pay 10 euros").expect("message");
        assert!(!message.holds(&Pointer { words: range(1, 2), copy: "1000".to_owned() }));
        assert!(!message.holds(&Pointer { words: range(1, 1), copy: String::new() }));
        assert!(!message.holds(&Pointer { words: range(2, 9), copy: "euros".to_owned() }));
    }

    #[test]
    fn blank_oversized_and_nul_messages_are_refused() {
        assert_eq!(Message::new(" \n"), Err(MessageError::Blank));
        assert_eq!(Message::new("a\0b"), Err(MessageError::Nul));
        assert_eq!(Message::new("x".repeat(MESSAGE_MAX_BYTES + 1)), Err(MessageError::TooLong));
        assert_eq!(Message::new("x ".repeat(MESSAGE_MAX_WORDS + 1)), Err(MessageError::TooLong));
    }
}
