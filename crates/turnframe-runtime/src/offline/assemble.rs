//! Puts clauses together: acts in their order, and what they refer to.

use turnframe_core::id::OperationRef;
use turnframe_core::understanding::{
    Argument, Brief, CancelTarget, Intent, Mood, PROPOSALS_MAX, Prohibition, ProposedAct,
    ProposedQuestion, ProposedTarget, Understanding,
};
use turnframe_core::words::WordRange;

use super::fit::{Fill, Fit};
use super::lexicon::Class;
use super::pattern::Place;
use super::reader::Reader;
use super::reading::{Asking, Clause, Operating, Reading, Relation};
use super::settle::Settled;

/// Makes a proposal of settled clauses.
pub(super) fn assemble(reader: &Reader<'_>, brief: &Brief, settled: &[Settled]) -> Understanding {
    let understanding = Understanding::default();
    let mut assembly = Assembly { reader, brief, understanding, said: Vec::new() };
    for settled in settled {
        assembly.add(settled);
    }
    let mut understanding = assembly.understanding;
    understanding.unread = merged(understanding.unread);
    understanding
}

/// What is remembered of an act for what may refer to it.
struct Said {
    /// The operation's workflow, where it is one.
    workflow: Option<usize>,
    operation: Option<usize>,
    has_own_target: bool,
    is_cancelled: bool,
}

struct Assembly<'a> {
    reader: &'a Reader<'a>,
    brief: &'a Brief,
    understanding: Understanding,
    said: Vec<Said>,
}

impl Assembly<'_> {
    fn add(&mut self, settled: &Settled) {
        let clause = &settled.clause;
        let source = self.source(clause);
        let is_full = self.understanding.acts.len() + 2 > PROPOSALS_MAX;
        match &clause.reading {
            Reading::Filler => {}
            Reading::Remark => self.understanding.remarks.push(source),
            Reading::Operation(said) if !is_full => {
                for said in self.each(said) {
                    self.operate(source, &said, settled.mood);
                }
            }
            Reading::Prohibition(scope)
                if self.understanding.prohibitions.len() < PROPOSALS_MAX =>
            {
                let scope = scope.clone();
                self.understanding.prohibitions.push(Prohibition { source, scope });
            }
            Reading::Question(asking) if self.understanding.questions.len() < PROPOSALS_MAX => {
                self.ask(source, asking);
            }
            Reading::Cancellation if !is_full => {
                if !self.take_back(source) {
                    self.act(source, Intent::Cancel(CancelTarget::OpenCard), None);
                }
            }
            Reading::TakenBack => {
                let (is_taken, rest) = (self.take_back(source), self.unanswered(clause));
                match rest {
                    None if is_taken => {}
                    None => self.understanding.remarks.push(source),
                    Some(_) if !is_taken => self.understanding.unread.push(source),
                    Some(rest) => self.understanding.unread.push(rest),
                }
            }
            Reading::Choice { card, option } if !is_full => {
                let (card, option) = (*card, option.clone());
                self.act(source, Intent::Answer { card, option }, None);
            }
            Reading::Yes { .. } | Reading::No => match &settled.answer {
                Some(option) if !is_full => {
                    let option = option.clone();
                    self.act(source, Intent::Answer { card: None, option }, None);
                }
                Some(_) | None => self.understanding.unread.push(source),
            },
            Reading::Operation(_)
            | Reading::Prohibition(_)
            | Reading::Question(_)
            | Reading::Cancellation
            | Reading::Choice { .. }
            | Reading::Unread => {
                let words = self.reader.scan.words(clause.start, clause.end);
                self.understanding.unread.push(words);
            }
        }
    }

    /// The words of a clause without those that join it to another.
    fn source(&self, clause: &Clause) -> WordRange {
        let scan = self.reader.scan;
        let mut start = clause.start;
        while let Some(lexeme) = scan.lexeme_from(start, clause.end) {
            let joins = lexeme.class.has(Class::CONNECTIVE) && lexeme.end < clause.end;
            if !joins || !scan.tokens[lexeme.end].starts_word {
                break;
            }
            start = lexeme.end;
        }
        scan.words(start, clause.end)
    }

    /// The words of a clause after those that take something back.
    fn unanswered(&self, clause: &Clause) -> Option<WordRange> {
        let scan = self.reader.scan;
        let says =
            Class::CORRECTION.or(Class::NO).or(Class::HALT).or(Class::CONNECTIVE).or(Class::FILLER);
        let mut start = clause.start;
        while start < clause.end {
            let lexeme = scan.lexeme_from(start, clause.end).filter(|it| it.class.has(says));
            match lexeme {
                Some(lexeme) => start = lexeme.end,
                None => return Some(scan.words(start, clause.end)),
            }
        }
        None
    }

    fn act(&mut self, source: WordRange, intent: Intent, said: Option<(&Operating, bool)>) {
        self.understanding.acts.push(ProposedAct { source, intent });
        self.said.push(Said {
            workflow: said.map(|(said, _)| said.workflow),
            operation: said.map(|(said, _)| said.operation),
            has_own_target: said.is_some_and(|(_, has_own_target)| has_own_target),
            is_cancelled: false,
        });
    }

    /// An operation on several records is as many operations.
    fn each(&self, said: &Operating) -> Vec<Operating> {
        let target = |fill: &&Fill| fill.place == Place::Target && fill.fit == Fit::Mention;
        let names = said
            .fills
            .iter()
            .find(target)
            .map(|fill| self.reader.several(said.workflow, fill.start, fill.end));
        let left = PROPOSALS_MAX - self.understanding.acts.len();
        let names = names.filter(|names| (2..=left).contains(&names.len()));
        let Some(names) = names else { return vec![said.clone()] };
        let on = |(start, end): (usize, usize)| {
            let mut one = said.clone();
            for fill in one.fills.iter_mut().filter(|fill| fill.place == Place::Target) {
                *fill = Fill { start, end, fit: Fit::Known, ..*fill };
            }
            one
        };
        names.into_iter().map(on).collect()
    }

    fn operate(&mut self, source: WordRange, said: &Operating, mood: Mood) {
        let corrects = self.corrected(said);
        let spec = &self.brief.operations[said.operation];
        let operation =
            OperationRef { workflow: spec.workflow.clone(), operation: spec.spec.key.clone() };
        let (target, has_own_target) = self.target_of_act(said, corrects);
        let mut arguments = self.arguments(said);
        let mut mood = mood;
        if let Some(earlier) = corrects {
            self.inherit(earlier, said, &mut arguments);
            if said.relation == Relation::Amends {
                mood = self.mood_of(earlier).unwrap_or(mood);
            }
        }
        let left_over =
            said.left_over.iter().map(|(start, end)| self.reader.scan.words(*start, *end));
        self.understanding.unread.extend(left_over);
        let intent = Intent::Operate { operation, target, arguments, mood, corrects };
        self.act(source, intent, Some((said, has_own_target)));
    }

    /// The earlier act that one puts right.
    fn corrected(&self, said: &Operating) -> Option<usize> {
        let lives = |it: &Said| it.operation.is_some() && !it.is_cancelled;
        let is_same = |it: &Said| lives(it) && it.operation == Some(said.operation);
        match said.relation {
            Relation::New | Relation::OneMore => None,
            Relation::Amends => self.said.iter().rposition(is_same),
            Relation::Corrects | Relation::Replaces if said.flags.adds => None,
            Relation::Corrects => self.said.iter().rposition(is_same),
            Relation::Replaces => self.said.iter().rposition(lives),
        }
    }

    fn mood_of(&self, act: usize) -> Option<Mood> {
        match &self.understanding.acts[act].intent {
            Intent::Operate { mood, .. } => Some(*mood),
            Intent::Answer { .. } | Intent::Cancel(_) => None,
        }
    }

    /// What a repeated request leaves open and cannot do without stays as it was said.
    fn inherit(&self, earlier: usize, said: &Operating, arguments: &mut Vec<Argument>) {
        let Intent::Operate { operation, arguments: old, .. } =
            &self.understanding.acts[earlier].intent
        else {
            return;
        };
        let offered = &self.brief.operations[said.operation];
        if operation.operation != offered.spec.key || operation.workflow != offered.workflow {
            return;
        }
        let is_open = |argument: &&Argument| {
            let spec = offered.spec.slots.iter().find(|slot| slot.name == argument.slot);
            spec.is_some_and(|slot| slot.required)
                && !arguments.iter().any(|new| new.slot == argument.slot)
        };
        let kept: Vec<Argument> = old.iter().filter(is_open).cloned().collect();
        arguments.extend(kept);
    }

    /// Which record an act is on, and whether its own words say so.
    fn target_of_act(
        &mut self,
        said: &Operating,
        corrects: Option<usize>,
    ) -> (ProposedTarget, bool) {
        let offered = &self.brief.operations[said.operation];
        if offered.spec.creates {
            return (ProposedTarget::New(offered.workflow.clone()), false);
        }
        if let Some(target) = self.named(&said.fills) {
            if said.relation == Relation::OneMore {
                self.share(&target, said);
            }
            return (target, true);
        }
        let before = match said.relation {
            Relation::OneMore => {
                self.said.iter().rposition(|it| it.operation == Some(said.operation))
            }
            Relation::New | Relation::Corrects | Relation::Replaces | Relation::Amends => corrects,
        };
        let target = match before {
            Some(act) => self.target_again(act, said.workflow),
            None => self.reference(said.workflow),
        };
        (target, false)
    }

    /// "a stamp and two cards to the Emma loan": what names the record stands once, after the last of them.
    fn share(&mut self, target: &ProposedTarget, said: &Operating) {
        let Some(before) = self.said.last().filter(|it| it.operation == Some(said.operation))
        else {
            return;
        };
        if before.has_own_target {
            return;
        }
        if let Some(ProposedAct { intent: Intent::Operate { target: open, .. }, .. }) =
            self.understanding.acts.last_mut()
        {
            *open = target.clone();
        }
    }

    /// The record that an earlier act is on, as seen from a later one that takes its place.
    fn target_again(&self, act: usize, workflow: usize) -> ProposedTarget {
        match &self.understanding.acts[act].intent {
            Intent::Operate { target, .. } if self.said[act].workflow == Some(workflow) => {
                match target {
                    ProposedTarget::New(_) => ProposedTarget::Unstated,
                    ProposedTarget::Handle(_)
                    | ProposedTarget::Act(_)
                    | ProposedTarget::Mention(_)
                    | ProposedTarget::Unstated => target.clone(),
                }
            }
            Intent::Operate { .. } | Intent::Answer { .. } | Intent::Cancel(_) => {
                ProposedTarget::Unstated
            }
        }
    }

    /// The words that name a record.
    fn named(&self, fills: &[Fill]) -> Option<ProposedTarget> {
        let fill = fills.iter().find(|fill| fill.place == Place::Target)?;
        match fill.fit {
            Fit::Pronoun => None,
            Fit::Closed | Fit::Misfit | Fit::Text | Fit::Known | Fit::Mention | Fit::Anything => {
                self.reader.scan.pointer(fill.start, fill.end).map(ProposedTarget::Mention)
            }
        }
    }

    /// The record of the closest act before that is on one of the workflow.
    fn reference(&self, workflow: usize) -> ProposedTarget {
        let is_on = |it: &Said| it.workflow == Some(workflow) && !it.is_cancelled;
        match self.said.iter().rposition(is_on) {
            Some(act) => ProposedTarget::Act(act),
            None => ProposedTarget::Unstated,
        }
    }

    fn arguments(&mut self, said: &Operating) -> Vec<Argument> {
        let slots = &self.brief.operations[said.operation].spec.slots;
        let mut arguments: Vec<Argument> = Vec::new();
        for fill in &said.fills {
            let Place::Slot(slot) = fill.place else { continue };
            let slot = slots[slot].name.clone();
            if arguments.iter().any(|argument| argument.slot == slot) {
                continue;
            }
            let pointer = match fill.fit {
                Fit::Pronoun => self.said_before(&slot),
                Fit::Closed
                | Fit::Misfit
                | Fit::Text
                | Fit::Known
                | Fit::Mention
                | Fit::Anything => self.reader.scan.pointer(fill.start, fill.end),
            };
            match pointer {
                Some(pointer) => arguments.push(Argument { slot, pointer }),
                None => {
                    let words = self.reader.scan.words(fill.start, fill.end);
                    self.understanding.unread.push(words);
                }
            }
        }
        arguments
    }

    /// What stood in a slot of this name before: what "it" means there.
    fn said_before(
        &self,
        slot: &turnframe_core::id::SlotName,
    ) -> Option<turnframe_core::words::Pointer> {
        let in_act = |act: &ProposedAct| match &act.intent {
            Intent::Operate { arguments, .. } => {
                let argument = arguments.iter().find(|argument| argument.slot == *slot);
                argument.map(|argument| argument.pointer.clone())
            }
            Intent::Answer { .. } | Intent::Cancel(_) => None,
        };
        self.understanding.acts.iter().rev().find_map(in_act)
    }

    fn ask(&mut self, source: WordRange, asking: &Asking) {
        let offered = &self.brief.topics[asking.topic];
        let named = self.named(&asking.fills);
        let target = named.unwrap_or_else(|| self.reference(asking.workflow));
        let (workflow, topic) = (offered.workflow.clone(), offered.spec.key.clone());
        let left_over =
            asking.left_over.iter().map(|(start, end)| self.reader.scan.words(*start, *end));
        self.understanding.unread.extend(left_over);
        self.understanding.questions.push(ProposedQuestion { source, workflow, topic, target });
    }

    /// Calls off the last act, and with it every act that it took the place of: an act that was put right must not
    /// come back because its correction is called off.
    fn take_back(&mut self, source: WordRange) -> bool {
        let mut next = self.said.iter().rposition(|it| it.operation.is_some() && !it.is_cancelled);
        let is_any = next.is_some();
        while let Some(act) = next.filter(|_| self.understanding.acts.len() < PROPOSALS_MAX) {
            self.said[act].is_cancelled = true;
            next = match &self.understanding.acts[act].intent {
                Intent::Operate { corrects, .. } => *corrects,
                Intent::Answer { .. } | Intent::Cancel(_) => None,
            };
            self.act(source, Intent::Cancel(CancelTarget::Act(act)), None);
        }
        is_any
    }
}

/// Ranges that touch or overlap as one.
fn merged(mut ranges: Vec<WordRange>) -> Vec<WordRange> {
    ranges.sort_unstable();
    let mut merged: Vec<WordRange> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
