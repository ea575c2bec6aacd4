//! What an answer comes to, by what was declared. Pure.

use reqwest::header::HeaderMap;
use serde_json::Value;
use turnframe_core::canonical::Json;
use turnframe_runtime::port::{Dispatched, Reconciled};

use super::declaration::{Answers, Code, Meaning, Reading, Reference, When};
use crate::said::is_name;

/// An answer as it came. Its body is what could be read of it as JSON, or why it could not be.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Result<Value, String>,
}

/// What came of an attempt.
pub(super) fn dispatched(answers: &Answers, answer: &Answer, key: &str) -> Dispatched {
    let meaning = meaning(answers, answer);
    let said = meaning.and_then(|meaning| match meaning {
        Meaning::Accepted | Meaning::Rejected => verdict(&answers.reading, meaning, answer, key),
        Meaning::NotSent => {
            Ok(Dispatched::NotSent { reason: format!("it was turned away ({})", answer.status) })
        }
        Meaning::NotFound => Err("an attempt is not looked up".to_owned()),
    });
    said.unwrap_or_else(|reason| Dispatched::Unknown { reason: told(answer, &reason) })
}

/// What came of a look-up.
pub(super) fn reconciled(answers: &Answers, answer: &Answer, key: &str) -> Reconciled {
    let meaning = meaning(answers, answer);
    let found = meaning.and_then(|meaning| match meaning {
        Meaning::Accepted | Meaning::Rejected => {
            verdict(&answers.reading, meaning, answer, key).map(Reconciled::Found)
        }
        Meaning::NotFound => Ok(Reconciled::NotFound),
        Meaning::NotSent => Err("a look-up sends nothing".to_owned()),
    });
    found.unwrap_or_else(|reason| Reconciled::StillUnknown { reason: told(answer, &reason) })
}

/// What all declarations that an answer fits say of it.
fn meaning(answers: &Answers, answer: &Answer) -> Result<Meaning, String> {
    let mut met = answers.rules.iter().filter(|(when, _)| meets(answer, when));
    let Some((_, meaning)) = met.next() else {
        let why = answer.body.as_ref().err().map(|why| format!(" ({why})")).unwrap_or_default();
        return Err(format!("no declaration says what it means{why}"));
    };
    if met.all(|(_, other)| other == meaning) {
        Ok(*meaning)
    } else {
        Err("declarations that contradict one another say what it means".to_owned())
    }
}

fn meets(answer: &Answer, when: &When) -> bool {
    let has_header = |name: &String| answer.headers.contains_key(name);
    let has_field = |(pointer, value): &(String, Value)| {
        answer.body.as_ref().is_ok_and(|body| body.pointer(pointer) == Some(value))
    };
    answer.status == when.status
        && when.header.as_ref().is_none_or(has_header)
        && when.field.as_ref().is_none_or(has_field)
}

fn verdict(
    reading: &Reading,
    meaning: Meaning,
    answer: &Answer,
    key: &str,
) -> Result<Dispatched, String> {
    let details = details(reading, answer)?;
    if meaning == Meaning::Rejected {
        let code = match &reading.code {
            Code::At(pointer) => named(answer, pointer, "code")?,
            Code::Status => answer.status.to_string(),
        };
        return Ok(Dispatched::Rejected { code, details });
    }
    let reference = match &reading.reference {
        Reference::At(pointer) => named(answer, pointer, "reference")?,
        Reference::Key => key.to_owned(),
    };
    Ok(Dispatched::Accepted { reference, details })
}

fn named(answer: &Answer, pointer: &str, what: &str) -> Result<String, String> {
    let body = answer.body.as_ref().map_err(|why| format!("the {what} is missing: {why}"))?;
    let named = body.pointer(pointer).and_then(name);
    named
        .ok_or_else(|| format!("the {what} is missing, blank, too long or has a control character"))
}

/// A name that stands in an answer as text or as a whole number.
pub(super) fn name(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            return None;
        }
    };
    is_name(&text).then_some(text)
}

fn details(reading: &Reading, answer: &Answer) -> Result<Json, String> {
    let kept = reading.details.as_ref().zip(answer.body.as_ref().ok());
    let kept = kept.and_then(|(pointer, body)| body.pointer(pointer));
    kept.map_or_else(|| Ok(Json::default()), |kept| Json::of(kept).map_err(|it| it.to_string()))
}

fn told(answer: &Answer, reason: &str) -> String {
    format!("answered with {}: {reason}", answer.status)
}
