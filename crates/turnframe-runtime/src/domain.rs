//! What a domain actor's reactions come to: jobs for cases, and appends for timers. Pure.
//!
//! Whatever is asked for because of an entry has a key that names the entry, so that a reaction that is made again
//! repeats nothing, and one that has become another is made as well. A timer is an entry of the stream that the actor
//! has for the case, and a mark that is due when it fires; the append that ends it clears the mark. Neither a set nor a
//! cancellation undoes a timer that a later event set: a reaction may be made again when those behind it were made
//! already. A cancellation is not remembered: an event that failed and is shown after it sets its timer all the same.

use std::fmt;
use std::str::FromStr;

use turnframe_core::canonical::Json;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{
    AccountId, ActorId, CaseId, CaseRef, ConversationId, DomainActorKey, EntryId, IdError, Locale,
    SubjectId, TimerName,
};
use turnframe_core::personal::SealError;
use turnframe_core::plan::{Action, Step};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::source::{IdSource, Timestamp};
use turnframe_ledger::append::NotAKey;
use turnframe_ledger::stream::DomainStream;
use turnframe_ledger::{Append, EntryKind, MarkChange, MarkKind, NewEntry, StreamName, Version};

use crate::applied::CommandRef;
use crate::entry::EntryBuilder;
use crate::execute::{CaseJob, JobStep};
use crate::key;
use crate::port::Reaction;
use crate::record::{FactKey, TimerOver, TimerSet};

/// Why a reaction cannot be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// The actor's name leaves no room for the prefix that tells it from people.
    #[error("the name of the domain actor is too long: {0}")]
    Name(#[from] IdError),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] NotAKey),
    /// The timer cannot be stored.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// Who a domain actor's commands are recorded for: never a person of the same name.
///
/// # Errors
/// [`IdError::TooLong`] when the name leaves no room for the prefix.
pub fn identity(actor: &DomainActorKey) -> Result<ActorId, IdError> {
    let identity = ActorId::new(format!("domain:{actor}"))?;
    SubjectId::new(format!("actor:{identity}"))?;
    Ok(identity)
}

/// The stream of a domain actor's timers for a case.
#[must_use]
pub fn stream(actor: &DomainActorKey, case: &CaseRef) -> StreamName {
    StreamName::Domain(Box::new(DomainStream { actor: actor.clone(), case: case.clone() }))
}

/// Where what becomes of a command is told, and in which language.
#[derive(Debug, Clone)]
pub struct ToldIn {
    /// The conversation that the case concerned last.
    pub conversation: ConversationId,
    /// Its reader's language.
    pub locale: Locale,
}

/// The job that runs a command which an entry led a domain actor to: the nth time it asks for this very one.
///
/// # Errors
/// [`DomainError`] when the actor's name or the key does not fit.
pub fn job_of(
    actor: &DomainActorKey,
    (cause, nth): (EntryId, usize),
    (account, told_in): (&AccountId, ToldIn),
    (case, command): (&CaseRef, &Json),
    now: Timestamp,
) -> Result<CaseJob, DomainError> {
    let context = ActorContext {
        account: account.clone(),
        actor: identity(actor)?,
        locale: told_in.locale,
        time_zone: "UTC".to_owned(),
    };
    let origin = CommandOrigin::InternalPolicy { rule: actor.to_string() };
    let action = Action::Run { command: command.clone(), origin, resolves: None };
    let step = JobStep {
        act: None,
        operation: None,
        key: key::domain(actor, cause, (case, command), nth)?,
        act_key: None,
        facts: vec![cause.to_string()],
        step: Step::on(case.clone(), action),
    };
    Ok(CaseJob {
        case: case.clone(),
        conversation: told_in.conversation,
        turn: None,
        causation: Some(cause),
        speaker: context.subject()?,
        actor: context,
        expected: None,
        now,
        steps: vec![step],
        carries: None,
    })
}

/// A timer that is set, as its mark names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetTimer {
    /// Whose.
    pub actor: DomainActorKey,
    /// For which case of the workflow that the actor follows.
    pub case: CaseId,
    /// Which; none where the actor failed and is to be shown what a command came to again.
    pub timer: Option<TimerName>,
    /// The version, on the case's stream, of the event that it was set for; where there is no name, of the command.
    pub about: Version,
    /// The entry that set it.
    pub set: FactKey,
}

/// Stands for the timer of an actor that failed. No timer can have this name.
const AGAIN: &str = "~";

impl fmt::Display for SetTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = Self::prefix(&self.actor, self.case, self.timer.as_ref());
        write!(f, "{prefix}{:012}/{}", self.about.0, self.set)
    }
}

impl FromStr for SetTimer {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('/');
        let mut next = || parts.next().ok_or(());
        let actor = next()?.parse().map_err(|_| ())?;
        let case = next()?.parse().map_err(|_| ())?;
        let timer = match next()? {
            AGAIN => None,
            name => Some(name.parse().map_err(|_| ())?),
        };
        let about = Version(next()?.parse().map_err(|_| ())?);
        let set = next()?.parse()?;
        if parts.next().is_some() { Err(()) } else { Ok(Self { actor, case, timer, about, set }) }
    }
}

impl SetTimer {
    /// What the marks of a timer's name begin with.
    #[must_use]
    pub fn prefix(actor: &DomainActorKey, case: CaseId, timer: Option<&TimerName>) -> String {
        format!("{actor}/{case}/{}/", timer.map_or(AGAIN, TimerName::as_str))
    }
}

/// What is to become of a domain actor's timers for a case, in one append.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimerChanges {
    /// The timer that led to it.
    pub fired: Option<SetTimer>,
    /// Timers to set, by name.
    pub set: Vec<(Option<TimerName>, Timestamp)>,
    /// Timers that are taken back, or replaced.
    pub cancelled: Vec<SetTimer>,
}

impl TimerChanges {
    /// What reactions to an event of this version ask of timers, where these are set: `standing` has those of every name
    /// that is asked about. What was set for the event before, when it was shown before, is not set again.
    #[must_use]
    pub fn of(
        reactions: &[Reaction],
        fired: Option<SetTimer>,
        about: Version,
        standing: &[SetTimer],
        set_before: &[TimerName],
    ) -> Self {
        let mut changes = Self { fired, ..Self::default() };
        for reaction in reactions {
            let (timer, at) = match reaction {
                Reaction::Run { .. } => continue,
                Reaction::Wake { timer, at } => (timer, Some(*at)),
                Reaction::Cancel { timer } => (timer, None),
            };
            if set_before.contains(timer) {
                continue;
            }
            // The last word on a name counts.
            changes.set.retain(|(name, _)| name.as_ref() != Some(timer));
            let of_name = standing.iter().filter(|it| it.timer.as_ref() == Some(timer));
            let (later, earlier): (Vec<_>, Vec<_>) =
                of_name.partition(|standing| standing.about > about);
            for standing in earlier {
                if changes.fired.as_ref() != Some(standing) && !changes.cancelled.contains(standing)
                {
                    changes.cancelled.push(standing.clone());
                }
            }
            changes.set.extend(at.filter(|_| later.is_empty()).map(|at| (Some(timer.clone()), at)));
        }
        changes
    }

    /// Whether nothing changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fired.is_none() && self.set.is_empty() && self.cancelled.is_empty()
    }

    /// The append that makes them, for what an entry led to. Repeated, its keys are found taken.
    ///
    /// # Errors
    /// [`DomainError`] when an entry or a key cannot be made.
    pub fn append(
        &self,
        actor: &DomainActorKey,
        (cause, event): (EntryId, (EntryId, Version)),
        command: &CommandRef,
        head: Version,
        ids: &IdSource,
    ) -> Result<Append, DomainError> {
        let stream = stream(actor, &command.case);
        let builder = EntryBuilder { ids, turn: None, causation: Some(cause) };
        let (mut entries, mut keys, mut marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = |timer: &SetTimer, kind| -> Result<NewEntry, DomainError> {
            marks.push(MarkChange::Clear { kind: MarkKind::Timer, key: timer.to_string() });
            Ok(builder.build(&stream, kind, &TimerOver { set: timer.set.entry })?)
        };
        if let Some(fired) = &self.fired {
            entries.push(end(fired, EntryKind::TimerFired)?);
        }
        for cancelled in &self.cancelled {
            entries.push(end(cancelled, EntryKind::TimerCancelled)?);
        }
        for (timer, at) in &self.set {
            let (case, (event, about)) = (command.case.case, event);
            let (timer, command) = (timer.clone(), command.version);
            let payload = TimerSet { timer: timer.clone(), at: *at, command, event };
            let entry = builder.build(&stream, EntryKind::TimerSet, &payload)?;
            let place = head.plus(entries.len() as u64 + 1);
            let set = FactKey { version: place, entry: entry.id };
            let name = key::timer(actor, cause, timer.as_ref().map_or(AGAIN, TimerName::as_str))?;
            keys.push(key::claim(name, &[], entries.len()));
            let timer = SetTimer { actor: actor.clone(), case, timer, about, set };
            let (kind, key, stream) = (MarkKind::Timer, timer.to_string(), stream.clone());
            marks.push(MarkChange::Set { kind, key, stream, due: *at });
            entries.push(entry);
        }
        let expected = vec![(stream, head)];
        Ok(Append { account: command.account.clone(), expected, entries, keys, marks })
    }
}

#[cfg(test)]
mod tests;
