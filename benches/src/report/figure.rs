//! A figure, and the table that figures are read in.

use std::fmt;

use serde::Serialize;

use super::Report;

/// Something that was measured, or could not be.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// What was seen.
    pub measured: String,
    /// What was wanted.
    pub wanted: &'static str,
    /// Whether it is so; none where nothing was measured or wanted.
    pub met: Option<bool>,
}

impl Figure {
    /// A figure that was taken.
    pub(super) fn of(
        name: impl Into<String>,
        measured: impl Into<String>,
        wanted: &'static str,
        met: bool,
    ) -> Self {
        Self { name: name.into(), measured: measured.into(), wanted, met: Some(met) }
    }

    /// A figure without an aim.
    pub(super) fn reported(name: impl Into<String>, measured: impl Into<String>) -> Self {
        let (name, measured) = (name.into(), measured.into());
        Self { name, measured, wanted: "(reported)", met: None }
    }

    /// A figure that needs a server.
    pub(super) fn not_measured(name: impl Into<String>, wanted: &'static str) -> Self {
        let measured = "not measured (no --postgres)".to_owned();
        Self { name: name.into(), measured, wanted, met: None }
    }

    const fn verdict(&self) -> &'static str {
        match self.met {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "-",
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = ["figure", "measured", "wanted", "ok?"];
        let row = |figure: &'_ Figure| {
            let Figure { name, measured, wanted, .. } = figure;
            [name.clone(), measured.clone(), (*wanted).to_owned(), figure.verdict().to_owned()]
        };
        let rows = std::iter::once(heading.map(str::to_owned)).chain(self.figures.iter().map(row));
        let rows: Vec<_> = rows.collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
        let widths = [0, 1, 2].map(|column| width(column).unwrap_or(0));
        for condition in &self.conditions {
            writeln!(f, "{condition}")?;
        }
        for [name, measured, wanted, verdict] in &rows {
            let [a, b, c] = widths;
            write!(f, "\n{name:a$} | {measured:b$} | {wanted:c$} | {verdict}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_its_columns_up() {
        let figures = vec![
            Figure::of("speed", "3 m/s", ">= 2 m/s", true),
            Figure::of("mass", "12,000 kg", "< 1 kg", false),
            Figure::not_measured("age", "> 0"),
        ];
        let report = Report { conditions: vec!["a Sunday".to_owned()], figures };
        let expected = "a Sunday\n\n\
            figure | measured                     | wanted   | ok?\n\
            speed  | 3 m/s                        | >= 2 m/s | yes\n\
            mass   | 12,000 kg                    | < 1 kg   | NO\n\
            age    | not measured (no --postgres) | > 0      | -";
        assert_eq!(report.to_string(), expected);
    }
}
