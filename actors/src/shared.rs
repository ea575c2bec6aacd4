//! What every actor of a process is handed.

use std::sync::Arc;

use ractor::ActorRef;
use tokio::sync::watch;
use turnframe_core::id::{AccountId, CaseRef, ConversationId, EffectId};
use turnframe_core::source::IdSource;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::snapshot::SnapshotStore;
use turnframe_ledger::{
    Append, AppendError, Appended, Entry, EventLedger, MarkKind, MarkQuery, ReadError, StreamName,
    Version,
};
use turnframe_runtime::effect::{mark_key, mark_prefix};
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::turn::TurnEngine;

use crate::case::CaseMessage;
use crate::conversation::ConversationMessage;
use crate::limits::Limits;
use crate::registry::Registry;
use crate::tenure::Served;
use crate::writer::LedgerWriter;

/// A conversation of an account.
pub(crate) type ConversationKey = (AccountId, ConversationId);
/// A case of an account.
pub(crate) type CaseKey = (AccountId, CaseRef);

/// Everything below the registries.
pub(crate) struct Shared {
    pub(crate) ledger: Arc<dyn EventLedger>,
    pub(crate) snapshots: Arc<dyn SnapshotStore>,
    pub(crate) writer: LedgerWriter,
    pub(crate) engine: TurnEngine,
    pub(crate) limits: Limits,
    pub(crate) nudges: Nudges,
    pub(crate) served: Served,
}

impl Shared {
    pub(crate) fn ids(&self) -> &IdSource {
        self.engine.ids()
    }

    /// The entries of an effect up to one that is to be carried on, without asking the ledger where that can be. There
    /// may be later ones, written elsewhere: whoever builds on the last of these appends at its version.
    pub(crate) async fn effect_up_to(
        &self,
        account: &AccountId,
        effect: EffectId,
        version: Version,
    ) -> Result<Arc<Vec<Entry>>, ReadError> {
        let first = Version::NONE.plus(1);
        match self.writer.fresh().entries(account, &StreamName::Effect(effect), first) {
            Some(entries) if entries.last().is_some_and(|last| last.version >= version) => {
                Ok(entries)
            }
            Some(_) | None => self.effect(account, effect).await.map(Arc::new),
        }
    }

    /// All entries of an effect, from the ledger.
    pub(crate) async fn effect(
        &self,
        account: &AccountId,
        effect: EffectId,
    ) -> Result<Vec<Entry>, ReadError> {
        let (stream, mut entries) = (StreamName::Effect(effect), Vec::new());
        loop {
            let after = entries.last().map_or(Version::NONE, |last: &Entry| last.version);
            let page = self.ledger.read_stream(account, &stream, after, PAGE_MAX).await?;
            let is_last = page.len() < PAGE_MAX;
            entries.extend(page);
            if is_last {
                return Ok(entries);
            }
        }
    }

    /// Whether no effect of the case to the same destination is open before this one.
    pub(crate) async fn is_first(
        &self,
        account: &AccountId,
        effect: EffectId,
        fold: &EffectFold,
    ) -> Result<bool, ReadError> {
        let query = MarkQuery {
            account: Some(account.clone()),
            prefix: mark_prefix(&fold.requested),
            limit: 1,
            ..MarkQuery::of(MarkKind::Effect)
        };
        let first = self.ledger.marks(query).await?;
        let own = mark_key(&fold.requested, effect);
        Ok(first.first().is_none_or(|first| first.key == own))
    }

    /// Appends once, with patience for a ledger that is away.
    pub(crate) async fn append(&self, append: &Append) -> Result<Appended, AppendError> {
        let mut attempt = 0;
        loop {
            let answer = self.writer.append(append.clone()).await;
            attempt += 1;
            match answer {
                Err(AppendError::Unavailable { .. })
                    if attempt < self.limits.append_attempts_max =>
                {
                    tokio::time::sleep(self.limits.append_backoff * attempt).await;
                }
                answer => return answer,
            }
        }
    }
}

/// The registries.
#[derive(Clone)]
pub(crate) struct Registries {
    pub(crate) conversations: Registry<ConversationKey, ConversationMessage>,
    pub(crate) cases: Registry<CaseKey, CaseMessage>,
}

/// Hints that something may be due. They may be lost or merged: marks are the truth, and are swept.
pub(crate) struct Nudges {
    pub(crate) effects: watch::Sender<()>,
    pub(crate) facts: watch::Sender<()>,
    pub(crate) timers: watch::Sender<()>,
    /// Something was committed.
    pub(crate) commits: watch::Sender<()>,
}

impl Default for Nudges {
    fn default() -> Self {
        Self {
            effects: watch::Sender::new(()),
            facts: watch::Sender::new(()),
            timers: watch::Sender::new(()),
            commits: watch::Sender::new(()),
        }
    }
}

/// The supervisor that actors are linked to.
pub(crate) type Root = ActorRef<crate::supervisor::SupervisorMessage>;
