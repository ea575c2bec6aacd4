//! Types and pure functions of Turnframe.
//!
//! Models propose meaning, deterministic reducers decide effects, committed events decide claims. This
//! crate holds what those three sentences are made of:
//!
//! - **meaning**: [`words`], [`operation`], [`understanding`], [`target`], [`value`];
//! - **decision**: [`workflow`], [`registry`], [`view`], [`policy`], [`interaction`], [`plan`], [`reduce`];
//! - **claim**: [`event`], [`receipt`], [`block`], [`claim`];
//! - beneath them: [`id`], [`source`], [`context`], [`text`], [`personal`], [`canonical`].
//!
//! **Absent on purpose:** async, I/O, a clock, randomness, SQL, HTTP, and every word of a sample domain.

pub mod block;
pub mod canonical;
pub mod claim;
pub mod context;
pub mod event;
pub mod id;
pub mod interaction;
pub mod operation;
pub mod personal;
pub mod plan;
pub mod policy;
pub mod receipt;
pub mod reduce;
pub mod registry;
pub mod source;
pub mod target;
pub mod text;
pub mod understanding;
pub mod value;
pub mod view;
pub mod words;
pub mod workflow;

#[cfg(test)]
mod testing;
