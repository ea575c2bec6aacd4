//! What words a record takes: names, places and legs are short lines of visible characters.
//!
//! A message is checked before it is read, but a card's free value and an airline's answer come by other ways,
//! and a control character among them would stop at the ledger, after the decision (NUL) or in a log.

/// The longest line a record takes, in characters.
pub(crate) const LINE_MAX_CHARS: usize = 120;

/// Why words are no line of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFault {
    Blank,
    TooLong,
    Control,
}

/// Checks a line.
pub(crate) fn check_line(words: &str) -> Result<(), LineFault> {
    if words.trim().is_empty() {
        return Err(LineFault::Blank);
    }
    if words.chars().count() > LINE_MAX_CHARS {
        return Err(LineFault::TooLong);
    }
    if words.chars().any(char::is_control) { Err(LineFault::Control) } else { Ok(()) }
}

/// Words as a record keeps them: without space around them, and with one space between two.
pub(crate) fn tidy(words: &str) -> String {
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_visible_and_short() {
        assert_eq!(check_line("Lisbon"), Ok(()));
        assert_eq!(check_line(" \u{a0}"), Err(LineFault::Blank));
        assert_eq!(check_line("a\0b"), Err(LineFault::Control));
        assert_eq!(check_line(&"ä".repeat(LINE_MAX_CHARS)), Ok(()));
        assert_eq!(check_line(&"ä".repeat(LINE_MAX_CHARS + 1)), Err(LineFault::TooLong));
    }

    #[test]
    fn tidying_keeps_the_words_and_drops_the_space() {
        assert_eq!(tidy("  Ada \n Ferri "), "Ada Ferri");
    }
}
