//! An interpreter that takes its time over one message, until the test has done something else meanwhile.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use turnframe_core::understanding::{Brief, Understanding};
use turnframe_runtime::port::{Interpreter, InterpreterError};
use turnframe_test::script::ScriptedInterpreter;

/// A door that a message waits at.
#[derive(Debug, Clone)]
pub struct Gate(Arc<Door>);

#[derive(Debug)]
struct Door {
    arrived: watch::Sender<usize>,
    open: watch::Sender<bool>,
}

impl Gate {
    /// Waits until the interpreter has been asked about the message.
    pub async fn reached(&self) {
        self.reached_by(1).await;
    }

    /// Waits until it has been asked this often.
    pub async fn reached_by(&self, times: usize) {
        // The sender lives in `self`, so the wait ends with the arrival and not before.
        let _ = self.0.arrived.subscribe().wait_for(|arrived| *arrived >= times).await;
    }

    /// Lets through whoever waits and whoever comes.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    async fn pass(&self) {
        self.0.arrived.send_modify(|arrived| *arrived += 1);
        let _ = self.0.open.subscribe().wait_for(|open| *open).await;
    }
}

/// A script of which one message waits at a gate.
#[derive(Debug)]
pub struct GatedInterpreter {
    script: ScriptedInterpreter,
    message: String,
    gate: Gate,
}

impl GatedInterpreter {
    /// Holds up a message of the script.
    #[must_use]
    pub fn holding(script: ScriptedInterpreter, message: &str) -> (Arc<Self>, Gate) {
        let door = Door { arrived: watch::Sender::new(0), open: watch::Sender::new(false) };
        let gate = Gate(Arc::new(door));
        let message = message.to_owned();
        (Arc::new(Self { script, message, gate: gate.clone() }), gate)
    }
}

#[async_trait]
impl Interpreter for GatedInterpreter {
    fn version(&self) -> String {
        self.script.version()
    }

    async fn understand(
        &self,
        brief: &Brief,
        refused: Option<&str>,
    ) -> Result<Understanding, InterpreterError> {
        if brief.message.text() == self.message {
            self.gate.pass().await;
        }
        self.script.understand(brief, refused).await
    }
}
