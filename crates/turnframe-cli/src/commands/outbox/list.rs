//! `turnframe outbox list`: the effects that wait for an operator, or are open, page after page.

use reqwest::Method;
use serde::{Deserialize, Serialize};

use super::{answered, request};
use crate::cli::ServerArgs;
use crate::exit::CliError;
use crate::output::Output;

/// Which effects are listed.
pub(super) struct Filter {
    pub(super) open: bool,
    pub(super) destination: Option<String>,
    pub(super) account: Option<String>,
}

/// An effect that waits, as the server lists it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) account: String,
    pub(super) effect: String,
    destination: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parked_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Page {
    pub(super) effects: Vec<Listed>,
    pub(super) next: Option<String>,
}

pub(super) async fn run(server: &ServerArgs, filter: Filter) -> Result<(), CliError> {
    let output = Output { json: server.json };
    let (mut after, mut listed) = (None, 0);
    loop {
        let page = page(server, &filter, after.as_deref()).await?;
        for effect in &page.effects {
            output.object(effect)?;
            output.text(&line(effect))?;
        }
        listed += page.effects.len();
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    if listed == 0 {
        output.text(if filter.open {
            "nothing is open"
        } else {
            "nothing waits for an operator"
        })?;
    }
    Ok(())
}

/// A page of effects, after where the one before ended.
pub(super) async fn page(
    server: &ServerArgs,
    filter: &Filter,
    after: Option<&str>,
) -> Result<Page, CliError> {
    let Filter { open, destination, account } = filter;
    let mut query = vec![("state", if *open { "open" } else { "parked" })];
    query.extend(destination.as_deref().map(|destination| ("destination", destination)));
    query.extend(account.as_deref().map(|account| ("account", account)));
    query.extend(after.map(|after| ("after", after)));
    let asked = request(server, Method::GET, &["effects"], &query)?;
    Ok(answered(asked).await?.json().await?)
}

fn line(listed: &Listed) -> String {
    let Listed { account, effect, destination, parked_at, due_at } = listed;
    let parked = parked_at.iter().map(|at| format!("since {at}"));
    let when = parked.chain(due_at.iter().map(|at| format!("due {at}"))).collect::<String>();
    format!("{effect}  {account}  {destination}  {when}")
}
