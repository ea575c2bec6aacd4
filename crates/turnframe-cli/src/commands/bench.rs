//! `turnframe bench`: what the system does under load, reported.

use std::io::{self, Write};
use std::path::PathBuf;

use turnframe_bench::effects::{self, Effects};
use turnframe_bench::load::{self, Load};
use turnframe_bench::report::{self, Plan};
use turnframe_bench::{Backend, Ground};

use crate::cli::{BenchCommand, BenchEffectsArgs, BenchLedger, BenchReportArgs, BenchTurnsArgs};
use crate::exit::CliError;
use crate::output::Output;
use crate::sources;

/// Runs a bench.
pub(crate) async fn run(command: BenchCommand) -> Result<(), CliError> {
    match command {
        BenchCommand::Turns(args) => turns(args).await,
        BenchCommand::Effects(args) => effects(args).await,
        BenchCommand::Report(args) => report(args).await,
    }
}

fn backend(ledger: BenchLedger, directory: Option<PathBuf>) -> Backend {
    match ledger {
        BenchLedger::Memory => Backend::Memory,
        BenchLedger::Sqlite => Backend::Sqlite(directory.unwrap_or_else(std::env::temp_dir)),
        BenchLedger::Postgres(server) => Backend::Postgres(server),
    }
}

async fn effects(args: BenchEffectsArgs) -> Result<(), CliError> {
    let backend = backend(args.ledger, args.directory);
    let plan = Effects {
        conversations: args.conversations,
        seconds: args.seconds,
        effects_per_second: args.effects.into(),
        ..Effects::default()
    };
    let report = effects::run(&backend, &sources::ids(), &plan).await?;
    let output = Output { json: args.json };
    output.object(&report)?;
    Ok(output.text(&serde_json::to_string_pretty(&report)?)?)
}

async fn turns(args: BenchTurnsArgs) -> Result<(), CliError> {
    let backend = backend(args.ledger, args.directory);
    let ground = Ground::open(&backend, &sources::ids()).await?;
    let load = Load { conversations: args.conversations, turns: args.turns };
    let report = load::run(&ground, &load).await;
    ground.clear().await?;
    let report = report?;
    let output = Output { json: args.json };
    output.object(&report)?;
    Ok(output.text(&serde_json::to_string_pretty(&report)?)?)
}

async fn report(args: BenchReportArgs) -> Result<(), CliError> {
    let directory = args.directory.unwrap_or_else(std::env::temp_dir);
    let plan = Plan { postgres: args.postgres, directory, quick: args.quick };
    // With no standard error there is nobody to tell how far it has come.
    let progress = |what: &str| drop(writeln!(io::stderr().lock(), "measuring: {what}"));
    let report = report::run(&plan, &sources::ids(), progress).await?;
    let output = Output { json: args.json };
    output.object(&report)?;
    Ok(output.text(&report.to_string())?)
}
