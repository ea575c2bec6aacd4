//! Who speaks: a bearer token leads to an actor or to an operator, and nothing else does.
//!
//! Only digests of secrets are kept. A presented secret is digested and compared with all of them in constant
//! time, so that neither the comparison nor its place in the list says how close a guess was.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use turnframe_core::canonical::Digest;
use turnframe_core::context::ActorContext;
use turnframe_core::id::{ActorId, Locale};
use turnframe_runtime::effect::operator_subject;

use crate::problem::Problem;
use crate::routes::App;

/// The shortest secret, in bytes.
pub const TOKEN_MIN_BYTES: usize = 16;
/// The longest secret, in bytes.
pub const TOKEN_MAX_BYTES: usize = 512;

/// The languages that an `Accept-Language` header can choose.
const LANGUAGES: [&str; 2] = ["en", "de"];

/// Secrets, each with the actor or the operator that it stands for.
#[derive(Clone, Default)]
pub struct Tokens(Vec<(Digest, Bearer)>);

/// Whom a secret stands for. An operator sees effects of every account and speaks in no conversation; an actor does
/// neither.
#[derive(Clone)]
enum Bearer {
    Actor(Box<ActorContext>),
    Operator(ActorId),
}

/// Why a secret cannot be a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It is too short, too long, or could not be sent in a header.
    #[error(
        "a token has {TOKEN_MIN_BYTES} to {TOKEN_MAX_BYTES} printable ASCII characters and no space"
    )]
    Secret,
    /// It stands for somebody else already.
    #[error("a token is given to two")]
    Repeated,
    /// The name cannot name the subject of one's own words.
    #[error("the name is too long")]
    Actor,
}

impl Tokens {
    /// No tokens: every request is refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These tokens and one more.
    ///
    /// # Errors
    /// [`TokenError`] when the secret or the actor cannot be used.
    pub fn with(self, secret: &str, actor: ActorContext) -> Result<Self, TokenError> {
        check(secret)?;
        actor.subject().map_err(|_| TokenError::Actor)?;
        self.add(secret, Bearer::Actor(Box::new(actor)))
    }

    /// These tokens and one more, of an operator.
    ///
    /// # Errors
    /// [`TokenError`] when the secret cannot be used.
    pub fn with_operator(self, secret: &str, operator: ActorId) -> Result<Self, TokenError> {
        check(secret)?;
        operator_subject(&operator).map_err(|_| TokenError::Actor)?;
        self.add(secret, Bearer::Operator(operator))
    }

    fn add(mut self, secret: &str, bearer: Bearer) -> Result<Self, TokenError> {
        if self.find(secret).is_some() {
            return Err(TokenError::Repeated);
        }
        self.0.push((digest(secret), bearer));
        Ok(self)
    }

    /// Whom a secret stands for. All digests are compared, whatever is found.
    fn find(&self, secret: &str) -> Option<&Bearer> {
        let presented = digest(secret);
        let mut found = None;
        for (known, bearer) in &self.0 {
            if equal(known, &presented) {
                found = Some(bearer);
            }
        }
        found
    }

    fn actor(&self, secret: &str) -> Option<&ActorContext> {
        match self.find(secret)? {
            Bearer::Actor(actor) => Some(actor),
            Bearer::Operator(_) => None,
        }
    }

    fn operator(&self, secret: &str) -> Option<&ActorId> {
        match self.find(secret)? {
            Bearer::Operator(operator) => Some(operator),
            Bearer::Actor(_) => None,
        }
    }
}

impl fmt::Debug for Tokens {
    /// How many there are, and nothing of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("len", &self.0.len()).finish()
    }
}

fn check(secret: &str) -> Result<(), TokenError> {
    let fits = (TOKEN_MIN_BYTES..=TOKEN_MAX_BYTES).contains(&secret.len());
    let is_sendable = fits && secret.bytes().all(|byte| byte.is_ascii_graphic());
    if is_sendable { Ok(()) } else { Err(TokenError::Secret) }
}

fn digest(secret: &str) -> Digest {
    Digest::of("tf.token.1", &[secret.as_bytes()])
}

/// Looks at every byte, whatever the first ones are.
fn equal(one: &Digest, other: &Digest) -> bool {
    let pairs = one.as_bytes().iter().zip(other.as_bytes());
    black_box(pairs.fold(0, |difference, (one, other)| black_box(difference | (one ^ other)))) == 0
}

/// The actor of a request, with the language that the request asks for where it is spoken here.
pub(crate) struct Authenticated(pub(crate) ActorContext);

impl FromRequestParts<Arc<App>> for Authenticated {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        app.authenticate(&parts.headers)
    }
}

/// The operator of a request.
pub(crate) struct Operating(pub(crate) ActorId);

impl FromRequestParts<Arc<App>> for Operating {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let operator = bearer(&parts.headers).and_then(|secret| app.tokens.operator(secret));
        operator.cloned().map(Self).ok_or(Problem::UNAUTHENTICATED)
    }
}

impl App {
    /// Who speaks, by the headers of a request.
    pub(crate) fn authenticate(&self, headers: &HeaderMap) -> Result<Authenticated, Problem> {
        let secret = bearer(headers).ok_or(Problem::UNAUTHENTICATED)?;
        let actor = self.tokens.actor(secret).ok_or(Problem::UNAUTHENTICATED)?;
        let locale = language(headers).unwrap_or_else(|| actor.locale.clone());
        Ok(Authenticated(ActorContext { locale, ..actor.clone() }))
    }
}

/// The secret of the one `Authorization` header (RFC 6750). Two of them are none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The most wanted language that is spoken here (RFC 9110, 12.5.4); the first of equals.
fn language(headers: &HeaderMap) -> Option<Locale> {
    let wanted = headers.get_all(header::ACCEPT_LANGUAGE).iter();
    let wanted = wanted.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut best: Option<(u16, Locale)> = None;
    for (weight, locale) in wanted.filter_map(range) {
        let is_spoken =
            LANGUAGES.iter().any(|language| locale.language().eq_ignore_ascii_case(language));
        if is_spoken && weight > best.as_ref().map_or(0, |(weight, _)| *weight) {
            best = Some((weight, locale));
        }
    }
    best.map(|(_, locale)| locale)
}

/// A language range and its weight in thousandths.
fn range(text: &str) -> Option<(u16, Locale)> {
    let (tag, parameter) = text.split_once(';').unwrap_or((text, "q=1"));
    let weight = parameter.trim().strip_prefix("q=")?.parse::<f32>().ok()?;
    if !(0.0..=1.0).contains(&weight) {
        return None;
    }
    // Whole thousandths of at most one: it fits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    let thousandths = (weight * 1_000.0) as u16;
    Some((thousandths, Locale::new(tag.trim()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnframe_core::id::AccountId;

    fn operator(name: &str) -> ActorId {
        ActorId::new(name).expect("a name")
    }

    fn actor(account: &str) -> ActorContext {
        ActorContext {
            account: AccountId::new(account).expect("account"),
            actor: ActorId::new("ada").expect("actor"),
            locale: Locale::new("en").expect("locale"),
            time_zone: "UTC".to_owned(),
        }
    }

    fn headers(name: header::HeaderName, values: &[&str]) -> HeaderMap {
        let value = |value: &&str| value.parse().expect("header value");
        values.iter().map(|text| (name.clone(), value(text))).collect()
    }

    #[test]
    fn a_secret_leads_to_its_actor_and_no_other_secret_does() {
        let tokens = Tokens::new()
            .with("a-secret-of-acme", actor("acme"))
            .and_then(|tokens| tokens.with("a-secret-of-beta", actor("beta")))
            .expect("tokens");
        let account = |secret| tokens.actor(secret).map(|actor| actor.account.as_str());
        assert_eq!(account("a-secret-of-acme"), Some("acme"));
        assert_eq!(account("a-secret-of-beta"), Some("beta"));
        for other in ["", "a-secret-of-acm", "a-secret-of-acmf", "A-secret-of-acme"] {
            assert_eq!(account(other), None, "{other:?}");
        }
        assert_eq!(format!("{tokens:?}"), "Tokens { len: 2 }");
    }

    #[test]
    fn an_operator_is_no_actor_and_an_actor_no_operator() {
        let tokens = Tokens::new()
            .with("a-secret-of-acme", actor("acme"))
            .and_then(|tokens| tokens.with_operator("a-secret-of-grace", operator("grace")))
            .expect("tokens");
        assert!(tokens.actor("a-secret-of-grace").is_none());
        assert!(tokens.operator("a-secret-of-acme").is_none());
        assert_eq!(tokens.operator("a-secret-of-grace"), Some(&operator("grace")));
        let long = tokens.clone().with_operator("a-secret-of-long", operator(&"x".repeat(96)));
        assert_eq!(long.err(), Some(TokenError::Actor));
        let again = tokens.with_operator("a-secret-of-acme", operator("grace"));
        assert_eq!(again.err(), Some(TokenError::Repeated));
    }

    #[test]
    fn secrets_that_are_short_repeated_or_unsendable_are_refused() {
        let with = |secret: &str| Tokens::new().with(secret, actor("acme")).map(|_| ());
        assert_eq!(with("short"), Err(TokenError::Secret));
        assert_eq!(with("sixteen but with spaces"), Err(TokenError::Secret));
        assert_eq!(with(&"x".repeat(TOKEN_MAX_BYTES + 1)), Err(TokenError::Secret));
        let once = Tokens::new().with("a-secret-of-acme", actor("acme")).expect("token");
        let twice = once.with("a-secret-of-acme", actor("beta"));
        assert_eq!(twice.map(|_| ()), Err(TokenError::Repeated));
    }

    #[test]
    fn exactly_one_bearer_header_counts() {
        let bearer =
            |values: &[&str]| bearer(&headers(header::AUTHORIZATION, values)).map(str::to_owned);
        assert_eq!(bearer(&["Bearer abc"]).as_deref(), Some("abc"));
        assert_eq!(bearer(&["bearer  abc"]).as_deref(), Some("abc"));
        assert_eq!(bearer(&[]), None);
        assert_eq!(bearer(&["Basic abc"]), None);
        assert_eq!(bearer(&["abc"]), None);
        assert_eq!(bearer(&["Bearer abc", "Bearer abc"]), None);
    }

    #[test]
    fn the_most_wanted_language_that_is_spoken_here_is_chosen() {
        let language = |value: &str| {
            language(&headers(header::ACCEPT_LANGUAGE, &[value])).map(|locale| locale.to_string())
        };
        assert_eq!(language("de").as_deref(), Some("de"));
        assert_eq!(language("fr, de-AT;q=0.8, en;q=0.9").as_deref(), Some("en"));
        assert_eq!(language("de-AT, de;q=0.9").as_deref(), Some("de-AT"));
        assert_eq!(language("en;q=0.5, de;q=0.5").as_deref(), Some("en"));
        for none in ["fr", "*", "de;q=0", "de;q=2", "de;q=x", "", "d e"] {
            assert_eq!(language(none), None, "{none:?}");
        }
    }
}
