//! Whatever is said of a rebooking, in whatever order, and by whomever: what is told of it is what somebody who may say
//! so has said, and as long as nobody has, the words of no language say that it went well or did not (I15, I16).

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use turnframe_core::canonical::Json;
use turnframe_core::plan::Rejection;
use turnframe_core::receipt::{EffectConclusion, ReceiptDraft, ReceiptSeverity, ReceiptStatus};
use turnframe_core::workflow::Workflow;

use super::decisions::{
    accepted, ada_added, given, opened, recorded, rejected, requested, submitted,
};
use super::rebooking::conclude;
use super::{
    RebookingOutcome, RebookingStatus, Refusal, STATUS_ANOMALY, TripEvent, TripState, TripWorkflow,
};
use crate::key::literal;
use crate::language::Language;
use crate::testing::{NOW, committed, effect, view};

/// The words by which a language says that the airline has it or agreed, or that it refused.
fn verdicts(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => &[
            "submitted",
            "accepted",
            "agreed",
            "confirmed",
            "rebooked",
            "success",
            "refused",
            "rejected",
            "declined",
            "failed",
        ],
        Language::German => &[
            "eingereicht",
            "angenommen",
            "zugestimmt",
            "bestätigt",
            "umgebucht",
            "erfolg",
            "abgelehnt",
            "zurückgewiesen",
            "gescheitert",
            "fehlgeschlagen",
        ],
    }
}

fn gives_a_verdict(language: Language, words: &str) -> bool {
    let words = words.to_lowercase();
    verdicts(language).iter().any(|verdict| words.contains(verdict))
}

/// What can be said of an effect, whoever says it: an answer, a look-up, a callback or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Received,
    Confirmed,
    Refused,
    Unknown,
    Parked,
}

#[derive(Debug, Clone, Copy)]
struct Statement {
    /// Of which of two effects; only the first that is spoken of carries this rebooking.
    effect: u128,
    word: Word,
    sequence: Option<u32>,
}

impl Statement {
    fn conclusion(self) -> EffectConclusion {
        let details = |status: &str| {
            let mut details = serde_json::json!({ "status": status });
            if let Some(sequence) = self.sequence {
                details["sequence"] = sequence.into();
            }
            Json::of(&details).expect("JSON")
        };
        let reference = "R-1".to_owned();
        match self.word {
            Word::Received => {
                EffectConclusion::Accepted { reference, details: details("received") }
            }
            Word::Confirmed => {
                EffectConclusion::Accepted { reference, details: details("confirmed") }
            }
            Word::Refused => {
                let code = "fully_booked".to_owned();
                EffectConclusion::Rejected { code, details: details("refused") }
            }
            Word::Unknown => EffectConclusion::Unknown,
            Word::Parked => EffectConclusion::ReconciliationRequired,
        }
    }

    /// What it may be told as: exactly this.
    fn outcome(self) -> RebookingOutcome {
        match self.word {
            Word::Received => submitted(),
            Word::Confirmed => accepted(),
            Word::Refused => rejected(),
            Word::Unknown => RebookingOutcome::Unknown,
            Word::Parked => RebookingOutcome::ReconciliationRequired,
        }
    }
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let word = prop_oneof![
        1 => Just(Word::Received),
        1 => Just(Word::Confirmed),
        1 => Just(Word::Refused),
        3 => Just(Word::Unknown),
        2 => Just(Word::Parked),
    ];
    let effect = prop_oneof![5 => Just(1_u128), 1 => Just(2_u128)];
    let statement = (effect, word, option::of(1_u32..5));
    vec(statement.prop_map(|(effect, word, sequence)| Statement { effect, word, sequence }), 0..16)
}

fn standing(state: &TripState) -> RebookingStatus {
    state.rebooking.as_ref().expect("a rebooking").status.clone()
}

fn receipts(language: Language, state: &TripState, events: &[TripEvent]) -> Vec<ReceiptDraft> {
    let (locale, workflow) = (language.locale(), TripWorkflow);
    let view = view(&workflow, state, &locale);
    workflow.receipts(&committed(&workflow, events.iter().cloned()), &view, &locale)
}

/// Everything that is shown of a state besides receipts: its facts, its answer to "how does it stand", and what a wish to
/// send it again is told.
fn shown(language: Language, state: &TripState) -> Vec<String> {
    let (locale, workflow) = (language.locale(), TripWorkflow);
    let view = view(&workflow, state, &locale);
    let facts = view.projection.facts.iter().map(|fact| fact.value.to_string());
    let answer = workflow.answer(&literal("status"), &view, &locale).expect("an answer");
    let refusal = workflow.rejection(&Rejection::from(Refusal::RebookingUnresolved), &locale);
    facts.chain([answer.to_string(), refusal.to_string()]).collect()
}

/// One statement is heard; the state after it.
fn hear(
    state: TripState,
    first: Option<u128>,
    said: Statement,
) -> Result<TripState, TestCaseError> {
    let before = standing(&state);
    let command = conclude(effect(said.effect), &said.conclusion());
    let decision =
        TripWorkflow.decide(&state, &command, NOW).expect("a statement is never refused");
    let after =
        decision.events.iter().fold(state, |state, event| TripWorkflow.evolve(state, event));
    let now = standing(&after);
    if now != before {
        prop_assert!(first.is_none_or(|first| first == said.effect), "it is of something else");
        prop_assert_eq!(&now, &RebookingStatus::from(said.outcome()), "exactly what was said");
        let is_known = !before.is_uncertain() && before != RebookingStatus::Requested;
        prop_assert!(!is_known || !now.is_uncertain(), "what is known is not forgotten");
    }
    for language in Language::ALL {
        for (event, draft) in
            decision.events.iter().zip(receipts(language, &after, &decision.events))
        {
            let is_news = matches!(event, TripEvent::RebookingOutcomeRecorded { .. });
            prop_assert_eq!(
                is_news,
                draft.status == status_of(&said.outcome()) && now == said.outcome().into()
            );
            if !is_news {
                prop_assert_eq!(draft.severity, ReceiptSeverity::Warning);
                let is_set_aside = draft.status == ReceiptStatus::Domain(STATUS_ANOMALY.to_owned())
                    || draft.status == ReceiptStatus::ReconciliationRequired;
                prop_assert!(is_set_aside, "{:?}", draft.status);
            } else if now.is_uncertain() {
                let words = format!("{} {}", draft.title, draft.body);
                prop_assert!(!gives_a_verdict(language, &words), "{words}");
            }
        }
        if now.is_uncertain() {
            for words in shown(language, &after) {
                prop_assert!(!gives_a_verdict(language, &words), "{words}");
            }
        }
    }
    Ok(after)
}

fn status_of(outcome: &RebookingOutcome) -> ReceiptStatus {
    match outcome {
        RebookingOutcome::Submitted { .. } => ReceiptStatus::Submitted,
        RebookingOutcome::Accepted { .. } => ReceiptStatus::Accepted,
        RebookingOutcome::Rejected { .. } => ReceiptStatus::Rejected,
        RebookingOutcome::Unknown => ReceiptStatus::Unknown,
        RebookingOutcome::ReconciliationRequired => ReceiptStatus::ReconciliationRequired,
    }
}

proptest! {
    #[test]
    fn i15_no_way_leads_from_unknown_to_a_verdict_but_somebody_gives_one(said in statements()) {
        let mut state = given([opened(), ada_added(), requested()]).state;
        let mut first = None;
        for statement in said {
            state = hear(state, first, statement)?;
            first = first.or(Some(statement.effect));
        }
    }
}

#[test]
fn i15_each_stage_has_a_receipt_that_says_exactly_that_and_a_fact_that_says_the_same() {
    let stages = [
        (
            submitted(),
            ["submitted to the airline", "not confirmed"],
            ["eingereicht", "nicht bestätigt"],
        ),
        (accepted(), ["airline accepted", "R-1"], ["angenommen", "R-1"]),
        (rejected(), ["airline refused", "fully_booked"], ["abgelehnt", "fully_booked"]),
        (
            RebookingOutcome::Unknown,
            ["may or may not", "nothing is sent again"],
            ["vielleicht nicht", "nichts noch einmal"],
        ),
        (
            RebookingOutcome::ReconciliationRequired,
            ["somebody has to check", "nothing is sent again"],
            ["jemand muss", "nichts noch einmal"],
        ),
    ];
    let spoken_of = |outcome: &RebookingOutcome| match outcome {
        RebookingOutcome::Submitted { .. } => 0,
        RebookingOutcome::Accepted { .. } => 1,
        RebookingOutcome::Rejected { .. } => 2,
        RebookingOutcome::Unknown => 3,
        RebookingOutcome::ReconciliationRequired => 4,
    };
    let mut told = Vec::new();
    for (number, (outcome, english, german)) in stages.into_iter().enumerate() {
        assert_eq!(spoken_of(&outcome), number, "every stage is here");
        let event = recorded(effect(1), outcome.clone());
        let state = given([opened(), ada_added(), requested(), event.clone()]).state;
        for (language, expected) in [(Language::English, english), (Language::German, german)] {
            let drafts = receipts(language, &state, std::slice::from_ref(&event));
            let [draft] = &drafts[..] else { unreachable!("one receipt: {drafts:?}") };
            assert_eq!(draft.status, status_of(&outcome));
            let body = draft.body.to_string().to_lowercase();
            for words in expected {
                assert!(body.contains(&words.to_lowercase()), "{language:?}: {body}");
            }
            let is_verdict = gives_a_verdict(language, &body);
            let fact = shown(language, &state).iter().any(|words| gives_a_verdict(language, words));
            let is_certain = !RebookingStatus::from(outcome.clone()).is_uncertain();
            assert_eq!((is_verdict, fact), (is_certain, is_certain), "{language:?}: {body}");
            told.push((language.locale().to_string(), draft.title.to_string(), body));
        }
    }
    let stages = told.len();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), stages, "no two stages share a receipt");
}
