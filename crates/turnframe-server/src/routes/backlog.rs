//! What operators see of what waits: of every destination how much, and since when. Any process answers for the whole
//! ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use turnframe_core::id::{AccountId, EffectId};
use turnframe_runtime::backlog::{DestinationBacklog, Waiting};

use super::App;
use crate::auth::Operating;
use crate::problem::Problem;

#[derive(Serialize)]
pub(super) struct BacklogView {
    /// RFC 3339.
    as_of: String,
    /// For how long something may be overdue, and parked, before it counts as stalled or undecided.
    overdue_max_seconds: u64,
    parked_max_seconds: u64,
    destinations: Vec<DestinationView>,
}

#[derive(Serialize)]
struct DestinationView {
    destination: String,
    open: WaitingView,
    /// For how long the first open effect is due and not seen to.
    overdue_seconds: u64,
    is_stalled: bool,
    parked: WaitingView,
    parked_seconds: u64,
    is_undecided: bool,
}

#[derive(Default, Serialize)]
struct WaitingView {
    count: usize,
    /// Whether there are more than were counted.
    is_cut: bool,
    first: Option<FirstView>,
}

#[derive(Serialize)]
struct FirstView {
    account: AccountId,
    effect: EffectId,
    /// RFC 3339.
    since: String,
}

/// What waits, by destination: of those that are known here, and of those that anything waits for.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Operating(_): Operating,
) -> Result<Json<BacklogView>, Problem> {
    let backlog = app.system.backlog().await.map_err(|error| Problem::unavailable(&error))?;
    let (now, limits) = (backlog.now, backlog.limits);
    let view = |(destination, waits): (String, DestinationBacklog)| DestinationView {
        destination,
        overdue_seconds: waits.overdue(now).as_secs(),
        is_stalled: waits.is_stalled(now, &limits),
        parked_seconds: waits.parked(now).as_secs(),
        is_undecided: waits.is_undecided(now, &limits),
        open: waits.open.map(WaitingView::from).unwrap_or_default(),
        parked: waits.parked.map(WaitingView::from).unwrap_or_default(),
    };
    Ok(Json(BacklogView {
        as_of: now.to_string(),
        overdue_max_seconds: limits.overdue_max.as_secs(),
        parked_max_seconds: limits.parked_max.as_secs(),
        destinations: backlog.destinations.into_iter().map(view).collect(),
    }))
}

impl From<Waiting> for WaitingView {
    fn from(waiting: Waiting) -> Self {
        let Waiting { count, is_cut, since, account, effect } = waiting;
        Self { count, is_cut, first: Some(FirstView { account, effect, since: since.to_string() }) }
    }
}
