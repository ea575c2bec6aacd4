//! The travel desk as it is run here: the composition of everything the program is made of.

use std::sync::Arc;
use std::time::Duration;

use turnframe_actors::{Limits, System, SystemParts};
use turnframe_destinations::webhooks::Secrets;
use turnframe_ledger::open::open;
use turnframe_ledger::postgres::NodeOptions;
use turnframe_runtime::directory::LedgerDirectory;
use turnframe_runtime::offline::OfflineInterpreter;
use turnframe_travel::deadline::ANSWER_DEADLINE;
use turnframe_travel::{AirlineDestination, AirlineSimulator, AnswerDeadline};

use crate::cli::SecretArg;
use crate::exit::CliError;
use crate::sources;

/// The airline of a desk.
pub(crate) struct Airline<'a> {
    /// Where it is; without an address it is simulated on this machine.
    pub(crate) address: Option<&'a str>,
    /// What it signs its callbacks with; without secrets they are not heard.
    pub(crate) secrets: &'a [SecretArg],
    /// How long it may take to decide.
    pub(crate) deadline: Duration,
}

impl Default for Airline<'_> {
    fn default() -> Self {
        Self { address: None, secrets: &[], deadline: ANSWER_DEADLINE }
    }
}

/// A running travel desk.
pub(crate) struct TravelDesk {
    pub(crate) system: System,
    /// The airline, where it is a simulated one.
    pub(crate) simulator: Option<AirlineSimulator>,
    /// Where the airline is.
    pub(crate) airline: String,
}

impl TravelDesk {
    /// Starts a desk on a ledger. The node is what other processes on the same ledger see.
    pub(crate) async fn start(
        ledger: &str,
        node: NodeOptions,
        airline: Airline<'_>,
    ) -> Result<Self, CliError> {
        let failed = |source| CliError::Ledger { address: ledger.to_owned(), source };
        let opened = open(ledger, Some(node)).await.map_err(failed)?;
        let Airline { address, secrets, deadline } = airline;
        let simulator = match address {
            Some(_) => None,
            None => Some(AirlineSimulator::start().await.map_err(CliError::Simulator)?),
        };
        let simulated = simulator.as_ref().map(AirlineSimulator::url);
        let airline = address.map(str::to_owned).or(simulated).unwrap_or_default();
        let mut destination = AirlineDestination::new(&airline)?;
        if !secrets.is_empty() {
            let secrets = secrets.iter().map(|secret| secret.0.as_str());
            destination = destination.calling_back(Secrets::new(secrets)?);
        }
        let registry = turnframe_travel::registry();
        let interpreter = Arc::new(OfflineInterpreter::of(&registry)?);
        let parts = SystemParts {
            directory: Arc::new(LedgerDirectory::new(opened.ledger.clone())),
            ledger: opened.ledger,
            snapshots: opened.snapshots,
            registry,
            interpreter,
            narrator: None,
            destinations: vec![Arc::new(destination)],
            domain_actors: vec![Arc::new(AnswerDeadline::after(deadline))],
            ids: sources::ids(),
            limits: Limits::default(),
        };
        let system = System::start(parts).await?;
        Ok(Self { system, simulator, airline })
    }
}
