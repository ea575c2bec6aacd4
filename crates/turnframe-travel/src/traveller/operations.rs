//! What a file offers to be asked for.

use turnframe_core::id::OperationKey;
use turnframe_core::operation::{OperationSpec, Phrase, SlotKind, SlotSpec, TopicSpec};

use super::model::FileLifecycle;
use crate::key::literal;
use crate::language::Language;
use crate::slots::{optional, required};

/// The question what is on file.
pub(super) const TOPIC_FILE: &str = "file";

/// An operation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Register,
    SetName,
    SetLoyaltyNumber,
    Archive,
}

impl Operation {
    const ALL: [Self; 4] = [Self::Register, Self::SetName, Self::SetLoyaltyNumber, Self::Archive];

    const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::SetName => "set_name",
            Self::SetLoyaltyNumber => "set_loyalty_number",
            Self::Archive => "archive",
        }
    }

    pub(super) fn key(self) -> OperationKey {
        literal(self.name())
    }

    pub(super) fn of_key(key: &OperationKey) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == key.as_str())
    }

    /// The operations on offer at a point of a file's life.
    pub(super) fn offered(lifecycle: FileLifecycle) -> Vec<OperationKey> {
        let offered: &[Self] = match lifecycle {
            FileLifecycle::New => &[Self::Register],
            FileLifecycle::Active => &[Self::SetName, Self::SetLoyaltyNumber, Self::Archive],
            FileLifecycle::Archived => &[],
        };
        offered.iter().map(|operation| operation.key()).collect()
    }

    fn slots(self) -> Vec<SlotSpec> {
        match self {
            Self::Register => vec![optional("name", SlotKind::Text)],
            Self::SetName => vec![required("name", SlotKind::Text)],
            Self::SetLoyaltyNumber => vec![required("number", SlotKind::Text)],
            Self::Archive => Vec::new(),
        }
    }

    const fn phrases(self, language: Language) -> &'static [&'static str] {
        match (self, language) {
            (Self::Register, Language::English) => &[
                "register [a|the] [new] traveller [called {name}]",
                "register {name} as [a] [new] traveller",
                "(open|create) [a] file for {name}",
            ],
            (Self::Register, Language::German) => &[
                "registriere [eine] [neue] reisende Person [namens {name}]",
                "registriere {name} als (Reisenden|Reisende)",
                "(lege|leg) [eine] Akte für {name} an",
            ],
            (Self::SetName, Language::English) => &[
                "correct [the] name of {target} to {name}",
                "{target} is called {name}",
                "[the] traveller is called {name}",
            ],
            (Self::SetName, Language::German) => &[
                "berichtige [den] Namen von {target} (auf|zu) {name}",
                "{target} heißt {name}",
                "die reisende Person heißt {name}",
            ],
            (Self::SetLoyaltyNumber, Language::English) => &[
                "(set|change) [the] loyalty number [of {target}] to {number}",
                "[the] loyalty number [of {target}] is {number}",
                "{target} has [the] loyalty number {number}",
            ],
            (Self::SetLoyaltyNumber, Language::German) => &[
                "(setze|ändere) [die] Vielfliegernummer [von {target}] auf {number}",
                "[die] Vielfliegernummer [von {target}] ist {number}",
                "{target} hat [die] Vielfliegernummer {number}",
            ],
            (Self::Archive, Language::English) => &[
                "archive [the] [traveller] {target}",
                "archive [the] file of {target}",
                "archive it",
            ],
            (Self::Archive, Language::German) => {
                &["archiviere [die] Akte von {target}", "archiviere {target}", "archiviere sie"]
            }
        }
    }

    const fn names(self, language: Language) -> &'static [&'static str] {
        match (self, language) {
            (Self::Register, Language::English) => &["registering a traveller", "register"],
            (Self::Register, Language::German) => &["Registrieren einer Person", "registriere"],
            (Self::SetName, Language::English) => &["correcting the name", "correct the name"],
            (Self::SetName, Language::German) => &["Berichtigen des Namens", "berichtige"],
            (Self::SetLoyaltyNumber, Language::English) => {
                &["setting the loyalty number", "loyalty number"]
            }
            (Self::SetLoyaltyNumber, Language::German) => {
                &["Setzen der Vielfliegernummer", "Vielfliegernummer"]
            }
            (Self::Archive, Language::English) => {
                &["archiving the file", "archive anything", "archive"]
            }
            (Self::Archive, Language::German) => &["Archivieren der Akte", "archiviere"],
        }
    }
}

const LANGUAGES: [Language; 2] = [Language::English, Language::German];

/// Every operation with its slots and the phrases of both languages.
pub(super) fn operations() -> Vec<OperationSpec> {
    let spec = |operation: Operation| OperationSpec {
        key: operation.key(),
        creates: operation == Operation::Register,
        slots: operation.slots(),
        phrases: said(|language| operation.phrases(language)),
        names: said(|language| operation.names(language)),
    };
    Operation::ALL.into_iter().map(spec).collect()
}

/// The one topic: what is on file.
pub(super) fn topics() -> Vec<TopicSpec> {
    let phrases = said(|language| match language {
        Language::English => &[
            "(what is|what's) on file [for {target}]",
            "(what is|what's) the loyalty number [of {target}]",
            "who is {target}",
        ],
        Language::German => &[
            "was steht in der Akte [von {target}]",
            "(wie lautet|was ist) die Vielfliegernummer [von {target}]",
            "wer ist {target}",
        ],
    });
    vec![TopicSpec { key: literal(TOPIC_FILE), phrases }]
}

fn said(of: impl Fn(Language) -> &'static [&'static str]) -> Vec<Phrase> {
    let phrases = |language: Language| {
        let locale = language.locale();
        of(language).iter().map(move |words| Phrase::new(&locale, *words)).collect::<Vec<_>>()
    };
    LANGUAGES.into_iter().flat_map(phrases).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::every_phrase_is_well_formed;

    #[test]
    fn every_phrase_is_well_formed_and_names_only_declared_slots() {
        for spec in operations() {
            let mut slots: Vec<&str> = spec.slots.iter().map(|slot| slot.name.as_str()).collect();
            if !spec.creates {
                slots.push("target");
            }
            every_phrase_is_well_formed(&spec.phrases, &slots);
            every_phrase_is_well_formed(&spec.names, &[]);
        }
        for spec in topics() {
            every_phrase_is_well_formed(&spec.phrases, &["target"]);
        }
    }
}
