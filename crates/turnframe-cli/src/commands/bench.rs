//! `turnframe bench`: what the system does under load, reported.

use std::io::{self, Write};

use turnframe_bench::load::{self, Load};
use turnframe_bench::report::{self, Plan};
use turnframe_bench::{Backend, Ground};

use crate::cli::{BenchCommand, BenchLedger, BenchReportArgs, BenchTurnsArgs};
use crate::exit::CliError;
use crate::output::Output;
use crate::sources;

/// Runs a bench.
pub(crate) async fn run(command: BenchCommand) -> Result<(), CliError> {
    match command {
        BenchCommand::Turns(args) => turns(args).await,
        BenchCommand::Report(args) => report(args).await,
    }
}

async fn turns(args: BenchTurnsArgs) -> Result<(), CliError> {
    let backend = match args.ledger {
        BenchLedger::Memory => Backend::Memory,
        BenchLedger::Sqlite => Backend::Sqlite(args.directory.unwrap_or_else(std::env::temp_dir)),
        BenchLedger::Postgres(server) => Backend::Postgres(server),
    };
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
