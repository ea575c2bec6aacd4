//! Each table is a list of words and what they come to, as text.

use super::*;
use crate::operation::{Choice, Phrase};

/// Friday, 2026-03-20, 12:00 in Berlin.
const FRIDAY: &str = "2026-03-20T11:00:00Z";

fn locale(tag: &str) -> Locale {
    Locale::new(tag).expect("locale")
}

fn micros(moment: &str) -> Timestamp {
    let moment: jiff::Timestamp = moment.parse().expect("moment");
    Timestamp::from_micros(moment.as_microsecond())
}

fn read_at(
    kind: &SlotKind,
    tag: &str,
    now: &str,
    time_zone: &str,
    words: &str,
) -> Result<SlotValue, ValueError> {
    let locale = locale(tag);
    read(kind, words, &ValueContext { locale: &locale, time_zone, now: micros(now) })
}

/// A value or the reason against it, as a line of a table.
fn shown(read: Result<SlotValue, ValueError>) -> String {
    match read {
        Ok(SlotValue::Text(text)) | Ok(SlotValue::Choice(text)) => text,
        Ok(SlotValue::Integer(number)) => number.to_string(),
        Ok(SlotValue::Date(date)) => date.to_string(),
        Ok(SlotValue::Moment { civil, .. }) => civil.strftime("%Y-%m-%d %H:%M").to_string(),
        Err(ValueError::Missing) => "missing".to_owned(),
        Err(ValueError::Unreadable) => "unreadable".to_owned(),
        Err(ValueError::Ambiguous(readings)) => readings.join(" or "),
        Err(ValueError::Gap) => "gap".to_owned(),
        Err(ValueError::Overlap) => "overlap".to_owned(),
    }
}

fn check(kind: &SlotKind, tag: &str, table: &[(&str, &str)]) {
    for (words, expected) in table {
        let read = shown(read_at(kind, tag, FRIDAY, "Europe/Berlin", words));
        assert_eq!(read, *expected, "{words:?} in {tag}");
        let has_shape = has_shape(kind, words, &locale(tag));
        assert_eq!(has_shape, !matches!(*expected, "unreadable" | "missing"), "{words:?} in {tag}");
    }
}

#[test]
fn text_is_trimmed_and_unquoted() {
    let table = [
        ("  Dune ", "Dune"),
        ("\"Dune\"", "Dune"),
        ("„Die Wand“", "Die Wand"),
        ("« L'Étranger »", "L'Étranger"),
        ("\"Dune\" and \"Emma\"", "\"Dune\" and \"Emma\""),
        ("the kids' room", "the kids' room"),
    ];
    for (words, expected) in table {
        assert_eq!(shown(read_at(&SlotKind::Text, "en", FRIDAY, "UTC", words)), expected);
    }
    for words in ["", " \n", "\"\"", "“ ”"] {
        let read = read_at(&SlotKind::Text, "en", FRIDAY, "UTC", words);
        assert_eq!(read, Err(ValueError::Missing), "{words:?}");
    }
}

#[test]
fn whole_numbers_follow_the_grouping_of_their_language() {
    let english = [
        ("7", "7"),
        ("0012", "12"),
        ("1,200", "1200"),
        ("1,200,300", "1200300"),
        ("1\u{202f}200", "1200"),
        ("７", "7"),
        ("-5", "-5"),
        ("−5", "-5"),
        ("minus five", "-5"),
        ("minus 5", "-5"),
        ("a", "1"),
        ("An", "1"),
        ("another", "1"),
        ("one more", "1"),
        ("Twelve", "12"),
        ("twenty", "20"),
        ("1.200", "unreadable"),
        ("1.5", "unreadable"),
        ("1,20", "unreadable"),
        ("1234,567", "unreadable"),
        (",200", "unreadable"),
        ("1 200", "unreadable"),
        ("eins", "unreadable"),
        ("2 bags", "unreadable"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "unreadable"),
        ("99999999999999999999999", "unreadable"),
    ];
    check(&SlotKind::Integer, "en", &english);
    let german = [
        ("1.200", "1200"),
        ("1,200", "unreadable"),
        ("ein", "1"),
        ("eine", "1"),
        ("noch eine", "1"),
        ("zwölf", "12"),
        ("ZWÖLF", "12"),
        ("zwanzig", "20"),
        ("twenty", "unreadable"),
    ];
    check(&SlotKind::Integer, "de-AT", &german);
    check(&SlotKind::Integer, "fr", &[("12", "12"), ("1,200", "unreadable"), ("un", "unreadable")]);
}

#[test]
fn english_dates() {
    let table = [
        ("2026-05-03", "2026-05-03"),
        ("3 May", "2026-05-03"),
        ("3 may 2027", "2027-05-03"),
        ("3rd of May 2027", "2027-05-03"),
        ("the 3rd of May", "2026-05-03"),
        ("on 3 May", "2026-05-03"),
        ("May 3rd", "2026-05-03"),
        ("May the 3rd", "2026-05-03"),
        ("May 3, 2027", "2027-05-03"),
        ("Sept. 1st", "2026-09-01"),
        ("3 May '27", "2027-05-03"),
        ("20 March", "2026-03-20"),
        ("19 March", "2027-03-19"),
        ("29 February", "2028-02-29"),
        ("29 Feb 2027", "unreadable"),
        ("31 Feb", "unreadable"),
        ("31 February 2028", "unreadable"),
        ("0 May", "unreadable"),
        ("3/5", "2026-05-03 or 2027-03-05"),
        ("3/5/2027", "2027-03-05 or 2027-05-03"),
        ("3.5.2027", "2027-03-05 or 2027-05-03"),
        ("25/12", "2026-12-25"),
        ("12/25/2026", "2026-12-25"),
        ("5/5", "2026-05-05"),
        ("13/13", "unreadable"),
        ("2026/05/03", "2026-05-03"),
        ("today", "2026-03-20"),
        ("Tomorrow", "2026-03-21"),
        ("the day after tomorrow", "2026-03-22"),
        ("in 3 days", "2026-03-23"),
        ("in two weeks", "2026-04-03"),
        ("Friday", "2026-03-27"),
        ("Sat", "2026-03-21"),
        ("this Monday", "2026-03-23"),
        ("next Monday", "2026-03-23 or 2026-03-30"),
        ("Sunday, 3 May", "2026-05-03"),
        ("Friday, 3 May", "2026-03-27 or 2026-05-03"),
        ("May", "unreadable"),
        ("the 3rd", "unreadable"),
        ("3", "unreadable"),
        ("3 May with a dog", "unreadable"),
        ("3. Mai", "unreadable"),
    ];
    check(&SlotKind::Date, "en-GB", &table);
}

#[test]
fn german_dates() {
    let table = [
        ("2026-05-03", "2026-05-03"),
        ("3. Mai", "2026-05-03"),
        ("am 3. Mai 2027", "2027-05-03"),
        ("dem 3.Mai", "2026-05-03"),
        ("1. März", "2027-03-01"),
        ("3.5.2027", "2027-05-03"),
        ("3.5.", "2026-05-03"),
        ("3.5", "2026-05-03"),
        ("03.05.27", "2027-05-03"),
        ("3/5/2027", "2027-03-05 or 2027-05-03"),
        ("31.2.2027", "unreadable"),
        ("heute", "2026-03-20"),
        ("morgen", "2026-03-21"),
        ("übermorgen", "2026-03-22"),
        ("in drei Tagen", "2026-03-23"),
        ("am Montag", "2026-03-23"),
        ("kommenden Freitag", "2026-03-27"),
        ("nächsten Montag", "2026-03-23 or 2026-03-30"),
        ("Sonntag, den 3. Mai", "2026-05-03"),
        ("Fooldienstag", "unreadable"),
        ("May 3rd", "unreadable"),
    ];
    check(&SlotKind::Date, "de", &table);
}

#[test]
fn other_languages_read_iso_forms_only() {
    let table = [("2026-05-03", "2026-05-03"), ("3 mai", "unreadable"), ("3/5", "unreadable")];
    check(&SlotKind::Date, "fr", &table);
    let table = [
        ("2026-05-03T14:30", "2026-05-03 14:30"),
        ("2026-05-03 14:30:05", "2026-05-03 14:30"),
        ("2026-05-03 2 pm", "unreadable"),
    ];
    check(&SlotKind::Moment, "fr", &table);
}

#[test]
fn today_is_the_actors_today() {
    let late = "2026-03-20T23:30:00Z";
    for (zone, expected) in [("Europe/Berlin", "2026-03-21"), ("America/New_York", "2026-03-20")] {
        let read = read_at(&SlotKind::Date, "en", late, zone, "today");
        assert_eq!(shown(read), expected, "{zone}");
    }
    for zone in ["Mars/Olympus_Mons", "", "Etc/Unknown"] {
        let read = |words| read_at(&SlotKind::Date, "en", late, zone, words);
        assert_eq!(read("today"), Err(ValueError::Unreadable), "{zone}");
        assert_eq!(shown(read("3 May 2027")), "2027-05-03", "a year needs no zone");
        let moment = read_at(&SlotKind::Moment, "en", late, zone, "3 May 2027 14:30");
        assert_eq!(moment, Err(ValueError::Unreadable), "{zone}");
    }
}

#[test]
fn english_moments() {
    let table = [
        ("2026-05-03 02:30", "2026-05-03 02:30"),
        ("2026-05-03T2:30", "2026-05-03 02:30"),
        ("3 May at 14:30", "2026-05-03 14:30"),
        ("14:30 on 3 May 2027", "2027-05-03 14:30"),
        ("3 May 2027 14:30", "2027-05-03 14:30"),
        ("2:30 pm on May 3rd", "2026-05-03 14:30"),
        ("May 3rd, 2:30pm", "2026-05-03 14:30"),
        ("3 May at 2 p.m.", "2026-05-03 14:00"),
        ("12 am on 3 May", "2026-05-03 00:00"),
        ("12:15 am on 3 May", "2026-05-03 00:15"),
        ("noon on 3 May", "2026-05-03 12:00"),
        ("12:30 on 3 May", "2026-05-03 12:30"),
        ("tomorrow at 02:30", "2026-03-21 02:30"),
        ("2:30 tomorrow", "2026-03-21 02:30 or 2026-03-21 14:30"),
        ("tomorrow at 2 o'clock", "2026-03-21 02:00 or 2026-03-21 14:00"),
        ("tomorrow at 2 in the afternoon", "2026-03-21 14:00"),
        ("midnight on 3 May", "2026-05-03 00:00 or 2026-05-04 00:00"),
        ("3/5 at 14:30", "2026-05-03 14:30 or 2027-03-05 14:30"),
        ("3 May", "unreadable"),
        ("14:30", "unreadable"),
        ("3 May at 25:00", "unreadable"),
        ("3 May at 14:60", "unreadable"),
        ("3 May at 2", "unreadable"),
        ("31 Feb at 14:30", "unreadable"),
    ];
    check(&SlotKind::Moment, "en", &table);
}

#[test]
fn german_moments() {
    let table = [
        ("3. Mai um 14 Uhr 30", "2026-05-03 14:30"),
        ("um 14 Uhr 30 am 3. Mai", "2026-05-03 14:30"),
        ("3.5.2027, 14:30 Uhr", "2027-05-03 14:30"),
        ("3.5. 2.30 Uhr", "2026-05-03 02:30"),
        ("morgen um 9 Uhr", "2026-03-21 09:00"),
        ("morgen um 9 Uhr abends", "2026-03-21 21:00"),
        ("morgen 2:30", "2026-03-21 02:30"),
        ("Montag um 14 Uhr", "2026-03-23 14:00"),
        ("morgen mittags", "2026-03-21 12:00"),
        ("morgen um 14", "unreadable"),
        ("morgen", "unreadable"),
    ];
    check(&SlotKind::Moment, "de", &table);
}

#[test]
fn case_39_a_gap_and_an_overlap_ask_and_are_never_guessed() {
    let table = [
        ("2026-03-29 01:59", "2026-03-29 01:59"),
        ("2026-03-29 02:00", "gap"),
        ("2026-03-29 02:30", "gap"),
        ("29 March at 02:30", "gap"),
        ("2026-03-29 03:00", "2026-03-29 03:00"),
        ("2026-10-25 01:59", "2026-10-25 01:59"),
        ("2026-10-25 02:30", "overlap"),
        ("25 October 2026 at 2:30 am", "overlap"),
        ("2026-10-25 03:00", "2026-10-25 03:00"),
    ];
    check(&SlotKind::Moment, "en", &table);
    check(&SlotKind::Moment, "de", &[("29. März um 2 Uhr 30", "gap")]);
}

#[test]
fn an_offset_answers_the_question_that_an_overlap_asks() {
    let read = |words| read_at(&SlotKind::Moment, "en", FRIDAY, "Europe/Berlin", words);
    let instants = [
        ("2026-10-25T02:30+02:00", "2026-10-25T00:30:00Z"),
        ("2026-10-25 02:30+01:00", "2026-10-25T01:30:00Z"),
    ];
    for (words, instant) in instants {
        let civil = jiff::civil::date(2026, 10, 25).at(2, 30, 0, 0);
        assert_eq!(read(words), Ok(SlotValue::Moment { at: micros(instant), civil }), "{words}");
    }
}

#[test]
fn a_moment_is_an_instant_of_the_actors_zone() {
    let read = read_at(&SlotKind::Moment, "en", FRIDAY, "America/New_York", "2026-07-01 09:00");
    let civil = jiff::civil::date(2026, 7, 1).at(9, 0, 0, 0);
    assert_eq!(read, Ok(SlotValue::Moment { at: micros("2026-07-01T13:00:00Z"), civil }));
}

#[test]
fn each_listed_reading_reads_back_as_itself() {
    let listed = [
        (SlotKind::Date, "3/5"),
        (SlotKind::Date, "next Monday"),
        (SlotKind::Moment, "3/5 at 2:30"),
        (SlotKind::Moment, "midnight on 3 May"),
    ];
    for (kind, words) in listed {
        let Err(ValueError::Ambiguous(readings)) =
            read_at(&kind, "en", FRIDAY, "Europe/Berlin", words)
        else {
            panic!("{words:?} is not ambiguous");
        };
        assert!(readings.len() > 1);
        for reading in readings {
            let again = shown(read_at(&kind, "en", FRIDAY, "Europe/Berlin", &reading));
            assert_eq!(again, reading);
        }
    }
}

fn choice(value: &str, words: &[(&str, &str)]) -> Choice {
    let words = words.iter().map(|(tag, words)| Phrase::new(&locale(tag), *words)).collect();
    Choice { value: value.to_owned(), words }
}

#[test]
fn choices_match_in_the_actors_language_first_and_then_in_any() {
    let kind = SlotKind::Choice(vec![
        choice("gift", &[("en", "gift"), ("en", "gift wrapping"), ("de", "Geschenk")]),
        choice("poison", &[("en", "poison"), ("de", "Gift")]),
        choice("large", &[("en", "large print"), ("en", "large")]),
        choice("thick", &[("en", "the large"), ("de", "der dicke Band")]),
    ]);
    let english = [
        ("gift", "gift"),
        ("a GIFT", "gift"),
        ("the gift  wrapping", "gift"),
        ("Geschenk", "gift"),
        ("das Geschenk", "gift"),
        ("dicke Band", "thick"),
        ("the large", "large print or the large"),
        ("gifts", "unreadable"),
    ];
    check(&kind, "en", &english);
    check(&kind, "de", &[("Gift", "poison"), ("ein Geschenk", "gift"), ("gift wrapping", "gift")]);
    check(&kind, "fr", &[("Geschenk", "gift"), ("gift", "gift or poison")]);
}

mod never_panics {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whatever_is_said(words in ".{0,40}", tag in "en|de|fr") {
            for kind in [SlotKind::Text, SlotKind::Integer, SlotKind::Date, SlotKind::Moment] {
                let read = read_at(&kind, &tag, FRIDAY, "Europe/Berlin", &words);
                let is_value = !matches!(read, Err(ValueError::Unreadable | ValueError::Missing));
                prop_assert!(!is_value || has_shape(&kind, &words, &locale(&tag)));
            }
        }

        #[test]
        fn whatever_figures_are_said(words in "[0-9./:' -]{1,12}( [a-z]{2,6})?( [0-9:]{1,5})?") {
            for kind in [SlotKind::Integer, SlotKind::Date, SlotKind::Moment] {
                for tag in ["en", "de"] {
                    let _ = read_at(&kind, tag, FRIDAY, "Europe/Berlin", &words);
                }
            }
        }
    }
}
