//! Turns as numbers, and how they are drawn at random. Every number is taken modulo what there is to choose from when a
//! [`crate::world::World`] is built from it, so that whatever is drawn is a turn that can happen.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// What a turn meets and what it says.
#[derive(Debug, Clone, Default)]
pub(crate) struct TurnSpec {
    pub(crate) cases: Vec<CaseSpec>,
    pub(crate) choices: Vec<ChoiceSpec>,
    pub(crate) acts: Vec<ActSpec>,
    pub(crate) questions: Vec<QuestionSpec>,
    pub(crate) prohibitions: Vec<ScopeSpec>,
    pub(crate) click: Option<ClickSpec>,
    pub(crate) is_unread: bool,
    pub(crate) is_cut: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CaseSpec {
    pub(crate) workflow: u8,
    pub(crate) name: u8,
    pub(crate) stage: u8,
    pub(crate) cards: Vec<CardSpec>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CardSpec {
    /// The card that the state requires, where it requires one.
    pub(crate) is_required: bool,
    pub(crate) command: u8,
    pub(crate) is_elsewhere: bool,
    pub(crate) is_independent: bool,
    pub(crate) is_stale: bool,
    /// It is not open any more, and has this status.
    pub(crate) closed: Option<u8>,
}

#[derive(Debug, Clone)]
pub(crate) struct ChoiceSpec {
    pub(crate) workflow: u8,
    /// None: it goes on with a question.
    pub(crate) operation: Option<u8>,
    pub(crate) closed: Option<u8>,
}

#[derive(Debug, Clone)]
pub(crate) enum ActSpec {
    Operate(OperateSpec),
    Answer { card: u8, option: u8, says_which: bool },
    CancelAct(u8),
    CancelCard(u8),
    CancelOpenCard,
}

#[derive(Debug, Clone)]
pub(crate) struct OperateSpec {
    pub(crate) workflow: u8,
    pub(crate) operation: u8,
    pub(crate) target: TargetSpec,
    pub(crate) argument: Option<u8>,
    pub(crate) is_hypothetical: bool,
    pub(crate) corrects: Option<u8>,
}

#[derive(Debug, Clone)]
pub(crate) enum TargetSpec {
    Handle(u8),
    Unknown,
    New,
    Act(u8),
    Mention(u8),
    Unstated,
}

#[derive(Debug, Clone)]
pub(crate) struct QuestionSpec {
    pub(crate) workflow: u8,
    pub(crate) target: TargetSpec,
}

#[derive(Debug, Clone)]
pub(crate) enum ScopeSpec {
    Operations(Vec<(u8, u8)>),
    Submissions,
    Everything,
}

#[derive(Debug, Clone)]
pub(crate) struct ClickSpec {
    pub(crate) card: u8,
    pub(crate) option: u8,
    pub(crate) value: u8,
}

/// Any turn.
pub(crate) fn turns() -> impl Strategy<Value = TurnSpec> {
    let met = (vec(cases(), 0..4), vec(choices(), 0..2), rarely(), rarely());
    let scopes = prop_oneof![3 => Just(Vec::new()), 2 => vec(scopes(), 1..3)];
    let said = (vec(acts(), 0..6), vec(questions(), 0..3), scopes, option::of(clicks()));
    (met, said).prop_map(|((cases, choices, is_unread, is_cut), said)| {
        let (acts, questions, prohibitions, click) = said;
        TurnSpec { cases, choices, acts, questions, prohibitions, click, is_unread, is_cut }
    })
}

fn rarely() -> impl Strategy<Value = bool> {
    prop::bool::weighted(0.1)
}

fn cases() -> impl Strategy<Value = CaseSpec> {
    (0_u8..2, 0_u8..2, 0_u8..5, vec(cards(), 0..3))
        .prop_map(|(workflow, name, stage, cards)| CaseSpec { workflow, name, stage, cards })
}

fn cards() -> impl Strategy<Value = CardSpec> {
    let closed = prop_oneof![3 => Just(None), 1 => any::<u8>().prop_map(Some)];
    (any::<bool>(), any::<u8>(), rarely(), any::<bool>(), any::<bool>(), closed).prop_map(
        |(is_required, command, is_elsewhere, is_independent, is_stale, closed)| CardSpec {
            is_required,
            command,
            is_elsewhere,
            is_independent,
            is_stale,
            closed,
        },
    )
}

fn choices() -> impl Strategy<Value = ChoiceSpec> {
    let closed = prop_oneof![3 => Just(None), 1 => any::<u8>().prop_map(Some)];
    (0_u8..2, option::of(any::<u8>()), closed)
        .prop_map(|(workflow, operation, closed)| ChoiceSpec { workflow, operation, closed })
}

fn acts() -> impl Strategy<Value = ActSpec> {
    let answer = (any::<u8>(), any::<u8>(), any::<bool>())
        .prop_map(|(card, option, says_which)| ActSpec::Answer { card, option, says_which });
    prop_oneof![
        6 => operations().prop_map(ActSpec::Operate),
        2 => answer,
        2 => any::<u8>().prop_map(ActSpec::CancelAct),
        1 => any::<u8>().prop_map(ActSpec::CancelCard),
        1 => Just(ActSpec::CancelOpenCard),
    ]
}

fn operations() -> impl Strategy<Value = OperateSpec> {
    let corrects = prop_oneof![3 => Just(None), 1 => any::<u8>().prop_map(Some)];
    let argument = prop::option::weighted(0.8, any::<u8>());
    (0_u8..2, any::<u8>(), targets(), argument, rarely(), corrects).prop_map(
        |(workflow, operation, target, argument, is_hypothetical, corrects)| OperateSpec {
            workflow,
            operation,
            target,
            argument,
            is_hypothetical,
            corrects,
        },
    )
}

fn targets() -> impl Strategy<Value = TargetSpec> {
    prop_oneof![
        3 => any::<u8>().prop_map(TargetSpec::Handle),
        1 => Just(TargetSpec::Unknown),
        2 => Just(TargetSpec::New),
        3 => any::<u8>().prop_map(TargetSpec::Act),
        2 => any::<u8>().prop_map(TargetSpec::Mention),
        2 => Just(TargetSpec::Unstated),
    ]
}

fn questions() -> impl Strategy<Value = QuestionSpec> {
    (0_u8..2, targets()).prop_map(|(workflow, target)| QuestionSpec { workflow, target })
}

fn scopes() -> impl Strategy<Value = ScopeSpec> {
    prop_oneof![
        3 => vec((0_u8..2, any::<u8>()), 1..3).prop_map(ScopeSpec::Operations),
        2 => Just(ScopeSpec::Submissions),
        1 => Just(ScopeSpec::Everything),
    ]
}

fn clicks() -> impl Strategy<Value = ClickSpec> {
    (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(card, option, value)| ClickSpec {
        card,
        option,
        value,
    })
}
