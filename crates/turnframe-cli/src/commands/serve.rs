//! `turnframe serve`: the travel desk over HTTP, until it is told to stop.

use std::time::Duration;

use serde::Serialize;
use tokio::net::TcpListener;
use turnframe_core::canonical::to_hex;
use turnframe_core::context::ActorContext;
use turnframe_core::source::IdSource;
use turnframe_ledger::postgres::NodeOptions;
use turnframe_server::{ServerLimits, Tokens};
use turnframe_travel::airline::Behaviour;

use crate::cli::{OperatorArg, ServeArgs, TokenArg};
use crate::desk::{Airline, TravelDesk};
use crate::exit::CliError;
use crate::output::Output;
use crate::sources;

/// The account and the actor of a token that is made for a run.
const DEVELOPMENT: (&str, &str) = ("demo", "dev");

/// What a program is told once the desk is open.
#[derive(Serialize)]
struct Listening<'a> {
    event: &'static str,
    url: &'a str,
    ledger: &'a str,
    airline: &'a str,
    airline_is_simulated: bool,
    /// A token that was made for this run; others are known to whoever gave them.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

#[derive(Serialize)]
struct Stopped {
    event: &'static str,
}

/// Serves until SIGINT or SIGTERM.
pub(crate) async fn run(args: ServeArgs) -> Result<(), CliError> {
    let output = Output { json: args.json };
    let listener = TcpListener::bind(args.listen).await;
    let listener = listener.map_err(|source| CliError::Listen { address: args.listen, source })?;
    let url = format!("http://{}", listener.local_addr()?);
    let advertised = args.advertise.as_deref().unwrap_or(&url);
    let node = NodeOptions {
        lease: Duration::from_millis(args.lease_ms),
        ..NodeOptions::new(sources::ids().uuid(), advertised)
    };
    let desk = TravelDesk::start(
        &args.ledger,
        node,
        Airline {
            address: args.airline.as_deref(),
            secrets: &args.airline_secrets,
            deadline: Duration::from_secs(args.answer_deadline),
        },
    )
    .await?;
    let ledger = desk.system.ledger().clone();
    if let Some(simulator) = &desk.simulator {
        args.simulate.iter().for_each(|next| simulator.next(Behaviour::from(*next)));
    }
    let made = args.tokens.is_empty().then(|| development_token(desk.system.ids()));
    let made = made.transpose()?;
    let tokens = made.iter().chain(&args.tokens).try_fold(Tokens::new(), with_token)?;
    let tokens = args.operators.iter().try_fold(tokens, with_operator)?;
    let listening = Listening {
        event: "listening",
        url: &url,
        ledger: &args.ledger,
        airline: &desk.airline,
        airline_is_simulated: desk.simulator.is_some(),
        token: made.as_ref().map(|token| token.secret.as_str()),
    };
    // Before anybody is told that it runs: whoever is told may stop it.
    let until = stop_signal()?;
    output.object(&listening)?;
    output.text(&welcome(&listening))?;
    turnframe_server::serve(listener, desk.system, tokens, ServerLimits::default(), until).await?;
    ledger.close().await;
    if let Some(simulator) = desk.simulator {
        simulator.stop().await.map_err(CliError::Simulator)?;
    }
    output.object(&Stopped { event: "stopped" })?;
    output.text(
        "stopped: what was accepted is on the ledger, and is gone on with at the next start",
    )?;
    Ok(())
}

fn with_token(tokens: Tokens, token: &TokenArg) -> Result<Tokens, CliError> {
    let context = ActorContext {
        account: token.account.clone(),
        actor: token.actor.clone(),
        locale: "en".parse()?,
        time_zone: "UTC".to_owned(),
    };
    tokens.with(&token.secret, context).map_err(|source| CliError::Token {
        account: token.account.to_string(),
        actor: token.actor.to_string(),
        source,
    })
}

fn with_operator(tokens: Tokens, operator: &OperatorArg) -> Result<Tokens, CliError> {
    let OperatorArg { operator, secret } = operator;
    let named = |source| CliError::Operator { operator: operator.to_string(), source };
    tokens.with_operator(secret, operator.clone()).map_err(named)
}

fn development_token(ids: &IdSource) -> Result<TokenArg, CliError> {
    let (account, actor) = DEVELOPMENT;
    let secret = to_hex(&ids.bytes::<16>());
    Ok(TokenArg { account: account.parse()?, actor: actor.parse()?, secret })
}

fn welcome(listening: &Listening<'_>) -> String {
    let Listening { url, ledger, airline, .. } = listening;
    let simulated = if listening.airline_is_simulated {
        " (simulated on this machine; name a real one with --airline URL)"
    } else {
        ""
    };
    let mut text = format!(
        "turnframe {}\n\n  listening  {url}\n  ledger     {ledger}\n  airline    {airline}{simulated}\n",
        env!("CARGO_PKG_VERSION"),
    );
    if let Some(token) = listening.token {
        let (account, actor) = DEVELOPMENT;
        text.push_str(&format!(
            "  token      {token}\n             (of {actor} at {account}, for this run; name your own with --token)\n\n\
             Try it:\n\n\
             \x20 curl -s {url}/v1/conversations -H 'Authorization: Bearer {token}' \\\n\
             \x20   -H 'Content-Type: application/json' -d '{{\"id\":\"c1\"}}'\n\n\
             \x20 curl -s {url}/v1/conversations/c1/turns -H 'Authorization: Bearer {token}' \\\n\
             \x20   -H 'Content-Type: application/json' \\\n\
             \x20   -d '{{\"text\":\"open a trip to Lisbon for Ada Ferri on 3 May\"}}'\n",
        ));
    }
    text
}

/// Resolves at SIGINT or SIGTERM. They are listened for from here on, also before it is asked.
#[cfg(unix)]
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => tracing::info!("interrupted; stopping"),
            _ = terminate.recv() => tracing::info!("asked to terminate; stopping"),
        }
    })
}

/// Resolves at Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static, CliError> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Nobody can interrupt it then; it runs until it is killed.
            std::future::pending().await
        }
    })
}
