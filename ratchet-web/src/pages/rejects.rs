//! Items that jobs have rejected: groups, how their number grows, and the items of a job.

use maud::{Markup, html};
use ratchet_core::{RejectTrend, RejectTrends};
use ratchet_store::model::RejectFilter;

use super::stats::spans;
use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::charts::lines::{Chart, Line, Point};
use crate::history::{DEFAULT_SPAN, short, span};
use crate::problem::Problem;
use crate::request::{Answer, Request};
use crate::text::{count, shell};
use crate::views::{Page, Table, card, empty, job_link, text, time};

/// The number of items of a page.
const SIZE: u32 = 100;

/// Returns the conditions of the address of a page or query.
pub(crate) fn filter(request: &Request) -> RejectFilter {
    let field = |name| Some(request.query.get(name)).filter(|text| !text.is_empty());
    let mut filter = RejectFilter::any();
    filter.job_name = field("name").map(str::to_owned);
    filter.fingerprint = field("fingerprint").map(str::to_owned);
    filter
}

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("rejected items")?;
    let filter = filter(&request);
    let last = span(&request)?.unwrap_or(DEFAULT_SPAN);
    let rejects = request.ratchet().rejects();
    let trends = rejects.trends(&filter, last).await?;
    let content = html! {
        (spans(&request, "rejects", &["name", "fingerprint"]))
        @if trends.groups.is_empty() {
            (card("rejects", "Grouped by job and error", "", empty(
                "No job has rejected an item.",
                html! { "A job that processes many items rejects one with " code { "ctx.reject_item(…)" } " and continues." },
            )))
        } @else {
            div.charts #charts data-live="" { @for chart in charts(&trends) {
                @if let Some(chart) = chart.html() { section.card { div.body { (chart) } } }
            } }
            (groups(&request, &filter, &trends).await?)
        }
        @if filter.job_name.is_some() { (items(&request, &filter).await?) }
        (commands(&request, &written(&filter)))
    };
    let mut page = Page::new("rejects", "Rejected items", content);
    if filter != RejectFilter::any() {
        page.parent = Some((request.root.to("rejects"), "Rejected items"));
    }
    page.answer(&request).await
}

/// Returns the groups that a filter selects, with those of earlier times.
async fn groups(
    request: &Request,
    filter: &RejectFilter,
    trends: &RejectTrends,
) -> Result<Markup, Problem> {
    let headings = ["job", "error", "#items", "#in this time", "oldest", "latest", "fingerprint"];
    let mut table = Table::new("Rejected items", &headings);
    for group in request.ratchet().rejects().groups(filter).await? {
        let is_same = |trend: &&RejectTrend| {
            (&trend.job_name, &trend.error_type, &trend.fingerprint)
                == (&group.job_name, &group.error_type, &group.fingerprint)
        };
        let recent = trends.groups.iter().find(is_same);
        let recent = recent.map_or(0, |trend| trend.rejected.iter().sum());
        let one = [("name", group.job_name.as_str()), ("fingerprint", group.fingerprint.as_str())];
        table.row([
            html! { a href=(request.root.with("rejects", &one[..1])) { (text(&group.job_name, 60)) } },
            html! { a href=(request.root.with("rejects", &one)) { (text(&group.error_type, 60)) } },
            html! { (count(group.count)) },
            html! { (count(recent)) },
            time(group.oldest, request.now),
            time(group.latest, request.now),
            html! { code { (text(&group.fingerprint, 12)) } },
        ]);
    }
    Ok(card("rejects", "Grouped by job and error", "", table.html()))
}

/// Returns the first items that a filter selects.
async fn items(request: &Request, filter: &RejectFilter) -> Result<Markup, Problem> {
    let items = request.ratchet().rejects().list(filter, None, SIZE).await?;
    let mut rows = Table::new("Items", &["#index", "error", "rejected", "job", "item"]);
    for reject in &items {
        let payload = reject.item.payload.as_deref().filter(|_| request.access.sees_arguments());
        rows.row([
            html! { (reject.item.index) },
            html! { span.err { (text(&reject.item.error_type, 40)) ": " (text(&reject.item.message, 120)) } },
            time(reject.at, request.now),
            html! { (job_link(&request.root, reject.job)) " " (action_buttons(request, act::of_target(Target::Rejects), &[("job", &reject.job.to_string())])) },
            payload.map_or_else(Table::none, |payload| html! { code { (text(payload, 120)) } }),
        ]);
    }
    Ok(html! {
        @if !rows.is_empty() { (card("items", "Items", format!("the first {SIZE}"), rows.html())) }
    })
}

/// Returns the sums of all groups as charts.
fn charts(trends: &RejectTrends) -> [Chart; 2] {
    let length = trends.groups.first().map_or(0, |trend| trend.rejected.len());
    let minutes = trends.interval.as_secs_f64() / 60.0;
    let chart = |title, name, value: &dyn Fn(usize) -> f64| {
        let start = |index: usize| {
            let after = trends.interval.saturating_mul(u32::try_from(index).unwrap_or(u32::MAX));
            trends.from.saturating_add(after).unwrap_or(trends.from)
        };
        let point = |index| Point { at: start(index), value: Some(value(index)) };
        let line = Line { name, class: "c3", points: (0..length).map(point).collect() };
        Chart { title, lines: vec![line], marks: Vec::new(), unit: short }
    };
    #[allow(clippy::cast_precision_loss, reason = "a chart needs three digits")]
    let sum = |of: &dyn Fn(&RejectTrend) -> u64| trends.groups.iter().map(of).sum::<u64>() as f64;
    [
        chart("Rejected per minute", "rejected", &|index| {
            sum(&|trend| trend.rejected[index]) / minutes
        }),
        chart("Stored items", "stored", &|index| sum(&|trend| trend.backlog[index])),
    ]
}

/// Returns the commands that show the same.
fn written(filter: &RejectFilter) -> [String; 3] {
    let mut conditions = String::new();
    for (option, value) in [("--name", &filter.job_name), ("--fingerprint", &filter.fingerprint)] {
        if let Some(value) = value {
            conditions = format!("{conditions} {option} {}", shell(value));
        }
    }
    ["list", "trends", "sample"].map(|verb| format!("rejects {verb}{conditions}"))
}
