//! Civil dates.
//!
//! `2026-05-03` in every language; `3 May`, `May 3rd`, `3rd of May 2027`, `3. Mai`, `3.5.2027` in German;
//! today and tomorrow, a number of days from today, and weekdays, which are the next such day after today.
//! A date without a year is its next occurrence on or after today, in the actor's zone. Digits that may be a
//! day or a month are ambiguous in English, whatever the region: people's settings say little about where
//! they learned to write dates.

use jiff::SignedDuration;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

use super::integer::small;
use super::language::Language;
use super::token::{Token, after_words, skip_mark, skip_word, tokens};
use super::{ValueContext, ValueError};

/// How far ahead a date without a year is looked for: a leap day comes within eight years.
const YEARS_AHEAD_MAX: i16 = 8;

/// A date as it was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// With its year.
    Full(Date),
    /// Without one.
    MonthDay {
        /// From 1.
        month: i8,
        /// From 1.
        day: i8,
    },
    /// So many days from today.
    FromToday(i64),
    /// A weekday, and so many weeks after the coming one.
    Coming(Weekday, i64),
}

/// Every way in which words may be a date; none where they are no date.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Readings {
    /// The dates.
    pub(super) said: Vec<Said>,
    /// A weekday said beside the date, which has to agree with it.
    pub(super) weekday: Option<Weekday>,
    /// Whether the words are ISO 8601.
    pub(super) is_iso: bool,
}

/// Reads a date.
pub(super) fn read(
    words: &str,
    language: Option<&Language>,
    context: &ValueContext<'_>,
) -> Result<Date, ValueError> {
    let tokens = tokens(words).ok_or(ValueError::Unreadable)?;
    let mut dates = resolve(&parse(&tokens, language), context)?;
    match dates.len() {
        1 => Ok(dates.remove(0)),
        _ => Err(ValueError::Ambiguous(dates.iter().map(Date::to_string).collect())),
    }
}

/// Whether words are a date, or several.
pub(super) fn has_shape(words: &str, language: Option<&Language>) -> bool {
    tokens(words).is_some_and(|tokens| !parse(&tokens, language).said.is_empty())
}

/// The dates that readings come to, in order and without repetition.
pub(super) fn resolve(
    readings: &Readings,
    context: &ValueContext<'_>,
) -> Result<Vec<Date>, ValueError> {
    let mut dates: Vec<Date> = Vec::new();
    for said in &readings.said {
        dates.extend(date_of(*said, context));
    }
    if let (Some(weekday), [date]) = (readings.weekday, dates.as_slice()) {
        // "Friday, 3 May" where 3 May is a Sunday: one of the two is wrong, and only the user knows which.
        if date.weekday() != weekday {
            dates.extend(date_of(Said::Coming(weekday, 0), context));
        }
    }
    dates.sort_unstable();
    dates.dedup();
    if dates.is_empty() { Err(ValueError::Unreadable) } else { Ok(dates) }
}

fn date_of(said: Said, context: &ValueContext<'_>) -> Option<Date> {
    match said {
        Said::Full(date) => Some(date),
        Said::MonthDay { month, day } => {
            let today = today(context)?;
            let year = |ahead| Date::new(today.year().checked_add(ahead)?, month, day).ok();
            (0..=YEARS_AHEAD_MAX).filter_map(year).find(|date| *date >= today)
        }
        Said::FromToday(days) => plus_days(today(context)?, days),
        Said::Coming(weekday, weeks) => {
            let today = today(context)?;
            let ahead = match today.weekday().until(weekday) {
                0 => 7,
                days => i64::from(days),
            };
            plus_days(today, ahead + 7 * weeks)
        }
    }
}

fn today(context: &ValueContext<'_>) -> Option<Date> {
    let now = jiff::Timestamp::from_microsecond(context.now.as_micros()).ok()?;
    Some(zone(context)?.to_datetime(now).date())
}

/// The actor's zone.
pub(super) fn zone(context: &ValueContext<'_>) -> Option<TimeZone> {
    TimeZone::get(context.time_zone).ok().filter(|zone| !zone.is_unknown())
}

fn plus_days(date: Date, days: i64) -> Option<Date> {
    let hours = days.checked_mul(24)?;
    date.checked_add(SignedDuration::from_hours(hours)).ok()
}

/// Reads a date without asking what day it is.
pub(super) fn parse(tokens: &[Token], language: Option<&Language>) -> Readings {
    if let Some(date) = iso(tokens) {
        return Readings { said: vec![Said::Full(date)], weekday: None, is_iso: true };
    }
    let Some(language) = language else { return Readings::default() };
    let tokens = trim_end(tokens);
    let bare = skip_word(skip_word(tokens, language.before_date), language.before_date);
    if let Some(said) = counted(tokens, language).or_else(|| counted(bare, language)) {
        return Readings { said: vec![said], ..Readings::default() };
    }
    weekday_first(bare, language).unwrap_or_else(|| Readings {
        said: in_figures_or_names(bare, language),
        ..Readings::default()
    })
}

/// `2026-05-03`, and nothing else.
fn iso(tokens: &[Token]) -> Option<Date> {
    let [
        Token::Digits(year),
        Token::Mark('-'),
        Token::Digits(month),
        Token::Mark('-'),
        Token::Digits(day),
    ] = tokens
    else {
        return None;
    };
    let shaped = year.len() == 4 && month.len() == 2 && day.len() == 2;
    let date = || Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok();
    shaped.then(date).flatten()
}

fn trim_end(tokens: &[Token]) -> &[Token] {
    match tokens {
        [rest @ .., last] if last.is_mark(&['.', ',']) => rest,
        _ => tokens,
    }
}

/// Today, tomorrow, in three days.
fn counted(tokens: &[Token], language: &Language) -> Option<Said> {
    let whole = |(phrase, days): &(&[&str], i64)| {
        after_words(tokens, phrase).filter(|rest| rest.is_empty()).map(|_| Said::FromToday(*days))
    };
    if let Some(said) = language.days.iter().find_map(whole) {
        return Some(said);
    }
    let [within, number, Token::Word(unit)] = tokens else { return None };
    let days = language.units.iter().find(|(name, _)| name == unit).map(|(_, days)| *days)?;
    let number = small(number, language).or_else(|| number.number().map(|(n, _)| n.into()))?;
    within.is_word(language.within).then(|| Said::FromToday(number.saturating_mul(days)))
}

/// `Friday`, `this Friday`, `next Friday`, `Friday, 3 May`.
fn weekday_first(tokens: &[Token], language: &Language) -> Option<Readings> {
    let (tokens, weeks): (_, &[i64]) = match tokens {
        [first, rest @ ..] if first.is_word(language.coming) => (rest, &[0]),
        [first, rest @ ..] if first.is_word(language.next) => (rest, &[0, 1]),
        _ => (tokens, &[0]),
    };
    let (Token::Word(name), rest) = tokens.split_first()? else { return None };
    let weekday = language.weekdays.iter().find(|(known, _)| known == name).map(|(_, day)| *day)?;
    let rest = skip_mark(skip_mark(rest, &['.']), &[',']);
    if rest.is_empty() {
        let said = weeks.iter().map(|weeks| Said::Coming(weekday, *weeks)).collect();
        return Some(Readings { said, ..Readings::default() });
    }
    let rest = skip_word(skip_word(rest, language.before_date), language.before_date);
    let said = in_figures_or_names(rest, language);
    Some(Readings { said, weekday: Some(weekday), is_iso: false })
}

fn in_figures_or_names(tokens: &[Token], language: &Language) -> Vec<Said> {
    let named = day_first(tokens, language).or_else(|| month_first(tokens, language));
    match named {
        Some(said) => vec![said],
        None => in_figures(tokens, language),
    }
}

/// `3 May`, `3rd of May 2027`, `3. Mai`.
fn day_first(tokens: &[Token], language: &Language) -> Option<Said> {
    let (day, rest) = day(tokens, language)?;
    let (month, rest) = month(skip_word(rest, language.of), language)?;
    said(month, day, rest)
}

/// `May 3`, `May the 3rd, 2027`.
fn month_first(tokens: &[Token], language: &Language) -> Option<Said> {
    let (month, rest) = month(tokens, language).filter(|_| language.is_month_first)?;
    let (day, rest) = day(skip_word(rest, language.before_date), language)?;
    said(month, day, rest)
}

fn day<'t>(tokens: &'t [Token], language: &Language) -> Option<(u32, &'t [Token])> {
    let (first, rest) = tokens.split_first()?;
    let (day, digits) = first.number()?;
    let rest = skip_word(skip_mark(rest, &['.']), language.ordinals);
    (digits <= 2).then_some((day, rest))
}

fn month<'t>(tokens: &'t [Token], language: &Language) -> Option<(u32, &'t [Token])> {
    let (Token::Word(name), rest) = tokens.split_first()? else { return None };
    let month = language.months.iter().find(|(known, _)| known == name).map(|(_, month)| *month)?;
    Some((u32::try_from(month).ok()?, skip_mark(rest, &['.'])))
}

/// A day and a month with what may be left: nothing, or a year.
fn said(month: u32, day: u32, rest: &[Token]) -> Option<Said> {
    match skip_mark(rest, &[',']) {
        [] => month_day(month, day),
        [year] => full(self::year(year)?, month, day),
        [apostrophe, year] if apostrophe.is_mark(&['\'', '’']) => {
            full(self::year(year)?, month, day)
        }
        _ => None,
    }
}

/// A year in four digits, or in two of this century.
fn year(token: &Token) -> Option<u32> {
    match token.number()? {
        (year, 4) => Some(year),
        (year, 2) => Some(2_000 + year),
        _ => None,
    }
}

fn full(year: u32, month: u32, day: u32) -> Option<Said> {
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?);
    date.ok().map(Said::Full)
}

fn month_day(month: u32, day: u32) -> Option<Said> {
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    // A leap year tells the days that exist in some year from those that exist in none.
    Date::new(2_000, month, day).ok().map(|_| Said::MonthDay { month, day })
}

/// `3.5.2027`, `3/5`, `2027/05/03`.
fn in_figures(tokens: &[Token], language: &Language) -> Vec<Said> {
    let (first, mark, second, third) = match tokens {
        [first, Token::Mark(mark), second] => (first, *mark, second, None),
        [first, Token::Mark(mark), second, Token::Mark(again), third] if mark == again => {
            (first, *mark, second, Some(third))
        }
        _ => return Vec::new(),
    };
    let separates = matches!(mark, '.' | '/') || (mark == '-' && third.is_some());
    let (Some((first, digits)), Some((second, _))) = (first.number(), second.number()) else {
        return Vec::new();
    };
    if !separates {
        return Vec::new();
    }
    let one = |month, day| match third {
        Some(third) => full(year(third)?, month, day),
        None => month_day(month, day),
    };
    if digits == 4 {
        let day = third.and_then(|third| third.number());
        return day.and_then(|(day, _)| full(first, second, day)).into_iter().collect();
    }
    let is_day_first = language.has_dotted_dates && mark == '.';
    let month_first = if is_day_first { None } else { one(first, second) };
    let mut said: Vec<_> = one(second, first).into_iter().chain(month_first).collect();
    said.dedup();
    said
}
