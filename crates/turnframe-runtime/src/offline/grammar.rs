//! What all workflows of a deployment declare, compiled once.
//!
//! A brief's offer is the same for every turn, so the work is done when the interpreter is built. Per language
//! there is a grammar of its own: an operation without phrases in a language is asked for with those it has.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use turnframe_core::id::{Locale, WorkflowKey};
use turnframe_core::operation::{OperationSpec, Phrase, SlotKind};
use turnframe_core::target::fold;
use turnframe_core::understanding::{OfferedOperation, OfferedTopic};
use turnframe_core::value;

use super::lexicon::{Class, Lexicon};
use super::pattern::{Compiler, Pattern, Place};
use super::phrase::{self, Node, PhraseFault};
use super::vocabulary::Vocabulary;

/// A declared phrase that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{of}: {phrase:?}: {fault}")]
pub struct GrammarError {
    /// The operation or topic that declares it.
    pub of: String,
    /// The phrase.
    pub phrase: String,
    /// What is wrong with it.
    pub fault: PhraseFault,
}

/// What a phrase stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// An operation of the offer, by index.
    Operation(usize),
    /// What an operation is called: no request, but it can be forbidden.
    Name(usize),
    /// A topic of the offer, by index.
    Topic(usize),
}

/// A phrase and what it stands for.
#[derive(Debug)]
pub(super) struct Rule {
    /// What it stands for.
    pub(super) meaning: Meaning,
    /// The workflow that declares it, by index.
    pub(super) workflow: usize,
    /// The phrase.
    pub(super) pattern: Pattern,
}

/// The phrases that are read in a language.
#[derive(Debug)]
pub(super) struct LanguageGrammar {
    /// Its generic words.
    pub(super) lexicon: &'static Lexicon,
    /// The words of the phrases.
    pub(super) vocabulary: Vocabulary,
    /// The phrases.
    pub(super) rules: Vec<Rule>,
}

/// How the words of a slot are told from those beside them.
#[derive(Debug)]
pub(super) struct Shape {
    /// Shapes of one key fit the same words.
    pub(super) key: u32,
    /// The most words that can fit.
    pub(super) words_max: usize,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Any words.
    Text,
    /// Words that are such a value.
    Value(SlotKind),
    /// Words of a list, folded, with and without their articles.
    Choice(HashSet<String>),
}

/// The most words of a whole number, of a date, and of a moment.
const VALUE_WORDS_MAX: (usize, usize, usize) = (3, 8, 12);

/// An offer, compiled.
#[derive(Debug)]
pub(super) struct Grammar {
    /// What can be done.
    pub(super) operations: Arc<[OfferedOperation]>,
    /// What can be answered.
    pub(super) topics: Arc<[OfferedTopic]>,
    /// The workflows, in order of their first mention.
    pub(super) workflows: Vec<WorkflowKey>,
    /// Per operation and slot.
    shapes: Vec<Vec<Shape>>,
    languages: HashMap<String, LanguageGrammar>,
    /// For every other language: all phrases, and no generic words.
    others: LanguageGrammar,
}

impl Grammar {
    /// Compiles an offer. What cannot be read is left out and listed.
    pub(super) fn compile(
        operations: Arc<[OfferedOperation]>,
        topics: Arc<[OfferedTopic]>,
    ) -> (Self, Vec<GrammarError>) {
        let mut workflows: Vec<WorkflowKey> = Vec::new();
        let all = operations.iter().map(|it| &it.workflow);
        for workflow in all.chain(topics.iter().map(|it| &it.workflow)) {
            if !workflows.contains(workflow) {
                workflows.push(workflow.clone());
            }
        }
        let mut errors = Vec::new();
        let mut language = |language: Option<&str>| {
            let compiling =
                Compiling { operations: &operations, topics: &topics, workflows: &workflows };
            compiling.language(language, &mut errors)
        };
        let others = language(None);
        let spoken = languages(&operations, &topics);
        let languages =
            spoken.into_iter().map(|name| (name.clone(), language(Some(&name)))).collect();
        let mut choices = 0;
        let mut shapes_of = |operation: &OfferedOperation| shapes(&operation.spec, &mut choices);
        let shapes = operations.iter().map(&mut shapes_of).collect();
        errors.sort_by(|one, other| (&one.of, &one.phrase).cmp(&(&other.of, &other.phrase)));
        errors.dedup();
        (Self { operations, topics, workflows, shapes, languages, others }, errors)
    }

    /// Whether this is the grammar of an offer.
    pub(super) fn is_of(
        &self,
        operations: &Arc<[OfferedOperation]>,
        topics: &Arc<[OfferedTopic]>,
    ) -> bool {
        let is_same =
            Arc::ptr_eq(&self.operations, operations) && Arc::ptr_eq(&self.topics, topics);
        is_same || self.has_same_content(operations, topics)
    }

    fn has_same_content(&self, operations: &[OfferedOperation], topics: &[OfferedTopic]) -> bool {
        let same_operation = |(one, other): (&OfferedOperation, &OfferedOperation)| {
            one.workflow == other.workflow && one.spec == other.spec
        };
        let same_topic = |(one, other): (&OfferedTopic, &OfferedTopic)| {
            one.workflow == other.workflow && one.spec == other.spec
        };
        self.operations.len() == operations.len()
            && self.topics.len() == topics.len()
            && self.operations.iter().zip(operations).all(same_operation)
            && self.topics.iter().zip(topics).all(same_topic)
    }

    /// The phrases for a locale.
    pub(super) fn language(&self, locale: &Locale) -> &LanguageGrammar {
        self.languages.get(&locale.language().to_ascii_lowercase()).unwrap_or(&self.others)
    }

    /// How the words of a slot are told from others.
    pub(super) fn shape(&self, operation: usize, slot: usize) -> &Shape {
        &self.shapes[operation][slot]
    }
}

/// English, German, and every language that has a phrase.
fn languages(operations: &[OfferedOperation], topics: &[OfferedTopic]) -> HashSet<String> {
    let of_operations = operations.iter().flat_map(|it| &it.spec.phrases);
    let of_topics = topics.iter().flat_map(|it| &it.spec.phrases);
    let spoken = of_operations.chain(of_topics).map(|it| language_of(&it.locale));
    ["en", "de"].map(str::to_owned).into_iter().chain(spoken).collect()
}

fn language_of(locale: &Locale) -> String {
    locale.language().to_ascii_lowercase()
}

fn shapes(spec: &OperationSpec, choices: &mut u32) -> Vec<Shape> {
    spec.slots.iter().map(|slot| Shape::of(&slot.kind, choices)).collect()
}

fn choice_words(phrase: &Phrase) -> Vec<String> {
    let words = fold(&phrase.words);
    let lexicon = Lexicon::of(&language_of(&phrase.locale));
    let bare =
        words.split_once(' ').filter(|(first, _)| lexicon.class(first).has(Class::DETERMINER));
    let bare = bare.map(|(_, rest)| rest.to_owned());
    std::iter::once(words).chain(bare).collect()
}

struct Compiling<'c> {
    operations: &'c [OfferedOperation],
    topics: &'c [OfferedTopic],
    workflows: &'c [WorkflowKey],
}

impl Compiling<'_> {
    fn language(&self, language: Option<&str>, errors: &mut Vec<GrammarError>) -> LanguageGrammar {
        let lexicon = Lexicon::of(language.unwrap_or_default());
        let vocabulary = Vocabulary::new(lexicon);
        let mut built = LanguageGrammar { lexicon, vocabulary, rules: Vec::new() };
        for (index, offered) in self.operations.iter().enumerate() {
            let of = format!("{}.{}", offered.workflow, offered.spec.key);
            let workflow = self.index(&offered.workflow);
            let creates = offered.spec.creates;
            let declared = Declared { of: &of, creates, workflow, language };
            let places = |name: &str| place_of(&offered.spec, name);
            let ends = |place: Place| ends_itself(&offered.spec, place);
            let phrases = declared.spoken(&offered.spec.phrases);
            let operation = Meaning::Operation(index);
            declared.add(&mut built, operation, &phrases, (&places, &ends), errors);
            // Names are prose for notices: one that is no phrase is no mistake.
            let names = declared.spoken(&offered.spec.names);
            let name = Meaning::Name(index);
            declared.add(&mut built, name, &names, (&|_| None, &|_| false), &mut Vec::new());
        }
        for (index, offered) in self.topics.iter().enumerate() {
            let of = format!("{}?{}", offered.workflow, offered.spec.key);
            let workflow = self.index(&offered.workflow);
            let declared = Declared { of: &of, creates: false, workflow, language };
            let places =
                |name: &str| Some(if name == TARGET { Place::Target } else { Place::Ignored });
            let phrases = declared.spoken(&offered.spec.phrases);
            let topic = Meaning::Topic(index);
            declared.add(&mut built, topic, &phrases, (&places, &|_| false), errors);
        }
        built
    }

    fn index(&self, workflow: &WorkflowKey) -> usize {
        self.workflows.iter().position(|known| known == workflow).unwrap_or(usize::MAX)
    }
}

/// What stands for a record in a phrase.
const TARGET: &str = "target";

/// A slot, or the words that name a record; a record that does not exist yet has no name.
fn place_of(spec: &OperationSpec, name: &str) -> Option<Place> {
    let slot = spec.slots.iter().position(|slot| slot.name.as_str() == name).map(Place::Slot);
    slot.or((name == TARGET && !spec.creates).then_some(Place::Target))
}

fn ends_itself(spec: &OperationSpec, place: Place) -> bool {
    match place {
        Place::Slot(slot) => spec.slots[slot].kind != SlotKind::Text,
        Place::Target | Place::Ignored => false,
    }
}

type Places<'p> = (&'p dyn Fn(&str) -> Option<Place>, &'p dyn Fn(Place) -> bool);

struct Declared<'d> {
    of: &'d str,
    /// Whether the phrases bring a record into being.
    creates: bool,
    workflow: usize,
    language: Option<&'d str>,
}

impl Declared<'_> {
    /// The phrases in the language, or all where there are none.
    fn spoken<'p>(&self, phrases: &'p [Phrase]) -> Vec<&'p Phrase> {
        let own = |phrase: &&Phrase| {
            self.language.is_none_or(|language| language_of(&phrase.locale) == language)
        };
        let spoken: Vec<_> = phrases.iter().filter(own).collect();
        if spoken.is_empty() { phrases.iter().collect() } else { spoken }
    }

    fn add(
        &self,
        built: &mut LanguageGrammar,
        meaning: Meaning,
        phrases: &[&Phrase],
        places: Places<'_>,
        errors: &mut Vec<GrammarError>,
    ) {
        for phrase in phrases {
            if let Err(fault) = self.add_one(built, meaning, &phrase.words, places) {
                let (of, phrase) = (self.of.to_owned(), phrase.words.clone());
                errors.push(GrammarError { of, phrase, fault });
            }
        }
    }

    fn add_one(
        &self,
        built: &mut LanguageGrammar,
        meaning: Meaning,
        words: &str,
        (places, ends_itself): Places<'_>,
    ) -> Result<(), PhraseFault> {
        let lexicon = built.lexicon;
        for mut nodes in phrase::parse(words, lexicon)? {
            let is_name = matches!(meaning, Meaning::Name(_));
            if is_name {
                nodes.retain(|node| !is_anything(node, lexicon));
            }
            if matches!(meaning, Meaning::Topic(_)) {
                free_auxiliaries(&mut nodes, lexicon);
            }
            let vocabulary = &mut built.vocabulary;
            let workflow = self.workflow;
            let mut compiler = Compiler { lexicon, vocabulary, workflow, places, ends_itself };
            for pattern in compiler.compile(&nodes)? {
                if self.creates {
                    // "open a loan": what is brought into being is called so.
                    let nouns = pattern.words().filter(|cue| *cue != pattern.head);
                    nouns.for_each(|cue| built.vocabulary.name_records(cue, workflow));
                }
                let is_new = !built
                    .rules
                    .iter()
                    .any(|rule| rule.meaning == meaning && rule.pattern == pattern);
                if is_new && !(is_name && pattern.is_vague) {
                    built.rules.push(Rule { meaning, workflow, pattern });
                }
            }
        }
        Ok(())
    }
}

/// "when is it due" is also "tell me when it is due": in a question with its word for it, the verb may move.
fn free_auxiliaries(nodes: &mut [Node], lexicon: &Lexicon) {
    let is = |node: &Node, class: Class| match node {
        Node::Word(words) => words.iter().all(|it| lexicon.class(it).has(class)),
        Node::Place(_) | Node::Optional(_) => false,
    };
    let asks = nodes.first().is_some_and(|node| is(node, Class::QUESTION));
    for node in nodes.iter_mut().filter(|node| asks && is(node, Class::AUXILIARY)) {
        *node = Node::Optional(vec![node.clone()]);
    }
}

fn is_anything(node: &Node, lexicon: &Lexicon) -> bool {
    match node {
        Node::Word(words) => words.iter().all(|it| lexicon.class(it).has(Class::ANYTHING)),
        Node::Place(_) | Node::Optional(_) => false,
    }
}

impl Shape {
    fn of(kind: &SlotKind, choices: &mut u32) -> Self {
        let (number, date, moment) = VALUE_WORDS_MAX;
        let value = |key, words_max| Self { key, words_max, form: Form::Value(kind.clone()) };
        match kind {
            SlotKind::Text => Self { key: 0, words_max: usize::MAX, form: Form::Text },
            SlotKind::Integer => value(1, number),
            SlotKind::Date => value(2, date),
            SlotKind::Moment => value(3, moment),
            SlotKind::Choice(list) => {
                *choices += 1;
                let phrases = list.iter().flat_map(|choice| &choice.words);
                let known: HashSet<String> = phrases.flat_map(choice_words).collect();
                let words_max = known.iter().map(|it| it.split([' ', '-', '/']).count()).max();
                let (key, words_max) = (3 + *choices, words_max.unwrap_or_default());
                Self { key, words_max, form: Form::Choice(known) }
            }
        }
    }

    /// The shape of a date.
    pub(super) fn date() -> Self {
        Self::of(&SlotKind::Date, &mut 0)
    }

    /// Whether words are such a value. Any words are text.
    pub(super) fn fits(&self, words: &str, locale: &Locale) -> bool {
        match &self.form {
            Form::Text => true,
            Form::Value(kind) => value::has_shape(kind, words, locale),
            Form::Choice(known) => known.contains(&fold(words)),
        }
    }

    /// Whether any words would do.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.form, Form::Text)
    }

    /// Whether it is a day, or a moment of one.
    pub(super) fn is_date(&self) -> bool {
        matches!(self.form, Form::Value(SlotKind::Date | SlotKind::Moment))
    }
}
