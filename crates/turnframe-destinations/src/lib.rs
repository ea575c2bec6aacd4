//! Ways to the outside world: what destinations are made of, and one of them, whatever it carries.
//!
//! [`http`] is any receiver of JSON. [`webhooks`] are signatures, both ways, and [`payload`] is
//! what an effect's payload becomes on the wire. Whatever reads its answers in another way is an implementation of
//! [`Destination`](turnframe_runtime::port::Destination); `turnframe_test::destination` proves it.
//!
//! **Never here:** a word of a domain, a decision, the ledger.

#[cfg(feature = "http")]
pub mod http;
pub mod payload;
#[cfg(feature = "http")]
mod said;
pub mod webhooks;
