//! The catalog: the jobs that the programs of the cluster can run.

use maud::html;
use ratchet_core::CatalogJob;

use super::commands;
use crate::problem::Problem;
use crate::request::{Answer, Request};
use crate::text::{brief, count, duration, shell};
use crate::views::{Page, Table, card, definition, empty, text, time};

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("the catalog")?;
    let jobs = request.ratchet().catalog().list().await?;
    let mut table =
        Table::new("Jobs", &["job", "program", "queue", "arguments", "#live workers", "recorded"]);
    for job in &jobs {
        let entry = &job.record.entry;
        let link = request.root.with("catalog/job", &[("name", &entry.name)]);
        let args: Vec<_> = entry.args.iter().map(|arg| arg.name.as_str()).collect();
        table.row([
            html! { a href=(link) { (text(&entry.name, 80)) } },
            html! { (text(&job.record.program, 40)) " " small { (text(&job.record.binary_version, 40)) } },
            text(&entry.template.queue, 40),
            text(&args.join(", "), 80),
            html! { (count(job.workers as u64)) },
            time(job.record.last_seen, request.now),
        ]);
    }
    let content = html! {
        (card("catalog", "Jobs", "recorded by each worker when it starts", table.or(empty(
            "No worker has recorded its jobs yet.",
            html! { "A worker records the jobs of its program when it starts." },
        ))))
        (commands(&request, &["catalog list".to_owned()]))
    };
    Page::new("catalog", "Catalog", content).answer(&request).await
}

/// Returns the job that the address names.
pub(crate) async fn wanted(request: &Request) -> Result<CatalogJob, Problem> {
    request.sees_everything("the catalog")?;
    let name = request.wanted("name")?;
    let found = request.ratchet().catalog().get(name).await?;
    found.ok_or_else(|| {
        Problem::not_found(format!("no program has recorded a job `{}`", brief(name, 80)))
    })
}

pub(crate) async fn one(request: Request) -> Answer {
    let job = wanted(&request).await?;
    let (record, entry) = (&job.record, &job.record.entry);
    let options = &entry.template.options;
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let shown = |value: Option<String>| value.map(|value| text(&value, 400));
    let details = definition([
        ("Docs", shown(some(&entry.docs))),
        (
            "Program",
            Some(html! { (text(&record.program, 80)) " " (text(&record.binary_version, 40)) }),
        ),
        ("Aliases", shown(some(&entry.aliases.join(", ")))),
        ("Version", Some(html! { (entry.version) })),
        ("Queue", shown(some(&entry.template.queue))),
        ("Retries", Some(html! { (options.max_retries) })),
        ("Timeout", Some(html! { (duration(options.timeout)) })),
        ("Service", shown(entry.template.service.clone())),
        ("Schedule", shown(entry.schedule.clone())),
        ("Live workers", Some(html! { (count(job.workers as u64)) })),
        ("First recorded", Some(time(record.first_seen, request.now))),
        ("Last recorded", Some(time(record.last_seen, request.now))),
    ]);
    let mut table = Table::new("Arguments", &["argument", "type", "presence", "docs"]);
    for arg in &entry.args {
        table.row([
            html! { (text(&arg.name, 80)) @if arg.secret { " " small { "secret" } } },
            html! { code { (text(&arg.ty, 120)) } },
            html! { @if arg.required { "required" } @else { "optional" } },
            text(&arg.docs, 200),
        ]);
    }
    let none = empty("The job has no arguments.", html! {});
    let content = html! {
        (card("job", "Job", "", details))
        (card("arguments", "Arguments", "", table.or(none)))
        (commands(&request, &[format!("catalog show {}", shell(&entry.name))]))
    };
    let mut page = Page::new("catalog", brief(&entry.name, 80), content);
    page.parent = Some((request.root.to("catalog"), "Catalog"));
    page.answer(&request).await
}
