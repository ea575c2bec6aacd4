//! Execution on one case under random jobs, committed to a ledger and read back: what a process holds in memory is
//! what another one folds from the entries, and what ran once does not run again.

mod desk;
mod jobs;
mod spec;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::runtime::Builder;
use turnframe_core::id::{CaseRevision, EntryId};
use turnframe_core::interaction::{Interaction, InteractionStatus};
use turnframe_core::plan::{ActOutcome, Action};
use turnframe_core::policy::CommandOrigin;
use turnframe_core::view::PhaseOwner;
use turnframe_ledger::{
    AppendError, Entry, EntryKind, EventLedger, MarkKind, MarkQuery, StreamName, Version,
};
use turnframe_runtime::fold::case::CaseFold;
use turnframe_runtime::record::{CardClosed, CaseCommand, CaseEvent};

use desk::{Desk, Ran};
use spec::{ActionSpec, JobSpec, StepSpec, jobs};

#[test]
fn what_a_decision_leaves_behind_is_what_its_entries_fold_to() {
    after_every_job(async |desk, _| {
        let (live, replayed) = (&desk.fold, &desk.replayed);
        prop_assert_eq!(live.version, replayed.version);
        prop_assert_eq!(live.revision, replayed.revision);
        prop_assert_eq!(&live.cards, &replayed.cards);
        let save = |fold: &CaseFold| fold.save(desk.workflow());
        prop_assert!(save(live).is_some(), "the state survives a snapshot");
        prop_assert_eq!(save(live), save(replayed));
        Ok(())
    });
}

#[test]
fn i5_i6_one_card_blocks_at_most_and_whoever_has_the_move_is_asked() {
    after_every_job(async |desk, _| {
        let blocking = desk.fold.cards.values().filter(|card| !card.payload.independent);
        prop_assert!(blocking.count() <= 1);
        let projection = desk.workflow().project(&desk.fold.state, &"en".parse().expect("locale"));
        let projection = projection.expect("projection");
        if projection.phase.owner == PhaseOwner::User {
            let required = projection.required.expect("a card").requirement;
            let asks = |card: &Interaction| card.payload.requirement == required;
            prop_assert!(desk.fold.cards.values().any(asks), "nobody is asked");
        }
        Ok(())
    });
}

#[test]
fn i13_the_revision_counts_the_commits_that_hold_an_event() {
    after_every_job(async |desk, _| {
        let mut revision = CaseRevision::NONE;
        for commit in &desk.commits {
            let events = events(commit)?;
            if !events.is_empty() {
                revision = revision.next();
            }
            prop_assert!(events.iter().all(|(_, event)| event.revision == revision));
        }
        prop_assert_eq!(desk.fold.revision, revision);
        Ok(())
    });
}

#[test]
fn i13_a_job_for_a_revision_that_is_past_changes_nothing_and_says_so() {
    after_every_job(async |desk, ran| {
        if ran.job.expected.is_none_or(|expected| expected == ran.before.revision) {
            return Ok(());
        }
        prop_assert_eq!(desk.fold.revision, ran.before.revision);
        for (step, outcome) in ran.fresh() {
            let asks = matches!(step.step.action, Action::Run { .. } | Action::Confirm { .. });
            let told = matches!(
                outcome,
                ActOutcome::RevisionConflict { .. }
                    | ActOutcome::AlreadyResolved { .. }
                    | ActOutcome::NotExecuted { .. }
            );
            prop_assert!(!asks || told, "{:?}", outcome);
        }
        Ok(())
    });
}

#[test]
fn i14_a_job_that_ran_repeats_its_outcomes_and_appends_nothing() {
    after_every_job(async |desk, ran| {
        let again = desk.again(&ran.job).await;
        prop_assert_eq!(&again.outcomes, &ran.outcomes);
        prop_assert!(again.append.is_none(), "{:?}", again.append);
        prop_assert_eq!(again.after.version, desk.fold.version);
        Ok(())
    });
}

#[test]
fn i14_a_job_that_ran_is_stopped_by_its_keys_where_nobody_knows_of_it() {
    after_every_job(async |desk, ran| {
        let Some(append) = desk.unaware(&ran.job).await.append else { return Ok(()) };
        let answer = desk.ledger.append(vec![append]).await.remove(0);
        let same = matches!(answer, Err(AppendError::DuplicateKey { same_content: true, .. }));
        prop_assert!(same, "{:?}", answer);
        Ok(())
    });
}

#[test]
fn i16_what_is_applied_names_the_events_that_follow_its_command_and_the_effects_it_requested() {
    after_every_job(async |desk, ran| {
        for (outcome, recorded) in ran.outcomes.iter().zip(&ran.recorded) {
            let ActOutcome::Applied { case, revision, events: named, effects } = outcome else {
                continue;
            };
            prop_assert_eq!(case, &desk.case);
            prop_assert!(*revision <= desk.fold.revision);
            let command = recorded.expect("what is applied is on the record");
            let stream = StreamName::Case(desk.case.clone());
            let before = Version(command.0 - 1);
            let read = desk.ledger.read_stream(desk.account(), &stream, before, named.len() + 1);
            let read = read.await.expect("readable");
            let stated: CaseCommand = read[0].body.open().expect("a command");
            prop_assert_eq!(&stated.outcome, outcome);
            let following: Vec<EntryId> = events(&read[1..])?.iter().map(|(id, _)| *id).collect();
            prop_assert_eq!(&following, named);
            for effect in effects {
                let stream = StreamName::Effect(*effect);
                let read = desk.ledger.read_stream(desk.account(), &stream, Version::NONE, 9).await;
                let kinds: Vec<_> = read.expect("readable").iter().map(|it| it.kind).collect();
                prop_assert_eq!(kinds, [EntryKind::EffectRequested]);
            }
        }
        Ok(())
    });
}

#[test]
fn i12_words_never_run_what_needs_a_click_and_no_click_runs_what_its_card_does_not_say() {
    after_every_job(async |desk, ran| {
        for (step, outcome) in ran.fresh() {
            let Action::Run { command, origin, .. } = &step.step.action else { continue };
            if !matches!(outcome, ActOutcome::Applied { .. }) {
                continue;
            }
            // Here the policy of a command is the same in every state.
            let policy = desk.workflow().policy(&desk.fold.state, command).expect("policy");
            match origin {
                CommandOrigin::DirectUserAct { .. } => prop_assert!(!policy.requires_click()),
                CommandOrigin::ConfirmedInteraction { interaction, payload_hash, .. } => {
                    let card = ran.before.cards.get(interaction).expect("an open card");
                    prop_assert_eq!(*payload_hash, card.payload_hash);
                    prop_assert!(policy.risk <= card.payload.risk);
                    prop_assert!(!desk.fold.cards.contains_key(interaction), "it is resolved");
                }
                CommandOrigin::InternalPolicy { .. }
                | CommandOrigin::ExternalReceipt { .. }
                | CommandOrigin::ExternalCallback { .. } => {}
            }
        }
        Ok(())
    });
}

#[test]
fn i11_every_step_has_an_outcome_and_what_did_not_run_held_back_its_dependants() {
    after_every_job(async |_, ran| {
        prop_assert_eq!(ran.outcomes.len(), ran.job.steps.len());
        let is_applied = |it: &ActOutcome| matches!(it, ActOutcome::Applied { .. });
        let steps = ran.job.steps.iter().zip(&ran.outcomes);
        let applied = steps.filter(|(_, it)| is_applied(it)).map(|(step, _)| step.act);
        let applied: BTreeSet<_> = applied.collect();
        for (step, outcome) in ran.fresh() {
            let forgotten =
                matches!(outcome, ActOutcome::Failed { code } if code == "not_executed");
            prop_assert!(!forgotten, "{:?}", step);
            let is_held = step.step.depends_on.is_some_and(|act| !applied.contains(&Some(act)));
            let not_executed = matches!(outcome, ActOutcome::NotExecuted { .. });
            prop_assert_eq!(is_held, not_executed, "{:?}", outcome);
        }
        Ok(())
    });
}

#[test]
fn a_card_is_closed_once_and_the_index_of_open_cards_is_the_open_cards() {
    after_every_job(async |desk, _| {
        let mut closed = BTreeSet::new();
        let entries = desk.commits.iter().flatten();
        for entry in entries.filter(|entry| entry.kind == EntryKind::CardClosed) {
            let CardClosed { card, .. } = entry.body.open().expect("a card");
            prop_assert!(closed.insert(card), "{} is closed twice", card);
        }
        let marks = desk.ledger.marks(MarkQuery::of(MarkKind::Card)).await;
        let indexed: BTreeSet<_> = marks.expect("readable").into_iter().map(|it| it.key).collect();
        let open: BTreeSet<_> = desk.fold.cards.keys().map(ToString::to_string).collect();
        prop_assert_eq!(indexed, open);
        Ok(())
    });
}

#[test]
fn the_card_that_a_command_came_from_says_what_became_of_it() {
    after_every_job(async |desk, ran| {
        let last = desk.commits.last().into_iter().flatten();
        let closed = last.filter(|entry| entry.kind == EntryKind::CardClosed);
        let closed: Vec<CardClosed> =
            closed.map(|entry| entry.body.open().expect("a card")).collect();
        let status_of = |card| closed.iter().find(|it| it.card == card).map(|it| it.status);
        for (step, outcome) in ran.fresh() {
            let Action::Run { resolves: Some(card), .. } = &step.step.action else { continue };
            if matches!(outcome, ActOutcome::Applied { .. }) {
                prop_assert_eq!(status_of(*card), Some(InteractionStatus::Resolved));
            }
            if matches!(outcome, ActOutcome::Rejected { .. }) {
                prop_assert_eq!(status_of(*card), Some(InteractionStatus::Failed));
            }
        }
        Ok(())
    });
}

#[test]
fn a_card_whose_command_is_rejected_has_failed() {
    const OPEN: u8 = 0;
    const NORTH: u8 = 4;
    let words = |steps: &[ActionSpec]| JobSpec::Turn {
        is_elsewhere: false,
        is_late: false,
        click: None,
        steps: steps
            .iter()
            .map(|action| StepSpec { action: action.clone(), depends_on: None })
            .collect(),
    };
    let answer = ActionSpec::Answer { card: 0, option: 0 };
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut desk = Desk::new();
        desk.run(&words(&[ActionSpec::Run(OPEN)])).await.expect("opened");
        let ran = desk.run(&words(&[ActionSpec::Run(NORTH), answer])).await.expect("said twice");
        assert!(matches!(ran.outcomes[1], ActOutcome::Rejected { .. }), "{:?}", ran.outcomes);
        let last = desk.commits.last().expect("a commit");
        let closed = last.iter().find(|entry| entry.kind == EntryKind::CardClosed);
        let closed: CardClosed = closed.expect("closed").body.open().expect("a card");
        assert_eq!(closed.status, InteractionStatus::Failed);
        assert!(desk.fold.cards.is_empty());
    });
}

fn events(entries: &[Entry]) -> Result<Vec<(EntryId, CaseEvent)>, TestCaseError> {
    let events = entries.iter().filter(|entry| entry.kind == EntryKind::CaseEvent);
    let open = |entry: &Entry| entry.body.open().map(|event| (entry.id, event));
    events
        .map(open)
        .collect::<Result<_, _>>()
        .map_err(|error| TestCaseError::fail(error.to_string()))
}

/// Runs random jobs on a loan and checks a property after each of them. `PROPTEST_CASES` asks for more of them.
#[track_caller]
fn after_every_job(property: impl AsyncFn(&Desk, &Ran) -> Result<(), TestCaseError>) {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&jobs(), |jobs| {
        runtime.block_on(async {
            let mut desk = Desk::new();
            for job in &jobs {
                if let Some(ran) = desk.run(job).await {
                    property(&desk, &ran).await?;
                }
            }
            Ok(())
        })
    });
    if let Err(error) = run {
        unreachable!("{error}");
    }
}
