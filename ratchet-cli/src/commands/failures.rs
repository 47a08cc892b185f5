//! `ratchet failures …`

use std::fmt::Write as _;

use ratchet_core::{BulkVerb, FailureGroup, FailureGroups};
use ratchet_core::{Filter, JobState, PageRequest, Redrive};

use super::{Session, jobs, operations, read};
use crate::args::{Bulk, Failures};
use crate::exit::Failure;
use crate::output::text::{count, counted};
use crate::output::{column, number};

/// How many failed jobs are read to find a group by the beginning of its fingerprint.
const READ: u32 = 10_000;

pub(super) async fn run(session: &Session, command: Failures) -> Result<(), Failure> {
    match command {
        Failures::List { filter, read } => list(session, &filter, read).await,
        Failures::Show { fingerprint } => show(session, &fingerprint).await,
        Failures::Redrive { filter, canary: Some(jobs), max_failed, .. } => {
            let filter = read::filter(&filter, session.out.now)?;
            let bulk = Bulk { pace: None, canary: Some(jobs), max_failed };
            operations::start(session, BulkVerb::Retry, &filter, &bulk, None).await
        }
        Failures::Redrive { filter, limit, batch, pace, .. } => {
            let filter = read::filter(&filter, session.out.now)?;
            let redrive =
                Redrive::new(filter.clone()).limit(limit).batch(batch).pace(read::duration(&pace)?);
            if !session
                .proceed(&format!("retry up to {limit} failed jobs that match `{filter}`"), false)?
            {
                return preview(session, filter, limit).await;
            }
            let redriven = session.ratchet.jobs().redrive(redrive).await?;
            let mut text = format!("{} retried", counted(redriven.retried.len() as u64, "job"));
            if !redriven.key_taken.is_empty() {
                let _ = write!(
                    text,
                    "\n{} skipped, because another live job holds the business key",
                    counted(redriven.key_taken.len() as u64, "job")
                );
            }
            session.out.object(&redriven, &text)
        }
    }
}

/// Shows which jobs a redrive would retry.
async fn preview(session: &Session, mut filter: Filter, limit: u32) -> Result<(), Failure> {
    filter.states = vec![JobState::Failed];
    let page = session
        .ratchet
        .jobs()
        .list(&filter.oldest_first(), PageRequest { before: None, limit })
        .await?;
    eprintln!("{} found", counted(page.jobs.len() as u64, "job"));
    session.out.list(&page.jobs, &jobs::columns(), "no failed job matches")
}

async fn list(session: &Session, words: &[String], limit: u32) -> Result<(), Failure> {
    let filter = read::filter(words, session.out.now)?;
    let found: FailureGroups = session.ratchet.failures().groups(&filter, limit).await?;
    let columns = [
        column("fingerprint", |group: &FailureGroup, _: &_| group.fingerprint.clone()),
        column("job", |group, _| group.job_name.clone()),
        column("error", |group, out| {
            out.short(&format!("{}: {}", group.error_type, group.message), 60)
        }),
        number("jobs", |group, _| count(group.count)),
        column("first", |group, out| out.time(group.first)),
        column("last", |group, out| out.time(group.last)),
        column("reason", |group, _| group.reason.to_string()),
    ];
    session.out.list(&found.groups, &columns, "no job has failed permanently")?;
    if !found.complete {
        eprintln!(
            "only the newest {} failed jobs were read; `--read` reads more",
            count(found.jobs)
        );
    }
    Ok(())
}

async fn show(session: &Session, fingerprint: &str) -> Result<(), Failure> {
    let found = session.ratchet.failures().groups(&Filter::any(), READ).await?;
    let mut matching =
        found.groups.iter().filter(|group| group.fingerprint.starts_with(fingerprint));
    let Some(group) = matching.next() else {
        return Err(Failure::not_found(format!(
            "no failed job has the fingerprint `{fingerprint}`"
        )));
    };
    if let Some(other) = matching.find(|other| other.fingerprint != group.fingerprint) {
        return Err(Failure::usage(format!(
            "`{fingerprint}` is the beginning of several fingerprints, such as {} and {}",
            group.fingerprint, other.fingerprint
        )));
    }
    let filter = Filter::any().state(JobState::Failed).fingerprint(&group.fingerprint);
    let page =
        session.ratchet.jobs().list(&filter, PageRequest { before: None, limit: 100 }).await?;
    session.out.list(&page.jobs, &jobs::columns(), "no job matches")?;
    eprintln!("retry them: ratchet failures redrive fingerprint:{}", group.fingerprint);
    Ok(())
}
