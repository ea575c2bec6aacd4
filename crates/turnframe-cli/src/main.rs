//! The `turnframe` binary: serves the travel desk, and plays a traveller against it.
//!
//! The composition root: only here are the wall clock and the operating system's entropy read, a ledger chosen
//! and a workflow registered. Results go to the standard output, logs to the standard error. What a command does
//! is in [`commands`]; what its end means in [`exit`].

mod cli;
mod commands;
mod desk;
mod exit;
mod output;
mod sources;

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command};
use crate::exit::CliError;

/// A turn allocates much and keeps little.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough.
        Err(CliError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // With no standard error there is nobody to tell.
            let _ = tell(&error);
            ExitCode::from(&error)
        }
    }
}

fn run(cli: Cli) -> Result<(), CliError> {
    log_to_stderr(match cli.command {
        Command::Serve(_) => "info,sqlx=warn",
        Command::Demo(_) | Command::Outbox(_) | Command::Bench(_) => "error",
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match cli.command {
        Command::Serve(args) => runtime.block_on(commands::serve::run(args)),
        Command::Demo(args) => runtime.block_on(commands::demo::run(args)),
        Command::Outbox(command) => runtime.block_on(commands::outbox::run(command)),
        Command::Bench(command) => runtime.block_on(commands::bench::run(command)),
    }
}

fn log_to_stderr(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let ansi = io::stderr().is_terminal();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(ansi)
        .init();
}

/// An error with what caused it, and what to do next.
fn tell(error: &CliError) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    write!(stderr, "turnframe: {error}")?;
    let mut cause = error.source();
    while let Some(source) = cause {
        write!(stderr, ": {source}")?;
        cause = source.source();
    }
    writeln!(stderr, ".")?;
    error.advice().map_or(Ok(()), |advice| writeln!(stderr, "{advice}"))
}
