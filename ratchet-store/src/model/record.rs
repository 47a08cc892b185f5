//! The stored state of a job.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};

use super::{
    CancelCause, Envelope, FailureRecord, FinishedOutcome, JobId, JobSpec, JobState, Member,
    NodeId, Vertex, Wait,
};

/// The stored state of a job: the submitted spec and everything that changed since.
///
/// Serialized without the arguments of the job and of its callbacks, and without the output of the job that it follows,
/// because they may be secret.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{JobRecord, JobState};
///
/// fn show(job: &JobRecord) -> String {
///     match (job.state, &job.envelope) {
///         (JobState::Failed, Some(envelope)) => format!("failed: {}", envelope.failure.message),
///         (JobState::Pending, _) if job.attempts > 0 => format!("retried at {}", job.due),
///         (state, _) => format!("{} is {state}", job.spec.name),
///     }
/// }
/// # use ratchet_store::model::{JobId, JobSpec};
/// # let (id, at) = (JobId::from_uuid(uuid::Uuid::from_u128(7)), jiff::Timestamp::UNIX_EPOCH);
/// # let mut job = JobRecord::pending(id, JobSpec::new("mail", Vec::new()), at, at);
/// # assert_eq!(show(&job), "mail is PENDING");
/// # job.attempts = 1;
/// # assert_eq!(show(&job), "retried at 1970-01-01T00:00:00Z");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct JobRecord {
    /// The id of the job.
    pub id: JobId,
    /// The immutable part: the job as it was submitted.
    #[serde(serialize_with = "without_arguments")]
    pub spec: Arc<JobSpec>,
    /// The current state.
    pub state: JobState,
    /// For a paused job: the state it was paused from.
    pub paused_from: Option<JobState>,
    /// When the job is or was due.
    pub due: Timestamp,
    /// When the job was submitted.
    pub queued_at: Timestamp,
    /// When the latest run was claimed. `None` if the job was never claimed.
    pub started_at: Option<Timestamp>,
    /// When the job reached a terminal state.
    pub finished_at: Option<Timestamp>,
    /// When the job was moved to the archive. An archived job can be read, and no command changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
    /// How long the latest run had waited, from due to claimed.
    pub queue_wait: Option<Duration>,
    /// How long the latest run took.
    pub duration: Option<Duration>,
    /// The node that claimed the latest run.
    pub node: Option<NodeId>,
    /// The number of failed attempts in this generation.
    pub attempts: u32,
    /// How often a worker died while it ran the job, in this generation.
    pub crashes: u32,
    /// How often the job was deferred, in this generation.
    pub deferrals: u32,
    /// Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// How often the job was claimed, over all generations. Never reset.
    pub run: u64,
    /// The version of the fencing token; incremented by every transition.
    pub version: u64,
    /// The last progress that a run reported.
    pub progress: Option<Progress>,
    /// The last checkpoint that a run saved.
    pub checkpoint: Option<serde_json::Value>,
    /// The return value as JSON. `None` if the job returned `()` or `null`, or if the value was not kept.
    pub output: Option<String>,
    /// The last failure of this generation.
    pub error: Option<FailureRecord>,
    /// For a failed job: the terminal envelope.
    pub envelope: Option<Envelope>,
    /// For a canceled job: the cause.
    pub canceled: Option<CancelCause>,
    /// For a job that was canceled because of another job or group: the origin of the cancellation.
    pub root_cause: Option<Vertex>,
    /// For a step: the dependencies it waits for. A pending job with a wait is not claimable.
    pub wait: Option<Wait>,
    /// Problems that did not change the outcome, such as an oversized result or a dropped child.
    pub warnings: Vec<String>,
}

/// Serializes a spec without the arguments of the job, of its callbacks and of the job that it follows, and without the
/// output of the latter.
fn without_arguments<S: Serializer>(spec: &JobSpec, serializer: S) -> Result<S::Ok, S::Error> {
    fn strip(value: &mut serde_json::Value) {
        if let serde_json::Value::Object(fields) = value {
            fields.remove("payload");
            fields.values_mut().for_each(strip);
        }
    }
    let mut spec = Cow::Borrowed(spec);
    if spec.finished.as_ref().is_some_and(|parent| parent.outcome.output().is_some())
        && let Some(parent) = &mut spec.to_mut().finished
    {
        parent.outcome = FinishedOutcome::Succeeded(None);
    }
    let mut value = serde_json::to_value(&*spec).map_err(serde::ser::Error::custom)?;
    strip(&mut value);
    value.serialize(serializer)
}

/// The prefix of the warning about a result that was not kept.
pub const NOT_KEPT: &str = "the result was not kept";

/// Returns the warning about a result that was not kept, if there is one.
pub fn not_kept(warnings: &[String]) -> Option<&str> {
    warnings.iter().map(String::as_str).find(|warning| warning.starts_with(NOT_KEPT))
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// From 0 to 100.
    pub percent: f32,
    /// A short text for display, supplied by the handler.
    pub message: String,
}

impl JobRecord {
    /// Creates the record of a newly submitted job.
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
            archived_at: None,
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

    /// Returns why the return value of the job is missing, if it was not kept.
    ///
    /// If this is `None`, a succeeded job without an output returned `()` or `null`.
    pub fn output_not_kept(&self) -> Option<&str> {
        let lost = self.output.is_none() && self.state == JobState::Succeeded;
        not_kept(&self.warnings).filter(|_| lost)
    }

    /// Returns `true` if the job can be claimed once it is due.
    pub fn is_claimable(&self) -> bool {
        self.state == JobState::Pending && self.wait.is_none()
    }

    /// Returns when the job expires, if it does.
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.spec.expires_at(self.queued_at, self.generation)
    }

    /// Returns when the job is canceled unless it has started before: its expiry, while it waits or is paused.
    pub fn cancels_at(&self) -> Option<Timestamp> {
        self.expires_at().filter(|_| self.is_live() && self.state != JobState::Running)
    }

    /// Returns `true` if the job has expired at `now`, before it was started.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.cancels_at().is_some_and(|expires| expires <= now)
    }

    /// Returns the job as a member of its graph.
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

    /// Returns `true` if the job, by its state alone, holds its business key.
    pub fn is_live(&self) -> bool {
        match self.state {
            JobState::Pending | JobState::Running => true,
            JobState::Paused => self.paused_from == Some(JobState::Pending),
            JobState::Succeeded | JobState::Failed | JobState::Canceled => false,
        }
    }
}
