//! How people ask for things, in the mini language of [`turnframe_core::operation::Phrase`].
//!
//! A phrase nests no group in another and lets alternatives differ in words only, so that it reads one way.

mod de;
mod en;

use super::operations::{Operation, Topic};
use super::state::{ExtraKind, Payer};
use crate::language::Language;

/// The phrases of a language.
pub(super) trait PhraseBook: Sync {
    /// How an operation is asked for.
    fn operation(&self, operation: Operation) -> &'static [&'static str];
    /// What an operation is called; the first is what notices say.
    fn names(&self, operation: Operation) -> &'static [&'static str];
    /// How a topic is asked about.
    fn topic(&self, topic: Topic) -> &'static [&'static str];
    /// The words for a kind of extra.
    fn kind(&self, kind: ExtraKind) -> &'static [&'static str];
    /// The words for a payer.
    fn payer(&self, payer: Payer) -> &'static [&'static str];
}

/// Every language's book.
pub(super) static BOOKS: [(Language, &dyn PhraseBook); 2] =
    [(Language::English, &en::English), (Language::German, &de::German)];
