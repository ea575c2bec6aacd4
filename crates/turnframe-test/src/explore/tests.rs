use std::sync::atomic::{AtomicU32, Ordering};

use turnframe_core::event::CommittedEvent;
use turnframe_core::id::{EffectId, SubjectId, WorkflowKey};
use turnframe_core::interaction::InteractionPayload;
use turnframe_core::operation::OperationSpec;
use turnframe_core::personal::Personal;
use turnframe_core::plan::Rejection;
use turnframe_core::receipt::ReceiptDraft;
use turnframe_core::text::Text;
use turnframe_core::view::{PhaseOwner, Projection, ViewError, WorkflowView};
use turnframe_core::workflow::{CompileError, Confirmation, Decision, OperationAct};

use super::*;
use crate::sample::{DeskCommand, DeskEvent, DeskState, DeskWorkflow, REJECTIONS, Stage};

/// Everything that can be said at the desk, in a small world.
fn vocabulary(_: &DeskState) -> Vec<DeskCommand> {
    let ada = |words: &str| Personal::known(literal("actor:ada"), words.to_owned());
    let open = |title: &str, reader| DeskCommand::Open { title: title.to_owned(), reader };
    vec![
        open("Emma", None),
        open("Emma", Some(ada("Ada"))),
        open("", None),
        DeskCommand::Note { note: ada("signed copy") },
        DeskCommand::ChooseBranch { branch: "south".to_owned() },
        DeskCommand::Order,
        DeskCommand::Withdraw,
    ]
}

#[test]
fn the_desk_holds_in_every_state_it_can_reach() {
    let report = explore(&DeskWorkflow, vocabulary)
        .rejections(REJECTIONS)
        .locales(["en", "de"])
        .depth_max(12)
        .run()
        .expect("every state holds");
    assert!(report.is_complete, "{report:?}");
    let phases: Vec<_> = report.phases.keys().map(String::as_str).collect();
    assert_eq!(
        phases,
        ["choosing_branch", "fulfilled", "new", "ordered", "ready", "unresolved", "withdrawn"]
    );
    assert!(report.states > 100, "{report:?}");
    assert!(report.transitions > report.states, "{report:?}");
    for code in ["already_open", "not_open", "closed", "branch_missing", "order_under_way"] {
        assert!(report.rejections.contains_key(code), "{code}: {report:?}");
    }
}

#[test]
fn a_limit_that_cuts_something_off_is_told() {
    let desk = |depth, states| {
        let exploration = explore(&DeskWorkflow, vocabulary).rejections(REJECTIONS);
        exploration.depth_max(depth).states_max(states).run().expect("every state holds")
    };
    let shallow = desk(1, STATES_MAX);
    assert!(!shallow.is_complete);
    assert_eq!((shallow.depth, shallow.states), (1, 3), "new, and opened in two ways");
    let few = desk(DEPTH_MAX, 5);
    assert!(!few.is_complete);
    assert_eq!(few.states, 5);
}

#[test]
fn a_violation_shows_the_shortest_way_to_it() {
    let violation = explored(Flaw::DeadEnd);
    let shown = violation.to_string();
    assert_eq!(violation.path.len(), 2, "{shown}");
    assert!(shown.starts_with("phase \"withdrawn\" is a dead end"), "{shown}");
    assert!(shown.contains("\n  2. \"withdraw\"\n  in the state {"), "{shown}");
}

/// The desk with one thing wrong.
struct Flawed {
    flaw: Flaw,
    calls: AtomicU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    NoCard,
    NoCardOnceErased,
    UnstableView,
    ViewOfLanguage,
    UndeclaredOperation,
    RepeatedOption,
    UnknownRejection,
    UnknownRejectionOfAFill,
    WordlessRejection,
    WordlessConfirmation,
    DeadEnd,
    UnstableDecision,
    Replay,
    Uncited,
    RepeatedReceipt,
    NoConclusion,
    ConclusionRefused,
}

fn explored(flaw: Flaw) -> Violation {
    let flawed = Flawed { flaw, calls: AtomicU32::new(0) };
    let result = explore(&flawed, vocabulary).rejections(REJECTIONS).locales(["en", "de"]).run();
    *result.expect_err("the flaw is found")
}

impl Flawed {
    fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    /// Something that is never the same twice.
    fn call(&self) -> u32 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    fn spoil(&self, projection: &mut Projection<DeskCommand>, state: &DeskState, locale: &Locale) {
        let is_user = projection.phase.owner == PhaseOwner::User;
        let is_erased = state.reader.as_ref().is_some_and(|reader| reader.value().is_none());
        if is_user && (self.has(Flaw::NoCard) || (self.has(Flaw::NoCardOnceErased) && is_erased)) {
            projection.required = None;
        }
        if self.has(Flaw::UnstableView) {
            projection.aliases.push(self.call().to_string().into());
        }
        if self.has(Flaw::ViewOfLanguage) && locale.as_str() == "de" {
            projection.obligations.clear();
        }
        if self.has(Flaw::UndeclaredOperation) && state.stage == Stage::Open {
            projection.operations.push(literal("burn"));
        }
        if let Some(card) = projection.required.as_mut().filter(|_| self.has(Flaw::RepeatedOption))
        {
            repeat_an_option(card);
        }
        if self.has(Flaw::DeadEnd) && state.stage == Stage::Withdrawn {
            projection.phase.owner = PhaseOwner::Anyone;
        }
    }
}

fn repeat_an_option(card: &mut InteractionPayload<DeskCommand>) {
    let first = card.options[0].clone();
    card.options.push(first);
}

impl Workflow for Flawed {
    type State = DeskState;
    type Command = DeskCommand;
    type Event = DeskEvent;

    fn key(&self) -> WorkflowKey {
        DeskWorkflow.key()
    }

    fn version(&self) -> u16 {
        DeskWorkflow.version()
    }

    fn upcast(&self, schema: u16, event: &Json) -> Result<DeskEvent, String> {
        let mut event = DeskWorkflow.upcast(schema, event)?;
        if let (DeskEvent::Opened { title, .. }, true) = (&mut event, self.has(Flaw::Replay)) {
            *title = title.to_uppercase();
        }
        Ok(event)
    }

    fn operations(&self) -> Vec<OperationSpec> {
        DeskWorkflow.operations()
    }

    fn initial(&self) -> DeskState {
        DeskWorkflow.initial()
    }

    fn decide(
        &self,
        state: &DeskState,
        command: &DeskCommand,
        now: Timestamp,
    ) -> Result<Decision<DeskEvent>, Rejection> {
        match command {
            DeskCommand::Withdraw if self.has(Flaw::UnknownRejection) => {
                Err(Rejection::new("because"))
            }
            DeskCommand::Withdraw if self.has(Flaw::UnstableDecision) => {
                let branch = self.call().to_string();
                Ok(Decision::events([DeskEvent::BranchChosen { branch }]))
            }
            DeskCommand::RecordOutcome { .. } if self.has(Flaw::ConclusionRefused) => {
                Err(Rejection::new("closed"))
            }
            DeskCommand::Open { .. }
            | DeskCommand::Note { .. }
            | DeskCommand::ChooseBranch { .. }
            | DeskCommand::Order
            | DeskCommand::Withdraw
            | DeskCommand::RecordOutcome { .. } => DeskWorkflow.decide(state, command, now),
        }
    }

    fn evolve(&self, state: DeskState, event: &DeskEvent) -> DeskState {
        DeskWorkflow.evolve(state, event)
    }

    fn project(&self, state: &DeskState, locale: &Locale) -> Projection<DeskCommand> {
        let mut projection = DeskWorkflow.project(state, locale);
        self.spoil(&mut projection, state, locale);
        projection
    }

    fn compile(
        &self,
        state: &DeskState,
        act: &OperationAct<'_>,
    ) -> Result<DeskCommand, CompileError> {
        DeskWorkflow.compile(state, act)
    }

    fn fill(
        &self,
        command: DeskCommand,
        value: &str,
        speaker: &SubjectId,
    ) -> Result<DeskCommand, Rejection> {
        if self.has(Flaw::UnknownRejectionOfAFill) {
            return Err(Rejection::new("no_values_today"));
        }
        DeskWorkflow.fill(command, value, speaker)
    }

    fn confirmation(
        &self,
        state: &DeskState,
        command: &DeskCommand,
        locale: &Locale,
    ) -> Confirmation {
        let confirmation = DeskWorkflow.confirmation(state, command, locale);
        if self.has(Flaw::WordlessConfirmation) {
            return Confirmation { decline: Text::new(), ..confirmation };
        }
        confirmation
    }

    fn receipts(
        &self,
        events: &[CommittedEvent<DeskEvent>],
        view: &WorkflowView,
        locale: &Locale,
    ) -> Vec<ReceiptDraft> {
        let mut receipts = DeskWorkflow.receipts(events, view, locale);
        if self.has(Flaw::Uncited) {
            receipts.pop();
        }
        if self.has(Flaw::RepeatedReceipt) {
            receipts.extend(receipts.clone());
        }
        receipts
    }

    fn conclude(&self, effect: EffectId, conclusion: &EffectConclusion) -> Option<DeskCommand> {
        let found = DeskWorkflow.conclude(effect, conclusion);
        found.filter(|_| !self.has(Flaw::NoConclusion))
    }

    fn rejection(&self, rejection: &Rejection, locale: &Locale) -> Text {
        if self.has(Flaw::WordlessRejection) && locale.as_str() == "de" {
            return Text::new();
        }
        DeskWorkflow.rejection(rejection, locale)
    }
}

#[test]
fn i6_a_user_phase_without_a_card_is_found_also_once_the_persons_are_erased() {
    let missing = || ViewError::UserPhaseWithoutCard("choosing_branch".to_owned());
    assert_eq!(explored(Flaw::NoCard).broken, Broken::View(missing()));
    assert_eq!(explored(Flaw::NoCardOnceErased).broken, Broken::ErasedView(missing()));
}

#[test]
fn i2_a_view_that_depends_on_more_than_the_state_is_found() {
    assert_eq!(explored(Flaw::UnstableView).broken, Broken::UnstableView);
    let (en, de) = (literal("en"), literal("de"));
    assert_eq!(explored(Flaw::ViewOfLanguage).broken, Broken::ViewOfLanguage(en, de));
}

#[test]
fn an_offer_or_a_card_that_cannot_be_answered_is_found() {
    let burn = Broken::UndeclaredOperation(literal("burn"));
    assert_eq!(explored(Flaw::UndeclaredOperation).broken, burn);
    let north = Broken::RepeatedOption(literal("north"));
    assert_eq!(explored(Flaw::RepeatedOption).broken, north);
    let broken = explored(Flaw::UnknownRejectionOfAFill).broken;
    assert!(matches!(broken, Broken::UnknownRejection { code, .. } if code == "no_values_today"));
}

#[test]
fn a_rejection_that_nobody_declared_or_worded_is_found() {
    let broken = explored(Flaw::UnknownRejection).broken;
    let (command, code) = ("\"withdraw\"".to_owned(), "because".to_owned());
    assert_eq!(broken, Broken::UnknownRejection { command, code });
    let broken = explored(Flaw::WordlessRejection).broken;
    assert!(matches!(broken, Broken::WordlessRejection { locale, .. } if locale.as_str() == "de"));
}

#[test]
fn a_click_that_nobody_worded_is_found() {
    let broken = explored(Flaw::WordlessConfirmation).broken;
    assert!(matches!(broken, Broken::WordlessConfirmation { .. }), "{broken}");
}

#[test]
fn a_decision_that_is_not_pure_and_a_replay_that_differs_are_found() {
    let broken = explored(Flaw::UnstableDecision).broken;
    assert!(matches!(broken, Broken::UnstableDecision { .. }), "{broken}");
    let broken = explored(Flaw::Replay).broken;
    assert!(matches!(&broken, Broken::Replay(state) if state.contains("EMMA")), "{broken}");
}

#[test]
fn i16_a_receipt_that_cites_too_little_or_stands_twice_is_found() {
    let broken = explored(Flaw::Uncited).broken;
    assert!(matches!(broken, Broken::Uncited { .. }), "{broken}");
    let broken = explored(Flaw::RepeatedReceipt).broken;
    assert!(matches!(broken, Broken::Claim { .. }), "{broken}");
}

#[test]
fn a_conclusion_that_is_lost_or_refused_is_found() {
    assert_eq!(explored(Flaw::NoConclusion).broken, Broken::NoConclusion);
    let violation = explored(Flaw::ConclusionRefused);
    assert!(matches!(violation.broken, Broken::ConclusionRefused { .. }), "{violation}");
    assert_eq!(violation.path.len(), 0, "a conclusion may come in any state");
}
