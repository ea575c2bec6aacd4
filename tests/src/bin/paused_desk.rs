//! A desk in a process of its own, to be stopped by a signal: it confirms one rebooking, whose send waits at a gate, and
//! says what the ledger answered to what it wrote after that.
//!
//! `paused_desk DATABASE AIRLINE GATE`

use std::io::Write;
use std::sync::Arc;

use turnframe_ledger::PartitionSet;
use turnframe_tests::desk::{OPEN, REBOOK};
use turnframe_tests::heard::Heard;
use turnframe_tests::paused::{Gated, world};
use turnframe_tests::world::clicked;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().expect("DATABASE AIRLINE GATE");
    let (database, airline, gate) = (next(), next(), next());
    let mut world = world(&database, &airline, 1).await;
    let inner = world.destination.take().expect("an airline");
    world.destination = Some(Arc::new(Gated::new(inner, gate)));
    let heard = Heard::listen();
    let process = world.start().await;
    while process.system.partitions() != PartitionSet::ALL {
        tokio::task::yield_now().await;
    }
    process.begin().await;
    process.say("t1", OPEN).await;
    process.say("t2", REBOOK).await;
    let card = process.card().await;
    process.post("t3", clicked(&card, "confirm")).await.expect("answered");
    let told = loop {
        // Of everything that goes wrong when a process wakes up as nobody's owner, what became of the effect.
        let said = heard.next("error").await;
        if said.fields.contains_key("effect") {
            break said;
        }
    };
    writeln!(std::io::stdout(), "{}", told.fields["error"]).expect("told");
}
