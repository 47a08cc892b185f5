//! Failed jobs, grouped by name and error.

use maud::html;
use ratchet_core::{FailureGroup, FailureState, Filter};

use super::{commands, job_runs, jobs, may};
use crate::act;
use crate::request::{Answer, Request};
use crate::text::{count, counted, shell};
use crate::views::{Page, Table, button, card, chip, empty, search, text, time};

/// How many failed jobs are read.
pub(super) const READ: u32 = 5_000;

pub(crate) async fn page(request: Request) -> Answer {
    let written = request.query.get("filter").to_owned();
    let filter = Filter::parse(&written, request.now);
    let error = filter.as_ref().err().map(ToString::to_string);
    let found = match &filter {
        Ok(filter) => request.failures(filter, READ).await?,
        Err(_) => ratchet_core::FailureGroups::default(),
    };
    let mut table = Table::new(
        "Failures",
        &["error", "job", "state", "#jobs", "reason", "first", "last", "fingerprint"],
    );
    for group in &found.groups {
        table.row(row(&request, group));
    }
    let hint = match found.complete || error.is_some() {
        true => format!(
            "{} in {}",
            counted(found.jobs, "job"),
            counted(found.groups.len() as u64, "group")
        ),
        false => format!("the newest {} failed jobs were read", count(found.jobs)),
    };
    let any = !found.groups.is_empty();
    let content = html! {
        (search(&request.root.to("failures"), "Filter failures", &written, error.as_deref()))
        @if error.is_some() { section.card { div.body { (jobs::conditions()) } } } @else {
            (card("failures", "Grouped by job and error", hint, table.or(empty(
                "No job has failed permanently.",
                "Jobs that have used all attempts, or whose error cannot be retried, appear here.",
            ))))
        }
        (commands(&request, &[
            format!("failures list {}", shell(&written)).trim_end_matches(" ''").to_owned(),
            "failures redrive fingerprint:… --limit 5".to_owned(),
        ]))
    };
    let mut page = Page::new("failures", "Failures", content);
    if let Some(action) =
        act::action("failures.redrive").filter(|action| any && may(&request, action))
    {
        let link = request.root.with("act/failures.redrive", &[("filter", &written)]);
        page.actions = button(&link, action.label, "");
    }
    page.answer(&request).await
}

/// Returns the state of a group.
pub(super) fn state(state: FailureState) -> maud::Markup {
    match state {
        FailureState::Open | FailureState::Reopened => chip("bad", "●", state.name()),
        FailureState::Acknowledged => chip("wait", "◐", state.name()),
        _ => chip("ok", "○", state.name()),
    }
}

fn row(request: &Request, group: &FailureGroup) -> [maud::Markup; 8] {
    let link = request
        .root
        .with("failures/group", &[("name", &group.job_name), ("fingerprint", &group.fingerprint)]);
    [
        html! { a href=(link) { strong { (text(&group.error_type, 60)) } } " " span.err { (text(&group.message, 90)) } },
        text(&group.job_name, 60),
        state(group.state),
        html! { (count(group.count)) },
        html! { (job_runs::reason(group.reason)) },
        time(group.first, request.now),
        time(group.last, request.now),
        html! { code { (text(&group.fingerprint, 12)) } },
    ]
}
