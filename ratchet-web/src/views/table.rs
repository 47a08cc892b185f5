//! [`Table`]: a table that becomes a list of cards on a narrow screen.

use maud::{Markup, PreEscaped, html};

/// A column: its heading, and whether it holds numbers.
type Column = (&'static str, bool);

/// A cell.
pub(crate) type Cell = Markup;

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    /// The name, for screen readers.
    caption: &'static str,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates a table. A heading that begins with `#` is that of a column of numbers.
    pub(crate) fn new(caption: &'static str, headings: &[&'static str]) -> Self {
        let column = |heading: &&'static str| match heading.strip_prefix('#') {
            Some(heading) => (heading, true),
            None => (*heading, false),
        };
        Self { caption, columns: headings.iter().map(column).collect(), rows: Vec::new() }
    }

    /// Adds a row with a cell per column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the table.
    pub(crate) fn html(self) -> Markup {
        let Self { caption, columns, rows } = self;
        html! {
            div.scroll {
                table {
                    caption.hidden { (caption) }
                    thead { tr { @for (heading, number) in &columns {
                        th scope="col" class=[number.then_some("num")] { (heading) }
                    } } }
                    tbody { @for row in rows {
                        tr { @for (cell, (heading, number)) in row.into_iter().zip(&columns) {
                            td data-label=(heading) class=[number.then_some("num")] { div { (cell) } }
                        } }
                    } }
                }
            }
        }
    }

    /// Returns the table, or what is shown if it has no rows.
    pub(crate) fn or(self, empty: Markup) -> Markup {
        if self.is_empty() { empty } else { self.html() }
    }
}

/// A cell of plain text.
impl Table {
    pub(crate) fn none() -> Cell {
        PreEscaped("<span class=\"faint\">–</span>".to_owned())
    }
}
