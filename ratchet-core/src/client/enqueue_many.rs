//! [`EnqueueMany`]: enqueues many jobs in one round trip.

use std::pin::Pin;
use std::sync::Arc;

use super::acting::Manner;
use super::enqueue::insert;
use super::{Enqueue, JobHandle, Ratchet, SubmitError};
use crate::job::Job;
use crate::runtime::Core;
use ratchet_store::model::NewJob;

/// Jobs of one type that are inserted together: all of them or none. Set options, then `.await`.
///
/// Returns one handle per job, in order. A [`Batch`](crate::Batch) inserts jobs of several types together.
///
/// ```
/// # use std::time::Duration;
/// # use ratchet_core::{Job, Ratchet, SubmitError};
/// # async fn demo<J: Job>(ratchet: &Ratchet, jobs: Vec<J>) -> Result<(), SubmitError> {
/// let handles = ratchet
///     .enqueue_many(jobs)
///     .each(|number, job| job.delay(Duration::from_secs(number as u64)))
///     .await?;
/// println!("{} jobs are stored", handles.len());
/// # Ok(())
/// # }
/// ```
#[must_use = "jobs are enqueued only when this is awaited"]
pub struct EnqueueMany<'a, J> {
    pub(super) core: &'a Arc<Core>,
    jobs: Vec<Enqueue<'a, J>>,
}

impl Ratchet {
    /// Enqueues jobs of one type in one round trip: all of them or none.
    pub fn enqueue_many<J: Job>(&self, jobs: impl IntoIterator<Item = J>) -> EnqueueMany<'_, J> {
        EnqueueMany::new(&self.core, jobs)
    }
}

impl<'a, J: Job> EnqueueMany<'a, J> {
    pub(super) fn new(core: &'a Arc<Core>, jobs: impl IntoIterator<Item = J>) -> Self {
        let jobs = jobs.into_iter().map(|job| Enqueue::to_store(core, &job)).collect();
        Self { core, jobs }
    }

    /// Sets the options of each job. The function receives the position of the job, from 0.
    pub fn each(
        mut self,
        mut options: impl FnMut(usize, Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> Self {
        let jobs = self.jobs.into_iter().enumerate();
        self.jobs = jobs.map(|(number, job)| options(number, job)).collect();
        self
    }
}

impl<J> EnqueueMany<'_, J> {
    /// Returns the checked rows without storing them.
    pub(super) fn into_rows(self) -> Result<Vec<NewJob>, SubmitError> {
        self.jobs.into_iter().map(Enqueue::into_new_job).collect()
    }

    async fn submit(self) -> Result<Vec<JobHandle<J>>, SubmitError> {
        let core = self.core;
        let inserted = insert(core, self.into_rows()?, false, &Manner::default()).await?;
        let handle = |(inserted, warnings): (ratchet_store::model::Inserted, _)| {
            JobHandle::new(inserted.id(), Arc::clone(core), warnings)
        };
        Ok(inserted.into_iter().map(handle).collect())
    }
}

impl<'a, J: 'static> IntoFuture for EnqueueMany<'a, J> {
    type Output = Result<Vec<JobHandle<J>>, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}

impl<J> std::fmt::Debug for EnqueueMany<'_, J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EnqueueMany").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}
