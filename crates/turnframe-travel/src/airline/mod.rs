//! The airline: what it is asked, how it is asked over HTTP, and a simulator that keeps a book of its own.
//!
//! **Guarantees of the destination:** one call sends at most once. `NotSent` means that the airline provably did
//! nothing: no connection was made, or the airline itself says that it did not process the request. A refusal is
//! only what the airline said in a body that can be read. Everything else is `Unknown`.
//!
//! **Never here:** a retry, a follow-up of a redirect, or a reading of silence as an answer.

mod callbacks;
mod destination;
mod order;
mod protocol;
mod simulator;

pub use callbacks::AirlineCallbacks;
pub use destination::{AirlineAddressError, AirlineDestination};
pub use order::{DESTINATION, OPERATION_REBOOK, RebookingOrder};
pub use protocol::{
    AirlineCallback, AirlineDetails, AirlineRequest, AirlineStatement, IDEMPOTENCY_KEY,
    NOT_PROCESSED, Standing, UNKNOWN_KEY,
};
pub use simulator::{AirlineBook, AirlineSimulator, Behaviour, Performed};

#[cfg(test)]
mod tests;
