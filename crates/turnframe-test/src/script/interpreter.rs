//! An interpreter that reads from a script.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use turnframe_core::understanding::{Brief, Understanding};
use turnframe_core::words::WordRange;
use turnframe_runtime::port::{Interpreter, InterpreterError};

type Read = dyn Fn(&Brief) -> Understanding + Send + Sync;

/// What the interpreter answers when it is asked.
#[derive(Clone)]
pub struct Line(Answer);

#[derive(Clone)]
enum Answer {
    Means(Arc<Read>),
    Fails(InterpreterError),
    Hangs,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Answer::Means(_) => f.write_str("Means"),
            Answer::Fails(error) => f.debug_tuple("Fails").field(error).finish(),
            Answer::Hangs => f.write_str("Hangs"),
        }
    }
}

/// The message means what the function makes of the brief; see [`super::propose`].
pub fn means<U: Into<Understanding>>(read: impl Fn(&Brief) -> U + Send + Sync + 'static) -> Line {
    Line(Answer::Means(Arc::new(move |brief| read(brief).into())))
}

/// The interpreter fails with this error.
#[must_use]
pub const fn fails(error: InterpreterError) -> Line {
    Line(Answer::Fails(error))
}

/// The interpreter never answers.
#[must_use]
pub const fn hangs() -> Line {
    Line(Answer::Hangs)
}

/// A proposal that no check accepts: words that are in no message.
#[must_use]
pub fn garbage() -> Line {
    let beyond = WordRange { start: u32::MAX - 1, end: u32::MAX };
    means(move |_| Understanding { unread: vec![beyond], ..Understanding::default() })
}

/// A call as it was made.
#[derive(Debug, Clone)]
pub struct Asked {
    /// All that was shown.
    pub brief: Brief,
    /// What was wrong with the proposal before, when this was the second try.
    pub refused: Option<String>,
}

/// An interpreter that knows a line for each message, and hands out queued lines for messages it does not know.
///
/// A line of [`ScriptedInterpreter::on`] holds for as long as the script does, so that a turn which is understood
/// again after a crash is understood alike. A message that no line is left for fails as unavailable, with the
/// message in the error.
#[derive(Debug, Default)]
pub struct ScriptedInterpreter {
    lines: BTreeMap<String, Line>,
    retries: BTreeMap<String, Line>,
    queue: Mutex<VecDeque<Line>>,
    asked: Mutex<Vec<Asked>>,
}

impl ScriptedInterpreter {
    /// An interpreter without a line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers this to a message, whenever it is asked about it.
    #[must_use]
    pub fn on(mut self, message: &str, line: Line) -> Self {
        self.lines.insert(message.to_owned(), line);
        self
    }

    /// Answers this to a message when the proposal before was sent back.
    #[must_use]
    pub fn on_retry(mut self, message: &str, line: Line) -> Self {
        self.retries.insert(message.to_owned(), line);
        self
    }

    /// Answers this, once, to the next message that has no line of its own.
    #[must_use]
    pub fn then(self, line: Line) -> Self {
        locked(&self.queue).push_back(line);
        self
    }

    /// How often it was asked.
    #[must_use]
    pub fn calls(&self) -> usize {
        locked(&self.asked).len()
    }

    /// Every call, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        locked(&self.asked).clone()
    }

    fn line(&self, message: &str, is_retry: bool) -> Line {
        let retry = if is_retry { self.retries.get(message) } else { None };
        let known = retry.or_else(|| self.lines.get(message)).cloned();
        known.or_else(|| locked(&self.queue).pop_front()).unwrap_or_else(|| {
            let reason = format!("the script has no line for {message:?}");
            fails(InterpreterError::Unavailable(reason))
        })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Interpreter for ScriptedInterpreter {
    fn version(&self) -> String {
        "scripted/1".to_owned()
    }

    async fn understand(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        let asked = Asked { brief: brief.clone(), refused: refused.map(str::to_owned) };
        locked(&self.asked).push(asked);
        match self.line(brief.message.text(), refused.is_some()).0 {
            Answer::Means(read) => Ok(read(brief)),
            Answer::Fails(error) => Err(error),
            Answer::Hangs => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use turnframe_core::words::Message;

    use super::super::proposal::propose;
    use super::*;
    use crate::literal;

    fn brief(text: &str) -> Brief {
        Brief {
            message: Message::new(text).expect("message"),
            locale: literal("en"),
            operations: Arc::new([]),
            topics: Arc::new([]),
            handles: Vec::new(),
            cards: Vec::new(),
        }
    }

    #[tokio::test]
    async fn garbage_comes_first_and_the_right_answer_once_it_was_sent_back() {
        let interpreter = ScriptedInterpreter::new()
            .on("hello", garbage())
            .on_retry("hello", means(|brief| propose(brief).remark("hello")));
        let brief = brief("hello");
        for _ in 0..2 {
            let first = interpreter.understand(&brief, None).await.expect("answer");
            let error = first.check(&brief).expect_err("garbage").to_string();
            let second = interpreter.understand(&brief, Some(&error)).await.expect("answer");
            second.check(&brief).expect("accepted");
        }
        assert_eq!(interpreter.calls(), 4);
        let asked = interpreter.asked();
        assert_eq!(asked[0].refused, None);
        assert!(asked[1].refused.as_deref().is_some_and(|error| error.contains("not in the")));
        assert_eq!(asked[1].brief.message, brief.message);
    }

    #[tokio::test]
    async fn a_message_without_a_line_takes_the_next_of_the_queue_and_then_fails_loudly() {
        let down = InterpreterError::Unavailable("down".to_owned());
        let interpreter = ScriptedInterpreter::new()
            .then(means(|brief| propose(brief).unread("one")))
            .then(fails(down.clone()));
        let first = interpreter.understand(&brief("one"), None).await.expect("answer");
        assert_eq!(first.unread.len(), 1);
        assert_eq!(interpreter.understand(&brief("two"), None).await, Err(down));
        let error = interpreter.understand(&brief("three"), None).await.expect_err("no line");
        assert!(error.to_string().contains("no line for \"three\""), "{error}");
    }

    #[test]
    fn a_line_can_hang() {
        let interpreter = ScriptedInterpreter::new().on("hello", hangs());
        let brief = brief("hello");
        assert!(interpreter.understand(&brief, None).now_or_never().is_none());
        assert_eq!(interpreter.calls(), 1);
    }
}
