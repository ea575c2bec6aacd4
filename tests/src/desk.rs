//! What the scripted model reads in the messages of the scenarios, and the airline they talk to.

use std::sync::Arc;

use turnframe_core::id::{EffectId, OperationRef};
use turnframe_core::source::Timestamp;
use turnframe_core::understanding::ProhibitionScope;
use turnframe_destinations::webhooks::Secrets;
use turnframe_runtime::port::{Destination, DestinationProfile, Incoming};
use turnframe_test::literal;
use turnframe_test::script::{Behaviour, ScriptedDestination, ScriptedInterpreter, means, propose};
use turnframe_travel::airline::{AirlineCallback, AirlineCallbacks, AirlineStatement, Standing};

/// Opens a trip, adds an extra to it, and forbids what comes later.
pub const OPEN: &str = "open a trip to Lisbon for Ada Ferri on 3 May, add a bag paid by the company, and don't rebook anything yet";
/// Asks for what leaves the house.
pub const REBOOK: &str = "rebook it";
/// Changes the trip.
pub const RENAME: &str = "call it Spring";
/// An extra that somebody has to pay.
pub const ADD_SEAT: &str = "add a seat";
/// Opens a second trip of the same traveller.
pub const OPEN_SECOND: &str = "open a trip to Porto for Bea Ferri";
/// Names both.
pub const WHICH: &str = "and the Ferri trip?";
/// Asks nothing.
pub const HELLO: &str = "hello there";

/// An operation of the trip.
#[must_use]
pub fn trip(operation: &str) -> OperationRef {
    OperationRef { workflow: literal("trip"), operation: literal(operation) }
}

/// Reads the messages above.
#[must_use]
pub fn interpreter() -> ScriptedInterpreter {
    ScriptedInterpreter::new()
        .on(
            OPEN,
            means(|brief| {
                propose(brief)
                    .act("open a trip", "trip.open")
                    .creating()
                    .slot("destination", "Lisbon")
                    .slot("traveller", "Ada Ferri")
                    .slot("date", "3 May")
                    .act("add a bag", "trip.add_extra")
                    .of_act(0)
                    .slot("extra", "bag")
                    .slot("payer", "the company")
                    .forbid(
                        "don't rebook anything yet",
                        ProhibitionScope::Operations(vec![trip("request_rebooking")]),
                    )
            }),
        )
        .on(REBOOK, means(|brief| propose(brief).act("rebook it", "trip.request_rebooking")))
        .on(
            RENAME,
            means(|brief| propose(brief).act("call it", "trip.rename").slot("name", "Spring")),
        )
        .on(
            ADD_SEAT,
            means(|brief| propose(brief).act("add a seat", "trip.add_extra").slot("extra", "seat")),
        )
        .on(
            OPEN_SECOND,
            means(|brief| {
                propose(brief)
                    .act("open a trip", "trip.open")
                    .creating()
                    .slot("destination", "Porto")
                    .slot("traveller", "Bea Ferri")
            }),
        )
        .on(
            WHICH,
            means(|brief| {
                propose(brief).question("and the Ferri trip", "trip.status").mention("Ferri trip")
            }),
        )
        .on(HELLO, means(|brief| propose(brief).remark("hello there")))
}

/// What the airline signs its callbacks with.
pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The secrets that the airline may sign with.
#[must_use]
pub fn secrets() -> Secrets {
    Secrets::new([SECRET]).expect("a secret")
}

/// An airline that takes everything, and calls back when it is told to.
#[must_use]
pub fn airline() -> Arc<ScriptedDestination> {
    let airline = ScriptedDestination::accepting("airline");
    Arc::new(airline.calling_back(AirlineCallbacks { secrets: secrets() }))
}

/// What the airline calls back to say of an effect, signed at a time.
#[must_use]
pub fn callback(
    id: &str,
    at: Timestamp,
    (effect, standing, sequence): (EffectId, Standing, u32),
) -> Incoming {
    let statement = AirlineStatement { standing, sequence };
    let body = serde_json::to_vec(&AirlineCallback { key: effect, statement }).expect("JSON");
    let signed = secrets().sign(id, at, &body);
    signed.into_iter().fold(Incoming::new(body), |it, (name, value)| it.with(name, value))
}

/// The airline agreed.
#[must_use]
pub fn confirmed() -> Standing {
    Standing::Confirmed { reference: "PNR-1".to_owned() }
}

/// The airline refused.
#[must_use]
pub fn refused() -> Standing {
    Standing::Refused { code: "sold_out".to_owned() }
}

/// An airline that acts and whose answer is lost on the way.
#[must_use]
pub fn forgetful_airline() -> Arc<ScriptedDestination> {
    let airline = ScriptedDestination::new("airline", |_| Behaviour::LosesTheAnswer);
    let airline = airline.calling_back(AirlineCallbacks { secrets: secrets() });
    Arc::new(airline.with_profile(DestinationProfile::default()))
}

/// As the port.
#[must_use]
pub fn port(airline: &Arc<ScriptedDestination>) -> Arc<dyn Destination> {
    airline.clone()
}
