//! Bulk operations: what they do, how far they are, and their controls.

use maud::{Markup, html};
use ratchet_core::{Capability, ErasedRows, OperationRecord, OperationState};

use super::commands;
use crate::request::{Answer, Request};
use crate::text::count;
use crate::views::{Page, Table, button, card, chip, definition, empty, job_link, text, time};

/// The number of operations of the page.
const SIZE: u32 = 100;

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("bulk operations")?;
    let operations = request.ratchet().operations().list(SIZE).await?;
    let mut table = Table::new(
        "Operations",
        &["started", "what", "jobs", "state", "#changed", "#of", "#refused", "by"],
    );
    for operation in &operations {
        let link = request.root.to(&format!("operations/{}", operation.id));
        table.row([
            time(operation.started_at, request.now),
            html! { a href=(link) { (operation.verb.name()) } },
            text(&operation.filter.to_string(), 80),
            state(operation),
            html! { (count(operation.changed)) },
            html! { (expected(operation)) },
            html! { (count(operation.refused)) },
            by(operation),
        ]);
    }
    let content = html! {
        (card("operations", "Operations", "newest first", table.or(empty(
            "No operation was started.",
            html! { "An operation changes many jobs, in pages, with progress that survives a restart." },
        ))))
        (erase(&request))
        (commands(&request, &["operations list".to_owned(), "operations start retry state:failed --canary 10".to_owned()]))
    };
    let mut page = Page::new("operations", "Operations", content);
    let start = request.root.with("act/operations.start", &[("filter", "state:failed")]);
    page.actions = html! { div #actions { (button(&start, "Change many jobs", "")) } };
    page.answer(&request).await
}

/// The form that previews an erasure.
fn erase(request: &Request) -> Markup {
    if !request.access.may(Capability::Purge) {
        return html! {};
    }
    let form = html! {
        form.act method="get" action=(request.root.to("act/erasures.start")) {
            label for="subject" { "Erase everything of" small { "tenant:acme or correlation:order-17" } }
            input #subject name="subject" type="text" required autocomplete="off" spellcheck="false";
            p.buttons { button.btn.danger type="submit" { "Preview" } }
        }
    };
    card("erase", "Erase a tenant or a correlation id", "", form)
}

pub(crate) async fn one(request: Request) -> Answer {
    let operation = request.operation_of_address().await?;
    let id = operation.id.to_string();
    let content = html! {
        (card("operation", "Operation", "", details(&request, &operation)))
        (commands(&request, &[format!("operations show {id}"), format!("operations watch {id}")]))
    };
    let mut page =
        Page::new("operations", format!("Operation to {} jobs", operation.verb), content);
    page.parent = Some((request.root.to("operations"), "Operations"));
    page.beside = state(&operation);
    let control =
        |verb: &str| request.root.with(&format!("act/operations.{verb}"), &[("operation", &id)]);
    page.actions = html! { div #actions {
        @match operation.state {
            OperationState::Running => { (button(&control("pause"), "Pause", "")) }
            OperationState::Paused | OperationState::CanaryWaiting => { (button(&control("resume"), "Resume", "")) }
            _ => {}
        }
        @if !operation.state.is_ended() { (button(&control("abort"), "Abort", "danger")) }
    } };
    page.answer(&request).await
}

fn details(request: &Request, operation: &OperationRecord) -> Markup {
    let canary = operation.canary.map(|canary| match canary.max_failed_percent {
        Some(percent) => {
            format!("{} jobs first; it continues if at most {percent} % fail again", canary.jobs)
        }
        None => format!("{} jobs first; then it waits", canary.jobs),
    });
    let reason = operation.actor.as_ref().and_then(|actor| actor.reason.as_deref());
    let failed = Some(operation.failed).filter(|failed| *failed > 0);
    let changed = html! { (count(operation.changed)) " of " (expected(operation)) };
    definition([
        ("Jobs", Some(html! { code { (text(&operation.filter.to_string(), 400)) } })),
        ("Changed", Some(changed)),
        ("Refused", Some(html! { (count(operation.refused)) })),
        ("Canary", canary.map(|canary| html! { (canary) })),
        ("Failed again", failed.map(|failed| html! { (count(failed)) })),
        ("Phase", operation.erasure.as_ref().map(|it| html! { (it.phase.name()) })),
        ("Canceled", operation.erasure.as_ref().map(|it| html! { (count(it.canceled)) })),
        ("In use", operation.erasure.as_ref().map(|it| html! { (count(it.left)) })),
        ("Deleted", operation.erasure.as_ref().map(|it| erased(&it.erased))),
        ("Pace", operation.pace.map(|pace| html! { (pace) " jobs per second" })),
        ("Cut-off", Some(time(operation.cutoff, request.now))),
        ("Last visited", operation.cursor.map(|job| job_link(&request.root, job))),
        ("Started", Some(time(operation.started_at, request.now))),
        ("Last change", Some(time(operation.updated_at, request.now))),
        ("By", Some(by(operation))),
        ("Reason", reason.map(|reason| text(reason, 400))),
    ])
}

/// Says what an erasure has deleted, besides jobs.
fn erased(rows: &ErasedRows) -> Markup {
    html! {
        (count(rows.archived)) " archived jobs, " (count(rows.groups)) " flows, " (count(rows.hand_offs)) " hand-offs, "
        (count(rows.deliveries)) " messages, " (count(rows.alerts)) " alerts; " (count(rows.keys)) " idempotency keys replaced by digests"
    }
}

fn state(operation: &OperationRecord) -> Markup {
    match operation.state {
        OperationState::Running => chip("run", "●", "running"),
        OperationState::Finished => chip("ok", "✓", "finished"),
        OperationState::Aborted => chip("bad", "×", "aborted"),
        OperationState::CanaryWaiting => chip("wait", "○", "waits for its canary"),
        _ => chip("wait", "○", "paused"),
    }
}

fn expected(operation: &OperationRecord) -> String {
    format!("{}{}", count(operation.expected), if operation.exact { "" } else { "+" })
}

fn by(operation: &OperationRecord) -> Markup {
    operation.actor.as_ref().map_or_else(Table::none, |actor| text(&actor.name, 40))
}
