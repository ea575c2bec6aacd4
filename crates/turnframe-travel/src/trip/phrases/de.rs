//! German phrases.

use super::{ExtraKind, Operation, Payer, PhraseBook, Topic};

/// German as it is asked in.
pub(super) struct German;

impl PhraseBook for German {
    fn operation(&self, operation: Operation) -> &'static [&'static str] {
        match operation {
            Operation::Open => &[
                "(öffne|eröffne|erstelle|plane|buche) [eine] [neue] Reise [nach {destination}] [für {traveller}] [am {date}] [namens {name}]",
                "(öffne|eröffne|erstelle|plane|buche) [eine] [neue] Reise für {traveller} nach {destination} [am {date}] [namens {name}]",
                "(öffne|eröffne|erstelle|plane|buche) [eine] [neue] Reise [nach {destination}] am {date} für {traveller} [namens {name}]",
                "(öffne|eröffne|erstelle|plane|buche) [eine] [neue] Reise namens {name} [nach {destination}] [für {traveller}] [am {date}]",
                "(lege|leg) [eine] [neue] Reise [nach {destination}] [für {traveller}] [am {date}] an",
                "[eine] neue Reise nach {destination} [für {traveller}] [am {date}]",
                "{traveller} (braucht|möchte) [eine] Reise nach {destination} [am {date}]",
            ],
            Operation::Rename => &[
                "(benenne|nenne) {target} in {name} um",
                "(benenne|nenne) [die|diese] Reise in {name} um",
                "(ändere|setze) [den] Namen [von {target}] auf {name}",
                "nenne sie {name}",
                "gib {target} den Namen {name}",
            ],
            Operation::SetDestination => &[
                "(ändere|setze) [das] Ziel [von {target}] auf {destination}",
                "(ändere|setze) [das] Reiseziel [von {target}] auf {destination}",
                "{target} (geht|soll) nach {destination} [gehen]",
                "schicke {target} nach {destination}",
                "[das] Ziel ist {destination}",
            ],
            Operation::SetDate => &[
                "(ändere|setze|verschiebe) [das] Datum [von {target}] auf [den] {date}",
                "(verschiebe|verlege) {target} auf [den] {date}",
                "(verschiebe|verlege) sie auf [den] {date}",
                "{target} (ist|beginnt) am {date}",
                "[das] Datum ist [der] {date}",
            ],
            Operation::SetDeparture => &[
                "(ändere|setze|verschiebe) [die] Abreise [von {target}] auf [den] {departure}",
                "(ändere|setze|verschiebe) [den] Abflug [von {target}] auf [den] {departure}",
                "{target} (startet|geht) [am|um] {departure} [los]",
                "[die] Abreise ist [am|um] {departure}",
                "[der] Abflug ist [am|um] {departure}",
            ],
            Operation::AddTraveller => &[
                "füge {traveller} als (Reisenden|Reisende) hinzu",
                "füge {target} [den|die] (Reisenden|Reisende) {traveller} hinzu",
                "füge {traveller} zu {target} hinzu",
                "{traveller} (reist|fliegt|kommt) mit",
                "nimm {traveller} mit [auf {target}]",
            ],
            Operation::AddExtra => &[
                "(füge|buche) [einen|eine|ein|noch|{quantity}] {extra} [zu {target}] hinzu",
                "(füge|buche) [einen|eine|ein|noch|{quantity}] {extra} zu {target} hinzu bezahlt von {payer}",
                "(füge|buche) [einen|eine|ein|noch|{quantity}] {extra} bezahlt von {payer} hinzu",
                "(buche|bestelle|kaufe) [einen|eine|ein|noch|{quantity}] {extra} [für {target}] [bezahlt von {payer}]",
                "{target} braucht [einen|eine|ein|noch|{quantity}] {extra} [bezahlt von {payer}]",
                "mit [einem|einer|{quantity}] {extra} [bezahlt von {payer}]",
            ],
            Operation::SetPayer => &[
                "{payer} (zahlt|bezahlt) [die] (Zusatzleistung|Extra) {number} [von {target}]",
                "{payer} (zahlt|bezahlt) (den|die|das) {extra} [von {target}]",
                "{payer} (zahlt|bezahlt) (ihn|sie|es|das)",
                "(Zusatzleistung|Extra) {number} [von {target}] wird von {payer} bezahlt",
                "(der|die|das) {extra} [von {target}] wird von {payer} bezahlt",
                "(setze|ändere) [den] Zahler (der|von) (Zusatzleistung|Extra) {number} auf {payer}",
                "(setze|ändere) [den] Zahler (des|der) {extra} auf {payer}",
                "lass {payer} für (den|die|das) {extra} zahlen",
                "lass {payer} (Zusatzleistung|Extra) {number} zahlen",
            ],
            Operation::RemoveExtra => &[
                "(entferne|streiche|storniere|lösche) (Zusatzleistung|Extra) {number} [von {target}]",
                "(entferne|streiche|storniere|lösche) (den|die|das) {extra} [von {target}]",
                "nimm (Zusatzleistung|Extra) {number} (raus|heraus)",
                "nimm (den|die|das) {extra} (raus|heraus)",
                "doch (kein|keinen|keine) {extra}",
            ],
            Operation::ProtectLeg => &[
                "schütze [die] Teilstrecke {leg} [von {target}]",
                "schütze [die] Strecke {leg} [von {target}]",
                "(lass|lasse) [die] (Teilstrecke|Strecke) {leg} [von {target}] unverändert",
                "[die] (Teilstrecke|Strecke) {leg} muss bleiben",
            ],
            Operation::RequestRebooking => &[
                "buche sie um",
                "buche [die|diese|meine] Reise um",
                "buche {target} um",
                "(beantrage|verlange) [eine|die] Umbuchung",
                "(beantrage|verlange) [eine|die] Umbuchung (von|für) {target}",
                "bitte die Fluggesellschaft um [eine] Umbuchung",
                "bitte die Fluggesellschaft um [eine] Umbuchung von {target}",
                "lass {target} umbuchen",
                "versuche [noch einmal] {target} umzubuchen",
                "versuche es noch einmal",
                "(sende|schicke) es noch einmal",
            ],
            Operation::Withdraw => &[
                "(storniere|widerrufe) {target}",
                "(storniere|widerrufe) [die|diese|meine] Reise",
                "(ziehe|zieh) {target} zurück",
                "(ziehe|zieh) sie zurück",
                "sage {target} ab",
                "sage [die|diese] Reise ab",
            ],
        }
    }

    fn names(&self, operation: Operation) -> &'static [&'static str] {
        match operation {
            Operation::Open => &["Eröffnen einer Reise", "neue Reise", "eröffne"],
            Operation::Rename => &["Umbenennen der Reise", "benenne um", "umbenennen"],
            Operation::SetDestination => &["Ändern des Ziels", "Ziel", "Reiseziel"],
            Operation::SetDate => &["Ändern des Datums", "Datum", "verschiebe", "verschieben"],
            Operation::SetDeparture => &["Ändern der Abreise", "Abreise", "Abflug"],
            Operation::AddTraveller => &["Hinzufügen von Reisenden", "Reisende", "Reisenden"],
            Operation::AddExtra => {
                &["Hinzufügen einer Zusatzleistung", "Zusatzleistung", "Zusatzleistungen", "Extras"]
            }
            Operation::SetPayer => &["Festlegen des Zahlers", "Zahler"],
            Operation::RemoveExtra => {
                &["Entfernen einer Zusatzleistung", "entferne", "entfernen", "streiche"]
            }
            Operation::ProtectLeg => &["Schützen einer Teilstrecke", "schütze", "schützen"],
            Operation::RequestRebooking => &[
                "Beantragen einer Umbuchung",
                "Umbuchung",
                "buche um",
                "buche etwas um",
                "umbuchen",
            ],
            Operation::Withdraw => {
                &["Zurückziehen der Reise", "storniere", "stornieren", "ziehe zurück", "sage ab"]
            }
        }
    }

    fn topic(&self, topic: Topic) -> &'static [&'static str] {
        match topic {
            Topic::Status => &[
                "(was ist|wie ist) der (Status|Stand) [von {target}]",
                "wie steht es um {target}",
                "wie steht es mit {target}",
                "(zeig|zeige) [mir] {target}",
                "(Status|Stand) [von {target}]",
                "(was ist mit|wie ist es mit) {target}",
                "und {target}",
                "(ist|wurde) {target} [schon] umgebucht [worden]",
                "(ist|wurde) sie [schon] umgebucht [worden]",
            ],
            Topic::Payer => &[
                "wer (zahlt|bezahlt) [{target}]",
                "wer (zahlt|bezahlt) (den|die|das) (Koffer|Gepäck|Sitzplatz|Essen|Versicherung|Zusatzleistung|Extras) [von {target}]",
                "wer ist [der] Zahler [von {target}]",
            ],
        }
    }

    fn kind(&self, kind: ExtraKind) -> &'static [&'static str] {
        match kind {
            ExtraKind::Bag => &[
                "Koffer",
                "Koffers",
                "Gepäck",
                "Gepäckstück",
                "Gepäckstücke",
                "Gepäckstücks",
                "Tasche",
                "Taschen",
                "Aufgabegepäck",
            ],
            ExtraKind::Seat => &[
                "Sitzplatz",
                "Sitzplätze",
                "Sitzplatzes",
                "Sitz",
                "Sitze",
                "Sitzplatzreservierung",
                "Fensterplatz",
                "Gangplatz",
            ],
            ExtraKind::Meal => &["Essen", "Mahlzeit", "Mahlzeiten", "Menü", "Menüs"],
            ExtraKind::Insurance => {
                &["Versicherung", "Versicherungen", "Reiseversicherung", "Reiseversicherungen"]
            }
        }
    }

    fn payer(&self, payer: Payer) -> &'static [&'static str] {
        match payer {
            Payer::Company => &[
                "Firma",
                "die Firma",
                "der Firma",
                "meine Firma",
                "meiner Firma",
                "Unternehmen",
                "das Unternehmen",
                "dem Unternehmen",
                "Arbeitgeber",
                "der Arbeitgeber",
                "mein Arbeitgeber",
                "meinem Arbeitgeber",
                "wir",
                "uns",
            ],
            Payer::Traveller => &[
                "Reisende",
                "Reisender",
                "der Reisende",
                "die Reisende",
                "dem Reisenden",
                "der Reisenden",
                "Passagier",
                "der Passagier",
                "dem Passagier",
                "ich",
                "ich selbst",
                "mir",
                "mir selbst",
                "privat",
            ],
        }
    }
}
