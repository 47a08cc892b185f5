//! Tables with aligned columns.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

/// Renders a table. A column is a title and whether it is aligned to the right. Cells must be printable.
pub(super) fn render(columns: &[(&str, bool)], rows: &[Vec<String>], bold: bool) -> String {
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
        cells.chain([columns[at].0.width()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    let titles: Vec<_> = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
    let header = line(columns, &widths, &titles);
    if bold {
        let _ = writeln!(text, "\u{1b}[1m{header}\u{1b}[0m");
    } else {
        let _ = writeln!(text, "{header}");
    }
    for row in rows {
        let _ = writeln!(text, "{}", line(columns, &widths, row));
    }
    text
}

fn line(columns: &[(&str, bool)], widths: &[usize], cells: &[String]) -> String {
    let mut line = String::new();
    for (at, ((_, right), cell)) in columns.iter().zip(cells).enumerate() {
        let fill = " ".repeat(widths[at].saturating_sub(cell.width()));
        let gap = if at == 0 { "" } else { "  " };
        let (before, after) = if *right { (fill, String::new()) } else { (String::new(), fill) };
        let _ = write!(line, "{gap}{before}{cell}{after}");
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_their_width_on_the_screen() {
        let rows = vec![
            vec!["mail".to_owned(), "12".to_owned(), "paused".to_owned()],
            vec!["写真".to_owned(), "1,400".to_owned(), String::new()],
        ];
        let table = render(&[("queue", false), ("jobs", true), ("state", false)], &rows, false);
        assert_eq!(table, "queue   jobs  state\nmail      12  paused\n写真   1,400\n");
    }
}
