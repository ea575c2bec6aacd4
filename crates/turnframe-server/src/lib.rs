//! The system over HTTP: turns in, stored answers out, and a live stream that resumes.
//!
//! **Guarantees**
//! - The account comes from the bearer token and from nowhere else; a record of another account is answered
//!   exactly like one that does not exist.
//! - A client names a card, an option and a revision, and nothing of what a click means (I7). A body with a
//!   field of its own is refused, so that nobody can post a receipt or an approval.
//! - A turn's answer, the transcript and the live stream show the same bytes: each renders the stored entry
//!   through [`view`].
//! - Every refusal has a stable code, a safe sentence that says what to do next, and a page ([`Problem`]).
//! - Bodies, streams, waits and pages have limits with names ([`ServerLimits`]). JSON nests at most 128 deep:
//!   `serde_json` refuses what is deeper.
//!
//! A client that goes away loses nothing but the waiting: a turn that was accepted goes on, and the same turn id
//! is answered with the stored answer.
//!
//! **Never here:** a decision, a word of a domain, SQL, or a user's words and tokens in a log.

mod auth;
mod body;
mod forward;
mod limits;
mod log;
mod problem;
mod routes;
mod serve;
pub mod view;

pub use auth::{TOKEN_MAX_BYTES, TOKEN_MIN_BYTES, TokenError, Tokens};
pub use limits::ServerLimits;
pub use problem::Problem;
pub use routes::{router, router_with};
pub use serve::serve;
