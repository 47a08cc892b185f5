//! The runs of a job, with their errors and log lines.

use maud::{Markup, html};
use ratchet_core::{JobRecord, JobState};
use ratchet_store::model::{AttemptRecord, LogLevel, LogLine, TraceContext};

use crate::request::Request;
use crate::text::{brief, counted, duration, printable};
use crate::views::{card, empty, id, job_link, outcome_chip, time};

/// How many runs are shown.
const SHOWN: usize = 50;

/// Returns how the job ended, if it failed or was canceled.
pub(super) fn ending(request: &Request, job: &JobRecord) -> Markup {
    let root = &request.root;
    html! {
        @if let (JobState::Failed, Some(envelope)) = (job.state, &job.envelope) {
            (card("ending", "Why it failed", "", html! {
                p.err { (brief(&envelope.failure.error_type, 200)) ": " (brief(&envelope.failure.message, 2000)) }
                p {
                    (reason(envelope.reason)) ": " (counted(envelope.attempts.into(), "attempt")) ", the last one "
                    (time(envelope.at, request.now))
                    @if !envelope.binary_version.is_empty() { ", with version " (brief(&envelope.binary_version, 60)) }
                    ". "
                    a href=(root.with("failures/group", &[("name", &job.spec.name), ("fingerprint", &envelope.failure.fingerprint)])) {
                        "See all jobs with this error"
                    } "."
                }
                @if let Some(explanation) = &envelope.explanation { p { (brief(explanation, 1000)) } }
            }))
        }
        @if let (JobState::Canceled, Some(cause)) = (job.state, job.canceled) {
            (card("ending", "Why it was canceled", "", html! {
                p {
                    (cancel_words(cause))
                    @if let Some(cause) = job.root_cause.and_then(ratchet_store::model::Vertex::job) {
                        " It began with " (job_link(root, cause)) "."
                    }
                }
            }))
        }
        @if let Some(progress) = &job.progress {
            (card("progress", "Progress", "", html! {
                p {
                    progress max="100" value=(format!("{:.0}", progress.percent)) aria-label="Progress" {}
                    " " (format!("{:.0} %", progress.percent)) " " (brief(&progress.message, 300))
                }
            }))
        }
    }
}

fn cancel_words(cause: ratchet_store::model::CancelCause) -> &'static str {
    use ratchet_store::model::CancelCause;
    match cause {
        CancelCause::Requested => "An operator or the application canceled it.",
        CancelCause::UpstreamFailed => "A step that it depends on failed.",
        CancelCause::UpstreamCanceled => "A step that it depends on was canceled.",
        CancelCause::NotTaken => "It is on a branch that was not taken.",
        CancelCause::Expired => "It expired before it was started.",
        _ => "It was canceled.",
    }
}

/// Returns a reason in words.
pub(super) fn reason(reason: ratchet_store::model::TerminalReason) -> &'static str {
    use ratchet_store::model::TerminalReason;
    match reason {
        TerminalReason::RetryExhausted => "All attempts failed",
        TerminalReason::NonRetryable => "The error is not retryable",
        TerminalReason::PolicyRefused => "The retry policy refused another attempt",
        TerminalReason::Invalid => "The job could not be run",
        TerminalReason::Poisoned => "The job crashed its workers too often",
        TerminalReason::RejectedSignature => "Its signature could not be verified",
        TerminalReason::TimedOut => "It timed out, and timeouts are not retried",
        TerminalReason::DeferralExhausted => "It was deferred too often",
        _ => "It failed",
    }
}

/// Returns the runs, newest first.
pub(super) fn runs(
    request: &Request,
    job: &JobRecord,
    runs: &[AttemptRecord],
    logs: &[LogLine],
) -> Markup {
    let hint = match runs.len() {
        0 | 1 => String::new(),
        all if all > SHOWN => format!("newest {SHOWN} of {all}"),
        _ => "newest first".to_owned(),
    };
    let rows = runs.iter().rev().take(SHOWN);
    let running = job.state == JobState::Running;
    card(
        "runs",
        "Runs",
        hint,
        html! {
            @if runs.is_empty() && !running {
                (empty("The job has not run yet.", "Why it waits is explained at the top of this page."))
            }
            @if running {
                div.run-row {
                    strong { "Run " (job.run) }
                    div { (crate::views::chip("run", "▶", "running")) @if let Some(node) = job.node { " on node " (id(&node.to_string())) } }
                    @if let Some(at) = job.started_at { (time(at, request.now)) }
                }
                (log_lines(request, job, job.run, logs))
            }
            @for run in rows {
                div.run-row {
                    strong { "Run " (run.run) }
                    div {
                        (outcome_chip(run.outcome)) " "
                        @if let Some(error) = &run.error {
                            span.err { (brief(&error.error_type, 120)) ": " (brief(&error.message, 1000)) }
                        } @else if let Some(note) = &run.note {
                            span { (brief(note, 500)) }
                        }
                        p.meta {
                            "attempt " (run.attempt) " · " (time(run.started_at, request.now)) " · waited " (duration(run.queue_wait))
                            " · node " (id(&run.node.to_string()))
                            (trace(request, job, run.run))
                        }
                    }
                    span.num { (duration(run.duration)) }
                }
                (log_lines(request, job, run.run, logs))
            }
        },
    )
}

/// Returns the links to traces and logs, if the application has configured them.
fn trace(request: &Request, job: &JobRecord, run: u64) -> Markup {
    let fill = |address: &str| {
        let correlation = job.spec.correlation_id.as_deref().unwrap_or_default();
        let encode =
            |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let trace = job.spec.trace.as_deref().map(TraceContext::trace_id).unwrap_or_default();
        address
            .replace("{trace_id}", trace)
            .replace("{job_id}", &job.id.to_string())
            .replace("{correlation_id}", &encode(correlation))
            .replace("{run}", &run.to_string())
    };
    let has_trace = |address: &&String| job.spec.trace.is_some() || !address.contains("{trace_id}");
    let trace_link = request.app.trace_link.as_ref().filter(has_trace);
    html! {
        @if let Some(address) = trace_link { " · " a href=(fill(address)) rel="noreferrer" { "trace" } }
        @if let Some(address) = &request.app.log_link { " · " a href=(fill(address)) rel="noreferrer" { "logs" } }
    }
}

fn log_lines(request: &Request, job: &JobRecord, run: u64, logs: &[LogLine]) -> Markup {
    let lines: Vec<_> = logs.iter().filter(|line| line.run == run).collect();
    let visible = request.access.sees_arguments();
    html! {
        @if !lines.is_empty() && visible {
            details #(format!("log-{}-{run}", job.id)) {
                summary { (counted(lines.len() as u64, "log line")) }
                ol.log { @for line in lines {
                    li class=(level(line.level)) {
                        span.at { "+" (duration(line.after)) } " "
                        span.level { (level(line.level)) } " " span { (printable(&line.message)) }
                    }
                } }
            }
        }
    }
}

fn level(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    }
}
