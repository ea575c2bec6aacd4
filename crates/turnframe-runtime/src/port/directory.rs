use std::fmt;

use async_trait::async_trait;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{CaseRef, ConversationId};

/// The most cases a turn considers. Where a directory returns more, the list is cut, and a single match among what is
/// left is asked about (I8): another record of the same name may have been cut off.
pub const CANDIDATES_MAX: usize = 64;

/// A reference to where a turn came from, such as a record's page. Untrusted until the directory binds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginToken(pub String);

impl fmt::Display for OriginToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The directory cannot answer right now; the turn is not reduced without it (I19).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the case directory is unavailable: {0}")]
pub struct DirectoryError(pub String);

/// Which cases an actor may address: security-relevant code of the adopter.
///
/// The account is the boundary that the runtime enforces; any narrower scope is enforced here, and only here.
/// Every case that a turn can address is asked about, a case behind an open card included.
#[async_trait]
pub trait CaseDirectory: Send + Sync + 'static {
    /// The cases this actor may address in this conversation, newest first.
    async fn candidates(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
    ) -> Result<Vec<CaseRef>, DirectoryError>;

    /// Whether the actor may address a case that [`CaseDirectory::candidates`] did not return. Refuses by
    /// default, so that the candidates are the whole definition.
    async fn authorize_case(
        &self,
        actor: &ActorContext,
        conversation: &ConversationId,
        case: &CaseRef,
    ) -> Result<bool, DirectoryError> {
        let _ = (actor, conversation, case);
        Ok(false)
    }

    /// The record an origin reference stands for, if it is this actor's. Unbound by default.
    async fn resolve_origin(
        &self,
        actor: &ActorContext,
        origin: &OriginToken,
    ) -> Result<Option<CaseRef>, DirectoryError> {
        let _ = (actor, origin);
        Ok(None)
    }

    /// A turn of this actor has brought a case into being. A hint for caches; it may be lost.
    fn case_opened(&self, actor: &ActorContext, conversation: &ConversationId, case: &CaseRef) {
        let _ = (actor, conversation, case);
    }
}
