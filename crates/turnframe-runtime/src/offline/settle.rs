//! Settles what clauses mean for each other, before acts are made of them.
//!
//! - What depends on a condition is not done: nothing here could tell whether the condition holds.
//! - Of alternatives none is done.
//! - What is wondered about in a sentence is wondered about to its end, and what is asked politely stays asked.
//! - A yes answers a card only where the message leaves no doubt that it is meant as one.

use turnframe_core::id::OptionId;
use turnframe_core::understanding::{CardInView, Mood, ProhibitionScope};

use super::lexicon::Class;
use super::reader::Reader;
use super::reading::{Clause, Operating, Reading, Relation};
use super::token::Break;

/// Options that mean yes.
const YES: [&str; 2] = ["confirm", "yes"];
/// Options that mean no.
const NO: [&str; 2] = ["decline", "no"];

/// A clause as it will be acted upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    /// The clause.
    pub(super) clause: Clause,
    /// Whether an operation is meant.
    pub(super) mood: Mood,
    /// The option that a yes or a no is.
    pub(super) answer: Option<OptionId>,
}

/// Settles the clauses of a message.
pub(super) fn settle(
    reader: &Reader<'_>,
    cards: &[CardInView],
    clauses: Vec<Clause>,
) -> Vec<Settled> {
    let settled = |clause| Settled { clause, mood: Mood::Requested, answer: None };
    let mut settled: Vec<Settled> = clauses.into_iter().map(settled).collect();
    let starts = |it: &Settled| reader.scan.tokens[it.clause.start].before == Break::Hard;
    let mut from = 0;
    while from < settled.len() {
        let length = settled[from + 1..].iter().take_while(|it| !starts(it)).count() + 1;
        let sentence = &mut settled[from..from + length];
        settle_moods(reader, sentence);
        settle_conditions(reader, sentence);
        settle_alternatives(reader, sentence);
        from += length;
    }
    settle_answers(reader, cards, &mut settled);
    settled
}

fn operating(reading: &Reading) -> Option<&Operating> {
    match reading {
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

fn settle_moods(reader: &Reader<'_>, sentence: &mut [Settled]) {
    let (mut wonders, mut requests) = (false, false);
    for settled in sentence {
        let asks = reader.scan.tokens[settled.clause.end - 1].asks;
        let Some(said) = operating(&settled.clause.reading) else { continue };
        let flags = said.flags;
        wonders = flags.is_hypothetical || (wonders && !flags.is_requested);
        requests |= flags.is_requested;
        if wonders || (asks && !requests) {
            settled.mood = Mood::Hypothetical;
        }
    }
}

fn settle_conditions(reader: &Reader<'_>, sentence: &mut [Settled]) {
    let depends = |settled: &Settled| {
        let Clause { start, end, reading, .. } = &settled.clause;
        let is_conditional = operating(reading).is_some_and(|said| said.flags.is_conditional);
        is_conditional
            || (opens_with(reader, *start, *end, Class::CONDITION) && !is_filler(reading))
    };
    if !sentence.iter().any(depends) {
        return;
    }
    let asks = sentence.last().is_some_and(|it| reader.scan.tokens[it.clause.end - 1].asks);
    for settled in sentence {
        match &settled.clause.reading {
            Reading::Operation(_) if asks => settled.mood = Mood::Hypothetical,
            Reading::Operation(_)
            | Reading::Cancellation
            | Reading::TakenBack
            | Reading::Yes { .. }
            | Reading::No
            | Reading::Choice { .. } => settled.clause.reading = Reading::Unread,
            Reading::Filler
            | Reading::Remark
            | Reading::Prohibition(_)
            | Reading::Question(_)
            | Reading::Unread => {}
        }
    }
}

fn is_filler(reading: &Reading) -> bool {
    matches!(reading, Reading::Filler)
}

/// Whether the first word of a clause that joins nothing is of a class.
fn opens_with(reader: &Reader<'_>, start: usize, end: usize, class: Class) -> bool {
    let mut at = start;
    while let Some(lexeme) = reader.scan.lexeme_from(at, end) {
        if lexeme.class.has(class) {
            return true;
        }
        if !lexeme.class.has(Class::CONNECTIVE.or(Class::FILLER)) {
            return false;
        }
        at = lexeme.end;
    }
    false
}

fn settle_alternatives(reader: &Reader<'_>, sentence: &mut [Settled]) {
    for index in 1..sentence.len() {
        let Clause { start, end, .. } = sentence[index].clause;
        let after_or = reader.scan.lexeme_to(0, start).is_some_and(|it| it.class.has(Class::OR));
        if !after_or && !opens_with(reader, start, end, Class::OR) {
            continue;
        }
        let Some(said) = operating(&sentence[index].clause.reading).cloned() else { continue };
        let says = |it: &Settled| !is_filler(&it.clause.reading);
        let Some(before) = sentence[..index].iter().rposition(says) else { continue };
        match &sentence[before].clause.reading {
            Reading::Prohibition(_) => {
                sentence[index].clause.reading = Reading::Prohibition(only(reader, &said));
            }
            Reading::Operation(_) if sentence[before].mood == Mood::Requested => {
                for alternative in &mut sentence[before..=index] {
                    alternative.clause.reading = Reading::Unread;
                }
            }
            Reading::Operation(_)
            | Reading::Filler
            | Reading::Remark
            | Reading::Question(_)
            | Reading::Cancellation
            | Reading::TakenBack
            | Reading::Yes { .. }
            | Reading::No
            | Reading::Choice { .. }
            | Reading::Unread => {}
        }
    }
}

fn only(reader: &Reader<'_>, said: &Operating) -> ProhibitionScope {
    let offered = &reader.grammar.operations[said.operation];
    let (workflow, operation) = (offered.workflow.clone(), offered.spec.key.clone());
    ProhibitionScope::Operations(vec![turnframe_core::id::OperationRef { workflow, operation }])
}

/// Decides which option a yes or a no is, and whether it is one at all.
fn settle_answers(reader: &Reader<'_>, cards: &[CardInView], settled: &mut [Settled]) {
    let is_yes = |it: &Settled| matches!(it.clause.reading, Reading::Yes { .. });
    let is_no = |it: &Settled| matches!(it.clause.reading, Reading::No);
    let contradicts = settled.iter().any(is_yes) && settled.iter().any(is_no);
    let doubts = contradicts || settled.iter().any(|it| raises_doubt(reader, it));
    let quiet = |it: &Settled| {
        matches!(it.clause.reading, Reading::Yes { .. } | Reading::Remark | Reading::Filler)
    };
    let is_alone = settled.iter().all(quiet);
    let mut is_answered = false;
    for index in 0..settled.len() {
        let follows_act = settled[..index].iter().any(|it| operating(&it.clause.reading).is_some());
        let option = match &settled[index].clause.reading {
            Reading::Yes { is_weak } if !doubts && (is_alone || !is_weak) => option(cards, YES),
            Reading::Choice { .. } if doubts => {
                settled[index].clause.reading = Reading::Unread;
                continue;
            }
            // "Renew it. No." takes the act back rather than answering a card.
            Reading::No if follows_act => {
                settled[index].clause.reading = Reading::TakenBack;
                continue;
            }
            Reading::No if !doubts => option(cards, NO),
            Reading::Yes { .. } | Reading::No => None,
            Reading::Filler
            | Reading::Remark
            | Reading::Operation(_)
            | Reading::Prohibition(_)
            | Reading::Question(_)
            | Reading::Cancellation
            | Reading::TakenBack
            | Reading::Choice { .. }
            | Reading::Unread => continue,
        };
        match option {
            Some(_) if is_answered => settled[index].clause.reading = Reading::Remark,
            Some(option) => {
                settled[index].answer = Some(option);
                is_answered = true;
            }
            None => settled[index].clause.reading = Reading::Unread,
        }
    }
    for index in 0..settled.len() {
        // "ok" beside what was read acknowledges; alone, with nothing to answer, it says nothing readable.
        let beside =
            settled.iter().any(|it| !quiet(it) && !matches!(it.clause.reading, Reading::Unread));
        let Settled { clause: Clause { start, end, .. }, .. } = settled[index];
        let says_yes = opens_with(reader, start, end, Class::YES.or(Class::NO));
        if beside && says_yes && matches!(settled[index].clause.reading, Reading::Unread) {
            settled[index].clause.reading = Reading::Remark;
        }
    }
}

/// Whether a clause makes it doubtful that a yes beside it confirms anything.
fn raises_doubt(reader: &Reader<'_>, settled: &Settled) -> bool {
    let clause = &settled.clause;
    let asks = reader.scan.tokens[clause.end - 1].asks;
    let doubtful = match &clause.reading {
        Reading::Question(_) | Reading::Unread | Reading::TakenBack | Reading::Cancellation => true,
        Reading::Operation(said) => {
            settled.mood == Mood::Hypothetical || said.relation >= Relation::Corrects
        }
        Reading::Filler
        | Reading::Remark
        | Reading::Prohibition(_)
        | Reading::Yes { .. }
        | Reading::No
        | Reading::Choice { .. } => false,
    };
    doubtful || asks
}

/// The option of the open cards that has one of these ids. Cards that call it differently leave open which is
/// meant, and none is.
fn option(cards: &[CardInView], ids: [&str; 2]) -> Option<OptionId> {
    let of_card = |card: &CardInView| {
        card.options.iter().find(|(id, _)| ids.contains(&id.as_str())).map(|(id, _)| id.clone())
    };
    let mut options = cards.iter().filter_map(of_card);
    let first = options.next()?;
    options.all(|other| other == first).then_some(first)
}
