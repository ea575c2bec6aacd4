//! Ports: what a deployment plugs into the turn.

mod destination;
mod directory;
mod interpreter;
mod narrator;

pub use destination::{
    Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};
pub use directory::{CANDIDATES_MAX, CaseDirectory, DirectoryError, OriginToken};
pub use interpreter::{Interpreter, InterpreterError};
pub use narrator::{NarrationBrief, Narrator, NarratorError};
