//! `ratchet stats`

use std::time::Duration;

use ratchet_core::{DeployMark, StatsBy, StatsPoint, StatsRequest, StatsSeries};
use serde::Serialize;

use super::{Session, read};
use crate::args::Stats;
use crate::exit::Failure;
use crate::output::text::{count, duration, sparkline};
use crate::output::{Column, Format, Output, column, number};

/// How many characters a sparkline has.
const WIDTH: usize = 24;

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

/// A point in time, with the deploys in its slot.
#[derive(Debug, Serialize)]
struct Point {
    #[serde(flatten)]
    point: StatsPoint,
    deploys: Vec<DeployMark>,
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
    jobs.sort_by_key(|job| std::cmp::Reverse(job.total.counts.started));
    let empty = format!("nothing was counted in the last {}", duration(span));
    session.out.list(&jobs, &job_columns(), &empty)
}

async fn points(session: &Session, request: StatsRequest) -> Result<(), Failure> {
    let stats = request.points().await?;
    let length = stats.tier.slot_length();
    let row = |point: StatsPoint| {
        let is_in_slot = |mark: &&DeployMark| mark.at >= point.at && mark.at < point.at + length;
        let deploys = stats.deploys.iter().filter(is_in_slot).cloned().collect();
        Point { point, deploys }
    };
    let points: Vec<_> = stats.points.iter().cloned().map(row).collect();
    session.out.list(&points, &point_columns(), "")
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

fn point_columns() -> Vec<Column<Point>> {
    vec![
        column("at", |row, _| row.point.at.to_string()),
        number("submitted", |row, out| plain(out, row.point.counts.submitted)),
        number("started", |row, out| plain(out, row.point.counts.started)),
        number("succeeded", |row, out| plain(out, row.point.counts.succeeded)),
        number("retried", |row, out| plain(out, row.point.counts.retried)),
        number("failed", |row, out| plain(out, row.point.counts.failed)),
        number("wait p50", |row, out| time(out, row.point.wait.p50)),
        number("wait p95", |row, out| time(out, row.point.wait.p95)),
        number("run p50", |row, out| time(out, row.point.run.p50)),
        number("run p95", |row, out| time(out, row.point.run.p95)),
        number("run p99", |row, out| time(out, row.point.run.p99)),
        number("depth", |row, out| {
            row.point.gauges.as_ref().map_or_else(|| out.none(), |gauges| plain(out, gauges.depth))
        }),
        number("oldest", |row, out| {
            time(out, row.point.gauges.as_ref().map(|gauges| gauges.oldest_age))
        }),
        column("deployed", |row, _| {
            let deploy = |mark: &DeployMark| format!("{} {}", mark.program, mark.binary_version);
            row.deploys.iter().map(deploy).collect::<Vec<_>>().join(", ")
        }),
    ]
}
