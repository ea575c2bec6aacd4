//! The suite is put to the test: a destination with one fault each goes red where it should, and a sound one nowhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use turnframe_core::canonical::Json;
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::{DestinationProfile, Reconciled, Resending};

use super::*;
use crate::literal;

/// What is wrong with a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    KeyPerAttempt,
    Retries,
    FollowsRedirects,
    NotSentAfterRead,
    NotSentAfterCommit,
    SilenceRejects,
    GoesOnAfterCancel,
    AnswersUnread,
    CodePerEffect,
    BlankReference,
    SendsAnything,
    UnknownWhereNothingListens,
    OneAtATime,
    FindsEverything,
    FindsNothing,
    NotFoundWhereAway,
    FindsWithoutLookUp,
    ActsTwice,
}

/// A desk in memory: what arrives is met as it was set.
struct Desk {
    fault: Fault,
    has_look_up: bool,
    resending: Resending,
    state: Mutex<State>,
    requested: watch::Sender<BTreeMap<String, usize>>,
}

#[derive(Default)]
struct State {
    meetings: VecDeque<Meeting>,
    records: BTreeMap<String, usize>,
    is_away: bool,
    is_busy: bool,
}

/// What a sender sees.
enum Seen {
    Answer(Dispatched),
    Pointed,
    Nothing { was_read: bool, has_acted: bool },
    Silence,
}

impl Desk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self, key: &str) -> Seen {
        let next = self.state().meetings.pop_front().unwrap_or(Meeting::Take);
        if next == Meeting::DropUnread {
            return Seen::Nothing { was_read: false, has_acted: false };
        }
        self.requested.send_modify(|requests| *requests.entry(key.to_owned()).or_default() += 1);
        let honours_the_key = self.resending == Resending::IdempotentByKey;
        if matches!(next, Meeting::Take | Meeting::DropAfterCommit) {
            let mut state = self.state();
            let records = state.records.entry(key.to_owned()).or_default();
            let acts = *records == 0 || !honours_the_key || self.fault == Fault::ActsTwice;
            *records += usize::from(acts);
        }
        match next {
            Meeting::Take => Seen::Answer(taken(key)),
            Meeting::Refuse => Seen::Answer(Dispatched::rejected("closed")),
            Meeting::DropAfterCommit => Seen::Nothing { was_read: true, has_acted: true },
            Meeting::DropUnread | Meeting::DropAfterRead => {
                Seen::Nothing { was_read: true, has_acted: false }
            }
            Meeting::Stall => Seen::Silence,
            Meeting::PointElsewhere => Seen::Pointed,
        }
    }
}

fn taken(key: &str) -> Dispatched {
    Dispatched::Accepted { reference: format!("R-{key}"), details: Json::default() }
}

fn unknown() -> Dispatched {
    Dispatched::Unknown { reason: "no answer".to_owned() }
}

fn not_sent() -> Dispatched {
    Dispatched::NotSent { reason: "no connection".to_owned() }
}

/// A destination with a fault.
struct Faulty(Arc<Desk>);

#[async_trait]
impl Destination for Faulty {
    fn key(&self) -> DestinationKey {
        literal("desk")
    }

    fn profile(&self) -> DestinationProfile {
        DestinationProfile { resending: self.0.resending, ..DestinationProfile::default() }
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        let (desk, fault) = (&self.0, self.0.fault);
        if desk.state().is_away {
            let is_honest = fault != Fault::UnknownWhereNothingListens;
            return if is_honest { not_sent() } else { unknown() };
        }
        if delivery.operation != "act" && fault != Fault::SendsAnything {
            return not_sent();
        }
        if fault == Fault::OneAtATime && std::mem::replace(&mut desk.state().is_busy, true) {
            return not_sent();
        }
        // Whoever runs beside this one has its turn.
        tokio::task::yield_now().await;
        desk.state().is_busy = false;
        let mut key = delivery.idempotency_key();
        if fault == Fault::KeyPerAttempt {
            key.push_str(&delivery.attempt.to_string());
        }
        match (desk.arrive(&key), fault) {
            (Seen::Answer(Dispatched::Rejected { .. }), Fault::CodePerEffect) => {
                Dispatched::rejected(key)
            }
            (Seen::Answer(Dispatched::Accepted { details, .. }), Fault::BlankReference) => {
                Dispatched::Accepted { reference: " ".to_owned(), details }
            }
            (Seen::Answer(answer), _) => answer,
            (Seen::Pointed, Fault::FollowsRedirects) => match desk.arrive(&key) {
                Seen::Answer(answer) => answer,
                Seen::Pointed | Seen::Nothing { .. } | Seen::Silence => unknown(),
            },
            (Seen::Pointed, _) => unknown(),
            (Seen::Nothing { .. }, Fault::Retries) => {
                desk.arrive(&key);
                unknown()
            }
            (Seen::Nothing { was_read: false, .. }, Fault::AnswersUnread) => taken(&key),
            (Seen::Nothing { has_acted: false, .. }, Fault::NotSentAfterRead) => not_sent(),
            (Seen::Nothing { has_acted: true, .. }, Fault::NotSentAfterCommit) => not_sent(),
            (Seen::Nothing { .. }, _) => unknown(),
            (Seen::Silence, Fault::SilenceRejects) => Dispatched::rejected("silence"),
            (Seen::Silence, Fault::GoesOnAfterCancel) => {
                let desk = Arc::clone(desk);
                tokio::spawn(async move { desk.arrive(&key) });
                std::future::pending().await
            }
            (Seen::Silence, _) => std::future::pending().await,
        }
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        let (desk, key) = (&self.0, delivery.idempotency_key());
        let still_unknown = Reconciled::StillUnknown { reason: "nobody knows".to_owned() };
        let (is_away, is_known) = {
            let state = desk.state();
            (state.is_away, state.records.contains_key(&key))
        };
        let fault = desk.fault;
        if is_away {
            let is_honest = fault != Fault::NotFoundWhereAway;
            return if is_honest { still_unknown } else { Reconciled::NotFound };
        }
        if !desk.has_look_up && fault != Fault::FindsWithoutLookUp {
            return still_unknown;
        }
        let invents = matches!(fault, Fault::FindsEverything | Fault::FindsWithoutLookUp);
        if invents || (is_known && fault != Fault::FindsNothing) {
            Reconciled::Found(taken(&key))
        } else {
            Reconciled::NotFound
        }
    }
}

#[async_trait]
impl Receiver for Arc<Desk> {
    fn destination(&self) -> Arc<dyn Destination> {
        Arc::new(Faulty(Self::clone(self)))
    }

    fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery {
        Delivery { effect, attempt, operation: "act".to_owned(), payload: Json::default() }
    }

    fn meet_next(&self, meeting: Meeting) {
        self.state().meetings.push_back(meeting);
    }

    fn requests(&self, key: &str) -> usize {
        self.requested.borrow().get(key).copied().unwrap_or_default()
    }

    fn requests_total(&self) -> usize {
        self.requested.borrow().values().sum()
    }

    fn records(&self, key: &str) -> usize {
        self.state().records.get(key).copied().unwrap_or_default()
    }

    fn has_look_up(&self) -> bool {
        self.has_look_up
    }

    async fn until_requested(&self, key: &str) {
        let mut requested = self.requested.subscribe();
        requested.wait_for(|requests| requests.contains_key(key)).await.expect("the desk is there");
    }

    async fn go_away(&self) {
        self.state().is_away = true;
    }
}

type Case = for<'a> fn(&'a dyn Receiver) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

macro_rules! cases {
    ($($theme:ident :: $case:ident),+ $(,)?) => {
        [$((stringify!($case), (|receiver| Box::pin($theme::$case(receiver))) as Case)),+]
    };
}

fn cases() -> [(&'static str, Case); 16] {
    cases!(
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
    )
}

/// The cases that a fault turns red.
async fn red(fault: Fault, resending: Resending, has_look_up: bool) -> BTreeSet<&'static str> {
    let mut red = BTreeSet::new();
    for (name, case) in cases() {
        let desk = Arc::new(Desk {
            fault,
            has_look_up,
            resending,
            state: Mutex::default(),
            requested: watch::Sender::default(),
        });
        let ran = tokio::spawn(async move { case(&desk).await }).await;
        if ran.is_err() {
            red.insert(name);
        }
    }
    red
}

#[tokio::test(start_paused = true)]
async fn a_sound_destination_is_green_with_and_without_a_look_up_and_a_promise() {
    for resending in [Resending::IdempotentByKey, Resending::Never] {
        for has_look_up in [true, false] {
            assert_eq!(red(Fault::None, resending, has_look_up).await, BTreeSet::new());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_fault_turns_its_case_red_and_each_case_has_one() {
    let mut found = BTreeSet::new();
    for (fault, case) in [
        (Fault::BlankReference, "what_is_taken_is_accepted_under_a_reference_and_recorded_once"),
        (Fault::KeyPerAttempt, "every_attempt_carries_the_same_key"),
        (Fault::CodePerEffect, "a_refusal_has_a_code_that_stays_the_same"),
        (Fault::SendsAnything, "an_operation_that_it_does_not_have_is_not_sent"),
        (Fault::UnknownWhereNothingListens, "where_nothing_listens_nothing_was_sent"),
        (Fault::OneAtATime, "many_at_once_do_not_get_in_one_anothers_way"),
        (Fault::AnswersUnread, "a_connection_that_is_dropped_unread_is_no_answer_and_tried_once"),
        (Fault::Retries, "a_connection_that_is_dropped_unread_is_no_answer_and_tried_once"),
        (
            Fault::Retries,
            "i15_a_connection_that_is_dropped_after_the_request_was_read_leaves_an_unknown",
        ),
        (
            Fault::NotSentAfterRead,
            "i15_a_connection_that_is_dropped_after_the_request_was_read_leaves_an_unknown",
        ),
        (Fault::NotSentAfterCommit, "i15_an_answer_that_is_lost_after_the_act_leaves_an_unknown"),
        (Fault::SilenceRejects, "i15_a_receiver_that_stalls_leaves_an_unknown_by_the_timeout"),
        (Fault::GoesOnAfterCancel, "an_attempt_that_is_cancelled_ends_with_it"),
        (Fault::FollowsRedirects, "a_receiver_that_points_elsewhere_is_not_followed"),
        (Fault::FindsEverything, "what_was_recorded_is_found_and_what_was_not_is_not"),
        (Fault::FindsNothing, "what_was_lost_after_the_act_is_found"),
        (Fault::NotFoundWhereAway, "a_receiver_that_is_away_leaves_it_unknown"),
        (Fault::ActsTwice, "a_receiver_that_honours_the_key_keeps_one_record_of_two_attempts"),
    ] {
        let red = red(fault, Resending::IdempotentByKey, true).await;
        assert!(red.contains(case), "{fault:?} turns red: {red:#?}");
        found.insert(case);
    }
    let all: BTreeSet<_> = cases().into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, all);
}

#[tokio::test(start_paused = true)]
async fn who_has_no_look_up_finds_nothing() {
    let red = red(Fault::FindsWithoutLookUp, Resending::Never, false).await;
    let case = "what_was_recorded_is_found_and_what_was_not_is_not";
    assert_eq!(red, BTreeSet::from([case]));
}
