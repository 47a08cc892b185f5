//! [`preview`]: says in words what an order would do.

use std::fmt::Write as _;

use ratchet_core::{BreakerState, Filter, JobState, NodeId, QueueLimits, Rate};
use ratchet_store::model::{NodeAction, TransitionKind};

use super::perform::{breaker_settings, due, limit, limits, target_group, target_job};
use super::{Order, Target, archive, bulk, edit, erasure, reveal};
use crate::problem::Problem;
use crate::read::Cursor;
use crate::request::{Request, read_id};
use crate::text::{brief, count, counted, duration, shell};

/// What an order would do.
#[derive(Debug, Default)]
pub(crate) struct Preview {
    /// What would happen, one sentence each.
    pub(crate) sentences: Vec<String>,
    /// Why it would be refused, if it would be.
    pub(crate) refused: Option<String>,
    /// The same on the command line.
    pub(crate) command: String,
    /// The version of the job that the operator sees.
    pub(crate) version: Option<u64>,
    /// Fields of the form that the operator does not change.
    pub(crate) hidden: Vec<(&'static str, String)>,
    /// The page to go back to: a path and a query.
    pub(crate) back: (String, Vec<(&'static str, String)>),
}

/// Says what an order would do, without doing it.
pub(crate) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let mut preview = match order.action.target {
        Target::Job if order.action.verb == "jobs.edit" => edit::preview(request, order).await,
        Target::Job if order.action.verb == "jobs.reveal" => reveal::preview(request, order).await,
        Target::Job => job(request, order).await,
        Target::Queue => queue(request, order).await,
        Target::Breaker => breaker(request, order).await,
        Target::Schedule => schedule(request, order).await,
        Target::Flow => flow(request, order).await,
        Target::Failures => failures(request, order).await,
        Target::Row => Ok(row(order)),
        Target::Rejects => Ok(rejects(order)),
        Target::New => Ok(enqueue(order)),
        Target::Group => group(request, order).await,
        Target::Node => node(request, order).await,
        Target::Operation => bulk::preview_control(request, order).await,
        Target::Bulk => bulk::preview(request, order).await,
        Target::Archive => archive::preview(request, order).await,
        Target::Erasure => erasure::preview(request, order).await,
        Target::Ledger => erasure::preview_keys(request, order),
    }?;
    let verb = order.action.verb.replace('.', " ");
    let rest = preview.command;
    preview.command = format!("{} {verb} {rest}", request.app.program).trim_end().to_owned();
    Ok(preview)
}

async fn job(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let job = target_job(request, order).await?;
    let (kind, words) = match order.action.verb {
        "jobs.retry" => (
            TransitionKind::RetryManually,
            "The job runs again from the start. Its attempts are reset, and it is due at once.",
        ),
        "jobs.pause" => {
            (TransitionKind::Pause, "The job is set aside and does not run until it is resumed.")
        }
        "jobs.resume" => {
            (TransitionKind::Resume, "The job returns to the state in which it was paused.")
        }
        "jobs.move" => (
            TransitionKind::Move,
            "The job waits in another queue or with another priority. It keeps its due time.",
        ),
        "jobs.reschedule" => (TransitionKind::Reschedule, "The job gets a new due time."),
        _ => (
            TransitionKind::Cancel,
            "The job ends as canceled. If it is running, its handler is notified, and it is dropped after a grace period.",
        ),
    };
    let state = job.state.name().to_lowercase();
    let name = brief(&job.spec.name, 80);
    let mut sentences = vec![
        format!(
            "Job {} is `{name}` in queue `{}`, and it is {state}.",
            job.id,
            brief(&job.spec.queue, 80)
        ),
        words.to_owned(),
    ];
    if job.spec.step.as_ref().is_some_and(|step| step.group.is_some()) {
        sentences.push(
            "The job is part of a flow, so steps that depend on it may change too.".to_owned(),
        );
    }
    let mut command = job.id.to_string();
    let when = order.fields.get("due");
    if order.action.verb == "jobs.move" {
        for (field, option) in [("to_queue", "--queue"), ("priority", "--priority")] {
            let value = order.fields.get(field);
            if !value.is_empty() {
                command = format!("{command} {option} {}", shell(value));
            }
        }
    }
    if order.action.verb == "jobs.reschedule" && !when.is_empty() {
        due(when)?;
        command = format!("{command} {}", shell(when));
    }
    let refused =
        (!job.state.allows(kind)).then(|| format!("This is not possible now: the job is {state}."));
    let back = (format!("jobs/{}", job.id), Vec::new());
    let version = Some(job.version);
    Ok(Preview { sentences, refused, command, version, back, ..Preview::default() })
}

async fn queue(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let queue = request.scoped_queue(order.fields.get("queue"))?;
    let overview = request.overview().await?;
    let state = overview.queues.iter().find(|known| known.queue == queue);
    let waiting = state.map_or(0, |queue| queue.count(JobState::Pending));
    let running = state.map_or(0, |queue| queue.count(JobState::Running));
    let shown = brief(queue, 80);
    let mut command = shell(queue);
    let sentence = match order.action.verb {
        "queues.pause" => format!(
            "No worker of the cluster starts a job of queue `{shown}` until it is resumed. Jobs that are running continue."
        ),
        "queues.resume" => format!("Workers start jobs of queue `{shown}` again."),
        "queues.reset" => format!(
            "The limits that an operator has set for queue `{shown}` are removed. Those apply that programs declare."
        ),
        _ => {
            let wanted = limits(order)?;
            command = format!("{command} {}", limit_options(&wanted));
            let text = limits_text(&wanted);
            let mut sentence = format!(
                "Queue `{shown}` gets these limits in the whole cluster: {text}. They take precedence over those that programs declare."
            );
            if let Some(most) = wanted.concurrency.filter(|most| u64::from(*most) < running) {
                let _ = write!(
                    sentence,
                    " {} are running now, so none starts before {} have ended.",
                    counted(running, "job"),
                    count(running - u64::from(most) + 1)
                );
            }
            sentence
        }
    };
    let numbers = format!(
        "At this moment {} and {}.",
        if waiting == 1 {
            "1 job waits".to_owned()
        } else {
            format!("{} jobs wait", count(waiting))
        },
        if running == 1 { "1 runs".to_owned() } else { format!("{} run", count(running)) }
    );
    let back = ("queue".to_owned(), vec![("name", queue.to_owned())]);
    Ok(Preview { sentences: vec![sentence, numbers], command, back, ..Preview::default() })
}

/// Returns limits in words.
pub(crate) fn limits_text(limits: &QueueLimits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.concurrency.map(|jobs| format!("{} at once", count(jobs.into()))));
    let rate = |rate: Rate| format!("{} per {}", count(rate.jobs.into()), duration(rate.per));
    parts.extend(limits.rate.map(rate));
    parts.extend(limits.rate_per_key.map(|each| format!("{} for each key", rate(each))));
    parts.extend(limits.fair.then(|| "tenants in turn".to_owned()));
    if parts.is_empty() { "no limits".to_owned() } else { parts.join(", ") }
}

fn limit_options(limits: &QueueLimits) -> String {
    let mut parts = Vec::new();
    parts.extend(limits.concurrency.map(|jobs| format!("--concurrency {jobs}")));
    parts.extend(limits.rate.map(|rate| format!("--rate {}", written_rate(rate))));
    parts.extend(limits.rate_per_key.map(|rate| format!("--rate-per-key {}", written_rate(rate))));
    parts.extend(limits.fair.then(|| "--fair".to_owned()));
    if parts.is_empty() { "--none".to_owned() } else { parts.join(" ") }
}

/// Returns a rate as it is written in a form or on the command line.
pub(crate) fn written_rate(rate: Rate) -> String {
    format!("{}/{}", rate.jobs, crate::text::written_duration(rate.per))
}

async fn breaker(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("breakers")?;
    let service = order.fields.get("service");
    let shown = brief(service, 80);
    let record = request.ratchet().breakers().get(service).await?;
    let settings = record.as_ref().map(|record| record.breaker.settings).unwrap_or_default();
    let state = match record.map(|record| record.state) {
        Some(BreakerState::Open { .. }) => "open",
        Some(BreakerState::HalfOpen { .. }) => "half open",
        Some(BreakerState::Closed) => "closed",
        None => "not known yet",
    };
    let mut command = shell(service);
    let words = match order.action.verb {
        "breakers.open" => {
            let length = order.fields.get("for");
            if length.is_empty() {
                "Jobs of the service wait until the breaker is closed. Runs that have started continue.".to_owned()
            } else {
                command = format!("{command} --for {}", shell(length));
                format!(
                    "Jobs of the service wait for {}. Then a few trial runs decide.",
                    brief(length, 40)
                )
            }
        }
        "breakers.set" => {
            let settings = breaker_settings(order, settings)?;
            for (option, field) in [
                ("--failure-rate", "failure_rate"),
                ("--window", "window"),
                ("--min-calls", "min_calls"),
                ("--open-for", "open_for"),
                ("--probes", "probes"),
            ] {
                let value = order.fields.get(field);
                if !value.is_empty() {
                    command = format!("{command} {option} {}", shell(value));
                }
            }
            format!(
                "It opens when {} % of the last {} calls fail, after at least {} calls. It stays open for {}, and then {} trial runs must succeed.",
                settings.failure_rate,
                settings.window,
                settings.min_calls,
                duration(settings.open_for),
                settings.probes
            )
        }
        "breakers.close" => {
            "Jobs of the service run again, and the calls counted so far are forgotten.".to_owned()
        }
        _ => {
            "The settings that an operator has set are removed. Those apply that programs declare."
                .to_owned()
        }
    };
    let sentences = vec![format!("The breaker of `{shown}` is {state}."), words];
    let back = ("breakers".to_owned(), Vec::new());
    Ok(Preview { sentences, command, back, ..Preview::default() })
}

async fn group(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let group = target_group(request, order).await?;
    let mut command = shell(&group.fingerprint);
    let words = match order.action.verb {
        "failures.acknowledge" => {
            "It is recorded that you work on it. The doctor no longer reports it."
        }
        "failures.resolve" => {
            "It is recorded that the cause is removed. A job that fails with this error after that reopens the group."
        }
        "failures.ignore" => {
            let length = order.fields.get("for");
            if !length.is_empty() {
                command = format!("{command} --for {}", shell(length));
            }
            "It is recorded that these failures are expected. The doctor does not report them."
        }
        _ => "What was recorded about it is removed.",
    };
    let sentences = vec![
        format!(
            "{} `{}` failed with `{}`. The group is {}.",
            counted(group.count, "job"),
            brief(&group.job_name, 80),
            brief(&group.message, 120),
            group.state
        ),
        words.to_owned(),
    ];
    let refused = (order.action.verb == "failures.reopen" && group.mark.is_none())
        .then(|| "Nothing is recorded about the group.".to_owned());
    let back = vec![("name", group.job_name), ("fingerprint", group.fingerprint)];
    let back = ("failures/group".to_owned(), back);
    Ok(Preview { sentences, refused, command, back, ..Preview::default() })
}

async fn node(request: &Request, order: &Order) -> Result<Preview, Problem> {
    request.sees_everything("nodes")?;
    let id: NodeId = read_id(order.fields.get("node"), "node")?;
    let nodes = request.ratchet().nodes().list().await?;
    let Some(node) = nodes.into_iter().find(|node| node.info.id == id && node.alive) else {
        return Err(Problem::not_found(format!("no node with a valid lease has the id {id}")));
    };
    let action = node.info.request.map(|request| request.action);
    let words = match order.action.verb {
        "nodes.quiet" => "It claims no more jobs. Those that it runs continue.",
        "nodes.resume" => "It claims jobs again.",
        _ => {
            "It claims no more jobs, waits for those that it runs as after a signal, and ends. A supervisor may start it again."
        }
    };
    let refused = match (order.action.verb, action) {
        (_, Some(NodeAction::Stop)) => Some("The node is stopping, which cannot be undone."),
        ("nodes.quiet", Some(NodeAction::Quiet)) => Some("The node is quiet already."),
        ("nodes.resume", None) => Some("The node is not quiet."),
        _ => None,
    };
    let sentences = vec![
        format!("The node is process {} on `{}`.", node.info.pid, brief(&node.info.host, 80)),
        words.to_owned(),
    ];
    let back = ("nodes".to_owned(), Vec::new());
    let refused = refused.map(str::to_owned);
    Ok(Preview { sentences, refused, command: id.to_string(), back, ..Preview::default() })
}

async fn schedule(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let name = order.fields.get("schedule");
    let view = request.schedule(name).await?;
    let schedule = &view.schedule;
    let shown = brief(name, 80);
    let words = match order.action.verb {
        "schedules.pause" => {
            "It submits no jobs until it is resumed. Times that pass meanwhile do not count as missed."
        }
        "schedules.resume" => "It submits jobs again, from its next time on.",
        "schedules.edit" => {
            "It gets the times that are given below. A schedule that is declared in code keeps them until its declaration changes."
        }
        "schedules.run" => "It submits its job once, now, in addition to its usual times.",
        _ => {
            "It is deleted. A schedule that is declared in code returns when a worker of that code starts."
        }
    };
    let sentences = vec![
        format!(
            "Schedule `{shown}` submits `{}` at `{}` in {}.",
            brief(&schedule.spec.name, 80),
            brief(&schedule.expression, 80),
            brief(&schedule.zone, 40)
        ),
        words.to_owned(),
    ];
    let refused = match (order.action.verb, schedule.paused) {
        ("schedules.pause", true) => Some("The schedule is paused already.".to_owned()),
        ("schedules.resume", false) => Some("The schedule is not paused.".to_owned()),
        _ => None,
    };
    let back = ("schedule".to_owned(), vec![("name", name.to_owned())]);
    Ok(Preview { sentences, refused, command: shell(name), back, ..Preview::default() })
}

async fn flow(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let id = read_id(order.fields.get("flow"), "chain, batch or workflow")?;
    let group = request.group(id).await?;
    let left = group.counts.total.saturating_sub(group.counts.ended());
    let sentences = vec![
        format!(
            "The {} `{}` has {}, of which {} have not ended.",
            group.kind,
            brief(&group.name, 80),
            counted(group.counts.total, "member"),
            count(left)
        ),
        "All of these are canceled. Members that have ended stay as they are.".to_owned(),
    ];
    let refused = group.state.is_ended().then(|| "It has already ended.".to_owned());
    let back = (format!("flows/{id}"), Vec::new());
    Ok(Preview { sentences, refused, command: id.to_string(), back, ..Preview::default() })
}

async fn failures(request: &Request, order: &Order) -> Result<Preview, Problem> {
    /// How many jobs are counted for the preview.
    const COUNTED: u32 = 1000;
    let text = order.fields.get("filter");
    let mut filter = Filter::parse(text, request.now)?;
    filter.states = vec![JobState::Failed];
    let page = request.job_page(&filter, Cursor::First, COUNTED).await?;
    let found = page.jobs.len() as u64;
    let most = limit(order)?;
    let number = match page.next {
        Some(_) => format!("{}+ failed jobs match", count(found)),
        None if found == 1 => "1 failed job matches".to_owned(),
        None => format!("{} failed jobs match", count(found)),
    };
    let selected =
        if text.is_empty() { "no condition".to_owned() } else { format!("`{}`", brief(text, 200)) };
    let mut sentences = vec![
        format!("{number} {selected}. At most {} of them are retried, oldest first.", count(most.into())),
        "Each runs again from the start. Jobs whose business key another live job holds are skipped.".to_owned(),
    ];
    let mut queues: Vec<_> = page.jobs.iter().map(|job| brief(&job.spec.queue, 40)).collect();
    queues.sort_unstable();
    queues.dedup();
    if !queues.is_empty() {
        queues.truncate(8);
        sentences.push(format!("Queues: {}.", queues.join(", ")));
    }
    let refused = (found == 0).then(|| "There is nothing to retry.".to_owned());
    let conditions = if text.is_empty() { "state:failed" } else { text };
    let command = format!("{} --limit {most}", shell(conditions));
    let back = ("failures".to_owned(), Vec::new());
    Ok(Preview { sentences, refused, command, back, ..Preview::default() })
}

fn rejects(order: &Order) -> Preview {
    let id = brief(order.fields.get("job"), 60);
    let words = "They are deleted. The job and its history remain. This cannot be undone.";
    let sentences = vec![format!("Job {id} has rejected items."), words.to_owned()];
    let back = ("rejects".to_owned(), Vec::new());
    Preview { sentences, command: shell(&id), back, ..Preview::default() }
}

fn row(order: &Order) -> Preview {
    let id = brief(order.fields.get("job"), 60);
    let words = match order.action.verb {
        "unreadable.drop" => {
            "The job is deleted with its history and its keys. This cannot be undone."
        }
        _ => "The job returns to its queue if its row can be read again. Repair the row first.",
    };
    let sentences = vec![format!("The row of job {id} cannot be read."), words.to_owned()];
    let back = ("unreadable".to_owned(), Vec::new());
    Preview { sentences, command: shell(&id), back, ..Preview::default() }
}

fn enqueue(order: &Order) -> Preview {
    let name = order.fields.get("name");
    let arguments = order.fields.get("arguments");
    let mut command = shell(name);
    if !arguments.is_empty() {
        command = format!("{command} --object {}", shell(arguments));
    }
    for (field, option) in [("in_queue", "--queue"), ("delay", "--delay"), ("key", "--key")] {
        let value = order.fields.get(field);
        if !value.is_empty() {
            command = format!("{command} {option} {}", shell(value));
        }
    }
    let sentences = vec![format!("A new job `{}` is submitted.", brief(name, 80))];
    let back = ("enqueue".to_owned(), Vec::new());
    Preview { sentences, command, back, ..Preview::default() }
}
