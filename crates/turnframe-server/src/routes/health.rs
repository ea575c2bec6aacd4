//! Whether this process can serve: asked by whoever watches it, without a token.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use turnframe_ledger::PartitionId;

use super::App;

#[derive(Serialize)]
struct Health {
    status: &'static str,
    ledger: &'static str,
    live: LiveActors,
    /// How many of the ledger's partitions this process takes work for.
    partitions: usize,
    version: &'static str,
}

#[derive(Serialize)]
struct LiveActors {
    conversations: usize,
    cases: usize,
}

/// Reads from the ledger, and says how many actors are live.
pub(super) async fn check(State(app): State<Arc<App>>) -> Response {
    let head = reachable(&app);
    let is_reachable = matches!(tokio::time::timeout(app.limits.ledger_wait, head).await, Ok(true));
    let (conversations, cases) = app.system.live_actors();
    let (code, status, ledger) = if is_reachable {
        (StatusCode::OK, "ok", "reachable")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "unreachable")
    };
    let live = LiveActors { conversations, cases };
    let partitions = app.system.partitions().len();
    let version = env!("CARGO_PKG_VERSION");
    (code, Json(Health { status, ledger, live, partitions, version })).into_response()
}

async fn reachable(app: &App) -> bool {
    let Some(partition) = PartitionId::all().next() else { return false };
    match app.system.ledger().head(partition).await {
        Ok(_) => true,
        Err(error) => {
            tracing::warn!(%error, "the ledger cannot be reached");
            false
        }
    }
}
