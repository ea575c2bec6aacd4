//! Bodies: JSON of a documented shape, or a refusal before anything is written.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use turnframe_actors::TurnInput;
use turnframe_core::id::{CaseRevision, ConversationId, IdError, TurnId};
use turnframe_core::interaction::InteractionResponse;

use crate::problem::Problem;
use crate::routes::App;

/// Fields that are not documented. They are named apart from wrong types, so that a client that posts a
/// receipt or an approval learns that this is not its to say.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
struct Unknown(BTreeMap<String, IgnoredAny>);

impl Unknown {
    fn refuse(&self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::UNKNOWN_FIELD) }
    }
}

/// The body that opens a conversation.
#[derive(Debug, Deserialize)]
pub(crate) struct OpenBody {
    id: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl OpenBody {
    /// The id that the client chose.
    pub(crate) fn read(self) -> Result<Option<ConversationId>, Problem> {
        self.unknown.refuse()?;
        self.id.map(id).transpose()
    }
}

/// The body of a turn.
#[derive(Debug, Deserialize)]
pub(crate) struct TurnBody {
    turn: Option<String>,
    text: Option<String>,
    response: Option<ResponseBody>,
    origin: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

#[derive(Debug, Deserialize)]
struct ResponseBody {
    interaction: String,
    option: String,
    expected_revision: u64,
    value: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TurnBody {
    /// The turn that the client named, and what it says.
    pub(crate) fn read(self) -> Result<(Option<TurnId>, TurnInput), Problem> {
        self.unknown.refuse()?;
        let turn = self.turn.map(id).transpose()?;
        let response = self.response.map(ResponseBody::read).transpose()?;
        Ok((turn, TurnInput { text: self.text, response, origin: self.origin }))
    }
}

impl ResponseBody {
    fn read(self) -> Result<InteractionResponse, Problem> {
        self.unknown.refuse()?;
        Ok(InteractionResponse {
            interaction: id(self.interaction)?,
            option: id(self.option)?,
            expected_revision: CaseRevision(self.expected_revision),
            value: self.value,
        })
    }
}

fn id<T: std::str::FromStr<Err = IdError>>(text: String) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::INVALID_ID)
}

/// The body of a request, within its limits of size and time.
pub(crate) async fn arriving(request: Request, app: &Arc<App>) -> Result<Bytes, Problem> {
    let arriving = Bytes::from_request(request, app);
    let arrived = tokio::time::timeout(app.limits.body_wait, arriving).await;
    let body = arrived.map_err(|_| Problem::BODY_TIMEOUT)?;
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::BODY_TOO_LARGE,
        _ => Problem::MALFORMED_JSON,
    })
}

/// A JSON body.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::UNSUPPORTED_MEDIA_TYPE);
        }
        parse(&arriving(request, app).await?).map(Self)
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    use serde_json::error::Category;
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => Problem::WRONG_SHAPE,
        Category::Syntax | Category::Eof | Category::Io => Problem::MALFORMED_JSON,
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = |value: &str| value.split(';').next().unwrap_or_default().trim().to_owned();
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.map(essence).is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<(Option<TurnId>, TurnInput), &'static str> {
        let read = parse::<TurnBody>(body.as_bytes()).and_then(TurnBody::read);
        read.map_err(|problem| problem.code())
    }

    /// A value nested so deep in a field that is not known.
    fn nested(depth: usize) -> String {
        format!(r#"{{"x":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn a_turn_is_read_from_its_documented_fields() {
        let card = "01890000-0000-7000-8000-000000000001";
        let body = format!(
            r#"{{"turn":"t1","text":"hi","response":{{"interaction":"{card}","option":"yes","expected_revision":3,"value":"v"}},"origin":"loan-7"}}"#
        );
        let (turn, input) = read(&body).expect("read");
        assert_eq!(turn.expect("turn").as_str(), "t1");
        assert_eq!(input.text.as_deref(), Some("hi"));
        assert_eq!(input.origin.as_deref(), Some("loan-7"));
        let response = input.response.expect("response");
        assert_eq!(response.interaction.to_string(), card);
        assert_eq!(response.option.as_str(), "yes");
        assert_eq!(response.expected_revision, CaseRevision(3));
        assert_eq!(response.value.as_deref(), Some("v"));
        assert_eq!(read("{}"), Ok((None, TurnInput::default())));
    }

    #[test]
    fn case_21_what_is_not_a_clients_to_say_is_refused() {
        let card = "01890000-0000-7000-8000-000000000001";
        let click = format!(
            r#"{{"response":{{"interaction":"{card}","option":"yes","expected_revision":3,"command":{{"amount":1000}}}}}}"#
        );
        for body in [
            r#"{"text":"hi","blocks":[{"type":"receipt","status":"accepted"}]}"#,
            r#"{"text":"hi","approved":true}"#,
            r#"{"text":"hi","account":"other"}"#,
            r#"{"text":"hi","actor":{"account":"other","actor":"eve"}}"#,
            &click,
        ] {
            assert_eq!(read(body), Err("unknown_field"), "{body}");
        }
    }

    #[test]
    fn bodies_that_are_no_json_or_of_another_shape_are_told_apart() {
        for body in ["", "{", "nul", "{\"text\":\"\\ud800\"}", "{\"text\":\"\\udc00x\"}", "{} {}"] {
            assert_eq!(read(body), Err("malformed_json"), "{body}");
        }
        assert_eq!(parse::<TurnBody>(b"{\"text\":\"\xff\"}").err(), Some(Problem::MALFORMED_JSON));
        for body in [
            "[]",
            "1",
            r#"{"text":1}"#,
            r#"{"text":"a","text":"b"}"#,
            r#"{"response":{"interaction":"x"}}"#,
            r#"{"response":{"interaction":"x","option":"y","expected_revision":-1}}"#,
        ] {
            assert_eq!(read(body), Err("wrong_shape"), "{body}");
        }
    }

    #[test]
    fn l15_identifiers_that_cannot_be_ones_are_refused() {
        for turn in ["", "a b", "a/b", "a\\u0000b", "ä", &"x".repeat(97)] {
            assert_eq!(read(&format!(r#"{{"turn":"{turn}"}}"#)), Err("invalid_id"), "{turn}");
        }
        let click = r#"{"response":{"interaction":"7","option":"y","expected_revision":1}}"#;
        assert_eq!(read(click), Err("invalid_id"));
    }

    #[test]
    fn json_nests_at_most_128_deep() {
        assert_eq!(read(&nested(126)), Err("unknown_field"));
        assert_eq!(read(&nested(128)), Err("malformed_json"));
        assert_eq!(read(&nested(20_000)), Err("malformed_json"));
    }

    #[test]
    fn the_content_type_is_json_whatever_its_parameters() {
        let is_json = |value: Option<&str>| {
            let value = value.map(|value| (header::CONTENT_TYPE, value.parse().expect("value")));
            is_json(&value.into_iter().collect())
        };
        assert!(is_json(Some("application/json")));
        assert!(is_json(Some("Application/JSON; charset=utf-8")));
        for other in [None, Some(""), Some("text/plain"), Some("application/jsonp")] {
            assert!(!is_json(other), "{other:?}");
        }
    }
}
