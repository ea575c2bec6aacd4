//! `turnframe outbox`: what waits at a running server, and what an operator decides about it.

mod list;
mod nudge;
mod status;

use reqwest::{Method, RequestBuilder, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::{DecideArgs, OutboxCommand, ServerArgs};
use crate::exit::CliError;
use crate::output::Output;

use self::list::Filter;

/// What the server says when it refuses.
#[derive(Debug, Deserialize)]
struct Refusal {
    code: String,
    detail: String,
}

pub(crate) async fn run(command: OutboxCommand) -> Result<(), CliError> {
    match command {
        OutboxCommand::Status { server } => status::run(&server).await,
        OutboxCommand::List { server, open, destination, account } => {
            list::run(&server, Filter { open, destination, account }).await
        }
        OutboxCommand::Accept { decide, reference, details } => {
            let details: Value = serde_json::from_str(&details)?;
            let decision = json!({ "accepted": { "reference": reference, "details": details } });
            send(&decide, &decision).await
        }
        OutboxCommand::Reject { decide, code } => {
            send(&decide, &json!({ "rejected": { "code": code } })).await
        }
        OutboxCommand::Retry { decide } => send(&decide, &json!({ "retry": {} })).await,
        OutboxCommand::Park { decide } => send(&decide, &json!({ "park": {} })).await,
        OutboxCommand::Nudge(args) => nudge::run(args).await,
    }
}

async fn send(decide: &DecideArgs, decision: &Value) -> Result<(), CliError> {
    let DecideArgs { server, effect, account, reason } = decide;
    record(server, (account, effect), reason, decision).await?;
    let output = Output { json: server.json };
    output.object(&json!({ "event": "decided", "account": account, "effect": effect }))?;
    output.text("decided: it is on the ledger with your name and your reason")?;
    Ok(())
}

/// Has a decision recorded.
async fn record(
    server: &ServerArgs,
    (account, effect): (&str, &str),
    reason: &str,
    decision: &Value,
) -> Result<(), CliError> {
    let path = ["accounts", account, "effects", effect, "decision"];
    let body = json!({ "reason": reason, "decision": decision });
    answered(request(server, Method::POST, &path, &[])?.json(&body)).await?;
    Ok(())
}

fn request(
    server: &ServerArgs,
    method: Method,
    path: &[&str],
    query: &[(&str, &str)],
) -> Result<RequestBuilder, CliError> {
    let unusable = || CliError::ServerAddress(server.server.clone());
    let mut url = reqwest::Url::parse(&server.server).map_err(|_| unusable())?;
    url.path_segments_mut()
        .map_err(|()| unusable())?
        .pop_if_empty()
        .extend(["v1", "operator"])
        .extend(path);
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    let client = reqwest::Client::builder().no_proxy().build()?;
    Ok(client.request(method, url).bearer_auth(&server.token.0))
}

/// The answer, where it is one.
async fn answered(request: RequestBuilder) -> Result<Response, CliError> {
    let response = request.send().await?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    Err(match response.json::<Refusal>().await {
        Ok(Refusal { code, detail }) => CliError::Refused { code, detail },
        Err(_) => CliError::Refused { code: status.to_string(), detail: String::new() },
    })
}
