//! What is said about a file, per language.

use turnframe_core::id::Locale;
use turnframe_core::personal::Personal;
use turnframe_core::text::Text;

use super::model::{TravellerCommand, TravellerEvent};
use crate::language::Language;
use crate::text_rule::LINE_MAX_CHARS;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    LoyaltyNumber,
}

/// A language that files are spoken of in.
pub(super) trait TravellerWords: Sync {
    fn field(&self, field: Field) -> &'static str;
    fn unnamed(&self) -> &'static str;
    fn aliases(&self, name: &Personal<String>) -> Vec<Text>;
    fn on_file(&self) -> &'static str;
    fn name_question(&self) -> &'static str;
    fn save(&self) -> &'static str;
    fn question(&self, command: &TravellerCommand) -> &'static str;
    fn confirm(&self, command: &TravellerCommand) -> &'static str;
    fn decline(&self) -> &'static str;
    fn receipt(&self, event: &TravellerEvent) -> (&'static str, Text);
    fn rejection(&self, code: &str) -> String;
    fn forbidden(&self) -> &'static [&'static str];
}

/// The words of a locale.
pub(super) fn words(locale: &Locale) -> &'static dyn TravellerWords {
    match Language::of(locale) {
        Language::English => &English,
        Language::German => &German,
    }
}

struct English;

impl TravellerWords for English {
    fn field(&self, field: Field) -> &'static str {
        match field {
            Field::Name => "Name",
            Field::LoyaltyNumber => "Loyalty number",
        }
    }

    fn unnamed(&self) -> &'static str {
        "traveller without a name"
    }

    fn aliases(&self, name: &Personal<String>) -> Vec<Text> {
        let before = |words: &str| Text::from(words).personal(name);
        vec![before("traveller "), before("the traveller "), before("the file of ")]
    }

    fn on_file(&self) -> &'static str {
        "this is on file."
    }

    fn name_question(&self) -> &'static str {
        "What is the traveller called?"
    }

    fn save(&self) -> &'static str {
        "Save"
    }

    fn question(&self, command: &TravellerCommand) -> &'static str {
        match command {
            TravellerCommand::Register { .. } => "Register this traveller?",
            TravellerCommand::SetName { .. } => "Write this name down?",
            TravellerCommand::SetLoyaltyNumber { .. } => "Write this loyalty number down?",
            TravellerCommand::Archive => "Put this file away?",
        }
    }

    fn confirm(&self, command: &TravellerCommand) -> &'static str {
        match command {
            TravellerCommand::Register { .. } => "Register",
            TravellerCommand::SetName { .. } | TravellerCommand::SetLoyaltyNumber { .. } => "Save",
            TravellerCommand::Archive => "Archive",
        }
    }

    fn decline(&self) -> &'static str {
        "No"
    }

    fn receipt(&self, event: &TravellerEvent) -> (&'static str, Text) {
        match event {
            TravellerEvent::TravellerRegistered { name: Some(name), .. } => {
                ("Traveller registered", Text::from("Name: ").personal(name).plain("."))
            }
            TravellerEvent::TravellerRegistered { name: None, .. } => {
                ("Traveller registered", "A file without a name was opened.".into())
            }
            TravellerEvent::NameSet { name } => {
                ("Name saved", Text::from("Name: ").personal(name).plain("."))
            }
            TravellerEvent::LoyaltyNumberSet { number } => {
                ("Loyalty number saved", Text::from("Loyalty number: ").personal(number).plain("."))
            }
            TravellerEvent::TravellerArchived => {
                ("Traveller archived", "The file was put away.".into())
            }
        }
    }

    fn rejection(&self, code: &str) -> String {
        match code {
            "already_registered" => "This traveller is registered already.".to_owned(),
            "not_registered" => "There is no such traveller yet.".to_owned(),
            "archived" => "This file was archived and does not change any more.".to_owned(),
            "unchanged" => "That is on file already; nothing was changed.".to_owned(),
            "blank" => "There are no words there.".to_owned(),
            "too_long" => format!("That is too long; {LINE_MAX_CHARS} characters are the most."),
            "control_character" => "Those words hold a character that cannot be shown.".to_owned(),
            "erased" => "Those words were erased meanwhile.".to_owned(),
            "nothing_to_do" => "There was nothing to do.".to_owned(),
            _ => "The file does not allow that.".to_owned(),
        }
    }

    fn forbidden(&self) -> &'static [&'static str] {
        &["done", "registered", "archived", "is on file now", "successfully"]
    }
}

struct German;

impl TravellerWords for German {
    fn field(&self, field: Field) -> &'static str {
        match field {
            Field::Name => "Name",
            Field::LoyaltyNumber => "Vielfliegernummer",
        }
    }

    fn unnamed(&self) -> &'static str {
        "reisende Person ohne Namen"
    }

    fn aliases(&self, name: &Personal<String>) -> Vec<Text> {
        let before = |words: &str| Text::from(words).personal(name);
        vec![before("Akte von "), before("die Akte von "), before("der Akte von ")]
    }

    fn on_file(&self) -> &'static str {
        "das steht in der Akte."
    }

    fn name_question(&self) -> &'static str {
        "Wie heißt die reisende Person?"
    }

    fn save(&self) -> &'static str {
        "Speichern"
    }

    fn question(&self, command: &TravellerCommand) -> &'static str {
        match command {
            TravellerCommand::Register { .. } => "Diese Person registrieren?",
            TravellerCommand::SetName { .. } => "Diesen Namen festhalten?",
            TravellerCommand::SetLoyaltyNumber { .. } => "Diese Vielfliegernummer festhalten?",
            TravellerCommand::Archive => "Diese Akte weglegen?",
        }
    }

    fn confirm(&self, command: &TravellerCommand) -> &'static str {
        match command {
            TravellerCommand::Register { .. } => "Registrieren",
            TravellerCommand::SetName { .. } | TravellerCommand::SetLoyaltyNumber { .. } => {
                "Speichern"
            }
            TravellerCommand::Archive => "Archivieren",
        }
    }

    fn decline(&self) -> &'static str {
        "Nein"
    }

    fn receipt(&self, event: &TravellerEvent) -> (&'static str, Text) {
        match event {
            TravellerEvent::TravellerRegistered { name: Some(name), .. } => {
                ("Person registriert", Text::from("Name: ").personal(name).plain("."))
            }
            TravellerEvent::TravellerRegistered { name: None, .. } => {
                ("Person registriert", "Eine Akte ohne Namen wurde angelegt.".into())
            }
            TravellerEvent::NameSet { name } => {
                ("Name gespeichert", Text::from("Name: ").personal(name).plain("."))
            }
            TravellerEvent::LoyaltyNumberSet { number } => (
                "Vielfliegernummer gespeichert",
                Text::from("Vielfliegernummer: ").personal(number).plain("."),
            ),
            TravellerEvent::TravellerArchived => {
                ("Akte archiviert", "Die Akte wurde weggelegt.".into())
            }
        }
    }

    fn rejection(&self, code: &str) -> String {
        match code {
            "already_registered" => "Diese Person ist schon registriert.".to_owned(),
            "not_registered" => "Diese Person gibt es hier noch nicht.".to_owned(),
            "archived" => "Diese Akte ist archiviert und ändert sich nicht mehr.".to_owned(),
            "unchanged" => "Das steht schon so in der Akte; geändert wurde nichts.".to_owned(),
            "blank" => "Da stehen keine Worte.".to_owned(),
            "too_long" => format!("Das ist zu lang; höchstens {LINE_MAX_CHARS} Zeichen."),
            "control_character" => {
                "Diese Worte enthalten ein Zeichen, das man nicht sieht.".to_owned()
            }
            "erased" => "Diese Worte wurden inzwischen gelöscht.".to_owned(),
            "nothing_to_do" => "Es gab nichts zu tun.".to_owned(),
            _ => "Das lässt die Akte nicht zu.".to_owned(),
        }
    }

    fn forbidden(&self) -> &'static [&'static str] {
        &["erledigt", "fertig", "registriert", "archiviert", "gespeichert", "erfolgreich"]
    }
}
