use async_trait::async_trait;
use turnframe_core::id::Locale;
use turnframe_core::receipt::OperationalReceipt;

/// All that a model is told when it words a reply: the emitted receipts are its allowed facts, and nothing
/// else about effects reaches it (ADR-005).
#[derive(Debug, Clone)]
pub struct NarrationBrief {
    /// The reader's language.
    pub locale: Locale,
    /// The receipts of the turn.
    pub receipts: Vec<OperationalReceipt>,
}

/// Why no words came. The reply goes out with the server's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the narrator is unavailable: {0}")]
pub struct NarratorError(pub String);

/// Words a transition around the server's blocks, after the commit (I17).
#[async_trait]
pub trait Narrator: Send + Sync + 'static {
    /// Words to put first, if any.
    async fn words(&self, brief: &NarrationBrief) -> Result<Option<String>, NarratorError>;
}
