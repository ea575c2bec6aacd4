//! `turnframe bench`: whole turns under load, reported as one object.

use turnframe_bench::load::{self, Ground, Load};
use turnframe_ledger::open::open;
use turnframe_ledger::postgres::{NodeOptions, Throwaway};

use crate::cli::{BenchCommand, BenchLedger, BenchTurnsArgs};
use crate::exit::CliError;
use crate::output::Output;
use crate::sources;

/// Runs a bench.
pub(crate) async fn run(command: BenchCommand) -> Result<(), CliError> {
    match command {
        BenchCommand::Turns(args) => turns(args).await,
    }
}

async fn turns(args: BenchTurnsArgs) -> Result<(), CliError> {
    // A throwaway file of this run's own: a bench never touches a ledger that somebody keeps.
    let name = format!("turnframe-bench-{}.db", sources::ids().uuid());
    let path = args.directory.unwrap_or_else(std::env::temp_dir).join(name);
    let ids = sources::ids();
    let mut throwaway = None;
    let address = match &args.ledger {
        BenchLedger::Memory => "memory:".to_owned(),
        BenchLedger::Sqlite => format!("sqlite:{}", path.display()),
        BenchLedger::Postgres(server) => {
            let name = format!("turnframe_bench_{}", ids.uuid().simple()).parse()?;
            let made = Throwaway::create(server, name).await;
            let failed = |source| CliError::Ledger { address: server.clone(), source };
            throwaway.insert(made.map_err(|error| failed(error.into()))?).url()
        }
    };
    let node = NodeOptions::new(ids.uuid(), "bench:");
    let opened = open(&address, Some(node))
        .await
        .map_err(|source| CliError::Ledger { address: address.clone(), source })?;
    let ledger = opened.ledger.clone();
    let ground = Ground {
        ledger: (opened.ledger, args.ledger.name().to_owned()),
        snapshots: opened.snapshots,
        ids,
    };
    let load = Load { conversations: args.conversations, turns: args.turns };
    let report = load::run(ground, &load).await?;
    ledger.close().await;
    remove(&path);
    if let Some(throwaway) = throwaway {
        let failed = |source| CliError::Ledger { address, source };
        throwaway.remove().await.map_err(|error| failed(error.into()))?;
    }
    let output = Output { json: args.json };
    output.object(&report)?;
    Ok(output.text(&serde_json::to_string_pretty(&report)?)?)
}

/// Removes a ledger's files: the file itself and those beside it.
fn remove(path: &std::path::Path) {
    let Some((folder, name)) = path.parent().zip(path.file_stem()) else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let stem = name.to_string_lossy();
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(stem.as_ref()) {
            // What cannot be removed is left to whoever cleans the folder of temporary files.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
