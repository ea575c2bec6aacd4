//! Sagas: one effect's acceptance requests the next, and a refusal on the way is compensated, once, whatever dies.

use turnframe_core::block::ResponseBlock;
use turnframe_core::id::EffectId;
use turnframe_core::policy::CommandOrigin;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::{Entry, EntryKind};
use turnframe_runtime::record::CaseCommand;
use turnframe_test::fault::CrashPoint;
use turnframe_test::script::Behaviour;
use turnframe_tests::claims;
use turnframe_tests::crash::{everywhere, on_every_backend};
use turnframe_tests::matrix::{End, Step, play, same};
use turnframe_tests::order::{self, Leg, ORDER};
use turnframe_tests::world::{Process, World};

fn accepts_all(_: &str) -> Behaviour {
    Behaviour::accepts()
}

fn cannot_ship(operation: &str) -> Behaviour {
    if operation == Leg::Ship.operation() {
        Behaviour::Refuses("no_such_address".to_owned())
    } else {
        Behaviour::accepts()
    }
}

fn cannot_charge(operation: &str) -> Behaviour {
    if operation == Leg::Charge.operation() {
        Behaviour::Refuses("card_declined".to_owned())
    } else {
        Behaviour::accepts()
    }
}

/// What the remote was asked to do, in order.
async fn asked(world: &World, process: &Process) -> Vec<String> {
    let mut book = world.airline.book();
    let effects = process.effects().await;
    let mut heard = |effect: &EffectId| book.remove(&effect.to_string());
    effects.iter().filter_map(|it| Some(heard(it)?.deliveries[0].operation.clone())).collect()
}

/// What the user was told since, as pairs of a leg and a status.
async fn told(process: &Process) -> Vec<(String, ReceiptStatus)> {
    let mut told = Vec::new();
    for entry in process.entries().await {
        if entry.kind == EntryKind::UpdatePosted {
            for (_, block) in claims::told(&[entry]) {
                let ResponseBlock::Receipt(receipt) = block else { continue };
                told.push((receipt.draft.title.to_string(), receipt.draft.status));
            }
        }
    }
    told
}

fn pair(leg: Leg, status: ReceiptStatus) -> (String, ReceiptStatus) {
    (leg.operation().to_owned(), status)
}

#[test]
fn the_acceptance_of_an_effect_requests_the_next_in_the_same_append() {
    everywhere(|backend| async move {
        let world = order::world(backend, accepts_all);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", ORDER).await;
        assert_eq!(asked(&world, &process).await, ["charge", "ship"]);
        let expected = [
            pair(Leg::Charge, ReceiptStatus::Accepted),
            pair(Leg::Ship, ReceiptStatus::Prepared),
            pair(Leg::Ship, ReceiptStatus::Accepted),
        ];
        assert_eq!(told(&process).await, expected);
        claims::check(&process).await;
        process.system.shutdown().await;
    });
}

#[test]
fn what_was_accepted_before_a_refusal_is_compensated_by_a_command_of_its_own() {
    everywhere(|backend| async move {
        let world = order::world(backend, cannot_ship);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", ORDER).await;
        assert_eq!(asked(&world, &process).await, ["charge", "ship", "refund"]);
        let expected = [
            pair(Leg::Charge, ReceiptStatus::Accepted),
            pair(Leg::Ship, ReceiptStatus::Prepared),
            pair(Leg::Ship, ReceiptStatus::Rejected),
            pair(Leg::Refund, ReceiptStatus::Prepared),
            pair(Leg::Refund, ReceiptStatus::Accepted),
        ];
        assert_eq!(told(&process).await, expected);
        let entries = process.entries().await;
        let commands = entries.iter().filter(|entry| entry.kind == EntryKind::CaseCommand);
        let read = |entry: &Entry| entry.body.open::<CaseCommand>().expect("a command");
        let rule = "compensation".to_owned();
        let refund = CommandOrigin::InternalPolicy { rule };
        assert_eq!(commands.map(read).filter(|it| it.origin == refund).count(), 1);
        process.system.shutdown().await;
    });
}

#[test]
fn where_the_first_effect_is_refused_nothing_follows_and_nothing_is_compensated() {
    everywhere(|backend| async move {
        let world = order::world(backend, cannot_charge);
        let process = world.start().await;
        process.begin().await;
        process.say("t1", ORDER).await;
        assert_eq!(asked(&world, &process).await, ["charge"]);
        assert_eq!(told(&process).await, [pair(Leg::Charge, ReceiptStatus::Rejected)]);
        process.system.shutdown().await;
    });
}

#[test]
fn every_append_and_send_of_a_saga_may_be_the_last_of_a_process() {
    let steps = [
        Step::Say(ORDER),
        Step::Wait(std::time::Duration::from_secs(60)),
        Step::Wait(std::time::Duration::from_secs(600)),
        Step::Wait(std::time::Duration::from_secs(600)),
    ];
    let compare = |point: &CrashPoint, clean: &End, crashed: &End| {
        // The refused leg is in the remote's book, and was not performed.
        assert_eq!(crashed.performed, 2, "after a crash {point}");
        assert!(crashed.state.contains("refund"), "after a crash {point}");
        if crashed.left_an_attempt {
            assert!(crashed.state.contains("\"status\": \"unknown\""), "after a crash {point}");
            assert!(crashed.state.contains("\"key\": \"over\""), "after a crash {point}");
        } else {
            same(point, clean, crashed);
        }
    };
    on_every_backend(|backend| {
        assert_eq!(play(|| order::world(backend, cannot_ship), &steps, compare), 3, "three sends");
    });
}
