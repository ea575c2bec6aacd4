//! Conversations: opened, read back, and the cards that are open in them.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use turnframe_core::id::ConversationId;
use turnframe_ledger::{Position, Version};
use turnframe_runtime::transcript::{self, TRANSCRIPT_PAGE_MAX};

use super::{App, InConversation};
use crate::auth::Authenticated;
use crate::body::{JsonBody, OpenBody};
use crate::problem::Problem;
use crate::view::{CardView, ItemView};

/// Where a conversation is read back.
pub(super) fn transcript_path(conversation: &ConversationId) -> String {
    format!("/v1/conversations/{conversation}/transcript")
}

#[derive(Serialize)]
struct Opened {
    conversation: ConversationId,
}

/// Opens a conversation. The same id again finds it open, and is answered alike.
pub(super) async fn open(
    State(app): State<Arc<App>>,
    Authenticated(actor): Authenticated,
    JsonBody(body): JsonBody<OpenBody>,
) -> Result<Response, Problem> {
    let conversation = match body.read()? {
        Some(conversation) => conversation,
        None => app.system.ids().uuid().to_string().parse().map_err(|_| Problem::INVALID_ID)?,
    };
    app.system.open_conversation(&actor, &conversation).await?;
    let location = [(header::LOCATION, transcript_path(&conversation))];
    Ok((StatusCode::CREATED, location, Json(Opened { conversation })).into_response())
}

#[derive(Deserialize)]
pub(super) struct PageQuery {
    #[serde(default)]
    after: u64,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Page<'a> {
    items: Vec<ItemView<'a>>,
    next: Option<Version>,
    position: Position,
}

/// A page of a conversation, oldest first.
pub(super) async fn transcript(
    State(app): State<Arc<App>>,
    Authenticated(actor): Authenticated,
    InConversation(conversation): InConversation,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(PageQuery { after, limit }) = query.map_err(|_| Problem::INVALID_PARAMETER)?;
    let limit = limit.unwrap_or(TRANSCRIPT_PAGE_MAX);
    let ledger = app.system.ledger().as_ref();
    let page = transcript::page(ledger, &actor.account, &conversation, Version(after), limit).await;
    let page = page.map_err(|error| Problem::unavailable(&error))?.ok_or(Problem::NOT_FOUND)?;
    let items = page.items.iter().map(ItemView::from).collect();
    Ok(Json(Page { items, next: page.next, position: page.position }).into_response())
}

#[derive(Serialize)]
struct Cards<'a> {
    cards: Vec<CardView<'a>>,
}

/// The cards that are open in a conversation for this actor.
pub(super) async fn cards(
    State(app): State<Arc<App>>,
    Authenticated(actor): Authenticated,
    InConversation(conversation): InConversation,
) -> Result<Response, Problem> {
    let cards = app.system.cards(&actor, &conversation).await?;
    let cards = cards.iter().map(CardView::from).collect();
    Ok(Json(Cards { cards }).into_response())
}
