//! Enqueue many jobs in one round trip.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::enqueue::announce;
use super::{Core, Enqueue, SubmitError};
use crate::job::Job;
use crate::model::{Inserted, JobId, NewJob};

/// Jobs to be inserted together: all of them or none.
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

    /// Adds a job.
    pub fn job<J: Job>(self, job: J) -> Self {
        self.job_with(job, |enqueue| enqueue)
    }

    /// Adds a job with options of its own.
    pub fn job_with<J: Job>(
        mut self,
        job: J,
        options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> Self {
        match options(Enqueue::to_store(self.core, job)).into_new_job() {
            Ok(job) => self.jobs.push(job),
            Err(error) => self.error = self.error.or(Some(error)),
        }
        self
    }

    /// Adds jobs of one kind.
    pub fn jobs<J: Job>(self, jobs: impl IntoIterator<Item = J>) -> Self {
        jobs.into_iter().fold(self, Self::job)
    }

    /// The checked rows, without storing them: what `in_tx` of a store inserts.
    pub fn into_new_jobs(self) -> Result<Vec<NewJob>, SubmitError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.jobs),
        }
    }

    async fn submit(self) -> Result<Vec<Inserted>, SubmitError> {
        let core = self.core;
        let jobs = self.into_new_jobs()?;
        let about: BTreeMap<JobId, (String, String)> = jobs
            .iter()
            .map(|job| (job.id, (job.spec.name.clone(), job.spec.queue.clone())))
            .collect();
        let name_of = |id| about.get(&id).map(|(name, _)| name.clone()).unwrap_or_default();
        let inserted = core
            .store
            .insert(jobs)
            .await
            .map_err(|error| SubmitError::from_insert(error, name_of, false))?;
        // One warning per queue is enough for ten thousand jobs.
        let mut warned = BTreeSet::new();
        for created in &inserted {
            let Inserted::Created(id) = created else { continue };
            let Some((name, queue)) = about.get(id) else { continue };
            if warned.insert(queue) {
                announce(core, *id, name, queue).await;
            } else {
                core.events.publish(|| super::enqueue::submitted(*id, name, queue));
            }
        }
        Ok(inserted)
    }
}

impl<'a> IntoFuture for Bulk<'a> {
    type Output = Result<Vec<Inserted>, SubmitError>;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}
