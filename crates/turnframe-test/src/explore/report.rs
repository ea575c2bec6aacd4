//! What an exploration has seen, or what it found broken.

use std::collections::BTreeMap;
use std::fmt;

use turnframe_core::canonical::Json;
use turnframe_core::claim::ClaimViolation;
use turnframe_core::id::{EntryId, Locale, OperationKey, OptionId};
use turnframe_core::view::ViewError;

/// How far an exploration came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many states there were.
    pub states: usize,
    /// How many commands led from a state to events.
    pub transitions: usize,
    /// How many states there were in each phase.
    pub phases: BTreeMap<String, usize>,
    /// How many commands were refused with each code.
    pub rejections: BTreeMap<String, usize>,
    /// The most commands on the way to a state.
    pub depth: usize,
    /// Whether every reachable state was seen: no limit cut one off.
    pub is_complete: bool,
}

/// A state that breaks something, and the shortest way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The commands on the way, from the initial state.
    pub path: Vec<Json>,
    /// The state.
    pub state: Option<Json>,
    /// What is broken.
    pub broken: Broken,
}

impl std::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.broken)?;
        for (index, command) in self.path.iter().enumerate() {
            write!(f, "\n  {}. {}", index + 1, command.as_str())?;
        }
        match &self.state {
            Some(state) => write!(f, "\n  in the state {}", state.as_str()),
            None => Ok(()),
        }
    }
}

/// What a workflow must hold and does not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// The projection breaks an invariant.
    #[error("{0}")]
    View(#[from] ViewError),
    /// The projection breaks an invariant once every person was erased.
    #[error("once every person is erased, {0}")]
    ErasedView(ViewError),
    /// I2: one state, two projections.
    #[error("projecting a state twice gives two views")]
    UnstableView,
    /// Phase, obligations or offer depend on the language.
    #[error("phase, obligations or offer differ between {0} and {1}")]
    ViewOfLanguage(Locale, Locale),
    /// An operation is on offer that the workflow does not declare.
    #[error("operation {0} is on offer and not declared")]
    UndeclaredOperation(OperationKey),
    /// Two options of the required card share an id: a client could not name the second.
    #[error("the required card has two options {0}")]
    RepeatedOption(OptionId),
    /// A command was refused with a code that nobody declared.
    #[error("{command} is refused with the unknown code {code:?}")]
    UnknownRejection {
        /// The command.
        command: String,
        /// The code.
        code: String,
    },
    /// A refusal has no words.
    #[error("the rejection {code:?} has no words in {locale}")]
    WordlessRejection {
        /// The code.
        code: String,
        /// The language.
        locale: Locale,
    },
    /// A command that needs a click has a card without words.
    #[error("the confirmation of {command} has no words in {locale}")]
    WordlessConfirmation {
        /// The command.
        command: String,
        /// The language.
        locale: Locale,
    },
    /// A state that nobody can leave and that is not closed.
    #[error("phase {phase:?} is a dead end: no command applies and nobody outside is waited for")]
    DeadEnd {
        /// The phase.
        phase: String,
    },
    /// One command, two decisions: the decision is not pure.
    #[error("deciding {command} twice gives two decisions")]
    UnstableDecision {
        /// The command.
        command: String,
    },
    /// Replayed events give another state than the live one.
    #[error("replaying the stored events gives another state: {0}")]
    Replay(String),
    /// A value does not read back equal from its JSON.
    #[error("{what} does not survive its JSON: {reason}")]
    RoundTrip {
        /// State, command or event.
        what: &'static str,
        /// What went wrong.
        reason: String,
    },
    /// A receipt claims what is not on record.
    #[error("the receipts of {command} do not pass the claim guard in {locale}: {source}")]
    Claim {
        /// The command.
        command: String,
        /// The language.
        locale: Locale,
        /// What the guard says.
        source: ClaimViolation,
    },
    /// An event that no receipt cites.
    #[error("no receipt of {command} cites its event {event}")]
    Uncited {
        /// The command.
        command: String,
        /// The event.
        event: EntryId,
    },
    /// A workflow that requests effects and has no command for what becomes of them.
    #[error("an effect was requested, and its conclusion makes no command")]
    NoConclusion,
    /// The conclusion of an effect was refused; it must be applied or recorded as an anomaly.
    #[error("the conclusion {command} is refused with {code:?}")]
    ConclusionRefused {
        /// The command.
        command: String,
        /// The code.
        code: String,
    },
}
