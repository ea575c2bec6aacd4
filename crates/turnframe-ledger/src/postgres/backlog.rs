//! What waits of effects, read along an index of its own: from one destination's name to the next, and of each the mark
//! that is due first. It costs no more where much waits, but for counting, which ends at a bound.

use super::read::Reader;
use crate::ledger::ReadError;
use crate::mark::{BACKLOG_COUNT_MAX, BACKLOG_GROUPS_MAX, Backlog, MarkKind};
use crate::stored::rows;

/// The kind stands in the text: only then is the index known to hold all of it.
macro_rules! backlog_of {
    ($kind:literal) => {
        concat!(
            "WITH RECURSIVE grouped (name) AS ((\
                SELECT split_part(key, '/', 1) FROM tf_mark WHERE kind = '",
            $kind,
            "' ORDER BY split_part(key, '/', 1) LIMIT 1\
            ) UNION ALL SELECT (\
                SELECT split_part(m.key, '/', 1) FROM tf_mark m WHERE m.kind = '",
            $kind,
            "' AND split_part(m.key, '/', 1) > g.name ORDER BY split_part(m.key, '/', 1) LIMIT 1\
            ) FROM grouped g WHERE g.name IS NOT NULL) \
            SELECT (SELECT name FROM tf_account WHERE id = f.account), f.key, \
                (SELECT name FROM tf_stream WHERE id = f.stream), f.due, \
                (SELECT count(*) FROM (SELECT FROM tf_mark c WHERE c.kind = '",
            $kind,
            "' AND split_part(c.key, '/', 1) = g.name LIMIT $1) counted) \
            FROM (SELECT name FROM grouped WHERE name IS NOT NULL LIMIT $2) g CROSS JOIN LATERAL (\
                SELECT account, key, stream, due FROM tf_mark m WHERE m.kind = '",
            $kind,
            "' AND split_part(m.key, '/', 1) = g.name ORDER BY m.due LIMIT 1\
            ) f ORDER BY g.name"
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
            let rows = self.rows(|| sqlx::query(statement).bind(count).bind(groups)).await?;
            for row in &rows {
                backlog.push(rows::backlog(row, kind)?);
            }
        }
        Ok(backlog)
    }
}
