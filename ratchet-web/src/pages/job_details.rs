//! What a job is: its arguments, settings, output and relatives.

use maud::{Markup, html};
use ratchet_core::{AfterFailure, HandOffAdmission, JobRecord, JobState, Succession};

use crate::arguments::Arguments;
use crate::charts::graph;
use crate::problem::Problem;
use crate::request::Request;
use crate::text::{brief, counted, duration, printable};
use crate::views::{card, definition, id, job_link, text, time};

/// The longest text of an argument that the page shows.
const MOST: usize = 20_000;

/// Returns the arguments as they are stored.
pub(super) fn arguments(request: &Request, job: &JobRecord) -> Markup {
    let link = request.root.to(&format!("jobs/{}/arguments", job.id));
    let title = format!("version {}, as stored", job.spec.version);
    card(
        "arguments",
        "Arguments",
        title,
        html! {
            @if !request.access.sees_arguments() {
                p { "Your access does not include arguments." }
            } @else {
                @match Arguments::of(request.ratchet(), job) {
                    Arguments::Masked => p {
                        "Masked, because this program does not know the job and cannot tell which arguments are secret. "
                        "A dashboard in the worker program shows them."
                    },
                    Arguments::Fields(fields) if fields.is_empty() => p { "The job has no arguments." },
                    Arguments::Fields(fields) => {
                        pre { code {
                            "{\n"
                            @for (at, (name, value)) in fields.iter().enumerate() {
                                "  " (printable(&serde_json::Value::from(name.as_str()).to_string())) ": "
                                @match value {
                                    Some(value) => (cut(value.get())),
                                    None => span.mask title="This argument is marked as secret" { "•••" },
                                }
                                @if at + 1 < fields.len() { "," } "\n"
                            }
                            "}"
                        } }
                        p.meta { a href=(link) { "As a file" } }
                    }
                }
            }
        },
    )
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}… ({} bytes in all)", printable(&text[..at]), text.len()),
        None => printable(text),
    }
}

/// Returns the output and the checkpoint.
pub(super) fn output(request: &Request, job: &JobRecord) -> Markup {
    let visible = request.access.sees_arguments();
    html! {
        @if let Some(output) = &job.output {
            (card("output", "Output", "", html! {
                @if visible {
                    pre { code { (cut(output)) } }
                    p.meta { a href=(request.root.to(&format!("jobs/{}/output", job.id))) { "As a file" } }
                } @else { p { "Your access does not include outputs." } }
            }))
        }
        @if let Some(checkpoint) = &job.checkpoint {
            (card("checkpoint", "Checkpoint", "the next run begins with it", html! {
                @if visible { pre { code { (cut(&checkpoint.to_string())) } } } @else { p { "Your access does not include checkpoints." } }
            }))
        }
    }
}

/// Returns the settings and times of the job.
pub(super) fn details(request: &Request, job: &JobRecord) -> Markup {
    let (root, now, spec) = (&request.root, request.now, &job.spec);
    let filter = |condition: &str, value: &str| {
        let mut filter = ratchet_core::Filter::any();
        match condition {
            "tag" => filter.tag = Some(value.to_owned()),
            "tenant" => filter.tenant = Some(value.to_owned()),
            "key" => filter.business_key = Some(value.to_owned()),
            "name" => filter.names.push(value.to_owned()),
            _ => filter.correlation_id = Some(value.to_owned()),
        }
        html! { a href=(root.with("jobs", &[("filter", &filter.to_string())])) { (brief(value, 120)) } }
    };
    let text = |name: &'static str, value: &Option<String>| {
        value.as_deref().map(|value| filter(name, value))
    };
    let attempts = u64::from(spec.options.max_retries) + 1;
    let rows = [
        ("id", Some(id(&job.id.to_string()))),
        ("job", Some(filter("name", &spec.name))),
        ("queue", Some(html! { a href=(root.with("queue", &[("name", &spec.queue)])) { (brief(&spec.queue, 120)) } })),
        ("priority", Some(html! { (format!("{:?}", spec.priority).to_lowercase()) })),
        ("submitted", Some(time(job.queued_at, now))),
        ("due", Some(time(job.due, now))),
        ("started", job.started_at.map(|at| time(at, now))),
        ("finished", job.finished_at.map(|at| time(at, now))),
        ("archived", job.archived_at.map(|at| html! { (time(at, now)) "; it cannot be changed" })),
        ("waited", job.queue_wait.map(|wait| html! { (duration(wait)) })),
        ("took", job.duration.map(|took| html! { (duration(took)) })),
        ("attempts", Some(html! { (job.attempts) " of " (attempts) " failed" @if job.generation > 1 { ", " (counted(u64::from(job.generation) - 1, "manual retry")) } })),
        ("crashes", (job.crashes > 0).then(|| html! { (job.crashes) })),
        ("deferrals", (job.deferrals > 0).then(|| html! { (job.deferrals) })),
        ("timeout", Some(html! { (duration(spec.options.timeout)) })),
        ("expires", job.cancels_at().map(|at| time(at, now))),
        ("tenant", text("tenant", &spec.tenant)),
        ("business key", text("key", &spec.business_key)),
        ("concurrency", spec.concurrency.as_ref().map(|key| html! { code { (brief(&key.key, 120)) } " (limit " (key.limit) ")" })),
        ("order", spec.step.as_ref().and_then(|step| step.order).map(|after_failure| html! {
            "runs in order with the other jobs of the key; "
            @if after_failure == AfterFailure::Hold { "a failed one holds up the rest" } @else { "a failed one is skipped" }
        })),
        ("service", spec.service.as_ref().map(|service| html! { a href=(root.with("breaker", &[("service", service)])) { (brief(service, 120)) } })),
        ("correlation", text("correlation", &spec.correlation_id)),
        ("tags", (!spec.tags.is_empty()).then(|| html! { @for tag in &spec.tags { (filter("tag", tag)) " " } })),
        ("node", job.node.filter(|_| job.state == JobState::Running).map(|node| id(&node.to_string()))),
        ("version", Some(html! { (job.version) })),
    ];
    card("details", "Details", "", definition(rows))
}

/// Returns the hand-off that was admitted as this job.
pub(super) fn admission(request: &Request, admission: Option<&HandOffAdmission>) -> Markup {
    let Some(admission) = admission else { return html! {} };
    let link = request.root.with("pipelines", &[("name", &admission.pipeline)]);
    card(
        "admission",
        "Admitted from a pipeline",
        "",
        definition([
            ("pipeline", Some(html! { a href=(link) { (text(&admission.pipeline, 60)) } })),
            ("key", Some(text(&admission.key, 200))),
            ("handed over by", Some(job_link(&request.root, admission.from))),
            ("handed over", Some(time(admission.handed_at, request.now))),
            ("until admitted", Some(html! { (duration(admission.latency())) })),
        ]),
    )
}

/// Returns the jobs that are linked to this one by edit and retry.
pub(super) fn succession(request: &Request, links: Succession) -> Markup {
    if links == Succession::default() {
        return html! {};
    }
    card(
        "succession",
        "Edited and retried",
        "",
        html! {
            @if let Some(successor) = links.successor {
                p { (job_link(&request.root, successor)) " was submitted in place of this job, with edited arguments." }
            }
            @if let Some(original) = links.successor_of {
                p { "This job was submitted in place of " (job_link(&request.root, original)) ", with edited arguments." }
            }
        },
    )
}

/// Returns the flow that the job is part of, and the jobs that it follows or is followed by.
pub(super) async fn relatives(request: &Request, job: &JobRecord) -> Result<Markup, Problem> {
    let spec = &job.spec;
    let step = spec.step.as_deref();
    let mut flow = html! {};
    if let Some(id) = step.and_then(|step| step.group.or(step.reports))
        && let Ok(group) = request.group(id).await
    {
        let drawing = if group.counts.total <= graph::SMALL {
            request.ratchet().group(id).view().await?
        } else {
            None
        };
        flow = card(
            "part-of",
            "Part of",
            "",
            html! {
                p { a href=(request.root.to(&format!("flows/{id}"))) { (group.kind.to_string()) " " (brief(&group.name, 80)) }
                    " · " (group.counts.ended()) " of " (group.counts.total) " ended" }
                @if let Some(view) = drawing { (graph::drawing(&request.root, &view, Some(job.id))) }
            },
        );
    }
    let callbacks = [("on success", &spec.on_success), ("on failure", &spec.on_failure)];
    let follows = spec.finished.as_ref();
    let any = follows.is_some() || callbacks.iter().any(|(_, spec)| spec.is_some());
    Ok(html! {
        (flow)
        @if any {
            (card("callbacks", "Callbacks", "", html! {
                ul {
                    @if let Some(parent) = follows {
                        li { "follows " (brief(&parent.name, 80)) " " (job_link(&request.root, parent.id)) }
                    }
                    @for (when, spec) in callbacks { @if let Some(spec) = spec { li { (when) ": " (brief(&spec.name, 80)) } } }
                }
            }))
        }
    })
}
