//! Lists of alerts, and the numbers of a pipeline.

use std::fmt::Write as _;

use ratchet_core::{HandOffStats, PipelineRecord};
use ratchet_store::model::Alert;

use serde::Serialize;

use super::Session;
use crate::exit::Failure;
use crate::output::text::{count, duration, printable};
use crate::output::{column, number};

pub(super) async fn alerts(session: &Session, limit: u32) -> Result<(), Failure> {
    let alerts = session.ratchet.alerts().list(limit).await?;
    let columns = [
        column("at", |alert: &Alert, out: &crate::output::Output| out.time(alert.at)),
        column("job", |alert, _| alert.job_name.clone()),
        column("id", |alert, _| alert.job_id.to_string()),
        number("suppressed", |alert, _| count(alert.suppressed)),
        column("message", |alert, out| out.short(&alert.message, 80)),
    ];
    session.out.list(&alerts, &columns, "no job has raised an alert")
}

pub(super) async fn pipeline(session: &Session, name: String) -> Result<(), Failure> {
    let pipeline = session.ratchet.pipeline(name.clone());
    let stats = pipeline.stats().await?;
    let acceptor = pipeline.acceptor().await?;
    let mut text = format!(
        "{}\n  waiting    {}\n  oldest     {}\n  finished   {}\n  repeats    {}",
        session.out.bold(&printable(&name)),
        count(stats.backlog),
        duration(stats.lag),
        count(stats.finished),
        count(stats.repeats),
    );
    if let Some(accepted) = &acceptor {
        let _ = write!(
            text,
            "\n  accepted   by job {} of program {}\n  limit      {}\n  admitted   {}\n  latency    {} on average, {} at most\n  refusals   {}",
            printable(&accepted.job),
            printable(&accepted.program),
            accepted.backlog_limit.map_or("none".to_owned(), |limit| count(u64::from(limit))),
            count(stats.admitted),
            duration(stats.latency),
            duration(stats.longest_latency),
            count(accepted.refusals),
        );
    }
    session.out.object(&PipelineView { stats, acceptor }, &text)
}

/// A pipeline with its numbers and the job that accepts it.
#[derive(Serialize)]
struct PipelineView {
    #[serde(flatten)]
    stats: HandOffStats,
    acceptor: Option<PipelineRecord>,
}

pub(super) async fn pipelines(session: &Session) -> Result<(), Failure> {
    let pipelines = session.ratchet.pipelines().await?;
    let columns = [
        column("pipeline", |it: &PipelineRecord, _| it.pipeline.clone()),
        column("accepted by", |it, _| it.job.clone()),
        column("program", |it, _| it.program.clone()),
        number("backlog", |it, _| count(it.backlog)),
        number("limit", |it, _| it.backlog_limit.map_or(String::new(), |it| count(it.into()))),
        number("refusals", |it, _| count(it.refusals)),
    ];
    session.out.list(&pipelines, &columns, "no job accepts a pipeline")
}
