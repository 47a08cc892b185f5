//! What commands print: tables, JSON and comma-separated values.

mod table;
pub(crate) mod text;

use std::io::{self, IsTerminal, Write};

use jiff::Timestamp;
use serde::Serialize;

use crate::args::Global;
use crate::exit::Failure;

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
    NdJson,
    Csv,
}

/// How commands print.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub(crate) format: Format,
    color: bool,
    /// The time that relative times refer to.
    pub(crate) now: Timestamp,
}

/// A column of a list.
pub(crate) struct Column<T> {
    title: &'static str,
    right: bool,
    text: fn(&T, &Output) -> String,
}

/// Creates a column with text.
pub(crate) fn column<T>(title: &'static str, text: fn(&T, &Output) -> String) -> Column<T> {
    Column { title, right: false, text }
}

/// Creates a column with numbers, which are aligned to the right.
pub(crate) fn number<T>(title: &'static str, text: fn(&T, &Output) -> String) -> Column<T> {
    Column { title, right: true, text }
}

impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        let format = match (global.json, global.ndjson, global.csv) {
            (true, ..) => Format::Json,
            (_, true, _) => Format::NdJson,
            (.., true) => Format::Csv,
            _ => Format::Table,
        };
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let color = wanted && format == Format::Table && io::stdout().is_terminal();
        #[allow(clippy::disallowed_methods)]
        // a command line shows times relative to the clock on the wall
        let now = Timestamp::now();
        Self { format, color, now }
    }

    /// Prints a list. `empty` says what it means that there is nothing.
    pub(crate) fn list<T: Serialize>(
        &self,
        items: &[T],
        columns: &[Column<T>],
        empty: &str,
    ) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match self.format {
            Format::Json => json(&mut out, &items)?,
            Format::NdJson => Self::lines(items)?,
            Format::Csv => {
                Self::csv_header(columns)?;
                self.csv_rows(items, columns)?;
            }
            Format::Table if items.is_empty() => eprintln!("{empty}"),
            Format::Table => {
                let titles: Vec<_> =
                    columns.iter().map(|column| (column.title, column.right)).collect();
                let rows = items.iter().map(|item| self.cells(item, columns)).collect::<Vec<_>>();
                out.write_all(table::render(&titles, &rows, self.color).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Prints one object: as JSON, or as the given lines of text.
    pub(crate) fn object<T: Serialize + ?Sized>(
        &self,
        value: &T,
        lines: &str,
    ) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        match self.format {
            Format::Json => json(&mut out, value)?,
            Format::NdJson => {
                serde_json::to_writer(&mut out, value)?;
                writeln!(out)?;
            }
            Format::Csv => {
                return Err(Failure::usage(
                    "`--csv` is for lists; use `--json` for a single object",
                ));
            }
            Format::Table => writeln!(out, "{}", lines.trim_end())?,
        }
        Ok(())
    }

    /// Prints text as it is.
    #[allow(clippy::unused_self)] // all output goes through this type
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        Ok(io::stdout().lock().write_all(text.as_bytes())?)
    }

    /// Prints one JSON document per line.
    pub(crate) fn lines<T: Serialize>(items: &[T]) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        for item in items {
            serde_json::to_writer(&mut out, item)?;
            writeln!(out)?;
        }
        Ok(())
    }

    pub(crate) fn csv_header<T>(columns: &[Column<T>]) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(io::stdout().lock());
        writer.write_record(columns.iter().map(|column| column.title))?;
        Ok(writer.flush()?)
    }

    pub(crate) fn csv_rows<T>(&self, items: &[T], columns: &[Column<T>]) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(io::stdout().lock());
        for item in items {
            let cells = columns.iter().map(|column| text::harmless_cell((column.text)(item, self)));
            writer.write_record(cells)?;
        }
        Ok(writer.flush()?)
    }

    fn cells<T>(&self, item: &T, columns: &[Column<T>]) -> Vec<String> {
        columns.iter().map(|column| text::printable(&(column.text)(item, self))).collect()
    }

    /// Returns a time as text: relative in a table, exact otherwise.
    pub(crate) fn time(&self, at: Timestamp) -> String {
        match self.format {
            Format::Table => text::relative(at, self.now),
            _ => at.to_string(),
        }
    }

    /// Returns an optional time as text.
    pub(crate) fn time_or_none(&self, at: Option<Timestamp>) -> String {
        at.map_or_else(|| self.none(), |at| self.time(at))
    }

    /// Returns what stands for a missing value.
    pub(crate) fn none(&self) -> String {
        if self.format == Format::Table { "–".to_owned() } else { String::new() }
    }

    /// Returns text that a table shortens.
    pub(crate) fn short(&self, text: &str, width: usize) -> String {
        if self.format == Format::Table { text::shortened(text, width) } else { text.to_owned() }
    }

    /// Returns bold text, if the terminal shows it.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Returns text in the color of a warning or an error, if the terminal shows it.
    pub(crate) fn warning(&self, text: &str) -> String {
        self.styled("33", text)
    }

    /// Returns text in the color of an error, if the terminal shows it.
    pub(crate) fn error(&self, text: &str) -> String {
        self.styled("31", text)
    }

    fn styled(&self, style: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn json<T: Serialize + ?Sized>(out: &mut impl Write, value: &T) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}
