//! The contract of an [`EventLedger`], as a suite that any backend can be put through.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use turnframe_ledger::EventLedger;
//! use turnframe_ledger::memory::MemoryLedger;
//! use turnframe_test::ledger::Backend;
//!
//! struct Memory;
//!
//! #[async_trait]
//! impl Backend for Memory {
//!     async fn create(&self) -> Arc<dyn EventLedger> {
//!         Arc::new(MemoryLedger::new())
//!     }
//! }
//!
//! turnframe_test::ledger_contract!(mod memory, Memory);
//! # fn main() {}
//! ```
//!
//! Every case is a `#[tokio::test]` of its own (the crate that names the macro needs tokio), starts from an empty
//! ledger and uses nothing but the port. `ledger_contract!(mod mine, durable Mine)` adds the cases of a backend
//! that outlives its process. A backend's own tests cover what the port cannot show: tampering, a failing
//! disk, a commit whose answer is lost.

pub mod append;
pub mod build;
pub mod durable;
pub mod isolation;
pub mod keys;
pub mod marks;
pub mod order;
pub mod reading;

use std::sync::Arc;

use async_trait::async_trait;
use turnframe_ledger::EventLedger;

/// How the suite gets at the backend under test.
#[async_trait]
pub trait Backend: Send + Sync {
    /// A ledger without entries. Every case asks once, with a backend of its own.
    async fn create(&self) -> Arc<dyn EventLedger>;

    /// The same ledger after a restart: closed, opened again. Only a durable backend is asked, and has an
    /// answer of its own.
    async fn reopen(&self, ledger: Arc<dyn EventLedger>) -> Arc<dyn EventLedger> {
        ledger
    }
}

/// Puts a backend through the contract: `ledger_contract!(mod name, [durable] backend)`, where `backend`
/// is an expression that makes a [`Backend`] for each case.
#[macro_export]
macro_rules! ledger_contract {
    (mod $module:ident, durable $backend:expr) => {
        mod $module {
            use super::*;
            $crate::ledger_contract!(@every $backend);
            $crate::ledger_contract!(@cases $backend;
                durable::a_restart_keeps_everything,
                durable::a_restart_keeps_cursors,
                durable::after_a_restart_appends_are_judged_by_what_was_kept,
            );
        }
    };
    (mod $module:ident, $backend:expr) => {
        mod $module {
            use super::*;
            $crate::ledger_contract!(@every $backend);
        }
    };
    (@every $backend:expr) => {
        $crate::ledger_contract!(@cases $backend;
            append::an_empty_batch_has_no_answers,
            append::what_is_read_is_what_was_written,
            append::an_append_over_two_streams_lands_in_both,
            append::an_append_is_atomic_over_its_streams_keys_and_marks,
            append::a_conflict_spares_its_neighbours,
            append::an_append_is_judged_against_those_before_it,
            append::a_stream_may_be_expected_and_not_written,
            append::case_24_of_two_writers_at_version_9_one_wins_and_nothing_interleaves,
            append::l11_of_eight_activations_every_loser_stays_rejected,
            append::what_breaks_a_limit_is_refused_and_spares_its_neighbours,
            append::the_largest_append_fits,
            append::case_36_nul_is_refused_alike_and_the_next_append_works,
            append::a_caller_that_goes_away_leaves_the_ledger_whole,
            keys::l16_the_same_key_again_names_the_first_entry,
            keys::keys_are_checked_before_versions,
            keys::a_key_with_other_content_is_told_apart,
            keys::a_key_twice_in_a_batch_counts_once,
            keys::a_refused_append_claims_no_key,
            keys::l13_of_eight_recoverers_all_share_one_outcome,
            keys::l15_only_a_sound_key_can_be_claimed,
            marks::marks_are_set_moved_and_cleared_with_their_append,
            marks::the_last_change_of_a_batch_counts,
            marks::marks_are_found_by_kind_account_partition_prefix_and_due_time,
            marks::paging_visits_every_mark_once_in_order,
            marks::a_prefix_is_taken_literally,
            marks::l8_the_backlog_is_told_by_kind_and_group_with_what_is_due_first,
            marks::a_backlog_is_counted_up_to_a_bound,
            order::l1_a_reader_misses_nothing_while_eight_writers_append,
            order::a_subscription_yields_every_entry_of_its_account_once,
            order::every_partition_counts_from_one_without_gaps,
            order::hints_announce_what_is_committed,
            order::everything_that_was_written_verifies,
            order::what_was_done_is_counted,
            reading::a_stream_is_read_forward_in_pages,
            reading::a_stream_is_read_backward_in_pages,
            reading::a_partition_is_read_in_pages_with_and_without_an_account,
            reading::no_page_is_longer_than_the_limit,
            reading::a_cursor_is_kept_per_follower_and_partition_and_never_goes_back,
            reading::l18_reading_twice_is_equal_to_the_byte,
            isolation::another_account_reads_as_if_nothing_existed,
            isolation::two_accounts_use_the_same_names_without_meeting,
            isolation::an_effect_names_its_account,
        );
    };
    (@cases $backend:expr; $($theme:ident :: $case:ident),+ $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::ledger::$theme::$case(&$backend).await;
            }
        )+
    };
}
