//! bincode, in one place: only for what can be thrown away.
//!
//! The format says nothing about itself, so bytes are decoded only where a header says that they were
//! written by the same code. It cannot carry everything serde can (`serde_json::Value`, untagged enums,
//! flattened fields): [`encode`] proves each value by a round trip and answers `None` where it fails.

use bincode::config::{Configuration, Limit};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Names this codec and its settings in a header. Changes whenever bytes would read differently.
pub const CODEC: &str = "bincode-2.0.1/standard";

/// The most bytes that an encoded value may have, and that decoding may claim: a damaged length can then
/// not ask for all memory.
pub const ENCODED_MAX_BYTES: usize = 16 * 1024 * 1024;

type Config =
    Configuration<bincode::config::LittleEndian, bincode::config::Varint, Limit<ENCODED_MAX_BYTES>>;

const CONFIG: Config = bincode::config::standard().with_limit::<ENCODED_MAX_BYTES>();

/// The bytes of a value, where they read back as the same bytes.
#[must_use]
pub fn encode<T: Serialize + DeserializeOwned>(value: &T) -> Option<Vec<u8>> {
    let bytes = bincode::serde::encode_to_vec(value, CONFIG).ok()?;
    if bytes.len() > ENCODED_MAX_BYTES {
        return None;
    }
    let again: T = decode(&bytes)?;
    let again = bincode::serde::encode_to_vec(&again, CONFIG).ok()?;
    (again == bytes).then_some(bytes)
}

/// The value of exactly these bytes.
#[must_use]
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, read) = bincode::serde::decode_from_slice(bytes, CONFIG).ok()?;
    (read == bytes.len()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn a_value_that_does_not_round_trip_is_not_encoded() {
        #[derive(Serialize, Deserialize)]
        struct Loose {
            value: serde_json::Value,
        }
        #[derive(Serialize, Deserialize)]
        #[serde(untagged)]
        enum Untagged {
            Number(u32),
        }
        assert!(encode(&Loose { value: serde_json::json!({"a": 1}) }).is_none());
        assert!(encode(&Untagged::Number(1)).is_none());
        assert!(encode(&(7_u32, "seven".to_owned())).is_some());
    }

    #[test]
    fn bytes_that_are_too_short_or_too_long_decode_to_nothing() {
        let mut bytes = encode(&"text".to_owned()).expect("encoded");
        assert_eq!(decode::<String>(&bytes).as_deref(), Some("text"));
        bytes.push(0);
        assert!(decode::<String>(&bytes).is_none());
        bytes.truncate(3);
        assert!(decode::<String>(&bytes).is_none());
        assert!(decode::<String>(&[]).is_none());
    }

    #[test]
    fn a_length_beyond_all_memory_is_refused_before_it_is_allocated() {
        let length = bincode::serde::encode_to_vec(u64::MAX / 2, bincode::config::standard());
        assert!(decode::<Vec<u64>>(&length.expect("encoded")).is_none());
    }
}
