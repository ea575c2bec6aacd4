//! The one race that no epoch closes: a process is stopped (SIGSTOP) after it looked at its lease and before it sends,
//! and sends when it wakes up, long after its partitions are another one's. What answers that is the effect's key.

#![cfg(unix)]

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use turnframe_core::receipt::ReceiptStatus;
use turnframe_ledger::{EntryKind, PartitionSet};
use turnframe_runtime::record::{EffectConcluded, EffectDispatched};
use turnframe_test::postgres;
use turnframe_tests::paused::{AtGate, profile, world};
use turnframe_travel::AirlineSimulator;

/// Longer than anything takes that waits here.
const PATIENCE: Duration = Duration::from_secs(60);

async fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").args(["-s", name, &process.to_string()]).status().await;
    assert!(sent.expect("kill runs").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i14_a_process_stopped_between_its_lease_and_its_send_sends_late_under_the_same_key() {
    tokio::time::timeout(PATIENCE, play()).await.expect("in time");
}

async fn play() {
    let database = postgres::shared().database().await;
    let airline = AirlineSimulator::start().await.expect("an airline");
    let gate = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = gate.local_addr().expect("an address").to_string();
    let mut stopped = Command::new(env!("CARGO_BIN_EXE_paused_desk"))
        .args([&database.url(), &airline.url(), &address])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it runs");
    let id = stopped.id().expect("it runs");

    // It has recorded the attempt and looked at its lease: here it is stopped.
    let send = AtGate::arrive(&gate).await;
    signal(id, "STOP").await;
    let key = send.effect.clone();
    assert_eq!(airline.book().received_total(), 0);

    // Its lease runs out, and another process takes everything over.
    let world = world(&database.url(), &airline.url(), 2).await;
    let process = world.start().await;
    while process.system.partitions() != PartitionSet::ALL {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    process.rest().await;
    process.assert_told(ReceiptStatus::Unknown).await;
    assert_eq!(airline.book().received_total(), 0, "looked up, and not sent again yet");
    // Once the attempt cannot arrive any more by its own measure, it goes out again under the same key.
    while airline.book().received_total() == 0 {
        world.clock.advance(profile().timeout);
        process.rest().await;
    }
    process.assert_told(ReceiptStatus::Submitted).await;
    let (chain, transcript) = (process.chain().await, process.transcript().await);

    // It wakes up in the belief that nothing happened, and sends.
    send.open().await;
    signal(id, "CONT").await;
    let told = BufReader::new(stopped.stdout.take().expect("a pipe")).lines().next_line().await;
    let told = told.expect("it can be read").expect("it says what became of it");
    assert!(told.contains("owned by another process"), "its late append is fenced: {told}");
    let book = airline.book();
    assert_eq!((book.received_total(), book.received(&key).len()), (2, 2), "two requests, one key");
    assert_eq!(book.received(&key)[0], book.received(&key)[1]);
    assert_eq!((book.rebookings(), book.all_performed().count()), (1, 1), "and one order");

    // The ledger knows of both attempts, and of one conclusion; the user was told nothing else.
    process.rest().await;
    assert_eq!((process.chain().await, process.transcript().await), (chain, transcript));
    let entries = process.entries().await;
    let of_kind = |kind| entries.iter().filter(move |entry| entry.kind == kind);
    let attempts: Vec<EffectDispatched> = of_kind(EntryKind::EffectDispatched)
        .map(|entry| entry.body.open().expect("an attempt"))
        .collect();
    assert_eq!(attempts.iter().map(|it| it.attempt).collect::<Vec<_>>(), [1, 2]);
    let concluded: Vec<EffectConcluded> = of_kind(EntryKind::EffectConcluded)
        .map(|entry| entry.body.open().expect("a conclusion"))
        .collect();
    assert_eq!(concluded.iter().map(|it| it.attempt).collect::<Vec<_>>(), [1, 2]);
    turnframe_tests::claims::check(&process).await;
    stopped.kill().await.expect("it ends");
    process.system.shutdown().await;
}
