//! The list of jobs.

use maud::{Markup, html};
use ratchet_core::{Filter, JobRecord, JobState};
use ratchet_store::model::CONDITIONS;

use super::{commands, may};
use crate::act;
use crate::problem::Problem;
use crate::read::{Cursor, JobPage};
use crate::request::{Answer, Request, read_id, see_other};
use crate::text::{brief, count, shell};
use crate::views::{Page, Table, button, empty, id, search, state_chip, text, time};

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
    let selects = request.access.scope().is_everything()
        && act::action("operations.start").is_some_and(|action| may(&request, action));
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
        @if selects && !found.jobs.is_empty() { (selection(&request)) }
        section.card #jobs data-live="" aria-label="Jobs" {
            div.body.flush {
                @if error.is_some() { (conditions()) } @else {
                    (table(&request, &found.jobs, selects).or(no_match(&request, &found)))
                }
            }
        }
        @if let Some(examined) = found.examined.filter(|_| found.limited && !found.jobs.is_empty()) {
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
    let mut page = Page::new("jobs", "Jobs", content);
    let may_match = found.limited || !found.jobs.is_empty();
    if selects && may_match && !written.is_empty() {
        let start = request.root.with("act/operations.start", &[("filter", &written)]);
        page.actions = html! { div #actions { (button(&start, "Change all that match", "")) } };
    }
    page.answer(&request).await
}

/// Returns the form for the jobs that are selected in the table.
fn selection(request: &Request) -> Markup {
    let verbs =
        [("retry", "Retry"), ("cancel", "Cancel"), ("pause", "Pause"), ("resume", "Resume")];
    html! {
        form.selection #selection method="get" action=(request.root.to("act/operations.start")) {
            input type="hidden" name="selected" value="yes";
            span { "Selected jobs:" }
            @for (verb, label) in verbs { button.btn type="submit" name="action" value=(verb) { (label) } }
        }
    }
}

/// Reads the place in the list from the query.
pub(crate) fn cursor(request: &Request) -> Result<Cursor, Problem> {
    match (request.query.get("after"), request.query.get("before")) {
        ("", "") => Ok(Cursor::First),
        ("", id) => Ok(Cursor::InFrontOf(read_id(id, "job")?)),
        (id, _) => Ok(Cursor::Behind(read_id(id, "job")?)),
    }
}

/// Returns a table of jobs. If jobs can be selected, each has a checkbox of the form above the table.
fn table(request: &Request, jobs: &[JobRecord], selects: bool) -> Table {
    let headings = ["job", "state", "queue", "#attempts", "due", "submitted", "error", "id"];
    let mut table = Table::new("Jobs", &headings);
    for job in jobs {
        let [name, state, attempts, submitted, error] = cells(request, job);
        let queue = request.root.with("queue", &[("name", &job.spec.queue)]);
        table.row([
            if selects {
                html! { span.picked { (checkbox(job)) span { (name) } } }
            } else {
                name
            },
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

/// Returns the checkbox that selects a job.
fn checkbox(job: &JobRecord) -> Markup {
    let field = format!("select-{}", job.id);
    html! {
        input.pick id=(field) type="checkbox" form="selection" name="job" value=(job.id);
        label.hidden for=(field) { "Select " (brief(&job.spec.name, 60)) " " (job.id) }
    }
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

/// Returns what is shown instead of an empty table.
fn no_match(request: &Request, found: &JobPage) -> Markup {
    if let Some(examined) = found.examined.filter(|_| found.limited) {
        let next = if found.next.is_some() { "“Next”" } else { "“Previous”" };
        return empty(
            &format!("None of these {} jobs matches, and there are more.", count(examined)),
            html! { (next) " searches further. With " code { "state:failed" } " or another rare state, only the jobs in that state are searched." },
        );
    }
    let all =
        html! { "Remove a condition, or " a href=(request.root.to("jobs")) { "see all jobs" } "." };
    empty("No job matches.", all)
}

fn pager(request: &Request, filter: &str, page: &JobPage) -> Markup {
    let link = |field: &'static str, id: Option<ratchet_core::JobId>| {
        let id = id?.to_string();
        Some(request.root.with("jobs", &[("filter", filter), (field, id.as_str())]))
    };
    let (previous, next) = (link("before", page.previous), link("after", page.next));
    html! {
        @if previous.is_some() || next.is_some() {
            nav.pager aria-label="Pages" {
                @if let Some(link) = previous { a.btn rel="prev" href=(link) { "← Previous" } }
                @if let Some(link) = next { a.btn rel="next" href=(link) { "Next →" } }
            }
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
