//! Circuit breakers.

use jiff::Timestamp;
use maud::{Markup, html};
use ratchet_core::BreakerState;
use ratchet_store::model::BreakerRecord;

use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::problem::Problem;
use crate::request::{Answer, Request};
use crate::text::{brief, duration, shell};
use crate::views::{Page, Table, breaker_chip, card, definition, empty, text, time};

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("breakers")?;
    let mut breakers = request.ratchet().breakers().list().await?;
    breakers.sort_by_key(|record| (record.state == BreakerState::Closed, record.service.clone()));
    let mut table =
        Table::new("Breakers", &["service", "state", "next", "last calls", "opens at", "actions"]);
    for record in &breakers {
        let settings = &record.breaker.settings;
        table.row([
            html! { a href=(request.root.with("breaker", &[("service", &record.service)])) { (text(&record.service, 60)) } },
            breaker_chip(&record.state),
            next(&record.state, request.now),
            window(record),
            html! { (settings.failure_rate) " % of " (settings.window) },
            html! { span.row-actions { (buttons(&request, record)) } },
        ]);
    }
    let content = html! {
        (card("breakers", "Breakers", "shared by all workers", table.or(empty(
            "No breaker has counted a call.",
            html! { "Declare one with " code { "#[circuit_breaker(service = \"payments\")]" } " at a job. It stops the jobs of a service that fails." },
        ))))
        (commands(&request, &["breakers list".to_owned()]))
    };
    Page::new("breakers", "Breakers", content).answer(&request).await
}

pub(crate) async fn one(request: Request) -> Answer {
    request.sees_everything("breakers")?;
    let service = request.wanted("service")?;
    let Some(record) = request.ratchet().breakers().get(service).await? else {
        let service = brief(service, 80);
        return Err(Problem::not_found(format!("no breaker of `{service}` has counted a call")));
    };
    let breaker = &record.breaker;
    let settings = &breaker.settings;
    let content = html! {
        (card("state", "State", "", html! {
            p { (next(&record.state, request.now)) }
            p { "Last calls, newest at the right: " (window(&record)) }
            @if let Some(since) = field(&record, "since").and_then(|at| at.parse::<Timestamp>().ok()).filter(|at| *at > Timestamp::UNIX_EPOCH) {
                p.meta { "It last opened or closed " (time(since, request.now)) "." }
            }
        }))
        (card("settings", "Settings", if breaker.set_by_operator.is_some() { "set by an operator" } else { "" }, definition([
            ("opens", Some(html! { "when " (settings.failure_rate) " % of the last " (settings.window) " calls fail, after at least " (settings.min_calls) })),
            ("open for", Some(html! { (duration(settings.open_for)) })),
            ("trial runs", Some(html! { (settings.probes) " must succeed before it closes" })),
            ("declared by", (!breaker.declared.is_empty()).then(|| html! {
                (breaker.declared.iter().map(|it| brief(&it.program, 60)).collect::<Vec<_>>().join(", "))
            })),
        ])))
        (commands(&request, &[format!("breakers show {}", shell(service))]))
    };
    let mut page = Page::new("breakers", brief(service, 120), content);
    page.parent = Some((request.root.to("breakers"), "Breakers"));
    page.beside = html! { span #breaker-state data-live="" { (breaker_chip(&record.state)) } };
    page.actions = html! { div #actions data-live="" { (buttons(&request, &record)) } };
    page.answer(&request).await
}

fn buttons(request: &Request, record: &BreakerRecord) -> Markup {
    let closed = record.state == BreakerState::Closed;
    let possible = act::of_target(Target::Breaker).filter(|action| match action.verb {
        "breakers.open" => closed,
        "breakers.close" => !closed,
        "breakers.set" => true,
        _ => record.breaker.set_by_operator.is_some(),
    });
    action_buttons(request, possible, &[("service", &record.service)])
}

fn next(state: &BreakerState, now: Timestamp) -> Markup {
    match state {
        BreakerState::Closed => html! { "Every run is admitted." },
        BreakerState::Open { until: Some(until) } => {
            html! { "Trial runs follow " (time(*until, now)) "." }
        }
        BreakerState::Open { until: None } => {
            html! { "It stays open until an operator closes it." }
        }
        BreakerState::HalfOpen { good } => html! { (good) " trial runs have succeeded." },
    }
}

/// Returns a field of the stored form of a breaker.
fn field(record: &BreakerRecord, name: &str) -> Option<String> {
    let value = serde_json::to_value(&record.breaker).ok()?;
    Some(value.get(name)?.as_str()?.to_owned())
}

/// Draws the last calls: a mark per call, low for a success and high for a failure.
fn window(record: &BreakerRecord) -> Markup {
    /// How many calls are drawn.
    const MOST: usize = 60;
    let calls = field(record, "window").unwrap_or_default();
    let failures = calls.matches('-').count();
    let shown: Vec<_> = calls.chars().rev().take(MOST).collect();
    let label = format!("{failures} of the last {} calls failed", calls.len());
    html! {
        @if calls.is_empty() { span.faint { "no calls" } } @else {
            svg.calls viewBox=(format!("0 0 {} 16", shown.len() * 4)) width=(shown.len() * 4) height="16" role="img" aria-label=(label) {
                @for (at, call) in shown.iter().rev().enumerate() {
                    @if *call == '-' { rect.call-bad x=(at * 4) y="0" width="3" height="16" {} }
                    @else { rect.call-ok x=(at * 4) y="8" width="3" height="8" {} }
                }
            }
            " " small { (label) }
        }
    }
}
