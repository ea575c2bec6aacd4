//! People who talk to whichever process is up, and post a turn again until it is answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::timeout;
use turnframe_actors::{PostError, TurnInput};
use turnframe_core::block::AssistantTurn;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{ConversationId, TurnId};
use turnframe_core::interaction::{InteractionResponse, InteractionView};
use turnframe_test::literal;
use turnframe_test::simulated::Draw;

use super::{Running, Simulation};
use crate::desk::{ADD_SEAT, HELLO, OPEN, OPEN_SECOND, REBOOK, RENAME, WHICH};
use crate::world::said;

/// The longest pause between two turns of a client.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// How long a client waits before it asks again after a refusal.
const BACKOFF: Duration = Duration::from_millis(200);
/// How long a client waits for an answer before it posts the same turn again, at most.
const PATIENCE_MAX: Duration = Duration::from_secs(20);
/// How often a client asks whatever process is up.
const ASTRAY: f64 = 0.1;
/// How often a request is repeated before the run counts as stuck.
const REPEATS_MAX: usize = 1_000;

/// Somebody in a conversation.
pub struct Client {
    /// The run.
    pub simulation: Arc<Simulation>,
    /// Who talks.
    pub actor: ActorContext,
    /// Where.
    pub conversation: ConversationId,
    /// Tells the clients of a conversation apart.
    pub name: String,
    /// The conversation's door, shared by its clients.
    pub door: Arc<Door>,
}

/// Where the clients of a conversation knock, one behind the other.
///
/// Those who wait for an actor to start are woken in an order that tokio draws anew in every run. Whoever knocks first
/// waits alone, so that one seed is one run; what comes after that comes at once.
#[derive(Debug, Default)]
pub struct Door(Mutex<()>);

/// A turn, and what its client was told.
#[derive(Debug, Clone)]
pub struct Told {
    /// Which turn.
    pub turn: TurnId,
    /// The answer.
    pub answer: Arc<AssistantTurn>,
}

impl Client {
    /// Posts turns, one after another.
    pub async fn talk(self, turns: usize, opens: bool) -> Vec<Told> {
        let mut draw = self.draw("talk");
        let mut told = Vec::new();
        for number in 0..turns {
            let input = if opens && number == 0 { said(OPEN) } else { self.next(&mut draw).await };
            let turn: TurnId = literal(&format!("{}-{number}", self.name));
            let answer = self.post(&turn, input).await;
            told.push(Told { turn, answer });
            tokio::time::sleep(draw.within(PAUSE_MAX)).await;
        }
        told
    }

    /// What comes next: a click where a card is open, more often than not.
    async fn next(&self, draw: &mut Draw) -> TurnInput {
        const SAYINGS: [&str; 8] =
            [REBOOK, REBOOK, REBOOK, RENAME, ADD_SEAT, OPEN_SECOND, WHICH, HELLO];
        if draw.happens(0.8) {
            let (actor, conversation) = (&self.actor, &self.conversation);
            let cards = self.ask(|it| async move { it.system.cards(actor, conversation).await });
            let cards = cards.await;
            if !cards.is_empty() {
                return click(&cards[draw.below(cards.len())], draw);
            }
        }
        said(SAYINGS[draw.below(SAYINGS.len())])
    }

    async fn post(&self, turn: &TurnId, input: TurnInput) -> Arc<AssistantTurn> {
        let (actor, conversation) = (&self.actor, &self.conversation);
        self.ask(|it| {
            let input = input.clone();
            async move { it.system.post(actor, conversation, turn, input).await }
        })
        .await
    }

    /// Asks the process that is up, and asks again where it dies, is away, or takes too long.
    async fn ask<T, F: Future<Output = Result<T, PostError>>>(
        &self,
        request: impl Fn(Running) -> F,
    ) -> T {
        let mut draw = self.draw("ask");
        for _ in 0..REPEATS_MAX {
            let running = self.choose(&mut draw).await;
            let number = running.number;
            let patience = draw.within(PATIENCE_MAX);
            let asked = timeout(patience, async {
                self.knock(&running).await?;
                request(running).await
            });
            match self.simulation.while_up(number, asked).await {
                Some(Ok(Ok(answer))) => return answer,
                Some(Ok(Err(
                    PostError::Unavailable { .. } | PostError::Overloaded | PostError::NotHere,
                ))) => tokio::time::sleep(BACKOFF).await,
                Some(Ok(Err(error))) => panic!("{} was refused: {error}", self.name),
                // It died, or nobody waits any longer.
                None | Some(Err(_)) => tokio::time::sleep(draw.within(BACKOFF)).await,
            }
        }
        panic!("{} is not answered", self.name)
    }

    /// The process that serves the account, as a proxy would find it, or now and then any.
    async fn choose(&self, draw: &mut Draw) -> Running {
        let mut running = self.simulation.running().await;
        let serving = running.iter().position(|it| it.system.serves(&self.actor.account));
        let any = draw.below(running.len());
        let chosen = serving.filter(|_| !draw.happens(ASTRAY)).unwrap_or(any);
        running.swap_remove(chosen)
    }

    /// Opens the conversation, where it is not open.
    async fn knock(&self, running: &Running) -> Result<(), PostError> {
        let _first = self.door.0.lock().await;
        running.system.open_conversation(&self.actor, &self.conversation).await
    }

    fn draw(&self, what: &str) -> Draw {
        let about = [self.conversation.as_str().as_bytes(), self.name.as_bytes()];
        self.simulation.chance.of(what, &about)
    }
}

/// Answers a card, with its first option more often than not.
fn click(card: &InteractionView, draw: &mut Draw) -> TurnInput {
    let option = if draw.happens(0.8) { 0 } else { draw.below(card.options.len()) };
    let option = &card.options[option];
    let response = InteractionResponse {
        interaction: card.id,
        option: option.id.clone(),
        expected_revision: card.expected_revision,
        value: option.max_chars.map(|_| "Bea".to_owned()),
    };
    TurnInput { response: Some(response), ..TurnInput::default() }
}
