//! The words that the phrases of a language are made of.
//!
//! A cue is a set of words of which one has to be said. A word of a message finds its cues in two look-ups: by
//! itself and by its stem.

use std::collections::HashMap;

use super::form::{Form, Inflection};
use super::lexicon::{Class, Lexicon};

/// Workflows that can be told apart by the nouns of their phrases.
const WORKFLOWS_MAX: usize = 64;

/// Words of which one has to be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct CueId(u32);

/// Every cue of a language.
#[derive(Debug)]
pub(super) struct Vocabulary {
    inflection: Inflection,
    ids: HashMap<Vec<String>, CueId>,
    cues: Vec<Cue>,
    exact: HashMap<String, Vec<CueId>>,
    stems: HashMap<String, Vec<CueId>>,
}

#[derive(Debug)]
struct Cue {
    /// Whether its words are of no domain.
    is_function: bool,
    /// Whether dates can do without its words.
    introduces_dates: bool,
    /// Whether a phrase begins with it.
    opens: bool,
    /// The workflows whose phrases hold it, as bits.
    workflows: u64,
    /// The workflows that call their records so, as bits.
    records: u64,
}

impl Vocabulary {
    /// A vocabulary without words.
    pub(super) fn new(lexicon: &Lexicon) -> Self {
        Self {
            inflection: lexicon.inflection,
            ids: HashMap::new(),
            cues: Vec::new(),
            exact: HashMap::new(),
            stems: HashMap::new(),
        }
    }

    /// The cue of a set of words that a workflow's phrase holds.
    pub(super) fn intern(&mut self, words: &[String], workflow: usize, lexicon: &Lexicon) -> CueId {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.dedup();
        let id = match self.ids.get(&words) {
            Some(id) => *id,
            None => self.add(words, lexicon),
        };
        if workflow < WORKFLOWS_MAX {
            self.cues[id.0 as usize].workflows |= 1 << workflow;
        }
        id
    }

    fn add(&mut self, words: Vec<String>, lexicon: &Lexicon) -> CueId {
        let id = CueId(u32::try_from(self.cues.len()).unwrap_or(u32::MAX));
        let is_function = words.iter().all(|word| lexicon.class(word).has(Class::FUNCTION));
        let introduces_dates =
            words.iter().all(|word| lexicon.class(word).has(Class::DATE_PREPOSITION));
        self.cues.push(Cue {
            is_function,
            introduces_dates,
            opens: false,
            workflows: 0,
            records: 0,
        });
        for word in &words {
            self.exact.entry(word.clone()).or_default().push(id);
            // "is" is no form of anything else.
            if let Some(stem) = self.inflection.stem(word).filter(|_| !is_function) {
                let cues = self.stems.entry(stem).or_default();
                if !cues.contains(&id) {
                    cues.push(id);
                }
            }
        }
        self.ids.insert(words, id);
        id
    }

    /// Notes that a phrase begins with a cue.
    pub(super) fn open_with(&mut self, cue: CueId) {
        self.cues[cue.0 as usize].opens = true;
    }

    /// Whether a phrase begins with a cue.
    pub(super) fn opens(&self, cue: CueId) -> bool {
        self.cues[cue.0 as usize].opens
    }

    /// Whether a cue tells two operations apart as little as "to" does.
    pub(super) fn is_function(&self, cue: CueId) -> bool {
        self.cues[cue.0 as usize].is_function
    }

    /// Whether a date can do without a cue before it.
    pub(super) fn introduces_dates(&self, cue: CueId) -> bool {
        self.cues[cue.0 as usize].introduces_dates
    }

    /// Whether a cue is a word of a workflow's own.
    pub(super) fn is_of(&self, cue: CueId, workflow: usize) -> bool {
        let cue = &self.cues[cue.0 as usize];
        !cue.is_function && workflow < WORKFLOWS_MAX && cue.workflows & (1 << workflow) != 0
    }

    /// Notes that a workflow calls its records by a cue.
    pub(super) fn name_records(&mut self, cue: CueId, workflow: usize) {
        let cue = &mut self.cues[cue.0 as usize];
        if workflow < WORKFLOWS_MAX && !cue.is_function {
            cue.records |= 1 << workflow;
        }
    }

    /// Whether a workflow calls its records by a cue.
    pub(super) fn names_records(&self, cue: CueId, workflow: usize) -> bool {
        workflow < WORKFLOWS_MAX && self.cues[cue.0 as usize].records & (1 << workflow) != 0
    }

    /// Finds the cues of a folded word.
    pub(super) fn find(&self, word: &str, mut found: impl FnMut(CueId, Form)) {
        let exact = self.exact.get(word).map_or(&[] as &[CueId], Vec::as_slice);
        for cue in exact {
            found(*cue, Form::Exact);
        }
        let Some(stem) = self.inflection.stem(word) else { return };
        for cue in self.stems.get(&stem).into_iter().flatten() {
            if !exact.contains(cue) {
                found(*cue, self.inflection.form(word));
            }
        }
    }
}
