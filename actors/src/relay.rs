//! The relay: carries facts from effect to case, and from case to conversation.
//!
//! It works from marks that were set in the append of the fact and are cleared in the append that carries it on,
//! each under the fact's entry id as key. Killed between any two of them, the next look finds the mark;
//! run twice, the second finds the key taken. It decides nothing.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{oneshot, watch};
use turnframe_core::id::{AccountId, CaseRef, EffectId};
use turnframe_core::interaction::Interaction;
use turnframe_core::source::Timestamp;
use turnframe_core::view::WorkflowView;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{Entry, Mark, MarkKind, StreamName, Version};
use turnframe_runtime::applied::Applied;
use turnframe_runtime::fold::effect::EffectFold;
use turnframe_runtime::record::FactKey;
use turnframe_runtime::relay::{job_of, update_of};
use turnframe_runtime::turn::Cases;

use crate::conversation::CaseRoutes;
use crate::conversation::ConversationMessage;
use crate::shared::{Registries, Shared};
use crate::sweeper::Duty;

/// Why a fact is not carried on that is not there.
const ELSEWHERE: &str = "the fact is not where its mark says";
/// How many facts are carried at once.
const FACTS_AT_ONCE_MAX: usize = 128;

pub(crate) struct Relay {
    registries: Registries,
}

type Carried = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl Relay {
    pub(crate) fn new(registries: Registries) -> Self {
        Self { registries }
    }

    /// An effect's conclusion goes to its case as a command.
    async fn to_case(
        &self,
        shared: &Shared,
        account: &AccountId,
        effect: EffectId,
        fact: FactKey,
    ) -> Carried {
        let entries = shared.effect_up_to(account, effect, fact.version).await?;
        let requested = EffectFold::of(&entries)?.ok_or("the effect has no entries")?.requested;
        let is_it = |entry: &&Entry| entry.version == fact.version && entry.id == fact.entry;
        let entry = entries.iter().find(is_it).ok_or(ELSEWHERE)?;
        let registry = shared.engine.registry();
        let job = job_of(registry, account, effect, &requested, entry, shared.ids().now())?;
        CaseRoutes(self.registries.cases.clone()).execute(job).await?;
        Ok(())
    }

    /// What came of it goes to the conversation as an update.
    async fn to_conversation(
        &self,
        shared: &Shared,
        account: &AccountId,
        case: &CaseRef,
        fact: FactKey,
    ) -> Carried {
        let stream = StreamName::Case(case.clone());
        let known = shared.writer.fresh().entries(account, &stream, fact.version);
        let entries = match known {
            Some(entries) => entries,
            None => {
                let before = Version(fact.version.0.saturating_sub(1));
                Arc::new(shared.ledger.read_stream(account, &stream, before, PAGE_MAX).await?)
            }
        };
        let (first, rest) = entries.split_first().ok_or(ELSEWHERE)?;
        if first.id != fact.entry {
            return Err(ELSEWHERE.into());
        }
        let applied = Applied::read(first, rest)?.ok_or("the fact was not applied")?;
        let cases = CaseRoutes(self.registries.cases.clone());
        let open = cases.open_at(account, case, applied.revision).await?;
        let workflow = shared.engine.registry().get(&case.workflow).ok_or("no such workflow")?;
        let projection = workflow.project(&open.state, &applied.locale)?;
        let view = WorkflowView { case: case.clone(), revision: applied.revision, projection };
        let is_new = |card: &Interaction| card.revision == applied.revision;
        let cards: Vec<_> = open.cards.into_iter().filter(is_new).collect();
        let update = update_of(shared.engine.registry(), &applied, &view, &cards)?;
        let (reply, posted) = oneshot::channel();
        let message = ConversationMessage::Update(Box::new(update), fact, reply);
        let key = (account.clone(), applied.conversation.clone());
        self.registries.conversations.send(&key, message).await?;
        Ok(posted.await??)
    }
}

#[async_trait]
impl Duty for Relay {
    fn kind(&self) -> MarkKind {
        MarkKind::Relay
    }

    fn prefix(&self) -> String {
        String::new()
    }

    fn concurrency(&self) -> usize {
        FACTS_AT_ONCE_MAX
    }

    fn nudges(&self, shared: &Shared) -> watch::Receiver<()> {
        shared.nudges.facts.subscribe()
    }

    /// A fact that was on its way is due like any other.
    async fn take_over(&self, _shared: &Shared, _mark: &Mark) {}

    async fn work(&self, shared: &Shared, mark: &Mark) -> Option<Timestamp> {
        let Ok(fact) = mark.key.parse::<FactKey>() else {
            tracing::error!(key = %mark.key, "a relay mark names no fact");
            return None;
        };
        let carried = match &mark.stream {
            StreamName::Effect(effect) => self.to_case(shared, &mark.account, *effect, fact).await,
            StreamName::Case(case) => self.to_conversation(shared, &mark.account, case, fact).await,
            StreamName::Conversation(_) | StreamName::Domain(..) => Ok(()),
        };
        if let Err(error) = carried {
            tracing::warn!(stream = %mark.stream, %error, "a fact has to wait for the next look");
        }
        None
    }
}
