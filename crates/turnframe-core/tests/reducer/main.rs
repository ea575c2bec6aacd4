//! The turn reducer under random turns: acts, answers, cancellations, corrections, prohibitions and questions in any
//! number, on any targets, with and without a click. What must hold is stated here without the reducer's own means.

mod boxes;
mod precedence;
mod read;
mod said;
mod spec;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use turnframe_core::id::InteractionId;
use turnframe_core::interaction::{InteractionStatus, OptionMeaning};
use turnframe_core::plan::{
    ActId, ActOutcome, Action, Disposition, ExecutionPlan, PlannedAct, PlannedAnswer,
};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::target::{Resolution, TargetToken};
use turnframe_core::understanding::{CancelTarget, Intent, Mood, ProposedTarget};
use turnframe_test::sources::START;

use read::{Read, id_of};
use spec::{ScopeSpec, TurnSpec, turns};
use world::World;

#[test]
fn the_turns_that_are_drawn_are_turns_that_pass_the_check() {
    in_every_turn(|world, _| {
        let mut understanding = world.understanding.clone();
        for act in &mut understanding.acts {
            if let Intent::Operate { target, .. } = &mut act.intent {
                forget_unknown(target);
            }
        }
        understanding.questions.iter_mut().for_each(|it| forget_unknown(&mut it.target));
        prop_assert_eq!(understanding.check(&world.brief()), Ok(()));
        Ok(())
    });
}

#[test]
fn i11_every_act_has_exactly_one_result_and_every_question_an_answer() {
    in_every_turn(|world, plan| {
        let texts = (0..world.understanding.acts.len()).map(id_of);
        let expected: Vec<_> = world.click.iter().map(|_| ActId::CLICK).chain(texts).collect();
        let ids: Vec<_> = plan.acts.iter().map(|act| act.id).collect();
        prop_assert_eq!(&ids, &expected);
        prop_assert_eq!(sorted(&plan.order), expected, "each runs once");
        let asked: Vec<_> =
            world.understanding.questions.iter().map(|it| Some(it.source)).collect();
        let answered: Vec<_> = plan.questions.iter().map(|it| it.source).collect();
        let of_the_click = usize::from(answered.first() == Some(&None));
        prop_assert_eq!(&answered[of_the_click..], &asked);
        prop_assert!(of_the_click == 0 || world.click.is_some());
        Ok(())
    });
}

#[test]
fn a_turn_is_reduced_to_the_same_plan_whenever_it_is_reduced() {
    in_every_turn(|world, plan| {
        prop_assert_eq!(plan, &world.plan());
        let stored = serde_json::to_string(plan).expect("a plan is JSON");
        let read_back: ExecutionPlan = serde_json::from_str(&stored).expect("a plan");
        prop_assert_eq!(plan, &read_back);
        Ok(())
    });
}

#[test]
fn nothing_prohibited_becomes_a_step() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        for act in &plan.acts {
            let Disposition::Step(step) = &act.disposition else { continue };
            let asks_for_something = read.command_of(&step.action).is_some();
            prop_assert!(!asks_for_something || !read.is_prohibited(act.id), "{:?}", act);
        }
        Ok(())
    });
}

#[test]
fn no_submission_becomes_a_step_where_submissions_are_forbidden() {
    let forbidding = turns().prop_map(|mut turn| {
        turn.prohibitions.push(ScopeSpec::Submissions);
        turn
    });
    in_every(forbidding, |world, plan| {
        let read = Read(world);
        for act in &plan.acts {
            let Disposition::Step(step) = &act.disposition else { continue };
            let submits =
                read.command_of(&step.action).is_some_and(|it| read.is_submission(&step.case, it));
            prop_assert!(!submits, "{:?}", act);
        }
        Ok(())
    });
}

#[test]
fn i8_what_may_mean_several_records_asks_which_and_does_nothing() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        for (index, act) in world.understanding.acts.iter().enumerate() {
            let Intent::Operate { operation, target, .. } = &act.intent else { continue };
            let Some(Resolution::Ambiguous(cases)) = read.resolve(&operation.workflow, target)
            else {
                continue;
            };
            match read.disposition(plan, id_of(index)) {
                Disposition::Step(step) => prop_assert!(false, "{:?}", step),
                Disposition::Final(ActOutcome::AmbiguousTarget { card }) => {
                    let card = plan.choices.iter().find(|it| it.id == *card).expect("persisted");
                    let options = card.payload.options.iter().map(|option| option.meaning.clone());
                    let choose = cases.into_iter().map(OptionMeaning::Choose);
                    let expected: Vec<_> = choose.chain([OptionMeaning::Decline]).collect();
                    prop_assert_eq!(options.collect::<Vec<_>>(), expected);
                }
                // Something else is in the way as well; that the record is not clear is no reason to say it is missing.
                Disposition::Final(outcome) => {
                    prop_assert_ne!(outcome, &ActOutcome::TargetMissing);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn i12_a_command_that_needs_a_click_runs_by_the_click_that_names_it_and_by_no_other() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        let mut states = BTreeMap::new();
        let mut applied = BTreeSet::new();
        for id in &plan.order {
            let Disposition::Step(step) = read.disposition(plan, *id) else { continue };
            let Action::Run { command, origin, resolves } = &step.action else { continue };
            if step.depends_on.is_some_and(|it| !applied.contains(&it)) {
                continue;
            }
            let workflow = world.workflow(&step.case.workflow);
            let state = states.entry(step.case.clone()).or_insert_with(|| world.state(&step.case));
            let policy = workflow.policy(state, command).expect("readable");
            match origin {
                CommandOrigin::ConfirmedInteraction { interaction, option, payload_hash } => {
                    let click = world.click.as_ref().expect("a click");
                    prop_assert_eq!(*id, ActId::CLICK);
                    prop_assert_eq!(*interaction, click.card.id);
                    prop_assert_eq!(*resolves, Some(click.card.id));
                    prop_assert_eq!(option, &click.response.option);
                    prop_assert_eq!(*payload_hash, click.card.payload_hash);
                    let revision = world.cases.get(&step.case).map(|it| it.revision);
                    let is_current = revision == Some(click.card.revision);
                    prop_assert!(is_current || click.card.payload.independent, "a stale card");
                    prop_assert_eq!(click.status, InteractionStatus::Active);
                    prop_assert_eq!(Some(command.clone()), read.clicked());
                    prop_assert!(policy.risk <= click.card.payload.risk, "{:?}", policy);
                }
                CommandOrigin::DirectUserAct { act, .. } => {
                    prop_assert_eq!(act, id);
                    prop_assert!(!policy.requires_click(), "{:?} {:?}", command, policy);
                }
                CommandOrigin::InternalPolicy { .. }
                | CommandOrigin::ExternalReceipt { .. }
                | CommandOrigin::ExternalCallback { .. } => {
                    prop_assert!(false, "no turn can have {:?}", origin);
                }
            }
            if let Ok(decision) = workflow.decide(state, command, START).expect("readable") {
                *state = decision.after;
                applied.insert(*id);
            }
        }
        Ok(())
    });
}

#[test]
fn what_was_called_off_or_put_right_is_no_step() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        let is_step =
            |act: usize| matches!(read.disposition(plan, id_of(act)), Disposition::Step(_));
        let called_off = read.called_off();
        for (index, act) in world.understanding.acts.iter().enumerate() {
            match &act.intent {
                Intent::Cancel(CancelTarget::Act(earlier)) if !called_off.contains(&index) => {
                    prop_assert!(!is_step(*earlier), "called off by {}", id_of(index));
                }
                Intent::Operate { corrects: Some(earlier), mood: Mood::Requested, .. } => {
                    let cancels =
                        matches!(world.understanding.acts[*earlier].intent, Intent::Cancel(_));
                    prop_assert!(cancels || !is_step(*earlier), "put right by {}", id_of(index));
                }
                Intent::Operate { .. } | Intent::Answer { .. } | Intent::Cancel(_) => {}
            }
        }
        for index in called_off {
            prop_assert!(!is_step(index), "{} was called off", id_of(index));
        }
        Ok(())
    });
}

#[test]
fn words_on_what_is_clicked_give_way_to_the_click() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        let Some(click) = &world.click else { return Ok(()) };
        let stands = |it: &Disposition| matches!(it, Disposition::Step(_));
        if !stands(read.disposition(plan, ActId::CLICK)) {
            return Ok(());
        }
        for (index, act) in world.understanding.acts.iter().enumerate() {
            let same = match &act.intent {
                Intent::Operate { operation, .. } => {
                    click.card.payload.operation.as_ref() == Some(operation)
                        && read.record_of(index) == click.card.case
                }
                Intent::Answer { card, .. } => *card == Some(click.card.id),
                Intent::Cancel(_) => false,
            };
            prop_assert!(!same || !stands(read.disposition(plan, id_of(index))), "{:?}", act);
        }
        Ok(())
    });
}

#[test]
fn i13_every_case_of_a_step_or_an_answer_has_its_expected_revision() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        let mut expected = BTreeMap::new();
        for expectation in &plan.cases {
            let known =
                world.cases.get(&expectation.case).map_or_else(Default::default, |it| it.revision);
            prop_assert_eq!(expectation.revision, known);
            prop_assert!(expected.insert(&expectation.case, known).is_none(), "stands twice");
        }
        for act in &plan.acts {
            if let Disposition::Step(step) = &act.disposition {
                prop_assert!(expected.contains_key(&step.case), "{:?}", act);
            }
        }
        for question in &plan.questions {
            if let PlannedAnswer::FromView(case) = &question.answer {
                let created = |act: &PlannedAct| {
                    matches!(
                        &act.disposition,
                        Disposition::Step(step) if step.case == *case && read.runs(plan, act.id)
                    )
                };
                prop_assert!(expected.contains_key(case));
                prop_assert!(world.cases.contains_key(case) || plan.acts.iter().any(created));
            }
        }
        Ok(())
    });
}

#[test]
fn a_choice_is_persisted_exactly_where_something_asks_with_it() {
    in_every_turn(|world, plan| {
        let of_act = |disposition: &Disposition| match disposition {
            Disposition::Final(ActOutcome::AmbiguousTarget { card }) => Some(*card),
            Disposition::Final(_) | Disposition::Step(_) => None,
        };
        let of_answer = |answer: &PlannedAnswer| match answer {
            PlannedAnswer::Ambiguous { card } => Some(*card),
            PlannedAnswer::FromView(_)
            | PlannedAnswer::Missing
            | PlannedAnswer::NotExecuted { .. } => None,
        };
        let acts = plan.acts.iter().filter_map(|act| of_act(&act.disposition));
        let answers = plan.questions.iter().filter_map(|it| of_answer(&it.answer));
        let asked: Vec<InteractionId> = acts.chain(answers).collect();
        let persisted: Vec<_> = plan.choices.iter().map(|card| card.id).collect();
        prop_assert_eq!(sorted(&asked), sorted(&persisted));
        let closed: BTreeSet<_> = plan.closed_choices.iter().map(|it| it.card).collect();
        prop_assert_eq!(closed.len(), plan.closed_choices.len(), "one is closed twice");
        prop_assert!(closed.iter().all(|id| world.choices.iter().any(|it| it.id == *id)));
        Ok(())
    });
}

#[test]
fn one_card_is_answered_once_in_a_turn() {
    in_every_turn(|_, plan| {
        let mut answered = BTreeSet::new();
        for act in &plan.acts {
            let Disposition::Step(step) = &act.disposition else { continue };
            let card = match &step.action {
                Action::Run { resolves, .. } => *resolves,
                Action::Close { card, .. } => Some(*card),
                Action::Confirm { .. } | Action::Renew { .. } => None,
            };
            prop_assert!(card.is_none_or(|card| answered.insert(card)), "{:?}", act);
        }
        Ok(())
    });
}

#[test]
fn what_runs_for_a_record_that_comes_into_being_runs_after_it() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        for (at, id) in plan.order.iter().enumerate() {
            match read.disposition(plan, *id) {
                Disposition::Step(step) => {
                    let is_new = !world.cases.contains_key(&step.case);
                    let on_card = world
                        .click
                        .as_ref()
                        .is_some_and(|it| it.card.case.as_ref() == Some(&step.case));
                    let Some(creator) = step.depends_on else {
                        prop_assert!(!is_new || on_card || read.creates(*id), "{:?}", step);
                        continue;
                    };
                    prop_assert!(plan.order[..at].contains(&creator), "{} before {}", id, creator);
                    prop_assert!(is_new && read.creates(creator), "{:?}", step);
                    let created = read.disposition(plan, creator);
                    prop_assert!(matches!(created, Disposition::Step(it) if it.case == step.case));
                }
                Disposition::Final(ActOutcome::NotExecuted { because }) => {
                    prop_assert!(because != id, "nothing waits for itself");
                    let runs = read.runs(plan, *because);
                    prop_assert!(!runs, "{} waits for {}, which runs", id, because);
                }
                Disposition::Final(outcome) => {
                    let ActOutcome::NotOnOffer { case } = outcome else { continue };
                    let is_there = world.cases.contains_key(case);
                    prop_assert!(is_there || read.clicked_case() == Some(case), "{:?}", outcome);
                }
            }
        }
        Ok(())
    });
}

#[test]
fn a_record_in_view_is_named_also_by_an_act_that_came_to_nothing() {
    in_every_turn(|world, plan| {
        let read = Read(world);
        for (index, act) in world.understanding.acts.iter().enumerate() {
            let Intent::Operate { operation, target: ProposedTarget::Act(earlier), .. } =
                &act.intent
            else {
                continue;
            };
            if read.record_of(*earlier).is_none_or(|case| case.workflow != operation.workflow) {
                continue;
            }
            let lost = matches!(
                read.disposition(plan, id_of(index)),
                Disposition::Final(ActOutcome::NotExecuted { .. } | ActOutcome::TargetMissing)
            );
            prop_assert!(!lost, "{:?}", read.disposition(plan, id_of(index)));
        }
        Ok(())
    });
}

/// Checks a property in random turns, twice as many as usual; `PROPTEST_CASES` asks for more. What once failed is a
/// row of a table and not a seed.
#[track_caller]
fn in_every_turn(property: impl Fn(&World, &ExecutionPlan) -> Result<(), TestCaseError>) {
    in_every(turns(), property);
}

#[track_caller]
fn in_every(
    turns: impl Strategy<Value = TurnSpec>,
    property: impl Fn(&World, &ExecutionPlan) -> Result<(), TestCaseError>,
) {
    let usual = ProptestConfig::default();
    let config = ProptestConfig { cases: usual.cases * 2, failure_persistence: None, ..usual };
    let run = TestRunner::new(config).run(&turns, |turn| {
        let world = World::of(&turn);
        property(&world, &world.plan())
    });
    if let Err(error) = run {
        unreachable!("{error}");
    }
}

fn forget_unknown(target: &mut ProposedTarget) {
    if *target == ProposedTarget::Handle(TargetToken::from("0")) {
        *target = ProposedTarget::Unstated;
    }
}

fn sorted<T: Ord + Copy>(of: &[T]) -> Vec<T> {
    let mut of = of.to_vec();
    of.sort_unstable();
    of
}
