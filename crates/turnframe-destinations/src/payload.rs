//! What an effect's payload becomes where it leaves the house.
//!
//! On the ledger a personal value stands in a part of its own, and in a payload in memory in a wrapper that names whose
//! it is. Here, and nowhere before, the wrapper goes. A payload of which somebody was erased is not sent without them:
//! it would ask for something else.
//!
//! **Never:** a value in an error. Errors reach an operator's log.

use serde::Deserialize;
use serde_json::{Map, Value};
use turnframe_core::personal::Personal;
use turnframe_runtime::port::Delivery;

/// The key of a personal value's wrapper, see [`turnframe_core::personal`].
const MARKER: &str = "$personal";

/// Why a payload cannot be sent. Nothing of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// Somebody it is about was erased while it waited.
    #[error("a personal value was erased before it was sent")]
    Erased,
    /// It is not of the shape that is sent.
    #[error("the payload does not have the expected shape")]
    Shape,
}

/// The payload as it goes over the wire: each personal value in the place of its wrapper.
///
/// # Errors
/// [`PayloadError::Erased`] when a personal value is gone, [`PayloadError::Shape`] when a wrapper cannot be read.
pub fn plain(delivery: &Delivery) -> Result<Value, PayloadError> {
    let mut value: Value = delivery.payload.read().map_err(|_| PayloadError::Shape)?;
    unwrap_within(&mut value)?;
    Ok(value)
}

fn unwrap_within(value: &mut Value) -> Result<(), PayloadError> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(unwrap_within),
        Value::Object(map) if map.contains_key(MARKER) => {
            *value = personal(map)?;
            Ok(())
        }
        Value::Object(map) => map.values_mut().try_for_each(unwrap_within),
    }
}

fn personal(map: &Map<String, Value>) -> Result<Value, PayloadError> {
    let personal = Personal::<Value>::deserialize(map).map_err(|_| PayloadError::Shape)?;
    personal.value().cloned().ok_or(PayloadError::Erased)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use turnframe_core::canonical::Json;
    use turnframe_core::id::{EffectId, SubjectId};

    use super::*;

    fn delivery(payload: &Value) -> Delivery {
        Delivery {
            effect: EffectId::from_uuid(uuid::Uuid::from_u64_pair(0, 1)),
            attempt: 1,
            operation: "order".to_owned(),
            payload: Json::of(payload).expect("JSON"),
        }
    }

    fn name(value: Option<&str>) -> Value {
        let subject = SubjectId::new("s-1").expect("a subject");
        let personal = match value {
            Some(value) => Personal::known(subject, value),
            None => Personal::Erased { subject },
        };
        serde_json::to_value(personal).expect("JSON")
    }

    #[test]
    fn names_leave_their_wrappers_wherever_they_stand() {
        let payload = json!({"who": [name(Some("Ada")), {"also": name(Some("Ben"))}], "count": 2});
        let plain = plain(&delivery(&payload)).expect("a payload");
        assert_eq!(plain, json!({"who": ["Ada", {"also": "Ben"}], "count": 2}));
    }

    #[test]
    fn a_payload_of_which_somebody_was_erased_is_not_sent_without_them() {
        let payload = json!({"who": [name(Some("Ada")), name(None)]});
        assert_eq!(plain(&delivery(&payload)), Err(PayloadError::Erased));
        let broken = json!({"who": {"$personal": "Ada"}});
        let refused = plain(&delivery(&broken)).expect_err("no wrapper");
        assert!(!refused.to_string().contains("Ada"), "{refused}");
    }
}
