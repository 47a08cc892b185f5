//! `ratchet stats`

use std::fmt::Write as _;
use std::time::Duration;

use ratchet_core::{DeployMark, StatsBy, StatsPoint, StatsRequest, StatsSeries};
use serde::Serialize;

use super::{Session, read};
use crate::args::Stats;
use crate::exit::Failure;
use crate::output::text::{count, duration, printable, sparkline};
use crate::output::{Column, Format, Output, column, number};

/// How many characters a sparkline has.
const WIDTH: usize = 24;

/// How many deploys are shown below a table.
const DEPLOYS: usize = 5;

/// What a job did in the whole time.
#[derive(Debug, Serialize)]
struct Summary {
    queue: String,
    name: String,
    #[serde(flatten)]
    total: StatsPoint,
    #[serde(skip)]
    started: Vec<u64>,
}

impl Summary {
    fn new(series: StatsSeries) -> Self {
        let total = series.total();
        let started = series.points.iter().map(|point| point.counts.started).collect();
        Self { queue: series.queue, name: series.name, total, started }
    }
}

pub(super) async fn run(session: &Session, args: Stats) -> Result<(), Failure> {
    let span = read::duration(&args.last)?;
    let mut request = session.ratchet.stats().last(span);
    if let Some(queue) = args.queue {
        request = request.queue(queue);
    }
    if let Some(name) = args.name {
        request = request.name(name);
    }
    if args.points { points(session, request).await } else { jobs(session, request, span).await }
}

async fn jobs(session: &Session, request: StatsRequest, span: Duration) -> Result<(), Failure> {
    let stats = request.series(StatsBy::QueueAndName).await?;
    let mut jobs: Vec<_> = stats.series.into_iter().map(Summary::new).collect();
    jobs.sort_by(|one, other| other.total.counts.started.cmp(&one.total.counts.started));
    let empty = format!("nothing was counted in the last {}", duration(span));
    session.out.list(&jobs, &job_columns(), &empty)
}

async fn points(session: &Session, request: StatsRequest) -> Result<(), Failure> {
    let stats = request.points().await?;
    session.out.list(&stats.points, &point_columns(), "")?;
    deploys(session, &stats.deploys)
}

fn deploys(session: &Session, deploys: &[DeployMark]) -> Result<(), Failure> {
    let out = &session.out;
    if out.format != Format::Table || deploys.is_empty() {
        return Ok(());
    }
    let mut text = "\n".to_owned();
    for mark in deploys.iter().rev().take(DEPLOYS) {
        let (program, version) = (printable(&mark.program), printable(&mark.binary_version));
        let _ = writeln!(text, "deployed  {program} {version}, {}", out.time(mark.at));
    }
    out.print(&text)
}

fn time(out: &Output, value: Option<Duration>) -> String {
    match (value, out.format) {
        (None, _) => out.none(),
        (Some(value), Format::Table) => duration(value),
        (Some(value), _) => value.as_secs_f64().to_string(),
    }
}

/// Returns a number: with separators in a table.
fn plain(out: &Output, number: u64) -> String {
    if out.format == Format::Table { count(number) } else { number.to_string() }
}

fn job_columns() -> Vec<Column<Summary>> {
    vec![
        column("queue", |job, _| job.queue.clone()),
        column("name", |job, _| job.name.clone()),
        number("started", |job, out| plain(out, job.total.counts.started)),
        number("succeeded", |job, out| plain(out, job.total.counts.succeeded)),
        number("retried", |job, out| plain(out, job.total.counts.retried)),
        number("failed", |job, out| plain(out, job.total.counts.failed)),
        number("wait p95", |job, out| time(out, job.total.wait.p95)),
        number("run p50", |job, out| time(out, job.total.run.p50)),
        number("run p95", |job, out| time(out, job.total.run.p95)),
        number("run p99", |job, out| time(out, job.total.run.p99)),
        column("runs", |job, out| match out.format {
            Format::Table => sparkline(&job.started, WIDTH),
            _ => job.started.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
        }),
    ]
}

fn point_columns() -> Vec<Column<StatsPoint>> {
    vec![
        column("at", |point, _| point.at.to_string()),
        number("submitted", |point, out| plain(out, point.counts.submitted)),
        number("started", |point, out| plain(out, point.counts.started)),
        number("succeeded", |point, out| plain(out, point.counts.succeeded)),
        number("retried", |point, out| plain(out, point.counts.retried)),
        number("failed", |point, out| plain(out, point.counts.failed)),
        number("wait p50", |point, out| time(out, point.wait.p50)),
        number("wait p95", |point, out| time(out, point.wait.p95)),
        number("run p50", |point, out| time(out, point.run.p50)),
        number("run p95", |point, out| time(out, point.run.p95)),
        number("run p99", |point, out| time(out, point.run.p99)),
        number("depth", |point, out| {
            point.gauges.as_ref().map_or_else(|| out.none(), |gauges| plain(out, gauges.depth))
        }),
        number("oldest", |point, out| {
            time(out, point.gauges.as_ref().map(|gauges| gauges.oldest_age))
        }),
    ]
}
