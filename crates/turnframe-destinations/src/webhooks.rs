//! [Standard Webhooks] signatures (symmetric, `v1`): made for what goes out, checked on what comes in.
//!
//! A message is signed as `id.timestamp.body`, so that neither can be put to another. Several secrets may be valid at
//! once, on either side: a secret is replaced without a moment in which a message is refused. Comparison is in constant
//! time (`hmac`), and a message outside the time window is refused however well it is signed: it may be one that
//! somebody recorded. Within the window, whoever receives it deduplicates by its id.
//!
//! [Standard Webhooks]: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use turnframe_core::source::Timestamp;
use turnframe_runtime::port::{CallbackRefusal, Incoming};

/// Names the message.
pub const HEADER_ID: &str = "webhook-id";
/// Says when it was sent, in seconds since 1970.
pub const HEADER_TIMESTAMP: &str = "webhook-timestamp";
/// Its signatures, with a space between two.
pub const HEADER_SIGNATURE: &str = "webhook-signature";

/// How far a message's time may lie from now, either way.
pub const WINDOW: Duration = Duration::from_secs(5 * 60);
/// The most signatures of one message that are looked at.
pub const SIGNATURES_MAX: usize = 8;
/// The most secrets that are valid at once.
pub const SECRETS_MAX: usize = 8;
/// The shortest secret, in bytes (the standard's own limits).
pub const SECRET_MIN_BYTES: usize = 24;
/// The longest secret, in bytes.
pub const SECRET_MAX_BYTES: usize = 64;

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
/// HMAC-SHA256 is this long.
const SIGNATURE_BYTES: usize = 32;

/// A secret that cannot be used. Nothing of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// It is not base64, with or without `whsec_`, of a length that the standard allows.
    #[error(
        "a webhook secret is base64 of {SECRET_MIN_BYTES} to {SECRET_MAX_BYTES} bytes, with or without {PREFIX}"
    )]
    Shape,
    /// There is none, or there are too many.
    #[error("there are 1 to {SECRETS_MAX} webhook secrets")]
    Count,
}

/// The secrets that are valid now. The first of them signs.
#[derive(Clone)]
pub struct Secrets(Vec<Vec<u8>>);

impl fmt::Debug for Secrets {
    /// How many there are, and nothing of them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("len", &self.0.len()).finish()
    }
}

impl Secrets {
    /// Reads secrets as `whsec_` and base64, or base64 alone.
    ///
    /// # Errors
    /// [`SecretError`] when one cannot be used, or their number is out of bounds.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Result<Self, SecretError> {
        let secrets: Vec<_> = secrets.into_iter().map(secret).collect::<Result<_, _>>()?;
        if (1..=SECRETS_MAX).contains(&secrets.len()) {
            Ok(Self(secrets))
        } else {
            Err(SecretError::Count)
        }
    }

    /// The headers of a message that goes out: signed with every secret that is valid, so that its receiver may know
    /// either.
    #[must_use]
    pub fn sign(&self, id: &str, at: Timestamp, body: &[u8]) -> [(&'static str, String); 3] {
        let timestamp = seconds(at).to_string();
        let signature = |secret: &Vec<u8>| {
            let mac = mac(secret, id, &timestamp, body);
            format!("{VERSION}{}", STANDARD.encode(mac.finalize().into_bytes()))
        };
        let signatures: Vec<_> = self.0.iter().map(signature).collect();
        let signatures = signatures.join(" ");
        [(HEADER_ID, id.to_owned()), (HEADER_TIMESTAMP, timestamp), (HEADER_SIGNATURE, signatures)]
    }

    /// Checks that a message was signed with one of the secrets, and not long ago. Answers with its id.
    ///
    /// # Errors
    /// [`CallbackRefusal`]: what is missing or cannot be read is `Unsigned`. The signature is judged before the time,
    /// so that nobody learns about our clock who cannot sign.
    pub fn verify(&self, incoming: &Incoming, now: Timestamp) -> Result<String, CallbackRefusal> {
        let header = |name| incoming.header(name).filter(|value| !value.is_empty());
        let unsigned = CallbackRefusal::Unsigned;
        let id = header(HEADER_ID).ok_or(unsigned)?;
        let timestamp = header(HEADER_TIMESTAMP).ok_or(unsigned)?;
        let sent_at: i64 = timestamp.parse().map_err(|_| unsigned)?;
        let signatures = header(HEADER_SIGNATURE).ok_or(unsigned)?;
        let signatures = signatures.split(' ').take(SIGNATURES_MAX);
        let signatures =
            signatures.filter_map(|it| STANDARD.decode(it.strip_prefix(VERSION)?).ok());
        let signatures: Vec<_> = signatures.filter(|it| it.len() == SIGNATURE_BYTES).collect();
        let mut fits = false;
        // What is no signature costs no hashing.
        for secret in self.0.iter().filter(|_| !signatures.is_empty()) {
            let mac = mac(secret, id, timestamp, &incoming.body);
            for signature in &signatures {
                fits |= mac.clone().verify_slice(signature).is_ok();
            }
        }
        if !fits {
            return Err(CallbackRefusal::Signature);
        }
        if sent_at.abs_diff(seconds(now)) > WINDOW.as_secs() {
            return Err(CallbackRefusal::Time);
        }
        Ok(id.to_owned())
    }
}

fn secret(text: &str) -> Result<Vec<u8>, SecretError> {
    let text = text.strip_prefix(PREFIX).unwrap_or(text);
    let secret = STANDARD.decode(text).map_err(|_| SecretError::Shape)?;
    let fits = (SECRET_MIN_BYTES..=SECRET_MAX_BYTES).contains(&secret.len());
    if fits { Ok(secret) } else { Err(SecretError::Shape) }
}

fn seconds(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(1_000_000)
}

fn mac(secret: &[u8], id: &str, timestamp: &str, body: &[u8]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length");
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    mac
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const OTHER: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

    fn secrets(secrets: &[&str]) -> Secrets {
        Secrets::new(secrets.iter().copied()).expect("secrets")
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn incoming(headers: &[(&'static str, String)], body: &[u8]) -> Incoming {
        let with = |incoming: Incoming, (name, value): &(&str, String)| incoming.with(name, value);
        headers.iter().fold(Incoming::new(body), with)
    }

    #[test]
    fn the_standards_own_example_is_signed_as_it_says() {
        let body = br#"{"test": 2432232314}"#;
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let [_, _, (_, signature)] = secrets(&[SECRET]).sign(id, at(1_614_265_330), body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_message_is_known_by_any_secret_that_is_valid_on_both_sides() {
        let (old, new, both) = (secrets(&[OTHER]), secrets(&[SECRET]), secrets(&[SECRET, OTHER]));
        let body = b"body";
        for (signer, verifier, fits) in [
            (&old, &old, true),
            (&old, &both, true),
            (&both, &old, true),
            (&both, &new, true),
            (&old, &new, false),
            (&new, &old, false),
        ] {
            let message = incoming(&signer.sign("m1", at(1_000), body), body);
            let expected = if fits { Ok("m1".to_owned()) } else { Err(CallbackRefusal::Signature) };
            assert_eq!(verifier.verify(&message, at(1_000)), expected);
        }
    }

    #[test]
    fn a_message_outside_the_window_is_refused_however_well_it_is_signed() {
        let (secrets, body) = (secrets(&[SECRET]), b"body");
        let message = incoming(&secrets.sign("m1", at(10_000), body), body);
        let window = 300;
        for (now, expected) in [
            (10_000 - window, Ok("m1".to_owned())),
            (10_000 + window, Ok("m1".to_owned())),
            (10_000 - window - 1, Err(CallbackRefusal::Time)),
            (10_000 + window + 1, Err(CallbackRefusal::Time)),
        ] {
            assert_eq!(secrets.verify(&message, at(now)), expected, "{now}");
        }
        // Who cannot sign does not learn what time it is here.
        let forged = incoming(&super::tests::secrets(&[OTHER]).sign("m1", at(0), body), body);
        assert_eq!(secrets.verify(&forged, at(10_000)), Err(CallbackRefusal::Signature));
    }

    #[test]
    fn what_is_missing_or_cannot_be_read_is_not_signed() {
        let (secrets, body) = (secrets(&[SECRET]), b"body");
        let signed = secrets.sign("m1", at(10), body);
        for left_out in 0..3 {
            let mut headers = signed.to_vec();
            headers.remove(left_out);
            let verified = secrets.verify(&incoming(&headers, body), at(10));
            assert_eq!(verified, Err(CallbackRefusal::Unsigned));
            let mut headers = signed.to_vec();
            headers[left_out].1.clear();
            let verified = secrets.verify(&incoming(&headers, body), at(10));
            assert_eq!(verified, Err(CallbackRefusal::Unsigned));
            // Said twice, it is said by two.
            let mut headers = signed.to_vec();
            headers.push(signed[left_out].clone());
            let verified = secrets.verify(&incoming(&headers, body), at(10));
            assert_eq!(verified, Err(CallbackRefusal::Unsigned));
        }
        for timestamp in ["x", "10.5", "", " 10", "99999999999999999999"] {
            let mut headers = signed.to_vec();
            headers[1].1 = timestamp.to_owned();
            let verified = secrets.verify(&incoming(&headers, body), at(10));
            assert_eq!(verified, Err(CallbackRefusal::Unsigned), "{timestamp:?}");
        }
    }

    #[test]
    fn other_versions_and_rubbish_beside_a_signature_are_passed_over_up_to_a_number() {
        let (secrets, body) = (secrets(&[SECRET]), b"body");
        let signed = secrets.sign("m1", at(10), body);
        let verify = |signatures: String| {
            let mut headers = signed.to_vec();
            headers[2].1 = signatures;
            secrets.verify(&incoming(&headers, body), at(10))
        };
        let good = &signed[2].1;
        assert!(verify(format!("v1a,AAAA v1,%% {good}")).is_ok());
        for bad in [good.replace("v1,", "v2,"), good.replace("v1,", ""), "v1,".to_owned()] {
            assert_eq!(verify(bad), Err(CallbackRefusal::Signature));
        }
        let many = |count| format!("{}{good}", "v1,AAAA ".repeat(count));
        assert!(verify(many(SIGNATURES_MAX - 1)).is_ok());
        assert_eq!(verify(many(SIGNATURES_MAX)), Err(CallbackRefusal::Signature));
    }

    #[test]
    fn secrets_have_the_standards_lengths_and_are_never_told() {
        let of = |bytes: usize| STANDARD.encode(vec![7; bytes]);
        let (min, max) = (of(SECRET_MIN_BYTES), of(SECRET_MAX_BYTES));
        assert!(Secrets::new([min.as_str(), max.as_str()]).is_ok());
        for bad in [of(SECRET_MIN_BYTES - 1), of(SECRET_MAX_BYTES + 1), "whsec_%".to_owned()] {
            assert_eq!(Secrets::new([bad.as_str()]).err(), Some(SecretError::Shape));
        }
        assert_eq!(Secrets::new([]).err(), Some(SecretError::Count));
        let many = vec![min.as_str(); SECRETS_MAX + 1];
        assert_eq!(Secrets::new(many).err(), Some(SecretError::Count));
        assert_eq!(format!("{:?}", secrets(&[SECRET])), "Secrets { len: 1 }");
    }

    proptest! {
        /// Whatever is changed in what was signed, it does not fit any more.
        #[test]
        fn a_changed_message_is_refused(
            body in proptest::collection::vec(any::<u8>(), 0..64),
            at_byte in any::<prop::sample::Index>(),
            bit in 0_u8..8,
            cut in any::<bool>(),
        ) {
            let secrets = secrets(&[SECRET]);
            let signed = secrets.sign("m1", at(10), &body);
            let mut changed = body.clone();
            if cut || body.is_empty() {
                changed.push(0);
            } else {
                changed[at_byte.index(body.len())] ^= 1 << bit;
            }
            let refused = Err(CallbackRefusal::Signature);
            prop_assert_eq!(secrets.verify(&incoming(&signed, &changed), at(10)), refused.clone());
            for (header, value) in [(0, "m2"), (0, "m1.10"), (1, "11")] {
                let mut headers = signed.to_vec();
                headers[header].1 = value.to_owned();
                prop_assert_eq!(secrets.verify(&incoming(&headers, &body), at(10)), refused.clone());
            }
        }
    }
}
