//! What the airline calls back to say: a [`AirlineCallback`], signed as Standard Webhooks are.

use turnframe_core::source::Timestamp;
use turnframe_destinations::webhooks::Secrets;
use turnframe_runtime::port::{CallbackRefusal, Callbacks, Incoming, Statement};

use super::destination::said;
use super::protocol::AirlineCallback;

/// The airline's callbacks.
#[derive(Debug, Clone)]
pub struct AirlineCallbacks {
    /// The secrets that the airline may sign with.
    pub secrets: Secrets,
}

impl Callbacks for AirlineCallbacks {
    fn verify(&self, incoming: &Incoming, now: Timestamp) -> Result<String, CallbackRefusal> {
        self.secrets.verify(incoming, now)
    }

    fn read(&self, body: &[u8]) -> Result<Statement, CallbackRefusal> {
        let unreadable = CallbackRefusal::Unreadable;
        let AirlineCallback { key, statement } =
            serde_json::from_slice(body).map_err(|_| unreadable)?;
        let sequence = statement.sequence;
        let says = said(statement.standing, sequence).map_err(|_| unreadable)?;
        // The airline counts its statements on a rebooking: that is their name.
        Ok(Statement { effect: key, key: Some(format!("{key}/{sequence}")), says })
    }
}
