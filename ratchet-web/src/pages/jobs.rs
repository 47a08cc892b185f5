//! The list of jobs.

use maud::{Markup, html};
use ratchet_core::{Filter, JobRecord, JobState};
use ratchet_store::model::CONDITIONS;

use super::commands;
use crate::problem::Problem;
use crate::read::{Cursor, JobPage};
use crate::request::{Answer, Request, read_id, see_other};
use crate::text::{count, shell};
use crate::views::{Page, Table, empty, id, search, state_chip, text, time};

/// The number of jobs of a page.
const SIZE: u32 = 50;

pub(crate) async fn page(request: Request) -> Answer {
    let written = request.query.get("filter").to_owned();
    // An id in the filter box leads to the job.
    if written.parse::<ratchet_core::JobId>().is_ok() {
        return Ok(see_other(&request.root.to(&format!("jobs/{written}"))));
    }
    let filter = Filter::parse(&written, request.now);
    let error = filter.as_ref().err().map(ToString::to_string);
    let found = match &filter {
        Ok(filter) => request.job_page(filter, cursor(&request)?, SIZE).await?,
        Err(_) => JobPage::default(),
    };
    let states = request.counts().await?;
    let content = html! {
        (search(&request.root.to("jobs"), "Filter jobs", &written, error.as_deref()))
        nav.tabs aria-label="States" {
            a href=(request.root.to("jobs")) aria-current=[written.is_empty().then_some("page")] { "all" }
            @for state in JobState::ALL {
                @let name = state.name().to_lowercase();
                @let condition = format!("state:{name}");
                a href=(request.root.with("jobs", &[("filter", &condition)])) aria-current=[(written == condition).then_some("page")] {
                    (name)
                    @if let Some(states) = &states { " " span.n #(format!("count-{name}")) data-live="" { (count(states.get(&state).copied().unwrap_or(0))) } }
                }
            }
        }
        section.card #jobs data-live="" aria-label="Jobs" {
            div.body.flush {
                @if error.is_some() { (conditions()) } @else {
                    (table(&request, &found.jobs).or(empty(
                        "No job matches.",
                        html! { "Remove a condition, or " a href=(request.root.to("jobs")) { "see all jobs" } "." },
                    )))
                }
            }
        }
        @if let Some(examined) = found.examined.filter(|_| found.limited) {
            p.meta { "These are the matches among " (count(examined)) " jobs. Continue with " @if found.next.is_some() { "“Next”" } @else { "“Previous”" } " to search further." }
        }
        (pager(&request, &written, &found))
        (commands(&request, &[format!("jobs list {}", shell(&written)).trim_end_matches(" ''").to_owned()]))
        p.meta {
            "Export: "
            a href=(request.root.with("jobs/export", &[("filter", &written), ("format", "csv")])) { "CSV" } " · "
            a href=(request.root.with("jobs/export", &[("filter", &written), ("format", "ndjson")])) { "NDJSON" }
        }
    };
    Page::new("jobs", "Jobs", content).answer(&request).await
}

/// Reads the place in the list from the query.
pub(crate) fn cursor(request: &Request) -> Result<Cursor, Problem> {
    match (request.query.get("after"), request.query.get("before")) {
        ("", "") => Ok(Cursor::First),
        ("", id) => Ok(Cursor::InFrontOf(read_id(id, "job")?)),
        (id, _) => Ok(Cursor::Behind(read_id(id, "job")?)),
    }
}

/// Returns a table of jobs.
pub(crate) fn table(request: &Request, jobs: &[JobRecord]) -> Table {
    let headings = ["job", "state", "queue", "#attempts", "due", "submitted", "error", "id"];
    let mut table = Table::new("Jobs", &headings);
    for job in jobs {
        let [name, state, attempts, submitted, error] = cells(request, job);
        let queue = request.root.with("queue", &[("name", &job.spec.queue)]);
        table.row([
            name,
            state,
            html! { a href=(queue) { (text(&job.spec.queue, 40)) } },
            attempts,
            time(job.due, request.now),
            submitted,
            error,
            id(&job.id.to_string()),
        ]);
    }
    table
}

/// Returns a narrow table of jobs, for the pages of queues, failures and flows.
pub(crate) fn short_table(request: &Request, jobs: &[JobRecord]) -> Table {
    let mut table = Table::new("Jobs", &["job", "state", "#attempts", "submitted", "error"]);
    jobs.iter().for_each(|job| table.row(cells(request, job)));
    table
}

fn cells(request: &Request, job: &JobRecord) -> [Markup; 5] {
    let link = request.root.to(&format!("jobs/{}", job.id));
    let error = job.error.as_ref().map(|error| format!("{}: {}", error.error_type, error.message));
    [
        html! { a href=(link) { (text(&job.spec.name, 60)) }
        @if let Some(key) = &job.spec.business_key { " " small { (text(key, 40)) } } },
        state_chip(job, request.now),
        html! { (job.attempts) },
        time(job.queued_at, request.now),
        error.map_or_else(Table::none, |error| html! { span.err { (text(&error, 60)) } }),
    ]
}

fn pager(request: &Request, filter: &str, page: &JobPage) -> Markup {
    let link = |field: &'static str, id: Option<ratchet_core::JobId>| {
        let id = id?.to_string();
        Some(request.root.with("jobs", &[("filter", filter), (field, id.as_str())]))
    };
    html! {
        nav.pager aria-label="Pages" {
            @if let Some(link) = link("before", page.previous) { a.btn rel="prev" href=(link) { "← Previous" } }
            @if let Some(link) = link("after", page.next) { a.btn rel="next" href=(link) { "Next →" } }
        }
    }
}

/// Returns the conditions that a filter may have.
pub(crate) fn conditions() -> Markup {
    html! {
        div.empty {
            p.lead { "A filter consists of conditions, and a job must match all of them." }
            ul.examples { @for (_, example) in CONDITIONS { li { code { (example) } } } }
        }
    }
}
