//! ractor shells around the runtime: who serialises what, who is started when, who survives whom.
//!
//! [`System`] is the whole of it for a host. Asks go down only: conversation to case to writer; upward travels
//! news, by the relay. No actor here decides anything: decisions are functions of `turnframe-runtime` and
//! `turnframe-core`.

mod backlog;
mod callback;
mod case;
mod conversation;
mod domain;
mod error;
mod fresh;
mod limits;
mod load;
mod operator;
mod outbox;
mod registry;
mod relay;
mod shared;
pub mod slot;
mod supervisor;
mod sweeper;
mod system;
mod tenure;
mod writer;

pub use backlog::Backlog;
pub use callback::{Callback, Called};
pub use error::{CallbackError, PostError, ResolveError};
pub use limits::Limits;
pub use operator::Resolution;
pub use system::{StartError, System, SystemParts, TurnInput};
