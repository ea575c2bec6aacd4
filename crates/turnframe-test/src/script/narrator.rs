//! A narrator that words from a script.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use turnframe_runtime::port::{NarrationBrief, Narrator, NarratorError};

type Words = dyn Fn(&NarrationBrief) -> Result<Option<String>, NarratorError> + Send + Sync;

/// A narrator that says the same thing of every brief of one kind, or never answers. It records what it was shown.
pub struct ScriptedNarrator {
    /// None where it hangs.
    words: Option<Box<Words>>,
    asked: Mutex<Vec<NarrationBrief>>,
}

impl fmt::Debug for ScriptedNarrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedNarrator").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl ScriptedNarrator {
    /// A narrator that answers what a function makes of the brief.
    pub fn new(
        words: impl Fn(&NarrationBrief) -> Result<Option<String>, NarratorError> + Send + Sync + 'static,
    ) -> Self {
        Self { words: Some(Box::new(words)), asked: Mutex::default() }
    }

    /// A narrator that has nothing to say.
    #[must_use]
    pub fn silent() -> Self {
        Self::new(|_| Ok(None))
    }

    /// A narrator that always says this.
    #[must_use]
    pub fn saying(words: &str) -> Self {
        let words = words.to_owned();
        Self::new(move |_| Ok(Some(words.clone())))
    }

    /// A narrator that cannot be reached.
    #[must_use]
    pub fn failing(reason: &str) -> Self {
        let error = NarratorError(reason.to_owned());
        Self::new(move |_| Err(error.clone()))
    }

    /// A narrator that never answers.
    #[must_use]
    pub fn hanging() -> Self {
        Self { words: None, asked: Mutex::default() }
    }

    /// Every brief it was shown, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<NarrationBrief> {
        // Nothing panics while it holds the lock.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Narrator for ScriptedNarrator {
    async fn words(&self, brief: &NarrationBrief) -> Result<Option<String>, NarratorError> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(brief.clone());
        match &self.words {
            Some(words) => words(brief),
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::literal;

    #[tokio::test]
    async fn a_narrator_says_what_its_script_says_and_remembers_what_it_was_shown() {
        let brief = NarrationBrief { locale: literal("de"), receipts: Vec::new() };
        let narrator = ScriptedNarrator::saying("Gern.");
        assert_eq!(narrator.words(&brief).await, Ok(Some("Gern.".to_owned())));
        assert_eq!(narrator.asked()[0].locale, brief.locale);
        assert_eq!(ScriptedNarrator::silent().words(&brief).await, Ok(None));
        let failing = ScriptedNarrator::failing("down");
        assert_eq!(failing.words(&brief).await, Err(NarratorError("down".to_owned())));
        let hanging = ScriptedNarrator::hanging();
        assert!(hanging.words(&brief).now_or_never().is_none());
        assert_eq!(hanging.asked().len(), 1);
    }
}
