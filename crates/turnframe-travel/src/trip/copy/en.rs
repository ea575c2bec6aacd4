//! English words.

use turnframe_core::personal::Personal;
use turnframe_core::text::Text;

use super::{
    Extra, ExtraKind, Field, Language, Payer, RebookingStatus, ReceiptWords, Refusal, TripCommand,
    TripEvent, TripPhase, TripState, TripWords, around, people,
};
use crate::text_rule::LINE_MAX_CHARS;
use crate::trip::rebooking::{Anomaly, RebookingOutcome};

/// English.
pub(super) struct English;

impl TripWords for English {
    fn language(&self) -> Language {
        Language::English
    }

    fn field(&self, field: Field) -> String {
        match field {
            Field::Name => "name",
            Field::Destination => "destination",
            Field::Date => "date",
            Field::Departure => "departure",
            Field::Traveller => "traveller",
            Field::Extra(number) => return format!("{} {number}", self.extra_prefix()),
            Field::Kind => "extra",
            Field::Quantity => "quantity",
            Field::Payer => "payer",
            Field::ProtectedLeg => "protected leg",
            Field::Rebooking => "rebooking",
            Field::Effect => "effect",
            Field::Sequence => "statement number",
            Field::Waited => "waiting time",
        }
        .to_owned()
    }

    fn extra_prefix(&self) -> &'static str {
        "extra"
    }

    fn kind(&self, kind: ExtraKind, quantity: u8) -> &'static str {
        match (kind, quantity) {
            (ExtraKind::Bag, 1) => "bag",
            (ExtraKind::Bag, _) => "bags",
            (ExtraKind::Seat, 1) => "seat",
            (ExtraKind::Seat, _) => "seats",
            (ExtraKind::Meal, 1) => "meal",
            (ExtraKind::Meal, _) => "meals",
            (ExtraKind::Insurance, 1) => "insurance",
            (ExtraKind::Insurance, _) => "insurances",
        }
    }

    fn payer(&self, payer: Payer) -> &'static str {
        match payer {
            Payer::Company => "the company",
            Payer::Traveller => "the traveller",
        }
    }

    fn no_payer(&self) -> &'static str {
        "not settled"
    }

    fn extra(&self, extra: &Extra) -> String {
        let what = format!("{} {}", extra.quantity, self.kind(extra.kind, extra.quantity));
        match extra.payer {
            Some(payer) => format!("{what}, paid by {}", self.payer(payer)),
            None => format!("{what}, payer {}", self.no_payer()),
        }
    }

    fn rebooking(&self, status: &RebookingStatus) -> String {
        match status {
            RebookingStatus::Requested => "recorded, not known to be sent".to_owned(),
            RebookingStatus::Submitted { reference } => {
                format!("submitted to the airline under reference {reference}, not confirmed")
            }
            RebookingStatus::Accepted { reference } => {
                format!("accepted by the airline under reference {reference}")
            }
            RebookingStatus::Rejected { code } => format!("refused by the airline (code {code})"),
            RebookingStatus::Unknown => {
                "unknown, it may or may not have reached the airline".to_owned()
            }
            RebookingStatus::ReconciliationRequired => {
                "unknown, somebody has to check with the airline".to_owned()
            }
        }
    }

    fn overdue(&self) -> &'static str {
        "an answer is overdue"
    }

    fn span(&self, seconds: u64) -> String {
        match (seconds / 60, seconds % 60) {
            (0, 1) => "1 second".to_owned(),
            (1, 0) => "1 minute".to_owned(),
            (minutes, 0) if minutes > 0 => format!("{minutes} minutes"),
            _ => format!("{seconds} seconds"),
        }
    }

    fn description(&self, state: &TripState) -> Text {
        let people = people(self.language(), state);
        match (&state.destination, people.is_empty()) {
            (Some(place), true) => format!("{place} trip").into(),
            (Some(place), false) => Text::from(format!("{place} trip for ")).text(&people),
            (None, true) => "unnamed trip".into(),
            (None, false) => Text::from("trip for ").text(&people),
        }
    }

    fn called_by_destination(&self, place: &str) -> Vec<String> {
        vec![
            format!("{place} trip"),
            format!("the {place} trip"),
            format!("trip to {place}"),
            format!("the trip to {place}"),
        ]
    }

    fn called_by_person(&self, name: &Personal<String>) -> Vec<Text> {
        vec![
            around("", name, " trip"),
            around("the ", name, " trip"),
            around("", name, "'s trip"),
            around("", name, "’s trip"),
            around("trip for ", name, ""),
            around("the trip for ", name, ""),
        ]
    }

    fn phase(&self, phase: TripPhase) -> &'static str {
        match phase {
            TripPhase::New => "it does not exist yet.",
            TripPhase::Planning => "it is being planned.",
            TripPhase::NeedsPayer => "it waits for you to say who pays for an extra.",
            TripPhase::Rebooking => "it waits for the airline, which was asked to rebook it.",
            TripPhase::Unresolved => {
                "it waits until somebody finds out whether the rebooking reached the airline."
            }
            TripPhase::Withdrawn => "it was withdrawn.",
        }
    }

    fn payer_question(&self, extra: &Extra) -> Text {
        format!("Who pays for extra {}?", extra.number).into()
    }

    fn no_extras(&self) -> &'static str {
        "it has no extras."
    }

    fn extras_follow(&self) -> &'static str {
        "these are its extras."
    }

    fn receipt(&self, event: &TripEvent) -> ReceiptWords {
        receipt(self, event)
    }

    fn question(&self, command: &TripCommand, label: &Text) -> Text {
        let of = |before: &str, after: &str| Text::from(before).text(label).plain(after);
        match command {
            TripCommand::Open(_) => "Open this trip?".into(),
            TripCommand::Rename { .. } => of("Rename ", "?"),
            TripCommand::SetDestination { .. } => of("Change the destination of ", "?"),
            TripCommand::SetDate { .. } => of("Change the date of ", "?"),
            TripCommand::SetDeparture { .. } => of("Change the departure of ", "?"),
            TripCommand::AddTraveller { .. } => of("Add this traveller to ", "?"),
            TripCommand::AddExtra { .. } => of("Add this extra to ", "?"),
            TripCommand::SetPayer { .. } => of("Settle who pays on ", "?"),
            TripCommand::RemoveExtra { .. } => of("Remove this extra from ", "?"),
            TripCommand::ProtectLeg { .. } => of("Protect this leg of ", "?"),
            TripCommand::RequestRebooking => {
                of("Ask the airline to rebook ", " with exactly this?")
            }
            TripCommand::Withdraw => of("Withdraw ", " for good?"),
            TripCommand::RecordRebookingOutcome { .. } => of("Record what is known of ", "?"),
            TripCommand::RecordRebookingOverdue { .. } => {
                of("Record that a decision is overdue for ", "?")
            }
        }
    }

    fn confirm(&self, command: &TripCommand) -> &'static str {
        match command {
            TripCommand::Open(_) => "Open it",
            TripCommand::RequestRebooking => "Ask the airline",
            TripCommand::Withdraw => "Withdraw it",
            TripCommand::AddExtra { .. } | TripCommand::AddTraveller { .. } => "Add",
            TripCommand::RemoveExtra { .. } => "Remove",
            TripCommand::Rename { .. }
            | TripCommand::SetDestination { .. }
            | TripCommand::SetDate { .. }
            | TripCommand::SetDeparture { .. } => "Change",
            TripCommand::SetPayer { .. }
            | TripCommand::ProtectLeg { .. }
            | TripCommand::RecordRebookingOutcome { .. }
            | TripCommand::RecordRebookingOverdue { .. } => "Yes",
        }
    }

    fn decline(&self) -> &'static str {
        "No"
    }

    fn refusal(&self, refusal: Option<Refusal>, detail: &Text) -> Text {
        let about = |before: &str, after: &str| Text::from(before).text(detail).plain(after);
        let Some(refusal) = refusal else { return "The trip does not allow that.".into() };
        match refusal {
            Refusal::AlreadyOpen => "This trip is open already.".into(),
            Refusal::NotOpen => "There is no such trip yet.".into(),
            Refusal::Withdrawn => "This trip was withdrawn and does not change any more.".into(),
            Refusal::Unchanged => "That is so already; nothing was changed.".into(),
            Refusal::Blank => "There are no words there.".into(),
            Refusal::TooLong => {
                format!("That is too long; {LINE_MAX_CHARS} characters are the most.").into()
            }
            Refusal::Control => "Those words hold a character that cannot be shown.".into(),
            Refusal::Erased => "Those words were erased meanwhile.".into(),
            Refusal::NoSuchExtra => about("This trip has no extra ", "."),
            Refusal::QuantityOutOfRange => about("A trip takes 1 to ", " of an extra."),
            Refusal::LimitReached => about("A trip takes at most ", " of them."),
            Refusal::NothingToRebook => {
                "The trip has no destination yet that the airline could be asked for.".into()
            }
            Refusal::RebookingInFlight => {
                "A rebooking is with the airline or on its way there. Until the airline has \
                 answered, nothing else is sent, and what it was sent stays as it is."
                    .into()
            }
            Refusal::RebookingUnresolved => {
                "A rebooking may or may not have reached the airline. Until that is found out, \
                 nothing is sent again, and what was sent stays as it is."
                    .into()
            }
            Refusal::NothingToDo => "There was nothing to do.".into(),
        }
    }

    fn forbidden(&self) -> &'static [&'static str] {
        &[
            "done",
            "rebooked",
            "is booked",
            "been booked",
            "refunded",
            "all set",
            "confirmed by the airline",
            "the airline confirmed",
            "the airline accepted",
            "submitted to the airline",
            "sent to the airline",
            "has been withdrawn",
            "was withdrawn",
            "cancelled",
            "canceled",
            "successfully",
        ]
    }
}

fn receipt(english: &English, event: &TripEvent) -> ReceiptWords {
    let line = |field: Field, value: Text| english.line(field, &value).plain(".");
    let personal = |words: &Personal<String>| Text::new().personal(words);
    let (title, sentence) = match event {
        TripEvent::TripOpened { name, destination, date } => {
            let mut text = Text::from("opened.");
            for line in [
                name.as_ref().map(|name| line(Field::Name, personal(name))),
                destination.as_deref().map(|place| line(Field::Destination, place.into())),
                date.map(|date| line(Field::Date, english.language().date(date).into())),
            ]
            .into_iter()
            .flatten()
            {
                text = text.plain(" ").text(&line);
            }
            ("Trip opened", text)
        }
        TripEvent::TripRenamed { name } => ("Trip renamed", line(Field::Name, personal(name))),
        TripEvent::DestinationSet { destination } => {
            ("Destination changed", line(Field::Destination, destination.as_str().into()))
        }
        TripEvent::DateSet { date } => {
            ("Date changed", line(Field::Date, english.language().date(*date).into()))
        }
        TripEvent::DepartureSet { departure } => {
            let moment = english.language().moment(departure.civil);
            ("Departure changed", line(Field::Departure, moment.into()))
        }
        TripEvent::DepartureCleared => (
            "Departure removed",
            "The departure belonged to another day and does not hold any more.".into(),
        ),
        TripEvent::TravellerAdded { traveller } => {
            ("Traveller added", line(Field::Traveller, personal(traveller)))
        }
        TripEvent::ExtraAdded { extra } => {
            ("Extra added", line(Field::Extra(extra.number), english.extra(extra).into()))
        }
        TripEvent::PayerSet { extra, payer } => {
            let payer = english.payer(*payer);
            ("Payer settled", format!("Extra {extra} is paid by {payer}.").into())
        }
        TripEvent::ExtraRemoved { extra } => {
            ("Extra removed", format!("Extra {extra} was taken off.").into())
        }
        TripEvent::LegProtected { leg } => (
            "Leg protected",
            format!("A rebooking is asked to leave this leg as it is: {leg}.").into(),
        ),
        TripEvent::RebookingRequested { .. } => (
            "Rebooking prepared",
            "The rebooking is recorded and about to be sent to the airline; nothing is confirmed."
                .into(),
        ),
        TripEvent::RebookingOutcomeRecorded { outcome, .. } => outcome_words(outcome),
        TripEvent::RebookingOverdue { seconds, .. } => (
            "No decision by the airline yet",
            format!(
                "The airline has not decided on the rebooking within {}. What is known of it has not changed.",
                english.span(*seconds)
            )
            .into(),
        ),
        TripEvent::OutcomeAnomalyRecorded { outcome, anomaly, .. } => {
            anomaly_words(english, outcome, *anomaly)
        }
        TripEvent::TripWithdrawn => ("Trip withdrawn", "withdrawn for good.".into()),
    };
    ReceiptWords { title: title.into(), sentence }
}

fn outcome_words(outcome: &RebookingOutcome) -> (&'static str, Text) {
    match outcome {
        RebookingOutcome::Submitted { reference } => (
            "Rebooking submitted",
            format!(
                "The rebooking was submitted to the airline under reference {reference}. It is not \
                 confirmed yet; this does not mean that the trip is rebooked."
            )
            .into(),
        ),
        RebookingOutcome::Accepted { reference } => (
            "Rebooking accepted by the airline",
            format!("The airline accepted the rebooking under reference {reference}.").into(),
        ),
        RebookingOutcome::Rejected { code } => (
            "Rebooking refused by the airline",
            format!("The airline refused the rebooking with code {code}.").into(),
        ),
        RebookingOutcome::Unknown => (
            "Rebooking: outcome unknown",
            "The rebooking may or may not have reached the airline. We are finding out; nothing is \
             sent again meanwhile."
                .into(),
        ),
        RebookingOutcome::ReconciliationRequired => (
            "Rebooking: to be checked with the airline",
            "It could not be found out whether the rebooking reached the airline. Somebody has to \
             check with the airline; nothing is sent again meanwhile."
                .into(),
        ),
    }
}

fn anomaly_words(
    english: &English,
    outcome: &RebookingOutcome,
    anomaly: Anomaly,
) -> (&'static str, Text) {
    let said = english.rebooking(&outcome.clone().into());
    let why = match anomaly {
        Anomaly::UnknownEffect => "no rebooking of this trip is known under it",
        Anomaly::EarlierRebooking => "it is about an earlier rebooking",
        Anomaly::OlderStatus => "something newer is recorded, or it cannot be told apart",
        Anomaly::Contradiction => {
            "it contradicts what is recorded, and somebody has to check with the airline"
        }
    };
    (
        "Statement about a rebooking not applied",
        format!("It was said to be: {said}. The trip stays as it is: {why}.").into(),
    )
}
