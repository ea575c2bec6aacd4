//! Every append and every send of the demo's turns, both sides of each, on memory, SQLite and PostgreSQL.

use std::time::Duration;

use turnframe_test::fault::CrashPoint;
use turnframe_tests::crash::on_every_backend;
use turnframe_tests::desk::{self, ADD_SEAT, HELLO, OPEN, OPEN_SECOND, REBOOK, RENAME, WHICH};
use turnframe_tests::matrix::{End, Step, play, same};
use turnframe_tests::world::World;

fn everywhere(steps: &[Step]) {
    on_every_backend(|backend| {
        assert_eq!(play(|| World::desk(backend), steps, same), 0, "nothing is sent");
    });
}

#[test]
fn several_acts_and_a_prohibition_in_one_message() {
    everywhere(&[Step::Say(OPEN), Step::Say(HELLO)]);
}

#[test]
fn a_card_is_drawn_and_declined_and_clicked_again() {
    everywhere(&[
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("decline"),
        Step::ClickAgain(2, "confirm"),
    ]);
}

#[test]
fn an_edit_makes_the_old_card_stale_and_a_click_on_it_draws_a_fresh_one() {
    everywhere(&[
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Say(RENAME),
        Step::Wait(Duration::from_secs(1)),
        Step::Say(REBOOK),
        Step::Click("decline"),
    ]);
}

#[test]
fn a_state_that_requires_an_answer_has_its_card() {
    everywhere(&[Step::Say(OPEN), Step::Say(ADD_SEAT), Step::Click("traveller")]);
}

#[test]
fn two_records_of_one_name_are_asked_about() {
    everywhere(&[Step::Say(OPEN), Step::Say(OPEN_SECOND), Step::Say(WHICH), Step::Click("2")]);
}

#[test]
fn a_click_submits_once_and_the_same_click_again_changes_nothing() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::ClickAgain(2, "confirm"),
        Step::Wait(Duration::from_secs(60)),
        Step::Wait(Duration::from_secs(600)),
    ];
    let compare = |point: &CrashPoint, clean: &End, crashed: &End| {
        assert_eq!(crashed.performed, 1, "after a crash {point}");
        if crashed.left_an_attempt {
            assert!(crashed.state.contains("\"status\": \"unknown\""), "after a crash {point}");
            assert!(crashed.state.contains("\"status\": \"submitted\""), "after a crash {point}");
        } else {
            same(point, clean, crashed);
        }
    };
    on_every_backend(|backend| {
        assert_eq!(play(|| World::desk(backend), &steps, compare), 1, "one send");
    });
}

#[test]
fn an_answer_that_is_lost_on_the_way_is_unknown_until_the_look_up() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::Wait(Duration::from_secs(60)),
        // An attempt that never left is sent after the first look-up, and looked up in its turn.
        Step::Wait(Duration::from_secs(600)),
    ];
    let make = |backend| {
        move || {
            World::new(backend, std::sync::Arc::new(desk::interpreter()), desk::forgetful_airline())
        }
    };
    let compare = |point: &CrashPoint, _: &End, crashed: &End| {
        assert_eq!(crashed.performed, 1, "after a crash {point}");
        assert!(crashed.state.contains("\"status\": \"unknown\""), "after a crash {point}");
        assert!(crashed.state.contains("\"status\": \"submitted\""), "after a crash {point}");
    };
    on_every_backend(|backend| {
        assert_eq!(play(make(backend), &steps, compare), 1, "one send, and look-ups");
    });
}

#[test]
fn what_the_airline_calls_back_to_say_is_heard_once_and_an_older_word_changes_nothing() {
    let steps = [
        Step::Say(OPEN),
        Step::Say(REBOOK),
        Step::Click("confirm"),
        Step::CallBack(desk::confirmed, 3),
        Step::CallBack(desk::refused, 2),
    ];
    let compare = |point: &CrashPoint, clean: &End, crashed: &End| {
        if crashed.left_an_attempt {
            assert!(crashed.state.contains("\"status\": \"unknown\""), "after a crash {point}");
            assert!(crashed.state.contains("\"status\": \"accepted\""), "after a crash {point}");
            assert!(!crashed.state.contains("\"status\": \"rejected\""), "after a crash {point}");
        } else {
            same(point, clean, crashed);
        }
    };
    on_every_backend(|backend| {
        assert_eq!(play(|| World::desk(backend), &steps, compare), 1, "one send");
    });
}
