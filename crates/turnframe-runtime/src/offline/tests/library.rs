//! A library desk: the made-up domain that these tests read messages for.

use std::sync::Arc;

use turnframe_core::id::{InteractionId, Locale, OptionId};
use turnframe_core::operation::{Choice, OperationSpec, Phrase, SlotKind, SlotSpec, TopicSpec};
use turnframe_core::understanding::{
    Brief, CardInView, Handle, OfferedOperation, OfferedTopic, Understanding,
};
use turnframe_core::words::Message;

use crate::offline::OfflineInterpreter;

pub(super) fn locale(tag: &str) -> Locale {
    Locale::new(tag).expect("locale")
}

fn phrases(english: &[&str], german: &[&str]) -> Vec<Phrase> {
    let said = |tag: &str, words: &[&str]| {
        let locale = locale(tag);
        words.iter().map(|words| Phrase::new(&locale, *words)).collect::<Vec<_>>()
    };
    [said("en", english), said("de", german)].concat()
}

fn slot(name: &str, kind: SlotKind, required: bool) -> SlotSpec {
    SlotSpec { name: name.parse().expect("slot"), kind, required }
}

fn kinds() -> SlotKind {
    let choice = |value: &str, english: &[&str], german: &[&str]| Choice {
        value: value.to_owned(),
        words: phrases(english, german),
    };
    SlotKind::Choice(vec![
        choice("card", &["card", "cards", "reader card"], &["Karte", "Karten", "Leserausweis"]),
        choice("stamp", &["stamp", "stamps"], &["Stempel"]),
    ])
}

struct Declared {
    workflow: &'static str,
    key: &'static str,
    creates: bool,
    slots: Vec<SlotSpec>,
    english: &'static [&'static str],
    german: &'static [&'static str],
    names: &'static [&'static str],
}

fn loans() -> Vec<Declared> {
    vec![
        Declared {
            workflow: "loan",
            key: "lend",
            creates: true,
            slots: vec![
                slot("title", SlotKind::Text, true),
                slot("member", SlotKind::Text, true),
                slot("due", SlotKind::Date, false),
                slot("since", SlotKind::Date, false),
            ],
            english: &[
                "(lend|loan|check out) [the] [book] {title} [to {member}] [until {due}] [on {since}]",
            ],
            german: &[
                "(verleihe|verleih) [das] [Buch] {title} [an {member}] [bis {due}] [am {since}]",
                "(leih|leihe) [das] [Buch] {title} [an {member}] [bis {due}] [am {since}] aus",
            ],
            names: &["lend", "lending anything", "ausleihen", "verleihen"],
        },
        Declared {
            workflow: "loan",
            key: "renew",
            creates: false,
            slots: vec![
                slot("due", SlotKind::Date, false),
                slot("weeks", SlotKind::Integer, false),
                slot("collected", SlotKind::Moment, false),
            ],
            english: &[
                "(renew|extend) {target} [until {due}] [by {weeks} weeks]",
                "(renew|extend) [the] loan [of {target}] [until {due}] [by {weeks} weeks]",
                "{target} is collected [at|on] {collected}",
            ],
            german: &[
                "verlängere {target} [bis {due}] [um {weeks} Wochen]",
                "verlängere [die] Ausleihe [von {target}] [bis {due}] [um {weeks} Wochen]",
            ],
            names: &["renew anything", "renewal", "verlängern", "Verlängerung"],
        },
        Declared {
            workflow: "loan",
            key: "return",
            creates: false,
            slots: Vec::new(),
            english: &["(return|bring back|give back) {target}", "bring {target} back"],
            german: &["(gib|gebe) {target} zurück", "bring {target} zurück"],
            names: &["return", "zurückgeben"],
        },
        Declared {
            workflow: "loan",
            key: "extras",
            creates: false,
            slots: vec![slot("count", SlotKind::Integer, false), slot("extra", kinds(), true)],
            english: &[
                "(add|order) [a|an|another|{count}] {extra} [to {target}]",
                "with [a|an|{count}] {extra}",
            ],
            german: &["(bestelle|füge) [einen|eine|{count}] {extra} [zu {target}] hinzu"],
            names: &["add extras", "order extras"],
        },
    ]
}

fn holds_and_members() -> Vec<Declared> {
    vec![
        Declared {
            workflow: "hold",
            key: "reserve",
            creates: true,
            slots: vec![slot("title", SlotKind::Text, true), slot("member", SlotKind::Text, true)],
            english: &["(reserve|put aside) {title} [for {member}]"],
            german: &["reserviere {title} [für {member}]", "leg {title} [für {member}] zurück"],
            names: &["reserve", "reservieren"],
        },
        Declared {
            workflow: "hold",
            key: "release",
            creates: false,
            slots: Vec::new(),
            english: &["(release|lift) [the] hold [on {target}]", "cancel {target}"],
            german: &["(storniere|lösche) [die] Reservierung [von {target}]"],
            names: &["release holds"],
        },
        Declared {
            workflow: "member",
            key: "rename",
            creates: false,
            slots: vec![slot("name", SlotKind::Text, true)],
            english: &["(change|set) [the|my] name [of {target}] to {name}"],
            german: &["ändere [den|meinen] Namen [von {target}] auf {name}"],
            names: &["change the name"],
        },
        Declared {
            workflow: "member",
            key: "move",
            creates: false,
            slots: vec![slot("address", SlotKind::Text, true)],
            english: &["(change|set) [the|my] address [of {target}] to {address}"],
            german: &["ändere [die|meine] Adresse [von {target}] auf {address}"],
            names: &["change the address"],
        },
    ]
}

fn topics() -> Vec<OfferedTopic> {
    let topic = |workflow: &str, key: &str, english: &[&str], german: &[&str]| OfferedTopic {
        workflow: workflow.parse().expect("workflow"),
        spec: TopicSpec { key: key.parse().expect("topic"), phrases: phrases(english, german) },
    };
    vec![
        topic(
            "loan",
            "due",
            &["when is {target} due", "(what is|what's) the due date [of {target}]"],
            &["wann ist {target} fällig", "(was ist|wie ist) das Rückgabedatum [von {target}]"],
        ),
        topic(
            "loan",
            "status",
            &["where is {target}", "status [of {target}]", "(what about|how about) {target}"],
            &["wo ist {target}", "Status [von {target}]", "was ist mit {target}"],
        ),
        topic("member", "fines", &["how much do i owe"], &["wie viel schulde ich"]),
    ]
}

pub(super) fn offer() -> (Arc<[OfferedOperation]>, Arc<[OfferedTopic]>) {
    let operation = |declared: Declared| OfferedOperation {
        workflow: declared.workflow.parse().expect("workflow"),
        spec: OperationSpec {
            key: declared.key.parse().expect("operation"),
            creates: declared.creates,
            slots: declared.slots,
            phrases: phrases(declared.english, declared.german),
            names: phrases(declared.names, declared.names),
        },
    };
    (loans().into_iter().chain(holds_and_members()).map(operation).collect(), topics().into())
}

/// What can be said in a turn at the desk.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) tag: &'static str,
    pub(super) records: Vec<(&'static str, &'static [&'static str])>,
    pub(super) cards: Vec<Vec<(&'static str, &'static str)>>,
}

impl Desk {
    pub(super) fn speaking(tag: &'static str) -> Self {
        Self {
            tag,
            records: vec![("loan", &["Emma"]), ("loan", &["Ulysses"]), ("member", &["Ada Ferri"])],
            cards: Vec::new(),
        }
    }

    pub(super) fn with_card(mut self, options: &[(&'static str, &'static str)]) -> Self {
        self.cards.push(options.to_vec());
        self
    }

    pub(super) fn brief(&self, text: &str) -> Brief {
        let (operations, topics) = offer();
        let handle = |(at, (workflow, names)): (usize, &(&str, &[&str]))| Handle {
            token: format!("token-{at}").as_str().into(),
            workflow: workflow.parse().expect("workflow"),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        let card = |(at, options): (usize, &Vec<(&str, &str)>)| CardInView {
            id: InteractionId::from_uuid(
                format!("00000000-0000-7000-8000-00000000000{at}")
                    .parse::<InteractionId>()
                    .expect("card")
                    .as_uuid(),
            ),
            options: options
                .iter()
                .map(|(id, label)| (OptionId::new(id).expect("option"), (*label).to_owned()))
                .collect(),
        };
        Brief {
            message: Message::new(text).expect("message"),
            locale: locale(self.tag),
            operations,
            topics,
            handles: self.records.iter().enumerate().map(handle).collect(),
            cards: self.cards.iter().enumerate().map(card).collect(),
        }
    }

    pub(super) fn read(&self, text: &str) -> Understanding {
        let brief = self.brief(text);
        let interpreter = OfflineInterpreter::new(brief.operations.clone(), brief.topics.clone());
        let understanding = interpreter.expect("grammar").read(&brief);
        assert_eq!(understanding.check(&brief), Ok(()), "{text:?}: {understanding:?}");
        understanding
    }
}
