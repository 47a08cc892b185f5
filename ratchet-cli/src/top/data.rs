//! Reads what the screen shows, and does what the operator wants.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{
    FailureGroup, Filter, Finding, JobId, JobRecord, Overview, PageRequest, Ratchet, Redrive,
    StatsTier,
};

use super::state::{Action, State, Tab};
use crate::exit::Failure;
use crate::output::text::counted;

/// How many jobs the screen lists.
const JOBS: u32 = 200;

/// How many failed jobs are grouped.
const FAILURES: u32 = 1000;

/// How far back the history goes.
const HISTORY: Duration = Duration::from_hours(5);

/// What the store held at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) now: Timestamp,
    pub(super) overview: Option<Overview>,
    pub(super) findings: Vec<Finding>,
    pub(super) jobs: Vec<JobRecord>,
    pub(super) failures: Vec<FailureGroup>,
    /// The jobs that succeeded in each minute of the last hours.
    pub(super) succeeded: Vec<u64>,
}

impl Snapshot {
    pub(super) fn empty() -> Self {
        Self {
            now: Timestamp::UNIX_EPOCH,
            overview: None,
            findings: Vec::new(),
            jobs: Vec::new(),
            failures: Vec::new(),
            succeeded: Vec::new(),
        }
    }
}

/// Reads what the visible tab needs.
pub(super) async fn read(ratchet: &Ratchet, state: &State) -> Result<Snapshot, Failure> {
    let overview = ratchet.overview().await?;
    let mut snapshot = Snapshot { now: overview.now, ..Snapshot::empty() };
    match state.tab {
        Tab::Overview => {
            snapshot.findings = ratchet.diagnose().await?;
            let history = ratchet.stats().last(HISTORY).tier(StatsTier::Minute).points().await?;
            let succeeded = history.points.iter().map(|point| point.counts.succeeded);
            snapshot.succeeded = succeeded.collect();
        }
        Tab::Jobs => {
            let request = PageRequest { before: None, limit: JOBS };
            snapshot.jobs = ratchet.jobs().list(&state.filter, request).await?.jobs;
        }
        Tab::Failures => {
            snapshot.failures = ratchet.failures().groups(&Filter::any(), FAILURES).await?.groups;
        }
        Tab::Queues | Tab::Nodes => {}
    }
    snapshot.overview = Some(overview);
    Ok(snapshot)
}

/// Returns why a job is not running.
pub(super) async fn explain(ratchet: &Ratchet, id: JobId) -> Result<String, Failure> {
    let Some(job) = ratchet.jobs().get(id).await? else {
        return Err(Failure::not_found(format!("there is no job {id}")));
    };
    let explanation = ratchet.jobs().explain(id).await?;
    let why = explanation.map_or_else(String::new, |why| why.to_string().replace("; ", "\n"));
    let error = job
        .error
        .as_ref()
        .map_or_else(String::new, |error| format!("\n\n{}: {}", error.error_type, error.message));
    let arguments = ratchet.jobs().arguments(&job);
    Ok(format!(
        "{} {id}\nqueue {}, {}\narguments {arguments}\n\n{why}{error}",
        job.spec.name,
        job.spec.queue,
        job.state.name().to_lowercase()
    ))
}

/// Applies a change. Returns what to tell the operator.
pub(super) async fn act(ratchet: &Ratchet, action: &Action) -> Result<String, Failure> {
    match action {
        Action::RetryJob(id) => ratchet.jobs().retry(*id).await?,
        Action::CancelJob(id) => {
            if !ratchet.jobs().cancel(*id).await? {
                return Ok(format!("job {id} had already ended"));
            }
        }
        Action::PauseJob(id) => ratchet.jobs().pause(*id).await?,
        Action::ResumeJob(id) => ratchet.jobs().resume(*id).await?,
        Action::PauseQueue(queue) => drop(ratchet.queues().pause(queue).await?),
        Action::ResumeQueue(queue) => drop(ratchet.queues().resume(queue).await?),
        Action::RetryGroup { name, fingerprint } => {
            let filter = Filter::any().name(name).fingerprint(fingerprint);
            let redriven = ratchet.jobs().redrive(Redrive::new(filter)).await?;
            return Ok(format!("{} retried", counted(redriven.retried.len() as u64, "job")));
        }
    }
    Ok(format!("done: {action}"))
}
