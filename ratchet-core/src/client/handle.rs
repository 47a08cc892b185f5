//! [`JobHandle`]: queries, awaits or cancels an enqueued job.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::acting::Manner;
use super::ends::Ends;
use super::{Jobs, Ratchet};
use crate::job::Job;
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{
    CommandError, Envelope, GroupId, GroupState, JobId, JobRecord, JobState,
};

/// A handle to an enqueued job of type `J`. Cheap to clone. Dropping it does not affect the job.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, report: impl ratchet_core::Job<Output = u64>) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use ratchet::WaitError;
///
/// let handle = ratchet.enqueue(report).await?;
/// match handle.wait_for(Duration::from_secs(5)).await {
///     Ok(rows) => println!("{rows} rows"),
///     Err(WaitError::TimedOut { .. }) => println!("{:?} after five seconds", handle.status().await?),
///     Err(WaitError::Failed(envelope)) => println!("{}", envelope.reason),
///     Err(error) => return Err(error.into()),
/// }
/// # Ok(())
/// # }
/// ```
pub struct JobHandle<J> {
    id: JobId,
    pub(super) core: Arc<Core>,
    warnings: Vec<String>,
    _job: PhantomData<fn() -> J>,
}

impl Ratchet {
    /// Returns the handle of a job that was enqueued earlier. Does not check that the job exists.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::JobId) -> Result<(), ratchet_core::WaitError> {
    /// use ratchet::AnyJob;
    ///
    /// // The id was stored with the order. `AnyJob` stands for a job whose type is not known here.
    /// let output: serde_json::Value = ratchet.handle::<AnyJob>(id).wait().await?;
    /// println!("{output}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn handle<J: Job>(&self, id: JobId) -> JobHandle<J> {
        JobHandle::new(id, Arc::clone(&self.core), Vec::new())
    }
}

impl<J> JobHandle<J> {
    pub(crate) fn new(id: JobId, core: Arc<Core>, warnings: Vec<String>) -> Self {
        Self { id, core, warnings, _job: PhantomData }
    }

    /// Returns the handle of another job of the same type.
    pub(crate) fn at(&self, id: JobId) -> Self {
        Self::new(id, Arc::clone(&self.core), Vec::new())
    }

    /// Returns the id of the job.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Returns the warnings of the submit, such as a queue that no live worker serves.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the state of the job; `None` if it was purged.
    pub async fn status(&self) -> Result<Option<JobState>, StoreError> {
        Ok(self.record().await?.map(|job| job.state))
    }

    /// Returns the record of the job; `None` if it was purged.
    pub async fn record(&self) -> Result<Option<JobRecord>, StoreError> {
        self.core.store.get(self.id).await
    }

    /// Cancels the job. Returns `false` if it had already ended.
    ///
    /// ```
    /// # async fn demo(handle: ratchet_core::JobHandle<ratchet_core::AnyJob>) -> Result<(), Box<dyn std::error::Error>> {
    /// if !handle.cancel().await? {
    ///     println!("job {} has already ended", handle.id());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn cancel(&self) -> Result<bool, CommandError> {
        Jobs { core: Arc::clone(&self.core), manner: Manner::default() }.cancel(self.id).await
    }
}

impl<J: Job> JobHandle<J>
where
    J::Output: DeserializeOwned + Send + 'static,
{
    /// Waits for the job to end and returns its output.
    ///
    /// Uses notifications where the store sends them, and polling otherwise. Returns the first end it observes: a
    /// failed job may still be retried manually afterwards.
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

    /// Waits like [`Self::wait`], but no longer than `limit`.
    pub async fn wait_for(&self, limit: Duration) -> Result<J::Output, WaitError> {
        let timer = self.core.clock.sleep(limit);
        tokio::select! {
            biased;
            result = self.wait() => result,
            () = timer => Err(WaitError::TimedOut { job: self.id, limit }),
        }
    }
}

/// Deserializes the output of a job that has succeeded.
pub(super) fn read_output<T: DeserializeOwned>(job: &JobRecord) -> Result<T, WaitError> {
    if let Some(why) = job.output_not_kept() {
        return Err(WaitError::OutputNotKept { job: job.id, why: why.to_owned() });
    }
    let json = job.output.as_deref().unwrap_or("null");
    serde_json::from_str(json).map_err(|error| WaitError::Output {
        job: job.id,
        error,
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

/// An error returned when waiting for a job or a group.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo<J: ratchet_core::Job<Output = u64>>(handle: ratchet_core::JobHandle<J>) -> Result<(), ratchet_core::WaitError> {
/// use ratchet::WaitError;
/// use std::time::Duration;
///
/// match handle.wait_for(Duration::from_secs(10)).await {
///     Ok(rows) => println!("{rows} rows"),
///     Err(WaitError::TimedOut { job, .. }) => println!("job {job} continues, ask again later"),
///     Err(WaitError::Failed(envelope)) => println!("it failed: {}", envelope.failure.message),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The job failed permanently.
    #[error("job {} (`{}`) failed: {}: {}", .0.job_id, .0.job_name, .0.reason, .0.failure.message)]
    Failed(Box<Envelope>),
    /// The job was canceled.
    #[error("job {0} was canceled")]
    Canceled(JobId),
    /// The job did not end within the limit. It continues.
    #[error("job {job} did not end within {limit:?}")]
    TimedOut {
        /// The id of the job.
        job: JobId,
        /// The limit passed to `wait_for`.
        limit: Duration,
    },
    /// The job does not exist: it was purged, or the id is wrong.
    #[error("job {0} is gone: it was purged, or never existed")]
    Gone(JobId),
    /// The job succeeded, but its output was not kept: it was too large, nested too deep, or not serializable as JSON.
    #[error(
        "job {job} succeeded, but {why}; return a reference to the data instead, or raise `output_limit`"
    )]
    OutputNotKept {
        /// The id of the job.
        job: JobId,
        /// Why the output was not kept.
        why: String,
    },
    /// The job succeeded, but its output cannot be deserialized as this type.
    #[error("job {job} succeeded, but its output cannot be read: {error}; {}", warnings.join("; "))]
    Output {
        /// The id of the job.
        job: JobId,
        /// The error from `serde_json`.
        error: serde_json::Error,
        /// The warnings of the job.
        warnings: Vec<String>,
    },
    /// The chain ended without an output.
    #[error("group {group} ended {state} without an output")]
    GroupEnded {
        /// The id of the chain.
        group: GroupId,
        /// The final state of the chain.
        state: GroupState,
    },
    /// The group did not end within the limit. It continues.
    #[error("group {group} did not end within {limit:?}")]
    GroupTimedOut {
        /// The id of the group.
        group: GroupId,
        /// The limit passed to `wait_for`.
        limit: Duration,
    },
    /// The group does not exist: it was purged, or the id is wrong.
    #[error("group {0} is gone: it was purged, or never existed")]
    GroupGone(GroupId),
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
}
