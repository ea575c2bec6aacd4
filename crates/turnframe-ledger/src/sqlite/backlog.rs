//! What waits of effects, read along an index of its own: from one destination's name to the next, and of each the mark
//! that is due first. It costs no more where much waits, but for counting, which ends at a bound.

use super::read::Reader;
use crate::ledger::ReadError;
use crate::mark::{BACKLOG_COUNT_MAX, BACKLOG_GROUPS_MAX, Backlog, MarkKind};
use crate::stored::rows;

/// What stands before the first `/` of a key, in the very words of the index.
macro_rules! group {
    ($key:literal) => {
        concat!("substr(", $key, ", 1, instr(", $key, " || '/', '/') - 1)")
    };
}

/// The kind stands in the text: only then is the index known to hold all of it.
macro_rules! backlog_of {
    ($kind:literal) => {
        concat!(
            "WITH RECURSIVE grouped (name) AS (SELECT * FROM (SELECT ",
            group!("key"),
            " FROM tf_mark WHERE kind = '",
            $kind,
            "' ORDER BY ",
            group!("key"),
            " LIMIT 1) UNION ALL SELECT (SELECT ",
            group!("m.key"),
            " FROM tf_mark m WHERE m.kind = '",
            $kind,
            "' AND ",
            group!("m.key"),
            " > g.name ORDER BY ",
            group!("m.key"),
            " LIMIT 1) FROM grouped g WHERE g.name IS NOT NULL LIMIT ?2 + 1) \
            SELECT a.name, f.key, s.name, f.due, (SELECT count(*) FROM (SELECT 1 FROM tf_mark c WHERE c.kind = '",
            $kind,
            "' AND ",
            group!("c.key"),
            " = g.name LIMIT ?1)) FROM (SELECT name FROM grouped WHERE name IS NOT NULL LIMIT ?2) g \
            CROSS JOIN tf_mark f ON f.kind = '",
            $kind,
            "' AND (f.account, f.key) = (SELECT m.account, m.key FROM tf_mark m WHERE m.kind = '",
            $kind,
            "' AND ",
            group!("m.key"),
            " = g.name ORDER BY m.due LIMIT 1) CROSS JOIN tf_account a ON a.id = f.account \
            CROSS JOIN tf_stream s ON s.id = f.stream"
        )
    };
}

pub(super) const OF_EFFECTS: &str = backlog_of!("effect");
pub(super) const OF_PARKED: &str = backlog_of!("parked");

/// In the order of [`BACKLOG_KINDS`](crate::mark::BACKLOG_KINDS).
const BY_KIND: [(MarkKind, &str); 2] =
    [(MarkKind::Effect, OF_EFFECTS), (MarkKind::Parked, OF_PARKED)];

impl Reader {
    pub(super) async fn backlog(&self) -> Result<Vec<Backlog>, ReadError> {
        let mut backlog = Vec::new();
        for (kind, statement) in BY_KIND {
            let (count, groups) = (rows::bound(BACKLOG_COUNT_MAX), rows::bound(BACKLOG_GROUPS_MAX));
            let query = sqlx::query(statement).bind(count).bind(groups);
            for row in &self.rows(query).await? {
                backlog.push(rows::backlog(row, kind)?);
            }
        }
        Ok(backlog)
    }
}
