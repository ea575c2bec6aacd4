//! Canonical JSON (RFC 8785) and digests over it.
//!
//! What is hashed is stored as the very bytes that were hashed: an entry's payload, a card's payload, a
//! part of a person's data. Two values are equal exactly when their canonical bytes are.

mod writer;

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use self::writer::EXACT_MAX;
pub(crate) use self::writer::{Detour, Extracted, Writer};

/// A value that has no canonical JSON form.
#[derive(Debug, thiserror::Error)]
#[error("the value has no canonical JSON form: {0}")]
pub struct CanonicalError(#[from] serde_json::Error);

/// The canonical JSON bytes of a value.
///
/// # Errors
/// [`CanonicalError`] when the value cannot be JSON at all: a map whose keys are not strings, a number
/// that is not finite. Exact numbers belong in strings or integers of a minor unit.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    match Writer::text_of(value) {
        Ok(text) => Ok(text),
        Err(_) => Ok(bytes_of(&serde_json::to_value(value)?)?),
    }
}

/// Where keys are ASCII and numbers are integers that a double holds exactly, compact JSON in order of keys is
/// canonical already, at a fraction of the cost. A property test holds the two ways against each other.
pub(crate) fn bytes_of(value: &Value) -> serde_json::Result<Vec<u8>> {
    if is_plain(value) {
        serde_json::to_vec(value)
    } else {
        serde_json_canonicalizer::to_vec(value)
    }
}

fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => {
            number.as_i64().is_some_and(|number| number.unsigned_abs() <= EXACT_MAX)
        }
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(map) => map.iter().all(|(key, field)| key.is_ascii() && is_plain(field)),
    }
}

/// A value as its canonical JSON text: how commands and events travel where their types are erased.
///
/// Two are equal exactly when their values are. In JSON it is the value itself, in other formats its text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// The canonical text of a value.
    ///
    /// # Errors
    /// [`CanonicalError`] when the value cannot be JSON.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, CanonicalError> {
        Ok(Self::of_bytes(&to_bytes(value)?))
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        Self(Arc::from(String::from_utf8_lossy(bytes)))
    }

    /// Reads the value.
    ///
    /// # Errors
    /// [`CanonicalError`] when the value does not have the expected shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CanonicalError> {
        Ok(serde_json::from_str(&self.0)?)
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object that says nothing.
    #[must_use]
    pub fn is_empty_object(&self) -> bool {
        &*self.0 == "{}"
    }
}

impl Default for Json {
    /// An object that says nothing.
    fn default() -> Self {
        Self(Arc::from("{}"))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let raw: &RawValue =
                serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
            raw.serialize(serializer)
        } else {
            serializer.serialize_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let value = Value::deserialize(deserializer)?;
            bytes_of(&value).map(|it| Self::of_bytes(&it)).map_err(serde::de::Error::custom)
        } else {
            String::deserialize(deserializer).map(|text| Self(Arc::from(text)))
        }
    }
}

/// A SHA-256 digest; hexadecimal in JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The start of every stream's chain.
    pub const ZERO: Self = Self([0; 32]);

    /// Wraps bytes that a ledger returned.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Digests parts under a domain label. Each part is preceded by its length, so that no two lists
    /// of parts read alike.
    #[must_use]
    pub fn of(label: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = Hasher::new(label);
        for part in parts {
            hasher.part(part);
        }
        hasher.finish()
    }
}

/// Digests parts one after another; see [`Digest::of`].
#[derive(Debug, Clone)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Starts under a domain label.
    #[must_use]
    pub fn new(label: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.part(label.as_bytes());
        hasher
    }

    /// Adds a part, preceded by its length in 8 bytes, big-endian.
    pub fn part(&mut self, part: &[u8]) -> &mut Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part);
        self
    }

    /// The digest of all parts.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Lower-case hexadecimal.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads exactly `N` bytes of lower- or upper-case hexadecimal.
#[must_use]
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    let text = text.as_bytes();
    if text.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = (digit(pair[0])? << 4) | digit(pair[1])?;
    }
    Some(bytes)
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.serialize_str(&to_hex(&self.0))
        } else {
            self.0.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
            from_hex(&text)
                .map(Self)
                .ok_or_else(|| serde::de::Error::custom("not a SHA-256 digest"))
        } else {
            <[u8; 32]>::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn canonical_json_is_rfc_8785() {
        let value = json!({"b": 1.0, "a": ["\u{20ac}", "\n", 1e21, 0.000001], "\u{fb33}": 1, "\u{1f600}": 2});
        let text = String::from_utf8(to_bytes(&value).expect("canonical")).expect("UTF-8");
        // Keys sort by UTF-16 code units, so the emoji (a surrogate pair) precedes U+FB33.
        let expected =
            "{\"a\":[\"\u{20ac}\",\"\\n\",1e+21,0.000001],\"b\":1,\"\u{1f600}\":2,\"\u{fb33}\":1}";
        assert_eq!(text, expected);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let number = prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1000_i64..1000).prop_map(Value::from),
            proptest::num::f64::NORMAL.prop_map(Value::from),
        ];
        let text = prop_oneof![any::<String>(), "[\\x00-\\x7f]{0,8}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            number,
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            let key = prop_oneof![any::<String>(), "[A\\\\\"\n \u{7f}]{0,3}", "[a-zA-Z_]{0,6}"];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                proptest::collection::btree_map(key, inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_short_way_writes_what_rfc_8785_writes(value in any_json()) {
            let expected = serde_json_canonicalizer::to_vec(&value).expect("canonical");
            prop_assert_eq!(to_bytes(&value).expect("canonical"), expected);
        }
    }

    #[test]
    fn a_value_that_holds_erased_json_has_a_canonical_form_too() {
        let inner = Json::of(&json!({"b": 1, "a": 2})).expect("canonical");
        let outer = Json::of(&json!({"inner": inner})).expect("canonical");
        assert_eq!(outer.as_str(), r#"{"inner":{"a":2,"b":1}}"#);
        let typed: std::collections::BTreeMap<String, Json> = outer.read().expect("read");
        assert_eq!(typed["inner"], inner);
        assert_eq!(Json::of(&typed).expect("canonical"), outer);
    }

    #[test]
    fn no_two_lists_of_parts_read_alike() {
        assert_ne!(Digest::of("t", &[b"ab", b"c"]), Digest::of("t", &[b"a", b"bc"]));
        assert_ne!(Digest::of("t", &[b"ab"]), Digest::of("t", &[b"ab", b""]));
        assert_ne!(Digest::of("t", &[b"ab"]), Digest::of("ta", &[b"b"]));
    }

    #[test]
    fn a_digest_reads_back_from_its_own_text() {
        let digest = Digest::of("t", &[b"x"]);
        let text = serde_json::to_string(&digest).expect("JSON");
        assert_eq!(serde_json::from_str::<Digest>(&text).expect("digest"), digest);
        assert!(serde_json::from_str::<Digest>("\"00\"").is_err());
    }
}
