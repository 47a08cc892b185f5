//! `ratchet rejects`

use jiff::Timestamp;
use ratchet_core::{JobId, RejectTrend};
use ratchet_store::model::{Reject, RejectFilter, RejectGroup};
use serde::Serialize;

use super::{Session, read};
use crate::args::{Rejects, WhichRejects};
use crate::exit::Failure;
use crate::output::text::{count, counted, duration, sparkline};
use crate::output::{Format, column, number};

/// How many characters a sparkline has.
const WIDTH: usize = 24;

pub(super) async fn run(session: &Session, command: Rejects) -> Result<(), Failure> {
    match command {
        Rejects::List { which, last } => {
            groups(session, &within(session, which, last.as_deref()).await?).await
        }
        Rejects::Trends { which, last } => trends(session, &filter(which), &last).await,
        Rejects::Sample { which, last, limit } => {
            sample(session, &within(session, which, last.as_deref()).await?, limit).await
        }
        Rejects::Forget { job } => forget(session, job).await,
    }
}

fn filter(which: WhichRejects) -> RejectFilter {
    let mut filter = RejectFilter::any();
    filter.job_name = which.name;
    filter.fingerprint = which.fingerprint;
    filter
}

/// Returns the filter of a command, with the time it covers.
async fn within(
    session: &Session,
    which: WhichRejects,
    last: Option<&str>,
) -> Result<RejectFilter, Failure> {
    let mut filter = filter(which);
    if let Some(last) = last {
        let now = session.ratchet.store().now().await?;
        let since = now.saturating_sub(read::duration(last)?);
        filter.since = Some(since.unwrap_or(Timestamp::MIN));
    }
    Ok(filter)
}

async fn groups(session: &Session, filter: &RejectFilter) -> Result<(), Failure> {
    let groups = session.ratchet.rejects().groups(filter).await?;
    let columns = [
        column("job", |group: &RejectGroup, _: &_| group.job_name.clone()),
        column("error", |group, _| group.error_type.clone()),
        column("fingerprint", |group, _| group.fingerprint.clone()),
        number("items", |group, _| count(group.count)),
        column("oldest", |group, out| out.time(group.oldest)),
        column("latest", |group, out| out.time(group.latest)),
    ];
    session.out.list(&groups, &columns, "no job has rejected an item")
}

/// A group, with the times of its numbers.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    trend: RejectTrend,
    from: Timestamp,
    interval_seconds: u64,
}

async fn trends(session: &Session, filter: &RejectFilter, last: &str) -> Result<(), Failure> {
    let trends = session.ratchet.rejects().trends(filter, read::duration(last)?).await?;
    let (from, interval) = (trends.from, trends.interval);
    let row = |trend| Row { trend, from, interval_seconds: interval.as_secs() };
    let rows: Vec<_> = trends.groups.into_iter().map(row).collect();
    let columns = [
        column("job", |row: &Row, _: &_| row.trend.job_name.clone()),
        column("error", |row, _| row.trend.error_type.clone()),
        column("fingerprint", |row, _| row.trend.fingerprint.clone()),
        number("rejected", |row, _| count(row.trend.rejected.iter().sum())),
        number("stored", |row, _| count(row.trend.backlog.last().copied().unwrap_or_default())),
        column("rejected over time", |row, out| match out.format {
            Format::Table => sparkline(&row.trend.rejected, WIDTH),
            _ => row.trend.rejected.iter().map(u64::to_string).collect::<Vec<_>>().join(" "),
        }),
    ];
    if session.out.format == Format::Table && !rows.is_empty() {
        eprintln!("intervals of {}, from {from}", duration(interval));
    }
    session.out.list(&rows, &columns, "no job has rejected an item")
}

async fn sample(session: &Session, filter: &RejectFilter, limit: u32) -> Result<(), Failure> {
    let items = session.ratchet.rejects().list(filter, None, limit).await?;
    let columns = [
        column("job id", |reject: &Reject, _: &_| reject.job.to_string()),
        number("index", |reject, _| reject.item.index.to_string()),
        column("rejected", |reject, out| out.time(reject.at)),
        column("message", |reject, out| out.short(&reject.item.message, 60)),
        column("item", |reject, out| match &reject.item.payload {
            Some(payload) => out.short(payload, 80),
            None => out.none(),
        }),
    ];
    session.out.list(&items, &columns, "no job has rejected such an item")
}

async fn forget(session: &Session, job: JobId) -> Result<(), Failure> {
    const PAGE: u32 = 1000;
    let mut filter = RejectFilter::any();
    filter.job = Some(job);
    let rejects = session.ratchet.rejects();
    if !session.proceed(&format!("delete the rejected items of job {job}"), true)? {
        return Ok(());
    }
    let mut deleted = 0;
    loop {
        let page = rejects.list(&filter, None, PAGE).await?;
        if page.is_empty() {
            break;
        }
        rejects.forget(&page).await?;
        deleted += page.len() as u64;
    }
    if deleted == 0 {
        return Err(Failure::not_found(format!("job {job} has no rejected items")));
    }
    eprintln!("{} deleted", counted(deleted, "rejected item"));
    Ok(())
}
