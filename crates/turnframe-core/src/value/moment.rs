//! Moments: a civil date and a time in the actor's zone.
//!
//! A time that the zone's clock skips is a gap, one that it shows twice an overlap (RFC 5545 names both); the
//! user is asked. A time that says its own offset from UTC, such as `2026-10-25T02:30+02:00`, is exact: it is
//! the answer to that question.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::AmbiguousOffset;

use super::date::{self, zone};
use super::language::Language;
use super::token::{Token, after_words, skip_mark, skip_word, tokens};
use super::{ValueContext, ValueError};
use crate::operation::SlotValue;
use crate::source::Timestamp;

/// A time of day as it was said, and how many days after the date it falls.
type Hour = (Time, i64);

/// Reads a moment.
pub(super) fn read(
    words: &str,
    language: Option<&Language>,
    context: &ValueContext<'_>,
) -> Result<SlotValue, ValueError> {
    let zone = zone(context).ok_or(ValueError::Unreadable)?;
    if let Ok(at) = words.trim().parse::<jiff::Timestamp>() {
        return Ok(moment(at, zone.to_datetime(at)));
    }
    let mut civil = civil(words, language, context)?;
    if civil.len() > 1 {
        let listed = |civil: &DateTime| civil.strftime("%Y-%m-%d %H:%M").to_string();
        return Err(ValueError::Ambiguous(civil.iter().map(listed).collect()));
    }
    let civil = civil.remove(0);
    let said = zone.to_ambiguous_timestamp(civil);
    match said.offset() {
        AmbiguousOffset::Unambiguous { .. } => {
            let at = said.unambiguous().map_err(|_| ValueError::Unreadable)?;
            Ok(moment(at, civil))
        }
        AmbiguousOffset::Gap { .. } => Err(ValueError::Gap),
        AmbiguousOffset::Fold { .. } => Err(ValueError::Overlap),
    }
}

/// Whether words are a date and a time.
pub(super) fn has_shape(words: &str, language: Option<&Language>) -> bool {
    let is_split = tokens(words).is_some_and(|tokens| !splits(&tokens, language).is_empty());
    is_split || words.trim().parse::<jiff::Timestamp>().is_ok()
}

fn moment(at: jiff::Timestamp, civil: DateTime) -> SlotValue {
    SlotValue::Moment { at: Timestamp::from_micros(at.as_microsecond()), civil }
}

/// Every civil time that the words may mean, in order; at least one.
fn civil(
    words: &str,
    language: Option<&Language>,
    context: &ValueContext<'_>,
) -> Result<Vec<DateTime>, ValueError> {
    let tokens = tokens(words).ok_or(ValueError::Unreadable)?;
    let mut civil = Vec::new();
    for (readings, hours) in splits(&tokens, language) {
        let Ok(dates) = date::resolve(&readings, context) else { continue };
        for date in dates {
            civil.extend(hours.iter().filter_map(|hour| at(date, *hour)));
        }
    }
    civil.sort_unstable();
    civil.dedup();
    if civil.is_empty() { Err(ValueError::Unreadable) } else { Ok(civil) }
}

fn at(date: Date, (time, days): Hour) -> Option<DateTime> {
    let date = if days == 0 { date } else { date.tomorrow().ok()? };
    Some(date.to_datetime(time))
}

/// Every cut of the tokens into a date and a time, in either order.
fn splits(tokens: &[Token], language: Option<&Language>) -> Vec<(date::Readings, Vec<Hour>)> {
    let cut = |at: usize| {
        let (left, right) = tokens.split_at(at);
        [(left, right), (right, left)]
    };
    let read = |(date, hour): (&[Token], &[Token])| {
        let hour = before_time(hour, language);
        // Cheaper than the date, and seldom there.
        let bare = time(hour, language, true)?;
        let readings = date::parse(trim_comma(date), language);
        if readings.said.is_empty() {
            return None;
        }
        let counts_to_24 = readings.is_iso || language.is_none_or(|it| it.counts_to_24);
        let hours = if counts_to_24 { bare } else { time(hour, language, false)? };
        Some((readings, hours))
    };
    (1..tokens.len()).flat_map(cut).filter_map(read).collect()
}

fn trim_comma(tokens: &[Token]) -> &[Token] {
    match skip_mark(tokens, &[',']) {
        [rest @ .., last] if last.is_mark(&[',']) => rest,
        rest => rest,
    }
}

/// The time without the comma, the `T` of ISO 8601 or the preposition before it.
fn before_time<'t>(tokens: &'t [Token], language: Option<&Language>) -> &'t [Token] {
    let tokens = skip_word(skip_mark(tokens, &[',']), &["t"]);
    language.map_or(tokens, |language| skip_word(tokens, language.before_time))
}

/// Reads a time of day, or the two that a clock of twelve hours shows alike.
fn time(tokens: &[Token], language: Option<&Language>, counts_to_24: bool) -> Option<Vec<Hour>> {
    if let (Some(language), [name]) = (language, tokens) {
        if name.is_word(language.noon) {
            return Some(vec![(hour(12, 0, 0)?, 0)]);
        }
        if name.is_word(language.midnight) {
            // Which of the two nights of a date it is, people do not agree.
            return Some(vec![(Time::midnight(), 0), (Time::midnight(), 1)]);
        }
    }
    let clock = figures(tokens, language)?;
    let half = match (clock.rest, language) {
        ([], _) => None,
        (rest, Some(language)) => Some(half(rest, language)?),
        (_, None) => return None,
    };
    let of_day = |hours| hour(hours, clock.minutes, clock.seconds).map(|time| (time, 0));
    match half {
        Some(is_afternoon) => Some(vec![of_day(of_24(clock.hours, is_afternoon)?)?]),
        None if clock.is_bare_hour => None,
        None if counts_to_24 || clock.says_24 => Some(vec![of_day(clock.hours)?]),
        None => Some(vec![of_day(clock.hours)?, of_day(clock.hours + 12)?]),
    }
}

/// A time in figures, and what follows it.
struct Clock<'t> {
    hours: u32,
    minutes: u32,
    seconds: u32,
    /// `2` alone is a time only with what follows: `2 pm`.
    is_bare_hour: bool,
    /// `02:30` and `14:30` are of a clock of twenty-four hours in every language.
    says_24: bool,
    rest: &'t [Token],
}

/// `14:30`, `2.30 pm`, `14 Uhr 30`, `2`.
fn figures<'t>(tokens: &'t [Token], language: Option<&Language>) -> Option<Clock<'t>> {
    let (first, rest) = tokens.split_first()?;
    let (hours, digits) = first.number().filter(|(_, digits)| *digits <= 2)?;
    let says_24 = (digits == 2 && hours < 10) || hours == 0 || hours > 11;
    let clock = |minutes, seconds, rest| Clock {
        hours,
        minutes,
        seconds,
        is_bare_hour: false,
        says_24,
        rest,
    };
    if let Some((minutes, rest)) = after_colon(rest, language.is_some()) {
        let (seconds, rest) = after_colon(rest, false).unwrap_or((0, rest));
        let full_hour = language.and_then(|language| after_full_hour(rest, language));
        return Some(clock(minutes, seconds, full_hour.unwrap_or(rest)));
    }
    let Some(rest) = language.and_then(|language| after_full_hour(rest, language)) else {
        return Some(Clock { is_bare_hour: true, ..clock(0, 0, rest) });
    };
    match rest {
        [minutes, rest @ ..] if two_digits(minutes).is_some() => {
            Some(clock(two_digits(minutes)?, 0, rest))
        }
        _ => Some(clock(0, 0, rest)),
    }
}

fn after_colon(tokens: &[Token], or_dot: bool) -> Option<(u32, &[Token])> {
    let marks: &[char] = if or_dot { &[':', '.'] } else { &[':'] };
    match tokens {
        [mark, number, rest @ ..] if mark.is_mark(marks) => Some((two_digits(number)?, rest)),
        _ => None,
    }
}

fn two_digits(token: &Token) -> Option<u32> {
    token.number().filter(|(_, digits)| *digits == 2).map(|(number, _)| number)
}

/// The rest after "Uhr" or "o'clock".
fn after_full_hour<'t>(tokens: &'t [Token], language: &Language) -> Option<&'t [Token]> {
    language.hours.iter().find_map(|phrase| after_words(tokens, phrase))
}

/// Whether "pm" or its like says the afternoon; nothing else may follow.
fn half(tokens: &[Token], language: &Language) -> Option<bool> {
    let says = |(phrase, is_afternoon): &(&[&str], bool)| {
        after_words(tokens, phrase).filter(|rest| rest.is_empty()).map(|_| *is_afternoon)
    };
    language.halves.iter().find_map(says)
}

/// An hour of a half of the day as one of twenty-four.
fn of_24(hours: u32, is_afternoon: bool) -> Option<u32> {
    match (hours, is_afternoon) {
        (12, false) => Some(0),
        (12, true) => Some(12),
        (1..=11, false) => Some(hours),
        (1..=11, true) => Some(hours + 12),
        // "14 Uhr nachmittags" says the same thing twice.
        (13..=23, true) => Some(hours),
        _ => None,
    }
}

fn hour(hours: u32, minutes: u32, seconds: u32) -> Option<Time> {
    let small = |number: u32| i8::try_from(number).ok();
    Time::new(small(hours)?, small(minutes)?, small(seconds)?, 0).ok()
}
