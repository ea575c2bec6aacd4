//! What is said about a trip, per language: labels, facts, cards, receipts and refusals.
//!
//! A language words everything or does not compile. It decides nothing: which events a receipt cites, how it is
//! meant and what a card's options do is settled before a word is chosen.

mod de;
mod en;

use turnframe_core::id::Locale;
use turnframe_core::personal::Personal;
use turnframe_core::text::Text;

use super::command::TripCommand;
use super::event::TripEvent;
use super::project::TripPhase;
use super::rebooking::RebookingStatus;
use super::refusal::Refusal;
use super::state::{Extra, ExtraKind, Payer, TripState};
use crate::language::Language;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Destination,
    Date,
    Departure,
    Traveller,
    Extra(u32),
    Kind,
    Quantity,
    Payer,
    ProtectedLeg,
    Rebooking,
    Effect,
    Sequence,
    Waited,
}

/// The words of a receipt.
pub(super) struct ReceiptWords {
    /// What happened, in a few words.
    pub(super) title: Text,
    /// The same with every value, as one or more sentences.
    pub(super) sentence: Text,
}

/// A language that trips are spoken of in.
pub(super) trait TripWords: Sync {
    /// Which one.
    fn language(&self) -> Language;
    /// What a value is called, as within a sentence.
    fn field(&self, field: Field) -> String;
    /// What the field of every extra starts with.
    fn extra_prefix(&self) -> &'static str;
    /// A kind of extra, for one or for several.
    fn kind(&self, kind: ExtraKind, quantity: u8) -> &'static str;
    /// A payer.
    fn payer(&self, payer: Payer) -> &'static str;
    /// That nobody pays yet.
    fn no_payer(&self) -> &'static str;
    /// An extra with quantity and payer.
    fn extra(&self, extra: &Extra) -> String;
    /// Where a rebooking stands.
    fn rebooking(&self, status: &RebookingStatus) -> String;
    /// That an answer to a rebooking is overdue.
    fn overdue(&self) -> &'static str;
    /// How long something took, in words that stand after "within".
    fn span(&self, seconds: u64) -> String;
    /// What a trip without a name is called.
    fn description(&self, state: &TripState) -> Text;
    /// Everything else that a trip to a place is called.
    fn called_by_destination(&self, destination: &str) -> Vec<String>;
    /// Everything else that a person's trip is called.
    fn called_by_person(&self, name: &Personal<String>) -> Vec<Text>;
    /// What a phase is, as a sentence after the trip's name.
    fn phase(&self, phase: TripPhase) -> &'static str;
    /// Who pays for an extra?
    fn payer_question(&self, extra: &Extra) -> Text;
    /// That a trip has no extras.
    fn no_extras(&self) -> &'static str;
    /// What a list of extras follows.
    fn extras_follow(&self) -> &'static str;
    /// What a receipt says of an event.
    fn receipt(&self, event: &TripEvent) -> ReceiptWords;
    /// What a confirmation card asks.
    fn question(&self, command: &TripCommand, label: &Text) -> Text;
    /// The option that confirms it.
    fn confirm(&self, command: &TripCommand) -> &'static str;
    /// The option that does not.
    fn decline(&self) -> &'static str;
    /// A refusal; none for a code that is not the domain's.
    fn refusal(&self, refusal: Option<Refusal>, detail: &Text) -> Text;
    /// What a model must not say, folded.
    fn forbidden(&self) -> &'static [&'static str];

    /// A field and its value.
    fn line(&self, field: Field, value: &Text) -> Text {
        named(&self.field(field), value)
    }

    /// What people call a trip: its name, or what it is.
    fn label(&self, state: &TripState) -> Text {
        match state.name.as_ref().filter(|name| name.value().is_some()) {
            Some(name) => Text::new().personal(name),
            None => self.description(state),
        }
    }

    /// What else people call a trip. A mention must equal one of these, so they are listed generously; what an
    /// erasure took away names nothing.
    fn aliases(&self, state: &TripState) -> Vec<Text> {
        let mut aliases = vec![self.description(state)];
        if let Some(destination) = &state.destination {
            aliases.push(destination.as_str().into());
            aliases.extend(self.called_by_destination(destination).into_iter().map(Text::from));
        }
        for traveller in &state.travellers {
            for name in parts_of(traveller) {
                aliases.push(Text::new().personal(&name));
                aliases.extend(self.called_by_person(&name));
            }
        }
        let label = self.label(state).to_string();
        let mut seen = std::collections::BTreeSet::from([label]);
        aliases.retain(|alias| seen.insert(alias.to_string()));
        aliases
    }
}

/// The words of a locale.
pub(super) fn words(locale: &Locale) -> &'static dyn TripWords {
    match Language::of(locale) {
        Language::English => &en::English,
        Language::German => &de::German,
    }
}

/// A name and a value, as a line of a card or a sentence of a receipt.
pub(super) fn named(name: &str, value: &Text) -> Text {
    Text::from(sentence_start(name)).plain(": ").text(value)
}

/// Words as a sentence starts with them.
pub(super) fn sentence_start(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Full name, family name and given name; nothing of a name that was erased.
fn parts_of(name: &Personal<String>) -> Vec<Personal<String>> {
    let Some(full) = name.value() else { return Vec::new() };
    let mut parts = vec![full.as_str()];
    parts.extend(full.split_whitespace().next_back());
    parts.extend(full.split_whitespace().next());
    parts.dedup();
    let part = |part: &str| Personal::known(name.subject().clone(), part.to_owned());
    parts.into_iter().map(part).collect()
}

/// The people of a trip, as a label names them.
fn people(language: Language, state: &TripState) -> Text {
    let name = |name: &Personal<String>| Text::new().personal(name);
    language.people(&state.travellers.iter().map(name).collect::<Vec<_>>())
}

/// A person's name between words.
fn around(before: &str, name: &Personal<String>, after: &str) -> Text {
    let text = if before.is_empty() { Text::new() } else { Text::from(before) };
    let text = text.personal(name);
    if after.is_empty() { text } else { text.plain(after) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::subject;
    use turnframe_core::target::fold;

    fn trip() -> TripState {
        let ada = Personal::known(subject("traveller:1"), "Ada Ferri".to_owned());
        TripState {
            destination: Some("Lisbon".to_owned()),
            travellers: vec![ada],
            ..TripState::new()
        }
    }

    fn names(language: Language, state: &TripState) -> Vec<String> {
        let words = words(&language.locale());
        let aliases = words.aliases(state);
        let texts = [words.label(state)].into_iter().chain(aliases);
        texts.map(|text| fold(&text.to_string())).collect()
    }

    fn assert_called(language: Language, expected: &[&str]) {
        let names = names(language, &trip());
        for name in expected {
            assert!(names.contains(&fold(name)), "{name:?} is not among {names:?}");
        }
    }

    #[test]
    fn a_trip_is_called_by_what_people_say() {
        assert_called(
            Language::English,
            &[
                "Lisbon trip for Ada Ferri",
                "Ferri",
                "Ada Ferri",
                "Ada",
                "Ferri trip",
                "Ada Ferri trip",
                "Lisbon",
                "Lisbon trip",
                "the Lisbon trip",
                "trip to Lisbon",
                "the trip to Lisbon",
                "Ferri's trip",
                "Ada’s trip",
            ],
        );
        assert_called(
            Language::German,
            &[
                "Reise nach Lisbon für Ada Ferri",
                "Ferri",
                "Ada Ferri",
                "Lisbon",
                "Lisbon-Reise",
                "Reise nach Lisbon",
                "die Reise nach Lisbon",
                "Ferri-Reise",
                "Reise von Ada Ferri",
                "die Reise von Ferri",
                "Adas Reise",
            ],
        );
    }

    #[test]
    fn a_named_trip_is_called_by_its_name_and_by_what_it_is() {
        let name = Personal::known(subject("actor:1"), "Spring meeting".to_owned());
        let state = TripState { name: Some(name), ..trip() };
        let english = words(&Language::English.locale());
        assert_eq!(english.label(&state).to_string(), "Spring meeting");
        let names = names(Language::English, &state);
        assert!(names.contains(&"lisbon trip for ada ferri".to_owned()));
    }

    #[test]
    fn an_erased_name_names_nothing_and_no_name_stands_twice() {
        let erased = Personal::Erased { subject: subject("traveller:1") };
        let state = TripState { travellers: vec![erased], destination: None, ..trip() };
        for language in Language::ALL {
            let words = words(&language.locale());
            assert!(words.aliases(&state).is_empty(), "the label says it all");
            assert!(words.label(&state).to_string().contains(turnframe_core::text::ERASED));
        }
        for language in Language::ALL {
            let mut all = names(language, &trip());
            let listed = all.len();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), listed);
        }
    }

    #[test]
    fn every_refusal_and_every_phase_has_words_of_its_own() {
        for language in Language::ALL {
            let words = words(&language.locale());
            let refusals = Refusal::ALL.map(|it| words.refusal(Some(it), &"3".into()).to_string());
            let mut distinct = refusals.to_vec();
            distinct.push(words.refusal(None, &Text::new()).to_string());
            distinct.extend(TripPhase::ALL.map(|phase| words.phase(phase).to_owned()));
            let said = distinct.len();
            assert!(distinct.iter().all(|words| words.ends_with('.')));
            distinct.sort();
            distinct.dedup();
            assert_eq!(distinct.len(), said);
        }
    }

    #[test]
    fn forbidden_phrases_are_folded() {
        for language in Language::ALL {
            for phrase in words(&language.locale()).forbidden() {
                assert_eq!(&fold(phrase), phrase);
            }
        }
    }
}
