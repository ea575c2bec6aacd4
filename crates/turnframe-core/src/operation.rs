//! What a workflow declares: operations, their slots, topics it answers, and the phrases that name them.
//!
//! Declarations are data. An interpreter reads them and knows no domain word of its own; a model is shown
//! them as the closed offer of a turn (I9).

use serde::{Deserialize, Serialize};

use crate::id::{Locale, OperationKey, SlotName, TopicKey};

/// An operation a workflow offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSpec {
    /// Its key within the workflow.
    pub key: OperationKey,
    /// Whether it brings a new case into being.
    pub creates: bool,
    /// The places its arguments go to.
    pub slots: Vec<SlotSpec>,
    /// How people say it.
    pub phrases: Vec<Phrase>,
    /// What the operation is called in notices.
    pub names: Vec<Phrase>,
}

/// A place for an argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotSpec {
    /// Its name within the operation.
    pub name: SlotName,
    /// What may stand there.
    pub kind: SlotKind,
    /// Whether the operation cannot be compiled without it.
    pub required: bool,
}

/// What may stand in a slot. The words become a value by code, never by a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    /// Words as they are.
    Text,
    /// A whole number.
    Integer,
    /// A civil date.
    Date,
    /// A civil date and time in the actor's zone; a gap or an overlap asks (RFC 5545 names both).
    Moment,
    /// One of these.
    Choice(Vec<Choice>),
}

/// A value of a closed list, and the words that mean it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// The words, in each language.
    pub words: Vec<Phrase>,
}

/// A way to say something in a language.
///
/// In an operation's or topic's phrases, `{slot}` stands for an argument, `{target}` for the words that
/// name a record, `[…]` for what may be missing and `(a|b)` for alternatives, as in
/// `(open|start) a loan of {title} [for {reader}]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrase {
    /// The language.
    pub locale: Locale,
    /// The words.
    pub words: String,
}

impl Phrase {
    /// A phrase in a language.
    #[must_use]
    pub fn new(locale: &Locale, words: impl Into<String>) -> Self {
        Self { locale: locale.clone(), words: words.into() }
    }
}

/// A question a workflow answers from a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSpec {
    /// Its key within the workflow.
    pub key: TopicKey,
    /// How people ask it.
    pub phrases: Vec<Phrase>,
}

/// An argument's value, computed from the user's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotValue {
    /// Words as they are.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A civil date.
    Date(jiff::civil::Date),
    /// An instant, and the civil time it was said as.
    Moment {
        /// The instant, in microseconds since the Unix epoch.
        at: crate::source::Timestamp,
        /// The civil time that was said.
        civil: jiff::civil::DateTime,
    },
    /// A value of the slot's list.
    Choice(String),
}
