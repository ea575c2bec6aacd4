//! Scripted doubles of everything a turn asks outside: a model that reads, a model that words, a remote that acts.
//!
//! A script is data of the test: what is answered to which message or attempt. Each double records what it was
//! asked, so that a test can say what a model is shown and what a remote was sent. All of them are stateless where a
//! real one is: a process that crashed and starts anew is answered as before.
//!
//! **Never here:** a rule of the system. A double answers what its script says, garbage included, and never checks
//! whether it should.

mod destination;
mod interpreter;
mod narrator;
mod proposal;

pub use destination::{Behaviour, BookEntry, Lookup, ScriptedDestination, delivery};
pub use interpreter::{Asked, Line, ScriptedInterpreter, fails, garbage, hangs, means};
pub use narrator::ScriptedNarrator;
pub use proposal::{Proposal, Said, propose, words};
