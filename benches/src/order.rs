//! Turns that arrive at the same moment: all are committed, and answered in the order in which they arrived.

use futures::future::{join_all, try_join_all};
use turnframe_actors::Limits;
use turnframe_core::source::IdSource;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{EntryKind, EventLedger, StreamName, Version};

use crate::error::BenchError;
use crate::ground::{Backend, Ground};
use crate::speaker::{Speaker, committed};

/// Conversations at once.
pub(crate) const CONVERSATIONS: usize = 20;
/// Turns that are posted to each at the same moment.
pub(crate) const TURNS: usize = 8;

/// What became of the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) committed: usize,
    /// Conversations whose answers stand in the order of arrival.
    pub(crate) in_order: usize,
}

/// Posts the turns and reads the streams back.
pub(crate) async fn measure(backend: &Backend, ids: &IdSource) -> Result<Order, BenchError> {
    let ground = Ground::open(backend, ids).await?;
    let system = ground.start(Limits::default()).await?;
    let speakers = (0..CONVERSATIONS).map(|number| Speaker::new(number, &system));
    let speakers = speakers.collect::<Result<Vec<_>, _>>()?;
    try_join_all(speakers.iter().map(Speaker::open)).await?;
    let post = |speaker: Speaker, turn: usize| {
        tokio::spawn(async move {
            let answer = speaker.say("add 5 please", &format!("t-{turn}")).await;
            answer.is_ok_and(|answer| committed(&answer).is_ok())
        })
    };
    let posts = (0..TURNS).flat_map(|turn| speakers.iter().map(move |it| post(it.clone(), turn)));
    let posted = join_all(posts).await;
    let ledger = ground.opened.ledger.as_ref();
    let mut in_order = 0;
    for speaker in &speakers {
        in_order += usize::from(is_in_order(ledger, speaker).await?);
    }
    system.shutdown().await;
    ground.clear().await?;
    Ok(Order {
        committed: posted.into_iter().filter(|it| matches!(it, Ok(true))).count(),
        in_order,
    })
}

async fn is_in_order(ledger: &dyn EventLedger, speaker: &Speaker) -> Result<bool, BenchError> {
    let stream = StreamName::Conversation(speaker.conversation.clone());
    let account = &speaker.actor.account;
    let entries = ledger.read_stream(account, &stream, Version::NONE, PAGE_MAX).await?;
    let turns = |kind| {
        let of_kind = entries.iter().filter(move |entry| entry.kind == kind);
        of_kind.map(|entry| entry.turn.clone()).collect::<Vec<_>>()
    };
    let arrived = turns(EntryKind::TurnAccepted);
    // The turn that opened the tally is one of them.
    Ok(arrived.len() == TURNS + 1 && arrived == turns(EntryKind::TurnAnswered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_test::sources::ids;

    #[tokio::test]
    async fn turns_of_one_moment_are_answered_in_the_order_of_their_arrival() {
        let order = measure(&Backend::Memory, &ids(1)).await.expect("measured");
        assert_eq!(order, Order { committed: CONVERSATIONS * TURNS, in_order: CONVERSATIONS });
    }
}
