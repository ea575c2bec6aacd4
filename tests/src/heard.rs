//! What a system says of itself: the metrics and alarms that operators live by, kept for a test to look at.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// Longer than anything takes that is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The fields of an event, and its level.
#[derive(Debug, Clone)]
pub struct Said {
    /// How grave it is.
    pub level: Level,
    /// Its fields as text.
    pub fields: BTreeMap<&'static str, String>,
}

impl Said {
    /// A field that is a whole number.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn number(&self, field: &str) -> u64 {
        self.fields[field].parse().expect("a number")
    }
}

/// Everything that is said in this thread as long as it lives.
pub struct Heard {
    said: Arc<Mutex<Vec<Said>>>,
    _listening: DefaultGuard,
}

impl Heard {
    /// Listens from here on.
    #[must_use]
    pub fn listen() -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let listening = tracing::subscriber::set_default(Listener(said.clone()));
        Self { said, _listening: listening }
    }

    /// What was said so far that has a field, and is forgotten now.
    #[must_use]
    pub fn take(&self, field: &str) -> Vec<Said> {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extract_if(.., |said| said.fields.contains_key(field)).collect()
    }

    /// Waits until something is said that has a field.
    ///
    /// # Panics
    /// When it is not said in time.
    pub async fn next(&self, field: &str) -> Said {
        let listens = async {
            loop {
                if let Some(last) = self.take(field).pop() {
                    return last;
                }
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        tokio::time::timeout(PATIENCE, listens).await.expect("it is said in time")
    }
}

struct Listener(Arc<Mutex<Vec<Said>>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let said = Said { level: *event.metadata().level(), fields: fields.0 };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
