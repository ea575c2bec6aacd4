//! `turnframe bench`: whole turns under load, reported as one object.

use turnframe_bench::load::{self, Ground, Load};
use turnframe_ledger::open::open;

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
    let address = match args.ledger {
        BenchLedger::Memory => "memory:".to_owned(),
        BenchLedger::Sqlite => format!("sqlite:{}", path.display()),
    };
    let opened = open(&address)
        .await
        .map_err(|source| CliError::Ledger { address: address.clone(), source })?;
    let ground = Ground {
        ledger: (opened.ledger, args.ledger.name().to_owned()),
        snapshots: opened.snapshots,
        ids: sources::ids(),
    };
    let load = Load { conversations: args.conversations, turns: args.turns };
    let report = load::run(ground, &load).await?;
    if args.ledger == BenchLedger::Sqlite {
        remove(&path);
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
