//! Prohibition > cancellation > click > correction > text: each pair, in both orders in which it can be said.
//!
//! Every turn meets one open box that is painted, with one card that a click or words can answer.

use turnframe_core::plan::{ActId, ActOutcome, Action, Disposition, ExecutionPlan};

use crate::boxes::OPERATIONS;
use crate::spec::{
    ActSpec, CardSpec, CaseSpec, ClickSpec, OperateSpec, ScopeSpec, TargetSpec, TurnSpec,
};
use crate::world::{WORDS, World};

#[test]
fn a_prohibition_comes_before_a_cancellation() {
    check(&[note(), forget(0)], forbids("note"), "a1 prohibited, a2 cancels a1");
    check(&[paint(), forget(0)], everything(), "a1 prohibited, a2 cancels a1");
    check(&[dismiss()], everything(), "a1 closes");
}

#[test]
fn a_prohibition_comes_before_a_click() {
    check(&[], clicks("confirm").but_forbids("paint"), "a0 prohibited");
    check(&[], clicks("confirm").but_forbids("note"), "a0 runs");
    check(&[], clicks("confirm").forbidding(ScopeSpec::Everything), "a0 prohibited");
    check(&[], clicks("decline").forbidding(ScopeSpec::Everything), "a0 closes");
    let ship = || clicks("confirm").on_a_card_to("ship");
    check(&[], ship(), "a0 runs");
    check(&[], ship().forbidding(ScopeSpec::Submissions), "a0 prohibited");
    check(&[], clicks("confirm").forbidding(ScopeSpec::Submissions), "a0 runs");
    // An option that does more than its card says is not run by a click on it, and not asked anew where forbidden.
    let more = || clicks("as_it_is").on_the_card_it_requires();
    check(&[], more(), "a0 renews");
    check(&[], more().forbidding(ScopeSpec::Submissions), "a0 prohibited");
}

#[test]
fn a_prohibition_comes_before_a_correction_which_still_takes_back_what_it_corrects() {
    let said = [note(), correcting(0, paint())];
    check(&said, forbids("paint"), "a1 superseded by a2, a2 prohibited");
    check(&said, forbids("note"), "a1 prohibited, a2 runs");
    check(
        &[note(), correcting(0, ship())],
        TurnSpec::default().forbidding(ScopeSpec::Submissions),
        "a1 superseded by a2, a2 prohibited",
    );
}

#[test]
fn a_prohibition_comes_before_words() {
    check(&[note(), paint()], forbids("note"), "a1 prohibited, a2 runs");
    check(&[note(), ship()], submissions(), "a1 runs, a2 prohibited");
    check(&[note(), ship()], everything(), "a1 prohibited, a2 prohibited");
    check(&[answer("confirm")], forbids("paint"), "a1 prohibited");
    check(&[answer("confirm")], everything(), "a1 prohibited");
    check(&[answer("decline")], forbids("paint"), "a1 closes");
}

#[test]
fn a_cancellation_comes_before_a_click() {
    check(&[dismiss()], clicks("confirm"), "a0 cancelled by a1, a1 closes");
    check(&[dismiss()], clicks("decline"), "a0 cancelled by a1, a1 closes");
}

#[test]
fn a_cancellation_comes_before_a_correction() {
    let said = |earlier| [note(), correcting(0, paint()), forget(earlier)];
    check(&said(0), plain(), "a1 cancelled by a3, a2 cancelled by a3, a3 cancels a1");
    check(&said(1), plain(), "a1 cancelled by a3, a2 cancelled by a3, a3 cancels a2");
    let said = [note(), forget(0), correcting(0, paint())];
    check(&said, plain(), "a1 cancelled by a2, a2 cancels a1, a3 runs");
}

#[test]
fn a_cancellation_comes_before_words() {
    check(&[note(), forget(0)], plain(), "a1 cancelled by a2, a2 cancels a1");
    check(&[answer("confirm"), dismiss()], plain(), "a1 cancelled by a2, a2 closes");
    check(&[dismiss(), answer("confirm")], plain(), "a1 closes, a2 cancelled by a1");
}

#[test]
fn a_cancellation_that_is_taken_back_cancels_nothing() {
    let said = [note(), forget(0), forget(1)];
    check(&said, plain(), "a1 runs, a2 cancelled by a3, a3 cancels a2");
    check(&[dismiss(), forget(0)], plain(), "a1 cancelled by a2, a2 cancels a1");
    let said = [note(), forget(0), forget(1), forget(2)];
    let expected = "a1 cancelled by a2, a2 cancels a1, a3 cancelled by a4, a4 cancels a3";
    check(&said, plain(), expected);
}

#[test]
fn a_click_comes_before_a_correction() {
    let said = [note(), correcting(0, paint())];
    let expected = "a0 runs, a1 superseded by a2, a2 superseded by a0";
    check(&said, clicks("confirm"), expected);
    let said = [paint(), correcting(0, note())];
    check(&said, clicks("confirm"), "a0 runs, a1 superseded by a0, a2 runs");
}

#[test]
fn a_click_comes_before_words() {
    check(&[paint(), note()], clicks("confirm"), "a0 runs, a1 superseded by a0, a2 runs");
    check(&[paint()], clicks("decline"), "a0 closes, a1 superseded by a0");
    check(&[answer("decline")], clicks("confirm"), "a0 runs, a1 superseded by a0");
    check(
        &[note(), of_act(0, paint())],
        clicks("confirm"),
        "a0 runs, a1 runs, a2 superseded by a0",
    );
}

#[test]
fn words_are_policed_in_the_state_that_the_click_leaves() {
    check(&[note()], clicks("confirm").on_a_card_to("paint"), "a0 runs, a1 runs");
    check(&[note()], clicks("confirm").on_a_card_to("seal"), "a0 runs, a1 asks");
}

#[test]
fn a_correction_comes_before_words() {
    check(&[note(), correcting(0, paint())], plain(), "a1 superseded by a2, a2 runs");
    check(&[answer("confirm"), correcting(0, note())], plain(), "a1 superseded by a2, a2 runs");
    let twice = [note(), correcting(0, paint()), correcting(0, seal())];
    check(&twice, plain(), "a1 superseded by a2, a2 superseded by a3, a3 asks");
    let chained = [note(), correcting(0, paint()), correcting(1, seal())];
    check(&chained, plain(), "a1 superseded by a2, a2 superseded by a3, a3 asks");
    let wondered = [note(), wondering(correcting(0, paint()))];
    check(&wondered, plain(), "a1 runs, a2 hypothetical");
}

#[test]
fn a_correction_runs_in_the_place_of_what_it_corrects_and_means_the_same_record() {
    let said = [paint(), note(), correcting(0, seal())];
    let plan = check(&said, plain(), "a1 superseded by a3, a2 runs, a3 asks");
    assert_eq!(plan.order, [ActId(1), ActId(3), ActId(2)]);
    let itself = [note(), correcting(0, of_act(0, paint()))];
    check(&itself, plain(), "a1 superseded by a2, a2 runs");
    let circle = [note(), of_act(0, paint()), correcting(0, of_act(1, seal()))];
    check(&circle, plain(), "a1 superseded by a3, a2 targetmissing, a3 targetmissing");
}

#[test]
fn what_is_about_a_new_record_runs_after_it_also_in_the_place_of_an_earlier_act() {
    let said = [note(), open("one"), correcting(0, of_act(1, paint()))];
    let plan = check(&said, plain(), "a1 superseded by a3, a2 runs, a3 runs");
    assert_eq!(plan.order, [ActId(1), ActId(2), ActId(3)]);
    let said = [open("one"), of_act(0, paint()), correcting(0, open("two"))];
    let plan = check(&said, plain(), "a1 superseded by a3, a2 runs, a3 runs");
    assert_eq!(plan.order, [ActId(1), ActId(3), ActId(2)]);
}

#[test]
fn what_needs_a_record_that_does_not_come_into_being_is_not_executed() {
    let refused = [open("three"), of_act(0, paint())];
    check(&refused, plain(), "a1 runs, a2 not executed because of a1");
    let forbidden = [open("one"), of_act(0, paint())];
    check(&forbidden, forbids("open"), "a1 prohibited, a2 not executed because of a1");
    let wondered = [wondering(open("one")), of_act(0, paint())];
    check(&wondered, plain(), "a1 hypothetical, a2 not executed because of a1");
}

#[test]
fn a_record_that_is_there_can_be_meant_by_an_act_that_is_not_done() {
    check(&[note(), of_act(0, paint())], forbids("note"), "a1 prohibited, a2 runs");
    check(&[wondering(note()), of_act(0, paint())], plain(), "a1 hypothetical, a2 runs");
    let said = [note(), forget(0), of_act(0, paint())];
    check(&said, plain(), "a1 cancelled by a2, a2 cancels a1, a3 runs");
}

#[test]
fn i8_which_of_two_is_asked_once_and_whatever_else_is_about_it_waits() {
    let said = [of_whatever("one", note()), of_act(0, paint()), of_act(1, seal())];
    let expected =
        "a1 ambiguoustarget, a2 not executed because of a1, a3 not executed because of a1";
    check(&said, plain().with_another_box(), expected);
    let nobody_asks = [of_whatever("one", note()), of_act(0, paint())];
    let turn = forbids("note").with_another_box();
    let plan = check(&nobody_asks, turn, "a1 prohibited, a2 ambiguoustarget");
    assert_eq!(plan.choices.len(), 1);
}

#[test]
fn a_card_of_another_conversation_is_not_put_away_from_here() {
    check(&[dismiss()], plain().with_a_card_elsewhere(), "a1 nocard");
}

/// Says acts in a turn and compares what each comes to.
#[track_caller]
fn check(acts: &[ActSpec], turn: TurnSpec, expected: &str) -> ExecutionPlan {
    let met = TurnSpec::default().on_a_card_to("paint");
    let cases = if turn.cases.is_empty() { met.cases } else { turn.cases.clone() };
    let plan = World::of(&TurnSpec { cases, acts: acts.to_vec(), ..turn }).plan();
    let shown = plan.acts.iter().map(|act| format!("{} {}", act.id, shown(&act.disposition)));
    assert_eq!(shown.collect::<Vec<_>>().join(", "), expected);
    plan
}

fn shown(disposition: &Disposition) -> String {
    match disposition {
        Disposition::Step(step) => match &step.action {
            Action::Run { .. } => "runs".to_owned(),
            Action::Confirm { .. } => "asks".to_owned(),
            Action::Close { .. } => "closes".to_owned(),
            Action::Renew { .. } => "renews".to_owned(),
        },
        Disposition::Final(ActOutcome::Superseded { by }) => format!("superseded by {by}"),
        Disposition::Final(ActOutcome::Cancelled { by }) => format!("cancelled by {by}"),
        Disposition::Final(ActOutcome::Cancels { act }) => format!("cancels {act}"),
        Disposition::Final(ActOutcome::NotExecuted { because }) => {
            format!("not executed because of {because}")
        }
        Disposition::Final(outcome) => {
            let name = format!("{outcome:?}").to_lowercase();
            name.split_whitespace().next().unwrap_or_default().to_owned()
        }
    }
}

fn operate(operation: &str, argument: Option<u8>) -> ActSpec {
    let target = if operation == "open" { TargetSpec::New } else { TargetSpec::Handle(0) };
    ActSpec::Operate(OperateSpec {
        workflow: 0,
        operation: number(operation),
        target,
        argument,
        is_hypothetical: false,
        corrects: None,
    })
}

/// The number of an operation among those that do not create.
fn number(operation: &str) -> u8 {
    let place = OPERATIONS.iter().position(|it| *it == operation).expect("an operation");
    u8::try_from(place.saturating_sub(1)).expect("few")
}

fn open(name: &str) -> ActSpec {
    operate("open", Some(name_number(name)))
}

/// The number of a name among the words that can be said.
fn name_number(name: &str) -> u8 {
    let place = WORDS.split(' ').position(|it| it == name).expect("a name");
    u8::try_from(place).expect("few")
}

fn note() -> ActSpec {
    operate("note", None)
}

fn paint() -> ActSpec {
    const BLUE: u8 = 4;
    operate("paint", Some(BLUE))
}

fn seal() -> ActSpec {
    operate("seal", None)
}

fn ship() -> ActSpec {
    operate("ship", None)
}

fn change(act: ActSpec, change: impl FnOnce(&mut OperateSpec)) -> ActSpec {
    let mut act = act;
    if let ActSpec::Operate(operate) = &mut act {
        change(operate);
    }
    act
}

fn correcting(earlier: u8, act: ActSpec) -> ActSpec {
    change(act, |operate| operate.corrects = Some(earlier))
}

fn of_act(earlier: u8, act: ActSpec) -> ActSpec {
    change(act, |operate| operate.target = TargetSpec::Act(earlier))
}

fn of_whatever(name: &str, act: ActSpec) -> ActSpec {
    change(act, |operate| operate.target = TargetSpec::Mention(name_number(name)))
}

fn wondering(act: ActSpec) -> ActSpec {
    change(act, |operate| operate.is_hypothetical = true)
}

fn forget(earlier: u8) -> ActSpec {
    ActSpec::CancelAct(earlier)
}

fn dismiss() -> ActSpec {
    ActSpec::CancelOpenCard
}

fn answer(option: &str) -> ActSpec {
    ActSpec::Answer { card: 0, option: u8::from(option != "confirm"), says_which: false }
}

fn plain() -> TurnSpec {
    TurnSpec::default()
}

fn forbids(operation: &str) -> TurnSpec {
    plain().but_forbids(operation)
}

fn submissions() -> TurnSpec {
    plain().forbidding(ScopeSpec::Submissions)
}

fn everything() -> TurnSpec {
    plain().forbidding(ScopeSpec::Everything)
}

fn clicks(option: &str) -> TurnSpec {
    let click = ClickSpec { card: 0, option: u8::from(option != "confirm"), value: 0 };
    TurnSpec { click: Some(click), ..plain() }
}

impl TurnSpec {
    fn forbidding(mut self, scope: ScopeSpec) -> Self {
        self.prohibitions.push(scope);
        self
    }

    fn but_forbids(self, operation: &str) -> Self {
        let place = OPERATIONS.iter().position(|it| *it == operation).expect("an operation");
        let place = u8::try_from(place).expect("few");
        self.forbidding(ScopeSpec::Operations(vec![(0, place)]))
    }

    fn with_another_box(self) -> Self {
        let mut turn = self.on_a_card_to("paint");
        let cards = Vec::new();
        turn.cases.push(CaseSpec { cards, ..turn.cases[0].clone() });
        turn
    }

    fn with_a_card_elsewhere(self) -> Self {
        let mut turn = self.on_a_card_to("paint");
        turn.cases[0].cards[0].is_elsewhere = true;
        turn
    }

    /// The box is not painted, and its state asks for a colour.
    fn on_the_card_it_requires(mut self) -> Self {
        const BARE: u8 = 1;
        let cards = vec![CardSpec { is_required: true, ..CardSpec::default() }];
        self.cases = vec![CaseSpec { workflow: 0, name: 0, stage: BARE, cards }];
        self
    }

    /// The box has a card that asks for a click on this.
    fn on_a_card_to(mut self, operation: &str) -> Self {
        const PAINTED: u8 = 2;
        let cards = vec![CardSpec { command: number(operation), ..CardSpec::default() }];
        self.cases = vec![CaseSpec { workflow: 0, name: 0, stage: PAINTED, cards }];
        self
    }
}
