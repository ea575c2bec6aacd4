use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use turnframe_core::canonical::Json;
use turnframe_core::id::{DestinationKey, EffectId};

use super::Callbacks;

/// An effect as it is handed to its destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The effect; its text is the idempotency key the receiver is sent.
    pub effect: EffectId,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// What the receiver is asked to do.
    pub operation: String,
    /// With which content.
    pub payload: Json,
}

impl Delivery {
    /// The idempotency key: the same for every attempt at an effect.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        self.effect.to_string()
    }
}

/// What came of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dispatched {
    /// The receiver took it.
    Accepted {
        /// What the receiver calls it.
        reference: String,
        /// What else it said.
        details: Json,
    },
    /// The receiver refused it, and said so.
    Rejected {
        /// The receiver's stable code.
        code: String,
        /// What else it said.
        details: Json,
    },
    /// It provably was not sent: the only answer that is tried again by itself.
    NotSent {
        /// What went wrong, for an operator.
        reason: String,
    },
    /// It may have been received or not (I15): anything after the first byte went out.
    Unknown {
        /// What went wrong, for an operator.
        reason: String,
    },
}

impl Dispatched {
    /// A refusal that says no more than its code.
    #[must_use]
    pub fn rejected(code: impl Into<String>) -> Self {
        Self::Rejected { code: code.into(), details: Json::default() }
    }
}

/// What a look-up by key found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reconciled {
    /// The receiver has it, and this is what it says of it.
    Found(Dispatched),
    /// The receiver does not have it, or not yet.
    NotFound,
    /// The look-up itself gave no answer.
    StillUnknown {
        /// What went wrong, for an operator.
        reason: String,
    },
}

/// Whether an attempt of unknown outcome may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resending {
    /// The receiver honours the idempotency key.
    IdempotentByKey,
    /// It does not, or nobody knows: look it up, then ask an operator.
    Never,
}

/// How a destination is treated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationProfile {
    /// Whether an unknown attempt may be sent again.
    pub resending: Resending,
    /// How many deliveries run at once.
    pub concurrency: usize,
    /// Whether the effects of one case go out one after another, in the order in which they were asked for: each once the
    /// one before it is concluded or parked.
    pub in_order: bool,
    /// How many attempts are begun in a second, beyond a burst of as many as run at once.
    pub rate: Option<NonZeroU32>,
    /// After how many attempts in a row that were not sent, or whose outcome nobody knows, the destination is left alone;
    /// 0 for never. What waits meanwhile does not use up its attempts.
    pub failures_max: u32,
    /// For how long it is left alone before one attempt shows how things are.
    pub failures_pause: Duration,
    /// How old an effect may become while nothing reaches the destination before that counts against it.
    pub outage_max: Duration,
    /// How long one attempt may take before its outcome is unknown.
    pub timeout: Duration,
    /// How many attempts are made at what provably was not sent.
    pub attempts_max: u32,
    /// How many look-ups are made before an operator is asked.
    pub lookups_max: u32,
    /// The first pause before another attempt or look-up; it doubles, with jitter.
    pub backoff: Duration,
    /// The longest pause.
    pub backoff_max: Duration,
}

impl Default for DestinationProfile {
    fn default() -> Self {
        Self {
            resending: Resending::Never,
            concurrency: 16,
            in_order: false,
            rate: None,
            failures_max: 3,
            failures_pause: Duration::from_secs(10),
            outage_max: Duration::from_secs(60 * 60),
            timeout: Duration::from_secs(10),
            attempts_max: 5,
            lookups_max: 8,
            backoff: Duration::from_millis(200),
            backoff_max: Duration::from_secs(60),
        }
    }
}

/// An external system that receives effects.
#[async_trait]
pub trait Destination: Send + Sync + 'static {
    /// Names the destination. Stored with every effect.
    fn key(&self) -> DestinationKey;

    /// How it is treated.
    fn profile(&self) -> DestinationProfile {
        DestinationProfile::default()
    }

    /// How its callbacks are told from others' and read, where it calls back.
    fn callbacks(&self) -> Option<&dyn Callbacks> {
        None
    }

    /// Sends once. Never retries by itself; when in doubt the answer is [`Dispatched::Unknown`].
    async fn dispatch(&self, delivery: &Delivery) -> Dispatched;

    /// Looks an effect up by its key. The default knows nothing.
    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        let _ = delivery;
        Reconciled::StillUnknown { reason: "the destination has no look-up".to_owned() }
    }
}
