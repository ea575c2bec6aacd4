//! Case 14: the policy or the record changes while an approval is pending.

use std::sync::Arc;

use turnframe_core::plan::ActOutcome;
use turnframe_core::policy::{CommandPolicy, ConfirmationPolicy, RiskClass};
use turnframe_ledger::EntryKind;
use turnframe_test::fault::{Crash, FaultPlan};
use turnframe_test::script::{ScriptedInterpreter, means, propose};
use turnframe_tests::altered::AlteredTrip;
use turnframe_tests::crash::{everywhere, in_a_process, on_every_backend, until_the_crash};
use turnframe_tests::desk::{self, ADD_SEAT, OPEN, RENAME};
use turnframe_tests::reading::{commands, count, fresh_of, is_applied, kinds, outcome, persisted};
use turnframe_tests::world::{Backend, Process, World, notices, said, shown};
use turnframe_travel::trip::TripCommand;

const BAGS: &str = "add 4 bags paid by the company";

fn script() -> ScriptedInterpreter {
    desk::interpreter().on(
        BAGS,
        means(|brief| {
            propose(brief)
                .act("add 4 bags", "trip.add_extra")
                .slot("extra", "bags")
                .slot("quantity", "4")
                .slot("payer", "the company")
        }),
    )
}

fn world(backend: Backend) -> World {
    World::new(backend, Arc::new(script()), desk::airline())
}

/// Another release: extras leave the house, and no words rename a trip.
fn stricter() -> AlteredTrip {
    AlteredTrip::default().policing(|command, policy| {
        if matches!(command, TripCommand::AddExtra { .. }) {
            return CommandPolicy::external();
        }
        if !matches!(command, TripCommand::Rename { .. }) {
            return policy;
        }
        let confirmation = ConfirmationPolicy::Click;
        CommandPolicy { risk: RiskClass::Medium, confirmation, ..policy }
    })
}

async fn asked_for_bags(world: &World) -> Process {
    let process = world.start().await;
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", BAGS).await;
    process
}

#[test]
fn case_14_when_the_record_changed_the_approval_is_asked_again() {
    everywhere(|backend| async move {
        let world = world(backend);
        let process = asked_for_bags(&world).await;
        let old = process.card().await;
        process.say("t3", RENAME).await;
        let answer = process.click("t4", &old, "confirm").await;

        let fresh = process.card().await;
        assert_eq!(fresh_of(outcome(&answer)), Some(fresh.id));
        assert_eq!(notices(&answer.blocks), ["stale_card"]);
        assert_eq!(shown(&answer.blocks), [fresh.id]);
        assert!(fresh.expected_revision > old.expected_revision);
        assert_eq!(count(&process.entries().await, "extra_added"), 1, "the bag of the opening");
        let answer = process.click("t5", &fresh, "confirm").await;
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        assert_eq!(count(&process.entries().await, "extra_added"), 2);
    });
}

#[test]
fn case_14_when_policy_got_stricter_the_approval_is_asked_again_under_the_new_one() {
    everywhere(|backend| async move {
        let mut world = world(backend);
        let process = asked_for_bags(&world).await;
        let old = process.card().await;
        world.registry = stricter().registry();
        let process = world.restart(process).await;
        let answer = process.click("t3", &old, "confirm").await;

        let fresh = process.card().await;
        assert_eq!(fresh_of(outcome(&answer)), Some(fresh.id));
        assert_ne!(fresh.id, old.id);
        let entries = process.entries().await;
        assert_eq!(persisted(&entries, old.id).payload.risk, RiskClass::Medium);
        assert_eq!(persisted(&entries, fresh.id).payload.risk, RiskClass::ExternalRegulated);
        assert_eq!(count(&entries, "extra_added"), 1, "the old approval ran nothing");
        let answer = process.click("t4", &fresh, "confirm").await;
        assert!(is_applied(outcome(&answer)), "{answer:#?}");
        assert_eq!(count(&process.entries().await, "extra_added"), 2);
    });
}

#[test]
fn case_14_words_that_were_enough_when_they_were_planned_ask_for_a_click_when_they_are_not_any_more()
 {
    on_every_backend(|backend| {
        let mut world = world(backend);
        in_a_process(&world, async |process: Process| {
            process.begin().await;
            process.say("t1", OPEN).await;
        });
        let planned = FaultPlan::none().with("conversation: turn.reduced", Crash::After);
        until_the_crash(&world, planned, FaultPlan::none(), async |process: Process| {
            drop(process.post("t2", said(RENAME)).await);
        });
        world.registry = stricter().registry();
        in_a_process(&world, async |process: Process| {
            let answer = process.say("t2", RENAME).await;
            let card = process.card().await;
            assert_eq!(outcome(&answer), &ActOutcome::AwaitingConfirmation { card: card.id });
            let entries = process.entries().await;
            assert_eq!(count(&entries, "trip_renamed"), 0);
            assert_eq!(kinds(&entries, EntryKind::TurnReduced), 2, "the plan is the recorded one");
            let answer = process.click("t3", &card, "confirm").await;
            assert!(is_applied(outcome(&answer)), "{answer:#?}");
        });
    });
}

#[test]
fn case_14_a_question_of_the_record_whose_answers_weigh_more_by_now_is_asked_again_once() {
    let weightier = AlteredTrip::default().policing(|command, policy| {
        let is_payer = matches!(command, TripCommand::SetPayer { .. });
        CommandPolicy { risk: if is_payer { RiskClass::High } else { policy.risk }, ..policy }
    });
    everywhere(|backend| async move {
        let mut world = world(backend);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", OPEN).await;
        process.say("t2", ADD_SEAT).await;
        let old = process.card().await;
        world.registry = weightier.registry();
        let process = world.restart(process).await;
        let answer = process.click("t3", &old, "company").await;

        let fresh = process.card().await;
        assert_eq!(fresh_of(outcome(&answer)), Some(fresh.id));
        assert_eq!(count(&process.entries().await, "payer_set"), 0);
        let answer = process.click("t4", &fresh, "company").await;
        assert!(is_applied(outcome(&answer)), "it can be answered: {answer:#?}");
        assert_eq!(process.cards().await, []);
    });
}

#[test]
fn case_14_a_command_that_the_record_does_not_allow_any_more_is_refused_and_not_asked_again() {
    const WITHDRAW: &str = "withdraw it";
    everywhere(|backend| async move {
        let script = script()
            .on(WITHDRAW, means(|brief| propose(brief).act("withdraw it", "trip.withdraw")));
        let world = World::new(backend, Arc::new(script), desk::airline());
        let process = asked_for_bags(&world).await;
        let old = process.card().await;
        // The trip moves on under the card, and is called off.
        process.say("t3", RENAME).await;
        process.say("t4", WITHDRAW).await;
        process.click("t5", &process.card().await, "confirm").await;
        let ran = commands(&process.entries().await).len();
        let answer = process.click("t6", &old, "confirm").await;

        assert!(matches!(outcome(&answer), ActOutcome::Rejected { .. }), "{answer:#?}");
        assert_eq!(process.cards().await, []);
        let entries = process.entries().await;
        assert_eq!(commands(&entries).len(), ran + 1, "the refusal is on the record");
        assert_eq!(count(&entries, "extra_added"), 1);
    });
}
