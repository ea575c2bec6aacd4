//! What operators see and decide: effects that are open, and those that nobody here can go on with.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use turnframe_actors::Resolution;
use turnframe_core::canonical::Json as Canonical;
use turnframe_core::id::{AccountId, DestinationKey, EffectId};
use turnframe_ledger::mark::MARK_PAGE_MAX;
use turnframe_ledger::{Mark, MarkKind, StreamName};
use turnframe_runtime::effect::OperatorDecision;

use super::App;
use crate::auth::Operating;
use crate::body::{JsonBody, arriving};
use crate::forward::pass_on;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    #[serde(default)]
    state: Listed,
    destination: Option<String>,
    account: Option<String>,
    after: Option<String>,
}

/// Which effects are listed.
#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Listed {
    #[default]
    Parked,
    Open,
}

#[derive(Serialize)]
pub(super) struct Effects {
    effects: Vec<EffectView>,
    /// The `after` of the next page, where there may be one.
    next: Option<String>,
}

#[derive(Serialize)]
struct EffectView {
    account: AccountId,
    effect: EffectId,
    destination: DestinationKey,
    /// RFC 3339, as is the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    parked_at: Option<String>,
    /// When its next step is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<String>,
}

/// The effects that wait for an operator, or are open, of an account or of all, a page at a time.
pub(super) async fn list(
    State(app): State<Arc<App>>,
    Operating(_): Operating,
    query: Result<Query<ListQuery>, QueryRejection>,
) -> Result<Json<Effects>, Problem> {
    let Query(ListQuery { state, destination, account, after }) =
        query.map_err(|_| Problem::INVALID_PARAMETER)?;
    let account: Option<AccountId> =
        account.map(|account| account.parse()).transpose().map_err(|_| Problem::INVALID_ID)?;
    let destination: Option<DestinationKey> =
        destination.map(|key| key.parse()).transpose().map_err(|_| Problem::INVALID_ID)?;
    let after = after.as_deref().map(place).transpose()?;
    let after = after.as_ref().map(|(account, key)| (account, key.as_str()));
    let (destination, account) = (destination.as_ref(), account.as_ref());
    let marks = match state {
        Listed::Parked => app.system.parked_effects(destination, account, after).await,
        Listed::Open => app.system.open_effects(destination, account, after).await,
    };
    let marks = marks.map_err(|error| Problem::unavailable(&error))?;
    let next = marks.last().filter(|_| marks.len() >= MARK_PAGE_MAX);
    let next = next.map(|last| format!("{}/{}", last.account, last.key));
    Ok(Json(Effects { effects: marks.iter().filter_map(view).collect(), next }))
}

/// Where a page ended: the account and the key of its last mark.
fn place(after: &str) -> Result<(AccountId, String), Problem> {
    let (account, key) = after.split_once('/').ok_or(Problem::INVALID_PARAMETER)?;
    let account = account.parse().map_err(|_| Problem::INVALID_PARAMETER)?;
    let is_key = key.bytes().all(|byte| byte.is_ascii_graphic());
    if is_key { Ok((account, key.to_owned())) } else { Err(Problem::INVALID_PARAMETER) }
}

fn view(mark: &Mark) -> Option<EffectView> {
    let StreamName::Effect(effect) = mark.stream else { return None };
    let destination = mark.group().parse().ok()?;
    let (account, at) = (mark.account.clone(), mark.due.to_string());
    let (parked_at, due_at) =
        if mark.kind == MarkKind::Parked { (Some(at), None) } else { (None, Some(at)) };
    Some(EffectView { account, effect, destination, parked_at, due_at })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionBody {
    reason: String,
    decision: DecisionView,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum DecisionView {
    Accepted {
        reference: String,
        #[serde(default)]
        details: Canonical,
    },
    Rejected {
        code: String,
    },
    Retry {},
    Park {},
    Nudge {},
}

impl From<DecisionView> for OperatorDecision {
    fn from(decision: DecisionView) -> Self {
        match decision {
            DecisionView::Accepted { reference, details } => Self::Accepted { reference, details },
            DecisionView::Rejected { code } => Self::Rejected { code },
            DecisionView::Retry {} => Self::Retry,
            DecisionView::Park {} => Self::Park,
            DecisionView::Nudge {} => Self::Nudge,
        }
    }
}

/// Which effect of which account.
type Of = (String, String);

fn of((account, effect): Of) -> Result<(AccountId, EffectId), Problem> {
    let account = account.parse().map_err(|_| Problem::INVALID_ID)?;
    Ok((account, effect.parse().map_err(|_| Problem::INVALID_ID)?))
}

/// Has a decision recorded by the owner of its effect's account.
pub(super) async fn to_owner(
    State(app): State<Arc<App>>,
    Path(path): Path<Of>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    // Whoever is no operator is refused before anything is waited for.
    Operating::from_request_parts(&mut parts, &app).await?;
    let (account, _) = of(path)?;
    let body = arriving(Request::from_parts(parts.clone(), body), &app).await?;
    pass_on(&app, &account, parts, body, next).await
}

/// Records a decision. The same decision again is told that it stands.
pub(super) async fn decide(
    State(app): State<Arc<App>>,
    Operating(operator): Operating,
    Path(path): Path<Of>,
    JsonBody(body): JsonBody<DecisionBody>,
) -> Result<StatusCode, Problem> {
    let (account, effect) = of(path)?;
    let DecisionBody { reason, decision } = body;
    let resolution = Resolution { account, effect, operator, reason, decision: decision.into() };
    app.system.resolve_effect(&resolution).await?;
    Ok(StatusCode::NO_CONTENT)
}
