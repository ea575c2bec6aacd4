//! Many rows in few statements: `INSERT … VALUES (…), (…), …` in a few fixed sizes, so that each size is
//! prepared once and found again in the connection's statement cache.

use std::sync::Arc;

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, SqliteConnection};

/// How many rows one statement may have, from large to small: any number of rows is a handful of statements. The largest
/// binds fewer values than SQLite allows in one statement (32,766).
const ROWS: [usize; 8] = [128, 64, 32, 16, 8, 4, 2, 1];

/// An `INSERT` into one table, for each of the sizes.
#[derive(Debug)]
pub(super) struct Insert {
    columns: usize,
    statements: [Arc<str>; ROWS.len()],
}

impl Insert {
    /// `head` is everything before the rows, `tail` everything after them.
    pub(super) fn new(head: &str, columns: usize, tail: &str) -> Self {
        let row = format!("({})", vec!["?"; columns].join(","));
        let statement = |rows| {
            let rows = vec![row.as_str(); rows].join(",");
            Arc::from(format!("{head} VALUES {rows} {tail}"))
        };
        Self { columns, statements: ROWS.map(statement) }
    }

    /// Writes the rows in order. `bind` adds the columns of one row. Answers with the number of statements.
    pub(super) async fn run<T>(
        &self,
        connection: &mut SqliteConnection,
        rows: &[T],
        mut bind: impl FnMut(&T, &mut SqliteArguments) -> Result<(), sqlx::error::BoxDynError>,
    ) -> Result<u64, sqlx::Error> {
        let (mut rest, mut statements) = (rows, 0);
        for (size, statement) in ROWS.iter().zip(&self.statements) {
            while rest.len() >= *size {
                let (chunk, behind) = rest.split_at(*size);
                let mut arguments = SqliteArguments::default();
                arguments.reserve(size * self.columns, 0);
                for row in chunk {
                    bind(row, &mut arguments).map_err(sqlx::Error::Encode)?;
                }
                let statement = AssertSqlSafe(Arc::clone(statement));
                sqlx::query_with(statement, arguments).execute(&mut *connection).await?;
                (rest, statements) = (behind, statements + 1);
            }
        }
        Ok(statements)
    }
}
