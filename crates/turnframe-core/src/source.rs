//! Time, randomness and identifiers as injected sources.
//!
//! Nothing in the system reads the wall clock or the operating system's entropy by itself: the
//! composition root hands in these two ports, and a test hands in manual ones, so that every id,
//! timestamp and salt of a test run is exact.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::id::{CaseId, EffectId, EntryId, InteractionId};

/// A moment in microseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This moment moved forward, saturating at the end of time.
    #[must_use]
    pub fn plus(self, duration: std::time::Duration) -> Self {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(micros))
    }

    /// How long ago that was at this moment; nothing where it is still to come.
    #[must_use]
    pub fn since(self, earlier: Self) -> std::time::Duration {
        let micros = self.0.saturating_sub(earlier.0);
        std::time::Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => fmt::Display::fmt(&moment, f),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

/// The wall clock.
pub trait Clock: Send + Sync + 'static {
    /// The present moment.
    fn now(&self) -> Timestamp;
}

/// Unpredictable bytes: salts, tokens, the random part of a UUIDv7.
pub trait Entropy: Send + Sync + 'static {
    /// Overwrites the whole buffer.
    fn fill(&self, buffer: &mut [u8]);
}

/// Makes identifiers from an injected clock and injected entropy (RFC 9562, version 7).
#[derive(Clone)]
pub struct IdSource {
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl fmt::Debug for IdSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdSource")
    }
}

impl IdSource {
    /// A source over these two ports.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self { clock, entropy }
    }

    /// The present moment of the injected clock.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A new UUIDv7.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        let millis = u64::try_from(self.now().as_micros() / 1_000).unwrap_or_default();
        uuid::Builder::from_unix_timestamp_millis(millis, &self.bytes()).into_uuid()
    }

    /// A case that does not exist yet.
    #[must_use]
    pub fn case(&self) -> CaseId {
        CaseId::from_uuid(self.uuid())
    }

    /// A card that is about to be drawn.
    #[must_use]
    pub fn interaction(&self) -> InteractionId {
        InteractionId::from_uuid(self.uuid())
    }

    /// An effect that is about to be requested.
    #[must_use]
    pub fn effect(&self) -> EffectId {
        EffectId::from_uuid(self.uuid())
    }

    /// An entry that is about to be appended.
    #[must_use]
    pub fn entry(&self) -> EntryId {
        EntryId::from_uuid(self.uuid())
    }

    /// A fixed number of unpredictable bytes.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.entropy.fill(&mut bytes);
        bytes
    }
}
