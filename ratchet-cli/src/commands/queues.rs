//! `ratchet queues …`

use std::fmt::Write as _;

use ratchet_core::{JobState, QueueLimits, QueueOverview, Rate};

use super::{Session, read};
use crate::args::Queues;
use crate::exit::Failure;
use crate::output::text::{count, duration, printable};
use crate::output::{Column, Output, column, number};

pub(super) async fn run(session: &Session, command: Queues) -> Result<(), Failure> {
    let queues = session.ratchet.queues();
    match command {
        Queues::List => {
            let overview = session.ratchet.overview().await?;
            session.out.list(&overview.queues, &columns(), "there is no queue")
        }
        Queues::Show { queue } => show(session, &queue).await,
        Queues::Pause { queue } => {
            if session.proceed(&format!("pause queue {queue}"), false)? {
                changed(&queue, "paused", queues.pause(&queue).await?);
            }
            Ok(())
        }
        Queues::Resume { queue } => {
            if session.proceed(&format!("resume queue {queue}"), false)? {
                changed(&queue, "resumed", queues.resume(&queue).await?);
            }
            Ok(())
        }
        Queues::Limit { queue, concurrency, rate, rate_per_key, fair, none } => {
            let mut limits = QueueLimits::default();
            limits.concurrency = concurrency;
            limits.rate = rate.as_deref().map(read::rate).transpose()?;
            limits.rate_per_key = rate_per_key.as_deref().map(read::rate).transpose()?;
            limits.fair = fair;
            if !none && limits == QueueLimits::default() {
                return Err(Failure::usage(
                    "give `--concurrency`, `--rate`, `--rate-per-key` or `--fair`, or `--none` to remove all limits",
                ));
            }
            if session
                .proceed(&format!("limit queue {queue} to {}", limits_text(&limits)), false)?
            {
                changed(&queue, "limited", queues.limit(&queue, limits).await?);
            }
            Ok(())
        }
        Queues::Reset { queue } => {
            if session.proceed(&format!("remove the operator's limits of queue {queue}"), false)? {
                changed(&queue, "reset", queues.reset(&queue).await?);
            }
            Ok(())
        }
    }
}

fn changed(queue: &str, verb: &str, changed: bool) {
    let queue = printable(queue);
    if changed {
        eprintln!("queue {queue} is {verb}");
    } else {
        eprintln!("queue {queue} was {verb} already");
    }
}

/// The columns of a list of queues.
pub(super) fn columns() -> Vec<Column<QueueOverview>> {
    vec![
        column("queue", |queue, _| queue.queue.clone()),
        number("waiting", |queue, _| count(queue.count(JobState::Pending))),
        number("running", |queue, _| count(queue.count(JobState::Running))),
        number("failed", |queue, _| count(queue.count(JobState::Failed))),
        number("workers", |queue, _| count(queue.workers)),
        column("oldest due", |queue, out| out.time_or_none(queue.oldest_due)),
        column("limits", limits),
    ]
}

fn limits(queue: &QueueOverview, out: &Output) -> String {
    let Some(record) = &queue.rules else { return out.none() };
    let mut text = limits_text(&record.rules.limits);
    if record.rules.set_by_operator.is_some() {
        text += " (operator)";
    }
    if record.rules.paused { format!("paused; {text}") } else { text }
}

fn limits_text(limits: &QueueLimits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.concurrency.map(|jobs| format!("{} at once", count(jobs.into()))));
    let rate = |rate: Rate| format!("{} per {}", count(rate.jobs.into()), duration(rate.per));
    parts.extend(limits.rate.map(rate));
    parts.extend(limits.rate_per_key.map(|each| format!("{} for each key", rate(each))));
    parts.extend(limits.fair.then(|| "tenants in turn".to_owned()));
    if parts.is_empty() { "no limits".to_owned() } else { parts.join(", ") }
}

async fn show(session: &Session, name: &str) -> Result<(), Failure> {
    let overview = session.ratchet.overview().await?;
    let Some(queue) = overview.queues.iter().find(|queue| queue.queue == name) else {
        let name = printable(name);
        return Err(Failure::not_found(format!("no job, worker or rule names a queue `{name}`")));
    };
    let out = &session.out;
    let mut text = format!("{}\n", out.bold(&printable(&queue.queue)));
    for (state, jobs) in &queue.states {
        let _ = writeln!(text, "  {:<11}{}", state.name().to_lowercase(), count(*jobs));
    }
    let _ = writeln!(text, "  {:<11}{}", "workers", count(queue.workers));
    let _ = writeln!(text, "  {:<11}{}", "oldest due", out.time_or_none(queue.oldest_due));
    if let Some(record) = &queue.rules {
        let rules = &record.rules;
        let _ = writeln!(text, "  {:<11}{}", "paused", if rules.paused { "yes" } else { "no" });
        let _ = writeln!(text, "  {:<11}{}", "limits", limits_text(&rules.limits));
        if rules.limits.rate_per_key.is_some() {
            let _ = writeln!(text, "  {:<11}{}", "full keys", count(record.full_keys));
        }
        if let Some(limits) = &rules.set_by_operator {
            let _ = writeln!(text, "  {:<11}{}", "operator", limits_text(limits));
        }
        for declared in &rules.declared {
            let program = printable(&declared.program);
            let _ = writeln!(
                text,
                "  {:<11}{} by {program}",
                "declared",
                limits_text(&declared.limits)
            );
        }
    }
    out.object(queue, &text)
}
