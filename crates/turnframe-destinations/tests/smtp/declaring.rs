//! A declaration that cannot be meant is refused where it is made, and says what is wrong.

use std::sync::Arc;

use turnframe_core::id::DestinationKey;
use turnframe_destinations::smtp::{
    ANSWER_TIMEOUT, SESSION_TIMEOUT, Security, SmtpBuilder, SmtpDestination, SmtpError,
};
use turnframe_runtime::port::{Destination, DestinationProfile, Resending};
use turnframe_test::literal;
use turnframe_test::sources::{ManualClock, START};

fn by(security: Security, from: &str) -> SmtpBuilder {
    let clock = Arc::new(ManualClock::new(START));
    let key = literal::<DestinationKey>("mail");
    SmtpDestination::builder(key, ("mx.example", 25), security, from, clock)
}

fn plain() -> SmtpBuilder {
    by(Security::Plain, "shop@shop.example")
}

fn refused(builder: SmtpBuilder) -> SmtpError {
    builder.build().expect_err("a declaration that cannot be meant")
}

#[test]
fn a_server_has_ten_minutes_to_answer_and_what_it_leaves_open_is_an_operators() {
    let profile = plain().operation("notify").build().expect("a declaration").profile();
    assert_eq!(profile.timeout, SESSION_TIMEOUT + ANSWER_TIMEOUT);
    assert_eq!((profile.resending, profile.lookups_max), (Resending::Never, 0));
}

#[test]
fn a_sender_is_an_address_and_a_name_a_line() {
    for from in
        ["", "shop", "Shop <shop@shop.example>", "shop@shop.example\r\nX: y", "shöp@a.example"]
    {
        let error = refused(by(Security::Plain, from).operation("notify"));
        assert!(matches!(error, SmtpError::From(_)), "{from:?}: {error}");
    }
    for name in ["", " ", "Shop\r\nBcc: eve@x.example"] {
        let error = refused(plain().operation("notify").from_name(name));
        assert!(matches!(error, SmtpError::FromName), "{name:?}: {error}");
    }
    assert!(plain().operation("notify").from_name("Käte, \"the\" Shop").build().is_ok());
}

#[test]
fn a_password_goes_over_tls_only_and_is_never_told() {
    let error = refused(plain().operation("notify").credentials("shop", "geheim"));
    assert!(matches!(error, SmtpError::SecretWithoutTls), "{error}");
    let sound = by(Security::StartTls, "shop@shop.example").operation("notify");
    let destination = sound.credentials("shop", "geheim").build().expect("a declaration");
    assert!(!format!("{destination:?}").contains("geheim"));
}

#[test]
fn mail_is_not_declared_to_be_idempotent() {
    let resending = Resending::IdempotentByKey;
    let profile = DestinationProfile { resending, ..DestinationProfile::default() };
    let error = refused(plain().operation("notify").profile(profile));
    assert!(matches!(error, SmtpError::Resending), "{error}");
}

#[test]
fn a_session_is_given_up_before_the_attempt_is() {
    let timeout = SESSION_TIMEOUT;
    let profile = DestinationProfile { timeout, ..DestinationProfile::default() };
    let error = refused(plain().operation("notify").profile(profile));
    assert!(matches!(error, SmtpError::Timeouts { .. }), "{error}");
}

#[test]
fn an_operation_is_declared_once() {
    assert!(matches!(refused(plain()), SmtpError::NoOperation));
    let twice = plain().operation("notify").operation_by("notify", |_| Err("none".to_owned()));
    assert!(matches!(refused(twice), SmtpError::Twice(_)));
}
