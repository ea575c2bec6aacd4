//! Domain actors: shown what was committed, and what they ask for carried out.
//!
//! A [`follower`] reads the partitions that are served from a durable cursor; [`timers`] look for those that are due. What
//! either leads to is carried out here: commands first, each under a key that names what led to it, then the timers in
//! one append. Killed anywhere in between, all of it is asked for again, and what was done is found done.

mod follower;
mod timers;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use turnframe_core::canonical::Json;
use turnframe_core::id::{AccountId, CaseRef, DomainActorKey, EntryId, TimerName};
use turnframe_ledger::append::APPEND_MAX_ENTRIES;
use turnframe_ledger::{
    AppendError, Entry, EntryKind, KeyName, MarkKind, MarkQuery, StreamName, Version,
};
use turnframe_runtime::applied::{Applied, CommandRef};
use turnframe_runtime::domain::{SetTimer, TimerChanges, ToldIn, job_of, stream};
use turnframe_runtime::key;
use turnframe_runtime::port::{ErasedDomainActor, REACTIONS_MAX, ReactError, Reaction};
use turnframe_runtime::record::CaseCommand;
use turnframe_runtime::turn::Cases;

use crate::conversation::CaseRoutes;
use crate::shared::{Registries, Root, Shared};
use crate::sweeper::{self, Sweeping};

/// How many entries are read at once on the way back to a case's last command.
const PAGE_BACK: usize = 32;

/// Starts a domain actor: what shows it events, and what has its timers fire.
pub(crate) fn start(
    actor: Arc<dyn ErasedDomainActor>,
    shared: &Arc<Shared>,
    registries: &Registries,
    root: &Root,
) -> [Sweeping; 2] {
    let registries = registries.clone();
    let domain = Arc::new(Domain { key: actor.key(), actor, shared: shared.clone(), registries });
    let timers = sweeper::start(timers::Timers(domain.clone()), shared.clone(), root);
    [follower::start(domain, root), timers]
}

/// A domain actor and what it acts through.
struct Domain {
    key: DomainActorKey,
    actor: Arc<dyn ErasedDomainActor>,
    shared: Arc<Shared>,
    registries: Registries,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Done = Result<(), Failure>;

impl Domain {
    /// Shows the actor what a command came to, and carries out what it asks for.
    async fn react(&self, applied: &Applied) -> Done {
        for (event, version) in applied.events.iter().zip(applied.command.version.0 + 1..) {
            let reactions = self.in_time(self.actor.react(event)).await?;
            let about = Version(version);
            let cause = Cause { entry: event.id, event: event.id, about, fired: None };
            self.carry_out(applied, &cause, &reactions).await?;
        }
        Ok(())
    }

    /// What the actor asks for. It may take too long, and it may panic.
    async fn in_time(
        &self,
        asked: impl Future<Output = Result<Vec<Reaction>, ReactError>>,
    ) -> Result<Vec<Reaction>, Failure> {
        let limit = self.shared.limits.reaction;
        let asked = tokio::time::timeout(limit, AssertUnwindSafe(asked).catch_unwind()).await;
        let answer = asked.map_err(|_| format!("it took longer than {limit:?}"))?;
        let reactions = answer.map_err(|_| "it panicked")??;
        if reactions.len() > REACTIONS_MAX {
            return Err(format!("it asks for more than {REACTIONS_MAX} things at once").into());
        }
        Ok(reactions)
    }

    /// Carries out what an entry led to.
    async fn carry_out(&self, applied: &Applied, cause: &Cause, reactions: &[Reaction]) -> Done {
        let cases = CaseRoutes(self.registries.cases.clone());
        let account = &applied.command.account;
        let mut asked: Vec<(&CaseRef, &Json)> = Vec::new();
        for reaction in reactions {
            let Reaction::Run { case, command } = reaction else { continue };
            let nth = asked.iter().filter(|before| **before == (case, command)).count();
            asked.push((case, command));
            let told_in = self.told_in(applied, case).await?;
            let (of, now) = ((cause.entry, nth), self.shared.ids().now());
            let job = job_of(&self.key, of, (account, told_in), (case, command), now)?;
            let report = cases.execute(job).await?;
            tracing::debug!(actor = %self.key, %case, outcome = ?report.outcomes.first(), "a command was run");
        }
        let keeps = reactions.iter().any(|it| !matches!(it, Reaction::Run { .. }));
        if keeps || cause.fired.is_some() {
            self.change_timers(&applied.command, cause, reactions).await?;
        }
        Ok(())
    }

    /// Where what becomes of a command on a case is told: to whom the case concerned last, and not to whom an event of
    /// another case concerned.
    async fn told_in(&self, applied: &Applied, case: &CaseRef) -> Result<ToldIn, Failure> {
        if *case == applied.command.case {
            let (conversation, locale) = (applied.conversation.clone(), applied.locale.clone());
            return Ok(ToldIn { conversation, locale });
        }
        let (account, stream) = (&applied.command.account, StreamName::Case(case.clone()));
        let mut before = None;
        loop {
            let read = self.shared.ledger.read_stream_back(account, &stream, before, PAGE_BACK);
            let page = read.await?;
            let is_command = |entry: &&Entry| entry.kind == EntryKind::CaseCommand;
            if let Some(last) = page.iter().rev().find(is_command) {
                let CaseCommand { conversation, locale, .. } = last.body.open()?;
                return Ok(ToldIn { conversation, locale });
            }
            let first = page.first().ok_or("nobody has asked anything of the case yet")?;
            before = Some(first.version);
        }
    }

    /// Appends changes of timers, decided again where another change came between.
    async fn change_timers(
        &self,
        command: &CommandRef,
        cause: &Cause,
        reactions: &[Reaction],
    ) -> Done {
        let mut set_before = Vec::new();
        for _ in 0..self.shared.limits.append_attempts_max {
            let head = self.head(command).await?;
            // Taken back while it fired: what it led to beside its commands is not wanted any more.
            if !self.is_set(command, cause).await? {
                return Ok(());
            }
            let (fired, standing) = (cause.fired.clone(), self.standing(command, reactions).await?);
            let changes = TimerChanges::of(reactions, fired, cause.about, &standing, &set_before);
            match self.append(command, cause, &changes, head).await? {
                Changed::Done => return Ok(()),
                Changed::Meanwhile => {}
                Changed::Before(key) => set_before.push(self.timer_of(&key, cause, &changes)?),
            }
        }
        Err("the actor's timers for the case changed again and again".into())
    }

    async fn append(
        &self,
        command: &CommandRef,
        cause: &Cause,
        changes: &TimerChanges,
        head: Version,
    ) -> Result<Changed, Failure> {
        if changes.is_empty() {
            return Ok(Changed::Done);
        }
        let (shared, event) = (&self.shared, (cause.event, cause.about));
        let append =
            changes.append(&self.key, (cause.entry, event), command, head, shared.ids())?;
        match shared.append(&append).await {
            Ok(_) => {
                shared.nudges.timers.send_replace(());
                Ok(Changed::Done)
            }
            Err(AppendError::DuplicateKey { key, .. }) => Ok(Changed::Before(key)),
            Err(AppendError::Conflict { .. }) => Ok(Changed::Meanwhile),
            Err(error) => Err(error.into()),
        }
    }

    /// The timer of these changes that a key stands for.
    fn timer_of(
        &self,
        key: &KeyName,
        cause: &Cause,
        changes: &TimerChanges,
    ) -> Result<TimerName, Failure> {
        for timer in changes.set.iter().filter_map(|(timer, _)| timer.as_ref()) {
            if key::timer(&self.key, cause.entry, timer.as_str())? == *key {
                return Ok(timer.clone());
            }
        }
        Err("a key was claimed that nobody asked for".into())
    }

    /// Whether the timer that led to all this still stands, where one did.
    async fn is_set(&self, command: &CommandRef, cause: &Cause) -> Result<bool, Failure> {
        let Some(fired) = &cause.fired else { return Ok(true) };
        let query = MarkQuery {
            account: Some(command.account.clone()),
            prefix: fired.to_string(),
            limit: 1,
            ..MarkQuery::of(MarkKind::Timer)
        };
        Ok(!self.shared.ledger.marks(query).await?.is_empty())
    }

    /// The timers that are set under the names that reactions speak of.
    async fn standing(
        &self,
        command: &CommandRef,
        reactions: &[Reaction],
    ) -> Result<Vec<SetTimer>, Failure> {
        let mut standing = Vec::new();
        for reaction in reactions {
            let timer = match reaction {
                Reaction::Run { .. } => continue,
                Reaction::Wake { timer, .. } | Reaction::Cancel { timer } => timer,
            };
            let query = MarkQuery {
                account: Some(command.account.clone()),
                prefix: SetTimer::prefix(&self.key, command.case.case, Some(timer)),
                limit: APPEND_MAX_ENTRIES / (2 * REACTIONS_MAX),
                ..MarkQuery::of(MarkKind::Timer)
            };
            let marks = self.shared.ledger.marks(query).await?;
            standing.extend(marks.iter().filter_map(|mark| mark.key.parse::<SetTimer>().ok()));
        }
        Ok(standing)
    }

    /// The version of the stream that the actor has for a case.
    async fn head(&self, command: &CommandRef) -> Result<Version, Failure> {
        let stream = stream(&self.key, &command.case);
        let ledger = &self.shared.ledger;
        let last = ledger.read_stream_back(&command.account, &stream, None, 1).await?;
        Ok(last.last().map_or(Version::NONE, |entry| entry.version))
    }

    /// What a command came to, read from its case's stream.
    async fn applied(
        &self,
        account: &AccountId,
        case: &CaseRef,
        version: Version,
    ) -> Result<Applied, Failure> {
        let stream = StreamName::Case(case.clone());
        let before = Version(version.0.saturating_sub(1));
        let limit = APPEND_MAX_ENTRIES;
        let entries = self.shared.ledger.read_stream(account, &stream, before, limit).await?;
        let (first, rest) = entries.split_first().ok_or("the case has no such command")?;
        Ok(Applied::read(first, rest)?.ok_or("the command was not applied")?)
    }

    /// Leaves a command for later that the actor failed on, so that what is behind it goes on.
    async fn set_aside(&self, command: &CommandRef) -> Done {
        let at = self.shared.ids().now().plus(self.shared.limits.reaction_pause);
        let changes = TimerChanges { set: vec![(None, at)], ..TimerChanges::default() };
        let (entry, about) = (command.id, command.version);
        let cause = Cause { entry, event: entry, about, fired: None };
        for _ in 0..self.shared.limits.append_attempts_max {
            let head = self.head(command).await?;
            match self.append(command, &cause, &changes, head).await? {
                Changed::Done | Changed::Before(_) => return Ok(()),
                Changed::Meanwhile => {}
            }
        }
        Err("the actor's timers for the case changed again and again".into())
    }
}

/// What led a domain actor to something.
struct Cause {
    /// The entry that keys name: the event, or what set the timer that fired.
    entry: EntryId,
    /// The event.
    event: EntryId,
    /// Its version on its case's stream.
    about: Version,
    fired: Option<SetTimer>,
}

/// What came of an append of timers.
enum Changed {
    /// They are as they should be.
    Done,
    /// Another change came between.
    Meanwhile,
    /// One of them was set before, when the actor was shown the same before.
    Before(KeyName),
}
