//! Personal data: what an erasure takes away while order, identity and hashes stay verifiable.
//!
//! A [`Personal`] value names its subject. When a payload is sealed, every personal value leaves the facts and
//! becomes a part of its subject, with a salt and a commitment of its own; the payload's commitment covers
//! the parts' commitments. Erasing a subject empties value and salt in place, after which the value
//! reads as [`Personal::Erased`]: a fold over such events must be total over both.
//!
//! In memory and in HTTP a personal value is `{"$personal":{"subject":…,"value":…}}`; in sealed facts it is
//! `{"$personal":n}`, the n-th part. Keys that start with `$` are reserved, and sealing refuses others.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::canonical::{self, CanonicalError, Detour, Digest, Extracted, Writer};
use crate::id::SubjectId;
use crate::source::IdSource;

const MARKER: &str = "$personal";

/// A value about a person, or the place where it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Personal<T> {
    /// The value, and the person it is about.
    Known {
        /// Whom an erasure must name to take the value away.
        subject: SubjectId,
        /// The value.
        value: T,
    },
    /// The value was erased.
    Erased {
        /// Whose value it was.
        subject: SubjectId,
    },
}

impl<T> Personal<T> {
    /// A value about a person.
    pub fn known(subject: SubjectId, value: T) -> Self {
        Self::Known { subject, value }
    }

    /// Whose value this is.
    pub fn subject(&self) -> &SubjectId {
        match self {
            Self::Known { subject, .. } | Self::Erased { subject } => subject,
        }
    }

    /// The value, unless it was erased.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Known { value, .. } => Some(value),
            Self::Erased { .. } => None,
        }
    }

    /// The same person's value under a function.
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Personal<U> {
        match self {
            Self::Known { subject, value } => Personal::Known { subject, value: function(value) },
            Self::Erased { subject } => Personal::Erased { subject },
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Readable<T> {
    #[serde(rename = "$personal")]
    inner: Inner<T>,
}

#[derive(Serialize, Deserialize)]
struct Inner<T> {
    subject: SubjectId,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    value: Option<T>,
}

impl<T: Serialize> Serialize for Personal<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let inner = Inner { subject: self.subject().clone(), value: self.value() };
            Readable { inner }.serialize(serializer)
        } else {
            (self.subject(), self.value()).serialize(serializer)
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Personal<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (subject, value) = if deserializer.is_human_readable() {
            let readable = Readable::<T>::deserialize(deserializer)?;
            (readable.inner.subject, readable.inner.value)
        } else {
            <(SubjectId, Option<T>)>::deserialize(deserializer)?
        };
        Ok(match value {
            Some(value) => Self::Known { subject, value },
            None => Self::Erased { subject },
        })
    }
}

/// A part of a payload that is about one person.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Part {
    /// Whom the part is about.
    pub subject: SubjectId,
    /// Commits to salt and value; stays when both are erased.
    pub commitment: Digest,
    /// Salt and value, until they are erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<PartContent>,
}

/// What an erasure takes away.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PartContent {
    /// 16 random bytes in hexadecimal, so that a short value cannot be guessed from its commitment.
    pub salt: String,
    /// The canonical JSON of the value, as the very bytes that were committed to.
    pub value: Box<RawValue>,
}

impl PartContent {
    fn commitment(&self) -> Digest {
        Digest::of("tf.part.1", &[self.salt.as_bytes(), self.value.get().as_bytes()])
    }
}

/// A payload as the ledger stores it: facts, and beside them what can be erased.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// Canonical JSON without personal values.
    pub facts: Vec<u8>,
    /// Personal parts in the order in which the facts name them.
    pub parts: Vec<Part>,
}

/// Why a payload cannot be sealed or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The payload has no canonical JSON form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// A key that starts with `$` is not ours.
    #[error("the key {0:?} is reserved: keys of a payload must not start with '$'")]
    ReservedKey(String),
    /// Text that PostgreSQL cannot store; refused on every backend alike.
    #[error("text in a payload must not contain NUL")]
    Nul,
    /// The payload does not have the expected shape.
    #[error("the payload does not have the expected shape: {0}")]
    Shape(#[from] serde_json::Error),
    /// Facts name a part that is not there.
    #[error("the payload names a personal part that is not there")]
    MissingPart,
    /// A part does not match its commitment.
    #[error("a personal part does not match its commitment")]
    Commitment,
}

impl Sealed {
    /// Takes the personal values out of a payload and commits to each.
    ///
    /// # Errors
    /// [`SealError`] when the payload is not canonical JSON, uses a reserved key or contains NUL.
    pub fn seal<T: Serialize>(payload: &T, ids: &IdSource) -> Result<Self, SealError> {
        match Writer::extract(payload, MARKER) {
            Ok((facts, extracted)) => {
                let named =
                    extracted.into_iter().map(|part| Some((subject_of(&part)?, part.value)));
                // Not as this module writes them: the long way says what is wrong, or that nothing is.
                let Some(named) = named.collect::<Option<Vec<_>>>() else {
                    return Self::seal_value(serde_json::to_value(payload)?, ids);
                };
                let parts =
                    named.into_iter().map(|(subject, value)| committed(subject, value, ids));
                Ok(Self { facts, parts: parts.collect::<Result<_, _>>()? })
            }
            Err(Detour::Slow) => Self::seal_value(serde_json::to_value(payload)?, ids),
            Err(Detour::Nul) => Err(SealError::Nul),
            Err(Detour::Reserved(key)) => Err(SealError::ReservedKey(key)),
        }
    }

    /// The long way, over a tree: for what [`Writer`] does not know how to write, or what cannot be sealed.
    fn seal_value(mut value: Value, ids: &IdSource) -> Result<Self, SealError> {
        let mut parts = Vec::new();
        extract(&mut value, &mut parts, ids)?;
        Ok(Self { facts: canonical::bytes_of(&value)?, parts })
    }

    /// Puts the personal values that are left back into the facts and reads the payload.
    ///
    /// # Errors
    /// [`SealError`] when the payload does not have the expected shape.
    pub fn open<T: DeserializeOwned>(&self) -> Result<T, SealError> {
        if self.parts.is_empty() {
            return Ok(serde_json::from_slice(&self.facts)?);
        }
        let mut value: Value = serde_json::from_slice(&self.facts)?;
        restore(&mut value, &self.parts)?;
        Ok(serde_json::from_value(value)?)
    }

    /// Commits to the facts and to every part's commitment.
    #[must_use]
    pub fn commitment(&self) -> Digest {
        let mut hasher = canonical::Hasher::new("tf.payload.1");
        hasher.part(&self.facts);
        for part in &self.parts {
            hasher.part(part.subject.as_str().as_bytes()).part(part.commitment.as_bytes());
        }
        hasher.finish()
    }

    /// Checks each part that is still there against its own commitment.
    ///
    /// # Errors
    /// [`SealError::Commitment`] when a part was changed.
    pub fn verify_parts(&self) -> Result<(), SealError> {
        let intact = |part: &Part| {
            part.content.as_ref().is_none_or(|content| content.commitment() == part.commitment)
        };
        if self.parts.iter().all(intact) { Ok(()) } else { Err(SealError::Commitment) }
    }

    /// Takes away what is known about a subject. Says whether anything was there.
    pub fn erase(&mut self, subject: &SubjectId) -> bool {
        let mut erased = false;
        for part in self.parts.iter_mut().filter(|part| part.subject == *subject) {
            erased |= part.content.take().is_some();
        }
        erased
    }
}

fn extract(value: &mut Value, parts: &mut Vec<Part>, ids: &IdSource) -> Result<(), SealError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => refuse_nul(text),
        Value::Array(items) => items.iter_mut().try_for_each(|item| extract(item, parts, ids)),
        Value::Object(map) => {
            if let Some(inner) = map.get_mut(MARKER) {
                let part = part_of(inner.take(), ids)?;
                map.insert(MARKER.to_owned(), Value::from(parts.len()));
                parts.push(part);
                return if map.len() == 1 { Ok(()) } else { Err(reserved(MARKER)) };
            }
            extract_fields(map, parts, ids)
        }
    }
}

fn extract_fields(
    map: &mut Map<String, Value>,
    parts: &mut Vec<Part>,
    ids: &IdSource,
) -> Result<(), SealError> {
    for (key, field) in map.iter_mut() {
        refuse_nul(key)?;
        if key.starts_with('$') {
            return Err(reserved(key));
        }
        extract(field, parts, ids)?;
    }
    Ok(())
}

fn part_of(inner: Value, ids: &IdSource) -> Result<Part, SealError> {
    let inner: Inner<Value> = serde_json::from_value(inner)?;
    let value = inner.value.map(|value| {
        refuse_nul_within(&value)?;
        Ok::<_, SealError>(canonical::bytes_of(&value)?)
    });
    committed(inner.subject, value.transpose()?, ids)
}

fn subject_of(part: &Extracted) -> Option<SubjectId> {
    SubjectId::new(std::str::from_utf8(&part.subject).ok()?).ok()
}

fn committed(
    subject: SubjectId,
    value: Option<Vec<u8>>,
    ids: &IdSource,
) -> Result<Part, SealError> {
    let Some(value) = value else {
        // Nothing is left to commit to; the empty commitment says that it came in erased.
        return Ok(Part { subject, commitment: Digest::ZERO, content: None });
    };
    let value = RawValue::from_string(String::from_utf8_lossy(&value).into_owned())?;
    let content = PartContent { salt: canonical::to_hex(&ids.bytes::<16>()), value };
    Ok(Part { subject, commitment: content.commitment(), content: Some(content) })
}

fn restore(value: &mut Value, parts: &[Part]) -> Result<(), SealError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|item| restore(item, parts)),
        Value::Object(map) => {
            let Some(index) = map.get(MARKER) else {
                return map.values_mut().try_for_each(|field| restore(field, parts));
            };
            let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
            let part = index.and_then(|index| parts.get(index)).ok_or(SealError::MissingPart)?;
            let known =
                part.content.as_ref().map(|content| serde_json::from_str(content.value.get()));
            let inner = Inner::<Value> { subject: part.subject.clone(), value: known.transpose()? };
            map.insert(MARKER.to_owned(), serde_json::to_value(inner)?);
            Ok(())
        }
    }
}

/// Everybody whom a value names as the subject of a personal value.
pub(crate) fn subjects(value: &Value, found: &mut BTreeSet<SubjectId>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        Value::Array(items) => items.iter().for_each(|item| subjects(item, found)),
        Value::Object(map) => {
            let named = map.get(MARKER).and_then(|inner| inner.get("subject"));
            let named = named.and_then(Value::as_str).and_then(|name| SubjectId::new(name).ok());
            found.extend(named);
            map.values().for_each(|field| subjects(field, found));
        }
    }
}

fn reserved(key: &str) -> SealError {
    SealError::ReservedKey(key.to_owned())
}

fn refuse_nul(text: &str) -> Result<(), SealError> {
    if text.contains('\0') { Err(SealError::Nul) } else { Ok(()) }
}

fn refuse_nul_within(value: &Value) -> Result<(), SealError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => refuse_nul(text),
        Value::Array(items) => items.iter().try_for_each(refuse_nul_within),
        Value::Object(map) => map.iter().try_for_each(|(key, field)| {
            refuse_nul(key)?;
            refuse_nul_within(field)
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ids;
    use proptest::prelude::*;
    use serde_json::json;

    fn ada() -> SubjectId {
        SubjectId::new("s-ada").expect("subject")
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Event {
        page: u32,
        name: Personal<String>,
    }

    fn event() -> Event {
        Event { page: 7, name: Personal::known(ada(), "Ada Ferri".to_owned()) }
    }

    #[test]
    fn facts_hold_no_personal_value_and_opening_puts_it_back() {
        let sealed = Sealed::seal(&event(), &ids()).expect("sealed");
        assert_eq!(sealed.facts, br#"{"name":{"$personal":0},"page":7}"#);
        assert_eq!(sealed.open::<Event>().expect("opened"), event());
        sealed.verify_parts().expect("intact");
    }

    #[test]
    fn erasing_keeps_the_commitment_and_reads_as_erased() {
        let mut sealed = Sealed::seal(&event(), &ids()).expect("sealed");
        let before = sealed.commitment();
        assert!(sealed.erase(&ada()));
        assert!(!sealed.erase(&ada()), "a second erasure finds nothing");
        assert_eq!(sealed.commitment(), before);
        sealed.verify_parts().expect("an erased part cannot be wrong");
        let erased = Event { page: 7, name: Personal::Erased { subject: ada() } };
        assert_eq!(sealed.open::<Event>().expect("opened"), erased);
    }

    #[test]
    fn a_changed_part_is_noticed() {
        let mut sealed = Sealed::seal(&event(), &ids()).expect("sealed");
        if let Some(content) = &mut sealed.parts[0].content {
            content.value = RawValue::from_string("\"Eve\"".to_owned()).expect("JSON");
        }
        assert!(matches!(sealed.verify_parts(), Err(SealError::Commitment)));
    }

    #[test]
    fn case_36_nul_and_reserved_keys_are_refused_before_any_backend_sees_them() {
        let refused = |value: Value| Sealed::seal(&value, &ids()).expect_err("refused");
        assert!(matches!(refused(json!({"a": "x\0y"})), SealError::Nul));
        // A fraction is written the long way.
        assert!(matches!(refused(json!({"a": 0.5, "b": "x\0y"})), SealError::Nul));
        assert!(matches!(refused(json!({"a\0": 1})), SealError::Nul));
        assert!(matches!(refused(json!({"$other": 1})), SealError::ReservedKey(_)));
        let hidden = json!({"$personal": {"subject": "s", "value": "x\0"}});
        assert!(matches!(refused(hidden), SealError::Nul));
    }

    #[test]
    fn two_equal_values_have_different_commitments() {
        let ids = ids();
        let one = Sealed::seal(&event(), &ids).expect("sealed");
        let two = Sealed::seal(&event(), &ids).expect("sealed");
        assert_ne!(one.parts[0].commitment, two.parts[0].commitment);
    }

    /// Values as payloads have them, and as they should not: typed, nested, out of order, wrong.
    fn any_payload() -> impl Strategy<Value = Value> {
        let text = prop_oneof![any::<String>(), "[a-z]{0,4}"];
        let personal = (prop_oneof!["[a-z]{1,3}", "[a-z]\\\\"], any::<Option<i32>>(), text.clone())
            .prop_map(|(subject, shape, text)| match shape.map(|shape: i32| shape.rem_euclid(4)) {
                Some(0) => json!({ "$personal": { "subject": subject, "value": null } }),
                Some(1) => json!({ "$personal": { "subject": subject, "value": 1, "zzz": text } }),
                Some(_) => json!({ "$personal": { "subject": subject, "value": [text] } }),
                None => json!({ "$personal": { "subject": subject } }),
            });
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            text.prop_map(Value::from),
            personal.clone(),
            personal,
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            let key = prop_oneof![
                "[a-z]{0,2}",
                "[A\\\\\"\n \u{7f}]{0,3}",
                Just("$personal".to_owned()),
                Just("$x".to_owned())
            ];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(key, inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// Fields in an order that is not that of their names, as structs have them.
    #[derive(Debug, Clone, Serialize)]
    struct Unordered {
        name: Value,
        #[serde(flatten)]
        more: Value,
        age: Value,
    }

    fn both_ways<T: Serialize>(payload: &T) -> Result<(), TestCaseError> {
        let short = Sealed::seal(payload, &ids());
        let tree = serde_json::to_value(payload).expect("JSON");
        let long = Sealed::seal_value(tree, &ids());
        match (short, long) {
            (Ok(short), Ok(long)) => {
                prop_assert_eq!(&short.facts, &long.facts);
                prop_assert_eq!(short.commitment(), long.commitment());
                let parts = |sealed: &Sealed| serde_json::to_string(&sealed.parts).expect("JSON");
                prop_assert_eq!(parts(&short), parts(&long));
            }
            (short, long) => prop_assert_eq!(short.is_err(), long.is_err()),
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn the_short_way_seals_what_the_long_way_seals(
            name in any_payload(),
            more in proptest::collection::btree_map("[a-z]{1,2}", any_payload(), 0..3),
            age in any_payload(),
        ) {
            both_ways(&name)?;
            let more = Value::Object(more.into_iter().collect());
            both_ways(&Unordered { name, more, age })?;
        }
    }
}
