//! Plays steps against a system, and gathers what was recorded for each.

use std::sync::Arc;
use std::time::Duration;

use turnframe_actors::{System, TurnInput};
use turnframe_core::block::{AssistantTurn, ResponseBlock};
use turnframe_core::context::ActorContext;
use turnframe_core::id::{ConversationId, TurnId};
use turnframe_core::interaction::{InteractionResponse, InteractionView};
use turnframe_ledger::{Entry, EntryKind, PartitionId, StreamName, Subscription};
use turnframe_runtime::record::UpdatePosted;
use turnframe_runtime::transcript::{self, TranscriptContent};
use turnframe_server::view::OutcomeView;

use super::script::{Action, Step};
use crate::exit::CliError;

/// How long the airline's news may take to come.
const NEWS_WAIT: Duration = Duration::from_secs(30);

/// A step as it came out.
pub(super) struct Scene {
    pub(super) number: usize,
    pub(super) about: &'static str,
    pub(super) done: Done,
    /// Everything of the account that was committed since the step before.
    pub(super) entries: Vec<Entry>,
    pub(super) shown: Shown,
    /// Cards that were shown for the first time, with their numbers.
    pub(super) new_cards: Vec<usize>,
}

/// What the traveller did.
pub(super) enum Done {
    Said(&'static str),
    Clicked { number: usize, title: String, label: String, response: InteractionResponse },
    Waited,
}

/// What was shown for it.
pub(super) enum Shown {
    Answer(Arc<AssistantTurn>),
    Update(UpdatePosted),
}

impl Scene {
    pub(super) fn blocks(&self) -> &[ResponseBlock] {
        match &self.shown {
            Shown::Answer(answer) => &answer.blocks,
            Shown::Update(update) => &update.blocks,
        }
    }

    /// The result of each act.
    pub(super) fn results(&self) -> Vec<String> {
        let acts = match &self.shown {
            Shown::Answer(answer) => answer.acts.as_slice(),
            Shown::Update(_) => &[],
        };
        acts.iter().map(|act| OutcomeView::from(&act.outcome).result.to_owned()).collect()
    }

    /// The status of each receipt.
    pub(super) fn statuses(&self) -> Vec<String> {
        let status = |block: &ResponseBlock| match block {
            ResponseBlock::Receipt(receipt) => Some(super::print::status(&receipt.draft.status)),
            ResponseBlock::Answer { .. }
            | ResponseBlock::Transition { .. }
            | ResponseBlock::Notice(_)
            | ResponseBlock::Interaction(_)
            | ResponseBlock::Artifact(_) => None,
        };
        self.blocks().iter().filter_map(status).collect()
    }

    /// All that can be read in it.
    pub(super) fn words(&self) -> String {
        self.blocks().iter().map(super::print::block).collect::<Vec<_>>().join("\n")
    }
}

/// The traveller's side of the system.
pub(super) struct Stage {
    system: System,
    actor: ActorContext,
    conversation: ConversationId,
    /// The account's entries as they are committed.
    recorded: Subscription,
    /// Cards in the order in which they were shown.
    cards: Vec<InteractionView>,
}

impl Stage {
    /// Opens a conversation of its own, as an actor of its own, so that a ledger may have seen the demo before.
    pub(super) async fn open(system: System) -> Result<Self, CliError> {
        let traveller = format!("traveller-{}", system.ids().uuid());
        let actor = ActorContext {
            account: "demo".parse()?,
            actor: traveller.parse()?,
            locale: "en".parse()?,
            time_zone: "UTC".to_owned(),
        };
        let conversation = ConversationId::new(system.ids().uuid().to_string())?;
        let partition = PartitionId::of(&actor.account);
        let head = system.ledger().head(partition).await?;
        let account = Some(actor.account.clone());
        let recorded = Subscription::new(system.ledger().clone(), partition, head, account);
        system.open_conversation(&actor, &conversation).await?;
        Ok(Self { system, actor, conversation, recorded, cards: Vec::new() })
    }

    /// Plays a step.
    pub(super) async fn play(&mut self, number: usize, step: &Step) -> Result<Scene, CliError> {
        let (done, shown, entries) = match step.action {
            Action::Says(words) => {
                let input = TurnInput { text: Some(words.to_owned()), ..TurnInput::default() };
                let (answer, entries) = self.post(number, input).await?;
                (Done::Said(words), Shown::Answer(answer), entries)
            }
            Action::Clicks(card, option) | Action::ClicksWhileTheLineDrops(card, option) => {
                let done = self.click(number, card, option)?;
                let response = match &done {
                    Done::Clicked { response, .. } => Some(response.clone()),
                    Done::Said(_) | Done::Waited => None,
                };
                let input = TurnInput { response, ..TurnInput::default() };
                let (answer, entries) = self.post(number, input).await?;
                (done, Shown::Answer(answer), entries)
            }
            Action::Waits => {
                let (update, entries) = self.wait(number).await?;
                (Done::Waited, Shown::Update(update), entries)
            }
        };
        let mut scene =
            Scene { number, about: step.about, done, entries, shown, new_cards: Vec::new() };
        scene.new_cards = self.note_cards(scene.blocks());
        Ok(scene)
    }

    fn click(&self, step: usize, number: usize, option: &str) -> Result<Done, CliError> {
        let departed = |reason| CliError::Departed { step, reason };
        let card = number.checked_sub(1).and_then(|index| self.cards.get(index));
        let card = card.ok_or_else(|| departed(format!("card {number} was not shown")))?;
        let found = card.options.iter().find(|it| it.id.as_str() == option);
        let found =
            found.ok_or_else(|| departed(format!("card {number} has no option {option:?}")))?;
        let response = InteractionResponse {
            interaction: card.id,
            option: found.id.clone(),
            expected_revision: card.expected_revision,
            value: None,
        };
        let (title, label) = (card.title.to_string(), found.label.to_string());
        Ok(Done::Clicked { number, title, label, response })
    }

    /// Posts a turn, and gathers what was recorded up to its answer.
    async fn post(
        &mut self,
        number: usize,
        input: TurnInput,
    ) -> Result<(Arc<AssistantTurn>, Vec<Entry>), CliError> {
        let turn = TurnId::new(format!("t{number}"))?;
        let answer = self.system.post(&self.actor, &self.conversation, &turn, input).await?;
        let is_answer = |entry: &Entry| {
            entry.kind == EntryKind::TurnAnswered && entry.turn.as_ref() == Some(&turn)
        };
        Ok((answer, self.recorded_until(number, is_answer).await?))
    }

    /// Waits for the next news of the server.
    async fn wait(&mut self, number: usize) -> Result<(UpdatePosted, Vec<Entry>), CliError> {
        let here = StreamName::Conversation(self.conversation.clone());
        let is_news = |entry: &Entry| entry.kind == EntryKind::UpdatePosted && entry.stream == here;
        let entries = self.recorded_until(number, is_news).await?;
        let item = entries.last().map(transcript::item).transpose()?.flatten();
        match item.map(|item| item.content) {
            Some(TranscriptContent::Update(update)) => Ok((update, entries)),
            Some(TranscriptContent::Turn { .. } | TranscriptContent::Answer(_)) | None => {
                let reason = "the news could not be read".to_owned();
                Err(CliError::Departed { step: number, reason })
            }
        }
    }

    async fn recorded_until(
        &mut self,
        step: usize,
        is_last: impl Fn(&Entry) -> bool,
    ) -> Result<Vec<Entry>, CliError> {
        let mut entries = Vec::new();
        loop {
            let next = tokio::time::timeout(NEWS_WAIT, self.recorded.next()).await;
            let entry = next.map_err(|_| CliError::Departed {
                step,
                reason: "what it waits for did not come".to_owned(),
            })??;
            let ends = is_last(&entry);
            entries.push(entry);
            if ends {
                return Ok(entries);
            }
        }
    }

    fn note_cards(&mut self, blocks: &[ResponseBlock]) -> Vec<usize> {
        let mut numbers = Vec::new();
        for block in blocks {
            if let ResponseBlock::Interaction(card) = block
                && self.cards.iter().all(|known| known.id != card.id)
            {
                self.cards.push(card.clone());
                numbers.push(self.cards.len());
            }
        }
        numbers
    }
}
