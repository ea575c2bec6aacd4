//! A remote that acts from a script and keeps a book of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use turnframe_core::canonical::Json;
use turnframe_core::id::DestinationKey;
use turnframe_runtime::port::{
    Callbacks, Delivery, Destination, DestinationProfile, Dispatched, Reconciled, Resending,
};

use crate::literal;
use crate::sources;

/// What becomes of one send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// It arrives, the remote acts, and says so with these details.
    Accepts(Json),
    /// It arrives, the remote refuses it with this code, and says so.
    Refuses(String),
    /// It provably does not arrive.
    NotSent,
    /// It arrives, the remote acts, and the answer gets lost.
    LosesTheAnswer,
    /// It gets lost, and nobody knows.
    LosesTheDelivery,
    /// It arrives, the remote acts, and no answer ever comes.
    Hangs,
    /// It gets lost, and no answer ever comes.
    HangsUnheard,
}

impl Behaviour {
    /// It arrives, the remote acts, and says so without details.
    #[must_use]
    pub fn accepts() -> Self {
        Self::Accepts(no_details())
    }
}

/// What becomes of one look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// What the remote's book says.
    Book,
    /// This, whatever the book says.
    Answer(Reconciled),
    /// Nothing, ever.
    Hangs,
}

/// What the remote has written down under one idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BookEntry {
    /// Every delivery that arrived, in order.
    pub deliveries: Vec<Delivery>,
    /// How often the remote acted. More than once is the harm that the key is there to prevent.
    pub performed: u32,
    /// What the remote says of it.
    pub says: Dispatched,
}

type Sending = dyn Fn(&Delivery) -> Behaviour + Send + Sync;
type LookingUp = dyn Fn(&Delivery, u32) -> Lookup + Send + Sync;

/// A remote with a book.
///
/// It outlives the process that sends to it: a process that starts anew finds the book as it was. Where the profile
/// says [`Resending::IdempotentByKey`] the remote honours the key: it acts once, and answers what it said first.
/// Elsewhere it acts on everything that arrives.
pub struct ScriptedDestination {
    key: DestinationKey,
    profile: DestinationProfile,
    sending: Box<Sending>,
    looking_up: Box<LookingUp>,
    callbacks: Option<Box<dyn Callbacks>>,
    remote: Mutex<Remote>,
}

#[derive(Debug, Default)]
struct Remote {
    book: BTreeMap<String, BookEntry>,
    lookups: BTreeMap<String, u32>,
}

impl fmt::Debug for ScriptedDestination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedDestination").field("key", &self.key).finish_non_exhaustive()
    }
}

impl ScriptedDestination {
    /// A remote whose behaviour is a function of the delivery: its attempt, operation and content.
    pub fn new(
        key: &str,
        sending: impl Fn(&Delivery) -> Behaviour + Send + Sync + 'static,
    ) -> Self {
        Self {
            key: literal(key),
            profile: DestinationProfile::default(),
            sending: Box::new(sending),
            looking_up: Box::new(|_, _| Lookup::Book),
            callbacks: None,
            remote: Mutex::default(),
        }
    }

    /// A remote that accepts whatever it is sent.
    #[must_use]
    pub fn accepting(key: &str) -> Self {
        Self::new(key, |_| Behaviour::accepts())
    }

    /// The remote under another profile.
    #[must_use]
    pub fn with_profile(mut self, profile: DestinationProfile) -> Self {
        self.profile = profile;
        self
    }

    /// The remote with another look-up: a function of the delivery and of how often its key has been looked up, this
    /// time included.
    #[must_use]
    pub fn looking_up(
        mut self,
        looking_up: impl Fn(&Delivery, u32) -> Lookup + Send + Sync + 'static,
    ) -> Self {
        self.looking_up = Box::new(looking_up);
        self
    }

    /// The remote, which calls back, and is known by this.
    #[must_use]
    pub fn calling_back(mut self, callbacks: impl Callbacks) -> Self {
        self.callbacks = Some(Box::new(callbacks));
        self
    }

    /// The remote's book, by idempotency key.
    #[must_use]
    pub fn book(&self) -> BTreeMap<String, BookEntry> {
        self.remote().book.clone()
    }

    /// How often the remote acted under a key.
    #[must_use]
    pub fn performed(&self, idempotency_key: &str) -> u32 {
        self.remote().book.get(idempotency_key).map_or(0, |entry| entry.performed)
    }

    /// The keys under which the remote acted more than once. At the end of every run there are none.
    #[must_use]
    pub fn repeated(&self) -> Vec<String> {
        let remote = self.remote();
        let repeated = remote.book.iter().filter(|(_, entry)| entry.performed > 1);
        repeated.map(|(key, _)| key.clone()).collect()
    }

    /// How often a key was looked up.
    #[must_use]
    pub fn lookups(&self, idempotency_key: &str) -> u32 {
        self.remote().lookups.get(idempotency_key).copied().unwrap_or_default()
    }

    /// A delivery arrives. The remote writes it down, acts on it or not, and says what it says.
    fn arrives(&self, delivery: &Delivery, verdict: Verdict) -> Dispatched {
        let honours_the_key = self.profile.resending == Resending::IdempotentByKey;
        let mut remote = self.remote();
        let number = remote.book.len() + 1;
        let entry = remote.book.entry(delivery.idempotency_key());
        let is_new = matches!(entry, std::collections::btree_map::Entry::Vacant(_));
        let says = match verdict {
            Verdict::Act(details) => {
                Dispatched::Accepted { reference: format!("{}-{number}", self.key), details }
            }
            Verdict::Refuse(code) => Dispatched::rejected(code),
        };
        let fresh = BookEntry { deliveries: Vec::new(), performed: 0, says: says.clone() };
        let entry = entry.or_insert(fresh);
        entry.deliveries.push(delivery.clone());
        if is_new || !honours_the_key {
            entry.performed += u32::from(matches!(says, Dispatched::Accepted { .. }));
            entry.says = says;
        }
        entry.says.clone()
    }

    fn look_up(&self, delivery: &Delivery) -> (Lookup, Reconciled) {
        let mut remote = self.remote();
        let key = delivery.idempotency_key();
        let written = remote.book.get(&key).map(|entry| Reconciled::Found(entry.says.clone()));
        let nth = remote.lookups.entry(key).or_default();
        *nth += 1;
        ((self.looking_up)(delivery, *nth), written.unwrap_or(Reconciled::NotFound))
    }

    fn remote(&self) -> MutexGuard<'_, Remote> {
        // A script that panics fails its own test; the book was not half written.
        self.remote.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the remote makes of a delivery that arrived.
enum Verdict {
    Act(Json),
    Refuse(String),
}

#[async_trait]
impl Destination for ScriptedDestination {
    fn key(&self) -> DestinationKey {
        self.key.clone()
    }

    fn profile(&self) -> DestinationProfile {
        self.profile.clone()
    }

    fn callbacks(&self) -> Option<&dyn Callbacks> {
        self.callbacks.as_deref()
    }

    async fn dispatch(&self, delivery: &Delivery) -> Dispatched {
        let unknown = |reason: &str| Dispatched::Unknown { reason: reason.to_owned() };
        match (self.sending)(delivery) {
            Behaviour::Accepts(details) => self.arrives(delivery, Verdict::Act(details)),
            Behaviour::Refuses(code) => self.arrives(delivery, Verdict::Refuse(code)),
            Behaviour::NotSent => Dispatched::NotSent { reason: "no connection".to_owned() },
            Behaviour::LosesTheAnswer => {
                self.arrives(delivery, Verdict::Act(no_details()));
                unknown("the answer was lost")
            }
            Behaviour::LosesTheDelivery => unknown("the connection broke"),
            Behaviour::Hangs => {
                self.arrives(delivery, Verdict::Act(no_details()));
                std::future::pending().await
            }
            Behaviour::HangsUnheard => std::future::pending().await,
        }
    }

    async fn reconcile(&self, delivery: &Delivery) -> Reconciled {
        match self.look_up(delivery) {
            (Lookup::Book, written) => written,
            (Lookup::Answer(answer), _) => answer,
            (Lookup::Hangs, _) => std::future::pending().await,
        }
    }
}

fn no_details() -> Json {
    Json::of(&BTreeMap::<String, String>::new()).expect("an empty object is JSON")
}

/// The first attempt at an effect that a seed names, for tests of a destination by itself.
#[must_use]
pub fn delivery(operation: &str, seed: u64) -> Delivery {
    Delivery {
        effect: sources::ids(seed).effect(),
        attempt: 1,
        operation: operation.to_owned(),
        payload: no_details(),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn idempotent() -> DestinationProfile {
        let resending = Resending::IdempotentByKey;
        DestinationProfile { resending, ..DestinationProfile::default() }
    }

    fn attempt(number: u32) -> Delivery {
        Delivery { attempt: number, ..delivery("order", 1) }
    }

    #[tokio::test]
    async fn a_remote_that_honours_the_key_acts_once_and_repeats_its_first_answer() {
        let remote = ScriptedDestination::new("office", |delivery| match delivery.attempt {
            1 => Behaviour::LosesTheAnswer,
            _ => Behaviour::accepts(),
        });
        let remote = remote.with_profile(idempotent());
        assert!(matches!(remote.dispatch(&attempt(1)).await, Dispatched::Unknown { .. }));
        let Dispatched::Accepted { reference, .. } = remote.dispatch(&attempt(2)).await else {
            unreachable!("the second attempt is answered");
        };
        assert_eq!(reference, "office-1");
        let key = attempt(1).idempotency_key();
        assert_eq!(remote.performed(&key), 1);
        assert_eq!(remote.book()[&key].deliveries, [attempt(1), attempt(2)]);
        assert_eq!(remote.repeated(), [""; 0]);
    }

    #[tokio::test]
    async fn a_remote_that_does_not_honour_the_key_shows_what_a_second_send_did() {
        let remote = ScriptedDestination::accepting("office");
        remote.dispatch(&attempt(1)).await;
        remote.dispatch(&attempt(2)).await;
        let key = attempt(1).idempotency_key();
        assert_eq!(remote.performed(&key), 2);
        assert_eq!(remote.repeated(), [key]);
    }

    #[tokio::test]
    async fn a_refusal_is_written_down_and_nothing_is_performed() {
        let remote =
            ScriptedDestination::new("office", |_| Behaviour::Refuses("closed".to_owned()));
        let refused = Dispatched::rejected("closed");
        assert_eq!(remote.dispatch(&attempt(1)).await, refused);
        assert_eq!(remote.performed(&attempt(1).idempotency_key()), 0);
        assert_eq!(remote.reconcile(&attempt(1)).await, Reconciled::Found(refused));
    }

    #[tokio::test]
    async fn a_look_up_tells_what_arrived_from_what_did_not() {
        let remote = ScriptedDestination::new("office", |delivery| match delivery.attempt {
            1 => Behaviour::NotSent,
            2 => Behaviour::LosesTheDelivery,
            _ => Behaviour::LosesTheAnswer,
        });
        assert!(matches!(remote.dispatch(&attempt(1)).await, Dispatched::NotSent { .. }));
        assert!(matches!(remote.dispatch(&attempt(2)).await, Dispatched::Unknown { .. }));
        assert_eq!(remote.reconcile(&attempt(2)).await, Reconciled::NotFound);
        assert!(matches!(remote.dispatch(&attempt(3)).await, Dispatched::Unknown { .. }));
        let found = remote.reconcile(&attempt(3)).await;
        assert!(matches!(found, Reconciled::Found(Dispatched::Accepted { .. })), "{found:?}");
        assert_eq!(remote.lookups(&attempt(1).idempotency_key()), 2);
    }

    #[tokio::test]
    async fn a_look_up_can_be_scripted_to_be_late() {
        let unknown = Reconciled::StillUnknown { reason: "busy".to_owned() };
        let busy = unknown.clone();
        let remote = ScriptedDestination::accepting("office").looking_up(move |_, nth| match nth {
            1 => Lookup::Answer(busy.clone()),
            2 => Lookup::Hangs,
            _ => Lookup::Book,
        });
        remote.dispatch(&attempt(1)).await;
        assert_eq!(remote.reconcile(&attempt(1)).await, unknown);
        assert!(remote.reconcile(&attempt(1)).now_or_never().is_none());
        let found = remote.reconcile(&attempt(1)).await;
        assert!(matches!(found, Reconciled::Found(Dispatched::Accepted { .. })), "{found:?}");
    }

    #[test]
    fn a_remote_that_hangs_has_acted_or_not_as_the_script_says() {
        for (behaviour, performed) in [(Behaviour::Hangs, 1), (Behaviour::HangsUnheard, 0)] {
            let remote = ScriptedDestination::new("office", move |_| behaviour.clone());
            assert!(remote.dispatch(&attempt(1)).now_or_never().is_none());
            assert_eq!(remote.performed(&attempt(1).idempotency_key()), performed);
        }
    }
}
