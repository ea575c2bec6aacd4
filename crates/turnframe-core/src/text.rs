//! Text that the server shows and may have to forget in part.

use serde::{Deserialize, Serialize};

use crate::personal::Personal;

/// What stands where a personal run was erased.
pub const ERASED: &str = "[erased]";

/// A stretch of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// Words about nobody.
    Plain(String),
    /// Words about a person.
    Personal(Personal<String>),
}

/// Text made of plain and personal runs, so that erasing a person takes their words out of every card,
/// receipt and transcript, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Text(Vec<Run>);

impl Text {
    /// Text without words.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// This text and then these words.
    #[must_use]
    pub fn plain(mut self, words: impl AsRef<str>) -> Self {
        match self.0.last_mut() {
            Some(Run::Plain(last)) => last.push_str(words.as_ref()),
            Some(Run::Personal(_)) | None => self.0.push(Run::Plain(words.as_ref().to_owned())),
        }
        self
    }

    /// This text and then these words about a person.
    #[must_use]
    pub fn personal(mut self, words: &Personal<String>) -> Self {
        self.0.push(Run::Personal(words.clone()));
        self
    }

    /// This text and then another.
    #[must_use]
    pub fn text(mut self, other: &Self) -> Self {
        for run in &other.0 {
            self = match run {
                Run::Plain(words) => self.plain(words),
                Run::Personal(words) => self.personal(words),
            };
        }
        self
    }

    /// The runs in order.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.0
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Display for Text {
    /// The words as they are shown, with [`ERASED`] where a person was forgotten.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|run| match run {
            Run::Plain(words) => f.write_str(words),
            Run::Personal(words) => f.write_str(words.value().map_or(ERASED, String::as_str)),
        })
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        Self::new().plain(words)
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Self::new().plain(words)
    }
}
