//! A person on file: state, commands and events.

use serde::{Deserialize, Serialize};
use turnframe_core::id::SubjectId;
use turnframe_core::personal::Personal;

/// Where a file is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLifecycle {
    /// It does not exist yet.
    #[default]
    New,
    /// It is in use.
    Active,
    /// It was put away.
    Archived,
}

/// A file about one person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TravellerState {
    /// Where it is in its life.
    pub lifecycle: FileLifecycle,
    /// Whom it is about.
    pub subject: Option<SubjectId>,
    /// What the person is called.
    pub name: Option<Personal<String>>,
    /// The person's number in a loyalty programme.
    pub loyalty_number: Option<Personal<String>>,
}

impl TravellerState {
    /// Whose name has to be asked for. An erased name is not asked for again: forgetting was the point.
    #[must_use]
    pub fn nameless(&self) -> Option<&SubjectId> {
        let asks = self.lifecycle == FileLifecycle::Active && self.name.is_none();
        self.subject.as_ref().filter(|_| asks)
    }

    /// The name, unless it was never given or was erased.
    #[must_use]
    pub fn known_name(&self) -> Option<&Personal<String>> {
        self.name.as_ref().filter(|name| name.value().is_some())
    }
}

/// A command to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TravellerCommand {
    /// Opens a file.
    Register {
        /// Whom it is about.
        subject: SubjectId,
        /// What the person is called, where that was said.
        name: Option<Personal<String>>,
    },
    /// Writes down what the person is called.
    SetName {
        /// What.
        name: Personal<String>,
    },
    /// Writes down the person's number in a loyalty programme.
    SetLoyaltyNumber {
        /// Which.
        number: Personal<String>,
    },
    /// Puts the file away.
    Archive,
}

/// An event of a file. Shapes on ledgers: a change keeps a frozen fixture of the old shape and an upcaster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TravellerEvent {
    /// A file was opened.
    TravellerRegistered {
        /// Whom it is about.
        subject: SubjectId,
        /// What the person is called.
        name: Option<Personal<String>>,
    },
    /// The person is called something.
    NameSet {
        /// What.
        name: Personal<String>,
    },
    /// The person has a loyalty number.
    LoyaltyNumberSet {
        /// Which.
        number: Personal<String>,
    },
    /// The file was put away.
    TravellerArchived,
}
