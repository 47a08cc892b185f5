//! `ratchet failures …`

use std::fmt::Write as _;

use jiff::Timestamp;
use ratchet_core::{BulkVerb, FailureGroup, FailureGroups, FailureState};
use ratchet_core::{Filter, JobState, PageRequest, Redrive};

use super::{Session, jobs, operations, read};
use crate::args::{Bulk, Failures};
use crate::exit::Failure;
use crate::output::text::{count, counted, printable};
use crate::output::{column, number};

/// How many failed jobs are read to find a group by the beginning of its fingerprint.
const READ: u32 = 10_000;

pub(super) async fn run(session: &Session, command: Failures) -> Result<(), Failure> {
    match command {
        Failures::List { filter, read, state } => list(session, &filter, read, &state).await,
        Failures::Acknowledge { fingerprint } => {
            mark(session, &fingerprint, "acknowledge", Mark::Acknowledge).await
        }
        Failures::Resolve { fingerprint } => {
            mark(session, &fingerprint, "resolve", Mark::Resolve).await
        }
        Failures::Ignore { fingerprint, length } => {
            let length = length.as_deref().map(read::duration).transpose()?;
            let until = length.map(|length| session.out.now + length);
            mark(session, &fingerprint, "ignore", Mark::Ignore(until)).await
        }
        Failures::Reopen { fingerprint } => {
            mark(session, &fingerprint, "reopen", Mark::Reopen).await
        }
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

async fn list(
    session: &Session,
    words: &[String],
    limit: u32,
    states: &[FailureState],
) -> Result<(), Failure> {
    let filter = read::filter(words, session.out.now)?;
    let mut found: FailureGroups = session.ratchet.failures().groups(&filter, limit).await?;
    found.groups.retain(|group| states.is_empty() || states.contains(&group.state));
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
        column("state", |group, _| group.state.to_string()),
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

/// Finds the groups whose fingerprint begins so. They must have the same fingerprint.
async fn groups_of(session: &Session, fingerprint: &str) -> Result<Vec<FailureGroup>, Failure> {
    let found = session.ratchet.failures().groups(&Filter::any(), READ).await?;
    let mut groups = found.groups;
    groups.retain(|group| group.fingerprint.starts_with(fingerprint));
    let Some(group) = groups.first() else {
        let shown = printable(fingerprint);
        return Err(Failure::not_found(format!("no failed job has the fingerprint `{shown}`")));
    };
    if let Some(other) = groups.iter().find(|other| other.fingerprint != group.fingerprint) {
        return Err(Failure::usage(format!(
            "`{fingerprint}` is the beginning of several fingerprints, such as {} and {}",
            group.fingerprint, other.fingerprint
        )));
    }
    Ok(groups)
}

/// What an operator says about a group.
#[derive(Clone, Copy)]
enum Mark {
    Acknowledge,
    Resolve,
    Ignore(Option<Timestamp>),
    Reopen,
}

async fn mark(session: &Session, fingerprint: &str, verb: &str, mark: Mark) -> Result<(), Failure> {
    let failures = session.ratchet.failures();
    for group in groups_of(session, fingerprint).await? {
        let (name, fingerprint) = (&group.job_name, &group.fingerprint);
        let shown = format!("{fingerprint} of {}", printable(name));
        if !session.proceed(&format!("{verb} failures {shown}"), false)? {
            continue;
        }
        let state = match mark {
            Mark::Acknowledge => {
                failures.acknowledge(name, fingerprint).await.map(|()| "acknowledged")
            }
            Mark::Resolve => failures.resolve(name, fingerprint).await.map(|()| "resolved"),
            Mark::Ignore(until) => {
                failures.ignore(name, fingerprint, until).await.map(|()| "ignored")
            }
            Mark::Reopen => failures.reopen(name, fingerprint).await.map(|_| "open"),
        }?;
        eprintln!("failures {shown} are {state}");
    }
    Ok(())
}

async fn show(session: &Session, fingerprint: &str) -> Result<(), Failure> {
    let groups = groups_of(session, fingerprint).await?;
    let Some(group) = groups.first() else { return Ok(()) };
    let filter = Filter::any().state(JobState::Failed).fingerprint(&group.fingerprint);
    let page =
        session.ratchet.jobs().list(&filter, PageRequest { before: None, limit: 100 }).await?;
    session.out.list(&page.jobs, &jobs::columns(), "no job matches")?;
    for group in &groups {
        let Some(mark) = &group.mark else { continue };
        let who = mark.actor.as_ref().map_or("an operator".to_owned(), ToString::to_string);
        let why = mark.actor.as_ref().and_then(|actor| actor.reason.as_deref());
        let why = why.map(|why| format!(", reason: {why}")).unwrap_or_default();
        let text = format!("{}: {} since {} by {who}{why}", group.job_name, group.state, mark.at);
        eprintln!("{}", printable(&text));
    }
    eprintln!("retry them: ratchet failures redrive fingerprint:{}", group.fingerprint);
    Ok(())
}
