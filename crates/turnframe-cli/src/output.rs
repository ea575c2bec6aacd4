//! What goes to the standard output: text for people, or one JSON object per line for programs.

use std::io::{self, Write};

use serde::Serialize;

/// The standard output in one of two forms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    /// Whether it is read by a program.
    pub(crate) json: bool,
}

impl Output {
    /// Writes lines for people.
    pub(crate) fn text(self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { write(text) }
    }

    /// Writes an object for programs.
    pub(crate) fn object(self, object: &impl Serialize) -> io::Result<()> {
        if self.json { write(&serde_json::to_string(object)?) } else { Ok(()) }
    }
}

fn write(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}
