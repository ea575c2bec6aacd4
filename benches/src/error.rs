//! Why something could not be measured.

use std::io;

use turnframe_actors::{PostError, StartError};
use turnframe_core::id::IdError;
use turnframe_core::registry::RepeatedWorkflow;
use turnframe_ledger::yardstick::YardstickError;
use turnframe_ledger::{AppendError, ReadError, open, postgres};

/// Something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A name was none.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The system did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The workflow was registered twice.
    #[error(transparent)]
    Workflow(#[from] RepeatedWorkflow),
    /// The ledger could not be opened.
    #[error(transparent)]
    Open(#[from] open::OpenError),
    /// The database of the bench could not be made or dropped.
    #[error(transparent)]
    Database(#[from] postgres::OpenError),
    /// The client that the ledger is measured against failed.
    #[error(transparent)]
    Yardstick(#[from] YardstickError),
    /// The ledger could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An append was refused.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// A turn was not served.
    #[error(transparent)]
    Post(#[from] PostError),
    /// The office's client could not be built.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
    /// A file could not be written, or no port be bound.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The bench did not go as it should, and its figure would say something else than its name.
    #[error("the bench did not go as it should: {0}")]
    Departed(&'static str),
    /// Effects were lost, or taken twice.
    #[error("{requested} effects were requested, and {taken} taken")]
    Unbalanced {
        /// Effects that turns requested.
        requested: usize,
        /// Deliveries that the destination took.
        taken: usize,
    },
}
