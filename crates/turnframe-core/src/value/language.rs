//! What English and German call numbers, months, days and hours.

use jiff::civil::Weekday;

use crate::id::Locale;

/// How a language writes values.
#[derive(Debug)]
pub(super) struct Language {
    /// The mark between groups of three digits.
    pub(super) grouping: char,
    /// Small numbers.
    pub(super) numbers: &'static [(&'static str, i64)],
    /// Phrases that mean one more.
    pub(super) one_more: &'static [&'static [&'static str]],
    /// The word before a negative number.
    pub(super) minus: &'static str,
    /// Articles, which name nothing by themselves.
    pub(super) articles: &'static [&'static str],
    /// Words that may stand before a date or an hour and say nothing.
    pub(super) before_date: &'static [&'static str],
    /// The same for an hour.
    pub(super) before_time: &'static [&'static str],
    /// What may stand between a day and its month.
    pub(super) of: &'static [&'static str],
    /// Endings of ordinal digits.
    pub(super) ordinals: &'static [&'static str],
    /// Months, full and short.
    pub(super) months: &'static [(&'static str, i8)],
    /// Whether a month may stand before its day.
    pub(super) is_month_first: bool,
    /// Whether digits with dots are a day and then a month.
    pub(super) has_dotted_dates: bool,
    /// Days of the week, full and short.
    pub(super) weekdays: &'static [(&'static str, Weekday)],
    /// Words before a weekday that mean the coming one.
    pub(super) coming: &'static [&'static str],
    /// Words before a weekday of which people do not agree whether they skip one.
    pub(super) next: &'static [&'static str],
    /// Days counted from today.
    pub(super) days: &'static [(&'static [&'static str], i64)],
    /// The word before a number of days from today.
    pub(super) within: &'static [&'static str],
    /// Units of such a number, in days.
    pub(super) units: &'static [(&'static str, i64)],
    /// Morning and afternoon.
    pub(super) halves: &'static [(&'static [&'static str], bool)],
    /// What follows a full hour.
    pub(super) hours: &'static [&'static [&'static str]],
    /// Whether a bare `2:30` is of a clock of twenty-four hours.
    pub(super) counts_to_24: bool,
    /// Twelve at noon.
    pub(super) noon: &'static [&'static str],
    /// Twelve at night, which belongs to either day.
    pub(super) midnight: &'static [&'static str],
}

impl Language {
    /// The language of a locale, where it is read at all.
    pub(super) fn of(locale: &Locale) -> Option<&'static Self> {
        let language = locale.language();
        let is = |name: &str| language.eq_ignore_ascii_case(name);
        if is("en") {
            Some(&ENGLISH)
        } else if is("de") {
            Some(&GERMAN)
        } else {
            None
        }
    }
}

static ENGLISH: Language = Language {
    grouping: ',',
    numbers: &[
        ("zero", 0),
        ("a", 1),
        ("an", 1),
        ("another", 1),
        ("one", 1),
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("thirteen", 13),
        ("fourteen", 14),
        ("fifteen", 15),
        ("sixteen", 16),
        ("seventeen", 17),
        ("eighteen", 18),
        ("nineteen", 19),
        ("twenty", 20),
    ],
    one_more: &[&["one", "more"], &["another", "one"]],
    minus: "minus",
    articles: &["a", "an", "the"],
    before_date: &["on", "the"],
    before_time: &["at"],
    of: &["of"],
    ordinals: &["st", "nd", "rd", "th"],
    months: &[
        ("january", 1),
        ("jan", 1),
        ("february", 2),
        ("feb", 2),
        ("march", 3),
        ("mar", 3),
        ("april", 4),
        ("apr", 4),
        ("may", 5),
        ("june", 6),
        ("jun", 6),
        ("july", 7),
        ("jul", 7),
        ("august", 8),
        ("aug", 8),
        ("september", 9),
        ("sept", 9),
        ("sep", 9),
        ("october", 10),
        ("oct", 10),
        ("november", 11),
        ("nov", 11),
        ("december", 12),
        ("dec", 12),
    ],
    is_month_first: true,
    has_dotted_dates: false,
    weekdays: &[
        ("monday", Weekday::Monday),
        ("mon", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("tues", Weekday::Tuesday),
        ("tue", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("wed", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("thurs", Weekday::Thursday),
        ("thu", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("fri", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sat", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
        ("sun", Weekday::Sunday),
    ],
    coming: &["this", "coming"],
    next: &["next"],
    days: &[
        (&["the", "day", "after", "tomorrow"], 2),
        (&["day", "after", "tomorrow"], 2),
        (&["tomorrow"], 1),
        (&["today"], 0),
        (&["yesterday"], -1),
    ],
    within: &["in"],
    units: &[("day", 1), ("days", 1), ("week", 7), ("weeks", 7)],
    halves: &[
        (&["am"], false),
        (&["a", "m"], false),
        (&["in", "the", "morning"], false),
        (&["pm"], true),
        (&["p", "m"], true),
        (&["in", "the", "afternoon"], true),
        (&["in", "the", "evening"], true),
    ],
    hours: &[&["o", "clock"], &["oclock"]],
    counts_to_24: false,
    noon: &["noon", "midday"],
    midnight: &["midnight"],
};

static GERMAN: Language = Language {
    grouping: '.',
    numbers: &[
        ("null", 0),
        ("eins", 1),
        ("ein", 1),
        ("eine", 1),
        ("einen", 1),
        ("einem", 1),
        ("einer", 1),
        ("eines", 1),
        ("zwei", 2),
        ("zwo", 2),
        ("drei", 3),
        ("vier", 4),
        ("fünf", 5),
        ("sechs", 6),
        ("sieben", 7),
        ("acht", 8),
        ("neun", 9),
        ("zehn", 10),
        ("elf", 11),
        ("zwölf", 12),
        ("dreizehn", 13),
        ("vierzehn", 14),
        ("fünfzehn", 15),
        ("sechzehn", 16),
        ("siebzehn", 17),
        ("achtzehn", 18),
        ("neunzehn", 19),
        ("zwanzig", 20),
    ],
    one_more: &[
        &["noch", "ein"],
        &["noch", "eine"],
        &["noch", "einen"],
        &["noch", "eins"],
        &["ein", "weiterer"],
        &["ein", "weiteres"],
        &["eine", "weitere"],
        &["einen", "weiteren"],
    ],
    minus: "minus",
    articles: &[
        "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "eines",
    ],
    before_date: &["am", "zum", "den", "dem", "der"],
    before_time: &["um"],
    of: &[],
    ordinals: &["te", "ten", "ter"],
    months: &[
        ("januar", 1),
        ("jänner", 1),
        ("jan", 1),
        ("jän", 1),
        ("februar", 2),
        ("feber", 2),
        ("feb", 2),
        ("märz", 3),
        ("maerz", 3),
        ("mär", 3),
        ("mrz", 3),
        ("april", 4),
        ("apr", 4),
        ("mai", 5),
        ("juni", 6),
        ("juno", 6),
        ("jun", 6),
        ("juli", 7),
        ("jul", 7),
        ("august", 8),
        ("aug", 8),
        ("september", 9),
        ("sept", 9),
        ("sep", 9),
        ("oktober", 10),
        ("okt", 10),
        ("november", 11),
        ("nov", 11),
        ("dezember", 12),
        ("dez", 12),
    ],
    is_month_first: false,
    has_dotted_dates: true,
    weekdays: &[
        ("montag", Weekday::Monday),
        ("mo", Weekday::Monday),
        ("dienstag", Weekday::Tuesday),
        ("di", Weekday::Tuesday),
        ("mittwoch", Weekday::Wednesday),
        ("mi", Weekday::Wednesday),
        ("donnerstag", Weekday::Thursday),
        ("do", Weekday::Thursday),
        ("freitag", Weekday::Friday),
        ("fr", Weekday::Friday),
        ("samstag", Weekday::Saturday),
        ("sonnabend", Weekday::Saturday),
        ("sa", Weekday::Saturday),
        ("sonntag", Weekday::Sunday),
        ("so", Weekday::Sunday),
    ],
    coming: &["diesen", "dieser", "diesem", "kommenden", "kommender", "kommendem"],
    next: &["nächsten", "nächster", "nächstem", "naechsten"],
    days: &[
        (&["übermorgen"], 2),
        (&["uebermorgen"], 2),
        (&["morgen"], 1),
        (&["heute"], 0),
        (&["gestern"], -1),
    ],
    within: &["in"],
    units: &[("tag", 1), ("tagen", 1), ("woche", 7), ("wochen", 7)],
    halves: &[
        (&["morgens"], false),
        (&["vormittags"], false),
        (&["nachmittags"], true),
        (&["abends"], true),
    ],
    hours: &[&["uhr"]],
    counts_to_24: true,
    noon: &["mittags"],
    midnight: &["mitternacht"],
};
