//! A directory from the ledger itself: an actor may address the cases that the actor brought into being.
//!
//! The members are marks, set in the append that creates a case, so that a case is found from the moment
//! it exists. Answers are kept in memory for a bounded number of actors, and for as long as the process owns the
//! partition: then nobody else adds to them.

use std::sync::Arc;

use async_trait::async_trait;
use dashmap::DashMap;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, ActorId, CaseRef, ConversationId};
use turnframe_ledger::{EventLedger, MarkKind, MarkQuery, PartitionId, StreamName};

use crate::port::{CANDIDATES_MAX, CaseDirectory, DirectoryError};

/// The most actors whose cases are kept in memory.
pub const ACTORS_CACHED_MAX: usize = 100_000;

/// The mark by which an actor's case is found.
#[must_use]
pub fn member_key(actor: &ActorId, case: &CaseRef) -> String {
    format!("{}{case}", member_prefix(actor))
}

fn member_prefix(actor: &ActorId) -> String {
    format!("actor/{actor}/")
}

type ActorKey = (AccountId, ActorId);

/// An actor's cases, newest first. While they are being read for the first time, cases that come into being
/// meanwhile are noted here already, so that the read cannot lose them.
#[derive(Default)]
struct Known {
    cases: Vec<CaseRef>,
    /// The tenure of the partition in which they were read.
    read_in: Option<u32>,
}

impl Known {
    fn add(&mut self, cases: impl IntoIterator<Item = CaseRef>) {
        self.cases.extend(cases);
        // Case ids are time-ordered: newest first.
        self.cases.sort_by_key(|case| std::cmp::Reverse(case.case));
        self.cases.dedup();
        // One more than a turn takes says that there are more.
        self.cases.truncate(CANDIDATES_MAX + 1);
    }
}

/// See the module's own words.
pub struct LedgerDirectory {
    ledger: Arc<dyn EventLedger>,
    known: DashMap<ActorKey, Known>,
}

impl LedgerDirectory {
    /// A directory over a ledger.
    #[must_use]
    pub fn new(ledger: Arc<dyn EventLedger>) -> Self {
        Self { ledger, known: DashMap::new() }
    }

    async fn read(&self, actor: &ActorContext) -> Result<Vec<CaseRef>, DirectoryError> {
        let mut query = MarkQuery::of(MarkKind::Member);
        query.account = Some(actor.account.clone());
        query.prefix = member_prefix(&actor.actor);
        let mut cases = Vec::new();
        loop {
            let page = self.ledger.marks(query.clone()).await;
            let page = page.map_err(|error| DirectoryError(error.to_string()))?;
            let Some(last) = page.last() else { break };
            query.after = Some((last.account.clone(), last.key.clone()));
            cases.extend(page.into_iter().filter_map(|mark| match mark.stream {
                StreamName::Case(case) => Some(case),
                StreamName::Conversation(_) | StreamName::Effect(_) | StreamName::Domain(..) => {
                    None
                }
            }));
        }
        Ok(cases)
    }
}

#[async_trait]
impl CaseDirectory for LedgerDirectory {
    async fn candidates(
        &self,
        actor: &ActorContext,
        _conversation: &ConversationId,
    ) -> Result<Vec<CaseRef>, DirectoryError> {
        let key = (actor.account.clone(), actor.actor.clone());
        if self.known.len() >= ACTORS_CACHED_MAX {
            self.known.clear();
        }
        let tenure = self.ledger.ownership().tenure(PartitionId::of(&actor.account));
        {
            let mut known = self.known.entry(key.clone()).or_default();
            match known.read_in {
                Some(read_in) if read_in == tenure => return Ok(known.cases.clone()),
                // Another process may have added to them.
                Some(_) => *known = Known::default(),
                None => {}
            }
        }
        let cases = self.read(actor).await?;
        let mut known = self.known.entry(key).or_default();
        known.add(cases);
        known.read_in = Some(tenure).filter(|tenure| *tenure != 0);
        Ok(known.cases.clone())
    }

    /// A case beyond the newest [`CANDIDATES_MAX`] is still the actor's own.
    async fn authorize_case(
        &self,
        actor: &ActorContext,
        _conversation: &ConversationId,
        case: &CaseRef,
    ) -> Result<bool, DirectoryError> {
        let mut query = MarkQuery::of(MarkKind::Member);
        query.account = Some(actor.account.clone());
        query.prefix = member_key(&actor.actor, case);
        query.limit = 1;
        let found = self.ledger.marks(query).await;
        Ok(!found.map_err(|error| DirectoryError(error.to_string()))?.is_empty())
    }

    fn case_opened(&self, actor: &ActorContext, _conversation: &ConversationId, case: &CaseRef) {
        let key = (actor.account.clone(), actor.actor.clone());
        if let Some(mut known) = self.known.get_mut(&key) {
            known.add([case.clone()]);
        }
    }
}
