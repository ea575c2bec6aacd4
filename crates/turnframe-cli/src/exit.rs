//! Why the program ends, and the exit code that says so.

use std::net::SocketAddr;
use std::process::ExitCode;

use turnframe_ledger::open::OpenError;
use turnframe_ledger::sqlite;

/// What `--help` says of exit codes.
pub(crate) const EXIT_CODES: &str = "Exit codes:
  0  it ended as it should
  1  something failed that has no code of its own
  2  the command line cannot be understood
  3  the ledger is open in another process
  4  the address cannot be listened on
  5  the demo did not go as its script says
  6  the server refused what it was asked
  7  effects are overdue, or wait for an operator, for longer than they may";

/// Why a command ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The ledger could not be opened.
    #[error("the ledger {address} cannot be opened")]
    Ledger { address: String, source: OpenError },
    /// The airline could not be set up.
    #[error("the airline cannot be used")]
    Airline(#[from] turnframe_travel::airline::AirlineAddressError),
    /// A secret of the airline cannot be used.
    #[error("the airline's secrets cannot be used")]
    Secret(#[from] turnframe_destinations::webhooks::SecretError),
    /// The simulated airline could not be started or stopped.
    #[error("the simulated airline failed")]
    Simulator(#[source] std::io::Error),
    /// A workflow declares a phrase that cannot be read.
    #[error("the phrases of a workflow cannot be read")]
    Grammar(#[from] turnframe_runtime::offline::GrammarError),
    /// The system could not be started.
    #[error("the system cannot be started")]
    System(#[from] turnframe_actors::StartError),
    /// A token cannot be used.
    #[error("the token of {account}/{actor} cannot be used")]
    Token { account: String, actor: String, source: turnframe_server::TokenError },
    /// A token of an operator cannot be used.
    #[error("the token of the operator {operator} cannot be used")]
    Operator { operator: String, source: turnframe_server::TokenError },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    /// Signals, the runtime or the standard output failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What is to be printed has no JSON form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The demo was refused a turn.
    #[error("a turn of the demo was not served")]
    Turn(#[from] turnframe_actors::PostError),
    /// The demo could not read what was written.
    #[error("the ledger cannot be read")]
    Read(#[from] turnframe_ledger::ReadError),
    /// An entry cannot be read.
    #[error("an entry cannot be read")]
    Fold(#[from] turnframe_runtime::fold::FoldError),
    /// The demo did not go as its script says.
    #[error("step {step} of the demo did not go as its script says: {reason}")]
    Departed { step: usize, reason: String },
    /// The server's address is none.
    #[error("{0:?} is not the address of a server")]
    ServerAddress(String),
    /// The server could not be asked.
    #[error("the server cannot be asked")]
    Server(#[from] reqwest::Error),
    /// The server refused.
    #[error("the server refused ({code}): {detail}")]
    Refused { code: String, detail: String },
    /// Something waits for too long.
    #[error("effects wait for too long: {0}")]
    Stalled(String),
    /// Something could not be measured.
    #[error("the bench cannot be run")]
    Bench(#[from] turnframe_bench::BenchError),
    /// A name of the program's own is none.
    #[error(transparent)]
    Id(#[from] turnframe_core::id::IdError),
}

impl CliError {
    /// What to do next, where that is not in the words already.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        match self.exit_code() {
            3 => Some("Stop that process, or name another ledger with --ledger."),
            4 => Some("Free the address, or name another one with --listen."),
            7 => Some(
                "Overdue: see that a process runs that knows the destination, and that it answers. \
                 Parked: decide, as `turnframe outbox list` names them.",
            ),
            _ => None,
        }
    }

    /// The exit code, as [`EXIT_CODES`] says.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Ledger { source: OpenError::Sqlite(sqlite::OpenError::InUse { .. }), .. } => 3,
            Self::Listen { .. } => 4,
            Self::Departed { .. } => 5,
            Self::Refused { .. } => 6,
            Self::Stalled(_) => 7,
            Self::Ledger { .. }
            | Self::Airline(_)
            | Self::Secret(_)
            | Self::ServerAddress(_)
            | Self::Server(_)
            | Self::Simulator(_)
            | Self::Grammar(_)
            | Self::System(_)
            | Self::Token { .. }
            | Self::Operator { .. }
            | Self::Io(_)
            | Self::Json(_)
            | Self::Turn(_)
            | Self::Read(_)
            | Self::Fold(_)
            | Self::Bench(_)
            | Self::Id(_) => 1,
        }
    }
}

impl From<&CliError> for ExitCode {
    fn from(error: &CliError) -> Self {
        Self::from(error.exit_code())
    }
}
