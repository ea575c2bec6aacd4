//! Jobs as numbers, and how they are drawn at random. A number is taken modulo what there is to choose from when the
//! job is built.

use proptest::collection::vec;
use proptest::prelude::*;

/// What a case is asked to do at once.
#[derive(Debug, Clone)]
pub(crate) enum JobSpec {
    /// By a turn.
    Turn {
        /// Another conversation than the one that opened the case.
        is_elsewhere: bool,
        /// The plan was made before the last commit with an event.
        is_late: bool,
        /// A click, and what the words say.
        click: Option<ClickSpec>,
        steps: Vec<StepSpec>,
    },
    /// By the destination that the case sends its effects to.
    Outside { effect: u8, outcome: u8 },
}

#[derive(Debug, Clone)]
pub(crate) struct ClickSpec {
    pub(crate) card: u8,
    pub(crate) option: u8,
    /// Its origin carries another hash than the card.
    pub(crate) is_forged: bool,
    /// It is treated as a click on a card that does not stand.
    pub(crate) is_renewed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct StepSpec {
    pub(crate) action: ActionSpec,
    /// An earlier act without which it does not run.
    pub(crate) depends_on: Option<u8>,
}

#[derive(Debug, Clone)]
pub(crate) enum ActionSpec {
    Run(u8),
    Confirm(u8),
    Answer { card: u8, option: u8 },
    Dismiss(u8),
}

/// Any jobs, one after another on one case.
pub(crate) fn jobs() -> impl Strategy<Value = Vec<JobSpec>> {
    let job = prop_oneof![
        6 => turns(),
        1 => (any::<u8>(), any::<u8>())
            .prop_map(|(effect, outcome)| JobSpec::Outside { effect, outcome }),
    ];
    vec(job, 1..10)
}

fn turns() -> impl Strategy<Value = JobSpec> {
    let click = prop::option::weighted(0.4, clicks());
    (prop::bool::weighted(0.2), prop::bool::weighted(0.15), click, vec(steps(), 0..4)).prop_map(
        |(is_elsewhere, is_late, click, steps)| JobSpec::Turn {
            is_elsewhere,
            is_late,
            click,
            steps,
        },
    )
}

fn clicks() -> impl Strategy<Value = ClickSpec> {
    let rarely = || prop::bool::weighted(0.2);
    (any::<u8>(), any::<u8>(), rarely(), rarely()).prop_map(
        |(card, option, is_forged, is_renewed)| ClickSpec { card, option, is_forged, is_renewed },
    )
}

fn steps() -> impl Strategy<Value = StepSpec> {
    let action = prop_oneof![
        4 => any::<u8>().prop_map(ActionSpec::Run),
        4 => any::<u8>().prop_map(ActionSpec::Confirm),
        2 => (any::<u8>(), any::<u8>())
            .prop_map(|(card, option)| ActionSpec::Answer { card, option }),
        1 => any::<u8>().prop_map(ActionSpec::Dismiss),
    ];
    let depends_on = prop::option::weighted(0.2, any::<u8>());
    (action, depends_on).prop_map(|(action, depends_on)| StepSpec { action, depends_on })
}
