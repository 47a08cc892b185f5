//! What was submitted: the part of a job that never changes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Envelope, JobId, Step};
use crate::job::{Backoff, JobDef, PanicPolicy, Priority};

/// The immutable part of a job: what was asked for when it was submitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobSpec {
    /// The name of the job in the registry.
    pub name: String,
    /// The version of the payload's shape.
    pub version: u32,
    /// The queue.
    pub queue: String,
    /// The priority.
    pub priority: Priority,
    /// The arguments as JSON. Bytes, because a store must not care.
    pub payload: Vec<u8>,
    /// How its runs are to be treated.
    pub options: RunOptions,
    /// At most one live job holds it.
    pub business_key: Option<String>,
    /// At most one job is ever made for it.
    pub idempotency_key: Option<String>,
    /// Limits how many jobs of one key run at once.
    pub concurrency: Option<ConcurrencyKey>,
    /// The service whose breaker guards it.
    pub service: Option<String>,
    /// Free words to find it by.
    pub tags: Vec<String>,
    /// Whose job it is; keys are unique within a tenant.
    pub tenant: Option<String>,
    /// Ties it to a request or a business process.
    pub correlation_id: Option<String>,
    /// What runs when it has succeeded.
    pub on_success: Option<Box<JobSpec>>,
    /// What runs when it has failed for good.
    pub on_failure: Option<Box<JobSpec>>,
    /// For a callback: the job that has finished.
    pub finished: Option<Box<FinishedParent>>,
    /// How long waiting counts as one level of priority; zero switches ageing off.
    pub boost: Duration,
    /// Its place in a chain, batch or workflow; `None` for a job on its own, which pays nothing for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Box<Step>>,
}

/// How the runs of a job are to be treated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunOptions {
    /// How many times a failed run is tried again.
    pub max_retries: u32,
    /// The wait between attempts.
    pub backoff: Backoff,
    /// The longest a run may take.
    pub timeout: Duration,
    /// When to warn that a run takes long; 80 % of the timeout if not set.
    pub soft_timeout: Option<Duration>,
    /// What a panic does.
    pub panic: PanicPolicy,
}

/// A key that limits how many jobs run at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConcurrencyKey {
    /// The key: one for all queues and all tenants.
    pub key: String,
    /// How many jobs may hold it at once in the cluster.
    pub limit: u32,
}

/// What a callback is told of the job that has finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FinishedParent {
    /// The job.
    pub id: JobId,
    /// Its name.
    pub name: String,
    /// Which life of the job this was: manual retries start a new one.
    pub generation: u32,
    /// Its arguments.
    pub payload: Vec<u8>,
    /// How many attempts it took.
    pub attempts: u32,
    /// Its tags.
    pub tags: Vec<String>,
    /// How it ended.
    pub outcome: FinishedOutcome,
    /// Why the value it returned is not here, if it returned one that was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
}

/// How a finished job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishedOutcome {
    /// It succeeded with this output.
    Succeeded(Option<String>),
    /// It failed for good.
    Failed(Box<Envelope>),
}

impl JobSpec {
    /// One level of priority per quarter of an hour.
    pub const DEFAULT_BOOST: Duration = Duration::from_mins(15);

    /// A job with the given name and payload, every option at its default.
    pub fn new(name: impl Into<String>, payload: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            version: 1,
            queue: JobDef::DEFAULT_QUEUE.to_owned(),
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
        }
    }

    /// Whether both ask for the same in every respect but their arguments: a store may write what they share once.
    pub fn is_like(&self, other: &Self) -> bool {
        // Named one by one, so that a new field cannot be forgotten.
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
            && match (step, &other.step) {
                (Some(step), Some(other)) => step.is_like(other),
                (step, other) => step.is_none() && other.is_none(),
            }
    }

    /// Where the job stands in its queue once it is due at `due_micros`: lower comes first.
    ///
    /// Ascending order of this key is descending order of `priority + age / boost`, because "now" cancels out. So it
    /// is computed once, and an index can serve it. Without ageing a level is worth a century.
    pub fn sort_key(&self, due_micros: i64) -> i64 {
        const CENTURY: i64 = 100 * 365 * 24 * 3600 * 1_000_000;
        let level = match i64::try_from(self.boost.as_micros()) {
            Ok(0) | Err(_) => CENTURY,
            Ok(micros) => micros.min(CENTURY),
        };
        due_micros.saturating_sub(level.saturating_mul(i64::from(self.priority.level())))
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            max_retries: JobDef::DEFAULT_MAX_RETRIES,
            backoff: Backoff::DEFAULT,
            timeout: JobDef::DEFAULT_TIMEOUT,
            soft_timeout: None,
            panic: PanicPolicy::Retry,
        }
    }
}
