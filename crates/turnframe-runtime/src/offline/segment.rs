//! Cuts a message into clauses so that as much of it as possible is understood.
//!
//! A cut is possible at punctuation, at words that join, and before words that often begin a clause. It is made
//! where both sides are worth more apart than together, so that "Ada and Bob" stays one value and "renew Dune and
//! return Emma" becomes two acts.

use super::clause::ClauseReader;
use super::reading::{Clause, Operating, Reading};
use super::scan::{JointKind, Scan};
use super::score;

/// The most pieces that one clause is put together from.
const PIECES_MAX: usize = 10;

/// The best way to cut up to a joint.
struct Cell {
    score: i32,
    /// The joint before.
    from: usize,
    clause: Clause,
    /// The joint at which the last operation so far ends.
    last: Option<usize>,
}

/// The clauses of a message, in order; together they are all of it.
pub(super) fn clauses(reader: &ClauseReader<'_>) -> Vec<Clause> {
    let scan = reader.reader.scan;
    let bounds: Vec<usize> = std::iter::once(0)
        .chain(scan.joints.iter().map(|joint| joint.at))
        .chain([scan.tokens.len()])
        .collect();
    let mut cells: Vec<Option<Cell>> = vec![None];
    for to in 1..bounds.len() {
        let mut best: Option<Cell> = None;
        for from in (to.saturating_sub(PIECES_MAX)..to).rev() {
            let score = best.as_ref().map(|best| best.score);
            let cell = extend(reader, &cells, &bounds, (from, to), score);
            if let Some(cell) = cell.filter(|cell| score.is_none_or(|best| cell.score > best)) {
                best = Some(cell);
            }
            // No clause goes on after the end of a sentence.
            if from > 0 && joint_kind(scan, bounds[from]) == Some(JointKind::Hard) {
                break;
            }
        }
        cells.push(best);
    }
    unwind(cells)
}

fn extend(
    reader: &ClauseReader<'_>,
    cells: &[Option<Cell>],
    bounds: &[usize],
    (from, to): (usize, usize),
    best: Option<i32>,
) -> Option<Cell> {
    let before = cells[from].as_ref();
    let (so_far, last) = match before {
        None if from > 0 => return None,
        None => (0, None),
        Some(cell) => (cell.score, cell.last),
    };
    let said = last.and_then(|last| operating(cells[last].as_ref()?));
    // Putting pieces together is tried only where it may beat the best so far.
    let hope = || so_far.saturating_add(reader.hope(bounds[from], bounds[to]));
    if to - from > 1 && best.is_some_and(|best| hope() <= best) {
        return None;
    }
    let mut clause = reader.read(bounds[from], bounds[to], said);
    let is_marked = joint_kind(reader.reader.scan, bounds[from]) != Some(JointKind::Cue);
    let hangs = |cell: &Cell| matches!(cell.clause.reading, Reading::Unread | Reading::No);
    if before.is_some_and(hangs) && !is_marked && !stands_alone(&clause.reading) {
        clause = reader.unread(bounds[from], bounds[to]);
    }
    let cut = if is_marked { score::CLAUSE } else { score::UNMARKED_CLAUSE };
    let score = so_far.saturating_add(clause.score).saturating_add(cut);
    let last = match &clause.reading {
        Reading::Operation(_) => Some(to),
        Reading::Cancellation | Reading::TakenBack => None,
        Reading::Filler
        | Reading::Remark
        | Reading::Prohibition(_)
        | Reading::Question(_)
        | Reading::Yes { .. }
        | Reading::No
        | Reading::Choice { .. }
        | Reading::Unread => last,
    };
    Some(Cell { score, from, clause, last })
}

/// Whether a reading holds whatever stands directly before it. A request does not: "refuse to renew it".
fn stands_alone(reading: &Reading) -> bool {
    matches!(reading, Reading::Prohibition(_) | Reading::Question(_) | Reading::Filler)
}

fn operating(cell: &Cell) -> Option<&Operating> {
    match &cell.clause.reading {
        Reading::Operation(said) => Some(said),
        Reading::Filler
        | Reading::Remark
        | Reading::Prohibition(_)
        | Reading::Question(_)
        | Reading::Cancellation
        | Reading::TakenBack
        | Reading::Yes { .. }
        | Reading::No
        | Reading::Choice { .. }
        | Reading::Unread => None,
    }
}

fn joint_kind(scan: &Scan<'_>, at: usize) -> Option<JointKind> {
    let index = scan.joints.binary_search_by_key(&at, |joint| joint.at).ok()?;
    Some(scan.joints[index].kind)
}

fn unwind(mut cells: Vec<Option<Cell>>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let mut at = cells.len() - 1;
    while at > 0 {
        let Some(cell) = cells[at].take() else { break };
        clauses.push(cell.clause);
        at = cell.from;
    }
    clauses.reverse();
    clauses
}
