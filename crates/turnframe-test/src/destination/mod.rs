//! The contract of a [`Destination`], as a suite that any destination can be put through, against a receiver that it
//! really reaches.
//!
//! An adopter gives the destination and a [`Receiver`]: the other side, or a stand-in on a real socket, that does what
//! it is told and keeps a book. The suite believes the book.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use turnframe_core::id::EffectId;
//! use turnframe_runtime::port::{Delivery, Destination};
//! use turnframe_test::destination::{Meeting, Receiver};
//!
//! struct PrintShop; // a server on a free port, and what it was sent
//!
//! impl PrintShop {
//!     async fn start() -> Self {
//!         Self
//!     }
//! }
//!
//! #[async_trait]
//! impl Receiver for PrintShop {
//!     fn destination(&self) -> Arc<dyn Destination> {
//!         unimplemented!("the destination under test, with this server's address")
//!     }
//!     fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery {
//!         unimplemented!("what the shop is asked to print")
//!     }
//!     fn meet_next(&self, meeting: Meeting) {
//!         unimplemented!("the server meets the next request so")
//!     }
//!     fn requests(&self, key: &str) -> usize {
//!         unimplemented!("how many requests came under the key")
//!     }
//!     fn requests_total(&self) -> usize {
//!         unimplemented!("how many requests came at all")
//!     }
//!     fn records(&self, key: &str) -> usize {
//!         unimplemented!("how often it was printed")
//!     }
//!     async fn until_requested(&self, key: &str) {
//!         unimplemented!("returns once a request came under the key")
//!     }
//!     async fn go_away(&self) {
//!         unimplemented!("closes the port")
//!     }
//! }
//!
//! turnframe_test::destination_contract!(mod print_shop, PrintShop::start().await);
//! # fn main() {}
//! ```
//!
//! Every case is a `#[tokio::test]` of its own (the crate that names the macro needs tokio), and has a receiver of its
//! own. Nothing waits for a time but a receiver that stalls: until the profile's timeout, so give it a short one.
//!
//! **What this cannot show:** what the real receiver means by its answers. That is read in its documentation.

pub mod looking_up;
pub mod losing;
pub mod repeating;
pub mod sending;

use std::sync::Arc;

use async_trait::async_trait;
use turnframe_core::id::EffectId;
use turnframe_runtime::effect::REFERENCE_MAX_CHARS;
use turnframe_runtime::port::{Delivery, Destination, Dispatched};

use crate::sources;

/// How the receiver meets a request to act. A look-up is always answered from the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meeting {
    /// It acts, writes it down, and says so. So is met what nothing else was set for.
    Take,
    /// It refuses for good, with the same code each time, and says so. Nothing is acted on.
    Refuse,
    /// It takes the connection, and closes it without reading.
    DropUnread,
    /// It reads the whole request, and closes the connection without acting.
    DropAfterRead,
    /// It reads, acts, writes it down, and closes the connection without an answer.
    DropAfterCommit,
    /// It reads the whole request and then does nothing, with the connection open.
    Stall,
    /// It reads, does not act, and points to another place, at which it would take it: a redirect.
    PointElsewhere,
}

/// The other side of a destination, as the suite sets it and sees it.
#[async_trait]
pub trait Receiver: Send + Sync {
    /// The destination under test, which reaches this receiver.
    fn destination(&self) -> Arc<dyn Destination>;

    /// An attempt that the receiver would take.
    fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery;

    /// How the next request to act is met. Several are met in the order in which they were set.
    fn meet_next(&self, meeting: Meeting);

    /// Meetings that the protocol does not know, or that the receiver cannot be made to show.
    fn lacks(&self) -> &[Meeting] {
        &[]
    }

    /// How many requests to act it has read under an idempotency key, as it came over the wire. One is counted before it
    /// is met.
    fn requests(&self, key: &str) -> usize;

    /// How many requests to act it has read, under whatever key.
    fn requests_total(&self) -> usize;

    /// How often it acted under a key.
    fn records(&self, key: &str) -> usize;

    /// Whether it can be asked what became of a key.
    fn has_look_up(&self) -> bool {
        false
    }

    /// Returns once a request to act was read under a key.
    async fn until_requested(&self, key: &str);

    /// Stops listening: from when this returns, a connection is refused.
    async fn go_away(&self);
}

/// Puts a destination through the contract: `destination_contract!(mod name, receiver)`, where `receiver` is an
/// expression that makes a [`Receiver`] for each case, and may await.
#[macro_export]
macro_rules! destination_contract {
    (mod $module:ident, $receiver:expr) => {
        mod $module {
            use super::*;
            $crate::destination_contract!(@cases $receiver;
                sending::what_is_taken_is_accepted_under_a_reference_and_recorded_once,
                sending::every_attempt_carries_the_same_key,
                sending::a_refusal_has_a_code_that_stays_the_same,
                sending::an_operation_that_it_does_not_have_is_not_sent,
                sending::where_nothing_listens_nothing_was_sent,
                sending::many_at_once_do_not_get_in_one_anothers_way,
                losing::a_connection_that_is_dropped_unread_is_no_answer_and_tried_once,
                losing::i15_a_connection_that_is_dropped_after_the_request_was_read_leaves_an_unknown,
                losing::i15_an_answer_that_is_lost_after_the_act_leaves_an_unknown,
                losing::i15_a_receiver_that_stalls_leaves_an_unknown_by_the_timeout,
                losing::an_attempt_that_is_cancelled_ends_with_it,
                losing::a_receiver_that_points_elsewhere_is_not_followed,
                looking_up::what_was_recorded_is_found_and_what_was_not_is_not,
                looking_up::what_was_lost_after_the_act_is_found,
                looking_up::a_receiver_that_is_away_leaves_it_unknown,
                repeating::a_receiver_that_honours_the_key_keeps_one_record_of_two_attempts,
            );
        }
    };
    (@cases $receiver:expr; $($theme:ident :: $case:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::destination::$theme::$case(&$receiver).await;
            }
        )+
    };
}

/// The effect of a number, the same in every run.
fn effect(number: u64) -> EffectId {
    sources::ids(number).effect()
}

/// Whether a reference or a code can be kept as it is.
fn is_name(text: &str) -> bool {
    let is_short = text.chars().count() <= REFERENCE_MAX_CHARS;
    is_short && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn is_unknown(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::Unknown { .. })
}

#[cfg(test)]
mod tests;
