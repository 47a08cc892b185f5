//! Defaults of the options of jobs, for all jobs of a process.

use std::time::Duration;

use crate::job::JobDef;
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{Backoff, Deadline, JobSpec, Priority};

/// The options of jobs that neither `#[job]` nor the call sets.
///
/// The options of a job come from the call (`ratchet.enqueue(job).queue("…")`), then from `#[job(queue = "…")]`, then
/// from here. They are stored with the job, so a change applies to jobs that are submitted afterwards.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::{MemoryStore, Ratchet};
/// use std::time::Duration;
///
/// let ratchet = Ratchet::builder(MemoryStore::new())
///     .default_queue("shop")
///     .default_max_retries(3)
///     .default_timeout(Duration::from_secs(60))
///     .build()
///     .await?;
/// # drop(ratchet);
/// # let defaults = ratchet_core::Config::default().defaults;
/// # assert_eq!(defaults.queue, "default");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct JobDefaults {
    /// The queue.
    pub queue: String,
    /// The priority.
    pub priority: Priority,
    /// How many times a failed run is retried.
    pub max_retries: u32,
    /// The delay between attempts.
    pub backoff: Backoff,
    /// The maximum duration of a run.
    pub timeout: Duration,
}

impl Default for JobDefaults {
    fn default() -> Self {
        Self {
            queue: JobDef::DEFAULT_QUEUE.to_owned(),
            priority: Priority::default(),
            max_retries: JobDef::DEFAULT_MAX_RETRIES,
            backoff: Backoff::DEFAULT,
            timeout: JobDef::DEFAULT_TIMEOUT,
        }
    }
}

impl JobDefaults {
    /// The maximum of `max_retries`, as for `#[job]`.
    const MOST_RETRIES: u32 = 1000;

    /// Returns the queue of jobs that are submitted without one.
    pub(crate) fn queue_of<'a>(&'a self, def: &'a JobDef) -> &'a str {
        if def.sets().queue() { def.queue } else { &self.queue }
    }

    /// Sets the options of a new job: those that its definition sets, and these defaults for the rest.
    pub(crate) fn apply(&self, def: &JobDef, spec: &mut JobSpec) {
        let sets = def.sets();
        spec.queue = self.queue_of(def).to_owned();
        spec.priority = if sets.priority() { def.priority } else { self.priority };
        let options = &mut spec.options;
        options.max_retries = if sets.max_retries() { def.max_retries } else { self.max_retries };
        options.backoff = if sets.backoff() { def.backoff } else { self.backoff };
        options.timeout = if sets.timeout() { def.timeout } else { self.timeout };
        options.soft_timeout = def.soft_timeout;
        spec.expires = def.expires_in.map(Deadline::In);
        spec.retry_until = def.retry_within.map(Deadline::In);
    }

    /// Adds a description of every invalid default.
    pub(super) fn problems(&self, problems: &mut Vec<String>) {
        if let Err(error) = limits::check(Field::Queue, &self.queue) {
            problems.push(format!("`default_queue`: {error}"));
        }
        if self.max_retries > Self::MOST_RETRIES {
            problems.push("`default_max_retries` must be at most 1000".to_owned());
        }
        if self.timeout.is_zero() {
            problems.push("`default_timeout` must be longer than zero".to_owned());
        }
    }
}
