//! Asking what a message means, and accepting the answer whole or not at all (I18).

use turnframe_core::personal::Personal;
use turnframe_core::understanding::{Brief, CardInView, Handle, Understanding};
use turnframe_core::words::Message;

use super::gather::Gathered;
use super::{ConversationContext, TurnEngine, TurnError, UNDERSTAND_TIMEOUT};
use crate::fold::conversation::UnfinishedTurn;
use crate::port::InterpreterError;
use crate::record::Reading;

/// How often a message is put to the interpreter: once, and once more with the exact error.
pub const UNDERSTAND_ATTEMPTS_MAX: u32 = 2;

impl TurnEngine {
    pub(super) async fn understand(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        message: &Message,
        gathered: &Gathered,
    ) -> Result<Reading, TurnError> {
        let brief = self.brief(context, turn, message, gathered);
        let interpreter = self.interpreter.version();
        let mut refused: Option<String> = None;
        for attempt in 0..UNDERSTAND_ATTEMPTS_MAX {
            let answer = self.ask(&brief, refused.as_deref()).await;
            let checked = answer.and_then(|understanding| match understanding.check(&brief) {
                Ok(()) => Ok(understanding),
                Err(error) => Err(InterpreterError::Refused(error.to_string())),
            });
            match checked {
                Ok(understanding) => {
                    let speaker = turn.accepted.actor.subject()?;
                    let understanding = Personal::known(speaker, understanding);
                    let repaired = attempt;
                    return Ok(Reading::Understood { interpreter, understanding, repaired });
                }
                Err(InterpreterError::Refused(error)) => {
                    tracing::warn!(counter.turnframe.task.repaired = 1, "a proposal was refused");
                    refused = Some(error);
                }
                Err(InterpreterError::Unavailable(error)) => {
                    tracing::warn!(%error, "the interpreter is unavailable");
                    let code = "interpreter_unavailable".to_owned();
                    return Ok(Reading::Failed { interpreter, code });
                }
            }
        }
        Ok(Reading::Failed { interpreter, code: "proposal_refused".to_owned() })
    }

    async fn ask(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        let asked = self.interpreter.understand(brief, refused);
        match tokio::time::timeout(UNDERSTAND_TIMEOUT, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(InterpreterError::Unavailable("it took too long".to_owned())),
        }
    }

    /// All that an interpreter sees. No record's id is among it.
    fn brief(
        &self,
        context: &ConversationContext,
        turn: &UnfinishedTurn,
        message: &Message,
        gathered: &Gathered,
    ) -> Brief {
        let handle = |(token, case): &(_, turnframe_core::id::CaseRef)| {
            let projection = &gathered.cases.get(case)?.projection;
            let names = std::iter::once(&projection.label).chain(&projection.aliases);
            Some(Handle {
                token: turnframe_core::target::TargetToken::clone(token),
                workflow: case.workflow.clone(),
                names: names.map(ToString::to_string).collect(),
            })
        };
        let on_cases = gathered.cases.values().flat_map(|case| &case.cards);
        let cards = on_cases
            .chain(&context.choices)
            .filter(|card| card.conversation == context.conversation)
            .map(|card| CardInView {
                id: card.id,
                options: card
                    .payload
                    .options
                    .iter()
                    .map(|option| (option.id.clone(), option.label.to_string()))
                    .collect(),
            });
        Brief {
            message: message.clone(),
            locale: turn.accepted.actor.locale.clone(),
            operations: self.operations.clone(),
            topics: self.topics.clone(),
            handles: gathered.tokens.iter().filter_map(handle).collect(),
            cards: cards.collect(),
        }
    }
}
