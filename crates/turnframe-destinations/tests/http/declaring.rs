//! A declaration that cannot be meant is refused where it is made, and says what is wrong.

use std::time::Duration;

use turnframe_core::id::DestinationKey;
use turnframe_destinations::http::{
    CONNECT_TIMEOUT, Code, HttpBuilder, HttpDestination, HttpError, LookUp, Operation, Reading,
    Reference, When,
};
use turnframe_runtime::port::{Destination, DestinationProfile, Resending};
use turnframe_test::literal;

use crate::reading;

fn orders() -> HttpBuilder {
    at("http://orders.example/v2")
}

fn at(address: &str) -> HttpBuilder {
    HttpDestination::builder(literal::<DestinationKey>("orders"), address)
}

fn place() -> Operation {
    Operation::post("/orders", reading()).accepted(When::status(201))
}

fn refused(builder: HttpBuilder) -> HttpError {
    builder.build().expect_err("a declaration that cannot be meant")
}

#[test]
fn a_receiver_that_is_declared_soundly_is_a_destination() {
    let destination = orders().operation("place", place()).build().expect("a declaration");
    assert_eq!(destination.key().as_str(), "orders");
    assert_eq!(destination.profile().resending, Resending::Never, "no promise is presumed");
    assert!(CONNECT_TIMEOUT < destination.profile().timeout);
}

#[test]
fn an_address_is_absolute_http_and_tells_no_secret() {
    for address in
        ["", "orders", "ftp://orders", "mailto:a@b", "http://", "http://a?b", "http://a#b"]
    {
        let error = refused(at(address).operation("place", place()));
        assert!(matches!(error, HttpError::Address(_)), "{address}: {error}");
    }
    let error = refused(at("https://ada:geheim@orders.example").operation("place", place()));
    assert!(matches!(error, HttpError::SecretInAddress), "{error}");
    assert!(!error.to_string().contains("geheim"));
}

#[test]
fn a_pointer_a_status_and_a_header_are_ones() {
    let pointer =
        |reading: Reading| refused(orders().operation("place", Operation::post("/", reading)));
    let error = pointer(Reading::new(Reference::At("id".to_owned()), Code::Status));
    assert!(matches!(error, HttpError::Path(_)), "the path is read first: {error}");
    let of = |reading: Reading| {
        let place = Operation::post("/orders", reading).accepted(When::status(201));
        refused(orders().operation("place", place))
    };
    for error in [
        of(Reading::new(Reference::At("id".to_owned()), Code::Status)),
        of(Reading::new(Reference::Key, Code::At("code".to_owned()))),
        of(Reading::new(Reference::Key, Code::Status).keeping("all")),
        refused(
            orders().operation("place", place().rejected(When::status(409).with_field("a", 1))),
        ),
    ] {
        assert!(matches!(error, HttpError::Pointer(_)), "{error}");
    }
    for status in [0, 100, 199, 600] {
        let error = refused(orders().operation("place", place().rejected(When::status(status))));
        assert!(matches!(error, HttpError::Status(said) if said == status), "{error}");
    }
    let odd = place().not_sent(When::status(503).with_header("not processed"));
    let error = refused(orders().operation("place", odd));
    assert!(matches!(error, HttpError::Header(_)), "{error}");
}

#[test]
fn a_header_cannot_take_the_place_of_the_destinations_own() {
    for (name, value) in [
        ("Idempotency-Key", "1"),
        ("webhook-signature", "v1,x"),
        ("Content-Length", "0"),
        ("transfer-encoding", "chunked"),
        ("host", "elsewhere"),
        ("x y", "1"),
        ("x-y", "a\r\nx-z: b"),
    ] {
        let error = refused(orders().operation("place", place()).header(name, value));
        assert!(matches!(error, HttpError::Header(_)), "{name}: {error}");
    }
    let twice = orders().operation("place", place()).header("x-a", "1").header("X-A", "2");
    assert!(matches!(refused(twice), HttpError::Header(_)));
}

#[test]
fn the_same_answer_means_one_thing() {
    let both = place().rejected(When::status(201));
    let error = refused(orders().operation("place", both));
    assert!(matches!(error, HttpError::Contradiction { .. }), "{error}");
    let look_up = LookUp::get("/orders/{key}", reading())
        .accepted(When::status(200))
        .not_found(When::status(200));
    let error = refused(orders().operation("place", place().looked_up_by(look_up)));
    assert!(matches!(error, HttpError::Contradiction { .. }), "{error}");
    let again = place().accepted(When::status(201));
    assert!(orders().operation("place", again).build().is_ok(), "said twice is said once");
}

#[test]
fn an_operation_is_declared_once_and_can_be_accepted() {
    assert!(matches!(refused(orders()), HttpError::NoOperation));
    let twice = orders().operation("place", place()).operation("place", place());
    assert!(matches!(refused(twice), HttpError::Twice(_)));
    let never = Operation::post("/orders", reading()).rejected(When::status(422));
    let error = refused(orders().operation("place", never.clone()));
    assert!(matches!(error, HttpError::NeverAccepted(_)), "{error}");
    let look_up = LookUp::get("/orders/{key}", reading()).accepted(When::status(200));
    assert!(orders().operation("place", never.looked_up_by(look_up)).build().is_ok());
}

#[test]
fn a_connection_is_given_up_before_the_attempt_is() {
    let timeout = Duration::from_secs(2);
    let profile = DestinationProfile { timeout, ..DestinationProfile::default() };
    let orders = || orders().operation("place", place()).profile(profile.clone());
    assert!(matches!(refused(orders()), HttpError::Timeouts { .. }));
    assert!(orders().connect_timeout(Duration::from_secs(1)).build().is_ok());
}

#[test]
fn no_secret_is_told() {
    let declared = orders().operation("place", place()).header("authorization", "Bearer geheim");
    let destination = declared.build().expect("a declaration");
    assert!(!format!("{destination:?}").contains("geheim"));
}

#[test]
fn connections_are_kept_only_where_an_unknown_outcome_can_be_sent_again() {
    let keeping = || orders().operation("place", place()).keeping_connections(CONNECT_TIMEOUT);
    let error = refused(keeping());
    assert!(matches!(error, HttpError::KeptConnections), "{error}");
    let resending = Resending::IdempotentByKey;
    let profile = DestinationProfile { resending, ..DestinationProfile::default() };
    keeping().profile(profile).build().expect("a declaration");
}
