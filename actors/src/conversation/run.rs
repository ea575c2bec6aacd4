//! Running turns: one at a time, each as a child task, resumed until it is answered.

use std::panic::AssertUnwindSafe;

use async_trait::async_trait;
use futures::FutureExt;
use ractor::ActorRef;
use tokio::sync::oneshot;
use turnframe_core::block::{
    ActReport, AssistantTurn, NoticeSeverity, ResponseBlock, ServerNotice,
};
use turnframe_core::id::{AccountId, CaseRef, CaseRevision, TurnId};
use turnframe_core::plan::{ActOutcome, Disposition};
use turnframe_runtime::compose::words::{NoticeCode, NoticeDetails, notice};
use turnframe_runtime::execute::CaseJob;
use turnframe_runtime::fold::conversation::UnfinishedTurn;
use turnframe_runtime::record::TurnAnswered;
use turnframe_runtime::turn::{
    CaseError, CaseReport, Cases, ConversationContext, OpenCase, RecordError, Recorder, TurnError,
    TurnRecord,
};

use super::{ConversationActor, ConversationMessage, ConversationState, Running};
use crate::case::CaseMessage;
use crate::error::PostError;
use crate::registry::Registry;
use crate::shared::CaseKey;

impl ConversationActor {
    /// Starts the first unfinished turn, where none runs.
    pub(super) fn run_next(
        &self,
        myself: &ActorRef<ConversationMessage>,
        state: &mut ConversationState,
    ) {
        if state.running.is_some() {
            return;
        }
        let Some(turn) = state.fold.unfinished.front().cloned() else { return };
        let context = ConversationContext {
            conversation: self.conversation().clone(),
            touched: state.fold.touched.clone(),
            choices: state.fold.choices.values().cloned().collect(),
        };
        let cases = CaseRoutes(self.registries.cases.clone());
        let recorder = ToActor(myself.clone());
        let (shared, myself) = (self.shared.clone(), myself.clone());
        let id = turn.turn.clone();
        let longest = shared.limits.turn_backoff_max;
        let pause = match state.tries {
            0 => None,
            tried => Some((shared.limits.turn_backoff * (1 << tried.min(16))).min(longest)),
        };
        let task = tokio::spawn(async move {
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
            let id = turn.turn.clone();
            let run = shared.engine.run(&context, turn, &cases, &recorder);
            let result = AssertUnwindSafe(run).catch_unwind().await;
            let result = result.unwrap_or(Err(TurnError::Panicked));
            // The actor is gone: its successor resumes the turn.
            drop(myself.send_message(ConversationMessage::Finished(id, Box::new(result))));
        });
        state.running = Some(Running { turn: id, task: task.abort_handle() });
    }

    /// The running turn was answered, or stopped. One that stopped is tried again, and after that ended with a
    /// truthful block, so that it cannot hold up the turns behind it for good.
    pub(super) async fn finished(
        &self,
        myself: &ActorRef<ConversationMessage>,
        turn: TurnId,
        result: Result<AssistantTurn, TurnError>,
        state: &mut ConversationState,
    ) {
        if state.running.as_ref().is_none_or(|running| running.turn != turn) {
            return;
        }
        match result {
            Ok(answer) => {
                (state.running, state.tries, state.failures) = (None, 0, 0);
                Self::answer(state, &turn, answer);
                self.save(state, self.shared.limits.snapshot_entries_max).await;
                if state.has_held_news {
                    state.has_held_news = false;
                    self.shared.nudges.facts.send_replace(());
                }
            }
            Err(error) => {
                tracing::warn!(%turn, %error, "a turn stopped");
                self.send_arrival(state).await;
                self.stopped(&turn, &error, state).await;
                state.running = None;
            }
        }
        self.run_next(myself, state);
    }

    /// A turn stopped before its plan: its arrival is made durable by itself, as it is to be tried again.
    async fn send_arrival(&self, state: &mut ConversationState) {
        let Some(arrival) = state.unsent.take() else { return };
        let folded = state.fold.clone();
        if let Err(error) = self.send(arrival, folded, state).await {
            tracing::warn!(%error, "a turn's arrival could not be recorded; whoever posted it is told so");
            if let Err(error) = self.reload(state).await {
                // The next append is in conflict, and loads again.
                tracing::warn!(reason = error.reason, "the conversation could not be read");
            }
        }
    }

    /// A turn stopped. What was away is waited for as long as it takes; what fails the same way again and again is
    /// given up. A turn that somebody else has answered meanwhile is answered from the ledger.
    async fn stopped(&self, turn: &TurnId, error: &TurnError, state: &mut ConversationState) {
        state.tries += 1;
        if !state.fold.unfinished.iter().any(|unfinished| unfinished.turn == *turn) {
            (state.tries, state.failures) = (0, 0);
            return self.answer_from_ledger(turn, state).await;
        }
        state.failures += u32::from(!error.is_transient());
        if state.failures >= self.shared.limits.turn_attempts_max {
            self.give_up(turn, state).await;
        }
    }

    /// Ends a turn that cannot be finished. What it committed stays committed, and the words say no more than
    /// that. Where even this cannot be recorded, the turn stays unfinished and its askers are told to ask again.
    async fn give_up(&self, turn: &TurnId, state: &mut ConversationState) {
        let Some(unfinished) = state.fold.unfinished.iter().find(|it| it.turn == *turn).cloned()
        else {
            return;
        };
        let answer = given_up(&unfinished);
        let touched = unfinished.reduced.iter().flat_map(|reduced| &reduced.plan.cases);
        let touched = touched.map(|expected| expected.case.clone()).collect();
        let answered = TurnAnswered { answer: answer.clone(), touched };
        match self.record(turn, TurnRecord::Answered(Box::new(answered)), state).await {
            Ok(()) => {
                tracing::error!(%turn, "a turn was given up; an operator has to look at it");
                (state.tries, state.failures) = (0, 0);
                Self::answer(state, turn, answer);
            }
            Err(error) => {
                tracing::error!(%turn, %error, "a turn can be neither finished nor given up");
                for reply in state.waiting.remove(turn).unwrap_or_default() {
                    drop(oneshot::Sender::send(reply, Err(PostError::unavailable(&error))));
                }
            }
        }
    }
}

fn given_up(turn: &UnfinishedTurn) -> AssistantTurn {
    let acts = turn.reduced.iter().flat_map(|reduced| &reduced.plan.acts).map(|act| ActReport {
        id: act.id,
        source: act.source,
        operation: act.operation.clone(),
        // What a step came to may be on the record already: this says neither that it ran nor that it did not.
        outcome: match &act.disposition {
            Disposition::Final(outcome) => outcome.clone(),
            Disposition::Step(_) => ActOutcome::Unreported,
        },
    });
    let code = NoticeCode::TurnGivenUp;
    let text = notice(code, &NoticeDetails::default(), &turn.accepted.actor.locale);
    let block = ResponseBlock::Notice(ServerNotice {
        code: code.as_str().to_owned(),
        severity: NoticeSeverity::Failure,
        text,
        act: None,
        interaction: None,
    });
    AssistantTurn { turn: turn.turn.clone(), acts: acts.collect(), blocks: vec![block] }
}

/// The way down to the case actors.
pub(crate) struct CaseRoutes(pub(crate) Registry<CaseKey, CaseMessage>);

impl CaseRoutes {
    async fn ask<T>(
        &self,
        account: &AccountId,
        case: &CaseRef,
        message: impl FnOnce(oneshot::Sender<T>) -> CaseMessage,
    ) -> Result<T, CaseError> {
        let failed = |reason, is_transient| CaseError { case: case.clone(), reason, is_transient };
        let (reply, answer) = oneshot::channel();
        let key = (account.clone(), case.clone());
        let sent = self.0.send(&key, message(reply)).await;
        sent.map_err(|error| failed(error.to_string(), error.is_transient()))?;
        // It panicked over this very message, or it is being started again.
        answer.await.map_err(|_| failed("the case gave no answer".to_owned(), false))
    }

    /// A case as it stood at a revision.
    pub(crate) async fn open_at(
        &self,
        account: &AccountId,
        case: &CaseRef,
        revision: CaseRevision,
    ) -> Result<OpenCase, CaseError> {
        self.ask(account, case, |reply| CaseMessage::OpenAt(revision, reply)).await?
    }
}

#[async_trait]
impl Cases for CaseRoutes {
    async fn open(&self, account: &AccountId, case: &CaseRef) -> Result<OpenCase, CaseError> {
        self.ask(account, case, CaseMessage::Open).await?
    }

    async fn execute(&self, job: CaseJob) -> Result<CaseReport, CaseError> {
        let (account, case) = (job.account().clone(), job.case.clone());
        self.ask(&account, &case, |reply| CaseMessage::Execute(Box::new(job), reply)).await?
    }
}

/// The way back to the conversation's actor.
struct ToActor(ActorRef<ConversationMessage>);

#[async_trait]
impl Recorder for ToActor {
    async fn record(&self, turn: &TurnId, record: TurnRecord) -> Result<(), RecordError> {
        let gone = || RecordError::away("the conversation's actor is gone");
        let (reply, answer) = oneshot::channel();
        let message = ConversationMessage::Record(turn.clone(), record, reply);
        self.0.send_message(message).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}
