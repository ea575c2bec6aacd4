//! `turnframe demo`: a scripted traveller against the real system, with everything that is recorded.
//!
//! The system is the one that `serve` serves, in this process, with a simulated airline. The script
//! ([`script`]) says what each step must come to; when one comes to something else, the command says so and fails.

mod print;
mod script;
mod stage;

use turnframe_ledger::postgres::NodeOptions;
use turnframe_travel::AirlineSimulator;

use crate::cli::DemoArgs;
use crate::desk::{Airline, TravelDesk};
use crate::exit::CliError;
use crate::output::Output;
use crate::sources;
use stage::Stage;

/// Nobody forwards anything to a demo.
const UNREACHED: &str = "demo:";

/// Plays the script.
pub(crate) async fn run(args: DemoArgs) -> Result<(), CliError> {
    let output = Output { json: args.json };
    let node = NodeOptions::new(sources::ids().uuid(), UNREACHED);
    let desk = TravelDesk::start(&args.ledger, node, Airline::default()).await?;
    let TravelDesk { system, simulator, .. } = desk;
    let played = match &simulator {
        Some(simulator) => play(Stage::open(system.clone()).await?, simulator, output).await,
        None => Ok(()),
    };
    let ledger = system.ledger().clone();
    system.shutdown().await;
    ledger.close().await;
    if let Some(simulator) = simulator {
        simulator.stop().await.map_err(CliError::Simulator)?;
    }
    played
}

async fn play(
    mut stage: Stage,
    simulator: &AirlineSimulator,
    output: Output,
) -> Result<(), CliError> {
    for (index, step) in script::STEPS.iter().enumerate() {
        let number = index + 1;
        if let Some(behaviour) = step.airline() {
            simulator.next(behaviour);
        }
        let scene = stage.play(number, step).await?;
        print::scene(output, &scene)?;
        step.check(number, &scene)?;
    }
    let book = simulator.book();
    print::airline(output, &book)?;
    script::check_book(&book)
}
