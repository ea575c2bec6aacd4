//! The test kit, public so that an adopter proves a workflow or a store of their own with it.
//!
//! [`ledger`] is the contract of a ledger, [`sources`] are a manual clock and seeded entropy.
//!
//! For a workflow: [`given`] tests a decision by the history it meets, [`explore`] walks through all states and checks
//! what each must hold. For a whole system: [`script`] stands in for models and remotes, [`fault`] kills the process at
//! every place where it touches what outlives it. [`sample`] is a small workflow to run where one's own is not the
//! point. [`postgres`] is a throwaway server for stores that live in one, and [`place`] is where throwaway files lie.

pub mod destination;
pub mod explore;
pub mod fault;
pub mod given;
pub mod ledger;
mod literal;
pub mod place;
pub mod postgres;
pub mod sample;
pub mod script;
pub mod simulated;
pub mod sources;

pub use literal::literal;
