//! Refusals as RFC 9457 problems: a stable code, a safe sentence, and what to do next.
//!
//! A problem's type is the address of its own page, `/problems/{code}`. Its sentences are constants, so that
//! nothing a client or another account wrote can come back in them.

use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use turnframe_actors::{CallbackError, PostError, ResolveError};
use turnframe_core::id::TurnId;
use turnframe_runtime::port::CallbackRefusal;

use crate::forward::ELSEWHERE;

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// When to ask again where too much is waiting.
const RETRY_OVERLOADED: Duration = Duration::from_secs(1);
/// When to ask again where the ledger is away.
const RETRY_UNAVAILABLE: Duration = Duration::from_secs(2);

/// Why a request was not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: &'static str,
    retry_after: Option<Duration>,
    /// The turn that may have been accepted, so that it can be asked for again.
    turn: Option<TurnId>,
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<&'a TurnId>,
}

macro_rules! problems {
    ($($name:ident = $status:ident $code:literal, $title:literal, $detail:literal;)+) => {
        impl Problem {
            $(
                #[doc = $title]
                pub const $name: Self = Self::new(StatusCode::$status, $code, $title, $detail);
            )+

            /// Every problem there is.
            pub const ALL: &[Self] = &[$(Self::$name),+];
        }
    };
}

problems! {
    MALFORMED_JSON = BAD_REQUEST "malformed_json", "The body is not JSON",
        "Send UTF-8 JSON without lone surrogates, nested at most 128 deep. Nothing was written.";
    INVALID_ID = BAD_REQUEST "invalid_id", "An identifier cannot be one",
        "Names have 1 to 96 ASCII letters, digits, '.', '_', '-' or ':'; cards are UUIDs; positions are whole numbers. Nothing was written.";
    INVALID_PARAMETER = BAD_REQUEST "invalid_parameter", "A query parameter cannot be read",
        "Send 'after' and 'limit' as whole numbers; for effects, 'after' as it came in 'next'.";
    UNAUTHENTICATED = UNAUTHORIZED "unauthenticated", "No known token",
        "Send 'Authorization: Bearer' with a token of this server.";
    CALLBACK_UNSIGNED = FORBIDDEN "callback_unsigned", "The callback does not say who sent it",
        "Send webhook-id, webhook-timestamp and webhook-signature, each once. Nothing was written.";
    CALLBACK_SIGNATURE = FORBIDDEN "callback_signature", "The callback's signature does not fit",
        "Sign the bytes that are sent, with a secret that is valid now. Nothing was written.";
    CALLBACK_TIME = FORBIDDEN "callback_time", "The callback's time is outside the window",
        "Send a callback when it is signed, with the time of a clock that is right. Nothing was written.";
    NOT_FOUND = NOT_FOUND "not_found", "There is no such record",
        "Check the path and the identifiers. Nothing was written.";
    METHOD_NOT_ALLOWED = METHOD_NOT_ALLOWED "method_not_allowed", "This resource has no such method",
        "See the Allow header for the methods that it has.";
    BODY_TIMEOUT = REQUEST_TIMEOUT "body_timeout", "The body took too long to arrive",
        "Send the request again. Nothing was written.";
    BODY_TOO_LARGE = PAYLOAD_TOO_LARGE "body_too_large", "The body is too large",
        "Send a shorter body. Nothing was written.";
    UNSUPPORTED_MEDIA_TYPE = UNSUPPORTED_MEDIA_TYPE "unsupported_media_type", "The body is of another type",
        "Send 'Content-Type: application/json'. Nothing was written.";
    CALLBACK_REUSED = CONFLICT "callback_reused", "This callback's id stands for other content",
        "Repeat a callback with the very same content, or use a new id. Nothing was written.";
    CALLBACK_UNREADABLE = UNPROCESSABLE_ENTITY "callback_unreadable", "The callback cannot be read",
        "Send a verdict on an effect in the shape that was agreed on. Nothing was written.";
    EFFECT_CONCLUDED = CONFLICT "effect_concluded", "The effect is concluded",
        "Its receiver has spoken, or an operator has: there is nothing to decide. Nothing was written.";
    EFFECT_UNDER_WAY = CONFLICT "effect_under_way", "An attempt at the effect is on its way",
        "Decide once it has ended. Nothing was written.";
    EFFECT_NOT_PARKED = CONFLICT "effect_not_parked", "The effect is not parked",
        "It goes on by itself: there is nothing to retry. Nothing was written.";
    EFFECT_PARKED = CONFLICT "effect_parked", "The effect is parked",
        "Nothing is done about it by itself: accept, reject or retry it. Nothing was written.";
    EFFECT_NOT_ITS_TURN = CONFLICT "effect_not_its_turn", "Another effect of its case is before it",
        "Nudge that one, or decide about it: this one follows by itself. Nothing was written.";
    NO_DESTINATION = CONFLICT "no_destination", "The effect's destination is not known here",
        "Accept or reject the effect: nothing can be sent. Nothing was written.";
    UNREADABLE_DECISION = UNPROCESSABLE_ENTITY "unreadable_decision", "The decision cannot be recorded",
        "Give a reason of at most 2000 bytes that is not blank and has no NUL. Nothing was written.";
    UNKNOWN_FIELD = UNPROCESSABLE_ENTITY "unknown_field", "The body has a field that is not known here",
        "Send only the documented fields: what happened and what was approved is for the server to say. Nothing was written.";
    WRONG_SHAPE = UNPROCESSABLE_ENTITY "wrong_shape", "The body does not have the documented shape",
        "Check that each field is there once and has its type. Nothing was written.";
    EMPTY_TURN = UNPROCESSABLE_ENTITY "empty_turn", "The turn is empty",
        "A turn needs words, a click, or both. Nothing was written.";
    UNREADABLE_MESSAGE = UNPROCESSABLE_ENTITY "unreadable_message", "The words cannot be a message",
        "A message is not blank, has no NUL, and has at most 16 KiB and 2000 words. Nothing was written.";
    TURN_REUSED = UNPROCESSABLE_ENTITY "turn_reused", "This turn id stands for other content",
        "Repeat a turn with the very same content, or use a new turn id. Nothing was written.";
    NO_SUCH_OPTION = UNPROCESSABLE_ENTITY "no_such_option", "The card has no such option",
        "Answer with one of the options that the card lists. Nothing was written.";
    WRONG_REVISION = UNPROCESSABLE_ENTITY "wrong_revision", "The revision is not the one on the card",
        "Send the expected_revision that the card shows. Nothing was written.";
    WRONG_VALUE = UNPROCESSABLE_ENTITY "wrong_value", "The value does not fit the option",
        "Send a value only where the option has max_chars, no longer than that and without NUL. Nothing was written.";
    OVERLOADED = TOO_MANY_REQUESTS "overloaded", "Too much is waiting",
        "Send the same request again after the time in Retry-After. Nothing was written.";
    NOT_HERE = SERVICE_UNAVAILABLE "not_here", "Another process takes work for this account",
        "The account is changing hands. Send the same request again after the time in Retry-After: a turn with the same id and content is carried out once, however often it is sent.";
    UNAVAILABLE = SERVICE_UNAVAILABLE "unavailable", "The system is unavailable",
        "Send the same turn id with the same content again after the time in Retry-After: it is carried out once, however often it is sent.";
}

impl Problem {
    const fn new(
        status: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: &'static str,
    ) -> Self {
        let retry_after = match status {
            StatusCode::TOO_MANY_REQUESTS => Some(RETRY_OVERLOADED),
            StatusCode::SERVICE_UNAVAILABLE => Some(RETRY_UNAVAILABLE),
            _ => None,
        };
        Self { status, code, title, detail, retry_after, turn: None }
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The problem of a turn: where it is open whether the turn was accepted, its id is named, so that the same
    /// turn can be sent again.
    pub(crate) fn of_turn(error: PostError, turn: TurnId) -> Self {
        let problem = Self::from(error);
        let is_open = problem.code == Self::UNAVAILABLE.code;
        if is_open { Self::unknown_turn(turn) } else { problem }
    }

    /// Nobody can say right now whether this turn was accepted.
    pub(crate) fn unknown_turn(turn: TurnId) -> Self {
        Self { turn: Some(turn), ..Self::UNAVAILABLE }
    }

    /// The ledger could not be read, or an entry of it: logged here, once, for an operator.
    pub(crate) fn unavailable(error: &dyn std::error::Error) -> Self {
        tracing::warn!(%error, "a request could not be served");
        Self::UNAVAILABLE
    }

    fn document(&self) -> Document<'_> {
        Document {
            r#type: format!("/problems/{}", self.code),
            title: self.title,
            status: self.status.as_u16(),
            detail: self.detail,
            code: self.code,
            turn: self.turn.as_ref(),
        }
    }

    /// The page that a problem's type leads to.
    pub(crate) fn page(&self) -> Response {
        axum::Json(self.document()).into_response()
    }
}

impl From<PostError> for Problem {
    fn from(error: PostError) -> Self {
        match error {
            PostError::NotFound => Self::NOT_FOUND,
            PostError::TurnReused => Self::TURN_REUSED,
            PostError::Empty => Self::EMPTY_TURN,
            PostError::Message(_) => Self::UNREADABLE_MESSAGE,
            PostError::NoSuchOption => Self::NO_SUCH_OPTION,
            PostError::WrongRevision => Self::WRONG_REVISION,
            PostError::WrongValue => Self::WRONG_VALUE,
            PostError::Overloaded => Self::OVERLOADED,
            PostError::NotHere => Self::NOT_HERE,
            // What is new there is unavailable here until it is given a problem of its own.
            PostError::Unavailable { .. } | _ => Self::unavailable(&error),
        }
    }
}

impl From<ResolveError> for Problem {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::NotFound => Self::NOT_FOUND,
            ResolveError::Concluded => Self::EFFECT_CONCLUDED,
            ResolveError::UnderWay => Self::EFFECT_UNDER_WAY,
            ResolveError::NotParked => Self::EFFECT_NOT_PARKED,
            ResolveError::Parked => Self::EFFECT_PARKED,
            ResolveError::NotItsTurn => Self::EFFECT_NOT_ITS_TURN,
            ResolveError::NoDestination => Self::NO_DESTINATION,
            ResolveError::Unreadable => Self::UNREADABLE_DECISION,
            ResolveError::NotHere => Self::NOT_HERE,
            ResolveError::Unavailable { .. } | _ => Self::unavailable(&error),
        }
    }
}

impl From<CallbackError> for Problem {
    fn from(error: CallbackError) -> Self {
        match error {
            CallbackError::NotFound => Self::NOT_FOUND,
            CallbackError::Refused(CallbackRefusal::Signature) => Self::CALLBACK_SIGNATURE,
            CallbackError::Refused(CallbackRefusal::Time) => Self::CALLBACK_TIME,
            CallbackError::Refused(CallbackRefusal::Unreadable) => Self::CALLBACK_UNREADABLE,
            // What is new there is a signature of some kind that did not convince.
            CallbackError::Refused(_) => Self::CALLBACK_UNSIGNED,
            CallbackError::Reused => Self::CALLBACK_REUSED,
            CallbackError::NotHere => Self::NOT_HERE,
            CallbackError::Unavailable { .. } | _ => Self::unavailable(&error),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.document())).into_response();
        let mut set = |name: HeaderName, value| drop(response.headers_mut().insert(name, value));
        set(header::CONTENT_TYPE, PROBLEM_JSON);
        if self.code == Self::NOT_HERE.code {
            set(ELSEWHERE, HeaderValue::from_static("1"));
        }
        if let Some(after) = self.retry_after {
            set(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            set(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_problem_has_a_code_of_its_own_and_says_what_to_do_next() {
        let codes: BTreeSet<_> = Problem::ALL.iter().map(|problem| problem.code).collect();
        assert_eq!(codes.len(), Problem::ALL.len());
        for problem in Problem::ALL {
            assert!(problem.detail.ends_with('.'), "{}", problem.code);
            assert!(problem.status.is_client_error() || problem.status.is_server_error());
        }
    }

    #[test]
    fn the_limits_that_sentences_name_are_the_real_ones() {
        use turnframe_core::id::NAME_MAX_BYTES;
        use turnframe_core::words::{MESSAGE_MAX_BYTES, MESSAGE_MAX_WORDS};
        assert!(Problem::INVALID_ID.detail.contains(&format!("1 to {NAME_MAX_BYTES} ASCII")));
        let detail = Problem::UNREADABLE_MESSAGE.detail;
        assert!(detail.contains(&format!("{} KiB", MESSAGE_MAX_BYTES / 1024)));
        assert!(detail.contains(&format!("{MESSAGE_MAX_WORDS} words")));
        let reason = turnframe_runtime::effect::REASON_MAX_BYTES;
        assert!(Problem::UNREADABLE_DECISION.detail.contains(&format!("{reason} bytes")));
    }

    #[test]
    fn a_refusal_of_the_system_keeps_its_code() {
        let message = turnframe_core::words::MessageError::Nul;
        let reason = String::new();
        for error in [
            PostError::NotFound,
            PostError::TurnReused,
            PostError::Empty,
            PostError::Message(message),
            PostError::NoSuchOption,
            PostError::WrongRevision,
            PostError::WrongValue,
            PostError::Overloaded,
            PostError::NotHere,
            PostError::Unavailable { reason },
        ] {
            let code = error.code();
            assert_eq!(Problem::from(error).code(), code);
        }
    }

    #[test]
    fn only_a_turn_of_unknown_fate_is_named() {
        let turn = TurnId::new("t1").expect("turn");
        let unavailable = PostError::Unavailable { reason: "away".to_owned() };
        assert_eq!(Problem::of_turn(unavailable, turn.clone()).turn, Some(turn.clone()));
        assert_eq!(Problem::of_turn(PostError::Overloaded, turn).turn, None);
    }
}
