//! A plain phrase as the parts it is made of, in a form that words can be matched against in any order.
//!
//! A part is a word that has to be said, or a place with the words that introduce it, or a place without any,
//! which takes what stands after the words before it. The first words of a phrase and the words between
//! places keep their order; introduced places do not: "for Ada until Friday" is "until Friday for Ada".
//!
//! Where verbs stand last, a phrase that begins with its verb has a second pattern that ends in it, joined with
//! the particle that was cut off: `leih {title} aus` is also `{title} ausleihen`.

use super::form::infinitive_stem;
use super::lexicon::{Class, Lexicon};
use super::phrase::{Node, PhraseFault};
use super::vocabulary::{CueId, Vocabulary};

/// The most parts of a phrase.
pub(super) const PARTS_MAX: usize = 24;

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A value of a slot, by its index.
    Slot(usize),
    /// The words that name a record.
    Target,
    /// Words that nobody asks for.
    Ignored,
}

/// A place within a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening {
    /// What stands there.
    pub(super) place: Place,
    /// Whether it may be empty.
    pub(super) is_optional: bool,
    /// Whether an article before the words is none of them, because the phrase has one there.
    pub(super) drops_article: bool,
}

/// How a part finds its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartKind {
    /// Words alone.
    Words,
    /// Words, and the places directly after them.
    Introduced,
    /// Places without words: they take what stands after other parts.
    Bare {
        /// Those parts, all of them words.
        after: Vec<usize>,
        /// Whether what stands before everything may be taken too, since nothing has to be said before it.
        leads: bool,
    },
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// Parts of a group are said together or not at all; group 0 is the phrase itself.
    pub(super) group: usize,
    /// Words that stand next to each other.
    pub(super) cues: Vec<CueId>,
    /// The places.
    pub(super) openings: Vec<Opening>,
    /// How it finds its words.
    pub(super) kind: PartKind,
    /// Whether its words keep their place among the other words of the phrase.
    pub(super) is_ordered: bool,
}

/// A plain phrase, ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The parts in the order of the phrase.
    pub(super) parts: Vec<Part>,
    /// How many groups there are.
    pub(super) groups: usize,
    /// The words without which the phrase was not said.
    pub(super) required: Vec<CueId>,
    /// The word that the phrase begins with, before any verb was moved.
    pub(super) head: CueId,
    /// Whether it begins with a word.
    pub(super) is_head_first: bool,
    /// Whether all its mandatory words are of no domain, so that its values have to speak for it.
    pub(super) is_vague: bool,
}

impl Pattern {
    /// The words that introduce no place.
    pub(super) fn words(&self) -> impl Iterator<Item = CueId> {
        let words = self.parts.iter().filter(|part| part.kind == PartKind::Words);
        words.flat_map(|part| part.cues.iter().copied())
    }

    /// Whether there is such a place.
    pub(super) fn has_place(&self, place: Place) -> bool {
        self.parts.iter().flat_map(|part| &part.openings).any(|it| it.place == place)
    }
}

/// What a phrase is compiled with.
pub(super) struct Compiler<'c> {
    /// The generic words of its language.
    pub(super) lexicon: &'static Lexicon,
    /// The words of all phrases so far.
    pub(super) vocabulary: &'c mut Vocabulary,
    /// The workflow whose phrase it is.
    pub(super) workflow: usize,
    /// What the names in braces mean.
    pub(super) places: &'c dyn Fn(&str) -> Option<Place>,
    /// Whether a place may be followed by another.
    pub(super) ends_itself: &'c dyn Fn(Place) -> bool,
}

impl Compiler<'_> {
    /// The patterns of a plain sequence: one, or two where its verb may stand last.
    pub(super) fn compile(&mut self, nodes: &[Node]) -> Result<Vec<Pattern>, PhraseFault> {
        let pattern = self.pattern(nodes)?;
        if pattern.is_head_first {
            self.vocabulary.open_with(pattern.head);
        }
        let Some(moved) = self.verb_last(nodes).filter(|_| pattern.is_head_first) else {
            return Ok(vec![pattern]);
        };
        let head = pattern.head;
        // Where nothing but the verb is left there is nothing to reorder.
        let moved = self.pattern(&moved).ok().map(|moved| Pattern { head, ..moved });
        Ok(std::iter::once(pattern).chain(moved).collect())
    }

    fn pattern(&mut self, nodes: &[Node]) -> Result<Pattern, PhraseFault> {
        let drops = !self.is_all_determiners(nodes);
        let mut builder = Builder {
            compiler: self,
            parts: Vec::new(),
            groups: 1,
            since: Vec::new(),
            drops_determiners: drops,
        };
        builder.sequence(nodes, 0)?;
        let (parts, groups) = (builder.parts, builder.groups);
        self.finish(parts, groups)
    }

    fn finish(&self, mut parts: Vec<Part>, groups: usize) -> Result<Pattern, PhraseFault> {
        let of_phrase = |kind: PartKind| {
            let parts = parts.iter().filter(move |part| part.group == 0 && part.kind == kind);
            parts.flat_map(|part| part.cues.iter().copied()).collect::<Vec<_>>()
        };
        let mut required = of_phrase(PartKind::Words);
        if required.is_empty() {
            required = of_phrase(PartKind::Introduced);
        }
        let head = *required.first().ok_or(PhraseFault::NoWord)?;
        if parts.len() > PARTS_MAX {
            return Err(PhraseFault::TooMany);
        }
        for group in 0..groups {
            let is_ordered = |part: &Part| part.kind == PartKind::Words;
            let all = parts.iter().filter(|part| part.group == group).all(is_ordered);
            for part in parts.iter_mut().filter(|part| part.group == group) {
                part.is_ordered = part.kind == PartKind::Words && (group == 0 || all);
            }
        }
        let is_vague = required.iter().all(|cue| self.vocabulary.is_function(*cue));
        let is_head_first = parts.first().is_some_and(|part| {
            part.group == 0 && part.kind == PartKind::Words && part.cues.first() == Some(&head)
        });
        Ok(Pattern { parts, groups, required, head, is_head_first, is_vague })
    }

    /// The sequence with its verb at the end, where the language has that.
    fn verb_last(&self, nodes: &[Node]) -> Option<Vec<Node>> {
        let (Node::Word(verbs), rest) = nodes.split_first()? else { return None };
        let is_verb = |word: &String| !self.lexicon.class(word).has(Class::FUNCTION);
        if !self.lexicon.is_verb_final || !verbs.iter().any(is_verb) {
            return None;
        }
        let is_particle = |node: &Node| matches!(node, Node::Word(words) if words.iter().all(|it| self.lexicon.is_particle(it)));
        let is_word = |node: &Node| matches!(node, Node::Word(_));
        let last = rest.iter().rposition(is_word).filter(|at| is_particle(&rest[*at]));
        let trails = |at: &usize| rest[at + 1..].iter().all(|it| matches!(it, Node::Optional(_)));
        let mut moved = rest.to_vec();
        let verbs = match last.filter(trails) {
            Some(at) => {
                let Node::Word(particles) = moved.remove(at) else { return None };
                let join = |particle: &String| {
                    let particle = particle.clone();
                    verbs.iter().flat_map(move |verb| {
                        let stem = infinitive_stem(verb);
                        [format!("{particle}{stem}"), format!("{particle}zu{stem}")]
                    })
                };
                particles.iter().flat_map(join).collect()
            }
            None => verbs.clone(),
        };
        moved.push(Node::Word(verbs));
        (moved.len() > 1).then_some(moved)
    }

    fn is_determiner(&self, words: &[String]) -> bool {
        // "no copies" says more than "copies".
        let is = |class: Class| class.has(Class::DETERMINER) && !class.has(Class::NEGATION);
        words.iter().all(|word| is(self.lexicon.class(word)))
    }

    fn is_all_determiners(&self, nodes: &[Node]) -> bool {
        nodes.iter().all(|node| match node {
            Node::Word(words) => self.is_determiner(words),
            Node::Place(_) | Node::Optional(_) => true,
        })
    }
}

struct Builder<'b, 'c> {
    compiler: &'b mut Compiler<'c>,
    parts: Vec<Part>,
    groups: usize,
    /// The parts of words since the last place.
    since: Vec<usize>,
    drops_determiners: bool,
}

/// Words that wait for what follows them.
#[derive(Default)]
struct Run {
    cues: Vec<(CueId, bool)>,
    has_article: bool,
}

impl Builder<'_, '_> {
    fn sequence(&mut self, nodes: &[Node], group: usize) -> Result<(), PhraseFault> {
        let mut run = Run::default();
        let mut leads = group == 0;
        let mut follows_place = false;
        for node in nodes {
            match node {
                Node::Word(words) => {
                    self.word(words, &mut run);
                    follows_place = false;
                }
                Node::Place(name) => {
                    self.place(name, false, (group, leads, follows_place), &mut run)?;
                    (leads, follows_place) = (false, true);
                }
                Node::Optional(inner) => match inner.as_slice() {
                    [Node::Place(name)] => {
                        self.place(name, true, (group, leads, follows_place), &mut run)?;
                        (leads, follows_place) = (false, true);
                    }
                    [Node::Word(words)] if self.drops(words) => run.has_article = true,
                    _ => {
                        self.flush(&mut run, group);
                        let inner_group = self.groups;
                        self.groups += 1;
                        self.sequence(inner, inner_group)?;
                        leads &= !has_place(inner);
                        follows_place = false;
                    }
                },
            }
        }
        self.flush(&mut run, group);
        Ok(())
    }

    fn drops(&self, words: &[String]) -> bool {
        self.drops_determiners && self.compiler.is_determiner(words)
    }

    fn word(&mut self, words: &[String], run: &mut Run) {
        if self.drops(words) {
            run.has_article = true;
            return;
        }
        let Compiler { lexicon, vocabulary, workflow, .. } = &mut *self.compiler;
        let cue = vocabulary.intern(words, *workflow, lexicon);
        let is_preposition = words.iter().all(|word| lexicon.class(word).has(Class::PREPOSITION));
        run.cues.push((cue, is_preposition));
        run.has_article = false;
    }

    /// A place after the words that wait for it: their last prepositions introduce it, or all of them where it
    /// is optional with them.
    fn place(
        &mut self,
        name: &str,
        is_optional: bool,
        (group, leads, follows_place): (usize, bool, bool),
        run: &mut Run,
    ) -> Result<(), PhraseFault> {
        let place = (self.compiler.places)(name);
        let place = place.ok_or_else(|| PhraseFault::Slot(name.to_owned()))?;
        let opening = Opening { place, is_optional, drops_article: run.has_article };
        if let Some(last) = self.parts.last_mut().filter(|_| follows_place && run.cues.is_empty()) {
            let ends = |opening: &Opening| (self.compiler.ends_itself)(opening.place);
            if !last.openings.iter().all(ends) && !ends(&opening) {
                return Err(PhraseFault::Adjacent(name.to_owned()));
            }
            last.openings.push(opening);
            run.has_article = false;
            return Ok(());
        }
        let prepositions = run.cues.iter().rev().take_while(|(_, is_preposition)| *is_preposition);
        let introduces = match (is_optional, group, leads) {
            (true, _, _) => 0,
            (false, 1.., _) => run.cues.len(),
            (false, 0, true) => prepositions.count().min(run.cues.len().saturating_sub(1)),
            (false, 0, false) => prepositions.count().max(usize::from(!run.cues.is_empty())),
        };
        let introducing = run.cues.split_off(run.cues.len() - introduces);
        self.flush(run, group);
        let cues: Vec<CueId> = introducing.into_iter().map(|(cue, _)| cue).collect();
        let after = self.since.clone();
        let leads = self.parts.iter().all(|part| part.group != 0 && part.openings.is_empty());
        if group == 0 {
            self.since.clear();
        }
        let is_bare = cues.is_empty();
        if is_bare && after.is_empty() && !leads {
            return Err(PhraseFault::Adjacent(name.to_owned()));
        }
        let kind = if is_bare { PartKind::Bare { after, leads } } else { PartKind::Introduced };
        let openings = vec![opening];
        run.has_article = false;
        self.parts.push(Part { group, cues, openings, kind, is_ordered: false });
        Ok(())
    }

    /// Words that introduce nothing are parts of their own: each by itself in the phrase, all of them together in
    /// a part that may be missing.
    fn flush(&mut self, run: &mut Run, group: usize) {
        let cues: Vec<CueId> = run.cues.drain(..).map(|(cue, _)| cue).collect();
        let together = if group == 0 { 1 } else { cues.len().max(1) };
        for cues in cues.chunks(together) {
            self.since.push(self.parts.len());
            let (cues, openings) = (cues.to_vec(), Vec::new());
            let kind = PartKind::Words;
            self.parts.push(Part { group, cues, openings, kind, is_ordered: false });
        }
    }
}

fn has_place(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Place(_) => true,
        Node::Word(_) => false,
        Node::Optional(nodes) => has_place(nodes),
    })
}
