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
use turnframe_core::id::{AccountId, CaseRef, DomainActorKey, EntryId};
use turnframe_ledger::{
    AppendError, MarkKind, MarkQuery, StreamName, Version, append::APPEND_MAX_ENTRIES,
};
use turnframe_runtime::applied::{Applied, CommandRef};
use turnframe_runtime::domain::{SetTimer, TimerChanges, job_of, stream};
use turnframe_runtime::port::{ErasedDomainActor, REACTIONS_MAX, ReactError, Reaction};
use turnframe_runtime::turn::Cases;

use crate::conversation::CaseRoutes;
use crate::shared::{Registries, Root, Shared};
use crate::sweeper::{self, Sweeping};

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
        for event in &applied.events {
            let reactions = self.in_time(self.actor.react(event)).await?;
            self.carry_out(applied, event.id, None, event.id, &reactions).await?;
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

    /// Carries out what an entry led to: an event, or a timer that was set for it.
    async fn carry_out(
        &self,
        applied: &Applied,
        cause: EntryId,
        fired: Option<&SetTimer>,
        event: EntryId,
        reactions: &[Reaction],
    ) -> Done {
        let cases = CaseRoutes(self.registries.cases.clone());
        let mut nth = 0;
        for reaction in reactions {
            let Reaction::Run { case, command } = reaction else { continue };
            let now = self.shared.ids().now();
            let job = job_of(&self.key, (cause, nth), applied, (case, command), now)?;
            let report = cases.execute(job).await?;
            tracing::debug!(actor = %self.key, %case, outcome = ?report.outcomes.first(), "a command was run");
            nth += 1;
        }
        let keeps = reactions.iter().any(|it| !matches!(it, Reaction::Run { .. }));
        if keeps || fired.is_some() {
            let changes = |standing: &[SetTimer]| {
                TimerChanges::of(reactions, fired.cloned(), applied.command.version, standing)
            };
            self.change_timers(&applied.command, (cause, event), reactions, changes).await?;
        }
        Ok(())
    }

    /// Appends changes of timers, decided again where another change came between.
    async fn change_timers(
        &self,
        command: &CommandRef,
        (cause, event): (EntryId, EntryId),
        reactions: &[Reaction],
        changes: impl Fn(&[SetTimer]) -> TimerChanges,
    ) -> Done {
        let shared = &self.shared;
        for _ in 0..shared.limits.append_attempts_max {
            let head = self.head(command).await?;
            let changes = changes(&self.standing(command, reactions).await?);
            if changes.is_empty() {
                return Ok(());
            }
            let about = (cause, event);
            let append = changes.append(&self.key, about, command, head, shared.ids())?;
            match shared.append(&append).await {
                Ok(_) => {
                    shared.nudges.timers.send_replace(());
                    return Ok(());
                }
                // All of it was appended before, in one append.
                Err(AppendError::DuplicateKey { .. }) => return Ok(()),
                Err(AppendError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err("the actor's timers for the case changed again and again".into())
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
        let changes =
            |_: &[SetTimer]| TimerChanges { set: vec![(None, at)], ..TimerChanges::default() };
        self.change_timers(command, (command.id, command.id), &[], changes).await
    }
}
