//! What the traveller says and clicks, and what each of it must come to.

use turnframe_travel::airline::{AirlineBook, Behaviour};

use super::stage::{Scene, Shown};
use crate::exit::CliError;

/// A step of the script.
pub(super) struct Step {
    /// What it shows.
    pub(super) about: &'static str,
    /// What is done.
    pub(super) action: Action,
    /// The results of the turn's acts, or the status of the update's receipts.
    expects: &'static [&'static str],
    /// What must stand in what is shown.
    says: &'static str,
}

/// What is done.
pub(super) enum Action {
    /// The traveller says this.
    Says(&'static str),
    /// The traveller clicks this option of a card; cards are numbered as they were shown, from 1.
    Clicks(usize, &'static str),
    /// The same click on a card, while the airline will drop the line once it has taken the request on.
    ClicksWhileTheLineDrops(usize, &'static str),
    /// Nobody does anything: the server has news.
    Waits,
}

/// The script.
pub(super) const STEPS: &[Step] = &[
    Step {
        about: "Several things in one message, and one that must not happen",
        action: Action::Says(
            "open a trip to Lisbon for Ada Ferri on 3 May, add a bag paid by the company, and don't rebook anything yet",
        ),
        expects: &["applied", "applied"],
        says: "Lisbon",
    },
    Step {
        about: "What leaves the house needs a click: the card is persisted, nothing is sent",
        action: Action::Says("rebook it"),
        expects: &["awaiting_confirmation"],
        says: "",
    },
    Step {
        about: "The click",
        action: Action::Clicks(1, "confirm"),
        expects: &["applied"],
        says: "",
    },
    Step {
        about: "The airline has it: submitted, and no word of done",
        action: Action::Waits,
        expects: &["submitted"],
        says: "",
    },
    Step {
        about: "The same click again: the first outcome, and nothing is sent twice",
        action: Action::Clicks(1, "confirm"),
        expects: &["applied"],
        says: "",
    },
    Step {
        about: "A second trip for a Ferri",
        action: Action::Says("open a trip to Porto for Ben Ferri on 9 June"),
        expects: &["applied"],
        says: "Porto",
    },
    Step {
        about: "A card for it",
        action: Action::Says("rebook the Porto trip"),
        expects: &["awaiting_confirmation"],
        says: "",
    },
    Step {
        about: "The trip changes, so the card no longer says what would be done",
        action: Action::Says("add a meal to the Porto trip paid by the company"),
        expects: &["applied"],
        says: "",
    },
    Step {
        about: "The old card is refused as stale, and a fresh one asks",
        action: Action::Clicks(2, "confirm"),
        expects: &["stale_card"],
        says: "",
    },
    Step {
        about: "Two trips may be meant: a card asks, and nothing is guessed",
        action: Action::Says("and the Ferri trip?"),
        expects: &[],
        says: "Which one do you mean?",
    },
    Step {
        about: "The choice is made, and the question is answered",
        action: Action::Clicks(4, "1"),
        expects: &["card_closed"],
        says: "",
    },
    Step {
        about: "The fresh card is confirmed, and the airline drops the line after it has taken the request on",
        action: Action::ClicksWhileTheLineDrops(3, "confirm"),
        expects: &["applied"],
        says: "",
    },
    Step {
        about: "Nobody knows what became of it, and the traveller is told just that",
        action: Action::Waits,
        expects: &["unknown"],
        says: "",
    },
    Step {
        about: "A look-up under the same key finds it: nothing was sent a second time",
        action: Action::Waits,
        expects: &["submitted"],
        says: "",
    },
];

/// How often the airline must have been asked to rebook: once for each trip.
const REBOOKINGS: usize = 2;

impl Step {
    /// How the airline meets the next request, where the script says so.
    pub(super) fn airline(&self) -> Option<Behaviour> {
        match self.action {
            Action::ClicksWhileTheLineDrops(..) => Some(Behaviour::DropAfterCommit),
            Action::Says(_) | Action::Clicks(..) | Action::Waits => None,
        }
    }

    /// Compares what happened with the script.
    pub(super) fn check(&self, step: usize, scene: &Scene) -> Result<(), CliError> {
        let departed = |reason| Err(CliError::Departed { step, reason });
        let found = match &scene.shown {
            Shown::Answer(_) => scene.results(),
            Shown::Update(_) => scene.statuses(),
        };
        if found != self.expects {
            return departed(format!("expected {:?}, and found {found:?}", self.expects));
        }
        if !scene.words().contains(self.says) {
            return departed(format!("{:?} is not in what is shown", self.says));
        }
        Ok(())
    }
}

/// Compares the airline's own book with the script.
pub(super) fn check_book(book: &AirlineBook) -> Result<(), CliError> {
    let found = (book.received_total(), book.rebookings());
    if found == (REBOOKINGS, REBOOKINGS) {
        return Ok(());
    }
    let (received, taken) = found;
    let reason = format!("the airline was asked {received} times and took {taken} rebookings on");
    Err(CliError::Departed { step: STEPS.len(), reason })
}
