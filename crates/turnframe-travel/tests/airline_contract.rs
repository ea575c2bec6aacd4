//! The destination's contract, against the simulated airline and the book that it keeps.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use turnframe_core::id::EffectId;
use turnframe_core::personal::Personal;
use turnframe_runtime::port::{Delivery, Destination, DestinationProfile};
use turnframe_test::destination::{Meeting, Receiver};
use turnframe_test::literal;
use turnframe_travel::airline::{
    AirlineBook, AirlineDestination, AirlineSimulator, Behaviour, RebookingOrder, Standing,
};

turnframe_test::destination_contract!(mod airline, Airline::open().await);

/// What an attempt may take: long for a busy machine, short for whoever waits for an airline that stalls.
const TIMEOUT: Duration = Duration::from_secs(4);

struct Airline {
    url: String,
    simulator: Mutex<Option<Arc<AirlineSimulator>>>,
}

impl Airline {
    async fn open() -> Self {
        let simulator = AirlineSimulator::start().await.expect("a free port");
        Self { url: simulator.url(), simulator: Mutex::new(Some(Arc::new(simulator))) }
    }

    fn simulator(&self) -> Arc<AirlineSimulator> {
        let simulator = self.simulator.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(simulator.as_ref().expect("it is asked before it goes away"))
    }

    fn book(&self) -> AirlineBook {
        self.simulator().book()
    }
}

#[async_trait]
impl Receiver for Airline {
    fn destination(&self) -> Arc<dyn Destination> {
        let profile = DestinationProfile { timeout: TIMEOUT, ..DestinationProfile::default() };
        let destination = AirlineDestination::new(&self.url).expect("an address");
        Arc::new(destination.with_profile(profile))
    }

    fn delivery(&self, effect: EffectId, attempt: u32) -> Delivery {
        let order = RebookingOrder {
            destination: "Lisbon".to_owned(),
            date: None,
            departure: None,
            travellers: vec![Personal::known(literal("traveller:1"), "Ada Ferri".to_owned())],
            protected_legs: Vec::new(),
        };
        let request = order.request();
        let (operation, payload) = (request.operation, request.payload);
        Delivery { effect, attempt, operation, payload }
    }

    fn meet_next(&self, meeting: Meeting) {
        self.simulator().next(match meeting {
            Meeting::Take => Behaviour::Accept,
            Meeting::Refuse => Behaviour::Refuse { code: "fully_booked".to_owned() },
            Meeting::DropAfterRead => Behaviour::DropBeforeCommit,
            Meeting::DropAfterCommit => Behaviour::DropAfterCommit,
            Meeting::Stall => Behaviour::Hang,
            Meeting::DropUnread | Meeting::PointElsewhere => unreachable!("the airline lacks it"),
        });
    }

    fn lacks(&self) -> &[Meeting] {
        &[Meeting::DropUnread, Meeting::PointElsewhere]
    }

    fn requests(&self, key: &str) -> usize {
        self.book().received(key).len()
    }

    fn requests_total(&self) -> usize {
        self.book().received_total()
    }

    fn records(&self, key: &str) -> usize {
        let book = self.book();
        let taken = book
            .performed(key)
            .filter(|performed| !matches!(performed.statement.standing, Standing::Refused { .. }));
        usize::from(taken.is_some())
    }

    fn has_look_up(&self) -> bool {
        true
    }

    async fn until_requested(&self, key: &str) {
        self.simulator().until(|book| !book.received(key).is_empty()).await;
    }

    async fn go_away(&self) {
        let simulator = self.simulator.lock().unwrap_or_else(PoisonError::into_inner).take();
        let simulator = simulator.and_then(Arc::into_inner).expect("nobody else holds it");
        simulator.stop().await.expect("it stops");
    }
}
