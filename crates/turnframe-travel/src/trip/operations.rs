//! What a trip offers to be asked for, as data: operations, their slots, and the questions it answers.

use std::sync::LazyLock;

use turnframe_core::id::OperationKey;
use turnframe_core::operation::{Choice, OperationSpec, Phrase, SlotKind, SlotSpec, TopicSpec};

use super::phrases::{self, PhraseBook};
use super::state::{ExtraKind, Payer};
use crate::key::literal;
use crate::slots::{optional, required};

/// An operation of a trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Open,
    Rename,
    SetDestination,
    SetDate,
    SetDeparture,
    AddTraveller,
    AddExtra,
    SetPayer,
    RemoveExtra,
    ProtectLeg,
    RequestRebooking,
    Withdraw,
}

static KEYS: LazyLock<Vec<OperationKey>> =
    LazyLock::new(|| Operation::ALL.into_iter().map(|it| literal(it.name())).collect());

impl Operation {
    pub(super) const ALL: [Self; 12] = [
        Self::Open,
        Self::Rename,
        Self::SetDestination,
        Self::SetDate,
        Self::SetDeparture,
        Self::AddTraveller,
        Self::AddExtra,
        Self::SetPayer,
        Self::RemoveExtra,
        Self::ProtectLeg,
        Self::RequestRebooking,
        Self::Withdraw,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Rename => "rename",
            Self::SetDestination => "set_destination",
            Self::SetDate => "set_date",
            Self::SetDeparture => "set_departure",
            Self::AddTraveller => "add_traveller",
            Self::AddExtra => "add_extra",
            Self::SetPayer => "set_payer",
            Self::RemoveExtra => "remove_extra",
            Self::ProtectLeg => "protect_leg",
            Self::RequestRebooking => "request_rebooking",
            Self::Withdraw => "withdraw",
        }
    }

    pub(super) fn key(self) -> OperationKey {
        KEYS[self as usize].clone()
    }

    pub(super) fn of_key(key: &OperationKey) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name() == key.as_str())
    }

    fn slots(self) -> Vec<SlotSpec> {
        match self {
            Self::Open => vec![
                optional("destination", SlotKind::Text),
                optional("traveller", SlotKind::Text),
                optional("date", SlotKind::Date),
                optional("name", SlotKind::Text),
            ],
            Self::Rename => vec![required("name", SlotKind::Text)],
            Self::SetDestination => vec![required("destination", SlotKind::Text)],
            Self::SetDate => vec![required("date", SlotKind::Date)],
            Self::SetDeparture => vec![required("departure", SlotKind::Moment)],
            Self::AddTraveller => vec![required("traveller", SlotKind::Text)],
            Self::AddExtra => vec![
                required("extra", kinds()),
                optional("quantity", SlotKind::Integer),
                optional("payer", payers()),
            ],
            Self::SetPayer => vec![
                required("payer", payers()),
                optional("number", SlotKind::Integer),
                optional("extra", kinds()),
            ],
            Self::RemoveExtra => {
                vec![optional("number", SlotKind::Integer), optional("extra", kinds())]
            }
            Self::ProtectLeg => vec![required("leg", SlotKind::Text)],
            Self::RequestRebooking | Self::Withdraw => Vec::new(),
        }
    }
}

/// A question that a trip answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Status,
    Payer,
}

impl Topic {
    pub(super) const ALL: [Self; 2] = [Self::Status, Self::Payer];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Payer => "payer",
        }
    }
}

/// Every operation with its slots and the phrases of both languages.
pub(super) fn operations() -> Vec<OperationSpec> {
    let spec = |operation: Operation| OperationSpec {
        key: operation.key(),
        creates: operation == Operation::Open,
        slots: operation.slots(),
        phrases: said(|book| book.operation(operation)),
        names: said(|book| book.names(operation)),
    };
    Operation::ALL.into_iter().map(spec).collect()
}

/// Every topic with the phrases of both languages.
pub(super) fn topics() -> Vec<TopicSpec> {
    let spec = |topic: Topic| TopicSpec {
        key: literal(topic.name()),
        phrases: said(|book| book.topic(topic)),
    };
    Topic::ALL.into_iter().map(spec).collect()
}

fn kinds() -> SlotKind {
    let choice = |kind: ExtraKind| Choice {
        value: kind.key().to_owned(),
        words: said(|book| book.kind(kind)),
    };
    SlotKind::Choice(ExtraKind::ALL.into_iter().map(choice).collect())
}

fn payers() -> SlotKind {
    let choice = |payer: Payer| Choice {
        value: payer.key().to_owned(),
        words: said(|book| book.payer(payer)),
    };
    SlotKind::Choice(Payer::ALL.into_iter().map(choice).collect())
}

/// The phrases that every book has for something.
fn said(of: impl Fn(&dyn PhraseBook) -> &'static [&'static str]) -> Vec<Phrase> {
    let mut said = Vec::new();
    for (language, book) in phrases::BOOKS {
        let locale = language.locale();
        said.extend(of(book).iter().map(|words| Phrase::new(&locale, *words)));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{every_choice_is_told_apart, every_phrase_is_well_formed};

    #[test]
    fn every_phrase_is_well_formed_and_names_only_declared_slots() {
        for spec in operations() {
            let mut slots: Vec<&str> = spec.slots.iter().map(|slot| slot.name.as_str()).collect();
            if !spec.creates {
                slots.push("target");
            }
            every_phrase_is_well_formed(&spec.phrases, &slots);
            every_phrase_is_well_formed(&spec.names, &[]);
            every_choice_is_told_apart(&spec);
        }
        for spec in topics() {
            every_phrase_is_well_formed(&spec.phrases, &["target"]);
        }
    }

    #[test]
    fn every_operation_can_be_said_and_named_in_both_languages() {
        for (_, book) in phrases::BOOKS {
            for operation in Operation::ALL {
                assert!(book.operation(operation).len() >= 3, "{operation:?}");
                assert!(!book.names(operation).is_empty(), "{operation:?}");
            }
            for topic in Topic::ALL {
                assert!(book.topic(topic).len() >= 3, "{topic:?}");
            }
        }
    }

    #[test]
    fn every_slot_is_reached_by_a_phrase_of_each_language() {
        for spec in operations() {
            for slot in &spec.slots {
                for (language, _) in phrases::BOOKS {
                    let place = format!("{{{}}}", slot.name);
                    let reaches = |phrase: &&Phrase| {
                        phrase.locale == language.locale() && phrase.words.contains(&place)
                    };
                    assert!(
                        spec.phrases.iter().any(|phrase| reaches(&phrase)),
                        "{} {place} {language:?}",
                        spec.key
                    );
                }
            }
        }
    }

    #[test]
    fn a_key_names_its_operation() {
        for operation in Operation::ALL {
            assert_eq!(Operation::of_key(&operation.key()), Some(operation));
        }
    }
}
