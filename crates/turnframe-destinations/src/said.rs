//! What a receiver calls a thing, as far as it can be kept.

use turnframe_runtime::effect::REFERENCE_MAX_CHARS;

/// A reference or a code: a line of visible characters, at most [`REFERENCE_MAX_CHARS`].
pub(crate) fn is_name(text: &str) -> bool {
    let is_short = text.chars().count() <= REFERENCE_MAX_CHARS;
    is_short && !text.trim().is_empty() && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_short_visible_line() {
        assert!(is_name(&"ä".repeat(REFERENCE_MAX_CHARS)));
        for none in ["", " ", "a\0", "a\r\nb"] {
            assert!(!is_name(none), "{none:?}");
        }
        assert!(!is_name(&"ä".repeat(REFERENCE_MAX_CHARS + 1)));
    }
}
