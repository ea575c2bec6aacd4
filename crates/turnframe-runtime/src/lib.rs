//! The stages of a turn as functions over ports.
//!
//! **Absent on purpose:** SQL, HTTP, actors, and every word of a sample domain.

pub mod applied;
pub mod backlog;
pub mod breaker;
pub mod compose;
pub mod directory;
pub mod domain;
pub mod effect;
pub mod entry;
pub mod execute;
pub mod fold;
pub mod key;
pub mod offline;
pub mod port;
pub mod record;
pub mod relay;
pub mod transcript;
pub mod turn;
