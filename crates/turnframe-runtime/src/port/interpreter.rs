use async_trait::async_trait;
use turnframe_core::understanding::{Brief, Understanding};

/// Why nothing was proposed. The turn goes on and says that it could not read the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpreterError {
    /// The model cannot be reached, or took too long.
    #[error("the interpreter is unavailable: {0}")]
    Unavailable(String),
    /// The model's answer does not have the expected shape.
    #[error("the interpreter's answer was refused: {0}")]
    Refused(String),
}

/// Proposes what a message means (I9). What it proposes is checked before anything reads it.
#[async_trait]
pub trait Interpreter: Send + Sync + 'static {
    /// Name and version, recorded with every plan it led to (I20).
    fn version(&self) -> String;

    /// Proposes a meaning. `refused` holds the exact error of the proposal before, when this is the one
    /// second try.
    async fn understand(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError>;
}
