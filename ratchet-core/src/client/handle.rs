//! A job that was enqueued: ask for it, wait for it, call it off.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::ends::Ends;
use super::{Core, Ratchet};
use crate::job::Job;
use crate::model::{CommandError, Envelope, GroupId, GroupState, JobId, JobRecord, JobState};
use crate::store::StoreError;

/// An enqueued job of type `J`. Cheap to clone; dropping it changes nothing.
pub struct JobHandle<J> {
    id: JobId,
    core: Arc<Core>,
    warnings: Vec<String>,
    _job: PhantomData<fn() -> J>,
}

impl<J> JobHandle<J> {
    pub(crate) fn new(id: JobId, core: Arc<Core>, warnings: Vec<String>) -> Self {
        Self { id, core, warnings, _job: PhantomData }
    }

    /// The handle of another job of the same kind.
    pub fn at(&self, id: JobId) -> Self {
        Self::new(id, Arc::clone(&self.core), Vec::new())
    }

    /// The job's id.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// What the submit had to remark: a queue that nobody serves, for instance.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The job's state; `None` if it was purged.
    pub async fn status(&self) -> Result<Option<JobState>, StoreError> {
        Ok(self.record().await?.map(|job| job.state))
    }

    /// Everything known of the job; `None` if it was purged.
    pub async fn record(&self) -> Result<Option<JobRecord>, StoreError> {
        self.core.store.get(self.id).await
    }

    /// Calls the job off. `false` if it had come to its end already.
    pub async fn cancel(&self) -> Result<bool, CommandError> {
        Ratchet { core: Arc::clone(&self.core) }.cancel(self.id).await
    }
}

impl<J: Job> JobHandle<J>
where
    J::Output: DeserializeOwned + Send + 'static,
{
    /// Waits for the job's end and gives its output.
    ///
    /// Learns of the end by notification where there is one, by polling otherwise. A failed job that somebody retries
    /// goes on; this answers with the first end it sees.
    pub async fn wait(&self) -> Result<J::Output, WaitError> {
        let mut ends = Ends::of(&self.core);
        loop {
            let job =
                self.record().await.map_err(WaitError::Store)?.ok_or(WaitError::Gone(self.id))?;
            match job.state {
                JobState::Succeeded => return read_output(&job),
                JobState::Failed => {
                    return Err(job
                        .envelope
                        .map_or(WaitError::Gone(self.id), |e| WaitError::Failed(Box::new(e))));
                }
                JobState::Canceled => return Err(WaitError::Canceled(self.id)),
                JobState::Pending | JobState::Running | JobState::Paused => {}
            }
            ends.next(1, |id| id == self.id).await;
        }
    }

    /// Like [`Self::wait`], but not longer than `limit`.
    pub async fn wait_for(&self, limit: Duration) -> Result<J::Output, WaitError> {
        let timer = self.core.clock.sleep(limit);
        tokio::select! {
            biased;
            result = self.wait() => result,
            () = timer => Err(WaitError::TimedOut { job: self.id, limit }),
        }
    }
}

/// What a job that succeeded returned.
pub(super) fn read_output<T: DeserializeOwned>(job: &JobRecord) -> Result<T, WaitError> {
    if let Some(why) = job.output_not_kept() {
        return Err(WaitError::OutputNotKept { job: job.id, why: why.to_owned() });
    }
    let json = job.output.as_deref().unwrap_or("null");
    serde_json::from_str(json).map_err(|source| WaitError::Output {
        job: job.id,
        source,
        warnings: job.warnings.clone(),
    })
}

impl<J> Clone for JobHandle<J> {
    fn clone(&self) -> Self {
        Self::new(self.id, Arc::clone(&self.core), self.warnings.clone())
    }
}

impl<J> fmt::Debug for JobHandle<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why waiting for a job gave no output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The job failed for good.
    #[error("job {} (`{}`) failed: {}: {}", .0.job_id, .0.job_name, .0.reason, .0.failure.message)]
    Failed(Box<Envelope>),
    /// The job was called off.
    #[error("job {0} was canceled")]
    Canceled(JobId),
    /// The job did not end in time; it goes on.
    #[error("job {job} did not end within {limit:?}")]
    TimedOut {
        /// The job.
        job: JobId,
        /// How long was waited.
        limit: Duration,
    },
    /// There is no such job any more.
    #[error("job {0} is gone: it was purged, or never existed")]
    Gone(JobId),
    /// The job succeeded, but what it returned was not kept: it was too large, nested too deep, or could not be written as JSON.
    #[error(
        "job {job} succeeded, but {why}; return a reference to the data instead, or raise `output_limit`"
    )]
    OutputNotKept {
        /// The job.
        job: JobId,
        /// Why it was not kept.
        why: String,
    },
    /// The job succeeded, but its output has another type.
    #[error("job {job} succeeded, but its output cannot be read: {source}; {}", warnings.join("; "))]
    Output {
        /// The job.
        job: JobId,
        /// Why.
        source: serde_json::Error,
        /// What the run had to remark about it.
        warnings: Vec<String>,
    },
    /// A chain ended without an output.
    #[error("group {group} ended {state} without an output")]
    GroupEnded {
        /// The group.
        group: GroupId,
        /// How it ended.
        state: GroupState,
    },
    /// The group did not end in time; it goes on.
    #[error("group {group} did not end within {limit:?}")]
    GroupTimedOut {
        /// The group.
        group: GroupId,
        /// How long was waited.
        limit: Duration,
    },
    /// There is no such group any more.
    #[error("group {0} is gone: it was purged, or never existed")]
    GroupGone(GroupId),
    /// The store failed.
    #[error("cannot wait: {0}")]
    Store(#[source] StoreError),
}
