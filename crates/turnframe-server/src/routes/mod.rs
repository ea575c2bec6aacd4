//! Which resource is where, and what their handlers share.

mod backlog;
mod callback;
mod conversation;
mod events;
mod health;
mod operator;
mod turn;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Path};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::{Semaphore, watch};
use turnframe_actors::System;
use turnframe_core::id::ConversationId;

use crate::auth::Tokens;
use crate::forward::{self, Owners};
use crate::limits::ServerLimits;
use crate::log;
use crate::problem::Problem;

/// What the handlers share.
pub(crate) struct App {
    pub(crate) system: System,
    pub(crate) tokens: Tokens,
    pub(crate) limits: ServerLimits,
    pub(crate) owners: Owners,
    /// One permit per request that is sent on.
    pub(crate) forwards: Arc<Semaphore>,
    /// One permit per callback that is being recorded.
    pub(crate) callbacks: Arc<Semaphore>,
    /// One permit per live stream.
    streams: Arc<Semaphore>,
    /// Says when live streams have to end.
    closing: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(
        system: System,
        tokens: Tokens,
        limits: ServerLimits,
        closing: watch::Receiver<bool>,
    ) -> Arc<Self> {
        let streams = Arc::new(Semaphore::new(limits.streams_max));
        let forwards = Arc::new(Semaphore::new(limits.forwards_max));
        let callbacks = Arc::new(Semaphore::new(limits.callbacks_max));
        let owners = Owners::new(limits.turn_wait);
        Arc::new(Self { system, tokens, limits, owners, forwards, callbacks, streams, closing })
    }
}

/// The HTTP face of a system, for a host that serves it by itself. [`serve`](fn@crate::serve) does that and stops in order.
pub fn router(system: System, tokens: Tokens) -> Router {
    router_with(system, tokens, ServerLimits::default())
}

/// [`router`] under limits of one's own.
pub fn router_with(system: System, tokens: Tokens, limits: ServerLimits) -> Router {
    let (_, never_closing) = watch::channel(false);
    routes(App::new(system, tokens, limits, never_closing))
}

pub(crate) fn routes(app: Arc<App>) -> Router {
    let body_max_bytes = app.limits.body_max_bytes;
    Router::new()
        .route("/v1/conversations", post(conversation::open))
        .route("/v1/conversations/{id}/turns", post(turn::post))
        .route("/v1/conversations/{id}/cards", get(conversation::cards))
        // Those above ask actors, and actors live where their account's partition is owned.
        .route_layer(axum::middleware::from_fn_with_state(app.clone(), forward::to_owner))
        .merge(
            Router::new()
                .route("/v1/callbacks/{destination}", post(callback::post))
                .route_layer(axum::middleware::from_fn_with_state(app.clone(), callback::to_owner)),
        )
        .merge(
            Router::new()
                .route(
                    "/v1/operator/accounts/{account}/effects/{effect}/decision",
                    post(operator::decide),
                )
                .route_layer(axum::middleware::from_fn_with_state(app.clone(), operator::to_owner)),
        )
        .route("/v1/operator/effects", get(operator::list))
        .route("/v1/operator/backlog", get(backlog::show))
        .route("/v1/conversations/{id}/transcript", get(conversation::transcript))
        .route("/v1/conversations/{id}/events", get(events::follow))
        .route("/healthz", get(health::check))
        .route("/problems/{code}", get(problem))
        .fallback(async || Problem::NOT_FOUND)
        .method_not_allowed_fallback(async || Problem::METHOD_NOT_ALLOWED)
        .layer(DefaultBodyLimit::max(body_max_bytes))
        .layer(axum::middleware::from_fn(log::request))
        .with_state(app)
}

/// The page that a problem's type leads to.
async fn problem(Path(code): Path<String>) -> Response {
    let found = Problem::ALL.iter().find(|problem| problem.code() == code);
    found.map_or_else(|| Problem::NOT_FOUND.into_response(), Problem::page)
}

/// The conversation that a path names.
pub(crate) struct InConversation(pub(crate) ConversationId);

impl<S: Send + Sync> FromRequestParts<S> for InConversation {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let Path(id) = path.map_err(|_| Problem::INVALID_ID)?;
        id.parse().map(Self).map_err(|_| Problem::INVALID_ID)
    }
}
