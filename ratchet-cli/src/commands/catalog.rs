//! `ratchet catalog …`

use std::fmt::Write as _;

use ratchet_core::CatalogJob;

use super::Session;
use crate::args::Catalog;
use crate::exit::Failure;
use crate::output::text::{counted, duration, printable_lines};
use crate::output::{column, number};

pub(super) async fn run(session: &Session, command: Catalog) -> Result<(), Failure> {
    match command {
        Catalog::List => {
            let jobs = session.ratchet.catalog().list().await?;
            let columns = [
                column("job", |job: &CatalogJob, _: &_| job.record.entry.name.clone()),
                column("program", |job, _| job.record.program.clone()),
                column("version", |job, _| job.record.binary_version.clone()),
                column("queue", |job, _| job.record.entry.template.queue.clone()),
                column("arguments", |job, out| out.short(&arguments(job), 60)),
                number("workers", |job, _| job.workers.to_string()),
                column("seen", |job, out| out.time(job.record.last_seen)),
            ];
            session.out.list(&jobs, &columns, "no worker has recorded its jobs yet")
        }
        Catalog::Show { name } => {
            let found = session.ratchet.catalog().get(&name).await?;
            let missing =
                || Failure::not_found(format!("no program of the cluster has recorded `{name}`"));
            let job = found.ok_or_else(missing)?;
            session.out.object(&job, &described(session, &job))
        }
    }
}

fn arguments(job: &CatalogJob) -> String {
    let args = job.record.entry.args.iter();
    let args: Vec<_> = args
        .map(|arg| if arg.required { arg.name.clone() } else { format!("[{}]", arg.name) })
        .collect();
    args.join(", ")
}

fn described(session: &Session, job: &CatalogJob) -> String {
    let (record, out) = (&job.record, &session.out);
    let entry = &record.entry;
    let options = &entry.template.options;
    let mut text = format!("{} of program {}", out.bold(&entry.name), record.program);
    let mut field = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = write!(text, "\n  {name:<9}{value}");
        }
    };
    field("docs", entry.docs.lines().next().unwrap_or_default().to_owned());
    field("aliases", entry.aliases.join(", "));
    field("version", format!("{}, recorded by {}", entry.version, record.binary_version));
    field("queue", entry.template.queue.clone());
    field("retries", options.max_retries.to_string());
    field("timeout", duration(options.timeout));
    field("service", entry.template.service.clone().unwrap_or_default());
    field("schedule", entry.schedule.clone().unwrap_or_default());
    field("tags", entry.template.tags.join(", "));
    field("workers", counted(job.workers as u64, "live worker"));
    field("seen", format!("{} (first {})", out.time(record.last_seen), record.first_seen));
    for arg in &entry.args {
        let presence = if arg.required { "required" } else { "optional" };
        let secret = if arg.secret { ", secret" } else { "" };
        let docs = arg.docs.lines().next().unwrap_or_default();
        let _ = write!(text, "\n  --arg {}=…  {}, {presence}{secret}  {docs}", arg.name, arg.ty);
    }
    printable_lines(&text)
}
