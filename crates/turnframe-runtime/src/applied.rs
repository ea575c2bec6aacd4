//! A command that was applied, read back from the ledger with its events: what is told to a conversation, and what a
//! domain actor is shown.

use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{AccountId, CaseRef, CaseRevision, ConversationId, EntryId, Locale};
use turnframe_core::personal::SealError;
use turnframe_core::plan::ActOutcome;
use turnframe_core::registry::StoredEvent;
use turnframe_ledger::{Entry, EntryKind, StreamName, Version};

use crate::record::{CaseCommand, CaseEvent};

/// Where a command stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRef {
    /// The tenant.
    pub account: AccountId,
    /// The case.
    pub case: CaseRef,
    /// Its version on the case's stream.
    pub version: Version,
    /// Its entry.
    pub id: EntryId,
}

impl CommandRef {
    /// The command that an entry records; none where it records something else.
    #[must_use]
    pub fn of(entry: &Entry) -> Option<Self> {
        let StreamName::Case(case) = &entry.stream else { return None };
        let (account, case) = (entry.account.clone(), case.clone());
        let command = Self { account, case, version: entry.version, id: entry.id };
        (entry.kind == EntryKind::CaseCommand).then_some(command)
    }
}

/// A command that was applied, with the events it came to.
#[derive(Debug, Clone)]
pub struct Applied {
    /// Where it stands.
    pub command: CommandRef,
    /// The conversation it concerns.
    pub conversation: ConversationId,
    /// The reader's language.
    pub locale: Locale,
    /// The revision that its commit made.
    pub revision: CaseRevision,
    /// What it came to.
    pub events: Vec<CommittedEvent<StoredEvent>>,
}

impl Applied {
    /// Reads a command from its entry and those that follow it on its stream. `None` where it was not applied.
    ///
    /// # Errors
    /// [`AppliedError`]; a command whose events are cut off is to be read again with more of its stream.
    pub fn read<'a>(
        entry: &Entry,
        following: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Option<Self>, AppliedError> {
        let Some(command) = CommandRef::of(entry) else { return Ok(None) };
        let recorded: CaseCommand = entry.body.open()?;
        let ActOutcome::Applied { events: named, revision, .. } = recorded.outcome else {
            return Ok(None);
        };
        let mut events = Vec::with_capacity(named.len());
        let mut following = following.into_iter();
        for id in named {
            let entry = following.next().ok_or(AppliedError::CutOff)?;
            if entry.id != id || entry.kind != EntryKind::CaseEvent {
                return Err(AppliedError::Strange(entry.id));
            }
            let CaseEvent { revision, event } = entry.body.open()?;
            events.push(CommittedEvent {
                id,
                case: command.case.clone(),
                revision,
                recorded_at: entry.recorded_at,
                event: StoredEvent { schema: entry.schema, json: event },
            });
        }
        let (conversation, locale) = (recorded.conversation, recorded.locale);
        Ok(Some(Self { command, conversation, locale, revision, events }))
    }
}

/// Why a command's events cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppliedError {
    /// Not all of them are there.
    #[error("the events of the command are cut off")]
    CutOff,
    /// Something else stands where one should be.
    #[error("{0} stands where an event of the command should")]
    Strange(EntryId),
    /// An entry cannot be read.
    #[error(transparent)]
    Seal(#[from] SealError),
}
