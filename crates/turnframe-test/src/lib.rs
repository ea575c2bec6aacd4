//! The test kit, public so that an adopter proves a workflow or a store of their own with it.
//!
//! [`ledger`] is the contract of a ledger, [`sources`] are a manual clock and seeded entropy.

pub mod ledger;
pub mod sources;
