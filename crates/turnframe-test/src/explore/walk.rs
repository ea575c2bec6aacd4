//! The breadth-first walk through the states.

use std::collections::{BTreeSet, VecDeque};

use turnframe_core::canonical::Json;
use turnframe_core::id::{EffectId, SubjectId};
use turnframe_core::interaction::OptionMeaning;
use turnframe_core::plan::Rejection;
use turnframe_core::source::IdSource;
use turnframe_core::view::{PhaseOwner, Projection};
use turnframe_core::workflow::{Decision, Workflow};

use super::report::{Broken, Report, Violation};
use super::{Exploration, check};
use crate::literal;
use crate::sources;

/// A state and the way there.
pub(super) struct Node<W: Workflow> {
    pub(super) state: W::State,
    /// Everything that happened on the way.
    pub(super) events: Vec<W::Event>,
    /// How many commits there were on the way.
    pub(super) revision: u64,
    /// Effects that were asked for on the way.
    effects: Vec<EffectId>,
    path: Vec<Json>,
}

/// Who gives a command, which says how it may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The vocabulary or the required card: it may be refused.
    User,
    /// An effect that was concluded: it may not.
    Conclusion,
}

pub(super) struct Walk<'e, 'w, W: Workflow> {
    pub(super) exploration: &'e Exploration<'w, W>,
    pub(super) ids: IdSource,
    speaker: SubjectId,
    seen: BTreeSet<Json>,
    frontier: VecDeque<Node<W>>,
    report: Report,
}

impl<'e, 'w, W: Workflow> Walk<'e, 'w, W> {
    pub(super) fn new(exploration: &'e Exploration<'w, W>) -> Self {
        Self {
            exploration,
            ids: sources::ids(1),
            speaker: literal("actor:explorer"),
            seen: BTreeSet::new(),
            frontier: VecDeque::new(),
            report: Report { is_complete: true, ..Report::default() },
        }
    }

    pub(super) fn run(mut self) -> Result<Report, Box<Violation>> {
        let initial = Node {
            state: self.exploration.workflow.initial(),
            events: Vec::new(),
            revision: 0,
            effects: Vec::new(),
            path: Vec::new(),
        };
        self.admit(initial).map_err(|broken| violation(Vec::new(), None, broken))?;
        while let Some(node) = self.frontier.pop_front() {
            if let Err(broken) = self.visit(&node) {
                return Err(violation(node.path, Json::of(&node.state).ok(), broken));
            }
        }
        Ok(self.report)
    }

    /// Puts a state that was not seen before at the end of the line, as far as the limits let it.
    fn admit(&mut self, node: Node<W>) -> Result<(), Broken> {
        let key = check::survives_json("the state", &node.state)?;
        if self.seen.contains(&key) {
            return Ok(());
        }
        let (depth_max, states_max) = (self.exploration.depth_max, self.exploration.states_max);
        if node.path.len() > depth_max || self.seen.len() >= states_max {
            self.report.is_complete = false;
            return Ok(());
        }
        self.seen.insert(key);
        self.frontier.push_back(node);
        Ok(())
    }

    fn visit(&mut self, node: &Node<W>) -> Result<(), Broken> {
        let projection = check::state(self, node)?;
        self.report.states += 1;
        self.report.depth = self.report.depth.max(node.path.len());
        *self.report.phases.entry(projection.phase.key.clone()).or_default() += 1;
        let mut can_be_left = false;
        for command in self.user_commands(node, &projection)? {
            can_be_left |= self.take(node, &command, Source::User)?;
        }
        for command in self.conclusions(node)? {
            self.take(node, &command, Source::Conclusion)?;
        }
        match projection.phase.owner {
            PhaseOwner::User | PhaseOwner::Anyone if !can_be_left => {
                Err(Broken::DeadEnd { phase: projection.phase.key })
            }
            PhaseOwner::User | PhaseOwner::Anyone | PhaseOwner::External | PhaseOwner::Closed => {
                Ok(())
            }
        }
    }

    /// The vocabulary's commands, and those of the required card with each value that may be filled in.
    fn user_commands(
        &mut self,
        node: &Node<W>,
        projection: &Projection<W::Command>,
    ) -> Result<Vec<W::Command>, Broken> {
        let Exploration { workflow, vocabulary, fills, .. } = self.exploration;
        let mut commands = vocabulary(&node.state);
        for option in projection.required.iter().flat_map(|card| &card.options) {
            match &option.meaning {
                OptionMeaning::Execute(command) => commands.push(command.clone()),
                OptionMeaning::Fill(command) => {
                    for value in fills {
                        match workflow.fill(command.clone(), value, &self.speaker) {
                            Ok(filled) => commands.push(filled),
                            Err(rejection) => {
                                self.refused(&check::text(command), &rejection)?;
                            }
                        }
                    }
                }
                OptionMeaning::Choose(_) | OptionMeaning::Decline => {}
            }
        }
        Ok(commands)
    }

    /// Every conclusion of every effect on the way, and of one that nobody asked for.
    fn conclusions(&self, node: &Node<W>) -> Result<Vec<W::Command>, Broken> {
        let Exploration { workflow, conclusions, .. } = self.exploration;
        // An effect of no way: the walk's ids come from another seed.
        let unheard_of = sources::ids(u64::MAX).effect();
        let mut commands = Vec::new();
        for effect in node.effects.iter().copied().chain([unheard_of]) {
            for conclusion in conclusions {
                match workflow.conclude(effect, conclusion) {
                    Some(command) => commands.push(command),
                    None if effect == unheard_of => {}
                    None => return Err(Broken::NoConclusion),
                }
            }
        }
        Ok(commands)
    }

    /// Decides a command and goes where it leads. Says whether it came to events.
    fn take(
        &mut self,
        node: &Node<W>,
        command: &W::Command,
        source: Source,
    ) -> Result<bool, Broken> {
        let json = check::survives_json("the command", command)?;
        match self.decide(node, command)? {
            Err(rejection) if source == Source::Conclusion => {
                let command = json.as_str().to_owned();
                Err(Broken::ConclusionRefused { command, code: rejection.code })
            }
            Err(rejection) => self.refused(json.as_str(), &rejection).map(|()| false),
            Ok(decision) if decision.events.is_empty() => Ok(false),
            Ok(decision) => {
                check::confirmation(self.exploration, &node.state, command)?;
                self.go(node, json, decision)?;
                Ok(true)
            }
        }
    }

    fn decide(
        &self,
        node: &Node<W>,
        command: &W::Command,
    ) -> Result<Result<Decision<W::Event>, Rejection>, Broken> {
        let Exploration { workflow, now, .. } = self.exploration;
        let decided = workflow.decide(&node.state, command, *now);
        if workflow.decide(&node.state, command, *now) == decided {
            Ok(decided)
        } else {
            Err(Broken::UnstableDecision { command: check::text(command) })
        }
    }

    fn go(
        &mut self,
        node: &Node<W>,
        command: Json,
        decision: Decision<W::Event>,
    ) -> Result<(), Broken> {
        self.report.transitions += 1;
        let workflow = self.exploration.workflow;
        let evolve = |state, event| workflow.evolve(state, event);
        let state = decision.events.iter().fold(node.state.clone(), evolve);
        check::receipts(self, &state, node.revision + 1, &decision.events, &command)?;
        // The n-th effect of a way has the n-th id, so that a way says by itself what its effects are called.
        let requested = node.effects.len() + decision.effects.len();
        let effects = (0..requested).map(|nth| sources::ids(nth as u64).effect()).collect();
        let mut events = node.events.clone();
        events.extend(decision.events);
        let path = node.path.iter().cloned().chain([command]).collect();
        self.admit(Node { state, events, revision: node.revision + 1, effects, path })
    }

    /// A refusal has a known code, and words in every language.
    fn refused(&mut self, command: &str, rejection: &Rejection) -> Result<(), Broken> {
        let code = rejection.code.clone();
        if !self.exploration.rejections.contains(&code) {
            return Err(Broken::UnknownRejection { command: command.to_owned(), code });
        }
        for locale in &self.exploration.locales {
            if self.exploration.workflow.rejection(rejection, locale).is_empty() {
                return Err(Broken::WordlessRejection { code, locale: locale.clone() });
            }
        }
        *self.report.rejections.entry(code).or_default() += 1;
        Ok(())
    }
}

fn violation(path: Vec<Json>, state: Option<Json>, broken: Broken) -> Box<Violation> {
    Box::new(Violation { path, state, broken })
}
