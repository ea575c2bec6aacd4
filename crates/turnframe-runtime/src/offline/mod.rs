//! The interpreter that needs no model: it reads the phrases that workflows declare.
//!
//! It exists so that everything works without a key, and so that a test of anything else has an understanding
//! that is exact. It is deterministic: one message, one offer, one proposal.
//!
//! A message is scanned ([`scan`]), cut into clauses that together explain most of it ([`segment`]), each read
//! against every declared phrase and a small lexicon of generic words ([`clause`]), settled against each other
//! ([`settle`]) and put together ([`assemble`]). **It never guesses:** words that fit no phrase well enough, or
//! two phrases equally well, are left unread and the user is told; a condition that it cannot judge undoes the
//! request beside it; what is half understood in a prohibition still forbids.
//!
//! **Absent on purpose:** every word of a domain. What a workflow does not declare cannot be asked for.

mod accept;
mod assemble;
mod clause;
mod doubts;
mod edges;
mod fit;
mod form;
mod fragment;
mod grammar;
mod layout;
mod leaf;
mod lexicon;
mod matching;
mod pattern;
mod phrase;
mod prohibition;
mod reader;
mod reading;
mod record;
mod scan;
mod score;
mod segment;
mod settle;
mod short;
mod token;
mod vocabulary;

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use turnframe_core::registry::WorkflowRegistry;
use turnframe_core::understanding::{Brief, OfferedOperation, OfferedTopic, Understanding};
use turnframe_core::words::WordRange;

use crate::port::{Interpreter, InterpreterError};
use clause::ClauseReader;
use grammar::Grammar;
use reader::{Memo, Names, Reader};
use scan::Scan;

pub use grammar::GrammarError;
pub use phrase::PhraseFault;

/// The version recorded with every plan (I20). It changes with what is read.
const VERSION: &str = "offline/1";

/// Reads the phrases of an offer, without a model.
#[derive(Debug)]
pub struct OfflineInterpreter {
    /// The grammar of the offer that was seen last. Every turn of a deployment has the same, so it is compiled
    /// once; another one is compiled when it first comes.
    grammar: RwLock<Arc<Grammar>>,
}

impl OfflineInterpreter {
    /// Compiles an offer.
    ///
    /// # Errors
    /// [`GrammarError`] for the first phrase that cannot be read: a deployment finds out when it starts.
    pub fn new(
        operations: Arc<[OfferedOperation]>,
        topics: Arc<[OfferedTopic]>,
    ) -> Result<Self, GrammarError> {
        let (grammar, errors) = Grammar::compile(operations, topics);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(Self { grammar: RwLock::new(Arc::new(grammar)) }),
        }
    }

    /// Compiles what the workflows of a deployment offer.
    ///
    /// # Errors
    /// [`GrammarError`] for the first phrase that cannot be read.
    pub fn of(registry: &WorkflowRegistry) -> Result<Self, GrammarError> {
        let (mut operations, mut topics) = (Vec::new(), Vec::new());
        for workflow in registry.iter() {
            let key = workflow.key();
            let operation = |spec: &_| OfferedOperation {
                workflow: key.clone(),
                spec: turnframe_core::operation::OperationSpec::clone(spec),
            };
            let topic = |spec: &_| OfferedTopic {
                workflow: key.clone(),
                spec: turnframe_core::operation::TopicSpec::clone(spec),
            };
            operations.extend(workflow.operations().iter().map(operation));
            topics.extend(workflow.topics().iter().map(topic));
        }
        Self::new(operations.into(), topics.into())
    }

    /// What a message means.
    #[must_use]
    pub fn read(&self, brief: &Brief) -> Understanding {
        if brief.message.is_empty() {
            return Understanding::default();
        }
        let grammar = self.grammar(brief);
        let language = grammar.language(&brief.locale);
        let scan = Scan::new(&brief.message, language.lexicon, &language.vocabulary);
        let names = Names::new(&brief.handles);
        let memo = Memo::default();
        let reader = Reader {
            scan: &scan,
            grammar: &grammar,
            language,
            locale: &brief.locale,
            names: &names,
            memo: &memo,
        };
        let tokens = scan.tokens.len();
        let is_said = |rule: &&grammar::Rule| {
            rule.pattern.required.iter().all(|cue| !scan.hits(*cue, 0, tokens).is_empty())
        };
        let rules = language.rules.iter().filter(is_said).collect();
        let clauses = segment::clauses(&ClauseReader { reader, rules, cards: &brief.cards });
        assemble::assemble(&reader, brief, &settle::settle(&reader, &brief.cards, clauses))
    }

    /// The grammar of a brief's offer.
    fn grammar(&self, brief: &Brief) -> Arc<Grammar> {
        let known = Arc::clone(&self.grammar.read().unwrap_or_else(PoisonError::into_inner));
        if known.is_of(&brief.operations, &brief.topics) {
            return known;
        }
        let (grammar, _) = Grammar::compile(brief.operations.clone(), brief.topics.clone());
        let grammar = Arc::new(grammar);
        *self.grammar.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&grammar);
        grammar
    }
}

#[async_trait]
impl Interpreter for OfflineInterpreter {
    fn version(&self) -> String {
        VERSION.to_owned()
    }

    async fn understand(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        match refused {
            None => Ok(self.read(brief)),
            // The same reading would be refused again; that nothing was read is always true.
            Some(_) => Ok(unread(brief)),
        }
    }
}

fn unread(brief: &Brief) -> Understanding {
    let end = u32::try_from(brief.message.len()).unwrap_or(u32::MAX);
    let unread = if end == 0 { Vec::new() } else { vec![WordRange { start: 0, end }] };
    Understanding { unread, ..Understanding::default() }
}

#[cfg(test)]
mod tests;
