//! Callbacks: what a destination says of an effect after the fact.
//!
//! Nobody's token is asked for: the destination's own signature says who speaks, over the bytes as they came. Whose
//! effect it is, is found only after that.

use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use serde::Serialize;
use turnframe_actors::{Callback, Called};
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::Incoming;

use super::App;
use crate::body::arriving;
use crate::forward::pass_on;
use crate::problem::Problem;

#[derive(Serialize)]
pub(super) struct Answer {
    status: &'static str,
}

/// Verifies a callback and has it served by the owner of its effect's account, which, where that is another process,
/// verifies it again.
pub(super) async fn to_owner(
    State(app): State<Arc<App>>,
    Path(destination): Path<String>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let destination = key(destination)?;
    if !app.system.hears_callbacks_of(&destination) {
        return Err(Problem::NOT_FOUND);
    }
    let (mut parts, body) = request.into_parts();
    let body = arriving(Request::from_parts(parts.clone(), body), &app).await?;
    // Only what has proved to be the destination's takes the place of others.
    let incoming = incoming(&parts.headers, &body);
    let callback = app.system.hear_callback(&destination, &incoming).await?;
    let permit = app.callbacks.clone().try_acquire_owned().map_err(|_| Problem::OVERLOADED)?;
    let account = callback.account().clone();
    parts.extensions.insert(callback);
    let served = pass_on(&app, &account, parts, body, next).await;
    drop(permit);
    served
}

/// Records a callback, once however often it is delivered. A sender that is told anything but a 2xx delivers it again.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    Extension(callback): Extension<Callback>,
) -> Result<Json<Answer>, Problem> {
    let status = match app.system.record_callback(&callback).await? {
        Called::Recorded => "recorded",
        Called::Repeated => "repeated",
    };
    Ok(Json(Answer { status }))
}

/// A name that cannot be one is no destination's.
fn key(destination: String) -> Result<DestinationKey, Problem> {
    destination.parse().map_err(|_| Problem::NOT_FOUND)
}

fn incoming(headers: &HeaderMap, body: &Bytes) -> Incoming {
    let with = |incoming: Incoming, (name, value): (&HeaderName, &HeaderValue)| match value.to_str()
    {
        Ok(value) => incoming.with(name.as_str(), value),
        Err(_) => incoming.garbled(name.as_str()),
    };
    headers.iter().fold(Incoming::new(body.to_vec()), with)
}
