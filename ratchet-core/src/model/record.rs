//! A job as it stands.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    CancelCause, Envelope, FailureRecord, JobId, JobSpec, JobState, Member, NodeId, Point, Wait,
};

/// A job as it stands in the store: what was submitted, and everything that has moved since.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobRecord {
    /// Its id.
    pub id: JobId,
    /// What was submitted.
    pub spec: Arc<JobSpec>,
    /// Where it is in its life.
    pub state: JobState,
    /// For a paused job: where it came from.
    pub paused_from: Option<JobState>,
    /// When it is or was due.
    pub due: Timestamp,
    /// When it was submitted.
    pub queued_at: Timestamp,
    /// When its latest run was claimed.
    pub started_at: Option<Timestamp>,
    /// When it came to its end.
    pub finished_at: Option<Timestamp>,
    /// How long its latest run had waited: from due to claimed.
    pub queue_wait: Option<Duration>,
    /// How long its latest run took.
    pub duration: Option<Duration>,
    /// The node of its latest run.
    pub node: Option<NodeId>,
    /// Failed attempts in this life.
    pub attempts: u32,
    /// How often its worker died with it.
    pub crashes: u32,
    /// How often it was put off.
    pub deferrals: u32,
    /// Which life this is: 1, plus one per manual retry.
    pub generation: u32,
    /// How often it was claimed, over all lives. Never repeats.
    pub run: u64,
    /// The version of the fence: grows with every move.
    pub version: u64,
    /// The last progress a run reported.
    pub progress: Option<Progress>,
    /// The last state a run saved.
    pub checkpoint: Option<serde_json::Value>,
    /// What it returned, as JSON.
    pub output: Option<String>,
    /// The last failure of this life.
    pub error: Option<FailureRecord>,
    /// For a failed job: the terminal envelope.
    pub envelope: Option<Envelope>,
    /// For a canceled job: why.
    pub canceled: Option<CancelCause>,
    /// For a job that was canceled because of another: which one that goes back to.
    pub root_cause: Option<Point>,
    /// For a step: what it waits for. A pending job that waits is not claimable.
    pub wait: Option<Wait>,
    /// What went wrong beside the outcome: an oversized result, a child that was dropped.
    pub warnings: Vec<String>,
}

/// How the warning begins that tells of a result that was not kept.
pub(crate) const NOT_KEPT: &str = "the result was not kept";

/// The warning of a run that tells of a result that was not kept.
pub(crate) fn not_kept(warnings: &[String]) -> Option<&str> {
    warnings.iter().map(String::as_str).find(|warning| warning.starts_with(NOT_KEPT))
}

/// How far a run has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// 0 to 100.
    pub percent: f32,
    /// What it is doing.
    pub message: String,
}

impl JobRecord {
    /// A job that was just submitted.
    pub fn pending(id: JobId, spec: JobSpec, due: Timestamp, now: Timestamp) -> Self {
        let wait = spec.step.as_ref().and_then(|step| step.wait);
        Self {
            id,
            spec: Arc::new(spec),
            state: JobState::Pending,
            paused_from: None,
            due,
            queued_at: now,
            started_at: None,
            finished_at: None,
            queue_wait: None,
            duration: None,
            node: None,
            attempts: 0,
            crashes: 0,
            deferrals: 0,
            generation: 1,
            run: 0,
            version: 0,
            progress: None,
            checkpoint: None,
            output: None,
            error: None,
            envelope: None,
            canceled: None,
            root_cause: None,
            wait,
            warnings: Vec::new(),
        }
    }

    /// Why the value that the job returned is not here, if it returned one that was not kept.
    ///
    /// A job that has succeeded without an output returned `()` or `null` unless this says otherwise.
    pub fn output_not_kept(&self) -> Option<&str> {
        let lost = self.output.is_none() && self.state == JobState::Succeeded;
        not_kept(&self.warnings).filter(|_| lost)
    }

    /// Whether the job may be claimed once it is due.
    pub fn is_claimable(&self) -> bool {
        self.state == JobState::Pending && self.wait.is_none()
    }

    /// The job as its graph sees it.
    pub fn member(&self) -> Member {
        let step = self.spec.step.as_deref();
        Member {
            id: self.id,
            job_name: self.spec.name.clone(),
            name: step.and_then(|step| step.name.clone()),
            number: step.map_or(0, |step| step.number),
            state: self.state,
            paused_from: self.paused_from,
            wait: self.wait,
            canceled: self.canceled,
            root_cause: self.root_cause,
            group: step.and_then(|step| step.group),
            edges: step.is_some_and(|step| step.edges),
            first_match: step.is_some_and(|step| step.first_match),
        }
    }

    /// Whether the job holds its business key by virtue of its state.
    pub fn is_live(&self) -> bool {
        match self.state {
            JobState::Pending | JobState::Running => true,
            JobState::Paused => self.paused_from == Some(JobState::Pending),
            JobState::Succeeded | JobState::Failed | JobState::Canceled => false,
        }
    }
}
