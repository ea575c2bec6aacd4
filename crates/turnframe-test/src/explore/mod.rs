//! Explores the states of a workflow and checks in each of them what every workflow must hold.
//!
//! Breadth-first from the initial state: commands of the caller's vocabulary, the commands of the card that a state
//! requires, and the conclusions of every effect that was asked for on the way. States are the same when their
//! canonical JSON is. The first state that breaks something ends the exploration, with the shortest way there.
//!
//! **Checked in every state:** the projection holds its invariants (I3, I4, I6) and is the same when it is made again,
//! in every language as far as phase, obligations and offer go; the user's phase has a card that can be answered; a
//! state that is not closed can be left by somebody; replaying the stored events gives the very state; state, commands
//! and events survive their JSON; so does the view once every person was erased. **For every command:** it is decided
//! alike twice, refused with a known code only, and worded; a click that it needs has words; a conclusion is never
//! refused; its receipts pass the claim guard and cite every event.
//!
//! **Never here:** what a workflow should do. That is for [`crate::given`].

mod check;
mod report;
mod walk;

use std::collections::BTreeSet;
use std::fmt;

use turnframe_core::canonical::Json;
use turnframe_core::id::Locale;
use turnframe_core::receipt::EffectConclusion;
use turnframe_core::source::Timestamp;
use turnframe_core::workflow::Workflow;

pub use report::{Broken, Report, Violation};

use crate::literal;
use crate::sources::START;

/// The most commands on the way to a state, unless another limit is given.
pub const DEPTH_MAX: usize = 8;
/// The most states, unless another limit is given.
pub const STATES_MAX: usize = 10_000;

/// How a workflow is explored.
pub struct Exploration<'w, W: Workflow> {
    workflow: &'w W,
    vocabulary: Box<Vocabulary<'w, W>>,
    rejections: BTreeSet<String>,
    locales: Vec<Locale>,
    fills: Vec<String>,
    conclusions: Vec<EffectConclusion>,
    now: Timestamp,
    depth_max: usize,
    states_max: usize,
}

type Vocabulary<'w, W> = dyn Fn(&<W as Workflow>::State) -> Vec<<W as Workflow>::Command> + 'w;

impl<W: Workflow> fmt::Debug for Exploration<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exploration")
            .field("workflow", &self.workflow.key())
            .finish_non_exhaustive()
    }
}

/// Begins to explore a workflow with the commands that a function gives for a state. Commands that the state refuses
/// belong among them: a refusal is checked too.
pub fn explore<'w, W: Workflow>(
    workflow: &'w W,
    vocabulary: impl Fn(&W::State) -> Vec<W::Command> + 'w,
) -> Exploration<'w, W> {
    let details = Json::of(&serde_json::json!({})).expect("an empty object is JSON");
    let reference = "reference-1".to_owned();
    Exploration {
        workflow,
        vocabulary: Box::new(vocabulary),
        rejections: BTreeSet::new(),
        locales: vec![literal("en")],
        fills: vec![String::new(), "words of the user's own".to_owned()],
        conclusions: vec![
            EffectConclusion::Accepted { reference, details },
            EffectConclusion::rejected("refused"),
            EffectConclusion::Unknown,
            EffectConclusion::ReconciliationRequired,
        ],
        now: START,
        depth_max: DEPTH_MAX,
        states_max: STATES_MAX,
    }
}

impl<W: Workflow> Exploration<'_, W> {
    /// The codes that a command may be refused with. Any other is a violation.
    #[must_use]
    pub fn rejections<'c>(mut self, codes: impl IntoIterator<Item = &'c str>) -> Self {
        self.rejections.extend(codes.into_iter().map(str::to_owned));
        self
    }

    /// The languages to project, word and receipt in, in place of English.
    ///
    /// # Panics
    /// When one is not the tag of a language, or there is none.
    #[must_use]
    pub fn locales<'l>(mut self, locales: impl IntoIterator<Item = &'l str>) -> Self {
        self.locales = locales.into_iter().map(literal).collect();
        assert!(!self.locales.is_empty(), "a workflow is explored in at least one language");
        self
    }

    /// The values that are put into options which take one, in place of none and a few words.
    #[must_use]
    pub fn fills<'f>(mut self, values: impl IntoIterator<Item = &'f str>) -> Self {
        self.fills = values.into_iter().map(str::to_owned).collect();
        self
    }

    /// What may become of an effect, in place of one conclusion of each kind.
    #[must_use]
    pub fn conclusions(mut self, conclusions: impl IntoIterator<Item = EffectConclusion>) -> Self {
        self.conclusions = conclusions.into_iter().collect();
        self
    }

    /// The moment that every command is decided at.
    #[must_use]
    pub const fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    /// The most commands on the way to a state.
    #[must_use]
    pub const fn depth_max(mut self, commands: usize) -> Self {
        self.depth_max = commands;
        self
    }

    /// The most states.
    #[must_use]
    pub const fn states_max(mut self, states: usize) -> Self {
        self.states_max = states;
        self
    }

    /// Explores.
    ///
    /// # Errors
    /// The first [`Violation`], with the way there.
    pub fn run(&self) -> Result<Report, Box<Violation>> {
        walk::Walk::new(self).run()
    }
}

#[cfg(test)]
mod tests;
