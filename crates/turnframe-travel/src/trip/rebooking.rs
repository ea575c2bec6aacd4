//! A rebooking at the airline, and which statement about it counts.
//!
//! What the airline says may arrive late, twice, out of order or about something else. One total function
//! judges each statement against what is recorded: it applies, it repeats, or it is an anomaly that is
//! recorded and changes nothing. A status never goes back, and a final one never changes.

use serde::{Deserialize, Serialize};
use turnframe_core::id::EffectId;
use turnframe_core::receipt::EffectConclusion;

use super::command::TripCommand;
use crate::airline::AirlineDetails;

/// Where a rebooking stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebookingStatus {
    /// It is recorded and will be sent, or is being sent.
    Requested,
    /// The airline has it and has not decided.
    Submitted {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline agreed.
    Accepted {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline refused.
    Rejected {
        /// The airline's code.
        code: String,
    },
    /// It may have reached the airline or not (I15).
    Unknown,
    /// Nothing could find out; an operator has to.
    ReconciliationRequired,
}

impl RebookingStatus {
    /// Whether nothing more is expected of it.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Accepted { .. } | Self::Rejected { .. } => true,
            Self::Requested
            | Self::Submitted { .. }
            | Self::Unknown
            | Self::ReconciliationRequired => false,
        }
    }

    /// Whether nobody here knows if the airline has it.
    #[must_use]
    pub const fn is_uncertain(&self) -> bool {
        match self {
            Self::Unknown | Self::ReconciliationRequired => true,
            Self::Requested
            | Self::Submitted { .. }
            | Self::Accepted { .. }
            | Self::Rejected { .. } => false,
        }
    }
}

/// What can be said of a rebooking once it was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebookingOutcome {
    /// The airline has it and has not decided.
    Submitted {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline agreed.
    Accepted {
        /// What the airline calls it.
        reference: String,
    },
    /// The airline refused.
    Rejected {
        /// The airline's code.
        code: String,
    },
    /// It may have reached the airline or not.
    Unknown,
    /// Nothing could find out.
    ReconciliationRequired,
}

impl From<RebookingOutcome> for RebookingStatus {
    fn from(outcome: RebookingOutcome) -> Self {
        match outcome {
            RebookingOutcome::Submitted { reference } => Self::Submitted { reference },
            RebookingOutcome::Accepted { reference } => Self::Accepted { reference },
            RebookingOutcome::Rejected { code } => Self::Rejected { code },
            RebookingOutcome::Unknown => Self::Unknown,
            RebookingOutcome::ReconciliationRequired => Self::ReconciliationRequired,
        }
    }
}

/// A rebooking as the trip knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rebooking {
    /// Which of the trip's it is, from 1.
    pub number: u32,
    /// Where it stands.
    pub status: RebookingStatus,
    /// The effect that carries it. The runtime names effects after the decision, so the trip learns it from the
    /// first statement about it.
    pub effect: Option<EffectId>,
    /// The airline's count of the statement that [`Rebooking::status`] rests on.
    pub sequence: Option<u32>,
    /// Whether it was recorded that the airline has not decided in time.
    pub is_overdue: bool,
}

impl Rebooking {
    /// A rebooking that was just requested.
    #[must_use]
    pub const fn requested(number: u32) -> Self {
        let status = RebookingStatus::Requested;
        Self { number, status, effect: None, sequence: None, is_overdue: false }
    }
}

/// Why a statement does not fit what is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anomaly {
    /// No rebooking of this trip was carried by that effect.
    UnknownEffect,
    /// It is about a rebooking before the latest one.
    EarlierRebooking,
    /// It is older than what is recorded, or cannot be shown to be newer.
    OlderStatus,
    /// It contradicts what is recorded.
    Contradiction,
}

/// What a statement comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is news.
    Applies,
    /// It says what is recorded already.
    Repeats,
    /// It does not fit.
    Anomalous(Anomaly),
}

/// Judges a statement about an effect against what the trip has recorded.
pub(super) fn judge(
    latest: Option<&Rebooking>,
    past: &[EffectId],
    effect: EffectId,
    outcome: &RebookingOutcome,
    sequence: Option<u32>,
) -> Verdict {
    if past.contains(&effect) {
        return Verdict::Anomalous(Anomaly::EarlierRebooking);
    }
    let Some(rebooking) = latest.filter(|it| it.effect.is_none_or(|known| known == effect)) else {
        return Verdict::Anomalous(Anomaly::UnknownEffect);
    };
    let order = Order::of(rebooking.sequence, sequence);
    if rebooking.status == RebookingStatus::from(outcome.clone()) {
        return if order == Order::Newer { Verdict::Applies } else { Verdict::Repeats };
    }
    match fit(&rebooking.status, outcome, order) {
        None => Verdict::Applies,
        Some(anomaly) => Verdict::Anomalous(anomaly),
    }
}

/// What the airline's own count says of two statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Newer,
    NotNewer,
    Unordered,
}

impl Order {
    fn of(recorded: Option<u32>, said: Option<u32>) -> Self {
        match (recorded, said) {
            (Some(recorded), Some(said)) if said <= recorded => Self::NotNewer,
            (_, Some(_)) => Self::Newer,
            (_, None) => Self::Unordered,
        }
    }
}

/// Why another status cannot follow the recorded one. A refusal after a submission must be shown to be newer: an
/// older one that comes late looks just like it (I19).
fn fit(status: &RebookingStatus, outcome: &RebookingOutcome, order: Order) -> Option<Anomaly> {
    use RebookingOutcome as Said;
    use RebookingStatus as Known;
    if order == Order::NotNewer {
        return Some(Anomaly::OlderStatus);
    }
    match (status, outcome) {
        (Known::Requested, _)
        | (Known::Unknown, Said::ReconciliationRequired)
        | (
            Known::Unknown | Known::ReconciliationRequired,
            Said::Submitted { .. } | Said::Accepted { .. } | Said::Rejected { .. },
        )
        | (Known::Submitted { .. }, Said::Accepted { .. }) => None,
        (Known::Submitted { .. }, Said::Rejected { .. }) => match order {
            Order::Newer => None,
            Order::NotNewer | Order::Unordered => Some(Anomaly::OlderStatus),
        },
        (Known::Submitted { .. }, Said::Submitted { .. })
        | (
            Known::Accepted { .. } | Known::Rejected { .. },
            Said::Accepted { .. } | Said::Rejected { .. },
        ) => Some(Anomaly::Contradiction),
        (
            Known::Submitted { .. } | Known::Accepted { .. } | Known::Rejected { .. },
            Said::Unknown | Said::ReconciliationRequired,
        )
        | (Known::Accepted { .. } | Known::Rejected { .. }, Said::Submitted { .. })
        | (Known::Unknown | Known::ReconciliationRequired, Said::Unknown)
        | (Known::ReconciliationRequired, Said::ReconciliationRequired) => {
            Some(Anomaly::OlderStatus)
        }
    }
}

/// The command that carries an effect's conclusion. That the airline took an order is a submission, unless it
/// says in so many words that it decided.
pub(super) fn conclude(effect: EffectId, conclusion: &EffectConclusion) -> TripCommand {
    let (outcome, sequence) = match conclusion {
        EffectConclusion::Accepted { reference, details } => {
            let details = details.read::<AirlineDetails>().unwrap_or_default();
            let reference = reference.clone();
            let outcome = if details.is_confirmed() {
                RebookingOutcome::Accepted { reference }
            } else {
                RebookingOutcome::Submitted { reference }
            };
            (outcome, details.sequence)
        }
        EffectConclusion::Rejected { code, details } => {
            let details = details.read::<AirlineDetails>().unwrap_or_default();
            (RebookingOutcome::Rejected { code: code.clone() }, details.sequence)
        }
        EffectConclusion::Unknown => (RebookingOutcome::Unknown, None),
        EffectConclusion::ReconciliationRequired => {
            (RebookingOutcome::ReconciliationRequired, None)
        }
    };
    TripCommand::RecordRebookingOutcome { effect, outcome, sequence }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::effect;

    fn recorded(status: RebookingStatus, sequence: Option<u32>) -> Rebooking {
        Rebooking { status, effect: Some(effect(1)), sequence, ..Rebooking::requested(1) }
    }

    fn submitted() -> RebookingStatus {
        RebookingStatus::Submitted { reference: "R-1".to_owned() }
    }

    fn accepted() -> RebookingOutcome {
        RebookingOutcome::Accepted { reference: "R-1".to_owned() }
    }

    fn rejected() -> RebookingOutcome {
        RebookingOutcome::Rejected { code: "full".to_owned() }
    }

    fn verdict(
        rebooking: &Rebooking,
        outcome: &RebookingOutcome,
        sequence: Option<u32>,
    ) -> Verdict {
        judge(Some(rebooking), &[], effect(1), outcome, sequence)
    }

    #[test]
    fn case_32_a_late_older_refusal_never_downgrades_an_acceptance() {
        let known = recorded(accepted().into(), Some(2));
        let older = Verdict::Anomalous(Anomaly::OlderStatus);
        let contradiction = Verdict::Anomalous(Anomaly::Contradiction);
        assert_eq!(verdict(&known, &rejected(), Some(1)), older);
        assert_eq!(verdict(&known, &rejected(), Some(2)), older);
        assert_eq!(verdict(&known, &rejected(), Some(3)), contradiction);
        assert_eq!(verdict(&known, &rejected(), None), contradiction);
    }

    #[test]
    fn a_refusal_after_a_submission_has_to_be_shown_to_be_newer() {
        let older = Verdict::Anomalous(Anomaly::OlderStatus);
        assert_eq!(
            verdict(&recorded(submitted(), Some(1)), &rejected(), Some(2)),
            Verdict::Applies
        );
        assert_eq!(verdict(&recorded(submitted(), Some(2)), &rejected(), Some(1)), older);
        assert_eq!(verdict(&recorded(submitted(), Some(1)), &rejected(), None), older);
        assert_eq!(verdict(&recorded(submitted(), None), &rejected(), None), older);
    }

    #[test]
    fn a_statement_that_was_heard_before_is_a_repetition() {
        let known = recorded(submitted(), Some(1));
        let again = RebookingOutcome::Submitted { reference: "R-1".to_owned() };
        assert_eq!(verdict(&known, &again, Some(1)), Verdict::Repeats);
        assert_eq!(verdict(&known, &again, None), Verdict::Repeats);
        assert_eq!(verdict(&known, &again, Some(2)), Verdict::Applies, "the count moves on");
        let other = RebookingOutcome::Submitted { reference: "R-2".to_owned() };
        assert_eq!(verdict(&known, &other, None), Verdict::Anomalous(Anomaly::Contradiction));
    }

    #[test]
    fn what_is_known_is_never_forgotten_for_an_unknown() {
        for known in [submitted(), accepted().into(), rejected().into()] {
            for less in [RebookingOutcome::Unknown, RebookingOutcome::ReconciliationRequired] {
                let verdict = verdict(&recorded(known.clone(), None), &less, None);
                assert_eq!(verdict, Verdict::Anomalous(Anomaly::OlderStatus), "{known:?} {less:?}");
            }
        }
        let parked = recorded(RebookingStatus::ReconciliationRequired, None);
        let unknown = verdict(&parked, &RebookingOutcome::Unknown, None);
        assert_eq!(unknown, Verdict::Anomalous(Anomaly::OlderStatus));
        assert_eq!(verdict(&parked, &accepted(), None), Verdict::Applies);
    }

    #[test]
    fn the_first_statement_names_the_effect_and_another_effect_is_unknown() {
        let requested = Rebooking::requested(1);
        let unknown = Verdict::Anomalous(Anomaly::UnknownEffect);
        assert_eq!(verdict(&requested, &accepted(), None), Verdict::Applies);
        assert_eq!(judge(None, &[], effect(1), &accepted(), None), unknown);
        let known = recorded(submitted(), None);
        assert_eq!(judge(Some(&known), &[], effect(2), &accepted(), None), unknown);
        let earlier = judge(Some(&requested), &[effect(2)], effect(2), &accepted(), None);
        assert_eq!(earlier, Verdict::Anomalous(Anomaly::EarlierRebooking));
    }

    #[test]
    fn an_answer_by_http_is_a_submission_until_the_airline_says_that_it_decided() {
        let concluded = |details: serde_json::Value| {
            let details = turnframe_core::canonical::Json::of(&details).expect("JSON");
            let reference = "R-1".to_owned();
            conclude(effect(1), &EffectConclusion::Accepted { reference, details })
        };
        let record = |outcome, sequence| TripCommand::RecordRebookingOutcome {
            effect: effect(1),
            outcome,
            sequence,
        };
        let submitted = || RebookingOutcome::Submitted { reference: "R-1".to_owned() };
        let received = serde_json::json!({"status": "received", "sequence": 1});
        let confirmed = serde_json::json!({"status": "confirmed", "sequence": 2});
        assert_eq!(concluded(received), record(submitted(), Some(1)));
        assert_eq!(concluded(confirmed), record(accepted(), Some(2)));
        assert_eq!(concluded(serde_json::json!({})), record(submitted(), None));
        assert_eq!(concluded(serde_json::json!(["odd"])), record(submitted(), None));

        let of = |conclusion| conclude(effect(1), &conclusion);
        let details = turnframe_core::canonical::Json::of(&serde_json::json!({"sequence": 3}));
        let (code, details) = ("full".to_owned(), details.expect("JSON"));
        assert_eq!(of(EffectConclusion::Rejected { code, details }), record(rejected(), Some(3)));
        let refused = EffectConclusion::rejected("full");
        assert_eq!(of(refused), record(rejected(), None));
        assert_eq!(of(EffectConclusion::Unknown), record(RebookingOutcome::Unknown, None));
        let parked = RebookingOutcome::ReconciliationRequired;
        assert_eq!(of(EffectConclusion::ReconciliationRequired), record(parked, None));
    }
}
