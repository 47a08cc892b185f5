//! [`Bulk`]: enqueues many jobs in one round trip.

use std::sync::Arc;

use super::enqueue::insert;
use super::{Enqueue, SubmitError};
use crate::job::Job;
use crate::runtime::Core;
use ratchet_store::model::{Inserted, NewJob};

/// Jobs to be inserted together: all of them or none. Add jobs, then `.await`.
///
/// ```
/// # use ratchet_core::{Job, Ratchet, SubmitError};
/// # async fn demo<J: Job>(ratchet: &Ratchet, jobs: Vec<J>) -> Result<(), SubmitError> {
/// let inserted = ratchet.bulk().jobs(jobs).await?;
/// println!("{} jobs are stored", inserted.len());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "jobs are enqueued only when this is awaited"]
pub struct Bulk<'a> {
    core: &'a Arc<Core>,
    jobs: Vec<NewJob>,
    error: Option<SubmitError>,
}

impl<'a> Bulk<'a> {
    pub(super) fn new(core: &'a Arc<Core>) -> Self {
        Self { core, jobs: Vec::new(), error: None }
    }

    /// Adds a job with its default options.
    pub fn job<J: Job>(self, job: J) -> Self {
        self.job_with(job, |enqueue| enqueue)
    }

    /// Adds a job with individual options.
    #[allow(clippy::needless_pass_by_value)] // reads like `enqueue`
    pub fn job_with<J: Job>(
        mut self,
        job: J,
        options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> Self {
        match options(Enqueue::to_store(self.core, &job)).into_new_job() {
            Ok(job) => self.jobs.push(job),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }

    /// Adds several jobs of the same type.
    pub fn jobs<J: Job>(self, jobs: impl IntoIterator<Item = J>) -> Self {
        jobs.into_iter().fold(self, Self::job)
    }

    /// Returns the checked rows without storing them, for stores that insert within the caller's transaction.
    pub fn into_new_jobs(self) -> Result<Vec<NewJob>, SubmitError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.jobs),
        }
    }

    async fn submit(self) -> Result<Vec<Inserted>, SubmitError> {
        let core = self.core;
        let inserted = insert(core, self.into_new_jobs()?, false).await?;
        Ok(inserted.into_iter().map(|(inserted, _)| inserted).collect())
    }
}

impl<'a> IntoFuture for Bulk<'a> {
    type Output = Result<Vec<Inserted>, SubmitError>;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}
