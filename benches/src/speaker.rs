//! Somebody who counts a tally in a conversation of their own, one turn at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use turnframe_actors::{System, TurnInput};
use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::context::ActorContext;
use turnframe_core::id::{AccountId, ActorId, ConversationId, Locale, TurnId};
use turnframe_core::interaction::InteractionResponse;
use turnframe_core::plan::ActOutcome;

use crate::error::BenchError;

/// How many conversations share an account.
pub const CONVERSATIONS_PER_ACCOUNT: usize = 8;

/// What a speaker does again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Says something that is done at once: the turn has a model call.
    Speak,
    /// Clicks on a card that a turn before drew: the turn has none.
    Click,
}

/// Somebody with a conversation and a tally.
#[derive(Clone)]
pub struct Speaker {
    pub(crate) actor: ActorContext,
    pub(crate) conversation: ConversationId,
    system: System,
}

impl Speaker {
    /// The speaker of a number. Eight of them share an account.
    ///
    /// # Errors
    /// [`BenchError`] never: the names are of the alphabet.
    pub fn new(number: usize, system: &System) -> Result<Self, BenchError> {
        Ok(Self {
            conversation: ConversationId::new(format!("c-{number}"))?,
            actor: ActorContext {
                account: AccountId::new(format!("account-{}", number / CONVERSATIONS_PER_ACCOUNT))?,
                actor: ActorId::new(format!("actor-{number}"))?,
                locale: Locale::new("en")?,
                time_zone: "UTC".to_owned(),
            },
            system: system.clone(),
        })
    }

    /// Opens the conversation, and no more.
    ///
    /// # Errors
    /// [`BenchError`] when it is not open.
    pub async fn greet(&self) -> Result<(), BenchError> {
        Ok(self.system.open_conversation(&self.actor, &self.conversation).await?)
    }

    /// Opens the conversation and its tally.
    ///
    /// # Errors
    /// [`BenchError`] when it is not open.
    pub async fn open(&self) -> Result<(), BenchError> {
        self.system.open_conversation(&self.actor, &self.conversation).await?;
        let answer = self.say("open tally", "t-open").await?;
        committed(&answer)
    }

    /// Says something.
    ///
    /// # Errors
    /// [`BenchError`] when the turn is not served.
    pub async fn say(&self, text: &str, turn: &str) -> Result<Arc<AssistantTurn>, BenchError> {
        let input = TurnInput { text: Some(text.to_owned()), ..TurnInput::default() };
        Ok(self.system.post(&self.actor, &self.conversation, &TurnId::new(turn)?, input).await?)
    }

    /// Counts up once; answers with how long that took.
    ///
    /// # Errors
    /// [`BenchError`] when nothing was committed.
    pub async fn add(&self, turn: usize) -> Result<Duration, BenchError> {
        let turn = format!("t-{turn}");
        let started = Instant::now();
        let answer = self.say("add 5 please", &turn).await?;
        let taken = started.elapsed();
        committed(&answer).map(|()| taken)
    }

    /// Sends the tally once.
    pub(crate) async fn send(&self, turn: usize) -> Result<(), BenchError> {
        let answer = self.say("send it please", &format!("s-{turn}")).await?;
        committed(&answer)
    }

    /// Has a card drawn.
    pub(crate) async fn ask_for_card(
        &self,
        turn: usize,
    ) -> Result<InteractionResponse, BenchError> {
        let answer = self.say("clear it please", &format!("ask-{turn}")).await?;
        let card = answer.blocks.iter().find_map(|block| match block {
            ResponseBlock::Interaction(card) => Some(card),
            ResponseBlock::Answer { .. }
            | ResponseBlock::Transition { .. }
            | ResponseBlock::Receipt(_)
            | ResponseBlock::Notice(_)
            | ResponseBlock::Artifact(_) => None,
        });
        let card = card.ok_or(BenchError::Departed("no card was drawn"))?;
        let option = card.options.first().ok_or(BenchError::Departed("a card has no option"))?;
        Ok(InteractionResponse {
            interaction: card.id,
            option: option.id.clone(),
            expected_revision: card.expected_revision,
            value: None,
        })
    }

    /// Clicks on a card; answers with how long that took.
    pub(crate) async fn click(
        &self,
        card: InteractionResponse,
        turn: usize,
    ) -> Result<Duration, BenchError> {
        let turn = TurnId::new(format!("click-{turn}"))?;
        let input = TurnInput { response: Some(card), ..TurnInput::default() };
        let started = Instant::now();
        let answer = self.system.post(&self.actor, &self.conversation, &turn, input).await?;
        let taken = started.elapsed();
        committed(&answer).map(|()| taken)
    }
}

/// Whether an act of the turn is committed.
pub(crate) fn committed(answer: &AssistantTurn) -> Result<(), BenchError> {
    let applied = answer.acts.iter().any(|act| matches!(act.outcome, ActOutcome::Applied { .. }));
    if applied { Ok(()) } else { Err(BenchError::Departed("a turn committed nothing")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Ground};
    use turnframe_actors::Limits;
    use turnframe_ledger::{EntryKind, PartitionId, Position};
    use turnframe_test::sources::ids;

    #[tokio::test]
    async fn a_click_on_the_card_that_was_asked_for_commits_once() {
        let ground = Ground::open(&Backend::Memory, &ids(1)).await.expect("a ledger");
        let system = ground.start(Limits::default()).await.expect("a system");
        let speaker = Speaker::new(0, &system).expect("names");
        speaker.open().await.expect("open");
        speaker.add(0).await.expect("counted");
        let card = speaker.ask_for_card(0).await.expect("a card");
        speaker.click(card.clone(), 0).await.expect("cleared");
        speaker.click(card, 1).await.expect("the first resolution");
        let partition = PartitionId::of(&speaker.actor.account);
        let page = system.ledger().read_partition(partition, Position::START, 100, None).await;
        let page = page.expect("entries");
        let events = page.iter().filter(|entry| entry.kind == EntryKind::CaseEvent);
        assert_eq!(events.count(), 3, "opened, counted, cleared");
    }
}
