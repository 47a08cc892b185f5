//! The history of a queue or job, as charts over a span.

use maud::{Markup, html};

use super::commands;
use crate::history::{self, SPANS, Wanted};
use crate::request::{Answer, Request};
use crate::text::{brief, shell};
use crate::views::{Page, card, empty};

pub(crate) async fn page(request: Request) -> Answer {
    let wanted = Wanted::of(&request)?;
    let series = history::read(&request, &wanted).await?;
    let charts = history::draw(&series);
    let mut command = "stats".to_owned();
    for (option, value) in [("--queue", &wanted.queue), ("--name", &wanted.name)] {
        if let Some(value) = value {
            command = format!("{command} {option} {}", shell(value));
        }
    }
    let what = wanted.name.as_deref().or(wanted.queue.as_deref());
    let content = html! {
        (spans(&request, "stats", &["queue", "name"]))
        @if charts.is_empty() {
            (card("history", "History", "", empty(
                "Nothing was recorded in this time.",
                html! { "Workers write their numbers every ten seconds. Choose a longer time, or start a worker." },
            )))
        } @else {
            div.charts #charts data-live="" { @for chart in charts {
                @if let Some(chart) = chart.html() { section.card { div.body { (chart) } } }
            } }
        }
        (commands(&request, &[command]))
    };
    let title = what.map_or_else(|| "History".to_owned(), |what| brief(what, 80));
    let mut page = Page::new("stats", title, content);
    if what.is_some() {
        page.parent = Some((request.root.to("stats"), "History"));
    }
    page.answer(&request).await
}

/// Returns links to the same page with other spans. They keep the conditions that `names` lists.
pub(super) fn spans(request: &Request, page: &str, names: &[&str]) -> Markup {
    let chosen = match request.query.get("last") {
        "" => "24h",
        last => last,
    };
    let link = |last: &str| {
        let mut query = vec![("last", last)];
        for name in names.iter().copied() {
            let value = request.query.get(name);
            if !value.is_empty() {
                query.push((name, value));
            }
        }
        request.root.with(page, &query)
    };
    html! {
        nav.tabs aria-label="Time" { @for (last, label) in SPANS {
            @if last == chosen { a href=(link(last)) aria-current="true" { (label) } }
            @else { a href=(link(last)) { (label) } }
        } }
    }
}
