//! The page of a queue: its numbers, its limits and what its jobs wait for.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ratchet_core::{Explanation, Filter, JobState, QueueOverview, Waiting};

use super::{action_buttons, commands, jobs, queues};
use crate::act::{self, Target, limits_text, written_rate};
use crate::history;
use crate::problem::Problem;
use crate::read::Cursor;
use crate::request::{Answer, Request};
use crate::text::{brief, count, shell};
use crate::views::{Page, card, chip, definition, empty, hint, time_or};

/// How many waiting jobs are explained.
const EXPLAINED: u32 = 50;

pub(crate) async fn page(request: Request) -> Answer {
    let name = request.scoped_queue(request.wanted("name")?)?.to_owned();
    let overview = request.overview().await?;
    let Some(queue) = overview.queues.iter().find(|queue| queue.queue == name) else {
        let name = brief(&name, 80);
        return Err(Problem::not_found(format!("no job, worker or rule names a queue `{name}`")));
    };
    let waiting = Filter::any().queue(&name).state(JobState::Pending).oldest_first();
    let first = request.job_page(&waiting, Cursor::First, EXPLAINED).await?;
    let causes = causes(&request, &first.jobs).await?;
    let recent = request.job_page(&Filter::any().queue(&name), Cursor::First, 10).await?;
    let all = request.root.with("jobs", &[("filter", &Filter::any().queue(&name).to_string())]);
    let nodes = overview.nodes.iter().filter(|node| node.alive && node.info.queues.contains(&name));
    let charts = history::queue_charts(&request, &name).await?;
    let content = html! {
        @if !charts.is_empty() {
            div.charts #charts data-live="" { @for chart in charts {
                @if let Some(chart) = chart.linked(&request.root.with("stats", &[("queue", &name)])) { section.card { div.body { (chart) } } }
            } }
        }
        div.two {
            div {
                (card("causes", "What its jobs wait for", format!("the first {} waiting jobs", first.jobs.len()), causes))
                (card("recent", "Newest jobs", html! { a href=(all) { "all" } }, jobs::short_table(&request, &recent.jobs).or(empty(
                    "The queue has no jobs.", "Jobs appear here as soon as they are submitted.",
                ))))
            }
            div {
                (numbers(&request, queue))
                (rules(&request, queue))
                @if request.access.scope().is_everything() {
                    (card("served", "Served by", "", html! { ul { @for node in nodes {
                        li { (brief(&node.info.host, 60)) " " small { (brief(&node.info.binary_version, 40)) } }
                    } } @if queue.workers == 0 { (hint("No live worker serves this queue.")) } }))
                }
                (commands(&request, &[format!("queues show {}", shell(&name))]))
            }
        }
    };
    let paused = queue.rules.as_ref().is_some_and(|record| record.rules.paused);
    let limited = queue.rules.as_ref().is_some_and(|record| record.rules.set_by_operator.is_some());
    let possible = act::of_target(Target::Queue).filter(|action| match action.verb {
        "queues.pause" => !paused,
        "queues.resume" => paused,
        "queues.reset" => limited,
        _ => true,
    });
    // The form begins with the limits that apply.
    let limits = queue.rules.as_ref().map(|record| record.rules.limits).unwrap_or_default();
    let concurrency = limits.concurrency.map(|most| most.to_string()).unwrap_or_default();
    let rate = limits.rate.map(written_rate).unwrap_or_default();
    let rate_per_key = limits.rate_per_key.map(written_rate).unwrap_or_default();
    let fair = if limits.fair { "yes" } else { "" };
    let target = [
        ("queue", name.as_str()),
        ("concurrency", &concurrency),
        ("rate", &rate),
        ("rate_per_key", &rate_per_key),
        ("fair", fair),
    ];
    let mut page = Page::new("queues", brief(&name, 120), content);
    page.parent = Some((request.root.to("queues"), "Queues"));
    page.beside = html! { span #gate data-live="" { (queues::gate_chip(queue)) } };
    page.actions =
        html! { div #actions data-live="" { (action_buttons(&request, possible, &target)) } };
    page.answer(&request).await
}

fn numbers(request: &Request, queue: &QueueOverview) -> Markup {
    let states = queue.states.iter().map(|(state, jobs)| {
        let filter =
            format!("{} state:{}", Filter::any().queue(&queue.queue), state.name().to_lowercase());
        let link = request.root.with("jobs", &[("filter", &filter)]);
        (state_word(*state), Some(html! { a href=(link) { (count(*jobs)) } }))
    });
    let rest = [
        ("oldest due", Some(time_or(queue.oldest_due, request.now))),
        ("workers", Some(html! { (queue.workers) })),
    ];
    card("numbers", "Jobs", "", definition(states.chain(rest)))
}

fn state_word(state: JobState) -> &'static str {
    match state {
        JobState::Pending => "pending",
        JobState::Running => "running",
        JobState::Succeeded => "succeeded",
        JobState::Failed => "failed",
        JobState::Paused => "paused",
        JobState::Canceled => "canceled",
    }
}

fn rules(request: &Request, queue: &QueueOverview) -> Markup {
    let body = match &queue.rules {
        None => {
            html! { p { "The queue has no limits. Its jobs start as soon as a worker has room." } }
        }
        Some(record) => html! {
            p { "In effect: " strong { (queues::limits(queue, request.now)) } }
            p { (count(queue.count(JobState::Running))) " running" (queues::use_bar(queue)) }
            @if record.full_keys > 0 {
                p {
                    @if record.full_keys == 1 { "1 concurrency key has" } @else { (count(record.full_keys)) " concurrency keys have" }
                    " used up the rate. Other jobs of the queue start."
                }
            }
            @if let Some(set) = &record.rules.set_by_operator { p { "Set by an operator: " (limits_text(set)) } }
            @for declared in &record.rules.declared {
                p { "Declared by " code { (brief(&declared.program, 60)) } ": " (limits_text(&declared.limits)) }
            }
        },
    };
    card("limits", "Limits", "", body)
}

/// Counts what waiting jobs wait for.
async fn causes(request: &Request, waiting: &[ratchet_core::JobRecord]) -> Result<Markup, Problem> {
    let mut causes: BTreeMap<&'static str, (u64, ratchet_core::JobId)> = BTreeMap::new();
    for job in waiting {
        let explanation = request.ratchet().jobs().explain(job.id).await?;
        let reasons = match explanation {
            Some(Explanation::Waits(reasons)) => reasons.iter().map(cause).collect(),
            Some(Explanation::AllClear) => vec!["nothing: it is next in line"],
            _ => continue,
        };
        for cause in reasons {
            causes.entry(cause).or_insert((0, job.id)).0 += 1;
        }
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, (jobs, _))| std::cmp::Reverse(*jobs));
    Ok(html! {
        @if causes.is_empty() { (empty("No job waits.", "Every job of the queue has started.")) }
        ul.causes { @for (cause, (jobs, example)) in causes {
            li { (chip("wait", "○", &count(jobs))) " " (cause) " · " a href=(request.root.to(&format!("jobs/{example}"))) { "an example" } }
        } }
    })
}

fn cause(reason: &Waiting) -> &'static str {
    match reason {
        Waiting::NotDue { .. } => "their due time",
        Waiting::Expired { .. } => "a sweep that cancels them, because they have expired",
        Waiting::ParentNotDone { .. } => "other steps of their flow",
        Waiting::NotItsTurn { .. } => "an earlier job, because they run in order",
        Waiting::QueuePaused { .. } => "the queue, which is paused",
        Waiting::QueueFull { .. } => "the concurrency limit of the queue",
        Waiting::RateLimited { .. } => "the rate limit of the queue",
        Waiting::KeyRateLimited { .. } => "the rate of their concurrency key",
        Waiting::KeyHeld { .. } => "other jobs with their concurrency key",
        Waiting::BreakerOpen { .. } => "a breaker that is open",
        Waiting::BreakerProbing { .. } => "the trial runs of a breaker",
        Waiting::NoWorkerKnowsIt { .. } => "a worker that knows them",
        Waiting::NoWorkerServesIt { .. } => "a worker that serves the queue",
        Waiting::MustRunAlone { .. } => "a worker that runs nothing else",
        _ => "another condition",
    }
}
