//! Lists of alerts and rejected items, and the numbers of a pipeline.

use ratchet_core::JobId;
use ratchet_store::model::{Alert, RejectFilter, RejectGroup};

use super::Session;
use crate::exit::Failure;
use crate::output::text::{count, counted, duration, printable};
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

pub(super) async fn rejects(session: &Session, name: Option<String>) -> Result<(), Failure> {
    let mut filter = RejectFilter::any();
    filter.job_name = name;
    let groups = session.ratchet.rejects().groups(&filter).await?;
    let columns = [
        column("job", |group: &RejectGroup, _: &_| group.job_name.clone()),
        column("error", |group, _| group.error_type.clone()),
        column("fingerprint", |group, _| group.fingerprint.clone()),
        number("items", |group, _| count(group.count)),
        column("latest", |group, out| out.time(group.latest)),
    ];
    session.out.list(&groups, &columns, "no job has rejected an item")
}

pub(super) async fn forget_rejects(session: &Session, job: JobId) -> Result<(), Failure> {
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

pub(super) async fn pipeline(session: &Session, name: String) -> Result<(), Failure> {
    let stats = session.ratchet.pipeline(name.clone()).stats().await?;
    let text = format!(
        "{}\n  waiting    {}\n  oldest     {}\n  finished   {}\n  repeats    {}",
        session.out.bold(&printable(&name)),
        count(stats.backlog),
        duration(stats.lag),
        count(stats.finished),
        count(stats.repeats),
    );
    session.out.object(&stats, &text)
}
