//! The task that keeps a node's leases.
//!
//! Each round it says that the node is alive, learns what the node still owns, gives up what is more than its share,
//! and takes what is free where it has less. Where a request is lost, the round is: the next one comes.

use std::sync::Arc;

use tokio::time::Instant;
use turnframe_ledger::PartitionSet;

use super::database::pass;
use super::lease::{Leases, Renewed};
use super::node::Node;

/// Keeps a node's leases for as long as the node lives.
pub(super) async fn keep(node: Arc<Node>) {
    loop {
        if round(&node).await.is_err() {
            stop_if_lapsed(&node);
        }
        tokio::time::sleep(node.database.terms.renewal).await;
    }
}

/// Ends a node's own leases.
pub(super) async fn resign(node: &Node) -> Result<(), Unanswered> {
    let id = node.id;
    ask(node, "resign", move |leases, now| leases.end([id], now)).await
}

/// A request to the database was lost.
pub(super) struct Unanswered;

async fn round(node: &Node) -> Result<(), Unanswered> {
    let (id, terms, ownership) = (node.id, node.database.terms, &node.ownership);
    let sent = Instant::now();
    let renewed = ask(node, "renew", move |leases, now| leases.renew(id, now)).await?;
    let Renewed { mut owned, share } = renewed;
    // Partitions that are taken later are held longer than this says: the first to lapse counts.
    ownership.renewed(sent, terms.lease);
    // The epochs of what is given up are known to the end: who acts for it finishes.
    node.know(owned.clone());
    let surplus: PartitionSet = owned.keys().copied().skip(share).collect();
    let kept: PartitionSet = owned.keys().copied().take(share).collect();
    let acting = ownership.held().borrow().partitions();
    ownership.hold(kept.union(acting.intersection(surplus)));
    if !surplus.is_empty() {
        ownership.hand_over(surplus, terms.patience).await;
        return ask(node, "release", move |leases, _| leases.release(id, surplus)).await;
    }
    let room = share - owned.len();
    if room > 0 {
        owned.extend(ask(node, "take", move |leases, now| leases.take(id, room, now)).await?);
        let held = owned.keys().copied().collect();
        node.know(owned);
        ownership.hold(held);
    }
    Ok(())
}

/// A lease that ran out is no reason to believe in it: whoever acts here stops until a round says what is left.
fn stop_if_lapsed(node: &Node) {
    let held = node.ownership.held().borrow().partitions();
    if held.iter().next().is_some_and(|partition| !node.ownership.holds(partition)) {
        node.ownership.hold(PartitionSet::NONE);
    }
}

/// A request on its way there and back.
async fn ask<T>(
    node: &Node,
    call: &str,
    request: impl FnOnce(&mut Leases, Instant) -> T,
) -> Result<T, Unanswered> {
    let database = &node.database;
    let asked = async {
        let faults = database.faults();
        let mut draw = database.draw(node.id, call, &[]);
        pass(draw.within(faults.latency_max)).await;
        let is_lost = draw.happens(faults.lease_unanswered);
        database.note(|it| it.leases_unanswered += u64::from(is_lost));
        if is_lost && draw.happens(0.5) {
            return Err(Unanswered);
        }
        let answer = request(&mut database.leases(), Instant::now());
        pass(draw.within(faults.latency_max)).await;
        if is_lost { Err(Unanswered) } else { Ok(answer) }
    };
    node.pulse.through(asked).await
}
