//! The two languages of the desk, and what both workflows say in them alike.

use jiff::civil::{Date, DateTime};
use turnframe_core::id::Locale;
use turnframe_core::text::Text;

use crate::key::literal;

const ENGLISH_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];

/// A language that everything of the desk is worded in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
}

impl Language {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::German];

    /// The language of a locale; English where the desk does not speak it.
    pub(crate) fn of(locale: &Locale) -> Self {
        if locale.language().eq_ignore_ascii_case("de") { Self::German } else { Self::English }
    }

    pub(crate) fn locale(self) -> Locale {
        literal(match self {
            Self::English => "en",
            Self::German => "de",
        })
    }

    /// A date as people write it: `3 May 2026`, `3. Mai 2026`.
    pub(crate) fn date(self, date: Date) -> String {
        let (day, year) = (date.day(), date.year());
        let month = usize::try_from(date.month() - 1).unwrap_or_default();
        match self {
            Self::English => format!("{day} {} {year}", ENGLISH_MONTHS[month]),
            Self::German => format!("{day}. {} {year}", GERMAN_MONTHS[month]),
        }
    }

    /// A civil date and time: `3 May 2026, 14:30`.
    pub(crate) fn moment(self, civil: DateTime) -> String {
        format!("{}, {:02}:{:02}", self.date(civil.date()), civil.hour(), civil.minute())
    }

    /// `a`, `a and b`, `a and 2 others`.
    pub(crate) fn people(self, names: &[Text]) -> Text {
        let (and, others) = match self {
            Self::English => (" and ", " others"),
            Self::German => (" und ", " weitere"),
        };
        match names {
            [] => Text::new(),
            [one] => one.clone(),
            [one, two] => one.clone().plain(and).text(two),
            [one, rest @ ..] => one.clone().plain(format!("{and}{}{others}", rest.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn an_austrian_reads_german_and_a_stranger_english() {
        let of = |tag: &str| Language::of(&Locale::new(tag).expect("locale"));
        assert_eq!(of("de-AT"), Language::German);
        assert_eq!(of("DE"), Language::German);
        assert_eq!(of("en-GB"), Language::English);
        assert_eq!(of("pt"), Language::English);
    }

    #[test]
    fn dates_read_as_people_write_them() {
        let moment = date(2026, 3, 9).at(7, 5, 0, 0);
        assert_eq!(Language::English.moment(moment), "9 March 2026, 07:05");
        assert_eq!(Language::German.moment(moment), "9. März 2026, 07:05");
        assert_eq!(Language::German.date(date(2026, 12, 31)), "31. Dezember 2026");
    }

    #[test]
    fn a_list_of_people_stays_short() {
        let names = ["Ada", "Ben", "Cleo"].map(Text::from);
        assert_eq!(Language::English.people(&names[..1]).to_string(), "Ada");
        assert_eq!(Language::English.people(&names[..2]).to_string(), "Ada and Ben");
        assert_eq!(Language::German.people(&names).to_string(), "Ada und 2 weitere");
    }
}
