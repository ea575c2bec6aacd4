//! The turn reducer: from what was proposed to a plan with exactly one result per act (I10, I11).
//!
//! The whole turn is reduced before its first effect. Precedence is total: prohibition, then cancellation,
//! then click, then correction, then text. Acts on one case are compiled, policed and tried out one after
//! another on a scratch state with the same `decide` and `evolve` that will run them, so that policing judges
//! each command in the state it will meet.
//!
//! A pure function of its input, ids included. It never executes, never asks a model, and never prefers one
//! record over another (I8).

mod act;
mod click;
mod named;
mod precedence;
mod target;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::ActorContext;
use crate::id::{
    CaseRef, CaseRevision, ConversationId, InteractionId, OperationRef, SubjectId, TurnId,
};
use crate::interaction::{Interaction, InteractionResponse, InteractionStatus};
use crate::plan::{
    ActId, ActOutcome, CaseExpectation, ClosedChoice, Disposition, ExecutionPlan, PlannedAct,
    PlannedQuestion,
};
use crate::registry::{CorruptJson, ErasedState, ErasedWorkflow, Erasure, WorkflowRegistry};
use crate::source::{IdSource, Timestamp};
use crate::target::TargetTable;
use crate::text::Text;
use crate::understanding::{Intent, Understanding};
use crate::view::Projection;
use crate::words::WordRange;

/// The most choices between records that are open in a conversation. Past it the oldest is closed.
pub const CHOICES_MAX: usize = 8;

/// A case as it was gathered for this turn.
#[derive(Debug, Clone)]
pub struct CaseInTurn {
    /// Its revision.
    pub revision: CaseRevision,
    /// Its state.
    pub state: ErasedState,
    /// Its projection in the actor's language.
    pub projection: Projection,
    /// Its open cards, of whatever conversation.
    pub cards: Vec<Interaction>,
}

/// The click of a turn, as the server knows it.
#[derive(Debug, Clone)]
pub struct Click {
    /// What the client sent.
    pub response: InteractionResponse,
    /// The stored card.
    pub card: Interaction,
    /// Where the card stands.
    pub status: InteractionStatus,
}

/// The server's words on a choice between records.
#[derive(Debug, Clone)]
pub struct ChoiceWords {
    /// The question.
    pub title: Text,
    /// The option that means none of them.
    pub none: Text,
}

/// Everything a turn is reduced from.
#[derive(Debug, Clone)]
pub struct TurnInput<'a> {
    /// The conversation.
    pub conversation: &'a ConversationId,
    /// The turn.
    pub turn: &'a TurnId,
    /// Who speaks.
    pub actor: &'a ActorContext,
    /// The subject whose words these are.
    pub speaker: &'a SubjectId,
    /// The moment of the turn.
    pub now: Timestamp,
    /// The workflows.
    pub registry: &'a WorkflowRegistry,
    /// The checked proposal; empty for a click alone.
    pub understanding: &'a Understanding,
    /// Whether there were words that could not be understood at all.
    pub words_failed: bool,
    /// The cases that can be named.
    pub targets: &'a TargetTable,
    /// The same cases as they were gathered.
    pub cases: &'a BTreeMap<CaseRef, CaseInTurn>,
    /// The choices between records that are open in this conversation.
    pub choices: &'a [Interaction],
    /// The click, if there is one.
    pub click: Option<&'a Click>,
    /// Words for a choice, in the actor's language.
    pub words: &'a ChoiceWords,
    /// Ids for what comes into being.
    pub ids: &'a IdSource,
}

/// Reduces a turn.
///
/// # Errors
/// [`CorruptJson`] when a stored command or state cannot be read: the turn fails, nothing is executed.
pub fn reduce(input: &TurnInput<'_>) -> Erasure<ExecutionPlan> {
    let mut reducer = Reducer::new(input);
    reducer.forbid();
    reducer.cancel();
    reducer.click_precedes_text();
    reducer.correct();
    reducer.reduce_click()?;
    reducer.order = reducer.run_order();
    for index in reducer.order.clone() {
        reducer.reduce_text(index)?;
    }
    reducer.reduce_questions()?;
    reducer.touch_named()?;
    reducer.bound_choices();
    Ok(reducer.finish())
}

/// An act on its way to a disposition.
struct Draft {
    id: ActId,
    source: Option<WordRange>,
    operation: Option<OperationRef>,
    /// The case it is about, once that is known.
    case: Option<CaseRef>,
    disposition: Option<Disposition>,
}

impl Draft {
    fn settle(&mut self, outcome: ActOutcome) {
        self.disposition.get_or_insert(Disposition::Final(outcome));
    }

    fn is_settled(&self) -> bool {
        self.disposition.is_some()
    }
}

/// A case as it will stand after the steps planned so far.
struct Scratch {
    state: ErasedState,
    projection: Projection,
}

struct Reducer<'a> {
    input: &'a TurnInput<'a>,
    click: Option<Draft>,
    texts: Vec<Draft>,
    /// Which text act each one was corrected by.
    corrected_by: Vec<Option<usize>>,
    scratch: BTreeMap<CaseRef, Scratch>,
    /// Cases on which a command of this turn comes to something: also those that did not exist before it.
    born: BTreeSet<CaseRef>,
    expectations: Vec<CaseExpectation>,
    questions: Vec<PlannedQuestion>,
    choices: Vec<Interaction>,
    closed_choices: Vec<ClosedChoice>,
    /// Which act of this turn has answered a card already.
    answered: BTreeMap<InteractionId, ActId>,
    /// The text acts in the order in which they run.
    order: Vec<usize>,
}

impl<'a> Reducer<'a> {
    fn new(input: &'a TurnInput<'a>) -> Self {
        let click = input.click.map(|click| Draft {
            id: ActId::CLICK,
            source: None,
            operation: click.card.payload.operation.clone(),
            case: click.card.case.clone(),
            disposition: None,
        });
        let acts = &input.understanding.acts;
        let texts = acts.iter().enumerate().map(|(index, act)| Draft {
            id: act_id(index),
            source: Some(act.source),
            operation: precedence::operation_of(act).cloned(),
            case: None,
            disposition: None,
        });
        Self {
            input,
            click,
            texts: texts.collect(),
            corrected_by: vec![None; acts.len()],
            scratch: BTreeMap::new(),
            born: BTreeSet::new(),
            expectations: Vec::new(),
            questions: Vec::new(),
            choices: Vec::new(),
            closed_choices: Vec::new(),
            answered: BTreeMap::new(),
            order: Vec::new(),
        }
    }

    /// Text acts in the order in which they run: a correction runs in the place of what it corrects, and whatever
    /// is about the record of an act runs after it.
    fn run_order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.texts.len());
        for index in 0..self.texts.len() {
            let mut act = index;
            while let Some(by) = self.corrected_by[act] {
                self.queue(act, &mut order);
                act = by;
            }
            self.queue(act, &mut order);
        }
        order
    }

    fn queue(&self, act: usize, order: &mut Vec<usize>) {
        if let Intent::Operate { operation, target, .. } =
            &self.input.understanding.acts[act].intent
            && let target::Origin::Act(first) = self.origin(act, &operation.workflow, target)
            && !order.contains(&first)
        {
            order.push(first);
        }
        if !order.contains(&act) {
            order.push(act);
        }
    }

    fn workflow(&self, case: &CaseRef) -> Erasure<&'a dyn ErasedWorkflow> {
        let unknown = || CorruptJson {
            workflow: case.workflow.clone(),
            reason: "no such workflow is registered".to_owned(),
        };
        self.input.registry.get(&case.workflow).map(AsRef::as_ref).ok_or_else(unknown)
    }

    /// The case as it will stand after the steps planned so far, and a note that the plan touches it.
    fn touch(&mut self, case: &CaseRef) -> Erasure<&mut Scratch> {
        if !self.scratch.contains_key(case) {
            let gathered = self.input.cases.get(case);
            let scratch = match gathered {
                Some(found) => {
                    Scratch { state: found.state.clone(), projection: found.projection.clone() }
                }
                None => {
                    let workflow = self.workflow(case)?;
                    let state = workflow.initial();
                    let projection = workflow.project(&state, &self.input.actor.locale)?;
                    Scratch { state, projection }
                }
            };
            let revision = gathered.map_or(CaseRevision::NONE, |found| found.revision);
            self.expectations.push(CaseExpectation { case: case.clone(), revision });
            self.scratch.insert(case.clone(), scratch);
        }
        self.scratch.get_mut(case).ok_or_else(|| CorruptJson {
            workflow: case.workflow.clone(),
            reason: "a case vanished while it was reduced".to_owned(),
        })
    }

    fn finish(self) -> ExecutionPlan {
        let unsettled = || Disposition::Final(ActOutcome::Failed { code: "unreduced".to_owned() });
        let planned = |draft: Draft| PlannedAct {
            id: draft.id,
            source: draft.source,
            operation: draft.operation,
            disposition: draft.disposition.unwrap_or_else(unsettled),
        };
        let click_first = self.click.iter().map(|click| click.id);
        ExecutionPlan {
            now: self.input.now,
            order: click_first.chain(self.order.iter().map(|index| act_id(*index))).collect(),
            acts: self.click.into_iter().chain(self.texts).map(planned).collect(),
            questions: self.questions,
            prohibitions: self
                .input
                .understanding
                .prohibitions
                .iter()
                .map(|it| it.source)
                .collect(),
            unread: self.input.understanding.unread.clone(),
            cases: self.expectations,
            choices: self.choices,
            closed_choices: self.closed_choices,
        }
    }
}

/// The id of a text act: 0 is the click's.
fn act_id(index: usize) -> ActId {
    ActId(u16::try_from(index + 1).unwrap_or(u16::MAX))
}
