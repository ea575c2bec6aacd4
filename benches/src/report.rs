//! Every figure in one run, beside what was aimed at.

mod figure;
mod measures;

use std::path::PathBuf;

use serde::Serialize;
use turnframe_core::source::IdSource;
use turnframe_ledger::yardstick::Yardstick;

use crate::error::BenchError;
use crate::ground::{Backend, Plot};
use crate::process::fsync_latency;

pub use figure::Figure;

/// What a report is taken on.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The URL of a PostgreSQL server whose user may make databases.
    pub postgres: Option<String>,
    /// Where the files of SQLite lie.
    pub directory: PathBuf,
    /// A tenth of the work.
    pub quick: bool,
}

impl Plan {
    /// So much work, or a tenth of it.
    const fn amount(&self, whole: usize) -> usize {
        if self.quick { whole.div_ceil(10) } else { whole }
    }

    fn postgres(&self) -> Option<Backend> {
        self.postgres.clone().map(Backend::Postgres)
    }

    fn sqlite(&self) -> Backend {
        Backend::Sqlite(self.directory.clone())
    }

    /// The most lasting ledger at hand.
    fn best(&self) -> Backend {
        self.postgres().unwrap_or_else(|| self.sqlite())
    }
}

/// The figures of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What they were taken under, line by line.
    pub conditions: Vec<String>,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// Takes every figure. `progress` is told what comes next.
///
/// # Errors
/// [`BenchError`] when one of them cannot be taken.
pub async fn run(
    plan: &Plan,
    ids: &IdSource,
    mut progress: impl FnMut(&str),
) -> Result<Report, BenchError> {
    progress("conditions");
    let conditions = conditions(plan, ids).await?;
    let mut measures = measures::Measures { plan, ids, figures: Vec::new() };
    // Memory first: the kernel's count says nothing once others have left free pages behind.
    progress("memory of 20,000 conversations");
    measures.memory().await?;
    progress("whole turns in memory");
    measures.turns_in_memory().await?;
    progress("whole turns on PostgreSQL, 1,000 and 64 conversations");
    measures.turns_on_postgres().await?;
    progress("whole turns on SQLite, 1,000 conversations");
    measures.turns_on_sqlite().await?;
    progress("effects alone and beside turns on SQLite");
    measures.effects().await?;
    progress("one conversation beside bare commits");
    measures.single().await?;
    progress("append beside a plain insert, and verification");
    measures.ledger().await?;
    progress("a conversation of 10,000 turns");
    measures.growth().await?;
    progress("a million conversations, crowd by crowd");
    measures.crowds().await?;
    progress("turns that arrive at once");
    measures.order().await?;
    Ok(Report { conditions, figures: measures.figures })
}

async fn conditions(plan: &Plan, ids: &IdSource) -> Result<Vec<String>, BenchError> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let file = format!("turnframe_bench_{}.fsync", ids.uuid().simple());
    let fsync = fsync_latency(&plan.directory, &file)?;
    let share = if plan.quick { "a tenth of the work" } else { "all of the work" };
    let mut conditions = vec![
        format!("{}, {share}, {cores} cores, {}", ids.now(), env!("BUILT_WITH")),
        format!(
            "fdatasync of a page in {}: {:.3} ms",
            plan.directory.display(),
            fsync.as_secs_f64() * 1e3
        ),
        "HTTP left out; understanding scripted and answered at once".to_owned(),
    ];
    for backend in [Some(plan.sqlite()), plan.postgres()].into_iter().flatten() {
        let plot = Plot::mark_out(&backend, ids).await?;
        let mut yardstick = Yardstick::open(&plot.address).await?;
        let settings = yardstick.settings().await?.join(", ");
        conditions.push(format!("{}: {settings}", backend.name()));
        yardstick.close().await?;
        plot.clear().await?;
    }
    Ok(conditions)
}
