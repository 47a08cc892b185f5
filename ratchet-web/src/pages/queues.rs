//! The list of queues.

use maud::{Markup, html};
use ratchet_core::{JobState, Overview, QueueOverview};
use ratchet_store::model::Gate;

use super::commands;
use crate::act::limits_text;
use crate::charts::bar::bar;
use crate::request::{Answer, Request};
use crate::text::{age, count, duration, exact};
use crate::views::{Page, Table, card, chip, empty, text, time};

pub(crate) async fn page(request: Request) -> Answer {
    let overview = request.overview().await?;
    let content = html! {
        (card("queues", "Queues", "", table(&request, &overview).or(empty(
            "There is no queue yet.",
            html! { "A queue appears when a worker serves it or a job is submitted to it. "
                "Declare one with " code { "#[job(queue = \"mail\")]" } "." },
        ))))
        (commands(&request, &["queues list".to_owned()]))
    };
    Page::new("queues", "Queues", content).answer(&request).await
}

/// Returns a table of queues, the one with the oldest waiting job first.
pub(super) fn table(request: &Request, overview: &Overview) -> Table {
    let mut queues: Vec<_> = overview.queues.iter().collect();
    queues.sort_by_key(|queue| (queue.oldest_due.is_none(), queue.oldest_due, queue.queue.clone()));
    let mut table = Table::new(
        "Queues",
        &["queue", "#waiting", "#oldest", "#running", "#failed", "#workers", "limits"],
    );
    for queue in queues {
        let jobs = |state: JobState| {
            let filter = format!(
                "{} state:{}",
                ratchet_core::Filter::any().queue(&queue.queue),
                state.name().to_lowercase()
            );
            let number = queue.count(state);
            html! { @if number > 0 { a href=(request.root.with("jobs", &[("filter", &filter)])) { (count(number)) } } @else { span.faint { "0" } } }
        };
        table.row([
            html! { a href=(request.root.with("queue", &[("name", &queue.queue)])) { (text(&queue.queue, 60)) } " " (gate_chip(queue)) },
            jobs(JobState::Pending),
            oldest(queue, overview),
            html! { (jobs(JobState::Running)) (use_bar(queue)) },
            jobs(JobState::Failed),
            workers(queue, request.access.scope().is_everything()),
            limits(queue, request.now),
        ]);
    }
    table
}

fn oldest(queue: &QueueOverview, overview: &Overview) -> Markup {
    let Some(due) = queue.oldest_due else { return Table::none() };
    let age = age(due, overview.now);
    html! {
        time datetime=(due.to_string()) title=(exact(due)) {
            @if age.as_secs() >= 600 { span.chip.bad { span aria-hidden="true" { "▲" } " " (duration(age)) } } @else { (duration(age)) }
        }
    }
}

fn workers(queue: &QueueOverview, all: bool) -> Markup {
    let starving = queue.workers == 0 && queue.count(JobState::Pending) > 0;
    html! { @if starving && all { (chip("bad", "!", "none")) } @else { (queue.workers) } }
}

/// Returns how much of the concurrency limit is used.
pub(super) fn use_bar(queue: &QueueOverview) -> Markup {
    let limit = queue.rules.as_ref().and_then(|record| record.rules.limits.concurrency);
    let Some(limit) = limit.map(u64::from) else { return html! {} };
    let running = queue.count(JobState::Running);
    let class = if running >= limit { "bad" } else { "" };
    html! { span.of { " of " (count(limit)) } (bar(running, limit, class, &format!("{running} of {limit} running"))) }
}

/// Returns why no job of the queue can be started, if that is so.
pub(super) fn gate_chip(queue: &QueueOverview) -> Markup {
    let gate = queue.rules.as_ref().map(|record| record.gate);
    match gate {
        Some(Gate::Paused) => chip("held", "❚❚", "paused"),
        Some(Gate::Full { .. }) => chip("wait", "■", "full"),
        Some(Gate::RateLimited { .. }) => chip("wait", "◷", "rate limited"),
        _ => html! {},
    }
}

/// Returns the limits of a queue and their origin.
pub(super) fn limits(queue: &QueueOverview, now: jiff::Timestamp) -> Markup {
    let Some(record) = &queue.rules else { return Table::none() };
    html! {
        (limits_text(&record.rules.limits))
        @if record.rules.set_by_operator.is_some() { " " small { "by an operator" } }
        @if let Some(until) = record.gate.until() { " " small { "next start " (time(until, now)) } }
    }
}
