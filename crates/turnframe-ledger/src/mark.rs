//! Marks: the small index records that an append sets and clears in its own transaction.
//!
//! A mark says that something is still owed (a turn to finish, an effect to send, a fact to carry on) or
//! how a record is found. Because it changes with the entries it belongs to, a sweep at start finds exactly
//! what a crash left open, and its cost is proportional to that, never to the length of the ledger.

use serde::{Deserialize, Serialize};
use turnframe_core::id::AccountId;
use turnframe_core::source::Timestamp;

use crate::stream::{PartitionId, PartitionSet, StreamName};

/// The longest key of a mark, in bytes.
pub const MARK_KEY_MAX_BYTES: usize = 320;
/// The most marks of one page.
pub const MARK_PAGE_MAX: usize = 1_000;
/// The kinds whose backlog is told.
pub const BACKLOG_KINDS: [MarkKind; 2] = [MarkKind::Effect, MarkKind::Parked];
/// Up to how many marks of a group are counted: more is that many and more.
pub const BACKLOG_COUNT_MAX: usize = 10_000;
/// The most groups of a kind whose backlog is told.
pub const BACKLOG_GROUPS_MAX: usize = 1_000;

macro_rules! mark_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal),+ $(,)?) => {
        /// What a mark is about. Names are stored and never change.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum MarkKind {
            $($(#[$doc])* $kind),+
        }

        impl MarkKind {
            /// Every kind there is.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The stored name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$kind => $name),+
                }
            }

            /// The kind of a stored name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == name)
            }
        }
    };
}

mark_kinds! {
    /// A turn was accepted and not answered yet.
    Turn = "turn",
    /// A card is open.
    Card = "card",
    /// An effect has to be sent, sent again, or looked up, from its due time on.
    Effect = "effect",
    /// An effect waits for an operator, since its due time.
    Parked = "parked",
    /// A fact has to be carried from its stream to the next one.
    Relay = "relay",
    /// A timer of a domain actor runs out at its due time.
    Timer = "timer",
    /// A record belongs to somebody: how a directory finds it.
    Member = "member",
}

/// An index record. Unique by account, kind and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The tenant.
    pub account: AccountId,
    /// What it is about.
    pub kind: MarkKind,
    /// Which one: printable ASCII of at most [`MARK_KEY_MAX_BYTES`] bytes.
    pub key: String,
    /// The stream it leads to.
    pub stream: StreamName,
    /// From when on it is due.
    pub due: Timestamp,
}

impl Mark {
    /// What stands before the first `/` of a key: all of it, where there is none.
    #[must_use]
    pub fn group(&self) -> &str {
        self.key.split_once('/').map_or(self.key.as_str(), |(group, _)| group)
    }
}

/// What waits in a group of marks of one kind, whoever owns their partitions, or nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// One of those that are due first. Its kind and its group are the backlog's.
    pub first: Mark,
    /// How many there are, counted up to [`BACKLOG_COUNT_MAX`].
    pub count: usize,
}

/// A change of the index in an append's transaction. The account is the append's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkChange {
    /// Sets a mark, or moves the one with this kind and key.
    Set {
        /// What it is about.
        kind: MarkKind,
        /// Which one.
        key: String,
        /// The stream it leads to.
        stream: StreamName,
        /// From when on it is due.
        due: Timestamp,
    },
    /// Clears a mark; nothing happens when it is not set.
    Clear {
        /// What it was about.
        kind: MarkKind,
        /// Which one.
        key: String,
    },
}

impl MarkChange {
    /// Which mark it changes, within its kind.
    #[must_use]
    pub fn key(&self) -> &str {
        match self {
            Self::Set { key, .. } | Self::Clear { key, .. } => key,
        }
    }

    /// The stream that a mark is set to lead to.
    #[must_use]
    pub fn stream(&self) -> Option<&StreamName> {
        match self {
            Self::Set { stream, .. } => Some(stream),
            Self::Clear { .. } => None,
        }
    }
}

/// Whether a text can be the key of a mark.
pub(crate) fn is_mark_key(text: &str) -> bool {
    (1..=MARK_KEY_MAX_BYTES).contains(&text.len()) && is_printable(text)
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Which marks to list. The answer is ordered by account and key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkQuery {
    /// What they are about.
    pub kind: MarkKind,
    /// Only of these partitions.
    pub partitions: PartitionSet,
    /// Only of this account.
    pub account: Option<AccountId>,
    /// Only keys that start with this text.
    pub prefix: String,
    /// Only those due at this moment.
    pub due_by: Option<Timestamp>,
    /// Only those after this account and key: the last of the page before.
    pub after: Option<(AccountId, String)>,
    /// At most this many, and never more than [`MARK_PAGE_MAX`].
    pub limit: usize,
}

impl MarkQuery {
    /// All marks of a kind, first page.
    #[must_use]
    pub fn of(kind: MarkKind) -> Self {
        Self {
            kind,
            partitions: PartitionSet::ALL,
            account: None,
            prefix: String::new(),
            due_by: None,
            after: None,
            limit: MARK_PAGE_MAX,
        }
    }

    /// The least text above every key with the prefix; `None` where no key can have it.
    pub(crate) fn prefix_end(&self) -> Option<String> {
        // Keys are printable ASCII, so they all sort below the prefix followed by DEL.
        is_printable(&self.prefix).then(|| format!("{}\u{7f}", self.prefix))
    }

    /// The first key that a page of one account may have; `None` where the page is empty anyway.
    pub(crate) fn first_key(&self, account: &AccountId) -> Option<String> {
        if !self.partitions.contains(PartitionId::of(account)) {
            return None;
        }
        match &self.after {
            Some((after, _)) if after > account => None,
            // Keys are printable, so none lies between a key and that key with a control character.
            Some((after, key)) if after == account => {
                Some(self.prefix.clone().max(format!("{key}\u{1}")))
            }
            Some(_) | None => Some(self.prefix.clone()),
        }
    }

    /// How many marks the page has at most.
    pub(crate) fn page(&self) -> usize {
        self.limit.min(MARK_PAGE_MAX)
    }
}
