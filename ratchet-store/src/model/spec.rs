//! The immutable part of a job.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Backoff, Claimed, Confidential, Deadline, Envelope, JobId, Priority, Protection, Step,
    TraceContext,
};

/// The immutable part of a job, as it was submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobSpec {
    /// The name under which the job is registered.
    pub name: String,
    /// The version of the payload format.
    pub version: u32,
    /// The queue that the job is claimed from.
    pub queue: String,
    /// The priority within the queue.
    pub priority: Priority,
    /// The arguments as JSON. Stored as opaque bytes: stores do not parse them.
    pub payload: Vec<u8>,
    /// Retries, timeouts and panic handling of its runs.
    pub options: RunOptions,
    /// At most one live job can hold the key, or two with [`OnConflict::Coalesce`](super::OnConflict::Coalesce).
    pub business_key: Option<String>,
    /// At most one job is ever created for the key.
    pub idempotency_key: Option<String>,
    /// Limits how many jobs with the same key run at once.
    pub concurrency: Option<ConcurrencyKey>,
    /// The service whose breaker guards the job.
    pub service: Option<String>,
    /// Labels for filtering.
    pub tags: Vec<String>,
    /// The tenant of the job. Business and idempotency keys are unique within a tenant.
    pub tenant: Option<String>,
    /// The id of the request or business process that the job belongs to.
    pub correlation_id: Option<String>,
    /// The job to submit when this one has succeeded.
    pub on_success: Option<Box<JobSpec>>,
    /// The job to submit when this one has failed permanently.
    pub on_failure: Option<Box<JobSpec>>,
    /// For a callback: the job that has finished.
    pub finished: Option<Box<FinishedParent>>,
    /// The waiting time that counts as one level of priority. Zero disables aging.
    pub boost: Duration,
    /// The position in a chain, batch or workflow; `None` for a job outside of a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Box<Step>>,
    /// When the job expires. An expired job is not started, and is canceled as [`Expired`](super::CancelCause::Expired).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Deadline>,
    /// Until when a failed run may be retried. A retry that would start later is not made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_until: Option<Deadline>,
    /// Whether the job holds the second place of its business key, because a run held the first when it was inserted.
    /// Set by the store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub successor: bool,
    /// The trace context of the code that submitted the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<TraceContext>>,
    /// How the engine protects the job in the store. Not stored: the payload says it.
    #[serde(skip)]
    pub protection: Protection,
}

/// How a panic in a handler is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanicPolicy {
    /// As a failed attempt.
    #[default]
    Retry,
    /// The job goes to the dead-letter queue without another attempt.
    Dlq,
}

/// Options for the runs of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunOptions {
    /// How many times a failed run is retried.
    pub max_retries: u32,
    /// The delay between attempts.
    pub backoff: Backoff,
    /// The maximum duration of a run.
    pub timeout: Duration,
    /// The duration after which a warning is emitted; 80 % of the timeout if `None`.
    pub soft_timeout: Option<Duration>,
    /// How a panic is handled.
    pub panic: PanicPolicy,
}

/// A key that limits how many jobs run at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConcurrencyKey {
    /// The key. Shared by all queues and all tenants.
    pub key: String,
    /// How many jobs in the cluster can hold the key at once.
    pub limit: u32,
}

/// The finished job, as it is passed to a callback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FinishedParent {
    /// The id of the finished job.
    pub id: JobId,
    /// The name of the finished job.
    pub name: String,
    /// Starts at 1; incremented by every manual retry.
    pub generation: u32,
    /// The arguments as JSON.
    pub payload: Vec<u8>,
    /// The number of attempts it took.
    pub attempts: u32,
    /// The tags of the finished job.
    pub tags: Vec<String>,
    /// How the job ended.
    pub outcome: FinishedOutcome,
    /// Why the return value is missing, if it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
}

impl FinishedParent {
    /// Describes a run that ended this way, for its callback.
    pub fn new(job: &Claimed, attempts: u32, outcome: FinishedOutcome) -> Self {
        Self {
            id: job.id(),
            name: job.spec.name.clone(),
            generation: job.generation,
            payload: job.spec.payload.clone(),
            attempts,
            tags: job.spec.tags.clone(),
            outcome,
            not_kept: None,
        }
    }
}

/// How a finished job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishedOutcome {
    /// The job succeeded, with this return value as JSON.
    Succeeded(Option<String>),
    /// The job failed permanently.
    Failed(Box<Envelope>),
}

impl FinishedOutcome {
    /// Returns the return value of a job that succeeded.
    pub(super) fn output(&self) -> Option<&str> {
        match self {
            Self::Succeeded(output) => output.as_deref(),
            Self::Failed(_) => None,
        }
    }
}

impl JobSpec {
    /// The queue of a job that names none.
    pub const DEFAULT_QUEUE: &'static str = "default";

    /// The default boost: one level of priority per 15 minutes of waiting.
    pub const DEFAULT_BOOST: Duration = Duration::from_mins(15);

    /// Creates a job with the given name and payload and default options.
    pub fn new(name: impl Into<String>, payload: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            version: 1,
            queue: Self::DEFAULT_QUEUE.to_owned(),
            priority: Priority::Normal,
            payload,
            options: RunOptions::default(),
            business_key: None,
            idempotency_key: None,
            concurrency: None,
            service: None,
            tags: Vec::new(),
            tenant: None,
            correlation_id: None,
            on_success: None,
            on_failure: None,
            finished: None,
            boost: Self::DEFAULT_BOOST,
            step: None,
            expires: None,
            retry_until: None,
            successor: false,
            trace: None,
            protection: Protection::Plain,
        }
    }

    /// Returns the mark for the texts of its runs, if the job is confidential.
    pub fn confidential(&self) -> Option<Confidential> {
        let confidential = self.protection == Protection::Confidential;
        confidential.then(|| Confidential::new(self.tenant.clone()))
    }

    /// Returns when a job with this spec expires, if it was submitted at `queued_at`.
    ///
    /// A manual retry starts another generation, which does not expire: the job is wanted although it is late.
    pub fn expires_at(&self, queued_at: Timestamp, generation: u32) -> Option<Timestamp> {
        self.expires.filter(|_| generation <= 1).map(|expires| expires.at(queued_at))
    }

    /// Returns `true` if both are equal except for their payloads (and step numbers). A store can write the shared part
    /// once.
    pub fn same_except_payload(&self, other: &Self) -> bool {
        // Destructured, so that a new field cannot be forgotten.
        let Self {
            name,
            version,
            queue,
            priority,
            payload: _,
            options,
            business_key,
            idempotency_key,
            concurrency,
            service,
            tags,
            tenant,
            correlation_id,
            on_success,
            on_failure,
            finished,
            boost,
            step,
            expires,
            retry_until,
            successor,
            trace,
            protection,
        } = self;
        *name == other.name
            && *version == other.version
            && *queue == other.queue
            && *priority == other.priority
            && *options == other.options
            && *business_key == other.business_key
            && *idempotency_key == other.idempotency_key
            && *concurrency == other.concurrency
            && *service == other.service
            && *tags == other.tags
            && *tenant == other.tenant
            && *correlation_id == other.correlation_id
            && *on_success == other.on_success
            && *on_failure == other.on_failure
            && *finished == other.finished
            && *boost == other.boost
            && *expires == other.expires
            && *retry_until == other.retry_until
            && *successor == other.successor
            && *trace == other.trace
            && *protection == other.protection
            && match (step, &other.step) {
                (Some(step), Some(other)) => step.same_except_payload(other),
                (step, other) => step.is_none() && other.is_none(),
            }
    }

    /// Returns the position of the job in its queue when it is due at `due_micros`. Lower keys come first.
    ///
    /// Ascending order of this key is descending order of `priority + age / boost`, because the current time cancels
    /// out. The key can therefore be computed once and indexed. Without aging, one level of priority is worth a
    /// century.
    pub fn sort_key(&self, due_micros: i64) -> i64 {
        const CENTURY: i64 = 100 * 365 * 24 * 3600 * 1_000_000;
        let level = match i64::try_from(self.boost.as_micros()) {
            Ok(0) | Err(_) => CENTURY,
            Ok(micros) => micros.min(CENTURY),
        };
        due_micros.saturating_sub(level.saturating_mul(i64::from(self.priority.level())))
    }
}

impl RunOptions {
    /// The number of retries unless set otherwise.
    pub const DEFAULT_MAX_RETRIES: u32 = 5;

    /// The maximum duration of a run unless set otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            max_retries: Self::DEFAULT_MAX_RETRIES,
            backoff: Backoff::DEFAULT,
            timeout: Self::DEFAULT_TIMEOUT,
            soft_timeout: None,
            panic: PanicPolicy::Retry,
        }
    }
}
