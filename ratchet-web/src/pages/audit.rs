//! The audit trail: who changed what, when and why, and whether the trail is complete.

use maud::{Markup, html};
use ratchet_core::{AuditError, JobId};
use ratchet_store::model::{AuditFilter, AuditRecord};
use serde_json::Value;

use super::commands;
use crate::request::{Answer, Request};
use crate::text::{brief, count, counted, shell};
use crate::views::{Page, Table, button, card, definition, empty, job_link, text, time};

/// The number of rows of a page.
const SIZE: u32 = 100;

/// Returns which entries the address of a page or query wants.
pub(crate) fn filter(request: &Request) -> AuditFilter {
    let field = |name| Some(request.query.get(name).to_owned()).filter(|text| !text.is_empty());
    AuditFilter { actor: field("by"), verb: field("verb"), target: field("target") }
}

/// Returns the entry in front of which the list continues.
pub(crate) fn before(request: &Request) -> Option<u64> {
    request.query.get("after").parse().ok()
}

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("the audit trail")?;
    let filter = filter(&request);
    let entries = request.ratchet().audit().list(&filter, before(&request), SIZE).await?;
    let mut table =
        Table::new("Changes", &["#entry", "when", "who", "what", "target", "reason", "change"]);
    for entry in &entries {
        let who = request.root.with("audit", &[("by", &entry.actor.name)]);
        let what = request.root.with("audit", &[("verb", &entry.verb)]);
        table.row([
            html! { (entry.number) },
            time(entry.at, request.now),
            html! { a href=(who) { (text(&entry.actor.name, 40)) } " " small { (text(&entry.actor.via, 20)) } },
            html! { a href=(what) { (text(&entry.verb, 40)) } },
            target(&request, entry),
            entry.actor.reason.as_deref().map_or_else(Table::none, |reason| text(reason, 120)),
            change(entry),
        ]);
    }
    let mut more = html! {};
    if let Some(last) = entries.last().filter(|_| entries.len() == SIZE as usize) {
        let number = last.number.to_string();
        let mut query = vec![("after", number.as_str())];
        let fields = [("by", &filter.actor), ("verb", &filter.verb), ("target", &filter.target)];
        query.extend(fields.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))));
        more = html! { p { a href=(request.root.with("audit", &query)) { "Older changes" } } };
    }
    let mut command = "audit list".to_owned();
    for (option, value) in
        [("--by", &filter.actor), ("--verb", &filter.verb), ("--target", &filter.target)]
    {
        if let Some(value) = value {
            command = format!("{command} {option} {}", shell(value));
        }
    }
    let content = html! {
        (card("audit", "Changes", "each was recorded in the same commit as the change", table.or(empty(
            "No change matches.",
            html! { "Changes by this dashboard, the API and the command line are recorded here." },
        ))))
        (more)
        (commands(&request, &[command, "audit verify".to_owned()]))
    };
    let mut page = Page::new("audit", "Audit", content);
    page.actions =
        html! { div #actions { (button(&request.root.to("audit/verify"), "Verify", "")) } };
    page.answer(&request).await
}

/// Returns the target before and after a change in words, with everything that was recorded behind them.
fn change(entry: &AuditRecord) -> Markup {
    let views = [("before", &entry.before), ("after", &entry.after)];
    html! {
        (words(entry.before.as_deref())) " → " strong { (words(entry.after.as_deref())) }
        @if entry.before.is_some() || entry.after.is_some() {
            details {
                summary { "recorded" }
                @for (name, view) in views {
                    @if let Some(view) = view { p { small { (name) } " " code { (text(view, 400)) } } }
                }
            }
        }
    }
}

/// Returns what matters most in a recorded state.
fn words(view: Option<&str>) -> String {
    let Some(view) = view else { return "–".to_owned() };
    let value: Value = serde_json::from_str(view).unwrap_or_default();
    let state = match &value["state"] {
        Value::String(state) => Some(state.to_lowercase()),
        Value::Object(state) => state.keys().next().cloned(),
        _ => None,
    };
    if let Some(state) = state {
        return state.replace('_', " ");
    }
    if value["paused"] == true {
        return "paused".to_owned();
    }
    if let Some(jobs) = value["retried"].as_array() {
        return format!("{} retried", counted(jobs.len() as u64, "job"));
    }
    if let (Some(cron), Some(zone)) = (value["expression"].as_str(), value["zone"].as_str()) {
        return format!("{} in {}", brief(cron, 60), brief(zone, 40));
    }
    match (&value["limits"]["concurrency"], &value["limits"]["rate"]["jobs"]) {
        (Value::Null, Value::Null) if value["limits"]["fair"] == true => {
            "tenants in turn".to_owned()
        }
        (Value::Null, Value::Null) if value["limits"]["rate_per_key"].is_object() => {
            "limited rate per key".to_owned()
        }
        (Value::Null, Value::Null) if value.get("limits").is_some() => "no limits".to_owned(),
        (Value::Null, Value::Null) => brief(view, 60),
        (concurrency, Value::Null) => format!("{concurrency} at once"),
        _ => "limited rate".to_owned(),
    }
}

/// Returns the link to all changes of a target, and to the target if it is a job.
fn target(request: &Request, entry: &AuditRecord) -> Markup {
    let all = request.root.with("audit", &[("target", &entry.target)]);
    let job = entry.target.strip_prefix("job ").and_then(|id| id.parse::<JobId>().ok());
    html! {
        @match job {
            Some(id) => { "job " (job_link(&request.root, id)) " " a href=(all) { "changes" } }
            None => a href=(all) { (text(&entry.target, 60)) },
        }
    }
}

pub(crate) async fn verify(request: Request) -> Answer {
    request.sees_everything("the audit trail")?;
    let result = match request.ratchet().audit().verify().await {
        Err(AuditError::Store(error)) => return Err(error.into()),
        result => result,
    };
    let content = html! {
        @match &result {
            Ok(report) => (card("verified", "The trail is complete", "", definition([
                ("entries", Some(html! { (count(report.head.number)) })),
                ("end", Some(html! { code { (report.head.number) ":" (report.head.hash) } })),
                ("signed", (report.signed > 0).then(|| html! { (count(report.signed)) })),
                ("not checked", (report.unchecked > 0).then(|| html! {
                    (count(report.unchecked)) " signatures: this program does not have the key"
                })),
                ("not signed", report.first_unsigned.map(|first| html! {
                    (count(report.unsigned)) " after a signed entry, the first is " (first)
                })),
                ("note", Some(html! {
                    "Keep the end outside of the database. " code { "audit verify --since" }
                    " compares it later, and then also finds a trail that was replaced as a whole."
                })),
            ]))),
            Err(error) => (card("verified", "The trail was changed", "", html! {
                div.body { p.err { (brief(&error.to_string(), 400)) } }
            })),
        }
        (commands(&request, &["audit verify".to_owned()]))
    };
    let mut page = Page::new("audit", "Verify", content);
    page.parent = Some((request.root.to("audit"), "Audit"));
    page.live = false;
    page.answer(&request).await
}
