//! Turns: posted, waited for, and asked for again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use turnframe_core::id::{AccountId, ConversationId, TurnId};
use turnframe_runtime::key;

use super::conversation::transcript_path;
use super::{App, InConversation};
use crate::auth::Authenticated;
use crate::body::{JsonBody, TurnBody};
use crate::problem::Problem;
use crate::view::AnswerView;

#[derive(Serialize)]
struct Accepted {
    turn: TurnId,
    status: &'static str,
}

/// Posts a turn and answers with its answer, or, after [`crate::ServerLimits::turn_wait`], that it goes on. That a
/// turn was accepted is a claim like any other: it is read from the ledger. The same turn id with the same content
/// is always the same turn.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    Authenticated(actor): Authenticated,
    InConversation(conversation): InConversation,
    JsonBody(body): JsonBody<TurnBody>,
) -> Result<Response, Problem> {
    let (turn, input) = body.read()?;
    let turn = match turn {
        Some(turn) => turn,
        None => app.system.ids().uuid().to_string().parse().map_err(|_| Problem::INVALID_ID)?,
    };
    let posted = app.system.post(&actor, &conversation, &turn, input);
    match tokio::time::timeout(app.limits.turn_wait, posted).await {
        Ok(Ok(answer)) => Ok(Json(AnswerView::from(answer.as_ref())).into_response()),
        Ok(Err(error)) => Err(Problem::of_turn(error, turn)),
        Err(_) if !is_accepted(&app, &actor.account, &conversation, &turn).await => {
            Err(Problem::unknown_turn(turn))
        }
        Err(_) => {
            let location = [(header::LOCATION, transcript_path(&conversation))];
            let accepted = Accepted { turn, status: "accepted" };
            Ok((StatusCode::ACCEPTED, location, Json(accepted)).into_response())
        }
    }
}

/// Whether a turn's arrival is on the ledger. A ledger that does not say is no yes.
async fn is_accepted(
    app: &App,
    account: &AccountId,
    conversation: &ConversationId,
    turn: &TurnId,
) -> bool {
    let Ok(key) = key::turn(conversation, turn) else { return false };
    let found = app.system.ledger().find_key(account, &key);
    let found = tokio::time::timeout(app.limits.ledger_wait, found).await;
    matches!(found, Ok(Ok(Some(_))))
}
