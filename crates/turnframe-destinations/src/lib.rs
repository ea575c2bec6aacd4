//! Ways to the outside world: what destinations are made of, and two of them, whatever they carry.
//!
//! [`http`] is any receiver of JSON, [`smtp`] a mail server. [`webhooks`] are signatures, both ways, and [`payload`] is
//! what an effect's payload becomes on the wire. Whatever reads its answers in another way is an implementation of
//! [`Destination`](turnframe_runtime::port::Destination); `turnframe_test::destination` proves it.
//!
//! **Never here:** a word of a domain, a decision, the ledger.

#[cfg(feature = "http")]
pub mod http;
pub mod payload;
#[cfg(any(feature = "http", feature = "smtp"))]
mod said;
#[cfg(feature = "smtp")]
pub mod smtp;
pub mod webhooks;
