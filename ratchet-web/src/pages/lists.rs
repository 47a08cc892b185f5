//! Alerts, pipelines and unreadable rows.

use maud::html;

use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::request::{Answer, Request};
use crate::text::{brief, count, duration, shell};
use crate::views::{Page, Table, card, definition, empty, hint, id, job_link, text, time};

/// The number of rows of a page.
const SIZE: u32 = 100;

pub(crate) async fn alerts(request: Request) -> Answer {
    let alerts = request.alerts(SIZE).await?;
    let mut table =
        Table::new("Alerts", &["alert", "job", "#suppressed since", "recorded", "first job"]);
    for alert in &alerts {
        let link = request.root.with(
            "failures/group",
            &[("name", &alert.job_name), ("fingerprint", &alert.fingerprint)],
        );
        table.row([
            html! { span.err { (text(&alert.message, 120)) } },
            html! { a href=(link) { (text(&alert.job_name, 60)) } },
            html! { (count(alert.suppressed)) },
            time(alert.at, request.now),
            job_link(&request.root, alert.job_id),
        ]);
    }
    let content = html! {
        (card("alerts", "Alerts", format!("the newest {SIZE}"), table.or(empty(
            "No alert was recorded.",
            "An alert is recorded when a job fails permanently: one per job, error and time window.",
        ))))
        (commands(&request, &["alerts list".to_owned()]))
    };
    Page::new("alerts", "Alerts", content).answer(&request).await
}

pub(crate) async fn pipelines(request: Request) -> Answer {
    request.sees_everything("pipelines")?;
    let name = request.query.get("name");
    let mut table = Table::new(
        "Pipelines",
        &["pipeline", "accepted by", "program", "#backlog", "#limit", "#refusals"],
    );
    for accepted in &request.ratchet().pipelines().await? {
        let link = request.root.with("pipelines", &[("name", &accepted.pipeline)]);
        let job = request.root.with("catalog/job", &[("name", &accepted.job)]);
        table.row([
            html! { a href=(link) { (text(&accepted.pipeline, 60)) } },
            html! { a href=(job) { (text(&accepted.job, 60)) } },
            text(&accepted.program, 60),
            html! { (count(accepted.backlog)) },
            accepted
                .backlog_limit
                .map_or_else(Table::none, |limit| html! { (count(limit.into())) }),
            html! { (count(accepted.refusals)) },
        ]);
    }
    let result = if name.is_empty() {
        html! { (hint("A pipeline that no job accepts is not listed, because any name is one. Write the name of yours.")) }
    } else {
        let stats = request.ratchet().pipeline(name).stats().await?;
        let latency = html! { (duration(stats.latency)) " on average, " (duration(stats.longest_latency)) " at most" };
        card(
            "pipeline",
            &brief(name, 80),
            "",
            definition([
                ("waiting", Some(html! { (count(stats.backlog)) })),
                ("oldest", Some(html! { (duration(stats.lag)) })),
                ("finished", Some(html! { (count(stats.finished)) })),
                ("repeats", Some(html! { (count(stats.repeats)) })),
                ("admitted", Some(html! { (count(stats.admitted)) })),
                ("until admitted", (stats.admitted > 0).then_some(latency)),
            ]),
        )
    };
    let content = html! {
        form.filter action=(request.root.to("pipelines")) method="get" role="search" {
            label.hidden for="filter" { "Name of the pipeline" }
            input #filter name="name" type="search" value=(name) placeholder="name of the pipeline" autocomplete="off";
            button.btn type="submit" { "Show" }
        }
        (result)
        (card("accepted", "Accepted by jobs", "", table.or(empty(
            "No job accepts a pipeline.",
            html! { "A job accepts the hand-offs of a pipeline with " code { "#[job(accepts = \"…\")]" } "." },
        ))))
        (commands(&request, &["pipelines list".to_owned(), format!("pipelines show {}", if name.is_empty() { "NAME".to_owned() } else { shell(name) })]))
    };
    Page::new("pipelines", "Pipelines", content).answer(&request).await
}

pub(crate) async fn unreadable(request: Request) -> Answer {
    request.sees_everything("unreadable rows")?;
    let rows = request.ratchet().store().unreadable(SIZE).await?;
    let mut table =
        Table::new("Unreadable jobs", &["job", "queue", "column", "why", "id", "actions"]);
    for row in &rows {
        let job = row.id.to_string();
        table.row([
            row.name.as_ref().map_or_else(Table::none, |name| text(name, 60)),
            row.queue.as_ref().map_or_else(Table::none, |queue| text(queue, 40)),
            html! { code { (text(&row.column, 40)) } },
            text(&row.why, 160),
            id(&job),
            html! { span.row-actions { (action_buttons(&request, act::of_target(Target::Row), &[("job", &job)])) } },
        ]);
    }
    let content = html! {
        (card("unreadable", "Unreadable jobs", "set aside, so that they block no other job", table.or(empty(
            "Every job that was read so far can be read.",
            "A job appears here if its row is damaged or was written by a newer version.",
        ))))
        (commands(&request, &["unreadable list".to_owned()]))
    };
    Page::new("unreadable", "Unreadable jobs", content).answer(&request).await
}
