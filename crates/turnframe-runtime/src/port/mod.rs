//! Ports: what a deployment plugs into the turn.

mod callback;
mod destination;
mod directory;
mod domain;
mod interpreter;
mod narrator;

pub use callback::{CALLBACK_ID_MAX_BYTES, CallbackRefusal, Callbacks, Incoming, Statement};
pub use destination::{
    Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};
pub use directory::{CANDIDATES_MAX, CaseDirectory, DirectoryError, OriginToken};
pub use domain::{DomainActor, ErasedDomainActor, EventOf, REACTIONS_MAX, ReactError, Reaction};
pub use interpreter::{Interpreter, InterpreterError};
pub use narrator::{NarrationBrief, Narrator, NarratorError};
