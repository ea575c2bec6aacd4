//! Names that are written down in code.

use std::str::FromStr;

use turnframe_core::id::IdError;

/// A name from a literal: `literal::<AccountId>("acme")`. For tests and declarations, never for input.
///
/// # Panics
/// When the text is outside the alphabet of names: a mistake of whoever wrote it down.
#[must_use]
#[track_caller]
pub fn literal<T: FromStr<Err = IdError>>(text: &str) -> T {
    text.parse().expect("a literal name is within the alphabet of names")
}

#[cfg(test)]
mod tests {
    use turnframe_core::id::AccountId;

    use super::*;

    #[test]
    fn a_literal_keeps_its_text() {
        assert_eq!(literal::<AccountId>("acme").as_str(), "acme");
    }
}
