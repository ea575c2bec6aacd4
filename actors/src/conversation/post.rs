//! The arrival of turns: accepted once, answered as often as it is asked.

use std::sync::Arc;

use tokio::sync::oneshot;
use turnframe_core::block::AssistantTurn;
use turnframe_core::context::ActorContext;
use turnframe_core::id::TurnId;
use turnframe_core::personal::Personal;
use turnframe_ledger::ledger::PAGE_MAX;
use turnframe_ledger::{AppendError, EntryKind, EntryRef, Version};
use turnframe_runtime::record::{ClickRecord, ConversationOpened, TurnAccepted, TurnAnswered};
use turnframe_runtime::turn::TurnRecord;

use super::{ConversationActor, ConversationState, Posted, TurnReply};
use crate::error::PostError;

impl ConversationActor {
    pub(super) async fn open(
        &self,
        actor: ActorContext,
        state: &mut ConversationState,
    ) -> Result<(), PostError> {
        self.make_sure(state).await.map_err(PostError::unavailable)?;
        if state.fold.exists() {
            return Ok(());
        }
        let opened = TurnRecord::Opened(ConversationOpened { actor: actor.clone() });
        let (append, after) =
            self.stage(&state.fold, &actor, None, opened).map_err(PostError::unavailable)?;
        match self.send(append, after, state).await {
            Ok(()) => Ok(()),
            Err(AppendError::DuplicateKey { .. } | AppendError::Conflict { .. }) => {
                self.reload(state).await.map_err(PostError::unavailable)
            }
            Err(error) => {
                // It may have landed: the next request opens it again, under the same key.
                self.reload(state).await.map_err(PostError::unavailable)?;
                if state.fold.exists() { Ok(()) } else { Err(PostError::unavailable(error)) }
            }
        }
    }

    pub(super) async fn post(
        &self,
        posted: Posted,
        reply: TurnReply,
        state: &mut ConversationState,
    ) {
        match self.accept(&posted, state).await {
            Ok(Accepted::Answered(answer)) => drop(reply.send(Ok(answer))),
            Ok(Accepted::Unanswered) => state.waiting.entry(posted.turn).or_default().push(reply),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    async fn accept(
        &self,
        posted: &Posted,
        state: &mut ConversationState,
    ) -> Result<Accepted, PostError> {
        self.make_sure(state).await.map_err(PostError::unavailable)?;
        if !state.fold.exists() {
            return Err(PostError::NotFound);
        }
        if let Some(known) = state.fold.unfinished.iter().find(|it| it.turn == posted.turn) {
            same_content(&known.accepted, &posted.accepted)?;
            return Ok(Accepted::Unanswered);
        }
        if state.fold.unfinished.len() >= self.shared.limits.turns_waiting_max {
            return Err(PostError::Overloaded);
        }
        let accepted = TurnRecord::Accepted(Box::new(posted.accepted.clone()));
        let of_turn = Some((&posted.turn, None));
        let (append, after) = self
            .stage(&state.fold, &posted.accepted.actor, of_turn, accepted)
            .map_err(PostError::unavailable)?;
        if goes_with_its_plan(posted, state) {
            (state.fold, state.unsent) = (after, Some(append));
            self.note_unfinished(state);
            return Ok(Accepted::Unanswered);
        }
        match self.send(append, after, state).await {
            Ok(()) => Ok(Accepted::Unanswered),
            Err(AppendError::DuplicateKey { key, original, .. })
                if turnframe_runtime::key::turn(self.conversation(), &posted.turn)
                    .is_ok_and(|own| own == key) =>
            {
                self.repeated(posted, &original.entry, state).await
            }
            Err(error) => {
                self.reload(state).await.map_err(PostError::unavailable)?;
                let landed = state.fold.unfinished.iter().any(|it| it.turn == posted.turn);
                if landed { Ok(Accepted::Unanswered) } else { Err(PostError::unavailable(error)) }
            }
        }
    }

    /// Answers those who wait for a turn that was answered by another owner.
    pub(super) async fn answer_from_ledger(&self, turn: &TurnId, state: &mut ConversationState) {
        let Some(waiting) = state.waiting.remove(turn) else { return };
        let stored = match turnframe_runtime::key::turn(self.conversation(), turn) {
            Ok(key) => self.shared.ledger.find_key(self.account(), &key).await,
            Err(_) => Ok(None),
        };
        let answer = match stored {
            Ok(Some(record)) => self.stored_answer(turn, None, &record.entry).await,
            Ok(None) => Ok(None),
            Err(error) => Err(PostError::unavailable(error)),
        };
        let again = || Err(PostError::unavailable("the answer could not be read; ask again"));
        for reply in waiting {
            drop(reply.send(answer.clone().and_then(|answer| answer.map_or_else(again, Ok))));
        }
    }

    /// A turn that was accepted before: its stored answer, or a place among those who wait for it.
    async fn repeated(
        &self,
        posted: &Posted,
        original: &EntryRef,
        state: &mut ConversationState,
    ) -> Result<Accepted, PostError> {
        match self.stored_answer(&posted.turn, Some(&posted.accepted), original).await? {
            Some(answer) => Ok(Accepted::Answered(answer)),
            None => {
                // Accepted and unanswered, and not in this fold: another owner wrote meanwhile.
                self.reload(state).await.map_err(PostError::unavailable)?;
                Ok(Accepted::Unanswered)
            }
        }
    }

    /// The stored answer of a turn, read forward from the entry that accepted it; checks that the turn has the
    /// content that is posted now.
    async fn stored_answer(
        &self,
        turn: &TurnId,
        posted: Option<&TurnAccepted>,
        original: &EntryRef,
    ) -> Result<Option<Arc<AssistantTurn>>, PostError> {
        let before = Version(original.version.0.saturating_sub(1));
        let mut after = before;
        loop {
            let ledger = &self.shared.ledger;
            let page = ledger.read_stream(self.account(), &self.stream(), after, PAGE_MAX).await;
            let page = page.map_err(PostError::unavailable)?;
            for entry in &page {
                after = entry.version;
                if let Some(posted) = posted.filter(|_| entry.id == original.id) {
                    let accepted: TurnAccepted =
                        entry.body.open().map_err(PostError::unavailable)?;
                    same_content(&accepted, posted)?;
                }
                let is_answer =
                    entry.kind == EntryKind::TurnAnswered && entry.turn.as_ref() == Some(turn);
                if is_answer {
                    let answered: TurnAnswered =
                        entry.body.open().map_err(PostError::unavailable)?;
                    return Ok(Some(Arc::new(answered.answer)));
                }
            }
            if page.len() < PAGE_MAX {
                break;
            }
        }
        Ok(None)
    }

    /// Answers all who wait for a turn.
    pub(super) fn answer(state: &mut ConversationState, turn: &TurnId, answer: AssistantTurn) {
        let answer = Arc::new(answer);
        for reply in state.waiting.remove(turn).unwrap_or_default() {
            drop(oneshot::Sender::send(reply, Ok(answer.clone())));
        }
    }
}

/// Whether a turn's arrival may wait for its plan and share its append: no model is called before that, no turn is
/// in front of it, and it is not a repetition, which its key would tell.
fn goes_with_its_plan(posted: &Posted, state: &ConversationState) -> bool {
    let accepted = &posted.accepted;
    let needs_no_model = accepted.text.is_none() && accepted.click.is_some();
    let is_first = state.fold.unfinished.is_empty() && !state.is_in_doubt;
    needs_no_model && !posted.is_repeated && is_first
}

enum Accepted {
    Answered(Arc<AssistantTurn>),
    Unanswered,
}

/// The same turn id names the same content. Words that were erased since cannot be compared and count as the
/// same, so that a retry is still answered.
fn same_content(known: &TurnAccepted, posted: &TurnAccepted) -> Result<(), PostError> {
    let click = |click: &Option<ClickRecord>| {
        click.as_ref().map(|it| (it.interaction, it.option.clone(), it.expected_revision))
    };
    let value = |click: &Option<ClickRecord>| click.as_ref().and_then(|it| it.value.clone());
    let same = same_words(known.text.as_ref(), posted.text.as_ref())
        && click(&known.click) == click(&posted.click)
        && same_words(value(&known.click).as_ref(), value(&posted.click).as_ref())
        && known.origin == posted.origin
        && known.actor.actor == posted.actor.actor;
    if same { Ok(()) } else { Err(PostError::TurnReused) }
}

fn same_words(known: Option<&Personal<String>>, posted: Option<&Personal<String>>) -> bool {
    match (known, posted) {
        (Some(Personal::Erased { .. }), Some(_)) => true,
        (known, posted) => known == posted,
    }
}
