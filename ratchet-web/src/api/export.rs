//! Exports of all jobs that match a filter, as CSV or NDJSON, read page by page.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use bytes::Bytes;
use futures_util::stream;
use ratchet_core::{Filter, JobRecord};

use crate::problem::Problem;
use crate::read::Cursor;
use crate::request::{Answer, Request, response};

/// The number of jobs per page that is read.
const PAGE: u32 = 500;

/// The columns of a CSV export.
const COLUMNS: [&str; 16] = [
    "id",
    "job",
    "queue",
    "state",
    "priority",
    "attempts",
    "run",
    "submitted",
    "due",
    "started",
    "finished",
    "tenant",
    "business_key",
    "correlation_id",
    "error_type",
    "error",
];

/// A format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Ndjson,
}

/// What is left to export.
struct Export {
    request: Request,
    filter: Filter,
    format: Format,
    cursor: Option<Cursor>,
    begun: bool,
}

pub(crate) async fn jobs(request: Request) -> Answer {
    let filter = request.filter()?;
    Ok(matching(request, filter))
}

pub(crate) async fn archived_jobs(request: Request) -> Answer {
    let filter = request.archived_filter()?;
    Ok(matching(request, filter))
}

/// Exports the jobs that match a filter.
pub(super) fn matching(request: Request, filter: Filter) -> Response<Body> {
    let accept = request.header("accept");
    let format = match request.query.get("format") {
        "csv" => Format::Csv,
        "ndjson" => Format::Ndjson,
        _ if accept.contains("text/csv") => Format::Csv,
        _ => Format::Ndjson,
    };
    let (content_type, name) = match format {
        Format::Csv => ("text/csv; charset=utf-8; header=present", "jobs.csv"),
        Format::Ndjson => ("application/x-ndjson", "jobs.ndjson"),
    };
    let export = Export { request, filter, format, cursor: Some(Cursor::First), begun: false };
    let pages = stream::unfold(export, |mut export| async move {
        let page = export.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(page)), export))
    });
    let mut response = response(StatusCode::OK, content_type, Body::from_stream(pages));
    let disposition = format!("attachment; filename=\"{name}\"");
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

impl Export {
    /// Returns the text of the next page; `None` after the last one.
    async fn next(&mut self) -> Option<String> {
        let cursor = self.cursor.take()?;
        let mut text = String::new();
        if !self.begun && self.format == Format::Csv {
            text.push_str(&line(COLUMNS.map(str::to_owned)));
        }
        self.begun = true;
        match self.request.job_page(&self.filter, cursor, PAGE).await {
            Ok(page) => {
                self.cursor = page.next.map(Cursor::Behind);
                page.jobs.iter().for_each(|job| text.push_str(&self.row(job)));
            }
            // The status was sent, so that the last line says that the export is not complete.
            Err(problem) => text.push_str(&self.incomplete(&problem)),
        }
        Some(text)
    }

    fn incomplete(&self, problem: &Problem) -> String {
        let words = format!("error: the export is not complete: {}", problem.detail);
        match self.format {
            Format::Csv => line([words]),
            Format::Ndjson => format!("{}\n", serde_json::json!({ "error": words })),
        }
    }

    fn row(&self, job: &JobRecord) -> String {
        match self.format {
            Format::Csv => line(cells(job)),
            Format::Ndjson => format!("{}\n", super::job::document(&self.request, job)),
        }
    }
}

fn cells(job: &JobRecord) -> [String; 16] {
    let spec = &job.spec;
    let time = |at: Option<jiff::Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let error = job.error.as_ref();
    [
        job.id.to_string(),
        spec.name.clone(),
        spec.queue.clone(),
        job.state.name().to_lowercase(),
        format!("{:?}", spec.priority).to_lowercase(),
        job.attempts.to_string(),
        job.run.to_string(),
        job.queued_at.to_string(),
        job.due.to_string(),
        time(job.started_at),
        time(job.finished_at),
        text(&spec.tenant),
        text(&spec.business_key),
        text(&spec.correlation_id),
        error.map(|error| error.error_type.clone()).unwrap_or_default(),
        error.map(|error| error.message.clone()).unwrap_or_default(),
    ]
}

/// Returns a line of CSV as RFC 4180 describes it.
fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<_> = cells.into_iter().map(|cell| quoted(harmless(&cell))).collect();
    format!("{}\r\n", cells.join(","))
}

/// Returns a cell that a spreadsheet does not take for a formula.
fn harmless(cell: &str) -> String {
    let cell = cell.replace('\0', "\u{fffd}");
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { format!("'{cell}") } else { cell }
}

fn quoted(cell: String) -> String {
    if cell.contains(['"', ',', '\r', '\n']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_13_a_cell_is_no_formula_and_keeps_its_line_breaks() {
        let cells = ["=1+1", "a,b", "say \"no\"", "one\r\ntwo", "-5", "plain"];
        assert_eq!(
            line(cells.map(str::to_owned)),
            "'=1+1,\"a,b\",\"say \"\"no\"\"\",\"one\r\ntwo\",'-5,plain\r\n"
        );
    }
}
