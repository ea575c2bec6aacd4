//! What an adopter declares of a receiver: where each operation goes, and what each answer means.
//!
//! Nothing is guessed from a status. An answer that no declaration fits is of unknown outcome, and so is one that fits
//! two declarations which contradict one another.

use std::fmt;
use std::sync::Arc;

use reqwest::Method;
use serde_json::Value;
use turnframe_runtime::port::Delivery;

use crate::payload;

/// Makes the JSON body of a delivery. The reason of an error is for an operator, and holds no word of the payload.
pub type BodyOf = dyn Fn(&Delivery) -> Result<Value, String> + Send + Sync;

/// Which answers a declaration is about: those of a status, and all that is asked of them besides.
///
/// What stands between here and the receiver gives answers too. A header or a field that only the receiver writes tells
/// its answers from theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct When {
    pub(super) status: u16,
    pub(super) header: Option<String>,
    pub(super) field: Option<(String, Value)>,
}

impl When {
    /// Answers with this status.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self { status, header: None, field: None }
    }

    /// Of these, those that carry a header, whatever its value.
    #[must_use]
    pub fn with_header(self, name: &str) -> Self {
        Self { header: Some(name.to_owned()), ..self }
    }

    /// Of these, those whose JSON body has this value at a JSON pointer (RFC 6901).
    #[must_use]
    pub fn with_field(self, pointer: &str, value: impl Into<Value>) -> Self {
        Self { field: Some((pointer.to_owned(), value.into())), ..self }
    }
}

/// Where an answer says what the receiver calls what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// At this JSON pointer. An answer without it takes nothing: whoever gave it may not be the receiver.
    At(String),
    /// Nowhere: the receiver knows it by the idempotency key, and the status (with what else is declared) speaks alone.
    Key,
}

/// Where an answer says why the receiver refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// At this JSON pointer. An answer without it refuses nothing.
    At(String),
    /// Nowhere: the status is the code, and speaks alone.
    Status,
}

/// How an answer is read, whatever it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Where the reference stands.
    pub reference: Reference,
    /// Where the code stands.
    pub code: Code,
    /// Which part of the body is recorded for good, as a JSON pointer; `""` is all of it. A record cannot be erased: keep
    /// what is about nobody. A part that is not there, or a body that cannot be read, is recorded as nothing.
    pub details: Option<String>,
}

impl Reading {
    /// A reading that records nothing but the reference or the code.
    #[must_use]
    pub const fn new(reference: Reference, code: Code) -> Self {
        Self { reference, code, details: None }
    }

    /// The same, which records what stands at a JSON pointer.
    #[must_use]
    pub fn keeping(self, pointer: &str) -> Self {
        Self { details: Some(pointer.to_owned()), ..self }
    }
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Accepted,
    Rejected,
    NotSent,
    NotFound,
}

/// The answers to one kind of request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) reading: Reading,
    pub(super) rules: Vec<(When, Meaning)>,
}

impl Answers {
    const fn new(reading: Reading) -> Self {
        Self { reading, rules: Vec::new() }
    }

    fn with(mut self, when: When, meaning: Meaning) -> Self {
        self.rules.push((when, meaning));
        self
    }
}

/// An operation of the receiver.
#[derive(Clone)]
pub struct Operation {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) answers: Answers,
    pub(super) body: Arc<BodyOf>,
    pub(super) look_up: Option<LookUp>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("answers", &self.answers)
            .field("look_up", &self.look_up)
            .finish_non_exhaustive()
    }
}

impl Operation {
    /// An operation that is asked by `POST` to a path below the base address. `{key}` is the idempotency key there, and
    /// `{/a/b}` what stands at that JSON pointer of the body. The body is the payload ([`payload::plain`]).
    #[must_use]
    pub fn post(path: &str, reading: Reading) -> Self {
        Self::by(Method::POST, path, reading)
    }

    /// The same by `PUT`.
    #[must_use]
    pub fn put(path: &str, reading: Reading) -> Self {
        Self::by(Method::PUT, path, reading)
    }

    fn by(method: Method, path: &str, reading: Reading) -> Self {
        let body =
            |delivery: &Delivery| payload::plain(delivery).map_err(|error| error.to_string());
        let (path, answers) = (path.to_owned(), Answers::new(reading));
        Self { method, path, answers, body: Arc::new(body), look_up: None }
    }

    /// These answers say that the receiver took it.
    #[must_use]
    pub fn accepted(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::Accepted), ..self }
    }

    /// These answers say that the receiver refused it, for good.
    #[must_use]
    pub fn rejected(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::Rejected), ..self }
    }

    /// These answers prove that nothing was processed, so that it is sent again. A receiver that is busy proves that only
    /// where it promises to, as many do for 429; a gateway's 502, 503 or 504 may stand before a receiver that did it all.
    #[must_use]
    pub fn not_sent(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::NotSent), ..self }
    }

    /// With a body that is made in another way.
    #[must_use]
    pub fn with_body(
        self,
        body: impl Fn(&Delivery) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        Self { body: Arc::new(body), ..self }
    }

    /// With a way to find out what became of an attempt. Without one, what is unknown stays so.
    #[must_use]
    pub fn looked_up_by(self, look_up: LookUp) -> Self {
        Self { look_up: Some(look_up), ..self }
    }
}

/// How the receiver is asked what became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookUp {
    pub(super) path: String,
    pub(super) answers: Answers,
}

impl LookUp {
    /// A `GET` to a path, with places as in [`Operation::post`].
    #[must_use]
    pub fn get(path: &str, reading: Reading) -> Self {
        Self { path: path.to_owned(), answers: Answers::new(reading) }
    }

    /// These answers say that the receiver has taken it.
    #[must_use]
    pub fn accepted(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::Accepted), ..self }
    }

    /// These answers say that the receiver has refused it.
    #[must_use]
    pub fn rejected(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::Rejected), ..self }
    }

    /// These answers say that the receiver does not know it. A bare 404 may also come from a gateway, and a key that is
    /// not found is sent again: ask for a field.
    #[must_use]
    pub fn not_found(self, when: When) -> Self {
        Self { answers: self.answers.with(when, Meaning::NotFound), ..self }
    }
}
