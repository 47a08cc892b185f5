//! The archive: what it contains, when jobs leave it, and their deletion.

use maud::{Markup, html};
use ratchet_core::{ArchiveFor, ArchiveOverview, ArchivedState, WindowOverview};

use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::request::{Answer, Request, see_other};
use crate::text::{bytes, count, duration};
use crate::views::{Page, Table, card, definition, empty, text, time, time_or};

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("the numbers of the archive")?;
    let overview = request.ratchet().archive().overview().await?;
    let mut table =
        Table::new("Archived jobs", &["state", "#jobs", "oldest", "newest", "kept for", "actions"]);
    for archived in &overview.states {
        row(&request, &mut table, archived);
    }
    let states = if overview.jobs > 0 { table.html() } else { nothing() };
    let content = html! {
        (card("archive", "Contents", "", html! { (details(&request, &overview)) (states) }))
        (card("ledger", "Idempotency keys", "", ledger(&request)))
        (commands(&request, &["archive status".to_owned(), "archive list state:failed".to_owned()]))
        p.meta {
            a href=(request.root.to("archive/jobs")) { "List" } " · export: "
            a href=(request.root.with("archive/export", &[("format", "csv")])) { "CSV" } " · "
            a href=(request.root.with("archive/export", &[("format", "ndjson")])) { "NDJSON" }
        }
    };
    Page::new("archive", "Archive", content).answer(&request).await
}

/// Idempotency keys outlive their jobs.
fn ledger(request: &Request) -> Markup {
    let buttons = |keys| {
        let buttons = action_buttons(request, act::of_target(Target::Ledger), &[("keys", keys)]);
        html! { span.row-actions { (buttons) } }
    };
    html! {
        p { "Idempotency keys without a lifetime are kept permanently, also after their jobs were deleted. An erasure replaces keys by digests." }
        (definition([("Keys", Some(buttons("clear"))), ("Digests", Some(buttons("erased")))]))
    }
}

/// The list of archived jobs is that of jobs, with a condition.
#[allow(clippy::unused_async, reason = "a handler")]
pub(crate) async fn jobs(request: Request) -> Answer {
    let filter = request.archived_filter()?.to_string();
    Ok(see_other(&request.root.with("jobs", &[("filter", &filter)])))
}

fn row(request: &Request, table: &mut Table, archived: &ArchivedState) {
    let state = archived.state.name().to_lowercase();
    let filter = format!("archived:only state:{state}");
    let kept = match archived.archive {
        ArchiveFor::Off => Table::none(),
        archive => html! { (archive.to_string()) },
    };
    let target = [("state", state.as_str())];
    table.row([
        html! { a href=(request.root.with("jobs", &[("filter", &filter)])) { (state) } },
        html! { (count(archived.jobs)) },
        time_or(archived.oldest, request.now),
        time_or(archived.newest, request.now),
        kept,
        html! { @if archived.jobs > 0 { span.row-actions {
            (action_buttons(request, act::of_target(Target::Archive), &target))
        } } },
    ]);
}

fn details(request: &Request, overview: &ArchiveOverview) -> Markup {
    let place = overview.place.as_ref();
    definition([
        ("Jobs", Some(html! { (count(overview.jobs)) })),
        ("Size", overview.bytes.map(|size| html! { (bytes(size)) })),
        ("Place", place.map(|place| html! { code { (text(place, 200)) } })),
        ("Purge window", Some(window(request, overview.window.as_ref()))),
    ])
}

/// Says when maintenance deletes and archives jobs.
fn window(request: &Request, window: Option<&WindowOverview>) -> Markup {
    let Some(window) = window else {
        return html! { "always open, as this process is configured" };
    };
    html! {
        @if window.open { "open" } @else { "closed" }
        @if let Some(next) = window.next { ", opens " (time(next, request.now)) }
        " (" code { (text(&window.opens, 80)) } " in " (text(&window.zone, 40)) ", for " (duration(window.duration))
        ", as this process is configured)"
    }
}

fn nothing() -> Markup {
    empty(
        "No job is archived.",
        html! { "Maintenance archives jobs after their retention if " code { "archive_failed" } ", " code { "archive_canceled" } " or " code { "archive_succeeded" } " is set." },
    )
}
