//! What is said about trips: receipts cite every event, cards show every value, nobody says "done".

use turnframe_core::id::TopicKey;
use turnframe_core::interaction::OptionMeaning;
use turnframe_core::plan::Rejection;
use turnframe_core::policy::ClaimMode;
use turnframe_core::receipt::{ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::workflow::Workflow;

use super::decisions::{
    accepted, ada, ada_added, called, extra, given, opened, recorded, rejected, requested,
    submitted,
};
use super::fixtures::frozen;
use super::{
    Anomaly, ExtraKind, Opening, Payer, RebookingOutcome, Refusal, STATUS_ANOMALY, TripCommand,
    TripEvent, TripState, TripWorkflow,
};
use crate::key::literal;
use crate::language::Language;
use crate::testing::{committed, effect, forgotten, says_done, view};

fn receipts(language: Language, events: Vec<TripEvent>) -> Vec<ReceiptDraft> {
    let state = given([opened(), ada_added()]).state;
    let locale = language.locale();
    let view = view(&TripWorkflow, &state, &locale);
    TripWorkflow.receipts(&committed(&TripWorkflow, events), &view, &locale)
}

fn receipt(event: TripEvent) -> ReceiptDraft {
    receipts(Language::English, vec![event]).remove(0)
}

fn answer(state: &TripState, topic: &'static str, language: Language) -> Option<String> {
    let locale = language.locale();
    let topic: TopicKey = literal(topic);
    let view = view(&TripWorkflow, state, &locale);
    TripWorkflow.answer(&topic, &view, &locale).map(|text| text.to_string())
}

#[test]
fn i16_receipts_cite_every_event_exactly_once() {
    for language in Language::ALL {
        let mut events: Vec<_> = frozen().into_iter().map(|(event, _)| event).collect();
        let moved = TripEvent::DateSet { date: jiff::civil::date(2026, 6, 1) };
        events.extend([opened(), ada_added(), ada_added(), moved, TripEvent::DepartureCleared]);
        let committed = committed(&TripWorkflow, events.clone());
        let drafts = receipts(language, events);
        let cited: Vec<_> = drafts.iter().flat_map(|draft| draft.event_ids.clone()).collect();
        let expected: Vec<_> = committed.iter().map(|event| event.id).collect();
        assert_eq!(cited, expected);
        assert!(drafts.iter().all(|draft| !draft.event_ids.is_empty()));
    }
}

#[test]
fn no_receipt_says_done_and_each_has_words_in_both_languages() {
    let all = |language| receipts(language, frozen().into_iter().map(|it| it.0).collect());
    let (english, german) = (all(Language::English), all(Language::German));
    for (english, german) in english.iter().zip(&german) {
        for draft in [english, german] {
            assert!(!draft.title.is_empty() && !draft.body.is_empty());
            assert!(!says_done(&draft.title) && !says_done(&draft.body), "{}", draft.body);
        }
        assert_ne!(english.title, german.title);
        assert_ne!(english.body, german.body);
        assert_eq!(english.status, german.status);
        assert_eq!(english.claim_mode, german.claim_mode);
    }
}

#[test]
fn one_receipt_speaks_of_an_opening_and_of_whoever_travels_first() {
    let drafts = receipts(Language::English, vec![opened(), ada_added(), extra(1, None)]);
    let titles: Vec<_> = drafts.iter().map(|draft| draft.title.to_string()).collect();
    assert_eq!(titles, ["Trip opened", "Extra added"]);
    assert_eq!(drafts[0].event_ids.len(), 2);
    assert_eq!(
        drafts[0].body.to_string(),
        "Lisbon trip for Ada Ferri: opened. Destination: Lisbon. Date: 3 May 2026. \
         Traveller: Ada Ferri."
    );
}

#[test]
fn events_of_two_commits_never_share_a_receipt() {
    let state = given([opened()]).state;
    let locale = Language::English.locale();
    let view = view(&TripWorkflow, &state, &locale);
    let mut events = committed(&TripWorkflow, [opened(), ada_added()]);
    events[1].revision = events[1].revision.next();
    assert_eq!(TripWorkflow.receipts(&events, &view, &locale).len(), 2);
}

#[test]
fn i15_the_stages_of_a_rebooking_stay_distinct() {
    use ReceiptSeverity::{Failure, Info, Success, Warning};
    let of = |outcome| receipt(recorded(effect(1), outcome));
    let expectations = [
        (receipt(requested()), ReceiptStatus::Prepared, Info, None),
        (of(submitted()), ReceiptStatus::Submitted, Info, Some("R-1")),
        (of(accepted()), ReceiptStatus::Accepted, Success, Some("R-1")),
        (of(rejected()), ReceiptStatus::Rejected, Failure, None),
        (of(RebookingOutcome::Unknown), ReceiptStatus::Unknown, Warning, None),
        (
            of(RebookingOutcome::ReconciliationRequired),
            ReceiptStatus::ReconciliationRequired,
            Warning,
            None,
        ),
    ];
    for (draft, status, severity, reference) in expectations {
        assert_eq!(draft.status, status);
        assert_eq!(draft.severity, severity);
        assert_eq!(draft.external_reference.as_deref(), reference);
        assert_eq!(draft.claim_mode, ClaimMode::ServerReceiptOnly);
    }
}

#[test]
fn an_anomaly_is_a_warning_and_a_contradiction_asks_for_a_person() {
    let of = |anomaly| {
        let outcome = rejected();
        receipt(TripEvent::OutcomeAnomalyRecorded {
            effect: effect(1),
            outcome,
            sequence: None,
            anomaly,
        })
    };
    let older = of(Anomaly::OlderStatus);
    assert_eq!(older.status, ReceiptStatus::Domain(STATUS_ANOMALY.to_owned()));
    let contradiction = of(Anomaly::Contradiction);
    assert_eq!(contradiction.status, ReceiptStatus::ReconciliationRequired);
    for draft in [older, contradiction] {
        assert_eq!(draft.severity, ReceiptSeverity::Warning);
        assert!(draft.body.to_string().contains("The trip stays as it is"));
    }
}

#[test]
fn a_submission_says_what_it_is_not() {
    let body = receipt(recorded(effect(1), submitted())).body.to_string();
    assert!(body.contains("under reference R-1"));
    assert!(body.contains("not confirmed yet"));
    assert!(body.contains("does not mean that the trip is rebooked"));
    let unknown = receipt(recorded(effect(1), RebookingOutcome::Unknown)).body.to_string();
    assert!(unknown.contains("may or may not have reached the airline"));
    assert!(unknown.contains("nothing is sent again meanwhile"));
    let prepared = receipt(requested()).body.to_string();
    assert!(prepared.contains("about to be sent to the airline; nothing is confirmed"));
}

#[test]
fn an_erased_name_leaves_receipts_and_cards_readable() {
    let events: Vec<_> = [opened(), ada_added()].iter().map(forgotten).collect();
    let state = given(events.clone()).state;
    let locale = Language::English.locale();
    let view = view(&TripWorkflow, &state, &locale);
    let drafts = TripWorkflow.receipts(&committed(&TripWorkflow, events), &view, &locale);
    let body = drafts[0].body.to_string();
    assert!(body.contains("[erased]") && !body.contains("Ferri"), "{body}");
}

/// A command and every value that its card has to show.
fn commands() -> Vec<(TripCommand, Vec<&'static str>)> {
    let date = jiff::civil::date(2026, 6, 1);
    let departure = super::Departure {
        at: turnframe_core::source::Timestamp::from_micros(1),
        civil: date.at(9, 5, 0, 0),
    };
    vec![
        (
            TripCommand::Open(Opening {
                name: Some(called("Fair")),
                destination: Some("Rome".to_owned()),
                date: Some(date),
                traveller: Some(ada()),
            }),
            vec!["Fair", "Rome", "2026", "Ada Ferri"],
        ),
        (TripCommand::Rename { name: called("Expo") }, vec!["Expo"]),
        (TripCommand::SetDestination { destination: "Rome".to_owned() }, vec!["Rome"]),
        (TripCommand::SetDate { date }, vec!["1", "2026"]),
        (TripCommand::SetDeparture { departure }, vec!["1", "2026", "09:05"]),
        (TripCommand::AddTraveller { traveller: called("Ben Okoye") }, vec!["Ben Okoye"]),
        (
            TripCommand::AddExtra {
                kind: ExtraKind::Insurance,
                quantity: 5,
                payer: Some(Payer::Company),
            },
            vec!["5", "nsurance", "company"],
        ),
        (TripCommand::SetPayer { extra: 1, payer: Payer::Company }, vec!["1", "bag", "company"]),
        (TripCommand::RemoveExtra { extra: 1 }, vec!["1", "bag"]),
        (TripCommand::ProtectLeg { leg: "OPO-FRA".to_owned() }, vec!["OPO-FRA"]),
        (TripCommand::RequestRebooking, vec!["Lisbon", "3 May 2026", "Ada Ferri", "LIS-FRA"]),
        (TripCommand::Withdraw, vec!["Lisbon", "3 May 2026", "Ada Ferri", "LIS-FRA", "bag"]),
        (
            TripCommand::RecordRebookingOutcome {
                effect: effect(1),
                outcome: submitted(),
                sequence: Some(7),
            },
            vec!["R-1", "7", "00000000-0000-0000-0000-000000000001"],
        ),
        (
            TripCommand::RecordRebookingOverdue { rebooking: 3, seconds: 600 },
            vec!["3", "10 minutes"],
        ),
    ]
}

#[test]
fn a_confirmation_shows_every_value_of_its_command() {
    let leg = TripEvent::LegProtected { leg: "LIS-FRA".to_owned() };
    let state = given([opened(), ada_added(), extra(1, None), leg]).state;
    for (command, values) in commands() {
        let english = TripWorkflow.confirmation(&state, &command, &Language::English.locale());
        let lines: Vec<_> = english.lines.iter().map(ToString::to_string).collect();
        for value in values {
            assert!(lines.iter().any(|line| line.contains(value)), "{command:?}: {lines:?}");
        }
        let german = TripWorkflow.confirmation(&state, &command, &Language::German.locale());
        assert_eq!(german.lines.len(), english.lines.len());
        assert_ne!(german.title, english.title);
        for words in [&english.title, &english.confirm, &german.title, &german.confirm] {
            assert!(!words.is_empty() && !says_done(words));
        }
        assert_ne!(english.confirm, english.decline);
        assert_ne!(german.confirm, german.decline);
    }
}

#[test]
fn i7_the_payers_card_names_this_extra_and_says_what_each_option_does() {
    let state = given([opened(), extra(1, Some(Payer::Company)), extra(2, None), extra(3, None)]);
    let projection = TripWorkflow.project(&state.state, &Language::English.locale());
    let card = projection.required.expect("a card");
    assert_eq!(card.requirement.as_deref(), Some("payer:extra-2"));
    assert!(card.title.to_string().contains("extra 2"));
    let meanings: Vec<_> =
        card.options.iter().map(|option| (option.id.as_str(), option.meaning.clone())).collect();
    let settles = |payer| OptionMeaning::Execute(TripCommand::SetPayer { extra: 2, payer });
    assert_eq!(
        meanings,
        [("company", settles(Payer::Company)), ("traveller", settles(Payer::Traveller))]
    );
    let obligations: Vec<_> =
        projection.obligations.iter().map(|it| (it.key.as_str(), it.parameter.as_str())).collect();
    assert_eq!(obligations, [("payer", "extra-2"), ("payer", "extra-3")]);
}

#[test]
fn status_is_told_from_the_view_in_the_readers_language() {
    let state = given([
        opened(),
        ada_added(),
        extra(1, Some(Payer::Company)),
        requested(),
        recorded(effect(1), submitted()),
    ])
    .state;
    assert_eq!(
        answer(&state, "status", Language::English).as_deref(),
        Some(
            "Lisbon trip for Ada Ferri: it waits for the airline, which was asked to rebook it. \
             Destination: Lisbon. Date: 3 May 2026. Traveller: Ada Ferri. Extra 1: 1 bag, paid by \
             the company. Rebooking: submitted to the airline under reference R-1, not confirmed."
        )
    );
    let german = answer(&state, "status", Language::German).expect("an answer");
    assert!(german.starts_with("Reise nach Lisbon für Ada Ferri: sie wartet"), "{german}");
    assert_eq!(answer(&state, "weather", Language::English), None);
}

#[test]
fn who_pays_is_told_of_every_extra_and_of_nothing_else() {
    let state = given([opened(), extra(1, Some(Payer::Company)), extra(2, None)]).state;
    assert_eq!(
        answer(&state, "payer", Language::English).as_deref(),
        Some(
            "Lisbon trip: these are its extras. Extra 1: 1 bag, paid by the company. Extra 2: \
             1 bag, payer not settled."
        )
    );
    let none = given([opened()]).state;
    let german = answer(&none, "payer", Language::German);
    assert_eq!(german.as_deref(), Some("Reise nach Lisbon: sie hat keine Zusatzleistungen."));
}

#[test]
fn a_rejection_is_worded_with_its_detail_and_an_unknown_code_too() {
    let locale = Language::English.locale();
    let said = |rejection: Rejection| TripWorkflow.rejection(&rejection, &locale).to_string();
    let missing = Rejection::from(Refusal::NoSuchExtra).with("7");
    assert_eq!(said(missing), "This trip has no extra 7.");
    assert_eq!(said(Rejection::new("value_not_taken")), "The trip does not allow that.");
    let unresolved = said(Refusal::RebookingUnresolved.into());
    assert!(unresolved.contains("nothing is sent again"));
}

#[test]
fn a_model_that_claims_success_breaks_the_guardrail() {
    use turnframe_core::claim::breaks_guardrail;
    let english = TripWorkflow.forbidden_phrases(&Language::English.locale());
    for claim in ["Done, refunded!", "Your trip is booked.", "I have rebooked it."] {
        assert!(breaks_guardrail(claim, &english), "{claim}");
    }
    let german = TripWorkflow.forbidden_phrases(&Language::German.locale());
    for claim in ["Erledigt!", "Ich habe dich umgebucht.", "Die Reise ist gebucht."] {
        assert!(breaks_guardrail(claim, &german), "{claim}");
    }
    assert!(!breaks_guardrail("Here is how things stand.", &english));
}
