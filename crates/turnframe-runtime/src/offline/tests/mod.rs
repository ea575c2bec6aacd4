//! Messages at a library desk and what they are read as.

mod cards;
mod caution;
mod domain;
mod english;
mod german;
mod interpreter;
mod library;
mod properties;
mod shown;

use library::Desk;
use shown::shown;

/// Reads each message of a table and compares.
#[track_caller]
fn check(desk: &Desk, table: &[(&str, &str)]) {
    let mut differs = Vec::new();
    for (text, expected) in table {
        let brief = desk.brief(text);
        let read = shown(&brief.message, &desk.read(text));
        if read != *expected {
            differs.push(format!("{text:?}\n  expected {expected}\n  read     {read}"));
        }
    }
    assert!(differs.is_empty(), "\n{}", differs.join("\n"));
}
