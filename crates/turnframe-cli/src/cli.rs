//! The command line.

use std::net::SocketAddr;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};
use turnframe_core::id::{AccountId, ActorId};
use turnframe_travel::airline::Behaviour;

use crate::exit::EXIT_CODES;

/// Conversations that change real records, on an event ledger.
#[derive(Debug, Parser)]
#[command(name = "turnframe", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the travel desk over HTTP
    Serve(ServeArgs),
    /// Play a scripted traveller against the real system, and print everything that is recorded
    Demo(DemoArgs),
    /// See what waits for an operator at a running server, and decide
    #[command(subcommand)]
    Outbox(OutboxCommand),
    /// Measure
    #[command(subcommand)]
    Bench(BenchCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OutboxCommand {
    /// Say what waits for each destination and since when, also where no process owns it
    #[command(after_help = EXIT_CODES)]
    Status {
        #[command(flatten)]
        server: ServerArgs,
    },
    /// List the effects that wait for an operator
    #[command(after_help = EXIT_CODES)]
    List {
        #[command(flatten)]
        server: ServerArgs,
        /// Those that are open instead: they go on by themselves
        #[arg(long)]
        open: bool,
        /// To this destination only
        #[arg(long)]
        destination: Option<String>,
        /// Of this account only
        #[arg(long)]
        account: Option<String>,
    },
    /// Record that the receiver took an effect, as you found out
    #[command(after_help = EXIT_CODES)]
    Accept {
        #[command(flatten)]
        decide: DecideArgs,
        /// What the receiver calls it
        #[arg(long)]
        reference: String,
        /// What else it said, as a JSON object
        #[arg(long, value_name = "JSON", default_value = "{}")]
        details: String,
    },
    /// Record that the receiver refused an effect, as you found out
    #[command(after_help = EXIT_CODES)]
    Reject {
        #[command(flatten)]
        decide: DecideArgs,
        /// The receiver's stable code
        #[arg(long)]
        code: String,
    },
    /// Have a parked effect sent again under the same key
    #[command(after_help = EXIT_CODES)]
    Retry {
        #[command(flatten)]
        decide: DecideArgs,
    },
    /// Park an open effect: nothing more is done about it until you decide
    #[command(after_help = EXIT_CODES)]
    Park {
        #[command(flatten)]
        decide: DecideArgs,
    },
    /// Have what comes next for an open effect, or for all that wait for a destination, done now: sent, sent again or
    /// looked up, as often as at its own time
    #[command(after_help = EXIT_CODES)]
    Nudge(NudgeArgs),
}

/// Which server, and who asks.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// Where the server listens
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    pub(crate) server: String,
    /// The bearer token of an operator
    #[arg(long, value_name = "SECRET", env = "TURNFRAME_OPERATOR_TOKEN", hide_env_values = true)]
    pub(crate) token: SecretArg,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a decision is about, and why it is made.
#[derive(Debug, Args)]
pub(crate) struct DecideArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Which effect, as `list` names it
    pub(crate) effect: String,
    /// Whose effect
    #[arg(long)]
    pub(crate) account: String,
    /// How you know; kept on the ledger with your name
    #[arg(long)]
    pub(crate) reason: String,
}

/// What is nudged, and why.
#[derive(Debug, Args)]
pub(crate) struct NudgeArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Which effect, as `list --open` names it
    #[arg(requires = "account", required_unless_present = "destination")]
    pub(crate) effect: Option<String>,
    /// Whose effect; with a destination, of this account only
    #[arg(long)]
    pub(crate) account: Option<String>,
    /// Everything that is open to this destination
    #[arg(long, conflicts_with = "effect")]
    pub(crate) destination: Option<String>,
    /// Why; kept on the ledger with your name
    #[arg(long)]
    pub(crate) reason: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Drive whole turns of many conversations at once, and report what was seen; HTTP is left out
    Turns(BenchTurnsArgs),
    /// Send effects to a destination on this machine, alone and beside turns at half of the most that are served
    Effects(BenchEffectsArgs),
    /// Take every figure in one run, and print each beside what is aimed at
    Report(BenchReportArgs),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BenchReportArgs {
    /// The URL of a PostgreSQL server whose user may make databases, which are dropped afterwards. Without one the
    /// figures of PostgreSQL are left out
    #[arg(long, value_name = "postgres://…")]
    pub(crate) postgres: Option<String>,
    /// Where the files of SQLite lie; the folder of temporary files by default
    #[arg(long, value_name = "FOLDER")]
    pub(crate) directory: Option<std::path::PathBuf>,
    /// Do a tenth of the work
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BenchEffectsArgs {
    /// `memory`, `sqlite` (a file of its own), or the URL of a PostgreSQL server whose user may make databases
    /// (a database of its own); file and database are thrown away afterwards
    #[arg(long, value_name = "memory|sqlite|postgres://…", default_value = "sqlite")]
    pub(crate) ledger: BenchLedger,
    /// Where the file lies; the folder of temporary files by default
    #[arg(long, value_name = "FOLDER")]
    pub(crate) directory: Option<std::path::PathBuf>,
    /// Conversations at once
    #[arg(long, default_value_t = 256)]
    pub(crate) conversations: usize,
    /// For how long turns arrive, twice
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    pub(crate) seconds: u64,
    /// How many of the turns request an effect, a second
    #[arg(long, value_name = "RATE", default_value_t = 1_050)]
    pub(crate) effects: u32,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct BenchTurnsArgs {
    /// `memory`, `sqlite` (a file of its own), or the URL of a PostgreSQL server whose user may make databases
    /// (a database of its own); file and database are thrown away afterwards
    #[arg(long, value_name = "memory|sqlite|postgres://…", default_value = "sqlite")]
    pub(crate) ledger: BenchLedger,
    /// Where the file lies; the folder of temporary files by default
    #[arg(long, value_name = "FOLDER")]
    pub(crate) directory: Option<std::path::PathBuf>,
    /// Conversations at once
    #[arg(long, default_value_t = 64)]
    pub(crate) conversations: usize,
    /// Turns of each, one after another
    #[arg(long, default_value_t = 100)]
    pub(crate) turns: usize,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The kind of ledger a bench runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BenchLedger {
    /// In memory.
    Memory,
    /// In a SQLite file, synchronous=FULL.
    Sqlite,
    /// In a database of this server, synchronous_commit=on.
    Postgres(String),
}

impl FromStr for BenchLedger {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "memory" => Ok(Self::Memory),
            "sqlite" => Ok(Self::Sqlite),
            url if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Ok(Self::Postgres(url.to_owned()))
            }
            _ => Err("a bench runs on `memory`, `sqlite` or the URL of a PostgreSQL server"),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ServeArgs {
    /// The ledger: a path, `sqlite:PATH`, `postgres://…`, or `memory:` to forget everything at the end
    #[arg(long, value_name = "PATH|postgres://…|memory:", default_value = "./turnframe.db")]
    pub(crate) ledger: String,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,
    /// Where the other processes on the same PostgreSQL ledger reach this one; by default where it listens
    #[arg(long, value_name = "URL")]
    pub(crate) advertise: Option<String>,
    /// How long the other processes wait before they take over from this one when it does not answer. Longer than
    /// any pause that it should survive
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(500..))]
    pub(crate) lease_ms: u64,
    /// A bearer token and whose it is; may be repeated. Without one a token is made for this run
    #[arg(
        long = "token",
        value_name = "ACCOUNT/ACTOR=SECRET",
        env = "TURNFRAME_TOKENS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(crate) tokens: Vec<TokenArg>,
    /// A bearer token of an operator and whose it is; may be repeated
    #[arg(
        long = "operator",
        value_name = "NAME=SECRET",
        env = "TURNFRAME_OPERATORS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(crate) operators: Vec<OperatorArg>,
    /// The airline's address. Without one an airline is simulated on this machine
    #[arg(long, value_name = "URL")]
    pub(crate) airline: Option<String>,
    /// A secret that the airline signs its callbacks with (Standard Webhooks, `whsec_…`); may be repeated while one
    /// follows another. Without one, callbacks are not heard
    #[arg(
        long = "airline-secret",
        value_name = "SECRET",
        env = "TURNFRAME_AIRLINE_SECRETS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    pub(crate) airline_secrets: Vec<SecretArg>,
    /// How long the airline may take to decide on a rebooking before its traveller is told that it has not
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=2_592_000))]
    pub(crate) answer_deadline: u64,
    /// How the simulated airline meets the next requests, in order; after that it accepts
    #[arg(long, value_name = "BEHAVIOUR", value_delimiter = ',', conflicts_with = "airline")]
    pub(crate) simulate: Vec<Simulated>,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// The ledger: a path, `sqlite:PATH`, `postgres://…`, or `memory:`
    #[arg(long, value_name = "PATH|postgres://…|memory:", default_value = "memory:")]
    pub(crate) ledger: String,
    /// Print one JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a simulated airline meets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Simulated {
    /// It takes the rebooking on and says so
    Accept,
    /// It refuses the rebooking
    Refuse,
    /// It takes the rebooking on, and the line drops before it can say so
    DropAfterCommit,
    /// The line drops before it hears of the rebooking
    DropBeforeCommit,
    /// It provably turns the request away
    Busy,
}

impl From<Simulated> for Behaviour {
    fn from(simulated: Simulated) -> Self {
        match simulated {
            Simulated::Accept => Self::Accept,
            Simulated::Refuse => Self::Refuse { code: "sold_out".to_owned() },
            Simulated::DropAfterCommit => Self::DropAfterCommit,
            Simulated::DropBeforeCommit => Self::DropBeforeCommit,
            Simulated::Busy => Self::Busy { proof: true },
        }
    }
}

/// A secret of the command line. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SecretArg(pub(crate) String);

impl std::fmt::Debug for SecretArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretArg")
    }
}

impl FromStr for SecretArg {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

/// A token of the command line. Its secret is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct TokenArg {
    pub(crate) account: AccountId,
    pub(crate) actor: ActorId,
    pub(crate) secret: String,
}

impl std::fmt::Debug for TokenArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.account, self.actor)
    }
}

impl FromStr for TokenArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = || "a token is written ACCOUNT/ACTOR=SECRET".to_owned();
        let (who, secret) = text.split_once('=').ok_or_else(shape)?;
        let (account, actor) = who.split_once('/').ok_or_else(shape)?;
        let account = account.parse().map_err(|error| format!("account: {error}"))?;
        let actor = actor.parse().map_err(|error| format!("actor: {error}"))?;
        Ok(Self { account, actor, secret: secret.to_owned() })
    }
}

/// An operator's token of the command line. Its secret is never printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct OperatorArg {
    pub(crate) operator: ActorId,
    pub(crate) secret: String,
}

impl std::fmt::Debug for OperatorArg {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.operator)
    }
}

impl FromStr for OperatorArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, secret) = text.split_once('=').ok_or("an operator is written NAME=SECRET")?;
        let operator = name.parse().map_err(|error| format!("operator: {error}"))?;
        Ok(Self { operator, secret: secret.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_token_is_read_and_never_shown() {
        let token: TokenArg = "acme/ada=a-secret-of-ada=".parse().expect("token");
        assert_eq!((token.account.as_str(), token.actor.as_str()), ("acme", "ada"));
        assert_eq!(token.secret, "a-secret-of-ada=");
        assert_eq!(format!("{token:?}"), "acme/ada");
        for other in ["", "secret", "acme=secret", "/ada=secret", "acme/=secret", "a b/c=secret"] {
            assert!(other.parse::<TokenArg>().is_err(), "{other:?}");
        }
    }

    #[test]
    fn an_airline_is_either_real_or_simulated() {
        let parse = |line: &str| Cli::try_parse_from(line.split(' ')).map(|_| ());
        assert!(parse("turnframe serve --simulate accept,drop-after-commit").is_ok());
        assert!(parse("turnframe serve --airline http://127.0.0.1:1").is_ok());
        let both = "turnframe serve --airline http://127.0.0.1:1 --simulate accept";
        assert!(parse(both).is_err());
    }
}
