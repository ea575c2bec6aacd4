//! German words.

use turnframe_core::personal::Personal;
use turnframe_core::text::Text;

use super::{
    Extra, ExtraKind, Field, Language, Payer, RebookingStatus, ReceiptWords, Refusal, TripCommand,
    TripEvent, TripPhase, TripState, TripWords, around, people,
};
use crate::text_rule::LINE_MAX_CHARS;
use crate::trip::rebooking::{Anomaly, RebookingOutcome};

/// German.
pub(super) struct German;

impl TripWords for German {
    fn language(&self) -> Language {
        Language::German
    }

    fn field(&self, field: Field) -> String {
        match field {
            Field::Name => "Name",
            Field::Destination => "Ziel",
            Field::Date => "Datum",
            Field::Departure => "Abreise",
            Field::Traveller => "Reist mit",
            Field::Extra(number) => return format!("{} {number}", self.extra_prefix()),
            Field::Kind => "Zusatz",
            Field::Quantity => "Anzahl",
            Field::Payer => "Zahler",
            Field::ProtectedLeg => "Geschützte Teilstrecke",
            Field::Rebooking => "Umbuchung",
            Field::Effect => "Vorgang",
            Field::Sequence => "Nummer der Aussage",
            Field::Waited => "Wartezeit",
        }
        .to_owned()
    }

    fn extra_prefix(&self) -> &'static str {
        "Zusatzleistung"
    }

    fn kind(&self, kind: ExtraKind, quantity: u8) -> &'static str {
        match (kind, quantity) {
            (ExtraKind::Bag, _) => "Koffer",
            (ExtraKind::Seat, 1) => "Sitzplatz",
            (ExtraKind::Seat, _) => "Sitzplätze",
            (ExtraKind::Meal, 1) => "Mahlzeit",
            (ExtraKind::Meal, _) => "Mahlzeiten",
            (ExtraKind::Insurance, 1) => "Versicherung",
            (ExtraKind::Insurance, _) => "Versicherungen",
        }
    }

    fn payer(&self, payer: Payer) -> &'static str {
        match payer {
            Payer::Company => "die Firma",
            Payer::Traveller => "die reisende Person",
        }
    }

    fn no_payer(&self) -> &'static str {
        "noch offen"
    }

    fn extra(&self, extra: &Extra) -> String {
        let what = format!("{} {}", extra.quantity, self.kind(extra.kind, extra.quantity));
        match extra.payer {
            Some(payer) => format!("{what}, es zahlt {}", self.payer(payer)),
            None => format!("{what}, Zahler {}", self.no_payer()),
        }
    }

    fn rebooking(&self, status: &RebookingStatus) -> String {
        match status {
            RebookingStatus::Requested => "festgehalten, ob gesendet ist nicht bekannt".to_owned(),
            RebookingStatus::Submitted { reference } => {
                format!("bei der Fluggesellschaft unter {reference} eingereicht, nicht bestätigt")
            }
            RebookingStatus::Accepted { reference } => {
                format!("von der Fluggesellschaft unter {reference} angenommen")
            }
            RebookingStatus::Rejected { code } => {
                format!("von der Fluggesellschaft abgelehnt (Code {code})")
            }
            RebookingStatus::Unknown => {
                "unbekannt, ob sie die Fluggesellschaft erreicht hat".to_owned()
            }
            RebookingStatus::ReconciliationRequired => {
                "unbekannt, jemand muss bei der Fluggesellschaft nachfragen".to_owned()
            }
        }
    }

    fn overdue(&self) -> &'static str {
        "eine Antwort ist überfällig"
    }

    fn span(&self, seconds: u64) -> String {
        match (seconds / 60, seconds % 60) {
            (0, 1) => "1 Sekunde".to_owned(),
            (1, 0) => "1 Minute".to_owned(),
            (minutes, 0) if minutes > 0 => format!("{minutes} Minuten"),
            _ => format!("{seconds} Sekunden"),
        }
    }

    fn description(&self, state: &TripState) -> Text {
        let people = people(self.language(), state);
        match (&state.destination, people.is_empty()) {
            (Some(place), true) => format!("Reise nach {place}").into(),
            (Some(place), false) => Text::from(format!("Reise nach {place} für ")).text(&people),
            (None, true) => "Reise ohne Namen".into(),
            (None, false) => Text::from("Reise für ").text(&people),
        }
    }

    fn called_by_destination(&self, place: &str) -> Vec<String> {
        vec![
            format!("{place}-Reise"),
            format!("die {place}-Reise"),
            format!("Reise nach {place}"),
            format!("die Reise nach {place}"),
            format!("der Reise nach {place}"),
        ]
    }

    fn called_by_person(&self, name: &Personal<String>) -> Vec<Text> {
        vec![
            around("", name, "-Reise"),
            around("die ", name, "-Reise"),
            around("", name, "s Reise"),
            around("Reise von ", name, ""),
            around("die Reise von ", name, ""),
            around("Reise für ", name, ""),
            around("die Reise für ", name, ""),
        ]
    }

    fn phase(&self, phase: TripPhase) -> &'static str {
        match phase {
            TripPhase::New => "es gibt sie noch nicht.",
            TripPhase::Planning => "sie ist in Planung.",
            TripPhase::NeedsPayer => "es fehlt Ihre Angabe, wer eine Zusatzleistung zahlt.",
            TripPhase::Rebooking => {
                "sie wartet auf die Fluggesellschaft, die um eine Umbuchung gebeten ist."
            }
            TripPhase::Unresolved => {
                "es ist noch nicht geklärt, ob die Umbuchung die Fluggesellschaft erreicht hat."
            }
            TripPhase::Withdrawn => "sie ist zurückgezogen.",
        }
    }

    fn payer_question(&self, extra: &Extra) -> Text {
        format!("Wer zahlt Zusatzleistung {}?", extra.number).into()
    }

    fn no_extras(&self) -> &'static str {
        "sie hat keine Zusatzleistungen."
    }

    fn extras_follow(&self) -> &'static str {
        "das sind ihre Zusatzleistungen."
    }

    fn receipt(&self, event: &TripEvent) -> ReceiptWords {
        receipt(self, event)
    }

    fn question(&self, command: &TripCommand, label: &Text) -> Text {
        let of = |before: &str, after: &str| Text::from(before).text(label).plain(after);
        match command {
            TripCommand::Open(_) => "Diese Reise eröffnen?".into(),
            TripCommand::Rename { .. } => of("„", "“ umbenennen?"),
            TripCommand::SetDestination { .. } => of("Das Ziel von „", "“ ändern?"),
            TripCommand::SetDate { .. } => of("Das Datum von „", "“ ändern?"),
            TripCommand::SetDeparture { .. } => of("Die Abreise von „", "“ ändern?"),
            TripCommand::AddTraveller { .. } => of("Diese Person zu „", "“ hinzufügen?"),
            TripCommand::AddExtra { .. } => of("Diese Zusatzleistung zu „", "“ hinzufügen?"),
            TripCommand::SetPayer { .. } => of("Den Zahler bei „", "“ festlegen?"),
            TripCommand::RemoveExtra { .. } => of("Diese Zusatzleistung von „", "“ entfernen?"),
            TripCommand::ProtectLeg { .. } => of("Diese Teilstrecke von „", "“ schützen?"),
            TripCommand::RequestRebooking => {
                of("Die Fluggesellschaft bitten, „", "“ mit genau diesen Angaben umzubuchen?")
            }
            TripCommand::Withdraw => of("„", "“ endgültig zurückziehen?"),
            TripCommand::RecordRebookingOutcome { .. } => {
                of("Festhalten, was zu „", "“ bekannt ist?")
            }
            TripCommand::RecordRebookingOverdue { .. } => {
                of("Festhalten, dass zu „", "“ eine Entscheidung überfällig ist?")
            }
        }
    }

    fn confirm(&self, command: &TripCommand) -> &'static str {
        match command {
            TripCommand::Open(_) => "Eröffnen",
            TripCommand::RequestRebooking => "Fluggesellschaft bitten",
            TripCommand::Withdraw => "Zurückziehen",
            TripCommand::AddExtra { .. } | TripCommand::AddTraveller { .. } => "Hinzufügen",
            TripCommand::RemoveExtra { .. } => "Entfernen",
            TripCommand::Rename { .. }
            | TripCommand::SetDestination { .. }
            | TripCommand::SetDate { .. }
            | TripCommand::SetDeparture { .. } => "Ändern",
            TripCommand::SetPayer { .. }
            | TripCommand::ProtectLeg { .. }
            | TripCommand::RecordRebookingOutcome { .. }
            | TripCommand::RecordRebookingOverdue { .. } => "Ja",
        }
    }

    fn decline(&self) -> &'static str {
        "Nein"
    }

    fn refusal(&self, refusal: Option<Refusal>, detail: &Text) -> Text {
        let about = |before: &str, after: &str| Text::from(before).text(detail).plain(after);
        let Some(refusal) = refusal else { return "Das lässt die Reise nicht zu.".into() };
        match refusal {
            Refusal::AlreadyOpen => "Diese Reise ist schon eröffnet.".into(),
            Refusal::NotOpen => "Diese Reise gibt es noch nicht.".into(),
            Refusal::Withdrawn => {
                "Diese Reise ist zurückgezogen und ändert sich nicht mehr.".into()
            }
            Refusal::Unchanged => "Das ist schon so; es wurde nichts geändert.".into(),
            Refusal::Blank => "Da stehen keine Worte.".into(),
            Refusal::TooLong => {
                format!("Das ist zu lang; höchstens {LINE_MAX_CHARS} Zeichen.").into()
            }
            Refusal::Control => "Diese Worte enthalten ein Zeichen, das man nicht sieht.".into(),
            Refusal::Erased => "Diese Worte wurden inzwischen gelöscht.".into(),
            Refusal::NoSuchExtra => about("Diese Reise hat keine Zusatzleistung ", "."),
            Refusal::QuantityOutOfRange => about("Eine Reise nimmt 1 bis ", " davon auf."),
            Refusal::LimitReached => about("Eine Reise nimmt höchstens ", " davon auf."),
            Refusal::NothingToRebook => {
                "Die Reise hat noch kein Ziel, um das man die Fluggesellschaft bitten könnte."
                    .into()
            }
            Refusal::RebookingInFlight => {
                "Eine Umbuchung ist bei der Fluggesellschaft oder auf dem Weg dorthin. Bis sie \
                 geantwortet hat, wird nichts weiter gesendet, und das Gesendete bleibt, wie es ist."
                    .into()
            }
            Refusal::RebookingUnresolved => {
                "Ob eine Umbuchung die Fluggesellschaft erreicht hat, ist nicht bekannt. Bis das \
                 geklärt ist, wird nichts noch einmal gesendet, und das Gesendete bleibt, wie es ist."
                    .into()
            }
            Refusal::NothingToDo => "Es gab nichts zu tun.".into(),
        }
    }

    fn forbidden(&self) -> &'static [&'static str] {
        &[
            "erledigt",
            "fertig",
            "umgebucht",
            "ist gebucht",
            "wurde gebucht",
            "erstattet",
            "von der fluggesellschaft bestätigt",
            "die fluggesellschaft hat bestätigt",
            "die fluggesellschaft hat angenommen",
            "bei der fluggesellschaft eingereicht",
            "an die fluggesellschaft gesendet",
            "wurde zurückgezogen",
            "storniert",
            "erfolgreich",
        ]
    }
}

fn receipt(german: &German, event: &TripEvent) -> ReceiptWords {
    let line = |field: Field, value: Text| german.line(field, &value).plain(".");
    let personal = |words: &Personal<String>| Text::new().personal(words);
    let (title, sentence) = match event {
        TripEvent::TripOpened { name, destination, date } => {
            let mut text = Text::from("eröffnet.");
            for line in [
                name.as_ref().map(|name| line(Field::Name, personal(name))),
                destination.as_deref().map(|place| line(Field::Destination, place.into())),
                date.map(|date| line(Field::Date, german.language().date(date).into())),
            ]
            .into_iter()
            .flatten()
            {
                text = text.plain(" ").text(&line);
            }
            ("Reise eröffnet", text)
        }
        TripEvent::TripRenamed { name } => ("Reise umbenannt", line(Field::Name, personal(name))),
        TripEvent::DestinationSet { destination } => {
            ("Ziel geändert", line(Field::Destination, destination.as_str().into()))
        }
        TripEvent::DateSet { date } => {
            ("Datum geändert", line(Field::Date, german.language().date(*date).into()))
        }
        TripEvent::DepartureSet { departure } => {
            let moment = german.language().moment(departure.civil);
            ("Abreise geändert", line(Field::Departure, moment.into()))
        }
        TripEvent::DepartureCleared => (
            "Abreise entfernt",
            "Die Abreise gehörte zu einem anderen Tag und gilt nicht mehr.".into(),
        ),
        TripEvent::TravellerAdded { traveller } => {
            ("Mitreisende Person hinzugefügt", line(Field::Traveller, personal(traveller)))
        }
        TripEvent::ExtraAdded { extra } => (
            "Zusatzleistung hinzugefügt",
            line(Field::Extra(extra.number), german.extra(extra).into()),
        ),
        TripEvent::PayerSet { extra, payer } => {
            let payer = german.payer(*payer);
            ("Zahler festgelegt", format!("Zusatzleistung {extra} zahlt {payer}.").into())
        }
        TripEvent::ExtraRemoved { extra } => {
            ("Zusatzleistung entfernt", format!("Zusatzleistung {extra} wurde entfernt.").into())
        }
        TripEvent::LegProtected { leg } => (
            "Teilstrecke geschützt",
            format!("Eine Umbuchung soll diese Teilstrecke lassen, wie sie ist: {leg}.").into(),
        ),
        TripEvent::RebookingRequested { .. } => (
            "Umbuchung vorbereitet",
            "Die Umbuchung ist festgehalten und wird der Fluggesellschaft gleich gesendet; \
             bestätigt ist nichts."
                .into(),
        ),
        TripEvent::RebookingOutcomeRecorded { outcome, .. } => outcome_words(outcome),
        TripEvent::RebookingOverdue { seconds, .. } => (
            "Noch keine Entscheidung der Fluggesellschaft",
            format!(
                "Die Fluggesellschaft hat über die Umbuchung binnen {} nicht entschieden. Was über sie bekannt ist, hat sich nicht geändert.",
                german.span(*seconds)
            )
            .into(),
        ),
        TripEvent::OutcomeAnomalyRecorded { outcome, anomaly, .. } => {
            anomaly_words(german, outcome, *anomaly)
        }
        TripEvent::TripWithdrawn => ("Reise zurückgezogen", "endgültig zurückgezogen.".into()),
    };
    ReceiptWords { title: title.into(), sentence }
}

fn outcome_words(outcome: &RebookingOutcome) -> (&'static str, Text) {
    match outcome {
        RebookingOutcome::Submitted { reference } => (
            "Umbuchung eingereicht",
            format!(
                "Die Umbuchung wurde bei der Fluggesellschaft unter {reference} eingereicht. Sie ist \
                 noch nicht bestätigt; das heißt nicht, dass die Reise umgebucht ist."
            )
            .into(),
        ),
        RebookingOutcome::Accepted { reference } => (
            "Umbuchung von der Fluggesellschaft angenommen",
            format!("Die Fluggesellschaft hat die Umbuchung unter {reference} angenommen.").into(),
        ),
        RebookingOutcome::Rejected { code } => (
            "Umbuchung von der Fluggesellschaft abgelehnt",
            format!("Die Fluggesellschaft hat die Umbuchung mit dem Code {code} abgelehnt.").into(),
        ),
        RebookingOutcome::Unknown => (
            "Umbuchung: Ausgang unbekannt",
            "Die Umbuchung hat die Fluggesellschaft vielleicht erreicht, vielleicht nicht. Wir \
             klären das; bis dahin wird nichts noch einmal gesendet."
                .into(),
        ),
        RebookingOutcome::ReconciliationRequired => (
            "Umbuchung: bei der Fluggesellschaft zu klären",
            "Es ließ sich nicht klären, ob die Umbuchung die Fluggesellschaft erreicht hat. Jemand \
             muss dort nachfragen; bis dahin wird nichts noch einmal gesendet."
                .into(),
        ),
    }
}

fn anomaly_words(
    german: &German,
    outcome: &RebookingOutcome,
    anomaly: Anomaly,
) -> (&'static str, Text) {
    let said = german.rebooking(&outcome.clone().into());
    let why = match anomaly {
        Anomaly::UnknownEffect => "dazu ist keine Umbuchung dieser Reise bekannt",
        Anomaly::EarlierRebooking => "es geht um eine frühere Umbuchung",
        Anomaly::OlderStatus => "Neueres ist festgehalten, oder es ist nicht zu unterscheiden",
        Anomaly::Contradiction => {
            "es widerspricht dem Festgehaltenen, jemand muss bei der Fluggesellschaft \
             nachfragen"
        }
    };
    (
        "Aussage zu einer Umbuchung nicht übernommen",
        format!("Es hieß: {said}. Die Reise bleibt, wie sie ist: {why}.").into(),
    )
}
