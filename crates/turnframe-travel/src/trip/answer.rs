//! Answers to questions about a trip, from its view alone: explanations, never claims.

use turnframe_core::id::{Locale, TopicKey};
use turnframe_core::text::Text;
use turnframe_core::view::{Fact, WorkflowView};

use super::copy::{sentence_start, words};
use super::operations::Topic;
use super::project::TripPhase;

/// Answers a topic.
pub(super) fn answer(topic: &TopicKey, view: &WorkflowView, locale: &Locale) -> Option<Text> {
    let words = words(locale);
    let projection = &view.projection;
    let topic = Topic::ALL.into_iter().find(|known| known.name() == topic.as_str())?;
    match topic {
        Topic::Status => {
            let phase = TripPhase::of_key(&projection.phase.key)?;
            let start = projection.label.clone().plain(": ").plain(words.phase(phase));
            Some(told(start, projection.facts.iter()))
        }
        Topic::Payer => {
            let prefix = words.extra_prefix();
            let extras = || projection.facts.iter().filter(|fact| fact.name.starts_with(prefix));
            let start = projection.label.clone().plain(": ");
            if extras().next().is_none() {
                return Some(start.plain(words.no_extras()));
            }
            Some(told(start.plain(words.extras_follow()), extras()))
        }
    }
}

fn told<'a>(start: Text, facts: impl Iterator<Item = &'a Fact>) -> Text {
    facts.fold(start, |text, fact| {
        text.plain(" ").plain(sentence_start(&fact.name)).plain(": ").text(&fact.value).plain(".")
    })
}
