//! The HTTP destination against servers on loopback that say what they are told to, byte for byte.

#[cfg(target_os = "linux")]
#[path = "../authority/mod.rs"]
mod authority;

mod answers;
mod contract;
mod declaring;
mod sending;
#[cfg(target_os = "linux")]
mod tls;
mod wire;

use std::time::Duration;

use turnframe_core::id::{DestinationKey, EffectId};
use turnframe_destinations::http::{Code, HttpBuilder, HttpDestination, Reading, Reference};
use turnframe_runtime::port::{Delivery, DestinationProfile, Dispatched, Resending};
use turnframe_test::{literal, sources};

/// What an attempt may take: long for a busy machine, short for whoever waits for a receiver that stalls.
const TIMEOUT: Duration = Duration::from_secs(2);

fn profile(resending: Resending) -> DestinationProfile {
    DestinationProfile { resending, timeout: TIMEOUT, ..DestinationProfile::default() }
}

fn effect(number: u64) -> EffectId {
    sources::ids(number).effect()
}

fn delivery(payload: &serde_json::Value) -> Delivery {
    Delivery {
        effect: effect(1),
        attempt: 1,
        operation: "place".to_owned(),
        payload: turnframe_core::canonical::Json::of(payload).expect("JSON"),
    }
}

fn builder(address: &str) -> HttpBuilder {
    HttpDestination::builder(literal::<DestinationKey>("orders"), address)
        .connect_timeout(TIMEOUT / 2)
        .profile(profile(Resending::Never))
}

/// The reference stands in `id`, the code in `code`.
fn reading() -> Reading {
    Reading::new(Reference::At("/id".to_owned()), Code::At("/code".to_owned()))
}

fn is_unknown(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::Unknown { .. })
}

fn is_not_sent(dispatched: &Dispatched) -> bool {
    matches!(dispatched, Dispatched::NotSent { .. })
}
