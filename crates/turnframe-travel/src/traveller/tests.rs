use std::collections::BTreeMap;

use turnframe_core::canonical::Json;
use turnframe_core::operation::SlotValue;
use uuid::Uuid;

use super::*;
use crate::language::Language;
use crate::testing::{
    self, Given, NOW, SPEAKER, assert_round_trip, committed, forgotten, says_done, subject, view,
};

const FRESH: Uuid = Uuid::from_u128(5);

fn given(events: impl IntoIterator<Item = TravellerEvent>) -> Given<TravellerWorkflow> {
    testing::given(TravellerWorkflow, events)
}

fn ada() -> SubjectId {
    subject(&format!("traveller:{FRESH}"))
}

fn about_ada(words: &str) -> Personal<String> {
    Personal::known(ada(), words.to_owned())
}

fn registered(name: Option<&str>) -> TravellerEvent {
    TravellerEvent::TravellerRegistered { subject: ada(), name: name.map(about_ada) }
}

fn set_name(name: &str) -> TravellerCommand {
    TravellerCommand::SetName { name: about_ada(name) }
}

fn set_number(number: &str) -> TravellerCommand {
    TravellerCommand::SetLoyaltyNumber { number: about_ada(number) }
}

fn every_event() -> Vec<(TravellerEvent, String)> {
    let about = |words: &str| {
        format!(r#"{{"$personal":{{"subject":"traveller:{FRESH}","value":"{words}"}}}}"#)
    };
    let opened = |name: &str| {
        format!(r#"{{"traveller_registered":{{"name":{name},"subject":"traveller:{FRESH}"}}}}"#)
    };
    vec![
        (registered(Some("Ada")), opened(&about("Ada"))),
        (registered(None), opened("null")),
        (
            TravellerEvent::NameSet { name: about_ada("Ada Ferri") },
            format!(r#"{{"name_set":{{"name":{}}}}}"#, about("Ada Ferri")),
        ),
        (
            TravellerEvent::LoyaltyNumberSet { number: about_ada("LX 1") },
            format!(r#"{{"loyalty_number_set":{{"number":{}}}}}"#, about("LX 1")),
        ),
        (TravellerEvent::TravellerArchived, r#""traveller_archived""#.to_owned()),
    ]
}

#[test]
fn a_file_is_opened_once_with_or_without_a_name() {
    for name in [None, Some("Ada Ferri")] {
        let register = TravellerCommand::Register { subject: ada(), name: name.map(about_ada) };
        given([]).when(&register).then([registered(name)]);
        given([registered(None)]).when(&register).then_refused("already_registered");
        given([registered(None), TravellerEvent::TravellerArchived])
            .when(&register)
            .then_refused("archived");
    }
}

#[test]
fn name_and_number_are_written_down_and_said_again_change_nothing() {
    given([registered(None)])
        .when(&set_name("Ada Ferri"))
        .then([TravellerEvent::NameSet { name: about_ada("Ada Ferri") }]);
    given([registered(Some("Ada Ferri"))]).when(&set_name("Ada Ferri")).then_refused("unchanged");
    let number = TravellerEvent::LoyaltyNumberSet { number: about_ada("LX 1") };
    given([registered(None)]).when(&set_number("LX 1")).then([number.clone()]);
    given([registered(None), number]).when(&set_number("LX 1")).then_refused("unchanged");
}

#[test]
fn nothing_is_written_on_a_file_that_is_not_in_use() {
    for command in [set_name("Ada"), set_number("LX 1"), TravellerCommand::Archive] {
        given([]).when(&command).then_refused("not_registered");
        given([registered(None), TravellerEvent::TravellerArchived])
            .when(&command)
            .then_refused("archived");
    }
    given([registered(None)])
        .when(&TravellerCommand::Archive)
        .then([TravellerEvent::TravellerArchived]);
}

#[test]
fn words_that_no_file_takes_are_refused() {
    let too_long = "x".repeat(LINE_MAX_CHARS + 1);
    let faults = [("", "blank"), (too_long.as_str(), "too_long"), ("a\0", "control_character")];
    for (words, code) in faults {
        given([registered(None)]).when(&set_name(words)).then_refused(code);
        given([registered(None)]).when(&set_number(words)).then_refused(code);
        let name = Some(about_ada(words));
        given([]).when(&TravellerCommand::Register { subject: ada(), name }).then_refused(code);
    }
    let erased = TravellerCommand::SetName { name: Personal::Erased { subject: ada() } };
    given([registered(None)]).when(&erased).then_refused("erased");
}

#[test]
fn i6_i7_a_missing_name_is_asked_for_by_a_card_that_takes_words_and_nothing_else() {
    let state = given([registered(None)]).state;
    let projection = TravellerWorkflow.project(&state, &Language::English.locale());
    projection.check().expect("a sound projection");
    assert_eq!(projection.phase.key, "needs_name");
    let option = projection.required.expect("a card").options.remove(0);
    assert!(option.freeform.is_some());
    let OptionMeaning::Fill(command) = option.meaning else { panic!("the option takes a value") };

    let speaker = subject(SPEAKER);
    let filled = TravellerWorkflow.fill(command.clone(), "  Ada  Ferri ", &speaker);
    assert_eq!(filled, Ok(set_name("Ada Ferri")), "the file's subject, not the speaker's");
    for (value, code) in [(" ", "blank"), ("a\0b", "control_character")] {
        let refused = TravellerWorkflow.fill(command.clone(), value, &speaker);
        assert_eq!(refused, Err(Rejection::new(code)));
    }
    let refused = TravellerWorkflow.fill(TravellerCommand::Archive, "x", &speaker);
    assert_eq!(refused, Err(Rejection::new("value_not_taken")));
}

#[test]
fn a_forgotten_name_is_not_asked_for_again() {
    let state = given([forgotten(&registered(Some("Ada Ferri")))]).state;
    let projection = TravellerWorkflow.project(&state, &Language::English.locale());
    projection.check().expect("a sound projection");
    assert_eq!(projection.phase.key, "active");
    assert!(projection.required.is_none() && projection.aliases.is_empty());
    assert_eq!(projection.label.to_string(), "traveller without a name");
}

#[test]
fn everything_on_a_file_belongs_to_one_subject() {
    let compiled = |state: &TravellerState, operation: &'static str, slot: &'static str| {
        let operation = literal(operation);
        let values = BTreeMap::from([(literal(slot), SlotValue::Text("X 1".to_owned()))]);
        let speaker = subject(SPEAKER);
        let (values, speaker) = (&values, &speaker);
        let fresh = if state.subject.is_some() { Uuid::from_u128(77) } else { FRESH };
        let act = OperationAct { operation: &operation, values, fresh, speaker, now: NOW };
        TravellerWorkflow.compile(state, &act)
    };
    let new = TravellerState::default();
    let register = TravellerCommand::Register { subject: ada(), name: Some(about_ada("X 1")) };
    assert_eq!(compiled(&new, "register", "name"), Ok(register));
    let file = given([registered(None)]).state;
    assert_eq!(compiled(&file, "set_name", "name"), Ok(set_name("X 1")));
    assert_eq!(compiled(&file, "set_loyalty_number", "number"), Ok(set_number("X 1")));
    assert_eq!(compiled(&file, "archive", "none"), Ok(TravellerCommand::Archive));
    assert_eq!(compiled(&file, "fly", "none"), Err(CompileError::NotOnOffer));
}

#[test]
fn archiving_needs_a_click_and_a_correction_does_not() {
    let state = given([registered(Some("Ada"))]).state;
    let policy = |command: &TravellerCommand| TravellerWorkflow.policy(&state, command);
    assert!(policy(&TravellerCommand::Archive).requires_click());
    assert!(!policy(&set_name("Ada Ferri")).requires_click());
}

#[test]
fn i16_receipts_cite_every_event_and_confirmations_show_every_value() {
    let events: Vec<_> = every_event().into_iter().map(|(event, _)| event).collect();
    let state = given(events[..4].to_vec()).state;
    for language in Language::ALL {
        let locale = language.locale();
        let view = view(&TravellerWorkflow, &state, &locale);
        let committed = committed(&TravellerWorkflow, events.clone());
        let drafts = TravellerWorkflow.receipts(&committed, &view, &locale);
        let cited: Vec<_> = drafts.iter().flat_map(|draft| draft.event_ids.clone()).collect();
        assert_eq!(cited, committed.iter().map(|event| event.id).collect::<Vec<_>>());
        assert!(drafts.iter().all(|draft| !says_done(&draft.title) && !says_done(&draft.body)));

        for (command, value) in [
            (TravellerCommand::Register { subject: ada(), name: Some(about_ada("Q")) }, "Q"),
            (set_name("Ada Q"), "Ada Q"),
            (set_number("Q 7"), "Q 7"),
            (TravellerCommand::Archive, "LX 1"),
        ] {
            let card = TravellerWorkflow.confirmation(&state, &command, &locale);
            let shown = card.lines.iter().any(|line| line.to_string().contains(value));
            assert!(shown, "{command:?}: {:?}", card.lines);
        }
    }
}

#[test]
fn every_code_has_words_of_its_own_in_both_languages() {
    for language in Language::ALL {
        let words = words(&language.locale());
        let mut said: Vec<_> = decide::CODES.iter().map(|code| words.rejection(code)).collect();
        said.push(words.rejection("value_not_taken"));
        let all = said.len();
        said.sort();
        said.dedup();
        assert_eq!(said.len(), all);
    }
}

#[test]
fn what_is_on_file_is_told_from_the_view() {
    let number = TravellerEvent::LoyaltyNumberSet { number: about_ada("LX 1") };
    let state = given([registered(Some("Ada Ferri")), number]).state;
    let locale = Language::English.locale();
    let view = view(&TravellerWorkflow, &state, &locale);
    let told = TravellerWorkflow.answer(&literal("file"), &view, &locale);
    assert_eq!(
        told.map(|text| text.to_string()).as_deref(),
        Some("Ada Ferri: this is on file. Name: Ada Ferri. Loyalty number: LX 1.")
    );
    assert_eq!(TravellerWorkflow.answer(&literal("status"), &view, &locale), None);
}

#[test]
fn every_event_is_written_and_read_as_it_was_at_first() {
    for (event, json) in every_event() {
        assert_eq!(Json::of(&event).expect("JSON").as_str(), json);
        let frozen: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let frozen = Json::of(&frozen).expect("JSON");
        assert_eq!(TravellerWorkflow.upcast(1, &frozen), Ok(event));
    }
}

#[test]
fn a_file_reads_back_equal_known_and_forgotten_and_every_step_is_sound() {
    let mut lived = Vec::new();
    for (event, _) in every_event() {
        lived.push(event);
        let known = given(lived.clone()).state;
        let erased = given(lived.iter().map(forgotten)).state;
        assert!(erased == forgotten(&known));
        for state in [known, erased] {
            assert_round_trip(&state);
            for language in Language::ALL {
                let projection = TravellerWorkflow.project(&state, &language.locale());
                projection.check().expect("a sound projection");
            }
        }
    }
}
