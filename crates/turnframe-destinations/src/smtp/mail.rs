//! A mail, and its way into the form that is sent.
//!
//! Whatever the payload says, a header has one line and a recipient is one address: both are checked here, and encoded
//! by `lettre`. What is sent is ASCII with CRLF at the end of each line and nowhere else, so that no server can read one
//! mail as two.

use std::time::{Duration, SystemTime};

use lettre::address::{Address, Envelope};
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use serde::Deserialize;
use turnframe_core::source::Timestamp;
use turnframe_runtime::port::Delivery;

use crate::payload::{self, PayloadError};

/// The most recipients of a mail: as many as every server has to take (RFC 5321, 4.5.3.1.8).
pub const RECIPIENTS_MAX: usize = 100;
/// The longest subject, in characters.
pub const SUBJECT_MAX_CHARS: usize = 256;
/// The longest text, in bytes.
pub const TEXT_MAX_BYTES: usize = 1024 * 1024;

/// The last second that a mail's date can show: 9999-12-31T23:59:59Z.
const DATE_MAX_SECS: u64 = 253_402_300_799;

/// A mail of plain text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    /// To whom: ASCII addresses without a name.
    pub to: Vec<String>,
    /// What about, on one line.
    pub subject: String,
    /// The text. Its lines end with LF or CRLF.
    pub text: String,
}

/// Why a mail cannot be sent. Nothing of it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MailError {
    /// Its recipients are none or too many.
    #[error("a mail has 1 to {RECIPIENTS_MAX} recipients")]
    Recipients,
    /// A recipient is no address.
    #[error("recipient {0} is not an address of visible ASCII characters")]
    Address(usize),
    /// The subject is no line.
    #[error(
        "a subject is one line of 1 to {SUBJECT_MAX_CHARS} characters without control characters"
    )]
    Subject,
    /// The text cannot be sent.
    #[error(
        "a text has at most {TEXT_MAX_BYTES} bytes and no control characters but tabs and ends of lines"
    )]
    Text,
    /// It is not a mail that can be written down.
    #[error("the mail cannot be written down")]
    Form,
}

/// A mail as it is sent.
pub(super) struct Letter {
    pub(super) envelope: Envelope,
    pub(super) content: Vec<u8>,
    /// The `Message-ID`.
    pub(super) id: String,
}

impl Mail {
    /// The mail that the payload itself is, [in plain](payload::plain): an object with `to`, `subject` and `text`.
    ///
    /// # Errors
    /// [`PayloadError`] when it is none.
    pub fn of_payload(delivery: &Delivery) -> Result<Self, PayloadError> {
        serde_json::from_value(payload::plain(delivery)?).map_err(|_| PayloadError::Shape)
    }

    pub(super) fn render(
        &self,
        from: &Mailbox,
        id: &str,
        at: Timestamp,
    ) -> Result<Letter, MailError> {
        let to = self.addresses()?;
        if !is_subject(&self.subject) {
            return Err(MailError::Subject);
        }
        let text = self.text.replace("\r\n", "\n");
        let is_text = |letter: char| !letter.is_control() || letter == '\n' || letter == '\t';
        if self.text.len() > TEXT_MAX_BYTES || !text.chars().all(is_text) {
            return Err(MailError::Text);
        }
        let mut builder = Message::builder()
            .from(from.clone())
            .subject(self.subject.as_str())
            .date(date(at))
            .message_id(Some(id.to_owned()))
            // No machine is to answer a machine (RFC 3834).
            .raw_header(HeaderValue::new(
                HeaderName::new_from_ascii_str("Auto-Submitted"),
                "auto-generated".to_owned(),
            ))
            .header(ContentType::TEXT_PLAIN);
        for address in &to {
            builder = builder.to(Mailbox::new(None, address.clone()));
        }
        let message = builder.body(text).map_err(|_| MailError::Form)?;
        let envelope = Envelope::new(Some(from.email.clone()), to).map_err(|_| MailError::Form)?;
        let content = message.formatted();
        let letter = Letter { envelope, content, id: id.to_owned() };
        if is_one_message(&letter.content) { Ok(letter) } else { Err(MailError::Form) }
    }

    fn addresses(&self) -> Result<Vec<Address>, MailError> {
        if !(1..=RECIPIENTS_MAX).contains(&self.to.len()) {
            return Err(MailError::Recipients);
        }
        let numbered = self.to.iter().enumerate();
        numbered.map(|(index, text)| address(text).ok_or(MailError::Address(index + 1))).collect()
    }
}

/// An address of visible ASCII characters, which no line of the dialogue can end within.
pub(super) fn address(text: &str) -> Option<Address> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte));
    if is_plain { text.parse().ok() } else { None }
}

fn is_subject(subject: &str) -> bool {
    let is_short = subject.chars().count() <= SUBJECT_MAX_CHARS;
    is_short && !subject.trim().is_empty() && !subject.chars().any(char::is_control)
}

/// ASCII whose lines end in CRLF: a lone CR or LF is an end of line to some servers and none to others.
fn is_one_message(content: &[u8]) -> bool {
    let ends_well = |(index, byte): (usize, &u8)| match byte {
        b'\r' => content.get(index + 1) == Some(&b'\n'),
        b'\n' => index.checked_sub(1).is_some_and(|before| content[before] == b'\r'),
        _ => byte.is_ascii(),
    };
    content.iter().enumerate().all(ends_well)
}

fn date(at: Timestamp) -> SystemTime {
    let seconds = u64::try_from(at.as_micros() / 1_000_000).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.min(DATE_MAX_SECS))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "<01890000-0000-7000-8000-000000000001@shop.example>";

    fn mail() -> Mail {
        Mail {
            to: vec!["ada@ferri.example".to_owned()],
            subject: "Your order".to_owned(),
            text: "One\nTwo".to_owned(),
        }
    }

    fn render_at(mail: &Mail, micros: i64) -> Result<Letter, MailError> {
        let from = Mailbox::new(
            Some("Käte's Shop".to_owned()),
            address("shop@shop.example").expect("an address"),
        );
        mail.render(&from, ID, Timestamp::from_micros(micros))
    }

    fn rendered(mail: &Mail) -> Result<String, MailError> {
        let letter = render_at(mail, 1_767_225_600_000_000)?;
        Ok(String::from_utf8(letter.content).expect("ASCII"))
    }

    #[test]
    fn a_mail_is_written_down_under_the_effects_id_and_the_clocks_date() {
        let text = rendered(&mail()).expect("a mail");
        for line in [
            "Subject: Your order\r\n",
            "To: ada@ferri.example\r\n",
            "Date: Thu, 01 Jan 2026 00:00:00 +0000\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "Content-Type: text/plain; charset=utf-8\r\n",
            "\r\n\r\nOne\r\nTwo",
        ] {
            assert!(text.contains(line), "{line:?} in {text}");
        }
        assert!(text.contains(&format!("Message-ID: {ID}\r\n")), "{text}");
        let again = rendered(&mail()).expect("a mail");
        assert_eq!(text, again, "every attempt is the same to the byte");
    }

    #[test]
    fn a_header_has_one_line_whatever_the_payload_says() {
        for subject in ["a\r\nBcc: eve@x.example", "a\nb", "a\rb", "a\0", "", " ", "a\u{85}b"] {
            let mail = Mail { subject: subject.to_owned(), ..mail() };
            assert_eq!(rendered(&mail), Err(MailError::Subject), "{subject:?}");
        }
        for to in [
            "ada@ferri.example\r\nBcc: eve@x.example",
            "ada@ferri.example>\r\nRCPT TO:<eve@x.example",
            "ada@ferri.example, eve@x.example",
            "\"ada\r\nx\"@ferri.example",
            "Ada <ada@ferri.example>",
            "ädä@ferri.example",
            "ada",
            "",
        ] {
            let mail = Mail { to: vec!["ben@ferri.example".to_owned(), to.to_owned()], ..mail() };
            assert_eq!(rendered(&mail), Err(MailError::Address(2)), "{to:?}");
        }
    }

    #[test]
    fn a_text_cannot_end_the_mail_it_stands_in() {
        for text in ["a\rb", "a\r.\r", "a\0b", "a\u{1b}[2J"] {
            let mail = Mail { text: text.to_owned(), ..mail() };
            assert_eq!(rendered(&mail), Err(MailError::Text), "{text:?}");
        }
        let long = format!("ä{}\n.\nend\ttab", "x".repeat(2_000));
        for text in ["a\n.\nb", "a\r\n.\r\nb", long.as_str()] {
            let written = rendered(&Mail { text: text.to_owned(), ..mail() }).expect("a mail");
            assert!(is_one_message(written.as_bytes()));
        }
    }

    #[test]
    fn what_is_past_a_limit_is_not_sent() {
        let to = |count: usize| Mail { to: vec!["a@b.example".to_owned(); count], ..mail() };
        assert!(rendered(&to(RECIPIENTS_MAX)).is_ok());
        assert_eq!(rendered(&to(RECIPIENTS_MAX + 1)), Err(MailError::Recipients));
        assert_eq!(rendered(&to(0)), Err(MailError::Recipients));
        let subject = |count: usize| Mail { subject: "ä".repeat(count), ..mail() };
        assert!(rendered(&subject(SUBJECT_MAX_CHARS)).is_ok());
        assert_eq!(rendered(&subject(SUBJECT_MAX_CHARS + 1)), Err(MailError::Subject));
        let text = |count: usize| Mail { text: "x".repeat(count), ..mail() };
        assert!(rendered(&text(TEXT_MAX_BYTES)).is_ok());
        assert_eq!(rendered(&text(TEXT_MAX_BYTES + 1)), Err(MailError::Text));
    }

    #[test]
    fn a_date_that_no_mail_can_show_is_the_nearest_that_one_can() {
        for (micros, date) in [(i64::MIN, "01 Jan 1970"), (i64::MAX, "31 Dec 9999")] {
            let letter = render_at(&mail(), micros).expect("a mail");
            assert!(String::from_utf8_lossy(&letter.content).contains(date), "{date}");
        }
    }

    #[test]
    fn a_lone_end_of_line_is_no_message() {
        assert!(is_one_message(b"a\r\nb"));
        for content in [b"a\nb".as_slice(), b"a\rb", b"\n", b"a\r", b"\xe4"] {
            assert!(!is_one_message(content), "{content:?}");
        }
    }
}
