//! The SMTP destination against servers on loopback that say what they are told to, line by line.

#[cfg(target_os = "linux")]
#[path = "../authority/mod.rs"]
mod authority;

mod contract;
mod declaring;
mod dialogue;
#[cfg(target_os = "linux")]
mod tls;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use turnframe_core::canonical::Json;
use turnframe_core::id::{DestinationKey, EffectId};
use turnframe_destinations::smtp::{Security, SmtpBuilder, SmtpDestination};
use turnframe_runtime::port::{Delivery, DestinationProfile};
use turnframe_test::sources::{ManualClock, START};
use turnframe_test::{literal, sources};

/// Until when a session is ready: long for a busy machine, short for whoever waits for a server that stalls.
const SESSION: Duration = Duration::from_secs(1);

fn effect(number: u64) -> EffectId {
    sources::ids(number).effect()
}

fn mail(to: &[&str]) -> Value {
    json!({"to": to, "subject": "Your order", "text": "One\n.\nTwo"})
}

fn delivery(payload: &Value) -> Delivery {
    Delivery {
        effect: effect(1),
        attempt: 1,
        operation: "notify".to_owned(),
        payload: Json::of(payload).expect("JSON"),
    }
}

fn builder(address: SocketAddr, security: Security) -> SmtpBuilder {
    let (host, clock) = (address.ip().to_string(), Arc::new(ManualClock::new(START)));
    let server = (host.as_str(), address.port());
    let key = literal::<DestinationKey>("mail");
    SmtpDestination::builder(key, server, security, "shop@shop.example", clock)
        .operation("notify")
        .session_timeout(SESSION)
        .profile(DestinationProfile { timeout: SESSION * 2, ..DestinationProfile::default() })
}

fn destination(address: SocketAddr) -> SmtpDestination {
    builder(address, Security::Plain).build().expect("a declaration")
}
