//! Reported failures of what leaves the house, by their numbers: what is sent again and what is not. The airline is
//! reached over HTTP, and its own book says what it was sent and what it did.

use std::sync::Arc;
use std::time::Duration;

use turnframe_core::plan::ActOutcome;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_core::workflow::Decision;
use turnframe_ledger::EntryKind;
use turnframe_runtime::port::{DestinationProfile, Resending};
use turnframe_test::fault::{Crash, FaultPlan, LedgerFault};
use turnframe_tests::altered::AlteredTrip;
use turnframe_tests::claims;
use turnframe_tests::crash::{everywhere, in_a_process, on_every_backend, until_the_crash};
use turnframe_tests::desk::{OPEN, REBOOK};
use turnframe_tests::reading::{kinds, outcome};
use turnframe_tests::world::{Backend, Process, World, notices};
use turnframe_travel::airline::{AirlineBook, Behaviour};
use turnframe_travel::trip::TripEvent;
use turnframe_travel::{AirlineDestination, AirlineSimulator};

/// A world whose airline is another program's.
async fn over_http(backend: Backend) -> (World, AirlineSimulator) {
    let airline = AirlineSimulator::start().await.expect("an airline");
    let mut world = World::desk(backend);
    let destination = AirlineDestination::new(&airline.url()).expect("an address");
    let profile = DestinationProfile {
        resending: Resending::Never,
        in_order: true,
        concurrency: 1,
        ..DestinationProfile::default()
    };
    world.destination = Some(Arc::new(destination.with_profile(profile)));
    (world, airline)
}

async fn rebooks(process: Process) {
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    process.click("t3", &process.card().await, "confirm").await;
}

/// Long enough for every look-up there is, one after another.
async fn time_passes(world: &World, process: &Process) {
    for _ in 0..12 {
        world.clock.advance(Duration::from_secs(600));
        process.rest().await;
    }
}

/// How often each key was sent, and how many orders there are.
fn sent(book: &AirlineBook) -> (Vec<usize>, usize) {
    let keys = book.all_performed().map(|(key, _)| book.received(key).len()).collect();
    (keys, book.rebookings())
}

/// What was told of the airline's side, in order.
async fn told(process: &Process) -> Vec<ReceiptStatus> {
    let blocks = claims::told(&process.entries().await).into_iter().map(|(_, block)| block);
    let statuses = turnframe_tests::world::statuses(&blocks.collect::<Vec<_>>());
    statuses.into_iter().filter(|status| *status != ReceiptStatus::Recorded).collect()
}

#[test]
fn case_04_a_timeout_after_the_send_is_unknown_and_asking_again_sends_nothing() {
    everywhere(|backend| async move {
        let (world, airline) = over_http(backend).await;
        airline.next(Behaviour::DropAfterCommit);
        let process = world.start().await;
        rebooks(process.clone()).await;
        process.assert_told(ReceiptStatus::Unknown).await;
        let again = process.say("t4", REBOOK).await;
        let ActOutcome::Rejected { rejection, .. } = outcome(&again) else { panic!("{again:#?}") };
        assert_eq!(rejection.code, "rebooking_unresolved");
        assert_eq!(notices(&again.blocks).len(), 1);
        assert_eq!(airline.book().received_total(), 1);
        time_passes(&world, &process).await;
        process.assert_told(ReceiptStatus::Submitted).await;
        assert_eq!(sent(&airline.book()), (vec![1], 1), "one send, one order");
        let expected = [ReceiptStatus::Prepared, ReceiptStatus::Unknown, ReceiptStatus::Submitted];
        assert_eq!(told(&process).await, expected);
        assert_eq!(kinds(&process.entries().await, EntryKind::EffectDispatched), 1);
    });
}

#[test]
fn case_05_of_two_effects_the_first_is_found_by_its_key_and_the_second_is_sent_once() {
    on_every_backend(|backend| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (mut world, airline) = runtime.block_on(over_http(backend));
        let twice = |mut decision: Decision<TripEvent>| {
            decision.effects.extend(decision.effects.clone());
            decision
        };
        world.registry = AlteredTrip::default().altering(twice).registry();
        let unconcluded =
            FaultPlan::none().with("effect: effect.concluded", LedgerFault::Crash(Crash::Before));
        until_the_crash(&world, unconcluded, FaultPlan::none(), rebooks);
        assert_eq!(sent(&airline.book()), (vec![1], 1), "the first was sent, and nobody knows");
        in_a_process(&world, async |process: Process| {
            process.rest().await;
            let first = process.effects().await[0].to_string();
            assert_eq!(airline.book().received(&first).len(), 1);
            time_passes(&world, &process).await;
            assert_eq!(sent(&airline.book()), (vec![1, 1], 2), "each once");
            let entries = process.entries().await;
            assert_eq!(kinds(&entries, EntryKind::EffectRequested), 2);
            assert_eq!(kinds(&entries, EntryKind::EffectDispatched), 2);
            assert!(told(&process).await.contains(&ReceiptStatus::Unknown));
            claims::check(&process).await;
        });
    });
}

#[test]
fn case_06_what_is_not_idempotent_is_attempted_once_and_left_to_a_person() {
    everywhere(|backend| async move {
        for behaviour in [Behaviour::DropAfterCommit, Behaviour::DropBeforeCommit] {
            let (world, airline) = over_http(backend).await;
            airline.next(behaviour.clone());
            // Nobody answers a look-up either.
            airline.fail_lookups(u32::MAX);
            let process = world.start().await;
            rebooks(process.clone()).await;
            process.assert_told(ReceiptStatus::Unknown).await;
            time_passes(&world, &process).await;
            process.assert_told(ReceiptStatus::ReconciliationRequired).await;
            assert_eq!(airline.book().received_total(), 1, "{behaviour:?}");
            let entries = process.entries().await;
            assert_eq!(kinds(&entries, EntryKind::EffectDispatched), 1, "one attempt");
            let lookups_max = DestinationProfile::default().lookups_max as usize;
            assert_eq!(kinds(&entries, EntryKind::EffectDeferred), lookups_max);
            let never =
                [ReceiptStatus::Submitted, ReceiptStatus::Accepted, ReceiptStatus::Rejected];
            assert!(told(&process).await.iter().all(|told| !never.contains(told)));
        }
    });
}

#[test]
fn l06_a_process_killed_after_the_send_asks_once_per_key() {
    on_every_backend(|backend| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (world, airline) = runtime.block_on(over_http(backend));
        let sent_and_killed = FaultPlan::none().with(1, Crash::After);
        until_the_crash(&world, FaultPlan::none(), sent_and_killed, rebooks);
        assert_eq!(sent(&airline.book()), (vec![1], 1), "it went out before the crash");
        for _ in 0..2 {
            // The second start finds nothing left to do.
            in_a_process(&world, async |process: Process| {
                process.rest().await;
                time_passes(&world, &process).await;
                process.assert_told(ReceiptStatus::Submitted).await;
                assert_eq!(sent(&airline.book()), (vec![1], 1));
                let entries = process.entries().await;
                assert_eq!(kinds(&entries, EntryKind::EffectDispatched), 1);
                assert_eq!(kinds(&entries, EntryKind::EffectRequested), 1);
            });
        }
    });
}
