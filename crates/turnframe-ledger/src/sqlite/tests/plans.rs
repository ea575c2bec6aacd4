//! How SQLite finds the rows: by an index and in the order that is asked for, never by a scan of the ledger.

use sqlx::{AssertSqlSafe, Row};

use super::Bench;
use crate::sqlite::{backlog, read, statements};

async fn plan(bench: &Bench, statement: &str) -> String {
    let mut foreign = bench.foreign().await;
    let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
    let rows = sqlx::query(explain).fetch_all(&mut foreign).await.expect("explained");
    rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn no_statement_scans_a_table_that_grows() {
    let bench = Bench::new().await;
    let all = read::STATEMENTS.iter().chain(statements::LOOK_UPS);
    for statement in all {
        let plan = plan(&bench, statement).await;
        for line in plan.lines().filter(|line| line.contains("SCAN")) {
            // The question itself, the 64 partitions, and what a bounded part of the statement has found.
            let bounded = ["SCAN j ", "SCAN json_each", "SCAN tf_partition", "SCAN (subquery"];
            let is_bounded = bounded.iter().any(|scan| line.contains(scan));
            let is_part = ["SCAN f", "SCAN g", "SCAN grouped"].contains(&line.trim());
            assert!(is_bounded || is_part, "{statement}\n{plan}");
        }
    }
}

#[tokio::test]
async fn pages_come_in_order_without_sorting() {
    let bench = Bench::new().await;
    for statement in read::ORDERED {
        let plan = plan(&bench, statement).await;
        assert!(!plan.contains("TEMP B-TREE"), "{statement}\n{plan}");
    }
}

#[tokio::test]
async fn a_sweep_goes_along_its_index() {
    let bench = Bench::new().await;
    for (statement, expected) in [
        (read::SWEEP, "COVERING INDEX tf_mark_sweep (kind=? AND partition=? AND due<?)"),
        (read::SWEEP, "m USING PRIMARY KEY (account=? AND kind=? AND key=?)"),
        (read::MARKS_OF_ACCOUNT, "PRIMARY KEY (account=? AND kind=? AND key>? AND key<?)"),
        (backlog::OF_EFFECTS, "f USING PRIMARY KEY (account=? AND kind=? AND key=?)"),
        (backlog::OF_EFFECTS, "m USING COVERING INDEX tf_mark_backlog (kind=? AND <expr>=?)"),
        (backlog::OF_PARKED, "c USING COVERING INDEX tf_mark_backlog (kind=? AND <expr>=?)"),
    ] {
        let plan = plan(&bench, statement).await;
        assert!(plan.contains(expected), "{plan}");
    }
}
