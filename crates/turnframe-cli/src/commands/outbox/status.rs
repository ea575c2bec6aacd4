//! `turnframe outbox status`: what waits, for people and for whatever watches exit codes.

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;

use super::{answered, request};
use crate::cli::ServerArgs;
use crate::exit::CliError;
use crate::output::Output;

#[derive(Debug, Deserialize)]
struct Backlog {
    destinations: Vec<Value>,
}

/// What waits for a destination, as far as it is shown.
#[derive(Debug, Deserialize)]
struct Destination {
    destination: String,
    open: Waiting,
    overdue_seconds: u64,
    is_stalled: bool,
    parked: Waiting,
    parked_seconds: u64,
    is_undecided: bool,
}

#[derive(Debug, Deserialize)]
struct Waiting {
    count: usize,
    is_cut: bool,
    first: Option<First>,
}

#[derive(Debug, Deserialize)]
struct First {
    account: String,
    effect: String,
}

/// Prints what waits, and ends with an exit code of its own where something waits for too long.
pub(super) async fn run(server: &ServerArgs) -> Result<(), CliError> {
    let output = Output { json: server.json };
    let asked = request(server, Method::GET, &["backlog"], &[])?;
    let backlog: Backlog = answered(asked).await?.json().await?;
    let mut stalled = Vec::new();
    for shown in &backlog.destinations {
        let destination = Destination::deserialize(shown)?;
        output.object(shown)?;
        output.text(&line(&destination))?;
        if destination.is_stalled || destination.is_undecided {
            stalled.push(destination.destination);
        }
    }
    if stalled.is_empty() { Ok(()) } else { Err(CliError::Stalled(stalled.join(", "))) }
}

fn line(waits: &Destination) -> String {
    let open = match (&waits.open.first, waits.overdue_seconds) {
        (None, _) => "nothing is open".to_owned(),
        (Some(_), 0) => format!("{} open and none overdue", count(&waits.open)),
        (Some(first), seconds) => {
            format!("{} open, overdue for {} ({})", count(&waits.open), span(seconds), name(first))
        }
    };
    let parked = match &waits.parked.first {
        None => "nothing is parked".to_owned(),
        Some(first) => {
            let (count, age) = (count(&waits.parked), span(waits.parked_seconds));
            format!("{count} parked, for {age} ({})", name(first))
        }
    };
    format!("{}: {open}, {parked}", waits.destination)
}

fn count(waiting: &Waiting) -> String {
    let more = if waiting.is_cut { " or more" } else { "" };
    format!("{}{more}", waiting.count)
}

fn name(first: &First) -> String {
    format!("first {} of {}", first.effect, first.account)
}

/// The two largest units of a time.
fn span(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        (_, _, _) => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_names_what_waits_longest() {
        let nothing = json!({ "count": 0, "is_cut": false, "first": null });
        let first = json!({ "account": "acme", "effect": "e-1", "since": "2027-01-01T00:00:00Z" });
        let waiting = json!({ "count": 10_000, "is_cut": true, "first": first });
        let shown = |open: &Value, overdue: u64, parked: &Value, age: u64| {
            let shown = json!({
                "destination": "post", "open": open, "overdue_seconds": overdue, "is_stalled": false,
                "parked": parked, "parked_seconds": age, "is_undecided": false,
            });
            line(&Destination::deserialize(&shown).expect("a destination"))
        };
        let expected =
            "post: nothing is open, 10000 or more parked, for 9 d 1 h (first e-1 of acme)";
        assert_eq!(shown(&nothing, 0, &waiting, 9 * 86_400 + 3_700), expected);
        let expected = "post: 10000 or more open and none overdue, nothing is parked";
        assert_eq!(shown(&waiting, 0, &nothing, 0), expected);
        let expected = "post: 10000 or more open, overdue for 1 h 1 min (first e-1 of acme), nothing is parked";
        assert_eq!(shown(&waiting, 3_660, &nothing, 0), expected);
    }

    #[test]
    fn a_time_is_told_in_its_two_largest_units() {
        let told = [59, 61, 3_599, 86_399, 86_400].map(span);
        assert_eq!(told, ["59 s", "1 min 1 s", "59 min 59 s", "23 h 59 min", "1 d 0 h"]);
    }
}
