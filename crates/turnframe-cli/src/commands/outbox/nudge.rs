//! `turnframe outbox nudge`: what comes next for one effect, or for all that are open to a destination, is done now.
//!
//! Each is a decision of its own at its account's owner. Stopped in between, what was nudged is nudged; told again, it
//! goes over all of them again, and those that are due already stay so.

use serde_json::json;

use super::list::{Filter, Listed, page};
use super::record;
use crate::cli::{NudgeArgs, ServerArgs};
use crate::exit::CliError;
use crate::output::Output;

/// What a server says of one that cannot be nudged and need not be: it was seen to since it was listed, or follows one
/// that is nudged too.
const SEEN_TO: [&str; 4] =
    ["effect_under_way", "effect_concluded", "effect_parked", "effect_not_its_turn"];

pub(super) async fn run(args: NudgeArgs) -> Result<(), CliError> {
    let NudgeArgs { server, effect, account, destination, reason } = args;
    let output = Output { json: server.json };
    if let (Some(effect), Some(account)) = (&effect, &account) {
        nudge(&server, (account, effect), &reason).await?;
        output.text("nudged: it is due now")?;
        return Ok(());
    }
    let filter = Filter { open: true, destination, account };
    let (mut after, mut nudged, mut seen_to) = (None, 0, 0);
    loop {
        let page = page(&server, &filter, after.as_deref()).await?;
        for Listed { account, effect, .. } in &page.effects {
            match nudge(&server, (account, effect), &reason).await {
                Ok(()) => nudged += 1,
                Err(CliError::Refused { code, .. }) if SEEN_TO.contains(&code.as_str()) => {
                    seen_to += 1;
                }
                Err(error) => return Err(error),
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    output.text(&format!(
        "nudged: {nudged} are due now; {seen_to} are seen to already, or follow one of these"
    ))?;
    Ok(())
}

async fn nudge(server: &ServerArgs, of: (&str, &str), reason: &str) -> Result<(), CliError> {
    record(server, of, reason, &json!({ "nudge": {} })).await?;
    let (account, effect) = of;
    let nudged = json!({ "event": "nudged", "account": account, "effect": effect });
    Ok(Output { json: server.json }.object(&nudged)?)
}
