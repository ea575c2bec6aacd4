//! How much each piece of evidence weighs.
//!
//! Only sums are compared: of two readings of the same words the heavier counts, and equal weights of different
//! readings are no reading. The numbers were set so that a word of a phrase outweighs any one word left over,
//! and a value that fits outweighs a value that merely may be one.

/// A mandatory word of a phrase.
pub(super) const WORD: i32 = 60;
/// A mandatory word that is of no domain.
pub(super) const FUNCTION_WORD: i32 = 20;
/// Another form of the word.
pub(super) const INFLECTED: i32 = -8;
/// An optional word of a phrase.
pub(super) const OPTIONAL_WORD: i32 = 10;
/// Words that introduce a place.
pub(super) const INTRODUCTION: i32 = 40;
/// A date at a place whose introducing word was not said.
pub(super) const BARE_DATE: i32 = 20;
/// A value of a closed form.
pub(super) const CLOSED: i32 = 24;
/// No value of the form that the place wants.
pub(super) const MISFIT: i32 = -30;
/// Text, or words that may name a record.
pub(super) const TEXT: i32 = 10;
/// A word that stands for something said before.
pub(super) const PRONOUN: i32 = 10;
/// Each word of the name of a record in view.
pub(super) const KNOWN_WORD: i32 = 30;
/// An article or a preposition within text.
pub(super) const FUNCTION_WORD_WITHIN: i32 = -6;
/// The most that articles and prepositions within text cost: titles are full of them.
pub(super) const FUNCTION_WORDS_WITHIN_MIN: i32 = -18;
/// A comma within text.
pub(super) const COMMA_WITHIN: i32 = -10;
/// "and" within text.
pub(super) const JOINING_WORD_WITHIN: i32 = -5;
/// A verb directly after a word that would introduce a value.
pub(super) const INFINITIVE: i32 = -80;
/// A place for a record whose introducing word was not said.
pub(super) const UNNAMED: i32 = -25;
/// A comma within words that may name a record.
pub(super) const COMMA_WITHIN_NAME: i32 = -30;
/// A word within text that tells of what was done.
pub(super) const TOLD_WITHIN: i32 = -50;
/// A mandatory place without words.
pub(super) const MISSING: i32 = -30;
/// A word that is part of nothing.
pub(super) const LEFT_OVER: i32 = -20;
/// A comma between the parts of a phrase.
pub(super) const COMMA_BETWEEN: i32 = -1;
/// Rules a reading out.
pub(super) const IMPOSSIBLE: i32 = -100_000;
/// A reading below this is none.
pub(super) const ACCEPTED_MIN: i32 = 40;

/// A word of a clause that is not read.
pub(super) const UNREAD: i32 = -30;
/// A clause more: of two equal cuts the one with fewer clauses counts.
pub(super) const CLAUSE: i32 = -1;
/// A clause that begins where nothing but a word says so.
pub(super) const UNMARKED_CLAUSE: i32 = -5;
/// A greeting.
pub(super) const REMARK: i32 = 10;
/// Something is called off, or a card is answered.
pub(super) const SHORT_ACT: i32 = 40;
/// A prohibition of everything, or of whatever leaves the house.
pub(super) const BROAD_PROHIBITION: i32 = 60;
