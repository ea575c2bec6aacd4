//! Loading a stream's fold: from its snapshot where that can be trusted, and the entries after it.

use turnframe_core::canonical::Digest;
use turnframe_core::id::{AccountId, CaseRef, ConversationId};
use turnframe_core::registry::ErasedWorkflow;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::snapshot::{Snapshot, SnapshotHeader};
use turnframe_ledger::{Entry, ReadError, StreamName, Version};
use turnframe_runtime::fold::FoldError;
use turnframe_runtime::fold::case::{CaseFold, SavedCase};
use turnframe_runtime::fold::conversation::{ConversationFold, SavedConversation};

use crate::shared::Shared;
use crate::slot::StartFailure;

/// The version of the folds of this crate's streams. A change of what a fold keeps raises it.
const FOLD_VERSION: &[u8] = b"1";

/// Why a stream's fold could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// The ledger could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An entry cannot be folded: the stream stops here, and an operator is told.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

impl From<LoadError> for StartFailure {
    fn from(error: LoadError) -> Self {
        let is_transient = matches!(error, LoadError::Read(ReadError::Unavailable { .. }));
        if !is_transient {
            tracing::error!(%error, "a stream has stopped; an operator has to look at it");
        }
        Self { reason: error.to_string(), is_transient }
    }
}

impl From<ractor::SpawnErr> for StartFailure {
    fn from(error: ractor::SpawnErr) -> Self {
        Self { reason: error.to_string(), is_transient: true }
    }
}

/// Where a stream's loading starts.
struct Start {
    snapshot: Option<(Snapshot, SnapshotHeader)>,
}

impl Shared {
    /// The fold of a case.
    pub(crate) async fn load_case(
        &self,
        account: &AccountId,
        case: &CaseRef,
        workflow: &dyn ErasedWorkflow,
    ) -> Result<(CaseFold, Version), LoadError> {
        let stream = StreamName::Case(case.clone());
        let start = self.start(account, &stream, workflow.version()).await?;
        let loaded = start.decode::<SavedCase>().and_then(|(saved, header)| {
            CaseFold::load(workflow, saved, header.version, header.chain)
        });
        let from = loaded.as_ref().map_or(Version::NONE, |fold| fold.version);
        let mut fold = loaded.unwrap_or_else(|| CaseFold::new(workflow));
        loop {
            let page = self.ledger.read_stream(account, &stream, fold.version, PAGE_MAX).await?;
            let is_last = page.len() < PAGE_MAX;
            for entry in &page {
                fold = fold.apply(workflow, entry)?;
            }
            if is_last {
                return Ok((fold, from));
            }
        }
    }

    /// The fold of a conversation.
    pub(crate) async fn load_conversation(
        &self,
        account: &AccountId,
        conversation: &ConversationId,
    ) -> Result<(ConversationFold, Version), LoadError> {
        let stream = StreamName::Conversation(conversation.clone());
        let start = self.start(account, &stream, 0).await?;
        let loaded = start
            .decode::<SavedConversation>()
            .map(|(saved, header)| ConversationFold::load(saved, header.version, header.chain));
        let from = loaded.as_ref().map_or(Version::NONE, |fold| fold.version);
        let mut fold = loaded.unwrap_or_default();
        loop {
            let page = self.ledger.read_stream(account, &stream, fold.version, PAGE_MAX).await?;
            let is_last = page.len() < PAGE_MAX;
            for entry in &page {
                fold = fold.apply(entry)?;
            }
            if is_last {
                return Ok((fold, from));
            }
        }
    }

    /// The snapshot of a stream with the header that the ledger's own entry gives it.
    async fn start(
        &self,
        account: &AccountId,
        stream: &StreamName,
        workflow_version: u16,
    ) -> Result<Start, LoadError> {
        let Some(snapshot) = self.snapshots.load(account, stream).await else {
            return Ok(Start { snapshot: None });
        };
        let entry = self.entry_at(account, stream, snapshot.version()).await?;
        let header = entry.map(|entry| header(&entry, workflow_version));
        Ok(Start { snapshot: header.map(|header| (snapshot, header)) })
    }

    async fn entry_at(
        &self,
        account: &AccountId,
        stream: &StreamName,
        version: Version,
    ) -> Result<Option<Entry>, ReadError> {
        let Some(before) = version.0.checked_sub(1) else { return Ok(None) };
        Ok(self.ledger.read_stream(account, stream, Version(before), 1).await?.pop())
    }

    /// Keeps a snapshot of a stream at a version, where the state survives it.
    pub(crate) async fn save<T: serde::Serialize + serde::de::DeserializeOwned>(
        &self,
        account: &AccountId,
        stream: &StreamName,
        version: Version,
        workflow_version: u16,
        saved: &T,
    ) {
        let Ok(Some(entry)) = self.entry_at(account, stream, version).await else { return };
        if let Some(snapshot) = Snapshot::encode(header(&entry, workflow_version), saved) {
            self.snapshots.save(account, stream, snapshot).await;
        }
    }
}

fn header(entry: &Entry, workflow_version: u16) -> SnapshotHeader {
    SnapshotHeader {
        workflow_version,
        fold: Digest::of("tf.fold", &[FOLD_VERSION, env!("CARGO_PKG_VERSION").as_bytes()]),
        version: entry.version,
        chain: entry.chain,
    }
}

impl Start {
    fn decode<T: serde::de::DeserializeOwned>(self) -> Option<(T, SnapshotHeader)> {
        let (snapshot, header) = self.snapshot?;
        let saved = snapshot.decode(&header)?;
        Some((saved, header))
    }
}
