//! Writes what a message means in few lines, with ranges of words found by what stands there.

use turnframe_core::id::{InteractionId, OperationRef};
use turnframe_core::understanding::{
    Argument, Brief, CancelTarget, Intent, Mood, Prohibition, ProhibitionScope, ProposedAct,
    ProposedQuestion, ProposedTarget, Understanding,
};
use turnframe_core::words::{Message, Pointer, WordRange};

use crate::literal;

/// Words of a message, by what stands there.
#[derive(Debug, Clone)]
pub enum Said {
    /// These words, which stand there exactly once.
    Once(String),
    /// These words where they stand for the n-th time, from 1.
    Nth(String, usize),
    /// Whatever stands at these words; also beyond the message, for what must be refused.
    At(WordRange),
}

impl From<&str> for Said {
    fn from(words: &str) -> Self {
        Self::Once(words.to_owned())
    }
}

impl From<(&str, usize)> for Said {
    fn from((words, nth): (&str, usize)) -> Self {
        Self::Nth(words.to_owned(), nth)
    }
}

impl From<WordRange> for Said {
    fn from(range: WordRange) -> Self {
        Self::At(range)
    }
}

/// The range of words that somebody said. Whole words count: "is" does not stand in "this".
///
/// # Panics
/// When the words do not stand there, or more than once where once is meant.
#[must_use]
#[track_caller]
pub fn words(message: &Message, said: impl Into<Said>) -> WordRange {
    let (text, nth) = match said.into() {
        Said::At(range) => return range,
        Said::Once(text) => (text, None),
        Said::Nth(text, nth) => (text, Some(nth)),
    };
    let found = occurrences(message, &text);
    let index = match nth {
        Some(nth) => nth.saturating_sub(1),
        None => {
            assert!(
                found.len() <= 1,
                "{text:?} stands {} times in {:?}: say which",
                found.len(),
                message.text()
            );
            0
        }
    };
    assert!(index < found.len(), "{text:?} does not stand in {:?}", message.text());
    found[index]
}

/// Every place where the text stands and no word is cut.
fn occurrences(message: &Message, text: &str) -> Vec<WordRange> {
    let spans: Vec<_> = (0..message.len()).filter_map(|word| message.span(word)).collect();
    let covered = |(at, _): (usize, &str)| {
        let end = at + text.len();
        let touched = |span: &std::ops::Range<usize>| span.start < end && at < span.end;
        let first = spans.iter().position(touched)?;
        let count = spans[first..].iter().take_while(|span| touched(span)).count();
        let whole = at <= spans[first].start && spans[first + count - 1].end <= end;
        let number = |word| u32::try_from(word).ok();
        whole.then_some(WordRange { start: number(first)?, end: number(first + count)? })
    };
    message.text().match_indices(text).filter_map(covered).collect()
}

/// What a message means, under construction. What is said of a slot, a target or a mood concerns the act or the
/// question begun last.
///
/// Every function panics when the test's author made a mistake: words that do not stand in the message, a record
/// that is not in view, a slot without an act. What the system must refuse can be written all the same: operations
/// and options are not looked up, and a [`WordRange`] is taken as it is.
#[derive(Debug, Clone)]
pub struct Proposal {
    brief: Brief,
    understanding: Understanding,
    on_question: bool,
}

/// Begins to write what the message of a brief means.
#[must_use]
pub fn propose(brief: &Brief) -> Proposal {
    Proposal { brief: brief.clone(), understanding: Understanding::default(), on_question: false }
}

impl From<Proposal> for Understanding {
    fn from(proposal: Proposal) -> Self {
        proposal.understanding
    }
}

#[expect(clippy::missing_panics_doc, reason = "said once, at the type")]
impl Proposal {
    /// What was written so far.
    #[must_use]
    pub fn understanding(self) -> Understanding {
        self.understanding
    }

    /// An act: an operation, written `workflow.operation`, of a record that the words do not say.
    #[must_use]
    #[track_caller]
    pub fn act(self, said: impl Into<Said>, operation: &str) -> Self {
        let intent = Intent::Operate {
            operation: operation_ref(operation),
            target: ProposedTarget::Unstated,
            arguments: Vec::new(),
            mood: Mood::Requested,
            corrects: None,
        };
        self.push(said, intent)
    }

    /// A value for a slot of the act.
    #[must_use]
    #[track_caller]
    pub fn slot(mut self, slot: &str, said: impl Into<Said>) -> Self {
        let argument = Argument { slot: literal(slot), pointer: self.pointer(said) };
        self.operating().1.push(argument);
        self
    }

    /// The act brings a record of its workflow into being.
    #[must_use]
    #[track_caller]
    pub fn creating(mut self) -> Self {
        let (operation, ..) = self.operating();
        let workflow = operation.workflow.clone();
        self.target(ProposedTarget::New(workflow))
    }

    /// It is about the record in view that has this name.
    #[must_use]
    #[track_caller]
    pub fn on(self, name: &str) -> Self {
        let named = |names: &Vec<String>| names.iter().any(|known| known == name);
        let found: Vec<_> = self.brief.handles.iter().filter(|it| named(&it.names)).collect();
        assert_eq!(found.len(), 1, "records in view that are called {name:?}");
        let token = found[0].token.clone();
        self.target(ProposedTarget::Handle(token))
    }

    /// It is about the record of an earlier act of this message, by index.
    #[must_use]
    #[track_caller]
    pub fn of_act(self, act: usize) -> Self {
        self.target(ProposedTarget::Act(act))
    }

    /// It is about whatever these words name.
    #[must_use]
    #[track_caller]
    pub fn mention(self, said: impl Into<Said>) -> Self {
        let pointer = self.pointer(said);
        self.target(ProposedTarget::Mention(pointer))
    }

    /// It is about this target.
    #[must_use]
    #[track_caller]
    pub fn target(mut self, target: ProposedTarget) -> Self {
        if self.on_question {
            let question = self.understanding.questions.last_mut();
            question.expect("a question was begun").target = target;
        } else {
            *self.operating().2 = target;
        }
        self
    }

    /// The act was not meant: the user wonders what would happen.
    #[must_use]
    #[track_caller]
    pub fn hypothetical(mut self) -> Self {
        *self.operating().3 = Mood::Hypothetical;
        self
    }

    /// The act puts an earlier one right, by index.
    #[must_use]
    #[track_caller]
    pub fn correcting(mut self, act: usize) -> Self {
        *self.operating().4 = Some(act);
        self
    }

    /// An answer to an open card in words; to this card, where the words say which.
    #[must_use]
    #[track_caller]
    pub fn answer(self, said: impl Into<Said>, card: Option<InteractionId>, option: &str) -> Self {
        self.push(said, Intent::Answer { card, option: literal(option) })
    }

    /// Something is called off.
    #[must_use]
    #[track_caller]
    pub fn cancel(self, said: impl Into<Said>, target: CancelTarget) -> Self {
        self.push(said, Intent::Cancel(target))
    }

    /// A question about a topic, written `workflow.topic`, of a record that the words do not say.
    #[must_use]
    #[track_caller]
    pub fn question(mut self, said: impl Into<Said>, topic: &str) -> Self {
        let OperationRef { workflow, operation } = operation_ref(topic);
        self.understanding.questions.push(ProposedQuestion {
            source: words(&self.brief.message, said),
            workflow,
            topic: literal(operation.as_str()),
            target: ProposedTarget::Unstated,
        });
        self.on_question = true;
        self
    }

    /// Something that must not be done.
    #[must_use]
    #[track_caller]
    pub fn forbid(mut self, said: impl Into<Said>, scope: ProhibitionScope) -> Self {
        let source = words(&self.brief.message, said);
        self.understanding.prohibitions.push(Prohibition { source, scope });
        self
    }

    /// Words that ask for nothing.
    #[must_use]
    #[track_caller]
    pub fn remark(mut self, said: impl Into<Said>) -> Self {
        self.understanding.remarks.push(words(&self.brief.message, said));
        self
    }

    /// Words that could not be read.
    #[must_use]
    #[track_caller]
    pub fn unread(mut self, said: impl Into<Said>) -> Self {
        self.understanding.unread.push(words(&self.brief.message, said));
        self
    }

    #[track_caller]
    fn push(mut self, said: impl Into<Said>, intent: Intent) -> Self {
        let source = words(&self.brief.message, said);
        self.understanding.acts.push(ProposedAct { source, intent });
        self.on_question = false;
        self
    }

    /// A pointer to words; one that cannot hold where the words lie beyond the message.
    #[track_caller]
    fn pointer(&self, said: impl Into<Said>) -> Pointer {
        let message = &self.brief.message;
        let words = words(message, said);
        message.pointer(words).unwrap_or(Pointer { words, copy: String::new() })
    }

    /// The parts of the operation begun last.
    #[track_caller]
    fn operating(&mut self) -> Operating<'_> {
        let last = self.understanding.acts.last_mut().filter(|_| !self.on_question);
        match last.map(|act| &mut act.intent) {
            Some(Intent::Operate { operation, target, arguments, mood, corrects }) => {
                Some((&*operation, arguments, target, mood, corrects))
            }
            Some(Intent::Answer { .. } | Intent::Cancel(_)) | None => None,
        }
        .expect("an operation was begun last")
    }
}

type Operating<'p> = (
    &'p OperationRef,
    &'p mut Vec<Argument>,
    &'p mut ProposedTarget,
    &'p mut Mood,
    &'p mut Option<usize>,
);

#[track_caller]
fn operation_ref(text: &str) -> OperationRef {
    let (workflow, operation) = text.split_once('.').expect("written workflow.operation");
    OperationRef { workflow: literal(workflow), operation: literal(operation) }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use turnframe_core::registry::WorkflowRegistry;
    use turnframe_core::understanding::{Handle, UnderstandingError};

    use super::*;
    use crate::sample::DeskWorkflow;

    fn brief(text: &str) -> Brief {
        let registry = WorkflowRegistry::new().with(DeskWorkflow).expect("registry");
        Brief {
            message: Message::new(text).expect("message"),
            locale: literal("en"),
            operations: registry.offered_operations(),
            topics: registry.offered_topics(),
            handles: vec![Handle {
                token: "h1".into(),
                workflow: literal("desk"),
                names: vec!["Emma".to_owned()],
            }],
            cards: Vec::new(),
        }
    }

    fn range(start: u32, end: u32) -> WordRange {
        WordRange { start, end }
    }

    #[test]
    fn words_are_found_by_what_stands_there_and_are_never_cut() {
        let message = Message::new("This is it, is it? 🚀 Ja, this.").expect("message");
        assert_eq!(words(&message, "it, is it?"), range(2, 5));
        assert_eq!(words(&message, "🚀 Ja"), range(5, 6));
        assert_eq!(words(&message, ("is", 1)), range(1, 2));
        assert_eq!(words(&message, ("is", 2)), range(3, 4));
        assert_eq!(words(&message, range(90, 91)), range(90, 91));
        for (said, complaint) in
            [(("is", None), "stands 2 times"), (("is", Some(3)), "does not"), (("hi", None), "not")]
        {
            let (text, nth) = said;
            let said = match nth {
                Some(nth) => Said::from((text, nth)),
                None => Said::from(text),
            };
            let found = catch_unwind(|| words(&message, said)).expect_err("refused");
            let found = found.downcast_ref::<String>().expect("message");
            assert!(found.contains(complaint), "{found}");
        }
    }

    #[test]
    fn a_proposal_that_is_written_in_few_lines_is_accepted_whole() {
        let brief = brief("Hi! Open a loan of Persuasion, note signed copy, and where is Emma?");
        let understanding = propose(&brief)
            .remark("Hi")
            .act("Open a loan of Persuasion", "desk.open")
            .slot("title", "Persuasion")
            .creating()
            .act("note signed copy", "desk.note")
            .slot("note", "signed copy")
            .of_act(0)
            .question("where is Emma", "desk.status")
            .on("Emma")
            .understanding();
        understanding.check(&brief).expect("accepted");
        assert_eq!(understanding.acts.len(), 2);
        assert_eq!(understanding.questions[0].target, ProposedTarget::Handle("h1".into()));
        let Intent::Operate { target, arguments, .. } = &understanding.acts[1].intent else {
            unreachable!("an operation was written");
        };
        assert_eq!(*target, ProposedTarget::Act(0));
        assert_eq!(arguments[0].pointer.copy, "signed copy");
    }

    #[test]
    fn moods_corrections_cancellations_and_prohibitions_can_be_written() {
        let brief = brief("order Emma, no, withdraw Emma, forget that, do not send anything");
        let understanding = propose(&brief)
            .act("order Emma", "desk.order")
            .mention(("Emma", 1))
            .hypothetical()
            .act("withdraw Emma", "desk.withdraw")
            .mention(("Emma", 2))
            .correcting(0)
            .cancel("forget that", CancelTarget::Act(1))
            .forbid("do not send anything", ProhibitionScope::Submissions)
            .unread("no")
            .understanding();
        understanding.check(&brief).expect("accepted");
        let moods = understanding.acts.iter().filter_map(|act| match &act.intent {
            Intent::Operate { mood, corrects, .. } => Some((*mood, *corrects)),
            Intent::Answer { .. } | Intent::Cancel(_) => None,
        });
        let expected = [(Mood::Hypothetical, None), (Mood::Requested, Some(0))];
        assert_eq!(moods.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_the_system_must_refuse_can_be_written() {
        let brief = brief("note signed copy");
        let beyond = propose(&brief).act("note signed copy", "desk.note").slot("note", range(8, 9));
        let refused = beyond.understanding().check(&brief);
        assert_eq!(refused, Err(UnderstandingError::Range(range(8, 9))));
        let foreign = propose(&brief).act("note signed copy", "desk.burn").understanding();
        assert!(matches!(foreign.check(&brief), Err(UnderstandingError::Operation(_))));
        let answer = propose(&brief).answer("note signed copy", None, "yes").understanding();
        assert_eq!(answer.check(&brief), Err(UnderstandingError::Card));
    }
}
