//! The overview: problems first, then numbers, then queues.

use maud::{Markup, html};
use ratchet_core::{JobState, Overview};

use super::{commands, problems, queues};
use crate::history;
use crate::problem::Problem;
use crate::request::{Answer, Request, see_other};
use crate::text::{age, brief, count, counted, duration};
use crate::views::{Page, card, empty};

/// Leads to the overview, which has an address below the mount, so that links are relative to it.
pub(crate) async fn root(request: Request) -> Answer {
    Ok(see_other(&request.root.to("overview")))
}

pub(crate) async fn page(request: Request) -> Answer {
    let overview = request.overview().await?;
    let charts = history::charts(&request).await?;
    let content = html! {
        (trouble(&request).await?)
        (tiles(&request, &overview))
        @if !charts.is_empty() {
            div.charts #charts data-live="" { @for chart in charts {
                @if let Some(chart) = chart.linked(&request.root.to("stats")) { section.card { div.body { (chart) } } }
            } }
        }
        (card("queues", "Queues", "oldest is the age of the job that is overdue longest", queues::table(&request, &overview).or(empty(
            "There is no queue yet.",
            html! { "A queue appears when a worker serves it or a job is submitted to it." },
        ))))
        (commands(&request, &["status".to_owned(), "top".to_owned(), "doctor".to_owned()]))
    };
    Page::new("overview", "Overview", content).answer(&request).await
}

/// Returns what is wrong now.
async fn trouble(request: &Request) -> Result<Markup, Problem> {
    if !request.access.scope().is_everything() {
        return Ok(html! {});
    }
    let findings = request.ratchet().diagnose().await?;
    Ok(if findings.is_empty() {
        html! { section.card.calm #problems data-live="" { div.body { p {
            span.chip.ok { span aria-hidden="true" { "✓" } " no problems" } " Every check of "
            a href=(request.root.to("doctor")) { "the doctor" } " passes."
        } } } }
    } else {
        let title = counted(findings.len() as u64, "problem");
        card(
            "problems",
            &title,
            "from the checks of the doctor",
            problems::list(request, &findings),
        )
    })
}

fn tiles(request: &Request, overview: &Overview) -> Markup {
    let now = overview.now;
    let oldest = overview.queues.iter().filter_map(|queue| Some((queue.oldest_due?, &queue.queue)));
    let oldest = oldest.min();
    let late = oldest.is_some_and(|(due, _)| age(due, now).as_secs() >= 600);
    let failed = overview.count(JobState::Failed);
    let nodes = overview.live_nodes().count() as u64;
    let root = &request.root;
    let state = |state: &str| root.with("jobs", &[("filter", &format!("state:{state}"))]);
    html! {
        dl.tiles #tiles data-live="" {
            div.tile {
                dt { a href=(state("pending")) { "Waiting" } }
                dd { (count(overview.count(JobState::Pending))) }
                dd.more { (counted(overview.count(JobState::Paused), "job")) " paused" }
            }
            div.tile {
                dt { a href=(state("running")) { "Running" } }
                dd { (count(overview.count(JobState::Running))) }
                dd.more { @if request.access.scope().is_everything() { "on " (counted(nodes, "node")) } }
            }
            div class=(if late { "tile bad" } else { "tile" }) {
                dt { "Oldest waiting" }
                dd { @if let Some((due, _)) = oldest { (duration(age(due, now))) } @else { "–" } }
                dd.more { @if let Some((_, queue)) = oldest {
                    a href=(root.with("queue", &[("name", queue)])) { (brief(queue, 30)) }
                } @else { "no job is overdue" } }
            }
            div.tile {
                dt { a href=(state("succeeded")) { "Succeeded" } }
                dd { (count(overview.count(JobState::Succeeded))) }
                dd.more { "still in the store" }
            }
            div class=(if failed > 0 { "tile bad" } else { "tile" }) {
                dt { a href=(root.to("failures")) { "Failed" } }
                dd { (count(failed)) }
                dd.more { @if failed > 0 { "dead letters" } @else { "no dead letters" } }
            }
        }
    }
}
