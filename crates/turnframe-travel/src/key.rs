//! Keys that this crate writes as literals.

use std::str::FromStr;

use turnframe_core::id::IdError;

/// A key from a literal of this crate.
pub(crate) fn literal<K: FromStr<Err = IdError>>(name: &'static str) -> K {
    name.parse().expect("a literal key is within the alphabet of names")
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_core::id::OperationKey;

    #[test]
    fn a_literal_keeps_its_text() {
        assert_eq!(literal::<OperationKey>("set_date").as_str(), "set_date");
    }
}
